"""A release in one command: version, changelog, citation, then every file with its digest.

``python packaging/release.py VERSION`` names the release in pyproject.toml, CITATION.cff and
CHANGELOG.md, all three or none, and makes ``dist/``: wheel, sdist, ``checker.pyz``, the site as an
archive, ``release.json`` (formats that a later lemmax still reads) and ``SHA256SUMS``. Without a
version the present one is made, and nothing is renamed. The site must have been built. What is made
does not depend on the clock: archives bear the time of the last commit.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SITE = Path("docs/_build/html")
VERSION = re.compile(r"\d+\.\d+\.\d+")
PLACES = {
    "pyproject.toml": r'(?m)^version = "(?P<version>[^"]+)"$',
    "CITATION.cff": r"(?m)^version: (?P<version>\S+)$",
    "CHANGELOG.md": r"(?m)^## (?P<version>\S+) \((?P<date>[^)]*)\)$",
}


class Refused(Exception):
    """One sentence: why there is no release."""


def git(*words: str) -> str:
    """What git says."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def present(texts: dict[str, str]) -> str:
    """The version on which all three files agree."""
    named = {}
    for name, pattern in PLACES.items():
        match = re.search(pattern, texts[name])
        if match is None:
            raise Refused(f"{name} names no version.")
        named[name] = match["version"]
    if len(set(named.values())) != 1:
        told = ", ".join(f"{name} {version}" for name, version in named.items())
        raise Refused(f"The files name different versions: {told}.")
    return named["pyproject.toml"]


def renamed(texts: dict[str, str], version: str, date: str) -> dict[str, str]:
    """The three files with the new version; a version that is released already is refused.

    The changelog's first heading is that of what is not released yet.
    """
    old = present(texts)
    if VERSION.fullmatch(version) is None:
        raise Refused(f"{version!r} is not a version such as 0.2.0.")
    head = re.search(PLACES["CHANGELOG.md"], texts["CHANGELOG.md"])
    assert head is not None
    released = head["date"] != "unreleased"
    number, before = (tuple(map(int, v.split("."))) for v in (version, old))
    if number < before or released:
        raise Refused(
            f"{old} is released already: begin CHANGELOG.md with a heading '## NEXT (unreleased)', "
            "and its version in the other two files."
            if released
            else f"{version} is older than {old}."
        )
    texts = dict(texts)
    texts["pyproject.toml"] = re.sub(
        PLACES["pyproject.toml"], f'version = "{version}"', texts["pyproject.toml"], count=1
    )
    cited = re.sub(PLACES["CITATION.cff"], f"version: {version}", texts["CITATION.cff"], count=1)
    texts["CITATION.cff"] = re.sub(
        r"(?m)^date-released: .*$", f'date-released: "{date}"', cited, count=1
    )
    texts["CHANGELOG.md"] = re.sub(
        PLACES["CHANGELOG.md"], f"## {version} ({date})", texts["CHANGELOG.md"], count=1
    )
    return texts


def write_all(texts: dict[str, str]) -> None:
    """Write the files beside themselves first, then move all of them to their places."""
    for name, text in texts.items():
        (ROOT / f"{name}.partial").write_text(text, encoding="utf-8")
    for name in texts:
        os.replace(ROOT / f"{name}.partial", ROOT / name)


def archive(folder: Path, target: Path, time: int) -> None:
    """A tar file whose bytes depend on the folder's files alone."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime, entry.mode = time, 0o755 if entry.isdir() else 0o644
        return entry

    with (
        open(target, "wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=time) as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for path in sorted(folder.rglob("*")):
            name = Path(target.name.removesuffix(".tar.gz")) / path.relative_to(folder)
            tar.add(path, str(name), recursive=False, filter=plain)


def versions(schema: dict[str, Any]) -> list[int]:
    """The versions that a schema allows."""
    return schema["enum"] if "enum" in schema else [schema["const"]]


def formats() -> dict[str, object]:
    """The versions of what lemmax writes and a later one reads, by the schemas that ship."""
    ledger = json.loads((ROOT / "theory/lemmax/theory/ledger/ledger.json").read_text("utf-8"))
    schemas = ROOT / "theory/lemmax/theory/certificates/schemas"
    certificates = {
        path.name.removesuffix(".schema.json"): versions(told["properties"]["version"])
        for path in sorted(schemas.glob("*.schema.json"))
        if "kind" in (told := json.loads(path.read_text("utf-8"))).get("properties", {})
    }
    return {"ledger": ledger["version"], "certificates": certificates}


def build(dist: Path, version: str) -> None:
    """Everything that a release consists of, in a folder of its own."""
    time = int(git("log", "-1", "--format=%ct"))
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(time)}
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(dist), str(ROOT)],
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    subprocess.run(
        [sys.executable, "-m", "lemmax", "checker", "-o", str(dist / "checker.pyz")],
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    archive(ROOT / SITE, dist / f"lemmax-{version}-site.tar.gz", time)
    about = {"version": version, "commit": git("rev-parse", "HEAD"), "formats": formats()}
    (dist / "release.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}"
        for path in sorted(dist.iterdir())
    ]
    (dist / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")


def release(version: str | None, date: str) -> Path:
    """Name and build a release; the folder it stands in."""
    if git("status", "--porcelain", "--untracked-files=no"):
        raise Refused("The work tree has changes that are not committed.")
    if not (ROOT / SITE / "index.html").is_file():
        raise Refused(f"There is no site in {SITE}: run make docs.")
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in PLACES}
    if version is None:
        version = present(texts)
    else:
        write_all(renamed(texts, version, date))
    dist, partial = ROOT / "dist", ROOT / ".dist.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    build(partial, version)
    shutil.rmtree(dist, ignore_errors=True)
    os.replace(partial, dist)
    return dist


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("version", nargs="?", help="such as 0.2.0; else the present one, as it is")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    arguments = parser.parse_args()
    try:
        dist = release(arguments.version, arguments.date)
    except Refused as error:
        print(f"No release: {error}", file=sys.stderr)
        return 2
    print((dist / "SHA256SUMS").read_text(encoding="utf-8"), end="")
    if arguments.version:
        print(f"Now: git commit -am 'Release {arguments.version}' && git tag v{arguments.version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
