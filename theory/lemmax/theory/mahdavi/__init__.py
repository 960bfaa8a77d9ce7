"""Mahdavi, Liao and Thrampoulidis 2024: multi-head attention on contexts, its ranks and ceilings.

The definitions and bounds of one paper; weights and counterexamples that witness them are in
:mod:`lemmax.constructions.mahdavi`, and no other paper's room is imported.
"""
