/* The search page finds claims first: by number and paper ("Theorem 1 Dana"), by id, by words of their
   statement. The theme's own search knows no numbers. */
"use strict";
(() => {
  const results = document.getElementById("search-results");
  const asked = new URLSearchParams(location.search).get("q") || "";
  if (!results || !asked.trim()) return;
  const here = new URL(".", document.currentScript.src);
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+(?:\.\p{N}+)*/gu) || [];
  const query = [...new Set(words(asked))];

  /* How well a word of the query fits words of a claim; numbers fit only whole. */
  function fit(word, head, body) {
    if (head.includes(word)) return 4;
    if (/^\d/.test(word)) return body.includes(word) ? 0.5 : 0;
    if (head.some((w) => w.startsWith(word))) return 2;
    return body.some((w) => w.startsWith(word)) ? 1 : 0;
  }

  function score(claim) {
    const head = words(`${claim.number} ${claim.id} ${claim.paper} ${claim.title}`);
    const body = words(claim.text);
    let sum = 0;
    for (const word of query) {
      const found = fit(word, head, body);
      if (!found) return 0;
      sum += found;
    }
    const named = words(claim.id).every((w) => query.includes(w));
    const numbered = words(claim.number).every((w) => query.includes(w));
    return sum + 6 * named + 3 * numbered;
  }

  function show() {
    const found = window.lemmaxClaims
      .map((claim) => [score(claim), claim])
      .filter(([points]) => points)
      .sort(([a], [b]) => b - a)
      .slice(0, 20);
    const part = document.createElement("section");
    part.className = "lx-found";
    const title = document.createElement("h2");
    title.textContent = found.length ? "Claims" : "No claim has all of these words";
    const list = document.createElement("ul");
    for (const [, claim] of found) {
      const item = document.createElement("li");
      const link = document.createElement("a");
      link.href = new URL(`../claims/${claim.id}.html`, here);
      link.textContent = claim.title;
      const badge = document.createElement("span");
      badge.className = `lx-badge lx-${claim.verdict}`;
      badge.textContent = claim.verdict;
      const told = document.createElement("small");
      told.textContent = `${claim.paper}, ${claim.place}`;
      item.append(link, " ", badge, " ", told);
      list.append(item);
    }
    part.append(title, list);
    results.before(part);
  }

  const data = document.createElement("script");
  data.src = new URL("claims.js", here);
  data.onload = show;
  document.head.append(data);
})();
