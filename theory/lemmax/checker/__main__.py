"""``python theory/lemmax/checker``, ``python -m lemmax.checker`` and ``checker.pyz`` start here."""

import importlib
import sys
import types

if __package__:
    from .command import run
else:  # a folder or an archive was run: make it a package, and look for nothing else in it
    package = types.ModuleType("lemmax_checker")
    package.__path__ = [sys.path.pop(0)]
    sys.modules[package.__name__] = package
    run = importlib.import_module("lemmax_checker.command").run

if __name__ == "__main__":
    sys.exit(run())
