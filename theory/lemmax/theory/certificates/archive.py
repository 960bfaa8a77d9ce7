"""The independent checker as one file that can be given away: ``checker.pyz``."""

from pathlib import Path
from zipfile import ZipFile, ZipInfo

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
    with target.open("wb") as stream:
        stream.write(b"#!/usr/bin/env python3\n")
        with ZipFile(stream, "w") as archive:
            for path in checker_sources():
                entry = ZipInfo(path.relative_to(FOLDER).as_posix())  # dated 1980
                archive.writestr(entry, path.read_bytes())
    return target
