"""The rank of a three-way tensor, bounded from both sides over Q, R and C.

What a tensor and a decomposition are stands here, beside the functions that put all bounds together
(:mod:`.ranks` in front, :mod:`.pipeline` and :mod:`.stages` behind it) and what both sides lean on.
What proves a lower bound is in :mod:`.below`, what writes a decomposition down in :mod:`.above`,
tensors with two slices, solved from both sides, in :mod:`.pencils`, what looks for a decomposition
in :mod:`.search`.
"""
