"""Witnesses for Wong 2025: examples, blow-ups of rank, counterexamples, as exact objects.

Definitions and bounds are in :mod:`lemmax.theory.wong`; nothing here is trained.
"""
