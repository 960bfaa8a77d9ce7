"""Layers by codes in floating point: arrays in files, number formats, codebooks and their families.

Only the kind float-memorization leans on this; nothing here knows of claims or of exact weights.
"""
