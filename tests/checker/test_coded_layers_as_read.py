"""What a certificate about a layer by codes must look like, and the sentences that refuse others.

The layer has one fact, (key, ask, told): the code of the value is 1, its column of W_U is 2 and -1,
and attention weighs the predicate with exp(-128).
"""

from __future__ import annotations

import base64
import json
import struct
from array import array
from collections.abc import Callable
from typing import Any

import pytest

from lemmax import checker
from lemmax.checker import NotACertificate
from lemmax.checker.coded.arrays import Table
from lemmax.checker.coded.codebooks import Codes, Layer
from lemmax.checker.kinds import float_memorization as kind
from lemmax.checker.steps import Step

Stored = tuple[str, list[int], bytes]
KEY, ASK, TOLD = range(3)
CODE = {"family": "integers", "coordinates": 1, "intercepts": 1, "factor": 1}
LINES = {"family": "envelope", "coordinates": 1, "intercepts": 2, "factor": 1, "shared": 0}
ARITHMETIC = {"weights": "bfloat16", "accumulate": "float32", "logits": "float32"}


def weights(shape: list[int], *numbers: float) -> Stored:
    """bfloat16 is the upper half of float32."""
    return "BF16", shape, b"".join(struct.pack("<f", x)[2:] for x in numbers)


def integers(shape: list[int], *numbers: int) -> Stored:
    return "I32", shape, struct.pack(f"<{len(numbers)}i", *numbers)


def names(*tokens: str) -> Stored:
    content = json.dumps(tokens).encode()
    return "U8", [len(content)], content


ARRAYS: dict[str, Stored] = {
    "W_E": weights([3, 2], 1, 0, 0, 1, 0, 0),
    "W_U": weights([2, 3], 0, 0, 2, -1, -1, -1),
    "W_Q": weights([1, 2, 1], 0, -128),
    "W_K": weights([1, 1, 2], 0, 1),
    "W_V": weights([1, 2, 1], 1, 0),
    "W_O": weights([1, 1, 2], 1, 0),
    "facts": integers([1, 3], KEY, ASK, TOLD),
    "queries": integers([1], ASK),
    "tokens": names("key", "ask", "told"),
}


def certificate(arrays: dict[str, Stored] | None = None, **changes: Any) -> dict[str, Any]:
    header, content = {}, b""
    for name, (dtype, shape, raw) in {**ARRAYS, **(arrays or {})}.items():
        ends = [len(content), len(content) + len(raw)]
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": ends}
        content += raw
    text = json.dumps(header).encode()
    inside = base64.b64encode(struct.pack("<Q", len(text)) + text + content).decode()
    stated = {"arithmetic": ARITHMETIC, "code": CODE, "arrays": {"base64": inside}, "facts": 1}
    return stated | changes


def told(**changes: Any) -> dict[str, Any]:
    """A certificate whose arrays are not reached."""
    return certificate() | {"arrays": None} | changes


def layer(facts: list[int] | None = None, queries: list[int] | None = None) -> Layer:
    """The layer, with other facts or other predicates."""
    read = kind.read(certificate())
    facts = [KEY, ASK, TOLD] if facts is None else facts
    table = Table("I32", (len(facts) // 3, 3), array("i", facts))
    asked = read.queries if queries is None else queries
    return read._replace(arrays={**read.arrays, "facts": table}, queries=asked)


def test_the_layer_recalls_its_fact() -> None:
    envelope = {"format": "lemmax-certificate", "version": 1, "kind": "float-memorization"}
    verdict = checker.check(envelope | certificate())
    assert verdict.holds, verdict.steps


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"code": CODE | {"coordinates": 65}}, "code.coordinates must be an integer in 0..64"),
        ({"code": LINES | {"intercepts": 4}}, "code.intercepts must be an integer in 0..3"),
        ({"code": CODE | {"intercepts": 3}}, "code.intercepts must be an integer in 0..2"),
        ({"code": CODE | {"factor": 2**20}}, "code.factor must be an integer in 0..1048575"),
        ({"code": CODE | {"factor": 0}}, "code.factor must be a power of two."),
        ({"code": CODE | {"factor": 12}}, "code.factor must be a power of two."),
    ],
)
def test_numbers_of_a_code_are_small(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(NotACertificate) as refusal:
        kind.read(told(**changes))
    assert str(refusal.value).startswith(sentence)


@pytest.mark.parametrize("factor", [1, 2, 2**19])
def test_factors_are_powers_of_two_up_to_their_limit(factor: int) -> None:
    assert kind.read(certificate(code=CODE | {"factor": factor})).factor == factor


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"queries": integers([0])}, "queries must not be empty."),
        ({"W_E": weights([], 1)}, "W_E must have the shape (0, 2)."),
        ({"W_E": weights([2, 3], *[0] * 6)}, "W_E must have the shape (2, 2)."),
        ({"facts": ("U8", [1, 3], bytes([KEY, ASK, TOLD]))}, "facts and queries must be integers."),
        ({"queries": ("U8", [1], bytes([ASK]))}, "facts and queries must be integers."),
    ],
)
def test_arrays_have_their_shapes_and_types(arrays: dict[str, Stored], sentence: str) -> None:
    with pytest.raises(NotACertificate) as refusal:
        kind.read(certificate(arrays))
    assert str(refusal.value) == sentence


