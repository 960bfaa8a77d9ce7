/* The filter of the table of claims. The filter lives in the address, so that it can be sent:
   ledger.html#paper=wong&verdict=refuted */
"use strict";
(() => {
  const form = document.querySelector(".lx-filter");
  if (!form) return;
  const rows = [...document.querySelectorAll(".lx-table tbody tr")];
  const count = document.querySelector(".lx-count");
  const none = document.querySelector(".lx-none");
  const fields = ["paper", "kind", "verdict", "grade", "q"];
  const texts = rows.map((row) => row.textContent.toLowerCase());

  function apply() {
    const wanted = Object.fromEntries(fields.map((f) => [f, form.elements[f].value]));
    const words = wanted.q.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      const fits =
        ["paper", "kind", "verdict", "grade"].every(
          (f) => !wanted[f] || row.dataset[f] === wanted[f]
        ) && words.every((w) => texts[i].includes(w));
      row.hidden = !fits;
      shown += fits;
    });
    count.textContent =
      shown === rows.length ? `${shown} claims` : `${shown} of ${rows.length} claims`;
    none.hidden = shown > 0;
    return wanted;
  }

  function remember() {
    const wanted = apply();
    const kept = fields.filter((f) => wanted[f]).map((f) => [f, wanted[f]]);
    const hash = new URLSearchParams(kept).toString();
    history.replaceState(null, "", hash ? `#${hash}` : location.pathname + location.search);
  }

  function recall() {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const f of fields) {
      const field = form.elements[f];
      field.value = given.get(f) || "";
      if (field.selectedIndex === -1) field.value = "";
    }
    apply();
  }

  form.addEventListener("input", remember);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    for (const f of fields) form.elements[f].value = "";
    remember();
  });
  window.addEventListener("hashchange", recall);
  recall();
})();
