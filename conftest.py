"""A bare clone finds the plugin here; an install finds the same one by its entry point."""

import pytest
from hypothesis import settings

pytest_plugins = ["lemmax.pytest_plugin"]

# The same examples in every run: a ledger must not depend on luck or on a slow machine.
settings.register_profile("lemmax", derandomize=True, deadline=None, database=None)
settings.load_profile("lemmax")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Coq takes a minute or two: its tests come first, while the others keep the next core busy."""
    items.sort(key=lambda item: "test_coq_proofs" not in item.nodeid)
