"""The edges of files of arrays, and of the numbers that their bits spell.

A file is the length of its header in eight bytes, the header, and the bytes that its places count.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from benchmarks.corpus import counted

from lemmax.checker import NotACertificate, files, limits
from lemmax.checker.coded import arrays
from lemmax.checker.coded.floats import FORMATS, SHIFT, length, trailing, value, values


def file_of(header: object, content: bytes = b"", more: int = 0) -> bytes:
    """A file whose header is said to be longer than it is by so many bytes."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) + more) + text + content


def entry(**changes: Any) -> dict[str, Any]:
    return {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]} | changes}


def inside(data: bytes) -> dict[str, str]:
    return {"base64": base64.b64encode(data).decode()}


def refused(value: object, sentence: str, names: str | None = None) -> None:
    with pytest.raises(NotACertificate, match=f"^{re.escape(sentence)}$"):
        arrays.tables(value, names)


# --- headers -------------------------------------------------------------------------------------


def test_a_header_is_as_long_as_it_says_and_of_at_most_100_000_bytes() -> None:
    assert arrays.tables(inside(file_of({}))) == {}
    assert arrays.tables(inside(file_of(b"{}".ljust(100_000), b"more"))) == {}
    for wrong in (
        file_of({}, more=1),
        file_of({}, more=8),
        file_of({}, more=2**63),
        file_of(b"{}".ljust(100_001), b"more"),
        file_of(b""),
        struct.pack("<Q", 0)[:7],
        b"",
    ):
        refused(inside(wrong), "The arrays have no header.")


def test_arrays_have_exactly_the_names_that_are_given() -> None:
    one = inside(file_of(entry(), bytes(4)))
    assert arrays.tables(one, "a").keys() == arrays.tables(one).keys() == {"a"}
    assert arrays.tables(inside(file_of({})), "") == {}
    told = "The header of the arrays"
    refused(one, f"{told} has an unknown field 'a'.", "")
    refused(one, f"{told} lacks the field b.", "a b")
    refused(inside(file_of([])), f"{told} must be an object, not a list.")


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ({"a": 5}, "The entry 'a' must be an object, not 5."),
        ({"a": {}}, "The entry 'a' lacks the field dtype."),
        (entry(shape=""), "The entry 'a' is not an array of a known type."),
        (entry(shape="1"), "The entry 'a' is not an array of a known type."),
        (entry(shape={}), "The entry 'a' is not an array of a known type."),
        (entry(data_offsets="04"), "The entry 'a' is not an array of a known type."),
        (entry(data_offsets={}), "The entry 'a' is not an array of a known type."),
        (entry(dtype="F8"), "The entry 'a' is not an array of a known type."),
        (entry(dtype=32), "The entry 'a' is not an array of a known type."),
        (entry(shape=[-1]), "The shape of 'a' must be an integer in 0..2147483647, not -1."),
        (entry(shape=[2**31]), "The shape of 'a' must be an integer in 0..2147483647, not "
                               "2147483648."),
        (entry(data_offsets=[-4, 0]), "The place of 'a' must be an integer in 0.."
                                      "9007199254740991, not -4."),
        *((entry(shape=[n], data_offsets=place), "The entry 'a' does not fit its shape.")
          for n in (0, 1) for place in ([], [0], [0, 4, 8])),
    ],
)  # fmt: skip
def test_an_entry_has_a_type_a_shape_and_two_ends(header: object, sentence: str) -> None:
    refused(inside(file_of(header, bytes(8))), sentence)


def test_an_array_may_be_a_single_number_or_empty() -> None:
    found = arrays.tables(inside(file_of(entry(shape=[]), bytes(4))))["a"]
    assert (found.shape, list(found.entries)) == ((), [0])
    found = arrays.tables(inside(file_of(entry(shape=[2, 0], data_offsets=[4, 4]), bytes(4))))["a"]
    assert (found.shape, list(found.entries)) == ((2, 0), [])


