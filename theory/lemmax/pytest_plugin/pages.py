"""Pages of argued proofs as tests: a page is one item, which asks that its step tests exist."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from lemmax.theory.errors import LemmaxError
from lemmax.theory.ledger.gathering import is_test
from lemmax.theory.ledger.proofs import ProofError, read_proof


class ProofPage(pytest.File):
    """A page of an argued proof, collected as one item."""

    def collect(self) -> Iterable[pytest.Item]:
        yield ProofItem.from_parent(self, name=read_proof(self.path).claim)


class ProofItem(pytest.Item):
    """Passes iff every test that the page names exists; whether they pass is seen at the end."""

    def runtest(self) -> None:
        for test in read_proof(self.path).tests:
            if not is_test(self.config.rootpath, test):
                raise ProofError(f"{self.path.name}: a step names {test}, which does not exist.")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, LemmaxError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"proof of {self.name}"
