"""Formal statements against random small instances: an alarm that rings where one is false.

For every claim that holds and is stated for all instances, some hundred instances are given to the
checker. No refutation may be accepted, and often enough the assumptions have to be true and the
conclusion has to be decided, so that silence means something.
"""

from __future__ import annotations

import ast
import json
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lemmax import checker
from lemmax.constructions.refuting import plain, sorted_tensor
from lemmax.constructions.wong.counterexamples import two_subsets
from lemmax.strategies import databases, integer_matrices
from lemmax.theory import ContextHead, Database, Matrix, multi_head
from lemmax.theory.certificates.writing import about_claim, to_json
from lemmax.theory.dana.transformer import AoT, AoTHead
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.entries import LEDGER
from lemmax.theory.ledger.statements import statement_of
from lemmax.theory.mahdavi.layer import MultiHead
from lemmax.theory.wong.layer import AttentionLayer, Head

Instance = st.SearchStrategy[dict[str, Any]]
NO_CHECKS = (HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large)
EXAMPLES = 200
DATABASES = databases(max_keys=4, max_queries=3, max_values=3)
TAUS = st.sampled_from([Fraction(1, 2), Fraction(3, 5), Fraction(3, 4), Fraction(9, 10)])
LARGE_TAUS = st.sampled_from([Fraction(11, 20), Fraction(3, 5), Fraction(3, 4), Fraction(9, 10)])


def small(rows: Any, columns: Any, bound: int = 2) -> st.SearchStrategy[Matrix]:
    return integer_matrices(rows, columns, bound)


# -- layers --------------------------------------------------------------------------------------


@st.composite
def layers_on(
    draw: st.DrawFn,
    db: Database,
    heads: int | None = None,
    d_qk: int | None = None,
    scores: int = 1,
) -> AttentionLayer:
    """A layer on the tokens of a database whose attention is rational; ``scores`` bounds W_Q."""
    tokens = tuple(dict.fromkeys(str(token) for fact in db for token in fact))
    d = draw(st.integers(1, min(3, len(tokens))))
    made = []
    for _ in range(heads or draw(st.integers(1, 2))):
        qk, vo = d_qk or draw(st.integers(1, d)), draw(st.integers(1, d))
        shapes = ((d, qk, scores), (qk, d, 1), (d, vo, 3), (vo, d, 3))
        made.append(Head(*(draw(small(*shape)) for shape in shapes)))
    W_E, W_U = draw(small(len(tokens), d)), draw(small(d, len(tokens), 3))
    return AttentionLayer(tokens, W_E, W_U, tuple(made), "ln2")


@st.composite
def layers_and_facts(
    draw: st.DrawFn,
    db: Database | None = None,
    heads: int | None = None,
    d_qk: int | None = None,
    scores: int = 1,
) -> dict[str, Any]:
    facts = db or draw(DATABASES)
    return {"L": draw(layers_on(facts, heads, d_qk, scores)), "D": facts}


@st.composite
def wide_layers(draw: st.DrawFn) -> dict[str, Any]:
    """Many keys, one or two queries: what lemmax/layer-rank-generic asks for."""
    keys, queries = draw(st.integers(4, 6)), draw(st.integers(1, 2))
    db = Database.from_triples(
        [
            (f"k{i}", f"q{j}", f"v{draw(st.integers(0, 2))}")
            for i in range(keys)
            for j in range(queries)
        ]
    )
    return {"L": draw(layers_on(db, heads=1)), "D": db}


