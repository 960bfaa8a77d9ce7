"""The rank of a three-way tensor, bounded from both sides over Q, R and C.

What a tensor and a decomposition are stands here, beside the function that puts all bounds together
(:mod:`.ranks`); what proves a lower bound is in :mod:`.below`, what writes a decomposition down in
:mod:`.above`, what looks for one in :mod:`.search`.
"""
