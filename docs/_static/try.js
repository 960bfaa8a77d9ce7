/* The page "Try it": a table of facts in, a layer with pictures and a certificate out. */
"use strict";
(() => {
  const form = document.querySelector(".lx-try");
  if (!form) return;
  const here = new URL(".", document.currentScript.src);
  document.querySelectorAll(".lx-no-checker").forEach((e) => e.remove());
  form.hidden = false;
  const place = form.querySelector(".lx-checked");
  let thread = null;

  function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  /* A grid whose cells are shaded by a number between 0 and 1. */
  function grid(columns, rows, caption) {
    const head = element("tr", {}, element("td"), ...columns.map((c) => element("th", { scope: "col" }, c)));
    const body = rows.map(([name, cells]) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, name),
        ...cells.map(({ text, share, right }) => {
          const cell = element("td", { className: right ? "lx-right" : "" }, text);
          cell.style.setProperty("--share", `${Math.round(100 * share)}%`);
          return cell;
        })
      )
    );
    const table = element(
      "table",
      { className: "lx-grid" },
      element("caption", {}, caption),
      element("thead", {}, head),
      element("tbody", {}, ...body)
    );
    return element("div", { className: "lx-scroll", tabIndex: 0, role: "region", ariaLabel: caption }, table);
  }

  const short = (x) => (Math.abs(x) >= 1000 ? x.toExponential(1) : x.toFixed(2).replace(/\.?0+$/, "") || "0");

  function show(r) {
    const asked = r.facts.map((f) => `${f.fact[0]}, ${f.fact[1]}`);
    const known = new Map(r.facts.map((f) => [`${f.fact[0]}\u0000${f.fact[1]}`, f.fact[2]]));
    const tensor = grid(
      r.queries,
      r.keys.map((k) => [
        k,
        r.queries.map((q) => {
          const v = known.get(`${k}\u0000${q}`);
          return { text: v ?? "", share: v === undefined ? 0 : (1 + r.values.indexOf(v)) / (2 * r.values.length) };
        }),
      ]),
      `The tensor, ${r.keys.length} × ${r.queries.length} × ${r.values.length}: a one for every fact`
    );
    const attention = grid(
      r.facts[0].attention.flatMap((_, h) => [`head ${h + 1} on the subject`, "on the predicate"]),
      r.facts.map((f, i) => [asked[i], f.attention.flat().map((a) => ({ text: a.toFixed(3), share: a }))]),
      "Attention of the last position"
    );
    const logits = grid(
      r.tokens,
      r.facts.map((f, i) => {
        const [low, high] = [Math.min(...f.logits), Math.max(...f.logits)];
        return [
          asked[i],
          f.logits.map((x, t) => ({
            text: short(x),
            share: high > low ? (x - low) / (high - low) : 0,
            right: r.tokens[t] === f.fact[2],
          })),
        ];
      }),
      "Logits, with the right answer framed"
    );
    const matrices = r.matrices.map(([name, rows]) =>
      grid(
        rows[0].map(() => ""),
        rows.map((row) => ["", row.map((x) => ({ text: x, share: x === "0" ? 0 : 0.3 }))]),
        name
      )
    );
    const file = URL.createObjectURL(new Blob([r.certificate], { type: "application/json" }));
    const verdict = element(
      "p",
      {},
      element("span", { className: `lx-badge lx-${r.holds ? "holds" : "refuted"}` }, r.holds ? "✓ It holds" : "✗ It does not hold"),
      ` The checker says: ${r.steps.at(-1)}. `,
      element("a", { href: file, download: "layer.json" }, "layer.json")
    );
    place.replaceChildren(
      element("p", { className: "lx-told" }, `The table was ${r.told} ${r.dims}: ${r.parameters} parameters besides the embeddings.`),
      element("ul", {}, element("li", {}, `The rank of the tensor is at least ${r.least} (its flattenings) and at most ${r.bound} (Proposition 2.1).`), ...r.lower.map((t) => element("li", {}, t))),
      verdict,
      tensor,
      attention,
      logits,
      element("details", {}, element("summary", {}, "The exact weights"), ...matrices)
    );
    place.dataset.status = r.holds ? "holds" : "does-not-hold";
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    delete place.dataset.status;
    const button = form.querySelector("button");
    if (location.protocol === "file:") {
      place.textContent = "Browsers let no page that was opened as a file start Python. Serve the folder, with python3 -m http.server.";
      return;
    }
    place.textContent = thread ? "Compiling …" : "Loading Python and lemmax (21 MB, once) …";
    button.disabled = true;
    thread ??= new Worker(new URL("try-worker.js", here), { type: "module" });
    const end = (words) => {
      thread.terminate();
      thread = null;
      button.disabled = false;
      place.textContent = `It could not be run: ${words}.`;
      place.dataset.status = "broken";
    };
    thread.onerror = () => end("the worker could not be loaded");
    thread.onmessage = ({ data }) => {
      if (data.broken) return end(data.broken);
      button.disabled = false;
      if (!data.refused) return show(data);
      place.textContent = data.refused;
      place.dataset.status = "refused";
    };
    thread.postMessage({ text: form.elements.text.value, tau: form.elements.tau.value.trim() });
  });
})();
