"""Models certified fact by fact: never another model, and a reason for what is not known."""

from __future__ import annotations

import base64
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lemmax import checker
from lemmax.checker.coded.arrays import tables
from lemmax.checker.limits import LIMITS, metered
from lemmax.checker.models.network import Arrays, Network
from lemmax.numerics import certify
from lemmax.numerics.certifying import certify as certifying
from lemmax.numerics.certifying.architecture import Architecture
from lemmax.numerics.certifying.reading import read_transformer
from lemmax.numerics.certifying.transformer import shortest, sinusoidal
from lemmax.theory import Database
from lemmax.theory.errors import LemmaxError, ShapeError


def hooked(seed: int, blocks: int = 1, d: int = 4, tokens: int = 12, **more: Any) -> dict[str, Any]:
    """Random weights with the names and shapes of TransformerLens: two heads of width three."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> Any:
        return rng.normal(size=shape).astype(np.float32)

    arrays = {"embed.W_E": normal(tokens, d), "unembed.W_U": normal(d, tokens)}
    for b in range(blocks):
        at = f"blocks.{b}.attn"
        arrays |= {f"{at}.W_{x}": normal(2, d, 3) for x in "QKV"} | {f"{at}.W_O": normal(2, 3, d)}
        if "biases" in more:
            arrays |= {f"{at}.b_{x}": normal(2, 3) for x in "QKV"} | {f"{at}.b_O": normal(d)}
        if "norms" in more:
            arrays |= {f"blocks.{b}.ln1.{x}": normal(d) for x in "wb"}
        if "mlp" in more:
            arrays |= {f"blocks.{b}.mlp.W_in": normal(d, 7), f"blocks.{b}.mlp.W_out": normal(7, d)}
            arrays |= {f"blocks.{b}.mlp.b_in": normal(7), f"blocks.{b}.mlp.b_out": normal(d)}
    if "positions" in more:
        arrays["pos_embed.W_pos"] = normal(5, d)
    if "norms" in more:
        arrays |= {f"ln_final.{x}": normal(d) for x in "wb"}
    return arrays


BARE: dict[str, Any] = {"norm": "none"}
QUESTIONS = [(k, q) for k in range(6) for q in range(6, 12)]


@pytest.mark.parametrize("part", ["biases", "positions", "norms", "mlp"])
def test_every_part_of_a_model_counts(part: str) -> None:
    """What decides is the model with that part: without it other facts would be known."""
    weights = hooked(3, **{part: True})
    options: dict[str, Any] = {"activation": "gelu"} | ({} if part == "norms" else BARE)
    model = read_transformer(weights, Architecture(**options))
    said = model.float_logits(QUESTIONS).argmax(-1)
    facts = [(k, q, int(v)) for (k, q), v in zip(QUESTIONS, said, strict=True)]
    result = certify(weights, facts, **options)
    assert result.share == 1
    assert checker.check(result.certificate()).holds
    names = [name for name in weights if name not in hooked(3)]
    bare = certify(weights, facts, ignore=names, norm="none")
    assert 0 < len(bare.known) < len(facts)
    assert checker.check(bare.certificate()).steps[1].startswith("left out of the model")
    for name in names:
        with pytest.raises(LemmaxError, match="no place among the names of transformer-lens"):
            certify({f"odd.{n}" if n == name else n: a for n, a in weights.items()}, facts)


def test_every_fact_has_bounds_or_a_reason() -> None:
    """Token 1 leads after (0, 1), token 2 ties with it, and token 0 is behind."""
    weights = {"W_E": [[1.0], [1.0], [1.0]], "W_U": [[1.0, 2.0, 2.0]]}
    facts = [(0, 1, 1), (1, 0, 0), (0, 0, 2)]
    tie, behind, _ = certify(weights, facts).outcomes
    assert tie.reason == "no margin against token 2 at a precision of 384 bits"
    assert behind.reason == "token 1 has the larger logit"
    assert behind.low == behind.high == -1 or (behind.low or 0) < -1 < (behind.high or 0)
    with pytest.raises(LemmaxError, match="knows none of the facts"):
        certify(weights, facts).certificate()
    ahead = certify(weights | {"W_U": [[1.0, 2.5, 2.0]]}, [(0, 1, 1)], margin="1/4")
    assert checker.check(ahead.certificate()).steps[-1].startswith("the answer's logit exceeds")
    (short,) = certify(weights | {"W_U": [[1, 2.5, 2]]}, [(0, 1, 1)], margin=0.6).outcomes
    assert short.reason == "the lead over token 2 is not larger than the margin"


def test_precision_is_raised_where_it_is_needed() -> None:
    """A lead of 2^-120 is not seen with 96 bits; the rest of the facts is decided there."""
    weights = {"W_E": [[1.0], [2.0**-120]], "W_U": [[1.0, 0.0]]}
    result = certify(weights, [(1, 0, 0), (0, 1, 0)])
    assert [o.bits for o in result.outcomes] == [96, 192]
    assert result.share == 1
    assert checker.check(result.certificate()).holds
    assert certify(weights, [(0, 1, 0)], bits=96).share == 0


def test_two_layers_with_everything_and_sequences_of_any_length() -> None:
    weights = hooked(8, blocks=2, biases=1, positions=1, norms=1, mlp=1)
    weights["blocks.0.attn.mask"] = np.tri(5, dtype=bool)
    weights["blocks.0.attn.IGNORE"] = np.array(-np.inf)
    prompts = [[0], [3, 1, 4, 1, 5], [2, 7, 1], [2, 7, 1, 8]]
    model = read_transformer(weights, Architecture(activation="gelu-tanh"))
    assert "mask causal" not in model.assumed
    with pytest.raises(LemmaxError, match=r"'blocks\.0\.attn\.mask' is a causal mask"):
        read_transformer(weights, Architecture(activation="gelu-tanh", mask="none"))
    facts = [
        (p, int(z.argmax())) for p, z in zip(prompts, model.float_logits(prompts), strict=True)
    ]
    done: list[tuple[int, int]] = []
    result = certify(
        weights, facts, activation="gelu-tanh", progress=lambda n, of: done.append((n, of))
    )
    assert result.share == 1
    assert done == [(n, 4) for n in range(1, 5)]
    assert checker.check(result.certificate()).holds
    weights["blocks.0.attn.mask"] = np.ones((5, 5), dtype=bool)
    with pytest.raises(LemmaxError, match=r"hold 'blocks\.0\.attn\.mask'"):
        certify(weights, facts, activation="gelu-tanh")
    long, other = certify(model, [([0] * 6, 1), facts[1]]).outcomes
    assert (long.known, other.known) == (False, True)
    assert long.reason == "the prompt has 6 tokens, and the model 5 positions"


def test_facts_become_prompts() -> None:
    db = Database.from_triples([("Rome", "capital-of", "Italy"), ("Oslo", "capital-of", "Norway")])
    names = ["<s>", *db.tokens]
    weights = hooked(1, tokens=len(names))
    asked = certify(weights, db, prompt="<s> {subject} {predicate}", tokens=names, norm="none")
    assert {o.prompt for o in asked.outcomes} == {
        (0, names.index(k), names.index(q)) for k, q, _ in db
    }

    def letters(text: str) -> list[int]:
        return (
            [0, *(1 + len(word) % 4 for word in text.split())] if " " in text else [5] * len(text)
        )

    spelled = certify(weights, [("Rome", "is", "I"), ("Oslo", "was", "No")], tokenize=letters,
                      prompt="{subject} {predicate}", norm="none")  # fmt: skip
    assert spelled.outcomes[0].prompt == (0, 1, 3)
    assert spelled.outcomes[1].reason == "the answer 'No' is 2 tokens, not one"


@pytest.mark.parametrize(
    ("changed", "options", "sentence"),
    [
        ({}, {"mask": "local"}, "mask is one of causal, none"),
        ({}, {"activation": "tanh"}, "activation is one of relu"),
        ({}, {"layers": 3}, "no option 'layers'"),
        ({}, {"scale": 0}, "scale is a positive number"),
        ({}, {"eps": -1}, "eps lies between 0 and 1"),
        ({}, {"heads": 3}, "The arrays have 2 heads, and 3 are asked for"),
        ({"blocks.0.attn.W_Q": np.ones((4, 6))}, {"heads": 4}, "columns that 4 heads do not share"),
        ({}, {"bits": 9}, "bits lie between 32"),
        ({}, {"tied": True}, "W_U is not the transpose of W_E"),
        ({"unembed.W_U": None}, {}, "lack W_U .tied=True"),
        ({"unembed.W_U": np.ones((4, 3))}, {}, "W_U has shape"),
        ({"blocks.0.attn.W_K": None}, {}, "Block 0 lacks W_K"),
        ({"blocks.2.attn.W_K": np.ones((2, 4, 3))}, {}, "numbered 0, 2: some are missing"),
        ({"blocks.0.mlp.W_in": np.ones((4, 3))}, {}, "Which activation"),
        ({"blocks.0.mlp.W_in": np.ones((4, 3))}, {"activation": "relu"}, "lacks W_in or W_out"),
        ({"blocks.0.ln1.w": np.ones(4)}, {}, "say norm='layer' or norm='rms'"),
        ({"blocks.0.ln1.w": np.ones(4)} | {"blocks.0.ln1.b": np.ones(4)}, {"norm": "rms"}, "bias"),
        ({"blocks.0.ln1.w": np.ones(3)}, {"norm": "rms"}, r"steps\.0\.gain has shape"),
        ({"embed.W_E": np.full((12, 4), np.nan)}, {}, "not a finite number"),
        ({}, {"prompt": "what is"}, "neither {subject} nor {predicate}"),
        ({}, {"tokens": "ab"}, "2 names for 12 tokens"),
    ],
)
def test_bad_models_are_one_sentence(changed: Any, options: Any, sentence: str) -> None:
    weights = hooked(0) | changed
    weights = {name: array for name, array in weights.items() if array is not None}
    with pytest.raises((LemmaxError, ShapeError), match=sentence):
        certify(weights, [(0, 1, 2)], **(options if "ln1" in str(changed) else BARE | options))


def test_other_sources_are_one_sentence(tmp_path: Path) -> None:
    for source, sentence in (
        (3, "A int is no model"),
        ({"x": [1.0]}, "No array has a name that is known"),
        (tmp_path / "no.npz", "cannot be read"),
    ):
        with pytest.raises(LemmaxError, match=sentence):
            certify(source, [(0, 1, 2)])
    with pytest.raises(LemmaxError, match="no token 12"):
        certify(hooked(0), [(0, 1, 12)], norm="none")
    with pytest.raises(LemmaxError, match="have the same prompt"):
        certify(hooked(0), [(0, 1, 2), (0, 1, 3)], norm="none")
    with pytest.raises(LemmaxError, match="There are no facts"):
        certify(hooked(0), [], norm="none")


def test_heads_of_the_arrays_are_not_overruled() -> None:
    """Two heads of width four could be read as four of width two: another model."""
    weights = hooked(1)
    weights |= {f"blocks.0.attn.W_{x}": np.ones((2, 4, 4)) for x in "QKVO"}
    for heads in (1, 4):
        with pytest.raises(LemmaxError, match=f"have 2 heads, and {heads} are asked for"):
            certify(weights, [(0, 1, 2)], norm="none", heads=heads)
    other = {n.replace("blocks.0", "blocks.1"): a for n, a in hooked(1).items() if "blocks" in n}
    other["blocks.1.attn.W_Q"] = np.ones((1, 4, 6))
    with pytest.raises(LemmaxError, match="2 heads in one block and 1 in another"):
        certify(weights | other, [(0, 1, 2)], norm="none")
    layer = {"W_E": np.ones((5, 3)), "W_U": np.ones((3, 5)), "W_Q": np.ones((2, 3, 2))}
    layer |= {"W_K": np.ones((2, 2, 3)), "W_V": np.ones((2, 3, 2)), "W_O": np.ones((2, 2, 3))}
    with pytest.raises(LemmaxError, match="have 2 heads, and 4 are asked for"):
        certify(layer, [(0, 1, 2)], heads=4)


def test_a_model_that_was_read_takes_no_more_options() -> None:
    model = read_transformer(hooked(1), Architecture(norm="none"))
    options: list[dict[str, Any]] = [{"mask": "none"}, {"ignore": ["W_E"]}, {"names": {"a": "b"}}]
    for option in options:
        with pytest.raises(LemmaxError, match="was read already"):
            certify(model, [(0, 1, 2)], **option)


def test_positions_and_tied_embeddings_without_arrays() -> None:
    weights = hooked(2)
    del weights["unembed.W_U"]
    said = Architecture(tied=True, positions="sinusoidal", places=9, norm="none")
    model = read_transformer(weights, said)
    assert model.tied
    assert model.places == 9
    assert np.allclose(model.arrays["W_pos"][3, :2], [np.sin(3), np.cos(3)])
    assert shortest(model.arrays["W_pos"])[0] == "F32"
    assert sinusoidal(4, 3).shape == (4, 3)
    facts = [([1, 2, 3], int(model.float_logits([[1, 2, 3]]).argmax()))]
    assert checker.check(certify(model, facts).certificate()).holds


def test_large_arrays_stand_beside_and_long_tables_are_parted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = hooked(5)
    model = read_transformer(weights, Architecture(norm="none"))
    said = model.float_logits(QUESTIONS).argmax(-1)
    facts = [(k, q, int(v)) for (k, q), v in zip(QUESTIONS, said, strict=True)]
    monkeypatch.setattr(certifying, "_INSIDE", 100)
    result = certify(model, facts)
    monkeypatch.setitem(LIMITS, "work", 3 * result.built + 5 * max(o.work for o in result.outcomes))
    with pytest.raises(LemmaxError, match="write them with save"):
        result.certificate()
    files = result.save(tmp_path / "model.json")
    assert files[0].name == "model.safetensors"
    assert len(files) > 4
    assert {path.name for path in tmp_path.iterdir()} == {path.name for path in files}
    total = 0
    for path in files[1:]:
        assert checker.check_file(path).holds
        total += len(json.loads(path.read_text(encoding="utf-8"))["facts"])
    assert total == len(facts)
    files[0].write_bytes(files[0].read_bytes()[:-4] + b"\0\0\0\0")
    with pytest.raises(checker.NotACertificate, match="does not match its digest"):
        checker.check_file(files[1])


def test_a_prompt_beyond_the_budget_is_one_fact_less(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The others are decided as if it were not there, and their certificate is checked."""
    long = [3, 1, 4, 1] * 10
    prompts = [[*long, 5], [0], [2, 7, 1, 8] * 10, [2, 7], [*long, 6], [9]]
    model = read_transformer(hooked(8, blocks=2, biases=1, norms=1))
    facts = [
        (p, int(z.argmax())) for p, z in zip(prompts, model.float_logits(prompts), strict=True)
    ]
    free = certify(model, facts)
    assert free.share == 1
    monkeypatch.setitem(LIMITS, "work", free.outcomes[0].work // 4)
    seen: list[int] = []
    result = certify(model, facts, progress=lambda n, _: seen.append(n))
    assert result.known == (facts[1], facts[3], facts[5])
    assert seen == [1, 2, 3, 4, 5, 6]
    for outcome, before in zip(result.outcomes, free.outcomes, strict=True):
        if outcome.known:
            assert (outcome.low, outcome.high) == (before.low, before.high)
        else:
            assert "more than the checker may spend" in outcome.reason
            assert outcome.low is None
    first, *rest = sorted((o for o in result.outcomes if not o.known), key=lambda o: o.prompt)
    assert first.reason.startswith("it takes")
    assert all(o.reason.startswith("not tried: a prompt of 40 tokens") for o in rest)
    for path in result.save(tmp_path / "model.json"):
        assert checker.check_file(path).holds


def test_a_model_beyond_the_memory_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """With fewer bits it may do; and with more, what was decided before stays decided."""
    model = read_transformer(hooked(8) | {"unembed.W_U": np.ones((4, 12))}, Architecture(**BARE))
    with metered() as meter:
        data = base64.b64encode(model.safetensors()).decode()
        Network(model.checked_fields(), Arrays(tables({"base64": data})), 96)
    monkeypatch.setitem(LIMITS, "memory", meter.memory - 1)
    with pytest.raises(LemmaxError, match=r"too large for the checker with 96 bits: .* Fewer bits"):
        certify(model, [([1, 2], 3)])
    assert certify(model, [([1, 2], 3)], bits=64).outcomes[0].bits == 64
    monkeypatch.setitem(LIMITS, "memory", meter.memory * 11 // 10)
    (tie,) = certify(model, [([1, 2], 3)]).outcomes
    assert tie.reason == "no margin against token 0 at a precision of 96 bits"


def test_more_bits_than_the_budget_allows_leave_the_first_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two tokens that tie are tried with 96, 192 and 384 bits; 192 are too much here."""
    weights = hooked(8) | {"unembed.W_U": np.ones((4, 12))}
    model = read_transformer(weights, Architecture(norm="none"))
    prompt = [1, 2] * 20
    free = certify(model, [(prompt, 3)], bits=192)
    limit = (free.outcomes[0].work + 2 * free.built - 1) * 10 // 9
    monkeypatch.setitem(LIMITS, "work", limit)
    (tie,) = certify(model, [(prompt, 3)]).outcomes
    assert tie.reason.startswith("no margin against token 0 at a precision of 96 bits; it takes")
    assert tie.bits == 96
    assert tie.low is not None


def test_every_part_of_a_long_table_is_within_the_limits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Beginnings that were shared with another part, or with a fact that is not known, count."""
    begin = [5, 3] * 20
    prompts = [[*begin, k, q] for k in range(6) for q in range(6, 12)]
    model = read_transformer(hooked(8, blocks=2, biases=1, norms=1))
    said = model.float_logits(prompts).argmax(-1)
    facts = [(p, int(v) if p[-2:] != [0, 6] else 0) for p, v in zip(prompts, said, strict=True)]
    free = certify(model, facts)
    assert len(free.known) == len(facts) - 1
    monkeypatch.setitem(LIMITS, "work", max(o.work for o in free.outcomes) * 3 // 2)
    files = certify(model, facts).save(tmp_path / "model.json")
    assert len(files) > 1
    for path in files:
        assert checker.check_file(path).holds


def test_a_layer_of_wongs_is_a_transformer_of_one_step() -> None:
    """Both ways of certifying agree; where shapes fit in two ways both ask."""
    rng = np.random.default_rng(4)
    shapes = {"W_E": (9, 3), "W_U": (3, 9), "W_Q": (2, 3, 2), "W_K": (2, 2, 3), "W_V": (2, 3, 1)}
    weights = {n: rng.normal(size=s) for n, s in (shapes | {"W_O": (2, 1, 3)}).items()}
    facts = [(k, q, v) for k in range(3) for q in range(3, 6) for v in [int(rng.integers(9))]]
    from lemmax.numerics import certify_layer

    assert certify(weights, facts).known == certify_layer(weights, facts).known
    half = certify(weights, facts, scale=0.5).known
    assert half == certify_layer(weights, facts, scale="1/2").known
    square = weights | {n: rng.normal(size=(1, 3, 3)) for n in ("W_Q", "W_K", "W_V", "W_O")}
    with pytest.raises(LemmaxError, match="fit the layouts"):
        certify(square, facts)
    assert certify(square, facts, layout="transformer-lens").share <= 1


def test_margins_are_bounds() -> None:
    weights = hooked(6, biases=1)
    result = certify(weights, [(k, q, 3) for k, q in QUESTIONS], norm="none")
    z = result.model.float_logits(QUESTIONS)
    for outcome, row in zip(result.outcomes, z, strict=True):
        lead = row[3] - np.delete(row, 3).max()
        assert outcome.low is not None
        assert outcome.high is not None
        assert outcome.low < outcome.high < outcome.low + Fraction(1, 10**12)
        assert float(outcome.low) == pytest.approx(lead, abs=1e-9)


def test_results_show_themselves_shortly() -> None:
    """Hundreds of facts in one line, and in a table of a dozen rows with the least margin first."""
    from lemmax.numerics import certify_layer

    weights = hooked(6)
    facts = [(k, q, 3) for k, q in QUESTIONS]
    result = certify(weights, facts, norm="none")
    assert (
        repr(result) == f"CertifiedModel({len(result.known)} of 36 facts certified, 192 parameters)"
    )
    table = result._repr_html_()
    assert table.count("<tr>") == 13
    worst = min(result.outcomes, key=lambda o: o.low or 0)
    assert table.index(f"<td>{worst.fact[0]}</td><td>{worst.fact[1]}</td>") < 300
    layer = certify_layer({"W_E": np.eye(12), "W_U": np.eye(12)}, facts, layout="wong")
    assert repr(layer) == "CertifiedLayer(0 of 36 facts certified)"
    assert layer._repr_html_().startswith("<p>0 of 36 facts certified; missed:</p><table>")
