"""What the tests of forged certificates share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from lemmax.checker import NotACertificate, check

Certificate = dict[str, Any]


@pytest.fixture
def accepted() -> Callable[[Certificate], bool | None]:
    """Whether a certificate holds; None if it is no certificate."""

    def verdict(certificate: Certificate) -> bool | None:
        try:
            return check(certificate).holds
        except NotACertificate:
            return None

    return verdict
