"""What proves a lower bound on a tensor's rank: one theorem per file, with the step it leaves.

Every bound is a chain of steps that the independent checker recomputes (:mod:`.chains`); nothing
here writes a decomposition down, except where the proof of a bound yields one.
"""
