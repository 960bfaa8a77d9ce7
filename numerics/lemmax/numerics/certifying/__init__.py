"""Models that people have: read as they are, and certified fact by fact.

Weights are read exactly or refused by name. Floats here only guess, compare and draw: what is
known is decided by the checker's balls.
"""
