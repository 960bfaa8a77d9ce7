"""A paper in LaTeX and a ledger, kept in step: statements out of the paper, verdicts back into it.

Nothing here decides a claim or runs a program: LaTeX is read, never executed, and verdicts come
from the ledger. The room sits on top; only sites and the command line import it.
"""
