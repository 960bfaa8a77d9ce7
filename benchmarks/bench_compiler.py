"""The cost of compiling, certifying and re-checking as the number of facts grows.

``python benchmarks/bench_compiler.py`` measures (CPU time, one thread) and records the numbers in
``benchmarks/results/compiler.json``; ``--draw FILE.svg`` draws the recorded numbers again.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import time
from pathlib import Path
from random import Random
from typing import Any

from lemmax import checker
from lemmax.constructions import compile_database
from lemmax.theory import Database
from lemmax.theory.certificates.writing import to_json
from lemmax.theory.files import write_text

RESULTS = Path(__file__).parent / "results" / "compiler.json"
SIZES = (50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)


def random_table(facts: int, predicates: int, seed: int = 0) -> Database:
    """Facts about facts/predicates subjects; objects are drawn from as many as there are facts."""
    random = Random(seed)
    return Database.from_triples(
        (f"s{i // predicates}", f"p{i % predicates}", f"o{random.randrange(facts)}")
        for i in range(facts)
    )


def measure(facts: int, predicates: int) -> dict[str, Any]:
    """Seconds to compile (which proves every fact), to write and to re-check the certificate."""
    db = random_table(facts, predicates)
    start = time.process_time()
    compiled = compile_database(db)
    compiled_at = time.process_time()
    certificate = json.loads(to_json(compiled.certificate()))
    written_at = time.process_time()
    verdict = checker.check(certificate)
    checked_at = time.process_time()
    assert verdict.holds
    return {
        "facts": facts,
        "predicates": predicates,
        "tokens": len(db.tokens),
        "d_model": compiled.dims.d_model,
        "compile": round(compiled_at - start, 4),
        "certificate": round(written_at - compiled_at, 4),
        "check": round(checked_at - written_at, 4),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> None:
    """Measure and record, or draw what was recorded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", metavar="FILE", type=Path)
    options = parser.parse_args()
    if options.draw:
        from lemmax.numerics.figures import compiler_cost

        compiler_cost(json.loads(RESULTS.read_text()), options.draw)
        return
    rows = []
    for predicates in (2, 4):
        for facts in SIZES:
            rows.append(measure(facts, predicates))
            print(rows[-1])
    document = {"python": platform.python_version(), "rows": rows}
    write_text(RESULTS, json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
