"""What witnesses it: weights, matrices, counterexamples, ready to be imported into a paper.

>>> from lemmax.constructions import gram_blowup
>>> gram_blowup(4, 2).matrix.shape
(4, 4)
"""

import lazy_loader

# The public names and their modules stand once, in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
