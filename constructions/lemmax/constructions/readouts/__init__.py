"""Linear readouts of fixed features: weights with the widest margin, or facts that conflict.

A solver of convex programs guesses here, and exact arithmetic decides. Layers are read, never
trained or measured.
"""
