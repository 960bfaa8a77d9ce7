"""The kinds aot-memorization, aot-rank and kl-interval: nothing false or damaged is accepted."""

import copy
import json
import random
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from flint import arb, ctx, fmpq
from jsonschema import Draft202012Validator

from lemmax import checker
from lemmax.constructions import associative_memory, best_encoder
from lemmax.constructions.dana.counterexamples import identity_table_on_a_line
from lemmax.constructions.dana.encoders import kl_certificate, sequence_encoder
from lemmax.theory.certificates.writing import to_json
from lemmax.theory.dana.encoders import SequenceEncoder, Table
from lemmax.theory.dana.generic import generic_aot
from lemmax.theory.dana.transformer import AoT, AoTHead
from lemmax.theory.dana.transformer_rank import aot_rank
from lemmax.theory.numbers.balls import rational_above, rational_below
from lemmax.theory.numbers.matrices import Matrix

Certificate = dict[str, Any]
FOLDER = Path(checker.__file__).parents[1] / "theory" / "certificates" / "schemas"
KINDS = ("aot-memorization", "aot-rank", "kl-interval")


def plain(certificate: Certificate) -> Certificate:
    read: Certificate = json.loads(to_json(certificate))
    return read


def valid() -> list[Certificate]:
    pairs = {(a, b): (a + b) % 3 for a, b in product(range(3), repeat=2)}
    memory = associative_memory(pairs, H=6, d_h=2, tokens=range(3))
    sequences = list(product(range(3), repeat=2))
    ranks = [
        aot_rank(generic_aot(3, 2, 2, 2, 2, size=9), sequences, which)
        for which in ("A", "A'", "W_V A'")
    ]
    table = Table([["4/5", "1/10", "1/10"], ["1/10", "4/5", "1/10"], ["1/10", "1/10", "4/5"]])
    return [
        plain(c)
        for c in (
            memory.certificate(),
            *(r.certificate() for r in ranks),
            best_encoder(table, 1, leaves=12).certificate(),
            identity_table_on_a_line(),
            sequence_encoder(Table([[1, 0], [0, 1]])).certificate(),
        )
    ]


VALID = valid()


