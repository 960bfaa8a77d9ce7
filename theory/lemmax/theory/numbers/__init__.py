"""Exact arithmetic: matrices over Q, balls, algebra modulo a prime, and ranks with certificates.

What is known of a matrix without knowing where it comes from; nothing here knows of facts,
attention or a paper.
"""
