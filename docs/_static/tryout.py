"""What the page "Try it" shows of a small table of facts; it runs in the reader's browser.

Everything is lemmax's own: the reader of tables, the compiler, exact attention and logits, and the
independent checker. Floating point serves the pictures alone.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from flint import fmpz_mat

import lemmax.checker as checker
from lemmax.constructions import compile_database
from lemmax.theory import Database
from lemmax.theory.errors import LemmaxError

MOST = 60  # facts; a page is no place for more


def flattening_rank(facts: list[Any], mode: int) -> int:
    """The exact rank of a flattening of the tensor of the facts; columns of zeros are left out."""
    ones = {(fact[mode], (*fact[:mode], *fact[mode + 1 :])) for fact in facts}
    rows, columns = (list(dict.fromkeys(one[side] for one in ones)) for side in (0, 1))
    return int(fmpz_mat([[int((r, c) in ones) for c in columns] for r in rows]).rank())


def tried(text: str, tau: str = "") -> dict[str, Any]:
    """The layer of a table in CSV, what it does on every fact, and its certificate, checked."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "facts.csv"
        path.write_text(text, encoding="utf-8")
        try:
            db, told = Database.read_aloud(path)
        except LemmaxError as error:
            raise LemmaxError(str(error).replace(str(path), "The table")) from None
    if len(db) > MOST:
        raise LemmaxError(f"Here a table has at most {MOST} facts, and this one has {len(db)}.")
    compiled = compile_database(db, tau=tau or None)
    layer = compiled.layer
    certificate = json.dumps(dict(compiled.certificate()))
    verdict = checker.check(json.loads(certificate))
    facts = []
    for key, query, value in db:
        last = layer.logits((key, query)).tolist()[-1]
        weights = [head.tolist()[-1] for head in layer.attention((key, query))]
        answer = compiled.recall(key, query)
        facts.append(
            {
                "fact": [str(key), str(query), str(value)],
                "attention": [[float(a.mid()) for a in row] for row in weights],
                "logits": [float(x.mid()) for x in last],
                "answer": str(answer.answer),
                "probability": answer.interval(),
            }
        )
    heads = [
        [f"head {n}: {name}", getattr(head, name)]
        for n, head in enumerate(layer.heads, 1)
        for name in ("W_Q", "W_K", "W_V", "W_O")
    ]
    named = [["W_E", layer.W_E], *heads, ["W_U", layer.W_U]]
    return {
        "told": told.removeprefix(f"{path}: "),
        "keys": [str(k) for k in db.keys],
        "queries": [str(q) for q in db.queries],
        "values": [str(v) for v in db.values],
        "least": max(flattening_rank(list(db), mode) for mode in range(3)),
        "bound": db.slice_rank_bound,
        "lower": list(compiled.lower_bounds()),
        "dims": repr(compiled.dims),
        "parameters": compiled.dims.parameters,
        "tokens": [str(t) for t in layer.tokens],
        "matrices": [[name, [[str(x) for x in row] for row in matrix]] for name, matrix in named],
        "facts": facts,
        "certificate": certificate,
        "holds": verdict.holds,
        "steps": list(verdict.steps),
    }
