"""A bare clone finds the plugin here; an install finds the same one by its entry point."""

from hypothesis import settings

pytest_plugins = ["lemmax.pytest_plugin"]

# The same examples in every run: a ledger must not depend on luck or on a slow machine.
settings.register_profile("lemmax", derandomize=True, deadline=None, database=None)
settings.load_profile("lemmax")
