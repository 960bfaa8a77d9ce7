"""Layers by codes: families of codes, the layer that carries them, the decision, and its files.

Everything here is for number formats; the constructions with rational weights stand one folder up.
"""
