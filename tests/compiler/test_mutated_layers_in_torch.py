"""Bits of weights flipped: what the checker still accepts, torch recalls, in any order."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

from lemmax import checker
from lemmax.constructions.capacity import random_table
from lemmax.constructions.compiler import CompiledByCodes
from lemmax.constructions.compiler.coded.arithmetic import Arithmetic
from lemmax.constructions.compiler.coded.by_codes import CodedLayer, by_codes, fact_numbers
from lemmax.constructions.compiler.coded.codes import Code, families, joined_code
from lemmax.constructions.compiler.coded.envelopes import Ladder
from lemmax.numerics.twins.coded import TorchCodedLayer
from lemmax.theory import Database

WIDE = Arithmetic.named("bfloat16", logits="float32")
NAMES = ("W_U", "W_U", "W_U", "W_E", "W_E", "W_Q", "W_K", "W_V", "W_O")


def flipped(coded: CodedLayer, random: Random) -> CodedLayer:
    """One weight, mostly one that is not zero, with another bit or the next mantissa."""
    name = random.choice(NAMES)
    array = getattr(coded, name).copy()
    places = np.argwhere(array != 0).tolist()
    at = tuple(random.choice(places))
    word = int(np.float32(array[at]).view(np.uint32)) >> 16
    word = (word ^ 1 << random.randrange(16)) if random.random() < 0.7 else word + 1
    number = np.array([word << 16], dtype=np.uint32).view(np.float32)[0]
    if np.isfinite(number) and (number or not word):
        array[at] = number
    return replace(coded, **{name: array})


def misses(coded: CodedLayer, facts: Any, random: Random) -> int:
    """Facts that torch misses, or that float32 sums in another order miss."""
    module = TorchCodedLayer.from_coded(coded)
    numbers = torch.from_numpy(facts)
    last = module.residual(numbers[:, :2])[:, -1].float().numpy()
    terms = last[:, :, None] * coded.W_U.astype(np.float32)[None]
    count, own = module.misses(numbers), (np.arange(len(facts)), facts[:, 2])
    for _ in range(6):
        order = random.sample(range(terms.shape[1]), terms.shape[1])
        total = terms[:, order[0]].copy()
        for i in order[1:]:
            total = total + terms[:, i]
        wanted = total[own].copy()
        total[own] = -np.inf
        count += int((~(wanted > total.max(axis=1))).sum())
    return count


def joined(db: Database, queries: int) -> Database:
    """The same table with some subjects renamed to predicates."""
    names = {f"k{i}": f"q{i}" for i in range(queries - 1)}
    return Database.from_triples([(names.get(str(k), k), q, v) for k, q, v in db])


@pytest.mark.parametrize("kind", ["lines", "shared", "joined"])
def test_what_is_accepted_is_recalled(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(kind)

    def few(self: Ladder, size: int) -> Any:
        """Values at the ends of octaves here and there, from both ends of the exponents."""
        low, high = self.steps
        octaves = (0, 1, 2, self.octaves // 2, self.octaves - 2, self.octaves - 1)
        pool = [(s, k, n) for s in (1, -1) for k in octaves for n in (low, low + 1, high - 1, high)]
        return np.array(random.sample(pool, size), dtype=np.int64).T

    monkeypatch.setattr(Ladder, "values", few)
    lines = [c for m in (1, 2) for c in families(m, 2, WIDE) if c.family == "envelope"]
    accepted = refused = 0
    for seed in range(4):
        db = random_table(5, 4, 12, seed=seed)
        if kind == "joined":
            db = joined(db, 4)
        codes: dict[str, Code] = {"lines": lines[0], "shared": lines[-1]}
        code = codes.get(kind) or joined_code(len(db.values), 4, WIDE)
        facts = fact_numbers(db)
        coded = by_codes(db, code, WIDE, 1, facts)
        assert misses(coded, facts, random) == 0
        for _ in range(60):
            mutant = flipped(coded, random)
            verdict = checker.check(CompiledByCodes(db, mutant, facts, None).float_certificate())
            if verdict.holds:
                accepted += 1
                assert misses(mutant, facts, random) == 0
            else:
                refused += 1
    assert accepted >= 5
    assert refused >= 100
