"""What looks for a decomposition within a time: walks on the flip graph, fits made exact.

What is returned is exact and checked, floats only ever propose; what needs no search is next door.
"""
