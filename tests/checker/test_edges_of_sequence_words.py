"""The edges of what is said about sequences: the words, and the kinds about attention only."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from lemmax.checker import NotACertificate, Verdict, check
from lemmax.checker.kinds import aot_memorization
from lemmax.checker.language.sorts import (
    Associations,
    AttentionOnly,
    Sequences,
    transformer_value,
)
from lemmax.checker.limits import LIMITS, BeyondLimits, Undecided, metered
from lemmax.checker.transformers import Transformer
from lemmax.checker.words import transformers

ONE = {"W_Q": [["1"], ["0"]], "W_K": [["1", "0"]], "W_V": [["1"], ["2"]], "W_O": [["1", "-1"]]}
LAYER: dict[str, Any] = {
    "tokens": ["a", "b", "c"],
    "unit": "1",
    "W_E": [["1", "0"], ["0", "1"], ["3", "2"]],
    "W_U": [["1", "0", "2"], ["0", "1", "1"]],
    "heads": [ONE],
}
PLACES = [["0", "0"], ["5", "7"], ["10", "9"]]


def transformer(positions: int = 3, **changes: Any) -> AttentionOnly:
    return transformer_value({"layer": LAYER | changes, "pos": PLACES[:positions]}, "T")


def table(pairs: dict[tuple[int, ...], int]) -> Associations:
    return Associations(Sequences(pairs), tuple(pairs.values()))


def refusal(sentence: str) -> Any:
    return pytest.raises(NotACertificate, match=f"^{re.escape(sentence)}$")


# --- the words ----------------------------------------------------------------------------------


def test_targets_and_tokens_are_those_of_the_transformer() -> None:
    T = transformer()
    for token in (3, 4):
        with refusal("A target is no token of the transformer."):
            transformers.known(T, table({(0, 0, 0): 0, (0, 1, 2): token}))
        with refusal("A token of a sequence is none of the transformer."):
            transformers.last_embeddings(T, Sequences([(0, 1, 2), (0, token, 0)]))
    assert len(transformers.known(T, table({(0, 1, 2): 2}))) == 1


def test_the_last_token_is_embedded_at_the_last_position() -> None:
    found: Any = transformers.last_embeddings(transformer(), Sequences([(1, 0, 2), (0, 2, 1)]))
    assert found == ((3 + 10, 2 + 9), (0 + 10, 1 + 9))


def test_last_embeddings_are_charged_for_their_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty for each of 3 x 2 entries: of 2 bits in the embedding, of 4 in the positions."""
    charged: list[Any] = []
    monkeypatch.setattr(transformers, "spend", lambda *asked: charged.append(asked))
    transformers.last_embeddings(transformer(), Sequences([(1, 0, 2), (0, 2, 1), (0, 0, 0)]))
    assert charged == [("last_embeddings(...)", 120, 2, 4)]


def test_without_heads_nothing_is_the_dimension_of_a_head() -> None:
    T = transformer(heads=[])
    assert [transformers.d_h(T), transformers.d_h(transformer())] == [0, 1]
    with refusal("least_value_rank(...) needs a head."):
        transformers.least_value_rank(T)


def test_all_sequences_of_the_length_of_the_transformer() -> None:
    T = transformer(2)

    def is_all(sequences: list[tuple[int, ...]]) -> bool:
        return transformers.all_pairs(table(dict.fromkeys(sequences, 0)), T)

    every = list(itertools.product(range(3), repeat=2))
    longer = [(0, *pair) for pair in every]
    assert is_all(every)
    assert not is_all(every[:-1])
    assert not is_all(every[:6])  # tokens times positions
    assert not is_all(longer)
    assert not is_all([*every[:-1], (0, 3)])  # as many, and one of another token
    assert not is_all([*every, (0, 3)])


BITS: list[tuple[int, ...]] = list(itertools.product((4, 7), repeat=2))
PARITIES: dict[tuple[int, ...], int] = {(*bits, 5): bits.count(7) % 2 for bits in BITS}


def test_parity_has_two_bits_one_other_token_and_two_targets() -> None:
    def is_parity(pairs: dict[tuple[int, ...], int], heads: int = 1) -> bool:
        return transformers.parity(table(pairs), Fraction(heads))

    assert is_parity(PARITIES)
    assert is_parity({t: 9 - g for t, g in PARITIES.items()})
    assert is_parity({(4, 5): 0, (7, 5): 1}, 0)
    assert not is_parity(PARITIES, 0)
    assert not is_parity(PARITIES, 2)
    assert not is_parity(dict.fromkeys(PARITIES, 0))
    assert not is_parity({t: t[0] for t in PARITIES})
    assert not is_parity({(4, 5): 0, (7, 6): 1}, 0)  # two other tokens
    ends: dict[tuple[int, ...], int] = {(4, 4, 5): 0, (4, 7, 5): 1, (7, 4, 5): 1, (8, 8, 5): 0}
    assert not is_parity(ends)  # three bits
    assert not is_parity({t[:2]: g for t, g in PARITIES.items()})  # no other token


