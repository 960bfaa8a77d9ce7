"""The checker as a folder, a module and an archive; and status 0 only for what was checked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lemmax import checker
from lemmax.constructions import shipped
from lemmax.theory.certificates.archive import FOLDER, sources_for, write_checker

GOOD = {
    "format": "lemmax-certificate",
    "version": 1,
    "kind": "matrix-rank",
    "matrix": [["1"]],
    "rank": 1,
    "lower": {"prime": "7", "rows": [0], "columns": [0]},
    "upper": {"method": "size"},
}
OWN = {
    "format": "lemmax-certificate",
    "version": 1,
    "kind": "refutation",
    "claim": "own/thm:main_1",
    "statement": {"hypotheses": ["0 < rank(M) <= 1"], "conclusion": "det(M) == 2 and 1 == 1"},
    "instance": {"M": [["1"]]},
}


def run(*command: Any, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(FOLDER.parents[1])}
    return subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        capture_output=not options,
        text=True,
        timeout=60,
        env=environment,
        **options,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A certificate, and beside it a module that would break everything that imports it."""
    (tmp_path / "good.json").write_text(json.dumps(GOOD))
    (tmp_path / "own.json").write_text(json.dumps(OWN))
    (tmp_path / "fractions.py").write_text("raise SystemExit(0)\n")
    return tmp_path


def ways(folder: Path) -> dict[str, list[Any]]:
    apart = folder / "apart"
    apart.mkdir()
    copied = shutil.copytree(FOLDER, apart / "another name")
    return {
        "folder": ["-I", "-S", FOLDER],
        "copied folder": ["-I", "-S", copied],
        "without -I": ["-S", FOLDER],
        "archive": ["-I", "-S", write_checker(apart / "checker.pyz")],
        "module": ["-P", "-S", "-m", "lemmax.checker"],
    }


def test_every_way_of_running_says_the_same(folder: Path) -> None:
    said = {}
    for way, command in ways(folder).items():
        done = run(*command, "good.json", "own.json", cwd=folder)
        assert done.returncode == 0, (way, done.stderr)
        said[way] = done.stdout
        listed = run(*command, "--vocabulary", cwd=folder)
        assert "rank(softmax)" in listed.stdout
        false = run(*command, "--expect", "own/other", "own.json", cwd=folder)
        assert false.returncode == 1
    assert len(set(said.values())) == 1
    assert said["folder"].endswith("statement as given by the certificate\n")


LOADED = """
import sys
sys.path.insert(0, sys.argv[1])
from lemmax.checker.command import main
status = main(sys.argv[2:])
files = [m.__file__ for n, m in sys.modules.items() if n.startswith("lemmax.checker")]
print(*sorted(files), sep="\\n", file=sys.stderr)
sys.exit(status)
"""


def test_a_referee_reads_a_kind_and_what_it_imports() -> None:
    """Nothing else is loaded when a certificate is checked: as the pages say, from a count."""
    files: dict[str, Path] = {}
    for name in shipped.names():
        files.setdefault(shipped.load(name)["kind"], shipped.path(name))
    assert {"matrix-rank", "tensor-rank", "refutation", "witness"} <= set(files)
    for kind, path in files.items():
        done = run("-I", "-S", "-c", LOADED, FOLDER.parents[1], path, cwd=FOLDER)
        assert done.returncode == 0, done.stderr
        assert done.stderr.split() == [str(p) for p in sources_for(kind)], kind
    core = {"__init__", "checking", "command", "files", "limits", "reading", "arithmetic", "steps"}
    named = {p.relative_to(FOLDER).with_suffix("").as_posix() for p in sources_for("matrix-rank")}
    assert named == {*core, "kinds/__init__", "kinds/matrix_rank"}
    for kind in set(checker.KINDS) - {"refutation", "witness"}:
        parts = {p.relative_to(FOLDER).parts[0] for p in sources_for(kind)}
        assert not parts & {"language", "words"}, kind
        assert sum(p.read_text().count("\n") for p in sources_for(kind)) < 2_700, kind


