"""What is said: exact arithmetic, ranks, databases, attention layers, claims.

The names below are imported when they are first used, so that ``import lemmax.theory`` costs
next to nothing and loads neither torch, cvxpy, matplotlib nor scipy.

>>> from lemmax.theory import certified_rank
>>> certified_rank([[1, 2], [2, 4]]).rank
1
"""

from typing import Any

import lazy_loader

# The public names and their modules stand once, in __init__.pyi.
_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from lemmax.theory.version import __version__

        return __version__
    return _public(name)
