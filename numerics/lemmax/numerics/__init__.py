"""What is measured: torch twins of the exact layers, training, sweeps and figures.

Nothing is imported until it is asked for: torch and matplotlib are optional.

>>> from lemmax.numerics import recipe
>>> recipe("wong-guess").steps
2000
"""

import lazy_loader

# The public names and their modules stand once, in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
