"""Constructions with free symbols: they typeset, specialise to the exact objects, and have limits.

Each is a formula in sympy; what is proved of it with its symbols free stands in the claims. No
construction is made here that has no free symbol: those stand with their paper.
"""
