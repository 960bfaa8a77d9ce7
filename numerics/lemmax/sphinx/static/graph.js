/* What rests on what: a layered drawing of the claims, made in the page from the data in it.
   graph.html#wong/proposition-3.6 shows one claim with everything it rests on. */
"use strict";
(() => {
  const source = document.getElementById("lx-graph-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const claims = new Map(data.claims.map((c) => [c.id, c]));
  const holder = document.querySelector(".lx-graph");
  const status = document.querySelector(".lx-graph-status");
  const form = document.querySelector(".lx-graph-form");
  const SVG = "http://www.w3.org/2000/svg";
  const BOX = { width: 200, height: 46, across: 66, down: 12, margin: 16 };

  function ancestors(id) {
    const seen = new Set([id]);
    const queue = [id];
    while (queue.length) {
      for (const used of claims.get(queue.pop()).uses) {
        if (!seen.has(used)) {
          seen.add(used);
          queue.push(used);
        }
      }
    }
    return seen;
  }

  /* Layers from the left (foundations) to the right, each ordered by the middle of its neighbours. */
  function layout(ids) {
    const inside = new Set(ids);
    const uses = new Map(ids.map((id) => [id, claims.get(id).uses.filter((u) => inside.has(u))]));
    const users = new Map(ids.map((id) => [id, []]));
    uses.forEach((list, id) => list.forEach((u) => users.get(u).push(id)));
    const depth = new Map();
    const measure = (id) => {
      if (!depth.has(id)) {
        depth.set(id, 0); // a repair may point back: never loop
        depth.set(id, Math.max(0, ...uses.get(id).map((u) => measure(u) + 1)));
      }
      return depth.get(id);
    };
    ids.forEach(measure);
    const linked = ids.filter((id) => uses.get(id).length || users.get(id).length);
    const alone = ids.filter((id) => !uses.get(id).length && !users.get(id).length);
    // A foundation that nothing nearby uses moves next to its first user.
    for (const id of linked) {
      if (!uses.get(id).length) {
        depth.set(id, Math.max(0, Math.min(...users.get(id).map((u) => depth.get(u))) - 1));
      }
    }
    const layers = [];
    linked.forEach((id) => (layers[depth.get(id)] ??= []).push(id));
    for (let i = 0; i < layers.length; i++) layers[i] ??= [];
    const place = new Map();
    const number = () => layers.forEach((l) => l.forEach((id, i) => place.set(id, i / l.length)));
    number();
    const middle = (id, near) => {
      const at = near.get(id);
      return at.length ? at.reduce((s, n) => s + place.get(n), 0) / at.length : place.get(id);
    };
    for (let round = 0; round < 12; round++) {
      const near = round % 2 ? users : uses;
      for (const layer of layers) {
        const key = new Map(layer.map((id) => [id, middle(id, near)]));
        layer.sort((a, b) => key.get(a) - key.get(b));
      }
      number();
    }
    const tallest = Math.max(1, ...layers.map((l) => l.length));
    const row = BOX.height + BOX.down;
    const column = BOX.width + BOX.across;
    const position = new Map();
    layers.forEach((layer, x) =>
      layer.forEach((id, y) =>
        position.set(id, [
          BOX.margin + x * column,
          BOX.margin + (y + (tallest - layer.length) / 2) * row,
        ])
      )
    );
    let width = Math.max(1, layers.length) * column - BOX.across + 2 * BOX.margin;
    let height = (layers.length ? tallest * row : 0) + 2 * BOX.margin;
    const perRow = Math.max(1, Math.floor((width - 2 * BOX.margin + 12) / (BOX.width + 12)));
    alone.forEach((id, i) =>
      position.set(id, [
        BOX.margin + (i % perRow) * (BOX.width + 12),
        height + Math.floor(i / perRow) * row,
      ])
    );
    if (alone.length) height += Math.ceil(alone.length / perRow) * row + BOX.margin;
    return { position, width, height, uses, tallest };
  }

  function element(name, attributes, parent, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent?.append(made);
    return made;
  }

  function lines(text) {
    const words = text.split(" ");
    const out = [""];
    for (const word of words) {
      const last = out[out.length - 1];
      if ((last + " " + word).length > 25 && last) out.push(word);
      else out[out.length - 1] = last ? `${last} ${word}` : word;
    }
    if (out.length > 2) out[1] += " …";
    return out.slice(0, 2).map((l) => (l.length > 26 ? l.slice(0, 24) + "…" : l));
  }

  function draw(ids, focus) {
    const { position, width, height, uses } = layout(ids);
    const svg = element("svg", {
      viewBox: `0 0 ${width} ${height}`,
      width,
      height,
      role: "list",
      "aria-label": focus ? `What ${focus} rests on` : "All claims",
    });
    const edges = element("g", { class: "lx-edges", "aria-hidden": "true" }, svg);
    uses.forEach((list, id) => {
      const [x2, y2] = position.get(id);
      for (const used of list) {
        const [x1, y1] = position.get(used);
        const from = [x1 + BOX.width, y1 + BOX.height / 2];
        const to = [x2, y2 + BOX.height / 2];
        const bend = Math.max(30, (to[0] - from[0]) / 2);
        element(
          "path",
          {
            d: `M${from} C${from[0] + bend},${from[1]} ${to[0] - bend},${to[1]} ${to}`,
            class: claims.get(id).repair === used ? "lx-edge lx-edge-repair" : "lx-edge",
            "data-from": used,
            "data-to": id,
          },
          edges
        );
      }
    });
    for (const id of [...ids].sort((a, b) => {
      const [p, q] = [position.get(a), position.get(b)];
      return p[0] - q[0] || p[1] - q[1];
    })) {
      const claim = claims.get(id);
      const [x, y] = position.get(id);
      const item = element("g", { role: "listitem" }, svg);
      const anchor = element(
        "a",
        {
          href: `${data.base}/${id}.html`,
          class: `lx-node lx-${claim.verdict}${id === focus ? " lx-focus" : ""}`,
          transform: `translate(${x},${y})`,
          "data-id": id,
          "aria-label": `${claim.title}, ${claim.verdict}`,
        },
        item
      );
      element("title", {}, anchor, `${id}: ${claim.title} (${claim.verdict})`);
      element("rect", { width: BOX.width, height: BOX.height, rx: 7 }, anchor);
      element("text", { x: 10, y: 28, class: "lx-sign" }, anchor, data.signs[claim.verdict] || "");
      const text = lines(claim.title);
      text.forEach((line, i) =>
        element("text", { x: 28, y: text.length === 1 ? 28 : 20 + 15 * i }, anchor, line)
      );
      const light = (on) => () =>
        edges
          .querySelectorAll(".lx-edge")
          .forEach((e) =>
            e.classList.toggle("lx-lit", on && (e.dataset.from === id || e.dataset.to === id))
          );
      anchor.addEventListener("mouseenter", light(true));
      anchor.addEventListener("mouseleave", light(false));
      anchor.addEventListener("focus", light(true));
      anchor.addEventListener("blur", light(false));
    }
    holder.replaceChildren(svg);
    const target = focus && svg.querySelector(".lx-focus");
    if (target) {
      const [x, y] = position.get(focus);
      holder.scrollTo(x - holder.clientWidth + BOX.width + 40, y - holder.clientHeight / 2);
    }
  }

  function show() {
    const asked = decodeURIComponent(location.hash.slice(1));
    const focus = claims.has(asked) ? asked : null;
    form.elements.focus.value = focus || "";
    const definitions = form.elements.definitions.checked;
    const pool = focus ? ancestors(focus) : new Set(claims.keys());
    const ids = [...pool].filter(
      (id) => definitions || id === focus || claims.get(id).verdict !== "definition"
    );
    draw(ids, focus);
    const hidden = pool.size - ids.length;
    const rest = hidden ? ` (${hidden} ${hidden === 1 ? "definition" : "definitions"} not shown)` : "";
    status.textContent = focus
      ? `${claims.get(focus).title}: rests on ${pool.size - 1 || "no"} other${pool.size === 2 ? "" : "s"}${rest}.`
      : `${ids.length} claims${rest}. Boxes on the right rest on those on the left.`;
    if (asked && !focus && !document.getElementById(asked)) {
      status.textContent = `There is no claim ${asked}. ${status.textContent}`;
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.hash = form.elements.focus.value.trim();
    show();
  });
  form.addEventListener("change", (event) => {
    if (event.target.name === "definitions") show();
    else if (claims.has(event.target.value)) location.hash = event.target.value;
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    form.elements.definitions.checked = false;
    history.replaceState(null, "", location.pathname + location.search);
    show();
  });
  window.addEventListener("hashchange", show);
  show();
})();
