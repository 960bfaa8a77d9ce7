/* What scrolls sideways can be reached by the keyboard, and has a name. */
"use strict";
(() => {
  const NAMES = {
    pre: "Code",
    ".table-wrapper, .lx-scroll, .lx-world-parts > div": "Table",
    ".cell_output": "Figure",
  };
  function reach() {
    for (const [selector, name] of Object.entries(NAMES)) {
      for (const part of document.querySelectorAll(`article :is(${selector})`)) {
        if (part.scrollWidth <= part.clientWidth + 1 || part.hasAttribute("tabindex")) continue;
        if (part.querySelector("a, button, input")) continue;
        part.tabIndex = 0;
        part.setAttribute("role", "region");
        part.setAttribute("aria-label", name);
      }
    }
  }
  /* Formulas in a line have no breaks. */
  function formulas() {
    const all = [...document.querySelectorAll("article mjx-container:not([display])")];
    all.forEach((formula) => formula.classList.remove("lx-wider"));
    const wider = all.filter((formula) => {
      const line = formula.closest("p, li, dd, dt, td, th, h1, h2, h3, div");
      return line && formula.getBoundingClientRect().width > line.clientWidth;
    });
    wider.forEach((formula) => formula.classList.add("lx-wider"));
  }
  window.addEventListener("load", () => {
    reach();
    window.MathJax?.startup?.promise?.then(formulas);
  });
  document.addEventListener("load", reach, true); // of a figure, which is fetched when it is near
  window.addEventListener("resize", () => {
    reach();
    formulas();
  });
})();
