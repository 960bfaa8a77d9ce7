"""Pretrained models in numpy, and the assumptions of the papers decided on their stored floats.

Weights come from installed packages or files; nothing is fetched.
"""
