"""Matrices with free symbols: their generic rank, and the values at which it is smaller.

All is exact, over polynomial rings; what a family is a model of is not known here.
"""
