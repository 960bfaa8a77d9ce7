"""Certificates: writing them, reading the exact arrays in them, and a JSON Schema for each kind.

How a result becomes a file; what the file proves is decided by :mod:`lemmax.checker` alone, and no
paper is known here.
"""
