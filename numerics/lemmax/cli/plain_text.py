r"""LaTeX as text for a terminal: ``\operatorname{rank}M\le 2`` is ``rank M ≤ 2``.

A reader of formulas, no TeX: what it does not know stays as it is, without its backslash.
"""

from __future__ import annotations

import re
import unicodedata

_PAIRS: str = r"""
    to →;in ∈;times ×;ge ≥;geq ≥;le ≤;leq ≤;ne ≠;neq ≠;dots …;ldots …;cdots ⋯;cdot ·;sum Σ;prod ∏
    infty ∞;pm ±;sim ~;cap ∩;cup ∪;emptyset ∅;subseteq ⊆;subset ⊂;setminus ∖;oplus ⊕;otimes ⊗
    wedge ∧;bigwedge ⋀;perp ⊥;langle ⟨;rangle ⟩;lceil ⌈;rceil ⌉;lfloor ⌊;rfloor ⌋;ell ℓ;top ᵀ
    rightharpoonup ⇀;triangle △;mid |;approx ≈;equiv ≡;forall ∀;exists ∃;Rightarrow ⇒
    iff ⇔;mapsto ↦;partial ∂;nabla ∇;circ ∘;odot ⊙;notin ∉;varnothing ∅;cong ≅;ni ∋
    alpha α;beta β;gamma γ;delta δ;epsilon ε;varepsilon ε;zeta ζ;eta η;theta θ;iota ι;kappa κ
    lambda λ;mu μ;nu ν;xi ξ;pi π;rho ρ;sigma σ;tau τ;phi φ;varphi φ;chi χ;psi ψ;omega ω;Gamma Γ
    Delta Δ;Theta Θ;Lambda Λ;Xi Ξ;Pi Π;Sigma Σ;Phi Φ;Psi Ψ;Omega Ω
    """
_SYMBOLS: dict[str, str] = {}
for _pair in _PAIRS.replace("\n", ";").split(";"):
    _name, _, _symbol = _pair.strip().partition(" ")
    _SYMBOLS[_name] = _symbol
