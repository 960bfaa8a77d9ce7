"""Transformers with weights as they were trained, evaluated between integers over a power of two.

A certificate about such a model reads vectors, functions and network, and nothing about ranks.
"""
