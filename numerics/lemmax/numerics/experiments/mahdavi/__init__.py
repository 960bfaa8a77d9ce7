"""Mahdavi, Liao and Thrampoulidis 2024, as trained: sizes, and what is memorized beside bounds.

A module holds studies, judgements and drawings; what is proved of the layers is in
:mod:`lemmax.theory.mahdavi`, not here.
"""
