"""A seeded slice of benchmarks/attack_checker.py, and that it would find a checker that lies."""

from __future__ import annotations

import base64
import copy
import importlib.util
import json
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from benchmarks import random_transformers

from lemmax import checker
from lemmax.checker import arithmetic, bounds, enclosures
from lemmax.checker.kinds import tensor_rank
from lemmax.checker.steps import Step

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "attack_checker.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("attack_checker", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_no_attack_succeeds(script: ModuleType) -> None:
    counts, faults = script.attack(18, 60)
    assert not faults
    for name, outcomes in counts.items():
        assert sum(outcomes.values()) == 60, name
    held = [n for kind in counts.values() for what, n in kind.items() if "holds" in what]
    assert sum(held) > 20  # not everything was malformed


def test_a_lie_is_found(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """One broken primitive for each attack, and none of them stays unseen."""
    rule = bounds.RULES["transversal"]
    monkeypatch.setitem(
        bounds.RULES, "transversal", rule._replace(apply=lambda s, T, f, w: (99, T, "a lie"))
    )
    monkeypatch.setattr(arithmetic, "eliminated", lambda rows, p, width=None: (len(rows), []))
    true = enclosures.log_bounds
    monkeypatch.setattr(
        enclosures, "log_bounds", lambda x, bits: (true(x, bits)[1] + 1, true(x, bits)[1] + 2)
    )
    _, faults = script.attack(18, 120)
    found = {fault.partition(",")[0] for fault in faults}
    assert found >= {"forged tensor ranks", "forged matrix ranks", "minors", "enclosures"}
    assert not any("Traceback" in fault for fault in faults if fault.startswith("forged"))


@pytest.mark.parametrize(
    ("attack", "module", "name", "lie"),
    [
        ("forged joint steps", bounds.joint, "shrunk", lambda *_: []),
        ("forged joint steps", bounds.joint, "rank_mod", lambda rows, _: len(rows)),
        ("forged blocks", bounds.blocks, "proved", lambda *_: 9),
        ("forged blocks", bounds.blocks, "exact_rank", lambda T, mode: len(T)),
        ("forged algebras", bounds.algebras, "is_irreducible", lambda *_: True),
        ("forged algebras", bounds.algebras, "lost", lambda *_: 0),
        ("forged algebras", bounds.algebras, "roots_of", lambda f: (0, len(f) - 1)),
        ("forged terms at a root", tensor_rank, "check_zero", lambda *_: Step(True, "a lie")),
    ],
)
def test_false_steps_reach_every_condition_of_their_lemma(
    script: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    attack: str,
    module: ModuleType,
    name: str,
    lie: Any,
) -> None:
    """With one condition broken some of the false steps are accepted, and with none broken none."""
    drawn = [random.Random(f"3 {attack} {n}") for n in range(300)]
    outcomes = [script.ATTACKS[attack](copy.copy(rng)) for rng in drawn]
    assert not any(fault for _, fault in outcomes)
    assert [said for said, _ in outcomes].count("honest holds") > 10
    monkeypatch.setattr(module, name, lie)
    assert any(script.ATTACKS[attack](rng)[1] for rng in drawn)


def false_certificates(script: ModuleType) -> dict[str, list[dict[str, Any]]]:
    """For each kind a certificate that is false, as only its second judge needs to see."""
    by_kind = {c["kind"]: json.dumps(c) for c in script.SHIPPED}
    lies: dict[str, list[dict[str, Any]]] = {kind: [] for kind in script.JUDGES}

    def lie(kind: str, place: str, value: Any) -> None:
        data = json.loads(by_kind[kind])
        *path, last = place.split(".")
        inside = data
        for key in path:
            inside = inside[int(key) if key.isdigit() else key]
        inside[int(last) if last.isdigit() else last] = value
        lies[kind].append(data)

    by_kind["float-memorization"] = script.coded(0)
    lie("matrix-rank", "rank", 0)
    lie("softmax-rank", "rank", 0)
    lie("kruskal-rank", "rank", 0)
    lie("tensor-rank", "upper", 0)
    lie("memorization", "facts.0.2", 0)
    lie("aot-memorization", "pairs.0.1", 0)
    lie("aot-memorization", "pairs.0.1", 1)
    lie("aot-rank", "at_least", 999)
    lie("kl-interval", "upper.value", "0")
    lie("kl-interval", "lower.value", "9")
    conflicts = (c for c in map(script.read, range(12)) if "conflict" in c)
    by_kind["readout"] = next(
        c for c in conflicts if len(json.loads(c)["assertion"]["demands"]) > 1
    )
    lie("readout", "assertion.demands.0.2", "77777")
    by_kind["readout"] = next(c for c in map(script.read, range(12)) if "widest" in c)
    lie("readout", "assertion.ratio", "1/2")
    swapped = {"refutation": "witness", "witness": "refutation"}
    for c in (c for c in script.SHIPPED if c["kind"] in swapped):
        lies[c["kind"]].append({**c, "kind": swapped[c["kind"]]})
    for asserted in [
        json.loads(json.dumps(c)) for c in script.SHIPPED if c["kind"] == "multi-head"
    ]:
        claim = asserted["assertion"]
        if claim["type"] == "outputs":
            claim["labels"] = [[f"{x}1" for x in row] for row in claim["labels"]]
        else:
            claim["lower"]["bound"] += 99
        lies["multi-head"].append(asserted)
    by_kind["transformer-memorization"] = json.dumps(random_transformers.random_certificate(1))
    (_, right), *_ = json.loads(by_kind["transformer-memorization"])["facts"]
    lie("transformer-memorization", "facts.0.1", 1 - min(right, 1))
    coded = json.loads(by_kind["float-memorization"])
    data = bytearray(base64.b64decode(coded["arrays"]["base64"]))
    size = int.from_bytes(data[:8], "little")
    place = 8 + size + json.loads(data[8 : 8 + size])["facts"]["data_offsets"][0] + 8
    for value in range(4):  # one of these four values is the right one
        data[place] = value
        text = base64.b64encode(data).decode()
        lies["float-memorization"].append({**coded, "arrays": {"base64": text}})
    return lies


def test_every_kind_has_a_judge_that_finds_a_lie(script: ModuleType) -> None:
    lies = false_certificates(script)
    assert set(lies) == set(checker.KINDS)
    for kind, certificates in lies.items():
        said = [script.JUDGES[kind](certificate) for certificate in certificates]
        assert said.count(True) <= (kind in ("aot-memorization", "float-memorization")), kind
        assert False in said, kind
