"""Surveys: the ranks of many databases, recorded one by one, as a table and a figure by regime.

A kill loses at most the databases in progress; tables and figures are drawn from recorded lines
alone. How a rank is bounded stays in :mod:`lemmax.theory.tensors`.
"""
