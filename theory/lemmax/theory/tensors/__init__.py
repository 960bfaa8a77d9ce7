"""The rank of a three-way tensor, bounded from both sides over Q, R and C.

One concept a file: what a tensor is (:mod:`.arrays`), what bounds its rank from above
(:mod:`.decompositions`, :mod:`.slices`, :mod:`.pivots`), what bounds it from below (:mod:`.lower`),
and the function that puts them together (:mod:`.ranks`).
"""
