"""Witnesses for Mahdavi et al. 2024: saturated heads, labels into weights, counterexamples.

Definitions and bounds are in :mod:`lemmax.theory.mahdavi`; nothing here is trained.
"""
