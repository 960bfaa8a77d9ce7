"""Wong 2025, as trained: one module per figure, what its figures share, and layers beside bounds.

A module holds studies, judgements and drawings; what is proved of the layers is in
:mod:`lemmax.theory.wong`, not here.
"""
