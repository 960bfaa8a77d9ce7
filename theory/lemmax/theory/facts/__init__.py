"""Databases: facts (key, query, value), the files they are read from, and the tables they make.

What a table of facts is; what a layer needs to know it is in the rooms of the papers, the rank of
its tensor in :mod:`lemmax.theory.tensors`.
"""