@pytest.mark.parametrize("certificate", VALID, ids=lambda c: str(c["kind"]))
def test_valid_certificates_hold_and_match_their_schema(certificate: Certificate) -> None:
    assert checker.check(certificate).holds
    schema = json.loads((FOLDER / f"{certificate['kind']}.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(certificate)


def random_model(rng: random.Random, unit: Any) -> AoT:
    def table(m: int, n: int) -> Matrix:
        return Matrix([[rng.randint(-2, 2) for _ in range(n)] for _ in range(m)])

    d, S, H = rng.randint(1, 2), rng.randint(1, 3), rng.randint(0, 2)
    heads = tuple(AoTHead(table(1, d), table(1, d), table(1, d), table(d, 1)) for _ in range(H))
    return AoT(("a", "b", "c"), table(3, d), table(S, d), table(3, d), heads, unit)


def direct_logits(model: AoT, t: tuple[int, ...]) -> list[arb]:
    """Equations (1) and (2) term by term in balls, without the library's shortcuts."""
    with ctx.workprec(600):
        unit = arb(2).log() if model.unit == "ln2" else arb(1)
        e, pos, W_U = (m.rows() for m in (model.e, model.pos, model.W_U))
        d = model.d
        x = [[arb(fmpq(int(e[i][k] + pos[s][k]))) for k in range(d)] for s, i in enumerate(t)]
        y = list(x[-1])
        for head in model.heads:
            Q, K, V, out = (m.rows() for m in (head.W_Q, head.W_K, head.W_V, head.W_O))
            query = [sum((int(r[k]) * x[-1][k] for k in range(d)), arb(0)) for r in Q]
            weights = []
            for v in x:
                key = [sum((int(r[k]) * v[k] for k in range(d)), arb(0)) for r in K]
                score = sum((a * b for a, b in zip(query, key, strict=True)), arb(0))
                weights.append((unit * score).exp())
            total = sum(weights, arb(0))
            mean = [
                sum((w * v[k] for w, v in zip(weights, x, strict=True)), arb(0)) / total
                for k in range(d)
            ]
            value = [sum((int(r[k]) * mean[k] for k in range(d)), arb(0)) for r in V]
            for k in range(d):
                y[k] += sum((int(a) * b for a, b in zip(out[k], value, strict=True)), arb(0))
        return [sum((int(r[k]) * y[k] for k in range(d)), arb(0)) for r in W_U]


def test_aot_memorization_agrees_with_the_definition_on_random_claims() -> None:
    """Random models and targets, most of them wrong; ties are never accepted."""
    rng = random.Random(123)
    false = true = 0
    for k in range(400):
        model = random_model(rng, "ln2" if k % 2 else "1")
        t = tuple(rng.randrange(3) for _ in range(model.S))
        g = rng.randrange(3)
        logits = direct_logits(model, t)
        others = [z for j, z in enumerate(logits) if j != g]
        wins = all(logits[g] > z for z in others)
        loses = any(logits[g] < z for z in others)
        fields = model.certificate_fields() | {"pairs": [[list(t), g]]}
        certificate = {"format": "lemmax-certificate", "version": 1, "kind": KINDS[0], **fields}
        if not wins and not loses:
            continue  # a tie (or too close): below
        assert checker.check(plain(certificate)).holds == wins
        false, true = false + loses, true + wins
    assert false > 100
    assert true > 50


def test_aot_memorization_never_accepts_a_tie() -> None:
    model = AoT(("a", "b"), Matrix([[1], [2]]), Matrix([[0], [0]]), Matrix([[1], [1]]))
    fields = model.certificate_fields() | {"pairs": [[[0, 1], 0]]}
    certificate = {"format": "lemmax-certificate", "version": 1, "kind": KINDS[0], **fields}
    assert not checker.check(plain(certificate)).holds


def test_aot_rank_refuses_more_than_the_rank() -> None:
    """On random small models one more than the exact rank never passes, whatever the minor."""
    rng = random.Random(5)
    tried = 0
    for seed in range(90):
        N, S, d, H = rng.randint(2, 3), rng.randint(1, 2), rng.randint(1, 2), rng.randint(1, 2)
        sequences = list(product(range(N), repeat=S))
        found = aot_rank(generic_aot(N, S, d, 1, H, seed, size=4), sequences)
        if found.rank is None:
            continue
        certificate = plain(found.certificate())
        more = found.rank + 1
        if more > min(len(sequences), d + H):
            continue
        for _ in range(4):
            certificate["at_least"] = more
            certificate["rows"] = sorted(rng.sample(range(len(sequences)), more))
            certificate["columns"] = sorted(rng.sample(range(d + H), more))
            assert not checker.check(certificate).holds
            tried += 1
        certificate |= plain(found.certificate()) | {"at_least": more}
        assert not checker.check(certificate).holds
    assert tried >= 100


def test_kl_interval_refuses_narrower_ends() -> None:
    """Ends moved inwards beyond the truth, known from flint's balls, are never accepted."""
    rng = random.Random(77)
    refused = 0
    for _ in range(120):
        N, T, d = rng.randint(2, 4), rng.randint(1, 3), rng.randint(1, 2)
        rows = []
        for _ in range(T):
            weights = [rng.randint(0, 5) for _ in range(N)]
            weights[rng.randrange(N)] += 1
            rows.append([fmpq(w, sum(weights)) for w in weights])
        table = Table(rows)
        W = Matrix([[rng.randint(-3, 3) for _ in range(d)] for _ in range(N)])
        E = Matrix([[rng.randint(-3, 3) for _ in range(d)] for _ in range(T)])
        encoder = SequenceEncoder(W, E)
        value = encoder.divergence(table)
        good = plain(kl_certificate(table, encoder, rational_above(value), ()))
        assert checker.check(good).holds
        bad = rational_below(value, 30) - fmpq(1, 2**30)
        assert not checker.check(good | {"upper": good["upper"] | {"value": str(bad)}}).holds
        assert not checker.check(good | {"lower": {"value": "1/1000000", "blocks": []}}).holds
        refused += 2
    assert refused >= 200


def test_kl_interval_refuses_false_lower_bounds() -> None:
    """The true infimum of the identity table on a line is (log 2)/3 < 232/1000."""
    good = plain(identity_table_on_a_line())
    lower = good["lower"]
    assert not checker.check(good | {"lower": lower | {"value": "1061/5000"}}).holds
    rng = random.Random(8)
    for _ in range(100):
        nodes = copy.deepcopy(lower["blocks"][0]["nodes"])
        for node in nodes:
            if isinstance(node, dict):
                node["mu"] = [str(fmpq(rng.randint(-8, 8), 8)) for _ in range(3)]
        block = {"tokens": [0, 1, 2], "nodes": nodes}
        verdict = checker.check(good | {"lower": {"value": "29/125", "blocks": [block]}})
        assert not verdict.holds


@pytest.mark.parametrize(
    "change",
    [
        {"prior": ["1/2", "1/2", "1/2"]},
        {"prior": ["1/2", "1/2"]},
        {"table": [["1", "1", "0"], ["0", "1", "0"], ["0", "0", "1"]]},
        {"table": [["2", "-1", "0"], ["0", "1", "0"], ["0", "0", "1"]]},
        {"d": 2},
        {"d": True},
        {"d": "1"},
        {"extra": "1"},
        {"lower": {"value": "0", "blocks": [{"tokens": [0, 1], "nodes": [{"mu": ["0"] * 3}]}]}},
        {"lower": {"value": "0", "blocks": [{"tokens": [0, 1, 2], "nodes": [{"mu": ["0"] * 3}]}]}},
        {"lower": {"value": "0", "blocks": [{"tokens": [0, 1, 2], "nodes": [[0, 0]]}]}},
        {"lower": {"value": "0", "blocks": [{"tokens": [0, 1, 2], "nodes": [[0, 2]]}]}},
        {
            "lower": {
                "value": "0",
                "blocks": [{"tokens": [0, 1, 2], "nodes": [{"mu": ["0"] * 3}] * 3}],
            }
        },
        {
            "lower": {
                "value": "0",
                "blocks": [{"tokens": [0, 1, 2], "nodes": [{"mu": ["0"] * 2}] * 2}],
            }
        },
        {
            "lower": {
                "value": "0",
                "blocks": [{"tokens": [0, 1, 2], "nodes": [{"mu": ["0"] * 3}] * 2}] * 2,
            }
        },
    ],
)
def test_kl_interval_that_is_malformed(change: dict[str, Any]) -> None:
    with pytest.raises(checker.NotACertificate):
        checker.check(plain(identity_table_on_a_line()) | change)


NONSENSE: tuple[Any, ...] = (None, True, 1.5, [], {}, "", -1, 2**60, "007", "1/0")


def damages(value: Any) -> Iterator[Any]:
    """The value with one part replaced by nonsense, at every depth (first and last of a list)."""
    for wrong in NONSENSE:
        if wrong != value:
            yield wrong
    if isinstance(value, dict):
        yield {**value, "extra": "1"}
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
            if key == "tokens" and "W_E" in value:
                continue  # any other names will do
            for part in damages(value[key]):
                yield {**value, key: part}
    elif isinstance(value, list) and value:
        for i in {0, len(value) - 1}:
            for part in damages(value[i]):
                yield [*value[:i], part, *value[i + 1 :]]


@pytest.mark.parametrize("certificate", VALID, ids=lambda c: str(c["kind"]))
def test_damaged_certificates_are_never_accepted(certificate: Certificate) -> None:
    allowed = {"heads", "blocks", "note", "tokens"}  # empty lists or other names may be legal there
    count = 0
    for key in certificate:
        if key in allowed:
            continue
        for part in damages(certificate[key]):
            damaged = {**certificate, key: part}
            if damaged == certificate:
                continue
            try:
                verdict = checker.check(damaged)
            except checker.NotACertificate:
                count += 1
                continue
            if verdict.holds:
                # the only harmless changes: other names, no heads read, no lower bound asked for
                assert harmless(certificate, damaged), (key, part)
            count += 1
    assert count > 100


def harmless(good: Certificate, damaged: Certificate) -> bool:
    """Whether a change that passes still states something true and well formed."""
    if good["kind"] == "kl-interval":
        return bool(damaged["lower"]["blocks"] == [] and damaged["lower"]["value"] == "0") or (
            damaged["lower"]["value"] == "-1" or damaged["upper"] == good["upper"]
        )
    return False
