"""What is compiled, kept, and asked of Coq: with a stand-in for coqc that does as its source says.

The real one runs in test_coq_proofs.py. Here is seen what it is told, what is kept of its answers,
and what the fixture ``kernel`` makes of them.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any, cast

import pytest

from lemmax.pytest_plugin import fixtures
from lemmax.pytest_plugin.earnings import MARKED, earned_by, failures_of
from lemmax.theory.ledger import coq, coq_cache
from lemmax.theory.ledger.claims import Catalogue, Claim
from lemmax.theory.ledger.coq import CLOSED, FormalFile, KernelError, Theorem
from lemmax.theory.ledger.earning import Earned
from lemmax.theory.ledger.theorems import (
    Recorded,
    definitions_digest,
    read_theorems,
    record_theorem,
    theorems_text,
)
from lemmax.theory.ledger.verdicts import LedgerError

STAND_IN = f"""#!{sys.executable} -IS
import re, sys, time
from pathlib import Path
if sys.argv[1:] == ["--version"]:
    print("stand-in 1")
    sys.exit()
name = Path(sys.argv[-1]).stem
text = Path(sys.argv[-1]).read_text(encoding="utf-8")
log = Path(__file__).with_name("log")
with log.open("a") as stream:
    stream.write(name + " " + " ".join(sys.argv[1:-1]) + "\\n")
time.sleep(float((re.findall("sleeps ([0-9.]+)", text) or ["0"])[0]))
for required in re.findall("Require Import ([a-z]+)", text):
    assert Path(required + ".vo").is_file()
if "fails" in text:
    sys.exit("   it is false \\n ")
for place, asked in re.findall(r'Redirect "([^"]*)" ([^.]*)[.]', text):
    word, _, about = asked.rpartition(" ")
    if word == "Check":
        told = about[1:] + " :\\n  printed"
    elif word == "Print":
        lets = enumerate(re.findall("every_[0-9]+ := @([a-z]+)", text))
        told = " ".join(f"let every_{{n}} : T := {{t}} in" for n, t in lets)
        told = told.replace(":= ", ":= other") if "disguised" in text else told
    else:
        open = about.startswith("every_") and "classical" in text or about == "classical"
        told = "Axioms:\\nclassic" if open else "Closed under\\n the global context"
    Path(place + ".out").write_text(told, encoding="utf-8")
Path(name + ".vo").write_text(name)
"""
PROOF = "Theorem {0} : 1 = 1.\nProof. reflexivity. Qed.\n"


class Place:
    """A folder of sources, a stand-in for coqc, and what it keeps."""

    def __init__(self, folder: Path) -> None:
        self.sources, self.kept, self.log = (
            folder / "sources",
            folder / "a" / "kept",
            folder / "log",
        )
        self.sources.mkdir()
        self.coqc = folder / "coqc"
        self.coqc.write_text(STAND_IN)
        self.coqc.chmod(0o755)

    def write(self, **texts: str) -> None:
        for name, text in texts.items():
            (self.sources / f"{name}.v").write_text(text, encoding="utf-8")

    def check(self, *wanted: str, **more: Any) -> dict[str, FormalFile]:
        return coq_cache.check_formal(
            self.sources, wanted or None, str(self.coqc), self.kept, **more
        )

    def ran(self) -> list[str]:
        """The sources that were compiled since this was last asked."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return [line.partition(" ")[0] for line in lines]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def proved(name: str, *theorems: Theorem, **fields: Any) -> FormalFile:
    given: dict[str, Any] = {
        "claims": (),
        "forbidden": (),
        "compiled": True,
        "message": "",
    } | fields
    return FormalFile(name=name, theorems=theorems, **given)


def theorem(name: str, assumptions: str = CLOSED, printed: str | None = None) -> Theorem:
    return Theorem(name, f"{name} : 1 = 1", printed or f"{name} : printed", assumptions)


