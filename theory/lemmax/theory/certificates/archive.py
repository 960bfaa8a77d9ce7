"""The independent checker as one file that can be given away, and what a referee of it reads."""

import io
import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from lemmax.theory.files import write_bytes

FOLDER = Path(__file__).parents[2] / "checker"


def checker_sources() -> list[Path]:
    """The files that the checker consists of, modules and the table of statements."""
    return sorted(path for path in FOLDER.rglob("*") if path.suffix in (".py", ".txt"))


_IMPORTED = """
import json, sys
sys.path.insert(0, sys.argv[1])
from lemmax.checker import NotACertificate, check
try:
    check({"format": "lemmax-certificate", "version": int(sys.argv[3]), "kind": sys.argv[2]})
except NotACertificate:
    names = [name for name in sys.modules if name.startswith("lemmax.checker")]
    print(json.dumps([sys.modules[name].__file__ for name in names]))
"""


def sources_for(kind: str) -> list[Path]:
    """The modules that are imported to check a certificate of a kind. Cost: a process.

    >>> [path.name for path in sources_for("matrix-rank") if path.parent.name == "kinds"]
    ['__init__.py', 'matrix_rank.py']
    """
    version = "2" if kind == "witness" else "1"
    command = [sys.executable, "-I", "-S", "-c", _IMPORTED, str(FOLDER.parents[1]), kind, version]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sorted(Path(path) for path in json.loads(told))


def write_checker(target: Path) -> Path:
    """Write the checker's archive; equal sources give equal bytes. Cost: a few milliseconds.

    >>> import subprocess, sys, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = write_checker(Path(folder) / "checker.pyz")
    ...     run = subprocess.run([sys.executable, "-I", made, "--limits"], capture_output=True)
    >>> run.returncode
    0
    """
    stream = io.BytesIO(b"#!/usr/bin/env python3\n")
    stream.seek(0, io.SEEK_END)
    with ZipFile(stream, "a") as archive:
        for path in checker_sources():
            entry = ZipInfo(path.relative_to(FOLDER).as_posix())  # dated 1980
            archive.writestr(entry, path.read_bytes())
    write_bytes(target, stream.getvalue())
    return target
