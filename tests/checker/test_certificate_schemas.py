"""The JSON Schemas describe the certificates: true ones validate, visible damage does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from lemmax import checker

FOLDER = Path(checker.__file__).parents[1] / "theory" / "certificates" / "schemas"
Certificate = dict[str, Any]


def validator(kind: str) -> Draft202012Validator:
    schema = json.loads((FOLDER / f"{kind}.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_every_kind_has_a_schema() -> None:
    assert {path.name.removesuffix(".schema.json") for path in FOLDER.glob("*.json")} >= set(
        checker.KINDS
    )


@pytest.mark.parametrize("kind", ["matrix-rank", "softmax-rank", "memorization", "refutation"])
def test_certificates_validate_and_damaged_ones_do_not(
    kind: str, valid: dict[str, list[Certificate]], damages: Any
) -> None:
    schema = validator(kind)
    seen = total = 0
    for certificate in valid[kind]:
        schema.validate(certificate)
        for name, damaged in damages(certificate):
            total += 1
            refused = not schema.is_valid(damaged)
            seen += refused
            if "gains a field" in name or " loses " in name:
                # the names of an instance are free, and so is their number
                assert refused or "instance" in name, name
    assert seen / total > 0.75  # lengths, lowest terms and the like are for the checker


def test_each_schema_refuses_the_other_kinds(valid: dict[str, list[Certificate]]) -> None:
    for kind in checker.KINDS:
        if kind not in valid:
            continue
        schema = validator(kind)
        for other, certificates in valid.items():
            for certificate in certificates:
                assert schema.is_valid(certificate) == (kind == other)
