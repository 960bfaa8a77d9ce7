"""The independent checker of lemmax certificates: standard library only, nothing of lemmax.

Usage: ``python3 -I checker CERTIFICATE...`` for this folder, or ``checker.pyz`` for the archive of
it (``--json`` for machines, ``--limits`` for the sizes, ``--vocabulary`` for the language). Exit
status 0: every certificate holds; 1: one is well formed and does not hold, and the last line says
which step failed; 2: a file is not a certificate.

What is trusted
    Python's integers, ``fractions``, ``json``, ``re`` and ``ast``, this folder, and these theorems:

    * a minor of an integer matrix that is nonzero mod a prime is nonzero, so it bounds the rank
      from below (a rank mod p never bounds it from above);
    * Miller-Rabin with the first thirteen primes as bases decides primality below
      3317044064679887385961981 (Sorenson and Webster 2015);
    * Hermite: e^(1/q) is transcendental; Lindemann: exponentials of distinct rationals are linearly
      independent over Q; Cauchy: the roots of an integer polynomial whose coefficients are at most
      A in absolute value are smaller than 1 + A;
    * 1 and σ(s) = 1/(1 + e^-s) for distinct rationals s > 0 are linearly independent over Q. With
      z = e^(1/q) and s = n/q, σ(s) = z^n/(z^n + 1) has a pole at exp(iπ/n); that pole is missing
      from every smaller n, so the coefficient of the largest n in a relation is zero, and so on;
    * Gibbs: Σ q ln s <= Σ q ln q for distributions q, s; and the entropy is concave;
    * rounding to nearest is monotone and off by at most half a unit in the last place, and numbers
      that a format holds are added and multiplied exactly (for float-memorization alone, whose
      module lists what it assumes of exp and softmax);
    * Machin's formula for π, Cauchy's estimate, the series, the tail and the slopes of the normal
      distribution and of the logistic function that ``models/functions.py`` names (for
      transformer-memorization);
    * Banach: a contraction of a closed ball has a fixed point in it.

What is not trusted
    The certificate and whoever made it. Floating point is not used at all: real numbers are
    enclosed between integers over a power of two, always rounded outwards. What cannot be decided
    within LIMITS does not hold, and the checker says so; it never counts as false either, so that
    a refutation cannot be built on a lack of precision.

What to read
    A kind of certificate is one module of ``kinds``; it leans on reading, arithmetic and limits,
    and on what its first lines import. Refutations and witnesses lean on the language of statements
    (``language``) and on the meaning of its words (``words``). Nothing else is imported.
"""

from typing import TYPE_CHECKING, Any

from .checking import KINDS, Verdict, check, check_file, rule_of
from .command import main
from .limits import LIMITS, NotACertificate

if TYPE_CHECKING:
    from .language.claims import RESERVED, STATEMENTS, formal_statements

__all__ = [
    "KINDS",
    "LIMITS",
    "RESERVED",
    "STATEMENTS",
    "NotACertificate",
    "Verdict",
    "check",
    "check_file",
    "formal_statements",
    "main",
    "rule_of",
]


def __getattr__(name: str) -> Any:
    """What belongs to the language of statements is imported when it is asked for."""
    if name not in ("RESERVED", "STATEMENTS", "formal_statements"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .language import claims

    return getattr(claims, name)
