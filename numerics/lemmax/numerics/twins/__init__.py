"""Between floats and exact objects: torch twins of exact layers, and exact twins of trained ones.

Nothing here trains; what is certified is certified by exact arithmetic on the stored floats.
"""
