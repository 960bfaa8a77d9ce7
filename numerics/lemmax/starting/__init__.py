"""A project to begin with: a paper, its claims, evidence of every grade, and what runs in CI.

``files/`` is what is written, with names to fill in; nothing here decides or runs anything, and
nothing but the command line imports it.
"""