@pytest.mark.parametrize("order", ["little", "big"])
def test_the_last_byte_counts_most_whatever_the_machine(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes are turned around on a machine of the other order, and only there."""
    data = inside(file_of(entry(dtype="I32"), bytes([1, 2, 3, 4])))
    assert list(arrays.tables(data)["a"].entries) == [0x04030201]
    monkeypatch.setattr(arrays, "sys", SimpleNamespace(byteorder=order))
    number = 0x04030201 if order == sys.byteorder else 0x01020304
    assert list(arrays.tables(data)["a"].entries) == [number]


def test_numbers_of_another_width_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(arrays._CODES, "F32", ("Q", 4))
    data = inside(file_of(entry(), bytes(4)))
    refused(data, "The entry 'a' cannot be read on this machine.")


# --- where arrays stand --------------------------------------------------------------------------


def test_arrays_inside_of_a_certificate_are_strict_base64() -> None:
    right = inside(file_of({}))
    assert arrays.tables(right) == {}
    refused(right | {"file": "x"}, "arrays has an unknown field 'file'.")
    refused({"base64": 5}, "arrays.base64 must be a string.")
    for stray in (" ", "\n", "!", "-", "=", "é"):
        text = right["base64"][:4] + stray + right["base64"][4:]
        refused({"base64": text}, "arrays.base64 is not base64.")
    refused({"base64": right["base64"][:-1]}, "arrays.base64 is not base64.")


def named(data: bytes, **changes: Any) -> dict[str, Any]:
    digest = hashlib.sha256(data).hexdigest()
    return {"file": "arrays", "sha256": digest, "bytes": len(data)} | changes


def test_arrays_beside_a_certificate_have_a_name_a_digest_and_a_size(tmp_path: Path) -> None:
    data = file_of({})
    (tmp_path / "arrays").write_bytes(data)
    refused(named(data), "arrays.file is read only for a certificate that is itself a file.")
    with files.beside(tmp_path / "certificate"):
        assert arrays.tables(named(data)) == {}
        right = named(data)["sha256"]
        for digest in (right[1:], right + "0", right.upper(), "g" * 64, right + "\n", 5, None):
            refused(named(data, sha256=digest), "arrays.sha256 must be 64 hexadecimal digits.")
        for size in (-1, 250_000_001, "10", True):
            told = {"10": "'10'"}.get(str(size), size)
            sentence = f"arrays.bytes must be an integer in 0..250000000, not {told}."
            refused(named(data, bytes=size), sentence)
        wrong = "The file 'arrays' does not match its digest."
        refused(named(data, bytes=len(data) + 1), wrong)
        refused(named(data, bytes=250_000_000), wrong)
        refused(named(data, sha256="0" * 64), wrong)
        for name in ("", ".arrays", "../arrays", "a/b", "a" * 201, 5):
            sentence = "arrays.file must be the name of a file beside the certificate."
            refused(named(data, file=name), sentence)


def test_a_file_of_arrays_is_charged_for_its_digest_and_its_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """439 bytes: 21 units for the digest, 54 to read them; 21 numbers, asked for and then kept."""
    data = file_of({}).ljust(439, b"\0")
    (tmp_path / "arrays").write_bytes(data)
    with files.beside(tmp_path / "certificate"):
        with counted() as bill:
            arrays.tables(named(data))
        assert bill.sums == {"work": 21 + 54, "memory": 2 * 40 * 21}
        monkeypatch.setitem(limits.LIMITS, "work", 20)
        with limits.metered(), pytest.raises(limits.BeyondLimits, match=r"^The digest brings"):
            arrays.tables(named(data))
        monkeypatch.setitem(limits.LIMITS, "work", 74)
        with limits.metered(), pytest.raises(limits.BeyondLimits, match=r"^The arrays brings"):
            arrays.tables(named(data))


# --- numbers -------------------------------------------------------------------------------------


def test_the_largest_numbers_of_the_formats() -> None:
    largest = {name: Fraction(form.largest, 1 << SHIFT) for name, form in FORMATS.items()}
    assert largest == {
        "bfloat16": (2 - Fraction(1, 1 << 7)) * 2**127,
        "float16": 65504,
        "float32": (2 - Fraction(1, 1 << 23)) * 2**127,
    }


def spelled(word: int, form: str) -> float:
    """What the bits spell, by the machine."""
    if form == "float16":
        return float(*struct.unpack("<e", struct.pack("<H", word)))
    return float(*struct.unpack("<f", struct.pack("<I", word << 16 * (form == "bfloat16"))))


@pytest.mark.parametrize("name", FORMATS)
def test_bits_spell_what_the_machine_reads(name: str) -> None:
    """All exponents, both signs; the ends and the middle of the mantissas."""
    form = FORMATS[name]
    width = form.significand - 1
    exponents = 1 << (5 if name == "float16" else 8)
    for sign in (0, 1):
        for e in range(exponents):
            for mantissa in (0, 1, 1 << width >> 1, (1 << width) - 1):
                word = ((sign * exponents + e) << width) + mantissa
                if e == exponents - 1:
                    why = "has an entry that is not a finite number"
                elif sign and not e and not mantissa:
                    why = "has the entry -0"
                else:
                    assert Fraction(value(word, form, "W"), 1 << SHIFT) == spelled(word, name)
                    continue
                with pytest.raises(NotACertificate, match=f"^W {why}.$"):
                    values([word], form, "W")


def test_bits_of_integers() -> None:
    """12 = 4 · 3 has two significant bits, and zero has none."""
    assert [length(x) for x in (0, 1, 2, 3, 12, -12, 1 << SHIFT)] == [0, 1, 1, 2, 2, 2, 1]
    assert [trailing(x) for x in (1, -1, 12, -12, 1 << SHIFT)] == [0, 0, 2, 2, SHIFT]
