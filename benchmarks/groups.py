"""Ranks of groups and algebras, recorded: `python benchmarks/groups.py` writes results/groups.json.

Each row has the bounds over one field, whether the independent checker accepts the certificate, and
what keeps the interval open. Cyclic groups also have the layer that the compiler makes of their
table, with keys and queries as different tokens.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from flint import fmpq, fmpq_poly

from lemmax.checker import check
from lemmax.constructions import compile_database
from lemmax.theory import Database, tensor_rank
from lemmax.theory.numbers.linear import real_roots
from lemmax.theory.tensors.algebras.components import components
from lemmax.theory.tensors.algebras.groups import ABELIAN, OTHERS, quaternions, truncated
from lemmax.theory.tensors.algebras.structure import structure
from lemmax.theory.tensors.arrays import Array
from lemmax.theory.tensors.examples import cyclic, matrix_product
from lemmax.theory.tensors.fields import Field
from lemmax.theory.tensors.ranks import TensorRank

RESULTS = Path(__file__).parent / "results" / "groups.json"
FIELDS: tuple[Field, ...] = ("Q", "R", "C")
LARGEST = 31  # order of the cyclic groups
SECONDS = 2.0  # of search where the parts do not close the interval

TABLES: dict[str, dict[str, Array]] = {
    "abelian": ABELIAN,
    "other groups": OTHERS,
    "cyclic": {f"Z{n}": cyclic(n) for n in range(17, LARGEST + 1)},
    "algebras": {
        "2 × 2 matrices": matrix_product(2),
        "3 × 3 matrices": matrix_product(3),
        "quaternions": quaternions(),
        **{f"polynomials mod x^{n}": truncated(n) for n in range(2, 7)},
    },
}


def obstacle(result: TensorRank) -> str:
    """What keeps an interval open, read off the simple parts."""
    algebra = structure(result.array)
    if result.rank is not None or algebra is None:
        return ""
    reasons = []
    parts = components(algebra.parts) or ()
    squares = [part.squares for part in parts if part.squares is not None]
    if result.field == "Q" and any(set(pair) != {fmpq(-1)} for pair in squares):
        reasons.append("quaternions with other squares than -1: 12 terms are used; 8 by the bound")
    if any(part.degree == 3 for part in parts):
        reasons.append(
            "3 × 3 matrices: 23 terms are used; 17 by the theorem, of which 15 is proved"
        )
    larger = [p for p in parts if p.degree > 1 and not _splits(p.modulus, result.field)]
    for name, skew in (("2 × 2 matrices", False), ("quaternions", True)):
        if any((part.squares is not None) == skew for part in larger):
            reasons.append(f"{name} over a field: its products are multiplied out")
    return "; ".join(reasons)


def _splits(modulus: fmpq_poly, field: Field) -> bool:
    """Whether a centre is a sum of copies of the field: all roots of its modulus are there."""
    d = modulus.degree()
    return d == 1 or field == "C" or (field == "R" and real_roots(modulus) == d)


def row(kind: str, name: str, T: Array, field: Field) -> dict[str, Any]:
    start = time.process_time()
    result = tensor_rank(T, field, seconds=SECONDS)
    seconds = time.process_time() - start
    verdict = check(json.loads(json.dumps(result.certificate())))
    return {
        "kind": kind,
        "table": name,
        "order": len(T),
        "field": field,
        "lower": result.lower,
        "upper": result.upper,
        "cited": max((c.value for c in result.cited), default=None),
        "holds": verdict.holds,
        "seconds": round(seconds, 2),
        "open": obstacle(result),
    }


def layer(n: int) -> dict[str, Any]:
    """The compiled layer of addition mod n, with the facts that its certificate proves."""
    facts = [(f"{a} +", f"{b} =", str((a + b) % n)) for a in range(n) for b in range(n)]
    compiled = compile_database(Database.from_triples(facts))
    dims = compiled.dims
    return {
        "n": n,
        "method": compiled.method,
        "facts": len(facts),
        "parameters": dims.parameters,
        "holds": check(json.loads(json.dumps(compiled.certificate()))).holds,
    }


def main() -> None:
    rows = []
    for kind, tables in TABLES.items():
        for name, T in tables.items():
            for field in FIELDS:
                rows.append(row(kind, name, T, field))
                print(rows[-1], file=sys.stderr, flush=True)
    layers = []
    for n in range(2, LARGEST + 1):
        layers.append(layer(n))
        print(layers[-1], file=sys.stderr, flush=True)
    lines = [",\n".join(json.dumps(x, ensure_ascii=False) for x in part) for part in (rows, layers)]
    text = f'{{"rows": [\n{lines[0]}\n],\n"layers": [\n{lines[1]}\n]}}\n'
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