@pytest.mark.parametrize(("length", "work"), [(1, 0), (2, 0), (3, 20 * 4 * 3)])
def test_parity_reads_only_what_is_long_enough(length: int, work: int) -> None:
    """Two bits and another token; then twenty for each token of each of the four sequences."""
    short: list[tuple[int, ...]] = [(0,), (1,), (2,), (3,)]
    sequences = {1: short, 2: BITS, 3: list(PARITIES)}[length]
    with metered() as meter:
        transformers.parity(table(dict.fromkeys(sequences, 0)), Fraction(1))
    assert meter.work == work


def test_parity_of_at_most_64_bits() -> None:
    assert not transformers.parity(table(PARITIES), Fraction(63))
    said = re.escape("parity(...) needs an integer below 64, not 64.")
    with pytest.raises(BeyondLimits, match=f"^{said}$"):
        transformers.parity(table(PARITIES), Fraction(64))
    with refusal("parity(...) needs an integer in 0..63, not -1."):
        transformers.parity(table(PARITIES), Fraction(-1))


@pytest.mark.parametrize(
    ("found", "memorized", "all_of_them"),
    [
        ([True, True], 2, True),
        ([True, False], 1, False),
        ([False, False], 0, False),
        ([None, False], None, False),
        ([None, True], None, None),
        ([None, None], None, None),
    ],
)
def test_an_open_association_matters_unless_another_one_is_false(
    found: list[bool | None],
    memorized: int | None,
    all_of_them: bool | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = table({(0, 0, 0): 0, (0, 0, 1): 1})
    words = {
        transformers.memorized: memorized,
        transformers.memorizes_associations: all_of_them,
    }
    for word, wanted in words.items():
        answers = iter(found)
        monkeypatch.setattr(transformers, "answers", lambda *_, said=answers: next(said))
        if wanted is None:
            said = "^an association stays undecided at the largest precision$"
            with pytest.raises(Undecided, match=said):
                word(transformer(), pairs)
        else:
            assert word(transformer(), pairs) == wanted


# --- aot-memorization ---------------------------------------------------------------------------


def asked(kind: str, **fields: Any) -> Verdict:
    return check({"format": "lemmax-certificate", "version": 1, "kind": kind, **fields})


def looking(score: int, first: int, last: int) -> dict[str, Any]:
    """A head that looks from (0, 1) at (1, 0) with a score, and adds a multiple of (1, 0).

    It is ``first`` times the share of (1, 0) and ``last`` times that of (0, 1), whose score is 0.
    """
    return {
        "W_Q": [["0"], ["1"]],
        "W_K": [[str(score), "0"]],
        "W_V": [[str(first)], [str(last)]],
        "W_O": [["1", "0"]],
    }


def two_tokens(*heads: dict[str, Any]) -> dict[str, Any]:
    """After (0, 1) the logit of token 0 is what the heads add, and that of token 1 is 1."""
    unit = [["1", "0"], ["0", "1"]]
    layer = {"tokens": ["a", "b"], "unit": "1", "W_E": unit, "W_U": unit, "heads": list(heads)}
    return {"layer": layer, "pos": [["0", "0"], ["0", "0"]]}


def answer(model: dict[str, Any], target: int) -> bool | None:
    return aot_memorization.answers(Transformer(model, [[0, 1]]), [0, 1], target)


def test_shares_of_opposite_scores_add_up_to_one_and_no_precision_shows_it() -> None:
    model = two_tokens(looking(1, 1, 0), looking(-1, 1, 0))
    for target in (0, 1):
        assert answer(model, target) is None
        verdict = asked("aot-memorization", **model, pairs=[[[0, 1], target]])
        assert not verdict.holds
        assert verdict.steps[-1] == f"pair 0: undecided at {LIMITS['precision bits']} bits"


def test_a_tie_of_rational_logits_is_seen_at_once() -> None:
    """Equal scores have equal shares, known exactly: the logits are 1/2 + 1/2 and 1."""
    for target in (0, 1):
        assert answer(two_tokens(looking(0, 1, 1)), target) is False


@pytest.mark.parametrize(
    ("first", "last", "target", "truth"), [(-1, 1, 0, False), (0, 1, 1, True), (1, 1, 0, None)]
)
def test_what_depends_on_a_share_below_the_last_precision_is_open(
    first: int, last: int, target: int, truth: bool | None
) -> None:
    """With equal values, 1 and 1, it depends on no share, and no precision shows the tie."""
    assert answer(two_tokens(looking(-10, first, last)), target) is truth
    assert answer(two_tokens(looking(-10_000, first, last)), target) is None


def test_the_certificate_is_named_where_a_field_is_missing() -> None:
    with refusal("The certificate lacks the field pairs."):
        asked("aot-memorization", **two_tokens())
    with refusal("The certificate lacks the field sequences."):
        asked("aot-rank", **two_tokens())


def column(entries: list[int]) -> list[list[str]]:
    return [[str(x)] for x in entries]


def shares(bounds: list[tuple[int, int]]) -> Iterator[list[Fraction]]:
    """The shares for all choices of ends of the bounds: the extremes of means are among them."""
    for ends in itertools.product(*({low, high} for low, high in bounds)):
        yield [Fraction(w, sum(ends)) for w in ends]


@pytest.mark.parametrize("bits", [3, 30])
def test_what_is_decided_holds_for_all_weights_in_the_bounds(
    bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random models, and random bounds in the place of those of the exponentials."""
    rng, told = random.Random(bits), Counter[bool | None]()
    monkeypatch.setattr(aot_memorization, "precisions", lambda: iter([bits]))
    for n in range(400):
        S, H, wide = rng.randint(1, 3), rng.randint(1, 2), n % 3
        E, P, V, W_U = ([rng.randint(-2, 2) for _ in range(size)] for size in (3, S, H, 3))
        t, g = [rng.randrange(3) for _ in range(S)], rng.randrange(3)
        one = {"W_Q": [["1"]], "W_K": [["1"]], "W_O": [["1"]]}
        layer = {
            "tokens": ["a", "b", "c"],
            "unit": "1",
            "W_E": column(E),
            "W_U": [[str(u) for u in W_U]],
            "heads": [one | {"W_V": [[str(v)]]} for v in V],
        }
        lows = [[rng.randint(1, 9) for _ in t] for _ in V]
        bounds = [[(x, x + rng.randint(0, wide)) for x in row] for row in lows]
        given = iter(bounds)
        monkeypatch.setattr(aot_memorization, "weights", lambda *_, each=given: next(each))
        net = Transformer({"layer": layer, "pos": column(P)}, [t])
        told[said := aot_memorization.answers(net, t, g)] += 1

        x = [E[i] + p for i, p in zip(t, P, strict=True)]
        leads: list[list[Fraction]] = []
        for chosen in itertools.product(*map(shares, bounds)):
            y = Fraction(x[-1])
            for v, part in zip(V, chosen, strict=True):
                y += v * sum((a * b for a, b in zip(part, x, strict=True)), Fraction(0))
            leads.append([(W_U[g] - u) * y for j, u in enumerate(W_U) if j != g])
        least, most = ([end(part) for part in zip(*leads, strict=True)] for end in (min, max))
        if said is True:
            assert min(least) > 0
        if said is False:
            assert min(most) <= 0
        if wide == 0 and bits == 30 and min(map(abs, least)) > 0:
            assert said is (min(least) > 0)
    assert min(told[True], told[False], told[None]) >= 10


# --- aot-rank -----------------------------------------------------------------------------------


def rank_of(kind: str, **changes: Any) -> Verdict:
    """A minor of order one, of a model of two positions, with d = 2 and a head of d_vo = 1."""
    fields = {
        "layer": LAYER | {"unit": changes.pop("unit", "1"), "heads": [ONE | changes.pop("W", {})]},
        "pos": [["0", "0"], ["0", "0"]],
        "sequences": [[0, 2], [1, 2]],
        "matrix": kind,
        "at_least": 1,
        "prime": "1000003",
        "point": "5",
        "rows": [0],
        "columns": [0],
    }
    return asked("aot-rank", **fields | changes)


@pytest.mark.parametrize(("kind", "width"), [("A", 2), ("A'", 2 + 2), ("W_V A'", 2 + 1)])
def test_a_matrix_of_attention_is_as_wide_as_its_parts(kind: str, width: int) -> None:
    for column in range(width):
        assert rank_of(kind, columns=[column]).holds
    with refusal(f"An entry of lower.columns must be an integer in 0..{width - 1}, not {width}."):
        rank_of(kind, columns=[width])


POINT = "point must be in 2..prime-1; in unit ln2 it is 2 and the scores are integers."


@pytest.mark.parametrize("point", ["-1", "0", "1", "17", "18"])
def test_a_point_lies_between_one_and_the_prime(point: str) -> None:
    with refusal(POINT):
        rank_of("A'", prime="17", point=point)
    assert rank_of("A'", prime="17", point="2").holds
    assert rank_of("A'", prime="17", point="16").holds


def test_in_unit_ln2_the_point_is_two_and_scores_are_integers() -> None:
    assert rank_of("A'", unit="ln2", point="2").holds
    half = {"W_K": [["1/2", "0"]]}
    assert rank_of("A'", W=half).holds
    for changes in ({"point": "3"}, {"point": "2", "W": half}, {"point": "3", "W": half}):
        with refusal(POINT):
            rank_of("A'", unit="ln2", **changes)


def test_a_sum_of_powers_that_vanishes_mod_the_prime_shows_nothing() -> None:
    """From (3, 2) the scores of (1, 0) and of (3, 2) are 3 and 9: 2^3 (1 + 2^6) = 0 mod 13."""
    verdict = rank_of("A", prime="13", point="2")
    assert not verdict.holds
    assert verdict.steps[-1] == "a normalising sum is zero mod 13"
