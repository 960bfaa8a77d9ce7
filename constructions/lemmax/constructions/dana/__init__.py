"""Witnesses for Dana et al. 2024: associative memories, sequence encoders, counterexamples.

Definitions and bounds are in :mod:`lemmax.theory.dana`; nothing here is trained.
"""