@st.composite
def three_layers(draw: st.DrawFn) -> dict[str, Any]:
    """L with the circuits of M plus c times those of N, and the scores of both."""
    db = draw(DATABASES)
    tokens = tuple(dict.fromkeys(str(token) for fact in db for token in fact))
    n, c = len(tokens), draw(st.sampled_from([Fraction(-2), Fraction(1, 3), Fraction(5)]))
    E, U1, U2 = draw(small(n, 2)), draw(small(1, n, 3)), draw(small(1, n, 3))
    Q, K = draw(small(2, 1, 1)), draw(small(1, 2, 1))
    V1, V2 = draw(small(2, 1, 3)), draw(small(2, 1, 3))
    o1, o2 = draw(st.integers(-3, 3)), draw(st.integers(-3, 3))
    zero = [0] * n
    first, second = U1.flint.tolist()[0], U2.flint.tolist()[0]
    scaled = (fmpq(c.numerator, c.denominator) * U2).flint.tolist()[0]
    both = [[a, b] for (a,), (b,) in zip(V1.flint.tolist(), V2.flint.tolist(), strict=True)]

    def layer(V: Any, O: Any, rows: Any) -> AttentionLayer:  # noqa: E741
        return AttentionLayer(tokens, E, Matrix(rows), (Head(Q, K, V, Matrix(O)),), "ln2")

    return {
        "L": layer(Matrix(both), [[o1, 0], [0, o2]], [first, scaled]),
        "M": layer(V1, [[o1, 0]], [first, zero]),
        "N": layer(V2, [[0, o2]], [zero, second]),
        "D": db,
        "c": c,
    }


EQUALITY = Database.from_triples(
    [("1", "1", "v"), ("2", "2", "v"), ("1", "2", "w"), ("2", "1", "w")]
)
EXCLUSIVE_OR = Database.from_triples(
    [("a", "f", "v"), ("b", "g", "v"), ("a", "g", "w"), ("b", "f", "w")]
)


# -- transformers --------------------------------------------------------------------------------


@st.composite
def transformers(draw: st.DrawFn, H: int, S: int) -> AoT:
    N, d, d_h = draw(st.integers(2, 3)), draw(st.integers(1, 3)), draw(st.integers(1, 2))
    heads = tuple(
        AoTHead(*(draw(small(*shape)) for shape in ((d_h, d), (d_h, d), (d_h, d), (d, d_h))))
        for _ in range(H)
    )
    e, pos, W_U = (draw(small(n, d, 3)) for n in (N, S, N))
    return AoT(tuple(range(N)), e, pos, W_U, heads)


@st.composite
def parity_tables(draw: st.DrawFn) -> dict[str, Any]:
    H = draw(st.integers(0, 2))
    rows = [[n >> i & 1 for i in range(H + 1)] for n in range(2 ** (H + 1))]
    pairs = [[[*bits, 0], sum(bits) % 2] for bits in rows]
    return {"T": draw(transformers(H, H + 2)), "a": {"associations": pairs}}


@st.composite
def transformers_and_sequences(draw: st.DrawFn) -> dict[str, Any]:
    T = draw(transformers(draw(st.integers(0, 1)), 2))
    one = st.tuples(*[st.integers(0, T.N - 1)] * 2)
    rows = draw(st.lists(one, min_size=1, max_size=5, unique=True))
    return {"T": T, "t": {"sequences": [list(row) for row in rows]}}


# -- contexts ------------------------------------------------------------------------------------


@st.composite
def contexts(
    draw: st.DrawFn, shared: bool = True, n: int | None = None, positive: bool = False
) -> MultiHead:
    """``positive``: the first coordinate of every query is positive."""
    length = n or draw(st.integers(1, 3))
    d = draw(st.integers(length, 4))
    T, H, d_h = draw(st.integers(1, 5)), draw(st.integers(1, 2)), draw(st.integers(1, 2))
    groups = [draw(small(length, d, 9)) for _ in range(1 if shared else draw(st.integers(1, 2)))]
    queries = draw(small(T, d, 9)).flint.tolist()
    if positive:
        queries = [[abs(row[0]) + 1, *row[1:]] for row in queries]
    heads = [ContextHead(draw(small(d, d_h)), draw(small(d, d_h))) for _ in range(H)]
    given_contexts = groups[0] if shared else [groups[i % len(groups)] for i in range(T)]
    return multi_head(given_contexts, queries, heads)


def with_half_space(A: MultiHead) -> dict[str, Any]:
    d = A.queries.shape[1]
    return {"A": A, "w": Matrix([[int(i == 0)] for i in range(d)])}


# -- tensors and matrices ------------------------------------------------------------------------


@st.composite
def tensors(draw: st.DrawFn, bound: int = 1) -> list[list[list[int]]]:
    a, b, c = (draw(st.integers(1, 3)) for _ in range(3))
    entry = st.integers(-bound, bound)
    return [[[draw(entry) for _ in range(c)] for _ in range(b)] for _ in range(a)]


