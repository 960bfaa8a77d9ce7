"""What is said: exact arithmetic, ranks, databases, attention layers, claims.

The names below are imported when they are first used, so that ``import lemmax.theory`` costs
next to nothing and loads neither torch, cvxpy, matplotlib nor scipy.

>>> from lemmax.theory import certified_rank
>>> certified_rank([[1, 2], [2, 4]]).rank
1
"""

import lazy_loader

# The public names and their modules stand once, in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
