/* Python in a thread of its own: the stand-alone checker, unchanged, on files of the reader.
   Asks for Pyodide and for checker.pyz beside this script, and for nothing else. */
import { loadPyodide } from "./pyodide/pyodide.mjs";

/* As the archive's own __main__ does it: the archive is a package. `main` is the command line; the
   listener passes every step on, as it is, while it is found. */
const START = `
import contextlib, hashlib, importlib, io, json, os, sys, types
import page

package = types.ModuleType("lemmax_checker")
package.__path__ = ["/checker.pyz"]
sys.modules[package.__name__] = package
command = importlib.import_module("lemmax_checker.command")
checking = importlib.import_module("lemmax_checker.checking")
silent = checking.rule_of

def listened(kind):
    rule = silent(kind)
    def steps(data):
        for step in rule(data):
            page.tell(step.ok, step.text)
            yield step
    return steps

checking.rule_of = listened
os.mkdir("/files")
os.chdir("/files")

def checked(name):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        command.main(["--json", "--", name])
    (report,) = json.loads(printed.getvalue())
    with open(name, "rb") as file:
        report["sha256"] = hashlib.sha256(file.read()).hexdigest()
    return json.dumps(report)

def forget():
    for name in os.listdir():
        os.remove(name)
`;

async function start() {
  const here = (path) => new URL(path, import.meta.url).href;
  const [python, archive] = await Promise.all([
    loadPyodide({ indexURL: here("./pyodide/") }),
    fetch(here("../certificates/checker.pyz")).then((answer) => {
      if (!answer.ok) throw new Error(`checker.pyz: ${answer.status} ${answer.statusText}`);
      return answer.arrayBuffer();
    }),
  ]);
  python.FS.writeFile("/checker.pyz", new Uint8Array(archive));
  python.registerJsModule("page", { tell: (ok, text) => postMessage({ step: { ok, text } }) });
  python.runPython(START);
  return python;
}

const started = start();
started.then(
  (python) => postMessage({ ready: python.runPython("sys.version.split()[0]") }),
  (error) => postMessage({ broken: String(error.message || error) })
);

/* One file is checked at a time; files that lie beside it are there when it is. */
onmessage = async ({ data: { name, files } }) => {
  const python = await started;
  try {
    for (const file of files) python.FS.writeFile(`/files/${file.name}`, new Uint8Array(file.bytes));
    const report = python.globals.get("checked")(name);
    python.globals.get("forget")();
    postMessage({ report: JSON.parse(report) });
  } catch (error) {
    postMessage({ broken: String(error.message || error).trim().split("\n").pop() });
  }
};