def written(tensor: Any) -> list[list[list[str]]]:
    return [[[str(x) for x in fibre] for fibre in line] for line in tensor]


@st.composite
def representations(draw: st.DrawFn) -> dict[str, Any]:
    """A database and a tensor with its fibres on the domain, and others off it."""
    db = draw(DATABASES)
    entry = st.integers(-1, 1)
    X = [[f if any(f) else [draw(entry) for _ in f] for f in line] for line in sorted_tensor(db)]
    return {"D": db, "X": written(X)}


@st.composite
def spans(draw: st.DrawFn) -> dict[str, Any]:
    """Slices that are combinations of matrices of rank one."""
    r, b, c = (draw(st.integers(1, 3)) for _ in range(3))
    ones = [draw(small(b, 1)) @ draw(small(1, c)) for _ in range(r)]
    rows = [M.flint.tolist() for M in ones]
    mix = draw(small(draw(st.integers(1, 3)), r)).flint.tolist()
    T = [
        [
            [sum(m * R[i][j] for m, R in zip(line, rows, strict=True)) for j in range(c)]
            for i in range(b)
        ]
        for line in mix
    ]
    return {"T": written(T), "R": written(rows)}


@st.composite
def priors(draw: st.DrawFn) -> dict[str, Any]:
    weights = draw(st.lists(st.integers(0, 3), min_size=1, max_size=6).filter(any))
    eps = Fraction(draw(st.integers(0, 11)), 12)
    total = sum(weights)
    return {"P": Matrix([[Fraction(x, total) for x in weights]]), "eps": eps}


@st.composite
def rows_above(draw: st.DrawFn) -> dict[str, Any]:
    """One row, its largest entry i, and another entry j."""
    n = draw(st.integers(2, 4))
    row = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    i = row.index(max(row))
    j = draw(st.integers(0, n - 1).filter(lambda j: j != i))
    return {"M": Matrix([row]), "tau": draw(TAUS), "i": i, "j": j}


@st.composite
def scaled_rows(draw: st.DrawFn) -> dict[str, Any]:
    n = draw(st.integers(1, 4))
    row = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    tau0, tau = sorted((draw(LARGE_TAUS), draw(LARGE_TAUS)))
    c = draw(st.sampled_from([Fraction(1), Fraction(5, 2), Fraction(12)]))
    return {"M": Matrix([row]), "tau0": tau0, "tau": tau, "c": c, "i": row.index(max(row))}


@st.composite
def dominant(draw: st.DrawFn) -> dict[str, Any]:
    n = draw(st.integers(1, 4))
    rows = draw(small(n, n)).flint.tolist()
    lead = draw(st.integers(0, 4))
    M = [[x + lead * (i == j) for j, x in enumerate(row)] for i, row in enumerate(rows)]
    return {"M": Matrix(M), "c": draw(st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)]))}


@st.composite
def perturbed(draw: st.DrawFn) -> dict[str, Any]:
    n = draw(st.integers(1, 3))
    d = draw(st.integers(n, 4))
    return {"X": draw(small(n, d, 1)), "P": draw(small(n, d, 3))}


@st.composite
def saturated(draw: st.DrawFn) -> dict[str, Any]:
    n, d, k = (draw(st.integers(1, 3)) for _ in range(3))
    sizes = {"E": (n, d), "v": (d, 1), "w": (k, 1), "e": (k, 1)}
    return {name: draw(small(*size, 9)) for name, size in sizes.items()}


@st.composite
def codes(draw: st.DrawFn) -> dict[str, Any]:
    """Two codes and a point near the first."""
    m = draw(st.integers(1, 3))
    point = draw(small(1, m, 9))
    near = Matrix([[x + fmpq(draw(st.integers(-3, 3)), 4) for x in point.flint.tolist()[0]]])
    return {"a": point, "b": draw(small(1, m, 9)), "x": near}


