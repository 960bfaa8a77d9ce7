r"""The number s(k, q) that every construction of the compiler makes, as a function of attention.

A layer of the compiler reads one number s off its attention α and gives the value numbered v the
logit \(sv-v^2/2\). Which α makes s the number n of the right value is an equation of degree one.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from lemmax.constructions.compiler.compiling import CompiledDatabase
from lemmax.constructions.compiler.parabola import power_of_two
from lemmax.constructions.compiler.planning import Method
from lemmax.constructions.compiler.two_heads import targets
from lemmax.theory.errors import LemmaxError
from lemmax.theory.latex import Typeset
from lemmax.theory.sympified import symbolic_number

_NAMES: dict[str, tuple[str, ...]] = {
    "by-predicates": ("x_k", "delta", "M"),
    "by-keys": ("y_q", "M"),
    "two-heads": ("e_q", "x_k", "x_q"),
}


@dataclass(frozen=True)
class CompilerScalar(Typeset):
    """s as a function of the attention α that a query pays to the key; ``numbers`` are its others.

    By predicates, δ is 1 for the last predicate, which pays ½ to every key, and else 0.

    >>> scalar = compiler_scalar("two-heads")
    >>> scalar.s
    e_q + (alpha - 1/2)*(x_k - x_q)
    >>> scalar.attention
    (-2*e_q + 2*n + x_k - x_q)/(2*(x_k - x_q))
    """

    method: str
    alpha: Any
    numbers: tuple[Any, ...]
    n: Any
    v: Any

    @property
    def s(self) -> Any:
        """The number that the layer reads."""
        from sympy import Rational

        alpha = self.alpha
        if self.method == "by-predicates":
            x, delta, M = self.numbers
            return alpha * x + delta * (1 - alpha - M)
        if self.method == "by-keys":
            y, M = self.numbers
            return -M + y * (1 + 2 * (1 - alpha))
        e, x_k, x_q = self.numbers
        return e + (alpha - Rational(1, 2)) * (x_k - x_q)

    @property
    def attention(self) -> Any:
        """The α at which s = n."""
        from sympy import factor, solve

        (alpha,) = solve(self.s - self.n, self.alpha)
        return factor(alpha)

    @property
    def score(self) -> Any:
        """The difference of scores that gives this attention: ln(α/(1-α))."""
        from sympy import factor, log

        alpha = self.attention
        return log(factor(alpha / (1 - alpha)))

    @property
    def logit(self) -> Any:
        """The logit of the value numbered v, as a function of α."""
        return self.s * self.v - self.v**2 / 2

    @property
    def margin(self) -> Any:
        """The logit of n minus that of v where s = n: (n - v)²/2."""
        from sympy import factor

        difference = self.logit.subs(self.v, self.n) - self.logit
        return factor(difference.subs(self.alpha, self.attention))

    def to_sympy(self) -> Any:
        """s."""
        return self.s

    def at(self, compiled: CompiledDatabase, key: Hashable, query: Hashable) -> Any:
        """s for one pair of a compiled database, with the layer's own exact attention.

        The numbers are read off the layer's weights. Attention is σ of a rational, so the value is
        an expression in e.
        """
        if compiled.method.removesuffix("-one-hot") != self.method:
            raise LemmaxError(f"The database is compiled {compiled.method}, not {self.method}.")
        if (key, query) not in compiled.database or key == query:
            raise LemmaxError(f"{key!r} {query!r} is no fact about two different tokens.")
        from sympy import Rational, exp

        layer = compiled.layer
        k, q = layer.index[key], layer.index[query]
        scores = layer.W_QK(0)
        gap = symbolic_number(scores[q, k] - scores[q, q])
        values = self._read(compiled, key, query)
        alpha = 1 / (1 + exp(-gap)) if gap != 0 else Rational(1, 2)
        return self.s.subs({self.alpha: alpha, **dict(zip(self.numbers, values, strict=True))})

    def _read(self, compiled: CompiledDatabase, key: Hashable, query: Hashable) -> list[Any]:
        """The numbers of a pair, as the construction chooses them."""
        db, layer = compiled.database, compiled.layer
        last = layer.d_model - 1
        if self.method == "by-predicates":
            x = layer.W_E[layer.index[key], last]
            special = int(query == db.queries[-1])
            M = power_of_two(len(db.values))
            return [symbolic_number(x), symbolic_number(special), symbolic_number(M)]
        if self.method == "by-keys":
            y = layer.W_E[layer.index[query], last]
            return [symbolic_number(y), symbolic_number(power_of_two(2 * len(db.values)))]
        aim = targets(db)
        return [*map(symbolic_number, (aim.e[query], aim.x[key], aim.x[query]))]

    @property
    def claim(self) -> str:
        """The claim that this is about."""
        return "lemmax/compiler-scalars"

    def formula(self) -> str:
        """s, the attention that is wanted, and the margin."""
        from sympy import latex

        return (
            rf"s(\alpha) = {latex(self.s)}, \quad s = n \text{{ at }} \alpha = "
            rf"{latex(self.attention)}, \quad \text{{margin }} {latex(self.margin)}"
        )


def compiler_scalar(method: Method) -> CompilerScalar:
    """The scalar of a construction: by-predicates, by-keys or two-heads (also one-hot).

    Cost: nothing; the equation for α is solved when it is asked for.

    Examples
    --------
    >>> scalar = compiler_scalar("by-keys")
    >>> scalar.s
    -M + y_q*(3 - 2*alpha)
    >>> scalar.margin
    (-n + v)**2/2
    """
    from sympy import Symbol

    known = method.removesuffix("-one-hot")
    if known not in _NAMES:
        raise LemmaxError(f"The scalar is that of {', '.join(_NAMES)}, not of {method!r}.")
    numbers = tuple(Symbol(name, real=True) for name in _NAMES[known])
    alpha, n, v = (Symbol(name, real=True) for name in ("alpha", "n", "v"))
    return CompilerScalar(known, alpha, numbers, n, v)
