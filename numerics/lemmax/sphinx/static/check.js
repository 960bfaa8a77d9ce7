/* Certificates are checked in the page, by the checker that can be downloaded, in a worker that is
   started when it is first asked for. Nothing leaves the reader's machine.

   window.lemmaxCheck(name, files, tell) is what the buttons use: files are {name, bytes}, tell is
   called with every step as it passes, and the promise is what `checker --json` prints. */
"use strict";
(() => {
  const script = document.currentScript.src;
  const worker = new URL("check-worker.js", script);
  const SIZE = "13 MB";
  const LARGEST = 300000; // characters that an editor is given
  const opened = location.protocol === "file:";

  /* One worker, one certificate at a time. A worker that is stopped is replaced by the next. */
  let running = null;
  let turn = Promise.resolve();

  function start() {
    const python = { thread: new Worker(worker, { type: "module" }), ready: false, end: null };
    python.thread.onmessage = ({ data }) => {
      if ("ready" in data) python.ready = data.ready;
      if (data.step) python.tell?.(data.step);
      if (data.report) python.done?.(data.report);
      if (data.broken) python.end?.(new Error(data.broken));
      if ("ready" in data) python.tell?.({ ready: data.ready });
    };
    python.thread.onerror = () => python.end?.(new Error("the worker could not be loaded"));
    return python;
  }

  function stop() {
    const python = running;
    running = null;
    python?.thread.terminate();
    python?.end?.(new Error("stopped"));
  }

  function check(name, files, tell = () => {}) {
    const next = turn.then(
      () =>
        new Promise((done, fail) => {
          running ??= start();
          const python = running;
          python.tell = tell;
          if (python.ready) tell({ ready: python.ready });
          python.done = done;
          python.end = (error) => {
            if (running === python) running = null;
            python.thread.terminate();
            fail(error);
          };
          python.thread.postMessage({ name, files });
        })
    );
    turn = next.catch(() => {});
    return next;
  }
  window.lemmaxCheck = check;

  function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  /* Browsers start no worker for a page that was opened as a file. */
  function serve() {
    const site = new URL("..", script);
    const folder = decodeURIComponent(site.pathname).replace(/\/$/, "");
    const quoted = /^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", `'\\''`)}'`;
    const path = location.href.slice(site.href.length);
    const address = `http://localhost:8000/${path}`;
    return element(
      "p",
      { className: "lx-serve" },
      "This page was opened as a file, and browsers let no such page start Python. Serve the folder, with ",
      element("code", {}, `python3 -m http.server -d ${quoted}`),
      ", and open ",
      element("a", { href: address }, address),
      "."
    );
  }

  /* Check one file and show, in `place`, each step when it passes. */
  async function shown(place, name, files) {
    const steps = element("ol", { className: "lx-steps" });
    const told = element("p", { className: "lx-told" }, `Loading Python (${SIZE}, once) …`);
    const halt = element("button", { type: "button", className: "lx-stop", onclick: stop }, "Stop");
    place.replaceChildren(told, steps, halt);
    const step = (ok, text) =>
      element("li", { className: ok ? "lx-passed" : "lx-failed" }, element("b", {}, ok ? "" : "fails: "), text);
    const began = { at: performance.now() };
    try {
      const report = await check(name, files, (event) => {
        if ("ready" in event) {
          told.textContent = "Checking …";
          began.at = performance.now();
        } else steps.append(step(event.ok, event.text));
      });
      const seconds = ((performance.now() - began.at) / 1000).toFixed(2);
      const holds = report.status === "holds";
      const verdict = {
        holds: "It holds",
        "does-not-hold": "It does not hold",
        "not-a-certificate": "Not a certificate",
      }[report.status];
      told.replaceChildren(
        element(
          "span",
          { className: `lx-badge lx-${holds ? "holds" : "refuted"}` },
          element("span", { ariaHidden: "true" }, holds ? "✓ " : "✗ "),
          verdict
        ),
        report.error
          ? ` ${report.error}`
          : ` ${report.kind}, ${report.steps.length} ${report.steps.length === 1 ? "step" : "steps"}, ` +
            `checked here in ${seconds} s; sha256 ${report.sha256.slice(0, 16)}…`
      );
      steps.replaceChildren(
        ...(report.steps || []).map((text, i) => step(holds || i < report.steps.length - 1, text))
      );
      if (report.statement) told.append(`; the statement is ${report.statement}`);
      place.dataset.status = report.status;
      return report;
    } catch (error) {
      told.textContent =
        error.message === "stopped" ? "Stopped." : `The check could not be run: ${error.message}.`;
      place.dataset.status = "broken";
      return null;
    } finally {
      halt.remove();
    }
  }

  async function fetched(address) {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`${address}: ${answer.status} ${answer.statusText}`);
    return answer.arrayBuffer();
  }

  /* The button beside a certificate. */
  for (const button of document.querySelectorAll(".lx-check-here")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const line = button.closest("p");
      const next = line.nextElementSibling;
      const place = next?.classList.contains("lx-checked")
        ? next
        : element("div", { className: "lx-checked" });
      place.setAttribute("role", "status");
      line.after(place);
      if (opened) return place.replaceChildren(serve());
      button.disabled = true;
      try {
        const address = new URL(button.dataset.certificate, location.href);
        const name = address.pathname.split("/").pop();
        await shown(place, name, [{ name, bytes: await fetched(address) }]);
        const editor = element("a", { href: button.dataset.editor }, "Change a number");
        if (button.dataset.editor) place.append(element("p", {}, editor, " and see which step fails."));
      } catch (error) {
        place.replaceChildren(element("p", {}, `The certificate could not be loaded: ${error.message}`));
      }
      button.disabled = false;
      if (document.activeElement === document.body) button.focus({ preventScroll: true });
    });
  }

  /* White space between the tokens of JSON, and nothing else: short lists stay on one line. */
  function laidOut(text) {
    const tokens = text.match(/"(?:\\.|[^"\\])*"|[{}[\],:]|[^\s{}[\],:"]+/g) || [];
    if (tokens.join("") !== text.replace(/("(?:\\.|[^"\\])*")|\s+/g, "$1")) return text;
    let at = 0;
    const value = (indent) => {
      const first = tokens[at++];
      if (first !== "{" && first !== "[") return first;
      const close = first === "{" ? "}" : "]";
      const parts = [];
      while (at < tokens.length && tokens[at] !== close) {
        let part = value(indent + "  ");
        if (tokens[at] === ":") {
          at++;
          part += ": " + value(indent + "  ");
        }
        parts.push(part);
        if (tokens[at] === ",") at++;
        else if (tokens[at] !== close) throw new SyntaxError("not JSON");
      }
      if (tokens[at++] !== close) throw new SyntaxError("not JSON");
      const flat = first + parts.join(", ") + close;
      if (flat.length <= 72 && !flat.includes("\n")) return flat;
      const inner = indent + "  ";
      return `${first}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
    };
    try {
      const made = value("");
      return at === tokens.length ? made + "\n" : text;
    } catch {
      return text;
    }
  }

  /* The page that takes any certificate. */
  const form = document.querySelector(".lx-checker[data-certificates]");
  if (!form) return;
  document.querySelectorAll(".lx-no-checker").forEach((e) => e.remove());
  form.hidden = false;
  const place = form.querySelector(".lx-checked");
  const { text, shipped, files, restore } = form.elements;
  let given = null; // {name, files, text}: what is checked while the text is untouched

  function take(name, all) {
    const own = all.find((file) => file.name === name);
    const decoded = new TextDecoder().decode(own.bytes);
    const large = decoded.length > LARGEST;
    const written = large ? "" : laidOut(decoded);
    text.value = written;
    text.disabled = large;
    text.placeholder = large ? `${name} is too long to be edited here; it is checked as it is.` : "";
    given = { name, files: all, text: written };
    restore.disabled = true;
    form.querySelector(".lx-name").textContent = name;
    place.replaceChildren();
    delete place.dataset.status;
  }

  function now() {
    if (!given) return { name: "certificate.json", files: [] };
    if (text.value === given.text) return given;
    return { name: given.name, files: given.files.filter((f) => f.name !== given.name) };
  }

  async function run() {
    if (opened) return place.replaceChildren(serve());
    const { name, files: beside, text: untouched } = now();
    const all = [...beside];
    if (untouched === undefined) all.push({ name, bytes: new TextEncoder().encode(text.value).buffer });
    await shown(place, name, all);
  }

  async function choose(list) {
    const read = [...list].map(async (f) => ({ name: f.name, bytes: await f.arrayBuffer() }));
    const all = await Promise.all(read);
    const names = all.map((f) => f.name);
    const certificates = names.filter((n) => n.endsWith(".json"));
    if (!all.length) return;
    shipped.value = "";
    take(certificates[0] || names[0], all);
    if (certificates.length <= 1) return run();
    const table = element("ul", { className: "lx-many" });
    if (opened) return place.replaceChildren(serve());
    for (const name of certificates) {
      const line = element("div", {});
      table.append(element("li", {}, element("b", {}, name), line));
      place.replaceChildren(table);
      await shown(line, name, all);
    }
  }

  async function load() {
    if (!shipped.value) return;
    if (opened) return place.replaceChildren(serve());
    const name = `${shipped.value.split("/").pop()}.json`;
    try {
      const address = new URL(`${form.dataset.certificates}/${shipped.value}.json`, location.href);
      take(name, [{ name, bytes: await fetched(address) }]);
      history.replaceState(null, "", `#${shipped.value}`);
    } catch (error) {
      place.replaceChildren(element("p", {}, `The certificate could not be loaded: ${error.message}`));
    }
  }

  function recall() {
    const asked = decodeURIComponent(location.hash.slice(1));
    if ([...shipped.options].some((o) => o.value && o.value === asked)) {
      shipped.value = asked;
      load();
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  shipped.addEventListener("change", load);
  files.addEventListener("change", () => choose(files.files));
  text.addEventListener("input", () => (restore.disabled = !given || text.value === given.text));
  restore.addEventListener("click", () => {
    text.value = given.text;
    restore.disabled = true;
  });
  const area = form.querySelector(".lx-drop");
  for (const kind of ["dragenter", "dragover"]) {
    area.addEventListener(kind, (event) => {
      event.preventDefault();
      area.classList.add("lx-over");
    });
  }
  for (const kind of ["dragleave", "drop"]) {
    area.addEventListener(kind, () => area.classList.remove("lx-over"));
  }
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    choose(event.dataTransfer.files);
  });
  window.addEventListener("hashchange", recall);
  if (opened) place.replaceChildren(serve());
  else recall();
})();