INTEGERS = st.integers(1, 6)
OUTER = st.builds(lambda u, v: {"M": u @ v}, small(None, 1), small(1, None))
TWO_TAUS = st.builds(
    lambda x, a, b: {**x, "tau0": min(a, b), "tau": max(a, b)}, layers_and_facts(), TAUS, TAUS
)
INSTANCES: dict[str, Instance] = {
    "wong/proposition-2.1": st.fixed_dictionaries({"D": DATABASES}),
    "wong/slice-ranks": st.fixed_dictionaries({"D": DATABASES}),
    "wong/circuit-ranks": st.builds(lambda x: {"L": x["L"], "h": 0}, layers_and_facts()),
    "wong/remark-3.2": three_layers(),
    "wong/proposition-3.5": layers_and_facts(),
    "wong/footnote-4": dominant(),
    "wong/parameter-count": st.builds(lambda x: {"L": x["L"]}, layers_and_facts()),
    "dana/theorem-1-parameters": st.builds(lambda x: {"T": x["T"]}, transformers_and_sequences()),
    "dana/parameters-by-associations": st.builds(
        lambda x: {"T": x["T"], "n": x["T"].d + sum(head.W_Q.shape[0] for head in x["T"].heads)},
        transformers_and_sequences(),
    ),
    "dana/block-value-map": st.fixed_dictionaries({"V": small(2, 3), "W": small(1, 3)}),
    "mahdavi/theorem-1-parameters-suffice": st.fixed_dictionaries(
        {"H": INTEGERS, "n": INTEGERS, "d": INTEGERS}
    ),
    "mahdavi/tightness-rank": st.fixed_dictionaries({"A": contexts()}),
    "mahdavi/general-position-stronger": st.fixed_dictionaries({"A": contexts(shared=False)}),
    "mahdavi/quick-checks-general": st.fixed_dictionaries({"V": small(5, 4), "Z": small(10, 8, 9)}),
    "mahdavi/open-question-2": st.fixed_dictionaries({"A": contexts(shared=False)}),
    "lemmax/logits-on-domain": layers_and_facts(),
    "lemmax/layer-rank-ceiling": layers_and_facts(),
    "lemmax/layer-rank-generic": wide_layers(),
    "lemmax/layer-multilinear-ranks": layers_and_facts(),
    "lemmax/argmax-rank-one-sharp": OUTER,
    "lemmax/gram-integers": st.fixed_dictionaries({"n": st.integers(2, 9), "r": st.integers(2, 9)}),
    "lemmax/gram-softmax-full-rank": st.fixed_dictionaries(
        {"P": small(st.integers(1, 4), st.integers(1, 3)), "c": TAUS}
    ),
    "lemmax/softmax-rank-scale": st.fixed_dictionaries(
        {"M": small(st.integers(1, 3), st.integers(1, 3), 3), "c": TAUS}
    ),
    "lemmax/threshold-unique": rows_above(),
    "lemmax/threshold-represents": st.builds(
        lambda x, tau: {**x, "tau": tau}, layers_and_facts(), TAUS
    ),
    "lemmax/threshold-scaling": scaled_rows(),
    "lemmax/threshold-monotone-matrices": st.builds(
        lambda M, a, b: {"M": M, "tau0": min(a, b), "tau": max(a, b)},
        small(None, st.integers(1, 4), 3),
        LARGE_TAUS,
        LARGE_TAUS,
    ),
    "lemmax/threshold-one": layers_and_facts(),
    "lemmax/equality-table-needs-two-heads": layers_and_facts(EQUALITY, heads=1),
    "lemmax/two-subsets-need-qk-two": layers_and_facts(two_subsets(), heads=1, d_qk=1),
    "lemmax/uniform-attention-no-xor": layers_and_facts(EXCLUSIVE_OR, scores=0),
    "lemmax/effective-rank-block": representations(),
    "lemmax/value-slice-sum": st.fixed_dictionaries({"D": DATABASES}),
    "lemmax/spanning-tree-bound": st.builds(
        lambda T, m: {"T": written(T), "m": m}, tensors(), st.integers(0, 2)
    ),
    "lemmax/domain-pivot": st.fixed_dictionaries({"D": DATABASES}),
    "lemmax/span-of-rank-ones": spans(),
    "lemmax/parity-obstruction": parity_tables(),
    "lemmax/skip-rows": transformers_and_sequences(),
    "lemmax/t-epsilon": priors(),
    "lemmax/feature-rank-ceiling": st.fixed_dictionaries({"A": contexts(shared=False)}),
    "lemmax/shared-context-distinct-queries": contexts(positive=True).map(with_half_space),
    "lemmax/two-token-law": st.fixed_dictionaries({"A": contexts(n=2)}),
    "lemmax/saturation-no-ties": saturated(),
    "lemmax/encoding-perturbation": perturbed(),
    "lemmax/codebook": codes(),
}
# An infimum over all encoders is at least 0 and nothing more is known without a certificate.
WITHOUT_INSTANCES = {"dana/proposition-2", "dana/proposition-3", "lemmax/sparse-table-threshold"}


