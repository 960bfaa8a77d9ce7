"""The independent checker as one file that can be given away: ``checker.pyz``."""

import io
from pathlib import Path
from zipfile import ZipFile, ZipInfo

from lemmax.theory.files import write_bytes

FOLDER = Path(__file__).parents[2] / "checker"


def checker_sources() -> list[Path]:
    """The files that the checker consists of, modules and the table of statements."""
    return sorted(path for path in FOLDER.rglob("*") if path.suffix in (".py", ".txt"))


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
