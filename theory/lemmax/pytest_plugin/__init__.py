"""The pytest plugin that turns tests into evidence and evidence into a ledger.

A test says which claim it is evidence for, which way, and for which words it was written::

    @pytest.mark.claim("wong/argmax-rank-one", direction="against", statement="0f1e…")
    def test_argmax_of_rank_one_can_have_rank_three(certify): ...

``direction`` is for, against or gap; ``statement`` is the digest that ``lemmax claims ID`` prints.
The grade is earned by the fixture that does the deciding: ``certify`` (the independent checker),
``kernel`` (Coq), ``symbolic`` (z3 or sympy), ``exhaust`` (all instances), ``none_up_to`` (all of a
formal statement, by size), ``sample`` (hypothesis), ``measure`` (recorded data). A marker may name
the ``grade``; a marked test that earned nothing, or something else, is an error of the run. Argued
proofs are pages (``lemmax_proofs``).

Options: ``--ledger FILE`` writes the ledger, ``--ledger-against FILE`` fails where a fresh run
disagrees with a committed one, ``--evidence`` runs evidence only, ``--recheck`` gives the shipped
certificates to a fresh process of the checker in the end, ``--write-certificates`` and
``--write-theorems`` write anew what is shipped. Settings (ini): ``lemmax_claims``,
``lemmax_proofs``, ``lemmax_certificates``, ``lemmax_ledger``, ``lemmax_formal``,
``lemmax_theorems``; each is relative to the root of the project, and the claims of lemmax itself
are used where none are declared. What a partial run leaves out is read in the committed ledger.

Nothing here knows what a claim says about attention; verdicts are derived in
:mod:`lemmax.theory.ledger`.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from lemmax.pytest_plugin.fixtures import certify, kernel, symbolic
from lemmax.pytest_plugin.gatherer import NAME, Gatherer
from lemmax.pytest_plugin.hunting import none_up_to
from lemmax.pytest_plugin.measuring import measure
from lemmax.pytest_plugin.pages import ProofPage
from lemmax.pytest_plugin.properties import exhaust, sample
from lemmax.pytest_plugin.rechecking import Rechecking
from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.claims import Catalogue, load_claims
from lemmax.theory.ledger.entries import elsewhere, holds_in_lemmax
from lemmax.theory.ledger.projects import LISTS, SETTINGS, project
from lemmax.theory.ledger.proofs import ProofError, find_proofs
from lemmax.theory.ledger.records import read_ledger
from lemmax.theory.ledger.verdicts import LedgerError

__all__ = ["certify", "exhaust", "kernel", "measure", "none_up_to", "sample", "symbolic"]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("lemmax", "claims, evidence and the ledger")
    group.addoption("--ledger", metavar="FILE", help="write the ledger of this run as JSON")
    group.addoption(
        "--ledger-against", metavar="FILE", help="fail where this run disagrees with a ledger"
    )
    group.addoption("--evidence", action="store_true", help="run only what is evidence for claims")
    group.addoption(
        "--recheck", action="store_true", help="check the shipped certificates again in the end"
    )
    group.addoption(
        "--write-certificates", action="store_true", help="write the shipped certificates anew"
    )
    group.addoption(
        "--write-theorems", action="store_true", help="record anew what Coq's theorems state"
    )
    for name, told in SETTINGS.items():
        if name in LISTS:
            parser.addini(name, told, type="linelist", default=[])
        else:
            parser.addini(name, told, default="")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "claim(id, grade=None, direction='for', scope=None, statement=None): this test is evidence "
        "for a claim",
    )
    try:
        places = project(config.rootpath, config.getini)
        catalogue = load_claims(places.claims)
        proofs = find_proofs(places.proofs)
        granted = set()
        for proof in proofs:
            for identifier in (proof.claim, *proof.claims):
                if identifier != proof.claim and elsewhere(identifier):
                    if holds_in_lemmax(identifier):
                        granted.add(identifier)
                elif identifier not in catalogue:
                    raise ProofError(f"{proof.path}: there is no claim {identifier!r}.")
        if not hasattr(config, "workerinput"):
            refuse_what_cannot_end(config, catalogue)
    except LemmaxError as error:
        raise pytest.UsageError(str(error)) from None
    gatherer = Gatherer(config, places, catalogue, proofs, frozenset(granted))
    config.pluginmanager.register(gatherer, NAME)
    if config.getoption("--recheck"):
        config.pluginmanager.register(Rechecking(config), "lemmax-rechecking")


def refuse_what_cannot_end(config: pytest.Config, catalogue: Catalogue) -> None:
    """LedgerError before the run, not after it, where a ledger cannot be written or compared."""
    here, target = config.invocation_params.dir, config.getoption("--ledger")
    if target and (here / target).is_dir():
        raise LedgerError(f"--ledger {target}: this is a folder, not a file.")
    if target and not (here / target).parent.is_dir():
        raise LedgerError(f"--ledger {target}: there is no folder {Path(target).parent}.")
    against = config.getoption("--ledger-against")
    if against and not read_ledger(here / against).claims.keys() & catalogue.claims.keys():
        raise LedgerError(
            f"--ledger-against {against}: this is the ledger of another project, without any claim "
            "of this one."
        )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> ProofPage | None:
    gatherer = cast(Gatherer, parent.config.pluginmanager.get_plugin(NAME))
    if file_path.suffix == ".md" and any(proof.path == file_path for proof in gatherer.proofs):
        return ProofPage.from_parent(parent, path=file_path)
    return None
