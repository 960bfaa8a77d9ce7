"""Coverage-guided attacks: atheris changes certificates and keeps those that reach new code.

Run, with atheris for the Python at hand:
``python -m benchmarks.attacks.guided FOLDER -max_total_time=600 -timeout=60 -rss_limit_mb=1024``.
FOLDER keeps what was found, so a run goes on where the last one stopped; it is filled with the
shipped certificates and planted ones first. Half of the changes are those of atheris, to letters;
half exchange values of the JSON by others of nearly the same shape. Any exception but
NotACertificate stops the run, and so does an accepted certificate that the second judge calls
false. The file that did it is left in the folder of the command.
"""

from __future__ import annotations

import importlib
import json
import random
import sys
from pathlib import Path
from typing import Any

atheris: Any = importlib.import_module("atheris")  # not among lemmax's own requirements

with atheris.instrument_imports(include=["lemmax.checker"]):
    from lemmax.checker import LIMITS, NotACertificate, check
    from lemmax.checker.checking import KINDS, rule_of

    for _kind in KINDS:
        rule_of(_kind)

from benchmarks import attack_checker  # noqa: E402
from benchmarks.attacks.campaign import planted, text_of  # noqa: E402

LIMITS["work"] = 5_000_000  # half a second: many small certificates reach more than few long ones


def one(data: bytes) -> None:
    """Check, and judge what is accepted."""
    try:
        certificate = json.loads(data)
    except (ValueError, RecursionError):
        return
    try:
        holds = check(certificate).holds
    except NotACertificate:
        return
    if holds and attack_checker.JUDGES[certificate["kind"]](certificate) is False:
        raise AssertionError(f"accepted, and false: {data[:2000]!r}")


def changed(data: bytes, most: int, seed: int) -> bytes:
    """Another certificate of nearly the same shape, or letters changed by atheris."""
    rng = random.Random(seed)
    try:
        certificate = json.loads(data)
    except (ValueError, RecursionError):
        certificate = None
    if not isinstance(certificate, dict) or not certificate or rng.random() < 0.5:
        return bytes(atheris.Mutate(data, most))
    return text_of(attack_checker.mutated(rng, certificate)).encode()[:most]


def main(folder: Path, options: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):
        certificates = [*attack_checker.SHIPPED, *(planted(random.Random(n)) for n in range(300))]
        for n, certificate in enumerate(certificates):
            (folder / f"first-{n}").write_text(text_of(certificate), encoding="utf-8")
    atheris.Setup([sys.argv[0], *options, str(folder)], one, custom_mutator=changed)
    atheris.Fuzz()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
