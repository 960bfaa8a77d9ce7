"""Errors with names. Each message is one sentence that a user can act on."""


class LemmaxError(ValueError):
    """Bad input: the command line prints the sentence and ends with status 2."""


class NotExact(LemmaxError):
    """A float, a NaN or an irrational number where an exact number is needed."""


class ShapeError(LemmaxError):
    """Matrices whose sizes do not fit together."""


class Undecided(LemmaxError):
    """A comparison of transcendental numbers that no affordable precision decides."""


class RoundedWeights(UserWarning):
    """Exact weights are given to a number format that does not hold them."""