def test_as_many_facts_as_int32_counts_are_too_many() -> None:
    with pytest.raises(NotACertificate, match=r"^facts must be an integer in 0\.\.2147483647, "):
        kind.read(certificate(facts=2**31))


def test_a_certificate_has_no_other_fields() -> None:
    with pytest.raises(NotACertificate, match=r"^The certificate has an unknown field 'more'\.$"):
        next(kind.check(told(more=1)))


@pytest.mark.parametrize("tau", ["0", "1", "3/2", "-1/2"])
def test_probabilities_lie_strictly_between_zero_and_one(tau: str) -> None:
    with pytest.raises(NotACertificate, match=r"^tau must lie strictly between 0 and 1\.$"):
        next(kind.check(told(tau=tau)))


@pytest.mark.parametrize("where", ["accumulate", "residual"])
def test_sums_and_the_stream_hold_the_weights(where: str) -> None:
    """The largest float16 is 65504, and that of bfloat16 about 2^128."""
    with pytest.raises(NotACertificate, match=rf"^{where} must hold the weights\.$"):
        next(kind.check(certificate(arithmetic=ARITHMETIC | {where: "float16"})))


def test_facts_and_predicates_are_tokens() -> None:
    """The tokens are 0, 1 and 2; the subject, the predicate and the value may be one token."""
    assert kind.named(layer()) == Step(True, "1 facts about 1 predicates")
    assert kind.named(layer([ASK, ASK, ASK])) == Step(True, "1 facts about 1 predicates")
    for queries in ([3], [-1], [ASK, ASK]):
        with pytest.raises(NotACertificate, match=r"^queries must be distinct tokens\.$"):
            kind.named(layer(queries=queries))
    with pytest.raises(NotACertificate, match=r"^facts must not be empty\.$"):
        kind.named(layer([]))
    for facts in ([KEY, ASK, 3], [-1, ASK, TOLD]):
        with pytest.raises(NotACertificate, match=r"^facts name tokens that do not exist\.$"):
            kind.named(layer(facts))


def test_questions_differ_however_many_tokens_there_are() -> None:
    """Two subjects and the last of 2^31 - 1 tokens: fractions of floats do not tell them apart."""
    most = 2**31 - 1
    known = layer([0, most - 1, 2, 1, most - 1, 2])
    many = known._replace(arrays={**known.arrays, "W_E": Table("BF16", (most, 2), array("H"))})
    assert kind.questions(many) == Step(True, "2 questions differ")
    twice = kind.questions(layer([KEY, ASK, TOLD, KEY, ASK, KEY]))
    assert twice == Step(False, "a subject and a predicate occur in two facts")


def negative_zero(entries: array[int]) -> None:
    entries[KEY * 2] = 0x8000


def another_code(entries: array[int]) -> None:
    entries[KEY * 2] = 0x4000  # 2


def recalled(damage: Callable[[array[int]], None]) -> Step:
    read = layer()
    codes = Codes(read, 1, 128, [TOLD])
    damage(read.arrays["W_E"].entries)
    return kind.recalled(read, codes)


def test_the_block_of_a_key_is_the_code_of_its_value() -> None:
    held = "1 facts: the block of the key is the code of the value"
    assert recalled(lambda entries: None) == Step(True, held)
    other = "the fact (0, 1, 2) is not held: its block is another code"
    assert recalled(another_code) == Step(False, other)
    with pytest.raises(NotACertificate, match=r"^W_E has the entry -0\.$"):
        recalled(negative_zero)
