"""Dana, Pydi and Chevaleyre 2024, as trained: one module per figure, and bounds beside.

A module holds studies, judgements and drawings; what is proved of the transformers is in
:mod:`lemmax.theory.dana`, not here.
"""