CLAIMED = "(* claim: x/c, by t. *)\n"


def test_sources_are_compiled_in_order_kept_and_not_compiled_again(place: Place) -> None:
    after = "From lemmax Require Import b.\n" + PROOF.format("u")
    place.write(b=CLAIMED + PROOF.format("t") + "(* é *)", a=after, c=PROOF.format("v"))
    expected = {
        "b": proved("b", theorem("t"), claims=("x/c",)),
        "a": proved("a", theorem("u")),
        "c": proved("c", theorem("v")),
    }
    assert place.check() == expected
    ran = place.ran()
    assert sorted(ran) == ["a", "b", "c"]
    assert ran.index("b") < ran.index("a")
    assert place.check() == expected
    assert place.ran() == []
    # The header is nothing to Coq, but what it says is read anew.
    place.write(b="(* claim: x/d, by t. *)\n" + PROOF.format("t") + "(* é *)")
    assert place.check("b") == {"b": proved("b", theorem("t"), claims=("x/d",))}
    assert place.ran() == []
    # What changed is compiled anew, and so is what requires it; nothing else.
    place.write(b=PROOF.format("t") + "(* Axiom *) (* more *)")
    assert list(place.check("a")) == ["b", "a"]
    assert place.ran() == ["b", "a"]
    assert place.check("c") == {"c": expected["c"]}
    assert place.ran() == []
    keys = [path for path in place.kept.iterdir() if path.is_dir()]
    assert len(keys) == 5
    assert all(len(path.name) == 32 for path in keys)
    for path in keys:
        assert sorted(file.suffix for file in path.iterdir()) == [".json", ".vo"]


def test_coq_is_told_the_library_and_to_be_quiet(place: Place) -> None:
    place.write(b="Print Assumptions t.\n" + PROOF.format("t"))
    place.check()
    said = "b -q -w -notation-overridden,-ambiguous-paths -Q . lemmax\n"
    assert place.log.read_text() == said


def test_a_source_that_fails_is_not_kept_and_stops_what_requires_it(place: Place) -> None:
    place.write(b="fails", a="From lemmax Require Import b.\n" + PROOF.format("u"))
    none = Theorem("u", "u : 1 = 1", "not compiled", "not compiled")
    expected = {
        "b": proved("b", compiled=False, message="it is false"),
        "a": proved("a", none, compiled=False, message="b.v does not compile"),
    }
    assert place.check() == expected
    assert place.ran() == ["b"]
    assert place.check() == expected
    assert place.ran() == ["b"]


def test_a_source_that_takes_too_long_is_not_kept(place: Place) -> None:
    place.write(b=CLAIMED + "sleeps 20\nAxiom.\n" + PROOF.format("t"))
    slow = proved(
        "b",
        Theorem("t", "t : 1 = 1", "not compiled", "not compiled"),
        claims=("x/c",),
        forbidden=("Axiom",),
        compiled=False,
        message="coqc did not finish within 0.2 s",
    )
    assert place.check(timeout=0.2) == {"b": slow}
    assert not list(place.kept.glob("*/report.json"))


@pytest.mark.parametrize("word", ["classical", "disguised"])
def test_proofs_are_asked_one_by_one_where_not_all_are_closed(place: Place, word: str) -> None:
    place.write(b=f"(* in words *) {word} := x.\n" + PROOF.format("t") + PROOF.format("classical"))
    (found,) = place.check().values()
    assert found.theorems == (theorem("t"), theorem("classical", "Axioms: classic"))
    assert not found.accepted
    assert place.ran() == ["b", "b"]


def test_the_longest_chain_goes_first(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coq_cache, "AT_ONCE", 1)
    long = "(* " + "long " * 50 + "*)"
    place.write(
        z=PROOF.format("z"),
        y=PROOF.format("y") + long,
        a=PROOF.format("a"),
        b="From lemmax Require Import a.\n" + PROOF.format("b") + long + long,
    )
    assert list(place.check()) == ["a", "y", "z", "b"]
    assert place.ran() == ["a", "b", "y", "z"]


