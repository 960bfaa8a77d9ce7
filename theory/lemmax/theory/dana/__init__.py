"""Dana, Pydi and Chevaleyre 2024: attention-only transformers, their ranks, and sequence encoders.

The definitions and bounds of one paper; weights and counterexamples that witness them are in
:mod:`lemmax.constructions.dana`, and no other paper's room is imported.
"""
