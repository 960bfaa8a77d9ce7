"""The statements that the independent checker knows, read from the checker itself.

A refutation must carry the hypotheses and the conclusion of its claim word by word; taking them
from the checker's own table keeps one copy of them.
"""

from lemmax import checker
from lemmax.theory.errors import LemmaxError


def statement_of(claim: str) -> tuple[tuple[str, ...], str]:
    """The hypotheses and the conclusion of a claim, as comparisons.

    >>> statement_of("wong/argmax-rank-one")
    (('rank(M) == 1',), 'rank(argmax(M)) <= 2')
    """
    known = checker.STATEMENTS.get(claim)
    if known is None:
        raise LemmaxError(f"The checker knows no statement of the claim {claim!r}.")
    return known.hypotheses, known.conclusion
