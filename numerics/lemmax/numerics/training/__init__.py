"""Training: jobs, recipes, their models, sweeps that a kill cannot hurt, and their results.

What is trained and how it is recorded; how a step is computed is in :mod:`lemmax.numerics.engines`.
"""