def test_a_place_without_its_report_is_made_anew(place: Place) -> None:
    place.write(b=PROOF.format("t"))
    before = place.check()
    (report,) = place.kept.glob("*/report.json")
    report.unlink()
    assert place.check() == before
    assert report.is_file()
    assert place.ran() == ["b", "b"]


def test_what_is_not_there_is_named(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.write(b=PROOF.format("t"))
    with pytest.raises(KernelError, match=r"^there is no formal source c\.v\.$"):
        place.check("b", "c")
    monkeypatch.setattr(coq_cache, "find_coqc", lambda: None)
    with pytest.raises(KernelError, match=r"^coqc is not on the path: install Coq"):
        coq_cache.check_formal(place.sources)


def test_where_things_lie_unless_told_otherwise(
    place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place.write(b=PROOF.format("t"), c=PROOF.format("u"))
    monkeypatch.setattr(coq_cache, "find_coqc", lambda: str(place.coqc))
    monkeypatch.setattr(coq_cache, "formal_folder", lambda: place.sources)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert coq_cache.cache_folder() == tmp_path / "cache" / "lemmax" / "coq"
    assert list(coq_cache.check_formal(wanted=["b"])) == ["b"]
    into = tmp_path / "into"
    into.mkdir()
    coq_cache.link_compiled(into, ["b"], str(place.coqc))
    assert [file.name for file in into.iterdir()] == ["b.vo"]
    assert place.ran() == ["b"]
    (kept,) = (tmp_path / "cache" / "lemmax" / "coq").glob("*/b.vo")
    assert os.path.samefile(kept, into / "b.vo")
    place.write(c="fails")
    with pytest.raises(KernelError) as failed:
        coq_cache.link_compiled(into, ["c"], str(place.coqc), place.kept, 5)
    assert str(failed.value) == "The formal source c.v does not compile: it is false"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert coq_cache.cache_folder() == tmp_path / ".cache" / "lemmax" / "coq"


def test_the_sources_of_a_clone() -> None:
    root = Path(__file__).resolve().parents[2]
    assert coq.formal_folder() == root / "theory" / "formal"
    assert coq.strip_comments('a (* b (* c *) "*)" d *) e "Axiom" f') == 'a   e "" f'
    assert coq.strip_comments('a "(*" b (* "c', True) == 'a "(*" b '
    assert coq.strip_comments('a "" (* b *) "c') == 'a ""   ""'
    with pytest.raises(KernelError, match=r"in a circle: (a -> b -> a|b -> a -> b)\.$"):
        coq.requirements({"a": "From lemmax Require b.", "b": "From lemmax Require a."})
    sources = {"b": "From lemmax Require Import a c.\n", "a": "", "c": "From lemmax Require a."}
    assert coq.compilation_order(sources) == ["a", "c", "b"]
    assert coq.requirements(sources) == {"a": [], "c": ["a"], "b": ["a", "c"]}
    assert coq.forbidden_words("Section S. End T. Variable x : nat. End S. Context x.") == (
        "Context outside a section",
    )


# -- the record of theorems ---------------------------------------------------------------------

RECORD = """# What the theorems state, as Coq prints it (pytest --write-theorems).

[a]
"t" = { definitions = "01", states = "∀ x, \\"x\\"" }
"u.v" = { definitions = "02", states = "y" }

[b]
"t" = { definitions = "03", states = "z" }
"""


def test_the_record_to_the_letter(tmp_path: Path) -> None:
    known = {
        "b.t": Recorded("z", "03"),
        "a.u.v": Recorded("y", "02"),
        "a.t": Recorded('∀ x, "x"', "01"),
    }
    assert theorems_text(known) == RECORD
    file = tmp_path / "theorems.toml"
    assert read_theorems(file) == {}
    file.write_text(RECORD, encoding="utf-8")
    assert read_theorems(file) == known
    before = file.stat().st_mtime_ns
    record_theorem(file, "b.t", Recorded("z", "03"))
    assert file.stat().st_mtime_ns == before
    record_theorem(file, "b.t", Recorded("zz", "04"))
    assert read_theorems(file) == known | {"b.t": Recorded("zz", "04")}
    record_theorem(file, "c.t", Recorded("w", "05"))
    assert len(read_theorems(file)) == 4
    for bad in ("x = 1", "[a]\nt = 1", '[a]\nt = { states = "x" }', "[a]\nt = { states = 1 }"):
        file.write_text(bad)
        with pytest.raises(LedgerError) as refused:
            read_theorems(file)
        assert str(refused.value) == f"{file} is no record of theorems: write it anew."


def test_strings_and_sections_are_part_of_what_is_defined() -> None:
    def digest(text: str) -> str:
        return definitions_digest({"a": f"{text}\nTheorem t : two = 2. Proof. x. Qed."}, "a", "t")

    one = digest('Definition two := "a".')
    assert one == digest('Definition   two := (* 2 *) "a".')
    assert one != digest('Definition two := "b".')
    assert one != digest('Section S. Definition two := "a".')
    assert one == digest('Definition two := "a". Print two.')
    assert one == digest('Definition two := "a". Definition three := two.')


# -- the fixture kernel -------------------------------------------------------------------------

CLAIMS = {
    name: Claim(name, "A", "1", "title", "says", "here", "text", theorems=theorems)
    for name, theorems in (("x/c", ()), ("x/d", ("b.t", "b.u")), ("x/e", ("b.t",)))
}
ABOUT = (
    "(* claim: x/c@0123456789abcdef (a part), by t, u.\n   against: x/d, by t.\n"
    "   claim: x/e, by t, u.\n *)\n"
)


class Run:
    """A request for the fixture in a test that is marked with these claims."""

    def __init__(self, place: Place, *claims: str, write: bool = False) -> None:
        self.node = cast(pytest.Item, SimpleItem(claims))
        self.theorems = place.sources / "theorems.toml"
        places = SimpleNamespace(formal=place.sources, theorems=self.theorems)
        catalogue = Catalogue(MappingProxyType(CLAIMS), MappingProxyType({}))
        gatherer = SimpleNamespace(places=places, catalogue=catalogue)
        self.config = SimpleNamespace(
            getoption={"--write-theorems": write}.__getitem__,
            pluginmanager=SimpleNamespace(get_plugin={"lemmax-gatherer": gatherer}.__getitem__),
        )

    def prove(self, *arguments: str) -> tuple[Earned, ...]:
        plain = cast(Any, fixtures.kernel)
        make = getattr(plain, "_get_wrapped_function", None)
        (make() if make else plain.__wrapped__)(self)(*arguments)
        return earned_by(self.node)

    def refused(self, *arguments: str) -> str:
        with pytest.raises(AssertionError) as failed:
            self.prove(*arguments)
        assert failures_of(self.node)[-1] == str(failed.value)
        assert earned_by(self.node) == ()
        return str(failed.value)


class SimpleItem:
    def __init__(self, claims: tuple[str, ...]) -> None:
        self.stash = pytest.Stash()
        self.stash[MARKED] = [{"claim": name} for name in claims]


@pytest.fixture
def formal(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A project whose file b proves t and u, as the record says."""
    monkeypatch.setenv("PATH", f"{place.coqc.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.kept))
    two = "Definition two := 2.\n"
    place.write(b=ABOUT + two + PROOF.format("t").replace("1 = 1", "two = 2") + PROOF.format("u"))
    Run(place, write=True).prove("b", "t", "u")
    return place


def test_what_coq_proved_earns_what_the_header_says(formal: Place) -> None:
    assert read_theorems(formal.sources / "theorems.toml").keys() == {"b.t", "b.u"}
    part = Earned(
        "kernel",
        about="x/c",
        shows="for",
        statement="0123456789abcdef",
        scope="a part",
        theorems=("b.t", "b.u"),
    )
    assert Run(formal, "x/c").prove("b.v", "t", "u") == (part,)
    against = Earned("kernel", about="x/d", shows="against", theorems=("b.t",))
    one = Earned(
        *("kernel", "x/c", "for"), statement="0123456789abcdef", scope="a part", theorems=("b.t",)
    )
    assert Run(formal, "x/c", "x/d").prove("b", "t") == (one, against)
    assert Run(formal, "x/d").prove("b", "u") == ()
    listed = Earned("kernel", about="x/e", shows="for", theorems=("b.t",))
    assert Run(formal, "x/e").prove("b", "t") == (listed,)
    formal.write(c="fails")  # what is not asked for is not compiled
    assert Run(formal, "x/d").prove("b", "t") == (against,)
    assert Run(formal).prove("b", "t") == ()


def test_what_kernel_refuses(formal: Place) -> None:
    assert Run(formal, "x/c").refused("b.v") == "b.v: name at least one theorem."
    assert Run(formal, "x/c").refused("b", "w") == "b.v does not prove w."
    assert Run(formal, "x/e").refused("b", "u") == "x/e does not list the theorems u."
    other = "read it, and run with --write-theorems."
    record = formal.sources / "theorems.toml"
    text = record.read_text()
    record.write_text(text.replace("t : printed", "t : else"))
    assert Run(formal, "x/c").refused("b", "t") == (
        f"b.t states t : printed, which is not what theorems.toml records: {other}"
    )
    record.write_text(text.replace('"u" =', '"v" ='))
    assert Run(formal, "x/c").refused("b", "t", "u").startswith("b.u states u : printed")
    record.write_text(text)
    source = (formal.sources / "b.v").read_text()
    formal.write(b=source.replace("two := 2", "two := 1 + 1"))
    assert Run(formal, "x/c").refused("b", "t") == (
        "b.t reads as before, but a definition in it changed since theorems.toml was written: "
        + other
    )
    formal.write(b="fails")
    assert Run(formal, "x/c").refused("b", "t") == "b.v is not accepted: it is false"
    formal.write(b=source + "Axiom.")
    assert Run(formal, "x/c").refused("b", "t") == "b.v is not accepted: ('Axiom',)"
    formal.write(b=source + "classical.\n" + PROOF.format("classical"))
    assert Run(formal, "x/c").refused("b", "t") == "b.v is not accepted: ()"


def test_the_record_is_written_only_when_asked(formal: Place) -> None:
    record = formal.sources / "theorems.toml"
    record.unlink()
    said = Run(formal, "x/c").refused("b", "t")
    assert said.startswith("b.t states t : printed, which is not what theorems.toml records")
    assert not record.exists()
    assert len(Run(formal, "x/c", write=True).prove("b", "t")) == 1
    assert list(read_theorems(record)) == ["b.t"]
    assert json.dumps("t : printed") in record.read_text()


def test_installed_sources_lie_beside_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "lemmax" / "theory" / "ledger" / "coq.py"
    monkeypatch.setattr(coq, "Path", lambda file: module)
    with pytest.raises(KernelError) as refused:
        coq.formal_folder()
    assert str(refused.value) == (
        "the formal sources are not installed: take them from a clone (theory/formal)."
    )
    for folder in (tmp_path / "lemmax" / "theory" / "formal", tmp_path / "formal"):
        folder.mkdir(parents=True)
        (folder / "note.txt").write_text("")
        with pytest.raises(KernelError) if folder.parts[-3] == "lemmax" else nullcontext():
            coq.formal_folder()
        (folder / "a.v").write_text("")
        assert coq.formal_folder() == folder
