/* What scrolls sideways can be reached by the keyboard, and has a name. */
"use strict";
(() => {
  const NAMES = { pre: "Code", ".table-wrapper, .lx-scroll, .lx-world-parts > div": "Table" };
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
  window.addEventListener("load", reach);
  window.addEventListener("resize", reach);
})();
