"""What witnesses it: weights, matrices, counterexamples, ready to be imported into a paper.

A room per paper, the compiler, and at the root what serves them all: exports, shipped certificates,
refutations, careful reading. What is true is said in theory; nothing is trained or measured here.

>>> from lemmax.constructions import gram_blowup
>>> gram_blowup(4, 2).matrix.shape
(4, 4)
"""

import lazy_loader

# The public names and their modules stand once, in __init__.pyi.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
