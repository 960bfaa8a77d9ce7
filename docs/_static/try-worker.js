/* lemmax in a thread of its own. Asks for Pyodide, python-flint and lemmax beside this script only. */
import { loadPyodide } from "./pyodide/pyodide.mjs";

/* There is no numpy here. Modules that mention its names when they are imported find placeholders, and
   calling one is an error. The compiler's quick first look at facts, which uses numpy, is left out:
   every fact is decided exactly, as it is wherever the first look decides nothing. */
const START = `
import json, sys, types

class Name:
    def __class_getitem__(cls, item):
        return cls
    def __init__(self, *given, **named):
        raise RuntimeError("This needs numpy, which does not run here.")

def placeholder(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return type(name, (Name,), {})

for module in ("numpy", "numpy.typing"):
    sys.modules[module] = types.ModuleType(module)
    sys.modules[module].__getattr__ = placeholder
sys.path.insert(0, "/lemmax")
from lemmax.theory.wong import memorization
memorization._neighbours = lambda weights: None
memorization._decide_by_int64 = lambda balls, facts, *others: [False] * len(facts)
from tryout import tried
from lemmax.theory.errors import LemmaxError

def answer(text, tau):
    try:
        return json.dumps(tried(text, tau))
    except LemmaxError as error:
        return json.dumps({"refused": str(error)})
`;

async function start() {
  const here = (path) => new URL(path, import.meta.url).href;
  const bytes = async (path) => {
    const reply = await fetch(here(path));
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${reply.statusText}`);
    return reply.arrayBuffer();
  };
  const [python, flint, lemmax, page] = await Promise.all([
    loadPyodide({ indexURL: here("./pyodide/") }),
    bytes("./pyodide/python_flint.whl"),
    bytes("./lemmax.zip"),
    bytes("./tryout.py"),
  ]);
  python.unpackArchive(flint, "wheel");
  python.FS.mkdirTree("/lemmax");
  python.unpackArchive(lemmax, "zip", { extractDir: "/lemmax" });
  python.FS.writeFile("/lemmax/tryout.py", new Uint8Array(page));
  await python.runPythonAsync(START);
  return python;
}

const started = start();
started.catch(() => {});
onmessage = async ({ data: { text, tau } }) => {
  try {
    const python = await started;
    postMessage(JSON.parse(python.globals.get("answer")(text, tau)));
  } catch (error) {
    postMessage({ broken: String(error.message || error).trim().split("\n").pop() });
  }
};
