/* What rests on what: a layered drawing of the claims, made in the page from the data in it. It opens
   on one paper, whole; graph.html#paper=dana shows another, graph.html#all every claim, and
   graph.html#wong/proposition-3.6 one claim with everything it rests on. */
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
  const BOX = { width: 152, line: 15, pad: 12, across: 30, down: 8, margin: 12 };
  const LARGEST = 1.1; // a few boxes are not blown up
  const papers = Object.keys(data.papers);

  /* Words are measured, so that no label is cut off: a box is as high as its lines. */
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  function lines(text) {
    const out = [""];
    for (const word of text.split(" ")) {
      const longer = out[out.length - 1] ? `${out[out.length - 1]} ${word}` : word;
      if (pen.measureText(longer).width > BOX.width - 36 && out[out.length - 1]) out.push(word);
      else out[out.length - 1] = longer;
    }
    return out;
  }
  for (const claim of claims.values()) {
    claim.lines = lines(claim.title);
    claim.height = Math.max(2, claim.lines.length) * BOX.line + BOX.pad;
  }

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
    // What nothing rests on leaves a tall layer for a short one further right.
    const mean = linked.length / layers.length;
    layers.forEach((layer, i) => {
      for (const id of layer.filter((one) => !users.get(one).length)) {
        const right = layers.map((_, j) => j).slice(i + 1);
        if (layer.length <= mean || !right.length) break;
        const short = right.reduce((low, j) => (layers[j].length < layers[low].length ? j : low));
        if (layers[short].length + 1 >= layer.length) break;
        layers[short].push(id);
        layer.splice(layer.indexOf(id), 1);
      }
    });
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
    return { ...best(layers, alone), uses };
  }

  /* A tall layer becomes several columns: as many as make the boxes largest on this screen. */
  function best(layers, alone) {
    const tallest = Math.max(1, layers.length ? 0 : alone.length, ...layers.map((l) => l.length));
    let chosen = null;
    for (let rows = Math.min(3, tallest); rows <= tallest; rows++) {
      const made = columns(layers, alone, rows);
      made.scale = Math.min(holder.clientWidth / made.width, room() / made.height);
      if (!chosen || made.scale > chosen.scale) chosen = made;
    }
    return chosen;
  }

  function columns(layers, alone, rows) {
    const stacks = [];
    for (const layer of layers) {
      const parts = Math.max(1, Math.ceil(layer.length / rows));
      const size = Math.ceil(layer.length / parts);
      for (let i = 0; i < parts; i++) stacks.push(layer.slice(i * size, (i + 1) * size));
    }
    // What is linked to nothing fills the columns from below, where there is room.
    const below = stacks.map(() => []);
    if (!stacks.length) stacks.push([]), below.push([]);
    const tall = (stack) => stack.reduce((sum, id) => sum + claims.get(id).height + BOX.down, 0);
    const high = (x) => tall(stacks[x]) + tall(below[x]);
    for (const id of alone) {
      const fits = Math.ceil(alone.length / rows);
      while (below.length < fits && !layers.length) stacks.push([]), below.push([]);
      const x = below.map((_, i) => i).reduce((low, i) => (high(i) < high(low) ? i : low));
      below[x].push(id);
    }
    const inner = Math.max(...stacks.map((_, x) => high(x)));
    const position = new Map();
    stacks.forEach((stack, x) => {
      let y = BOX.margin + (inner - high(x)) / 2;
      const across = BOX.margin + x * (BOX.width + BOX.across);
      const put = (id) => {
        position.set(id, [across, y]);
        y += claims.get(id).height + BOX.down;
      };
      stack.forEach(put);
      y = BOX.margin + inner - tall(below[x]);
      below[x].forEach(put);
    });
    const width = stacks.length * (BOX.width + BOX.across) - BOX.across + 2 * BOX.margin;
    return { position, width, height: inner + 2 * BOX.margin - BOX.down };
  }

  const full = () => document.fullscreenElement === holder;
  const room = () => (full() ? window.innerHeight : Math.max(240, Math.min(window.innerHeight * 0.78, 900)));

  function element(name, attributes, parent, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent?.append(made);
    return made;
  }

  /* What is seen of the drawing, in its own units; zooming and panning change nothing else. */
  let whole = { x: 0, y: 0, width: 1, height: 1 };
  let view = { ...whole };

  function look(next) {
    const svg = holder.querySelector("svg");
    const width = Math.min(whole.width, Math.max(whole.width / 12, next.width));
    const height = width * (whole.height / whole.width);
    const inside = (at, size, from, all) => Math.min(from + all - size, Math.max(from, at));
    view = {
      x: inside(next.x, width, whole.x, whole.width),
      y: inside(next.y, height, whole.y, whole.height),
      width,
      height,
    };
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    holder.classList.toggle("lx-near", view.width < whole.width);
  }

  function zoom(factor, at = [view.x + view.width / 2, view.y + view.height / 2]) {
    const width = Math.min(whole.width, Math.max(whole.width / 12, view.width / factor));
    const kept = width / view.width;
    look({ x: at[0] - (at[0] - view.x) * kept, y: at[1] - (at[1] - view.y) * kept, width });
  }

  const pan = (dx, dy) => look({ ...view, x: view.x + dx * view.width, y: view.y + dy * view.height });

  function place(event) {
    const box = holder.getBoundingClientRect();
    return [
      view.x + ((event.clientX - box.left) / box.width) * view.width,
      view.y + ((event.clientY - box.top) / box.height) * view.height,
    ];
  }

  /* The mouse drags, and its wheel zooms while the graph has the focus or Ctrl is held; two fingers
     zoom, one pans what is larger than the screen. A drag opens no page. */
  const fingers = new Map();
  let moved = 0;
  holder.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    if (!fingers.size) moved = 0;
    fingers.set(event.pointerId, place(event));
  });
  holder.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = place(event);
    if (fingers.size === 2) {
      const [other] = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
      if (apart(before) > 1) zoom(apart(now) / apart(before), other);
      fingers.set(event.pointerId, place(event));
      moved = 99;
      return;
    }
    moved += Math.hypot(event.movementX, event.movementY);
    if (moved < 5) return;
    if (!holder.hasPointerCapture(event.pointerId)) holder.setPointerCapture(event.pointerId);
    look({ ...view, x: view.x + before[0] - now[0], y: view.y + before[1] - now[1] });
  });
  for (const kind of ["pointerup", "pointercancel", "pointerleave"]) {
    holder.addEventListener(kind, (event) => fingers.delete(event.pointerId));
  }
  holder.addEventListener("dragstart", (event) => event.preventDefault());
  holder.addEventListener("click", (event) => moved >= 5 && event.preventDefault(), true);
  holder.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !holder.contains(document.activeElement)) return;
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 400), place(event));
    },
    { passive: false }
  );
  const KEYS = {
    "+": () => zoom(1.3),
    "=": () => zoom(1.3),
    "-": () => zoom(1 / 1.3),
    0: () => look(whole),
    ArrowLeft: () => pan(-0.15, 0),
    ArrowRight: () => pan(0.15, 0),
    ArrowUp: () => pan(0, -0.15),
    ArrowDown: () => pan(0, 0.15),
  };
  holder.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
    event.preventDefault();
    KEYS[event.key]();
  });

  /* Where the page has room on the right, the drawing takes it: its words are larger. */
  function widen() {
    holder.style.width = "";
    const space = document.documentElement.clientWidth - holder.getBoundingClientRect().left - 24;
    if (!full() && space > holder.clientWidth) holder.style.width = `${space}px`;
  }

  function draw(ids, focus, told) {
    widen();
    const { position, width, height, uses, scale } = layout(ids);
    const svg = element("svg", { role: "list", "aria-label": told });
    const edges = element("g", { class: "lx-edges", "aria-hidden": "true" }, svg);
    uses.forEach((list, id) => {
      const [x2, y2] = position.get(id);
      for (const used of list) {
        const [x1, y1] = position.get(used);
        const from = [x1 + BOX.width, y1 + claims.get(used).height / 2];
        const to = [x2, y2 + claims.get(id).height / 2];
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
      element("rect", { width: BOX.width, height: claim.height, rx: 7 }, anchor);
      const middle = claim.height / 2 + 4.5;
      const sign = { x: 9, y: middle, class: "lx-sign", "aria-hidden": "true" };
      element("text", sign, anchor, data.signs[claim.verdict] || "");
      const top = middle - ((claim.lines.length - 1) * BOX.line) / 2;
      claim.lines.forEach((line, i) =>
        element("text", { x: 28, y: top + BOX.line * i }, anchor, `${line} `)
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
      anchor.addEventListener("focus", () => {
        const seen =
          x >= view.x &&
          y >= view.y &&
          x + BOX.width <= view.x + view.width &&
          y + claim.height <= view.y + view.height;
        if (!seen) look({ ...view, x: x + BOX.width / 2 - view.width / 2, y: y - view.height / 2 });
        holder.scrollTo(0, 0); // the browser scrolls what only the view may move
      });
      anchor.addEventListener("blur", light(false));
    }
    holder.replaceChildren(svg);
    const drawn = Math.min(LARGEST, scale);
    holder.style.height = full() ? "100%" : `${Math.min(room(), height * drawn)}px`;
    const size = { width: holder.clientWidth / drawn, height: holder.clientHeight / drawn };
    whole = { x: (width - size.width) / 2, y: (height - size.height) / 2, ...size };
    look(whole);
  }

  /* A paper, with the claims of other papers that its own rest on or are repaired by. */
  function paper(key) {
    const own = data.claims.filter((c) => c.paper === key);
    return new Set(own.flatMap((c) => [c.id, ...c.uses]));
  }

  function show() {
    const asked = decodeURIComponent(location.hash.slice(1));
    const focus = claims.has(asked) ? asked : null;
    const named = new URLSearchParams(asked).get("paper");
    const key = asked === "all" ? "" : papers.includes(named) ? named : papers[0];
    form.elements.focus.value = focus || "";
    form.elements.paper.value = focus ? claims.get(focus).paper : key;
    const definitions = form.elements.definitions.checked;
    const pool = focus ? ancestors(focus) : key ? paper(key) : new Set(claims.keys());
    const ids = [...pool].filter(
      (id) => definitions || id === focus || claims.get(id).verdict !== "definition"
    );
    const about = focus ? `What ${focus} rests on` : key ? `The claims of ${data.papers[key]}` : "All claims";
    draw(ids, focus, about);
    const hidden = pool.size - ids.length;
    const rest = hidden ? ` (${hidden} ${hidden === 1 ? "definition" : "definitions"} not shown)` : "";
    const own = ids.filter((id) => claims.get(id).paper === key).length;
    const beside = ids.length - own;
    status.textContent = focus
      ? `${claims.get(focus).title}: rests on ${pool.size - 1 || "no"} other${pool.size === 2 ? "" : "s"}${rest}.`
      : key
        ? `${data.papers[key]}: ${own} claims${beside ? ` and ${beside} of others that they rest on` : ""}${rest}.`
        : `${ids.length} claims${rest}. Boxes on the right rest on those on the left.`;
    const known = !asked || focus || asked === "all" || asked.includes("=");
    if (!known && !document.getElementById(asked)) {
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
    else if (event.target.name === "paper") {
      location.hash = event.target.value ? `paper=${event.target.value}` : "all";
    }
    else if (claims.has(event.target.value)) location.hash = event.target.value;
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    form.elements.definitions.checked = false;
    location.hash = "all";
    show();
  });
  for (const [name, act] of Object.entries({ nearer: "+", farther: "-", fit: 0 })) {
    form.elements[name].addEventListener("click", KEYS[act]);
  }
  form.elements.screen.hidden = !document.fullscreenEnabled;
  form.elements.screen.addEventListener("click", () => holder.requestFullscreen());
  document.addEventListener("fullscreenchange", show);
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth !== width) show(); // on a phone the height changes while one scrolls
    width = window.innerWidth;
  });
  window.addEventListener("hashchange", show);
  show();
})();
