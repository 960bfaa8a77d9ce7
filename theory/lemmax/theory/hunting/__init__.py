"""Hunting: instances that satisfy the assumptions of a formal statement and break its conclusion.

The checker's language says what a statement means and the checker has the last word on what is
caught. What only suggests instances (floats, random draws) lives here too and decides nothing.
"""

import lazy_loader as lazy

__getattr__, __dir__, __all__ = lazy.attach_stub(__name__, __file__)
