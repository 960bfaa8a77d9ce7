"""What writes a decomposition of a tensor down: exact terms that a theorem gives.

Nothing here looks for a decomposition at random or within a time; that is
:mod:`lemmax.theory.tensors.search`.
"""