def test_equal_sources_give_equal_archives(tmp_path: Path) -> None:
    first, second = (write_checker(tmp_path / name) for name in ("a.pyz", "b.pyz"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("option", ["--limits", "--vocabulary", "--help", "-h"])
def test_what_only_informs_stands_alone(folder: Path, option: str) -> None:
    assert run("-I", FOLDER, option, cwd=folder).returncode == 0
    for arguments in ([option, "good.json"], ["good.json", option], [option, "--json"]):
        done = run("-I", FOLDER, *arguments, cwd=folder)
        assert done.returncode == 2, (arguments, done.stdout)
    assert run("-I", FOLDER, "--", option, cwd=folder).returncode == 2  # no such file


@pytest.mark.parametrize("name", ["--limits", "-h", "--json", "--expect", "--vocabulary", "--help"])
def test_a_file_named_like_an_option_is_no_option(folder: Path, name: str) -> None:
    """As under ``checker *``, where the shell writes the names of files into the command."""
    shutil.copy(folder / "good.json", folder / name)
    for arguments in ([name], [name, "good.json"], ["good.json", name]):
        assert run("-I", FOLDER, *arguments, cwd=folder).returncode == 2
    done = run("-I", FOLDER, "--", name, "good.json", cwd=folder)
    assert done.returncode == 0
    assert done.stdout.count(": holds") == 2


def test_a_file_named_like_the_end_of_options_is_not_passed_over(folder: Path) -> None:
    (folder / "--").write_text(json.dumps({**GOOD, "rank": 0}))
    for arguments in (["--", "good.json"], ["--", "--", "good.json"]):
        assert run("-I", FOLDER, *arguments, cwd=folder).returncode == 2
    assert run("-I", FOLDER, "./--", "good.json", cwd=folder).returncode == 1


def test_devices_and_pipes_are_not_read(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    for name, target in {"zero": "/dev/zero", "tty": "/dev/tty", "kernel": "/proc/kmsg"}.items():
        (folder / name).symlink_to(target)
    (folder / "status").symlink_to("/proc/self/status")
    (folder / "loop").symlink_to("loop")
    for name in ("pipe", "zero", "tty", "kernel", "status", "loop"):
        done = run("-I", FOLDER, name, cwd=folder)
        assert done.returncode == 2, name
        assert done.stderr.count("\n") == 1, name
    (folder / "link.json").symlink_to(folder / "good.json")
    assert run("-I", FOLDER, "link.json", cwd=folder).returncode == 0


def test_what_cannot_be_printed_is_not_a_verdict(folder: Path) -> None:
    bad = folder / "bad.json"
    bad.write_text(json.dumps({**GOOD, "rank": 0}))
    for name in ("good.json", "bad.json"):
        with open("/dev/full", "w") as full:
            done = run("-I", FOLDER, name, cwd=folder, stdout=full, stderr=subprocess.PIPE)
            assert done.returncode == 2
            assert done.stderr.count("\n") == 1
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as closed:
            assert run("-I", FOLDER, name, cwd=folder, stdout=closed).returncode == 2
        shut = f'exec "{sys.executable}" -I "{FOLDER}" {name} >&-'  # no standard output at all
        none = subprocess.run(["sh", "-c", shut], cwd=folder, capture_output=True, text=True)
        assert none.returncode == 2
        assert none.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["good.json"], 0), (["bad.json"], 1), (["none.json"], 2), (["good.json", "--limits"], 2)],
)
def test_a_full_disk_for_what_goes_wrong_changes_no_status(
    folder: Path, arguments: list[str], status: int
) -> None:
    (folder / "bad.json").write_text(json.dumps({**GOOD, "rank": 0}))
    with open("/dev/full", "w") as full:
        done = run("-I", FOLDER, *arguments, cwd=folder, stdout=subprocess.PIPE, stderr=full)
    assert done.returncode == status


def test_the_claim_can_be_demanded(folder: Path) -> None:
    for claim, status in {"own/thm:main_1": 0, "own/thm:main": 1, "": 1}.items():
        done = run("-I", FOLDER, "--expect", claim, "own.json", cwd=folder)
        assert done.returncode == status
    done = run("-I", FOLDER, "--json", "--expect", "own/thm:main_1", "own.json", cwd=folder)
    assert json.loads(done.stdout)[0]["statement"] == "as given by the certificate"
    assert run("-I", FOLDER, "--expect", "own/thm:main_1", "good.json", cwd=folder).returncode == 1


def test_the_package_offers_what_it_names() -> None:
    for name in checker.__all__:
        assert hasattr(checker, name)
