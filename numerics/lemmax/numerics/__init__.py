"""What is measured: torch twins of the exact layers, training, sweeps and figures.

Nothing is imported until it is asked for: torch and matplotlib are optional.
"""