class OnlyLowerBounds(ast.NodeTransformer):
    """Ranks that are only enclosed, replaced by lower bounds that lean on no theorem.

    The checker bounds tensor ranks from above by spanning trees and feature ranks by the ceiling,
    which are claims of their own: a conclusion "rank at most c" could not fail. With a lower bound
    in place of the rank it can, and if it does, so does the claim.
    """

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name, inside = ast.unparse(node.func), ", ".join(map(ast.unparse, node.args))
        if name == "tensor_rank":
            parts = ", ".join(f"flattening_rank({inside}, {mode})" for mode in range(3))
            return ast.parse(f"max({parts})", mode="eval").body
        if name == "feature_rank":
            return ast.parse(f"feature_rank_lower({inside})", mode="eval").body
        return node


BOUNDED_BELOW = {"lemmax/effective-rank-block"}  # concludes that a rank is large


def alarming(claim: str) -> str:
    """The statement of a claim, with lower bounds of ranks in its conclusion."""
    *before, conclusion = statement_of(claim).split("; conclude ")
    if claim in BOUNDED_BELOW:
        return statement_of(claim)
    tree = OnlyLowerBounds().visit(ast.parse(conclusion, mode="eval").body)
    return "; ".join([*before, f"conclude {ast.unparse(tree)}"])


def outcome(claim: str, statement: str, instance: dict[str, Any]) -> str:
    objects = plain(instance)
    for kind, word in (("witness", "holds"), ("refutation", "refuted")):
        certificate = about_claim(kind, claim, statement, objects)  # type: ignore[arg-type]
        if checker.check(json.loads(to_json(certificate))).holds:
            return word
    return "says nothing"


@pytest.mark.parametrize("claim", INSTANCES)
def test_no_random_instance_refutes_a_claim_that_holds(claim: str) -> None:
    outcomes: Counter[str] = Counter()
    statement = alarming(claim)

    @settings(max_examples=EXAMPLES, suppress_health_check=NO_CHECKS)
    @given(INSTANCES[claim])
    def law(instance: dict[str, Any]) -> None:
        seen = outcome(claim, statement, instance)
        outcomes[seen] += 1
        assert seen != "refuted"

    law()
    assert outcomes["holds"] >= EXAMPLES // 10, outcomes


def test_every_claim_that_holds_for_all_instances_is_tried() -> None:
    record = json.loads(LEDGER.read_text(encoding="utf-8"))
    verdicts = {entry["id"]: entry["verdict"] for entry in record["claims"]}
    stated = {
        claim.id
        for claim in load_claims()
        if claim.formal
        and claim.kind == "A"
        and verdicts.get(claim.id, "holds") in ("holds", "supported")
    }
    assert stated == set(INSTANCES) | WITHOUT_INSTANCES
    assert not WITHOUT_INSTANCES & set(INSTANCES)


@pytest.mark.parametrize(
    ("claim", "instances"),
    [
        ("wong/argmax-rank-one", OUTER),
        ("wong/tau-monotone", TWO_TAUS),
        ("mahdavi/one-hot", st.fixed_dictionaries({"a": small(1, 4)})),
        ("dana/skip-as-head", st.fixed_dictionaries({"X": small(2, 2)})),
    ],
)
def test_the_alarm_rings_for_claims_that_fail(claim: str, instances: Instance) -> None:
    """The same machinery refutes claims that are false, by instances that nobody chose."""
    refuted: list[bool] = []

    @settings(max_examples=1000, suppress_health_check=NO_CHECKS)
    @given(instances)
    def law(instance: dict[str, Any]) -> None:
        if not any(refuted):
            refuted.append(outcome(claim, statement_of(claim), instance) == "refuted")

    law()
    assert any(refuted)
