"""Training against the parity obstruction: what no weights can do, no recorded model does."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest

from lemmax import checker
from lemmax.numerics.experiments.dana import beside as bigrams
from lemmax.numerics.experiments.dana import parity as parity
from lemmax.numerics.experiments.studies import Row, machine, recorded, rerun
from lemmax.numerics.twins.certify import known_pairs
from lemmax.theory.errors import LemmaxError


@pytest.fixture(scope="module")
def rows() -> tuple[Row, ...]:
    return recorded(parity.STUDY)[1]


def test_no_recorded_model_with_fewer_heads_than_bits_memorizes_parity(
    rows: tuple[Row, ...],
) -> None:
    fewer = [row for row in rows if parity.sizes(row)[1] < parity.sizes(row)[0]]
    assert len(fewer) == 160
    for row in fewer:
        bits, H = parity.sizes(row)
        assert row.inspected["certified"] <= parity.ceiling(bits, H) < 2**bits
        assert row.accuracy < 1


def test_as_many_heads_as_bits_memorize_it_for_some_seed(rows: tuple[Row, ...]) -> None:
    found = parity.by_sizes(rows)
    for bits, H in found:
        assert (max(found[bits, H]) == 2**bits) == (bits <= H)


@pytest.mark.parametrize("where", ["certified", "accuracy"])
@pytest.mark.parametrize(("bits", "H"), [(2, 1), (4, 2), (5, 4)])
def test_a_record_that_claims_the_impossible_is_refused(
    rows: tuple[Row, ...], bits: int, H: int, where: str
) -> None:
    """One more than possible is caught, whichever of the two numbers was changed."""
    place = next(i for i, row in enumerate(rows) if parity.sizes(row) == (bits, H))
    number = parity.ceiling(bits, H) + 1
    forged = {
        "certified": replace(rows[place], inspected={"certified": number}),
        "accuracy": replace(rows[place], accuracy=number / 2**bits),
    }[where]
    changed = [*rows[:place], forged, *rows[place + 1 :]]
    with pytest.raises(LemmaxError, match="damaged or made up"):
        parity.judge({parity.STUDY.name: changed})


def test_the_recorded_weights_do_what_the_row_says(rows: tuple[Row, ...]) -> None:
    """Two of each number of bits; the others differ in their seed only."""
    for bits in parity.BITS:
        holding = [r for r in rows if "weights" in r.inspected and parity.sizes(r)[0] == bits]
        for row in holding[:2]:
            model = parity.model_of(row)
            assert model is not None
            assert parity.sizes(row) == (bits, model.H) == (bits, bits)
            assert len(known_pairs(model, dict(parity.associations(bits)))) == 2**bits


def test_certificates_of_trained_models_pass_the_checker(rows: tuple[Row, ...]) -> None:
    files = parity.certificates({parity.STUDY.name: rows})
    assert list(files) == [f"dana-parity/{bits}-bits.json" for bits in parity.BITS]
    for text in files.values():
        assert checker.check(json.loads(text)).holds
    document = json.loads(files["dana-parity/3-bits.json"])
    document["pairs"][5][1] = 1 - document["pairs"][5][1]
    assert not checker.check(document).holds


@pytest.mark.parametrize("bits", [1, 2, 3])
def test_the_ceiling_counts_a_mistake_in_every_face(bits: int) -> None:
    """With H heads every face of H + 1 free bits has a mistake: the faces are counted."""
    for H in range(bits):
        faces = len(list(product((0, 1), repeat=bits - H - 1)))
        assert parity.ceiling(bits, H) == 2**bits - faces
    assert parity.ceiling(bits, bits) == 2**bits


def test_sizes_at_which_no_seed_succeeds_are_named(rows: tuple[Row, ...]) -> None:
    failed = [
        replace(row, accuracy=0.5, inspected={"certified": 2 ** (bits - 1)})
        if (bits, H) == (4, 5)
        else row
        for row in rows
        for bits, H in [parity.sizes(row)]
    ]
    (judgement,) = parity.judge({parity.STUDY.name: failed})
    assert "no seed that succeeds: H = 5 for 4 bits." in judgement.sentence


def test_several_rows_are_those_of_a_rerun(rows: tuple[Row, ...]) -> None:
    """Trained again and decided again: bit for bit on the same machine, within reach elsewhere."""
    pytest.importorskip("numba", reason="recorded results were compiled")
    for study, places in ((parity.STUDY, (2, 27, 206, 393)), (bigrams.STUDY, (0, 41, 118))):
        made_on, all_rows = recorded(study)
        some = [all_rows[i] for i in places]
        again = rerun(study, some)
        assert again == some or made_on != machine(), study.name
    parity.by_sizes(rerun(parity.STUDY, [row for row in rows if row.job.seed == 0][:3]))
