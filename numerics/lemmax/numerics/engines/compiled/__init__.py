"""Compiled training with numba, on the CPU: loops over the steps that are never left.

A module has the loop of one family and the arrays it works on; a result must be the same bit for
bit wherever the same machine code runs, so nothing here may depend on a group or on threads.
"""
