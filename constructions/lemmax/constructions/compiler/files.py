"""Layer files: a compiled layer as its certificate or as float64 weights, and back."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from flint import fmpq, fmpz

from lemmax import checker
from lemmax.constructions.compiler.answers import Recall, recall
from lemmax.constructions.compiler.coded.compiled import CompiledByCodes
from lemmax.constructions.compiler.coded.files import load_coded, save_coded
from lemmax.constructions.compiler.compiling import CompiledDatabase
from lemmax.theory.certificates.writing import sha256, write_certificate
from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.files import regular_bytes
from lemmax.theory.numbers.matrices import Matrix
from lemmax.theory.wong.layer import AttentionLayer, Head

LARGEST_FILE = 64_000_000
"""Bytes of the largest layer file that is read."""

_LARGEST_EXPONENT = 1_000_000
_LARGEST_EXPONENTS = 100_000_000  # bits that the exponents of a file may add up to
_LARGEST_MATRIX = 2_000_000_000  # bits over a common denominator, in which products are taken
_NUMBER = re.compile(
    r"(?P<numerator>0|-?[1-9][0-9]{0,3999})(?:/(?P<denominator>[1-9][0-9]{0,3999}))?"
    r"|(?P<mantissa>-?0x(?:0|[1-9a-f][0-9a-f]{0,399999}))(?:p(?P<exponent>0|-?[1-9][0-9]{0,6}))?"
)
_DOCUMENT = ("format", "version", "kind", "layer", "facts", "criterion")
_LAYER = ("tokens", "unit", "W_E", "W_U", "heads")
_HEAD = ("W_Q", "W_K", "W_V", "W_O")
_DIGEST = "sha256 "


def save(compiled: CompiledDatabase | CompiledByCodes, path: str | Path) -> None:
    """Write a compiled layer: ``.json`` is its certificate, ``.safetensors`` its float64 weights.

    The JSON file is a memorization certificate as it is, so the checker reads it; its note holds
    a digest by which :func:`load_layer` notices an edited file. A layer by codes is written as two
    files, its float-memorization certificate and its arrays in their own format.
    """
    path = Path(path)
    if isinstance(compiled, CompiledByCodes) and path.suffix in (".json", ".safetensors"):
        save_coded(compiled, path.with_suffix(".json"))
    elif isinstance(compiled, CompiledByCodes):
        raise LemmaxError(f"{path}: a layer is written as .json or .safetensors.")
    elif path.suffix == ".json":
        certificate = compiled.certificate()
        write_certificate(path, {**certificate, "note": f"{_DIGEST}{sha256(certificate)}"})
    elif path.suffix == ".safetensors":
        from lemmax.constructions.exports import write_safetensors

        write_safetensors(compiled.layer, path)
    else:
        raise LemmaxError(f"{path}: a layer is written as .json or .safetensors.")


def load_layer(path: str | Path) -> AttentionLayer:
    """Read the layer of a memorization certificate; refuse one that was cut or edited.

    A file that :func:`save` wrote carries a digest, which must fit. Any other certificate, such as
    that of a trained layer, must be accepted by the checker: the layer knows the facts that stand
    beside it. What is not a certificate is refused with one sentence, before it can cost much.
    A layer by codes is read from its certificate and the arrays beside it, if the checker accepts.
    """
    return load(path)[0]


def is_coded(path: str | Path) -> bool:
    """Whether a file says that it is the certificate of a layer by codes."""
    return b'"kind":"float-memorization"' in regular_bytes(path, LARGEST_FILE)


def ask_file(path: str | Path, key: str, query: str) -> tuple[Recall, bool]:
    """What the layer of a file answers, and whether its certificate is about this question.

    Cost: that of reading the file, and for a layer by codes of checking it: a million facts take
    some seconds. Other layers are compared token by token.
    """
    if is_coded(path):
        stored = load_coded(path)
        return stored.recall(key, query), stored.is_fact(key, query)
    layer, known = load(path)
    return recall(layer, key, query), known is not None and (key, query) in known


def load(path: str | Path) -> tuple[AttentionLayer, Database | None]:
    """The layer of a file, as :func:`load_layer` reads it, and the facts that it knows.

    A layer by codes comes without its facts, which are many.
    """
    if is_coded(path):
        return load_coded(path).layer, None
    document = _document(path)
    note = document.pop("note", "")
    try:
        if isinstance(note, str) and note.startswith(_DIGEST):
            if note != f"{_DIGEST}{sha256(document)}":
                raise LemmaxError(f"{path} was edited: its contents do not match its digest.")
            layer = read_layer(document["layer"])
            return layer, _facts(path, layer, document["facts"])
        layer = read_layer(document["layer"])
        verdict = checker.check({**document, "note": note})
    except checker.NotACertificate as error:
        raise LemmaxError(f"{path} is not a layer file: {error}") from None
    except LemmaxError as error:
        raise LemmaxError(str(error) if str(path) in str(error) else f"{path}: {error}") from None
    if not verdict.holds:
        raise LemmaxError(f"{path} was edited, or never held: {verdict.steps[-1].rstrip('.')}.")
    return layer, _facts(path, layer, document["facts"])


def _facts(path: str | Path, layer: AttentionLayer, places: object) -> Database:
    """The facts of a certificate, which writes tokens as their numbers."""
    numbers, facts = range(len(layer.tokens)), []
    for fact in places if isinstance(places, list) else [None]:
        if (
            not isinstance(fact, list)
            or len(fact) != 3
            or not all(type(t) is int and t in numbers for t in fact)
        ):
            raise LemmaxError(f"{path} is not a layer file: a fact is three numbers of tokens.")
        facts.append((layer.tokens[fact[0]], layer.tokens[fact[1]], layer.tokens[fact[2]]))
    try:
        return Database.from_triples(facts)
    except LemmaxError as error:
        raise LemmaxError(f"{path} is not a layer file: {error}") from None


def _document(path: str | Path) -> dict[str, Any]:
    """The JSON object of a file, with the fields of a memorization certificate."""

    def refuse(text: str) -> Any:
        raise ValueError(text)

    def fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(pairs) if len(dict(pairs)) == len(pairs) else refuse("a field occurs twice")

    data = regular_bytes(path, LARGEST_FILE)
    try:
        document = json.loads(
            data.decode(), object_pairs_hook=fields, parse_float=refuse, parse_constant=refuse
        )
        exponents = _exponents(document)
    except (ValueError, RecursionError):
        raise LemmaxError(f"{path} is not a layer file: it is cut short or not JSON.") from None
    if exponents > _LARGEST_EXPONENTS:
        raise LemmaxError(f"{path} is not a layer file: its exponents are too large.")
    if (
        not isinstance(document, dict)
        or document.keys() - {"note"} != set(_DOCUMENT)
        or document["format"] != "lemmax-certificate"
        or document["kind"] != "memorization"
        or document["version"] is True
        or document["version"] != 1
    ):
        raise LemmaxError(f"{path} is not a layer file.")
    return document


def _exponents(value: object) -> int:
    """The sum of |b| over all numbers a·2^b, wherever they stand: what they take in memory.

    Raises UnicodeEncodeError, a ValueError, for half a character: JSON can spell it.
    """
    if isinstance(value, dict):
        return sum(_exponents(name) + _exponents(item) for name, item in value.items())
    if isinstance(value, list):
        return sum(map(_exponents, value))
    if not isinstance(value, str):
        return 0
    value.encode()
    dyadic = _NUMBER.fullmatch(value)
    return abs(int(dyadic["exponent"] or 0)) if dyadic else 0


def read_layer(value: object) -> AttentionLayer:
    """The layer that a certificate carries, in the strict grammar of certificates.

    >>> fields = {"tokens": ["a"], "unit": "1", "W_E": [["1/2"]], "W_U": [["-3"]], "heads": []}
    >>> read_layer(fields).W_E
    Matrix([['1/2']])
    >>> read_layer(fields | {"W_U": [["1e9"]]})
    Traceback (most recent call last):
    ...
    lemmax.theory.errors.LemmaxError: W_U has the entry '1e9', which is not an exact number.
    """
    data = _fields(value, "The layer", _LAYER)
    tokens = data["tokens"]
    if not isinstance(tokens, list) or not all(isinstance(t, str) and t for t in tokens):
        raise LemmaxError("The tokens of a layer are a list of nonempty strings.")
    if not isinstance(data["heads"], list):
        raise LemmaxError("The heads of a layer are a list.")
    embedding, unembedding = (_matrix(data[name], name) for name in ("W_E", "W_U"))
    heads = [
        Head(*(_matrix(_fields(head, f"Head {number}", _HEAD)[name], name) for name in _HEAD))
        for number, head in enumerate(data["heads"], 1)
    ]
    return AttentionLayer(tokens, embedding, unembedding, heads, data["unit"])


def _fields(value: object, what: str, names: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict) or value.keys() != set(names):
        raise LemmaxError(f"{what} is not an object with the fields {', '.join(names)}.")
    return value


def _matrix(value: object, name: str) -> Matrix:
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise LemmaxError(f"{name} is not a list of rows.")
    rows = [[_number(x, name) for x in row] for row in value]
    common, entries = fmpz(1), sum(map(len, rows))
    for denominator in {x.q for row in rows for x in row}:
        common = common.lcm(denominator)
        if common.bit_length() * entries > _LARGEST_MATRIX:
            raise LemmaxError(f"{name} is too large over a common denominator.")
    return Matrix(rows)


def _number(value: object, name: str) -> fmpq:
    """The inverse of :func:`lemmax.theory.certificates.writing.number`."""
    parts = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    if parts is None:
        shown = repr(value) if len(repr(value)) <= 40 else f"{repr(value)[:40]}…"
        raise LemmaxError(f"{name} has the entry {shown}, which is not an exact number.")
    if parts["mantissa"] is not None:
        exponent = int(parts["exponent"] or 0)
        if abs(exponent) > _LARGEST_EXPONENT:
            raise LemmaxError(f"{name} has an exponent beyond {_LARGEST_EXPONENT}.")
        power = fmpz(2) ** abs(exponent)
        mantissa = fmpz(int(parts["mantissa"], 16))
        return fmpq(mantissa * power) if exponent >= 0 else fmpq(mantissa, power)
    exact = fmpq(int(parts["numerator"]), int(parts["denominator"] or 1))
    if parts["denominator"] is not None and str(exact) != value:
        raise LemmaxError(f"{name} has a fraction that is not in lowest terms.")
    return exact
