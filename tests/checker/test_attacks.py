"""A seeded slice of benchmarks/attack_checker.py, and that it would find a checker that lies."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from lemmax.checker import arithmetic, bounds, enclosures

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
