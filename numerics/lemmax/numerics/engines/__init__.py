"""Engines that train jobs: the oracle, stacked groups, and compiled loops.

How a step is computed, and nothing else: what is trained, and how results are kept, is said in
:mod:`lemmax.numerics.training`. All engines are measured alike and agree with the oracle.
"""