del _SYMBOLS[""]
_RELATIONS = "→∈≥≤≠⊆⊂⇒⇔↦≈≡~∉⇀≅∋∌"
_BLACKBOARD = dict(zip("RQCZNFPE", "ℝℚℂℤℕ𝔽ℙ𝔼", strict=True))
_SUPERSCRIPTS = dict(zip("0123456789+-nTᵀ*", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿᵀᵀ*", strict=True))
_SUBSCRIPTS = dict(zip("0123456789+-aeijkmnrstx", "₀₁₂₃₄₅₆₇₈₉₊₋ₐₑᵢⱼₖₘₙᵣₛₜₓ", strict=True))
_WORDS = frozenset(("operatorname", "mathrm", "text", "textrm", "mathbf", "mathsf", "texttt"))
_FUNCTIONS = re.compile("min|max|inf|sup|log|ln|exp|det|dim|deg|sin|cos|ker|arg|lim|gcd")
_SIZES = re.compile("[bB]ig[lr]?|left|right|displaystyle|limits")
_ACCENTS = {
    **{"tilde": "\u0303", "hat": "\u0302", "bar": "\u0304", "overline": "\u0304"},
    "not": "\u0338",
}
_SPECIAL = {"colon": ": ", "bmod": " mod ", "\\": "; ", "|": "‖"}
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_]|\s+|.", re.DOTALL)
_MATHS = re.compile(r"\\\((.*?)\\\)|\\\[(.*?)\\\]|\$([^$]+)\$", re.DOTALL)


def plain_text(text: str) -> str:
    r"""A text with formulas of LaTeX, as a terminal shows it.

    >>> print(plain_text(r"If \(\operatorname{rank}M\le 2\) then \(M\in\mathbb R^{n\times n}\)."))
    If rank M ≤ 2 then M ∈ ℝ^(n × n).
    >>> print(plain_text(r"\[\tfrac{a+1}{2}\sum_{i=1}^n x_i^2 \ge \varepsilon\]"))
    (a + 1)/2 Σ_(i = 1)ⁿ xᵢ² ≥ ε
    >>> print(plain_text(r"\(\frac{d_{TV}}{e^{\mathbb E_t[h_t]}-1}\)"))
    d_TV/(e^(𝔼ₜ[hₜ])-1)
    """
    told = _MATHS.sub(lambda m: formula_text(m[1] or m[2] or m[3]), text)
    return re.sub(r"[ \t]*\n[ \t]*", " ", told.replace(r"\%", "%")).strip()


def formula_text(formula: str) -> str:
    """One formula as text, without the signs around it."""
    tokens = [t if not t.isspace() else " " for t in _TOKEN.findall(formula)]
    tokens.reverse()  # a stack: the next token is the last
    return _spaced("".join(_pieces(tokens, closing=None)))


def _spaced(pieces: str) -> str:
    """What was read, with blanks around relations and none where they are too many."""
    spaced = re.sub(rf"\s*([{_RELATIONS}=<>×⊗⊕∪∩∖])\s*", r" \1 ", pieces)
    spaced = re.sub(r"(?<=[\w)⟩|])\s*([+−])\s*(?=[\w(])", r" \1 ", spaced)
    spaced = re.sub(r"\s*,\s*", ", ", spaced)
    spaced = re.sub(r"(?<=\w) (?=[₀-₉₊₋ₐ-ₜᵢᵣⱼ⁰-⁹⁺⁻ⁿᵀ^_])", "", spaced)
    return re.sub(r" +", " ", re.sub(r"([(\[{]) | (?=[)\]}.,;:])", r"\1", spaced)).strip()


def _pieces(tokens: list[str], closing: str | None) -> list[str]:
    pieces: list[str] = []
    while tokens:
        token = tokens.pop()
        if token == closing:
            break
        pieces.append(_piece(token, tokens))
    return pieces


def _argument(tokens: list[str]) -> str:
    """What a command applies to: a group or one token."""
    while tokens and tokens[-1] == " ":
        tokens.pop()
    if not tokens:
        return ""
    token = tokens.pop()
    return "".join(_pieces(tokens, "}")) if token == "{" else _piece(token, tokens)


def _piece(token: str, tokens: list[str]) -> str:
    if token == "{":
        return "".join(_pieces(tokens, "}"))
    if token in "^_":
        script = _script(token, _argument(tokens))
        apart = script[0] in "^_" and tokens and tokens[-1][-1].isalnum()
        return f"{script} " if apart else script
    if not token.startswith("\\"):
        return token
    name = token[1:]
    if name in _WORDS:
        return f" {_argument(tokens).strip()} "
    if name in ("frac", "tfrac", "dfrac"):
        above, below = _argument(tokens), _argument(tokens)
        return f"{_grouped(above)}/{_grouped(below)} "
    if name == "binom":
        above, below = _argument(tokens), _argument(tokens)
        return f"binomial({above}, {below})"
    if name == "sqrt":
        return f"√{_grouped(_argument(tokens))}"
    if name in _ACCENTS:
        return unicodedata.normalize("NFC", _argument(tokens) + _ACCENTS[name])
    if name == "mathbb":
        letter = _argument(tokens)
        return _BLACKBOARD.get(letter, letter)
    if name in ("mathcal", "mathfrak"):
        return _argument(tokens)
    if _FUNCTIONS.fullmatch(name):
        return f" {name} "
    if name in ("begin", "end"):
        _argument(tokens)
        return "(" if name == "begin" else ")"
    return _sign(name)


def _sign(name: str) -> str:
    """A command without an argument."""
    if _SIZES.fullmatch(name):
        return ""
    if name in _SPECIAL:
        return _SPECIAL[name]
    if name in (",", ";", ":", "!", " ", "quad", "qquad"):
        return " "
    return _SYMBOLS.get(name, name)


def _grouped(text: str) -> str:
    text = text.strip()
    return text if re.fullmatch(r"[\w.√]+|\(.*\)", text) else f"({_spaced(text)})"


def _script(sign: str, text: str) -> str:
    text = text.strip()
    table = _SUPERSCRIPTS if sign == "^" else _SUBSCRIPTS
    if text and all(c in table for c in text):
        return "".join(table[c] for c in text)
    plain = re.fullmatch(r"[\w*]+|\([^()]*\)", text) is not None
    return f"{sign}{text}" if plain else f"{sign}({_spaced(text)})"
