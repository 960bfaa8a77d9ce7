"""The hunter: what it lists, what it catches, what it says, and that it agrees with the checker."""

import itertools
import json
import re
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lemmax.checker import check
from lemmax.checker.language.instances import on_instance
from lemmax.checker.limits import NotACertificate, metered
from lemmax.cli import app
from lemmax.constructions import shipped
from lemmax.theory.errors import LemmaxError
from lemmax.theory.hunting import Hunt, draws, hunt, sharpness, size_of
from lemmax.theory.hunting.draws import Draw
from lemmax.theory.hunting.enumeration import instances
from lemmax.theory.hunting.hunts import _Chase
from lemmax.theory.hunting.question import Instance, Question
from lemmax.theory.hunting.rounds import Job, Late, one_round
from lemmax.theory.hunting.sharpness import inequalities
from lemmax.theory.hunting.shrinking import shrunk, smaller
from lemmax.theory.hunting.solving import solved
from lemmax.theory.hunting.symmetry import symmetries
from lemmax.theory.ledger.claims import load_claims
from lemmax.theory.ledger.statements import _free, refutable, statement_of

ONE_HOT = statement_of("mahdavi/one-hot")
ANY = "given M: matrix; conclude rank(M) <= 9"


def _matrices(size: int) -> set[tuple[tuple[Fraction, ...], ...]]:
    """Every rational matrix with Σ (|p| + q) = size, by brute force."""
    numbers = {Fraction(p, q) for q in range(1, size + 1) for p in range(-size, size + 1)}
    weights = {x: abs(x.numerator) + x.denominator for x in numbers}
    found = set()
    for m, n in itertools.product(range(1, size + 1), repeat=2):
        few = [x for x in numbers if weights[x] <= size - m * n + 1]
        for cells in itertools.product(few, repeat=m * n):
            if sum(weights[x] for x in cells) == size:
                found.add(tuple(cells[i * n : (i + 1) * n] for i in range(m)))
    return found


@pytest.mark.parametrize("size", range(1, 6))
def test_every_matrix_is_listed_up_to_permutations(size: int) -> None:
    """Without symmetry every matrix is listed once; with it one of every orbit."""
    seen = Question("given M: matrix; conclude entry(M, 0, 0) <= 9")
    assert not symmetries(seen)
    listed = [tuple(tuple(map(Fraction, r)) for r in i["M"]) for i in instances(seen, size)]
    assert len(listed) == len(set(listed))
    assert set(listed) == _matrices(size)
    unseen = Question(ANY)
    assert symmetries(unseen) == {"M": "lines"}
    representatives = {
        tuple(tuple(map(Fraction, r)) for r in i["M"]) for i in instances(unseen, size)
    }
    assert len(representatives) < len(listed) or size < 3
    for M in listed:
        orbit = {
            tuple(tuple(M[i][j] for j in columns) for i in rows)
            for rows in itertools.permutations(range(len(M)))
            for columns in itertools.permutations(range(len(M[0])))
        }
        assert orbit & representatives


def test_a_gram_matrix_beside_the_matrix_sees_permutations() -> None:
    text = "given M: matrix; assume rows(M) == columns(M); conclude max_entry(gram(M) - M) != 2"
    asked = Question(text)
    one, other = [["-1", "0"], ["0", "0"]], [["0", "-1"], ["0", "0"]]
    answers = [asked.ask({"M": M}).answer for M in (one, other)]
    assert answers == ["breaks", "holds"]
    assert not symmetries(asked)
    assert symmetries(Question("given M: matrix; conclude rank(gram(M)) == rank(M)"))


def test_sizes_count_what_is_read() -> None:
    assert size_of({"M": [["-2", "1/3"]]}) == 3 + 4
    assert size_of({"D": {"facts": [["1", "12", "in"]]}}) == 3  # names are no numbers


@pytest.mark.parametrize(
    "text",
    [
        ANY,
        "given M: matrix, c: rational; assume c > 0; conclude rank(c * M) == rank(M)",
        statement_of("wong/argmax-rank-one"),
        statement_of("wong/rank-hypothesis"),
        statement_of("wong/tau-monotone"),
        statement_of("dana/corollary-2"),
        statement_of("dana/rank-d-stores-d"),
        statement_of("mahdavi/kruskal-weakening-tight"),
        statement_of("mahdavi/tightness-rank"),
    ],
)
def test_the_hunter_agrees_with_the_checker(text: str) -> None:
    """On drawn instances the quick evaluation and the checker's own say the same."""
    asked, answers = Question(text), set()
    draw = Draw(asked, 5)
    for _ in range(25):
        instance = draw.instance()
        answer = asked.ask(instance).answer
        answers.add(answer)
        fields = {"claim": "hunted/statement", "statement": text, "instance": instance}
        for wanted, agreeing in ((False, "breaks"), (True, "holds")):
            try:
                with metered():
                    steps = [step.ok for step in on_instance(fields, wanted)]
            except NotACertificate:
                steps = [False]
            assert all(steps) == (answer == agreeing), (instance, answer)
    assert answers - {"outside"}


def test_the_smallest_counterexample_is_caught_and_certified() -> None:
    caught = hunt(ONE_HOT, claim="mahdavi/one-hot", seconds=30)
    assert caught.instance is not None
    assert caught.size == 4
    assert caught.smallest
    verdict = check(json.loads(json.dumps(caught.certificate())))
    assert verdict.holds
    assert verdict.claim == "mahdavi/one-hot"


def test_layers_are_caught_by_drawing() -> None:
    caught = hunt(statement_of("wong/rank-conditions"), claim="wong/rank-conditions", patience=1)
    assert caught.instance is not None
    assert caught.exhausted == 0  # layers are not enumerated
    assert not caught.smallest


def test_shapes_that_an_assumption_names_are_drawn() -> None:
    """No chance meets 5 × 4 beside 10 × 8."""
    asked = Question(statement_of("mahdavi/quick-checks-general"))
    draw = Draw(asked, 1)
    answers = [asked.ask(draw.instance()).answer for _ in range(30)]
    assert answers.count("holds") > 5


def test_a_parity_is_drawn_for_the_heads_of_the_transformer() -> None:
    asked = Question(statement_of("lemmax/parity-obstruction"))
    draw = Draw(asked, 1)
    drawn = [draw.instance() for _ in range(20)]
    assert {asked.ask(instance).answer for instance in drawn} == {"holds"}
    assert {len(instance["T"]["transformer"]["layer"]["heads"]) for instance in drawn} == {0, 1}


def test_true_statements_are_not_caught() -> None:
    caught = hunt(ANY, seconds=60, largest=5)
    assert caught.instance is None
    assert caught.exhausted == 6
    below = sum(len(list(instances(Question(ANY), size))) for size in range(1, 6))
    assert caught.looked == caught.satisfied == below == caught.tried
    told = f"None up to 5, {below} instances, exhaustive: {below} satisfy the assumptions."
    assert caught.sentence() == told
    assert caught.gap == 8  # rank two takes six at least: two by two entries and two ones
    with pytest.raises(LemmaxError, match="Nothing was caught"):
        caught.certificate()


def test_a_hunt_is_the_same_for_the_same_seed_and_goes_on_after_a_stop(tmp_path: Path) -> None:
    straight = hunt(ANY, seconds=60, largest=6)
    again = hunt(ANY, seconds=60, largest=6)
    assert (straight.tried, straight.gap, straight.rounds) == (again.tried, again.gap, again.rounds)
    state = tmp_path / "hunt.json"
    first = hunt(ANY, seconds=60, largest=4, state=state)
    second = hunt(ANY, seconds=60, largest=6, state=state)
    assert first.exhausted < second.exhausted == straight.exhausted
    assert second.tried > first.tried
    assert second.looked == straight.looked > first.looked
    with pytest.raises(LemmaxError, match="another hunt"):
        hunt(ANY, seconds=1, seed=1, state=state)
    state.write_text("{")
    with pytest.raises(LemmaxError, match="not the state of a hunt"):
        hunt(ANY, seconds=1, state=state)


def test_several_processes_hunt_the_same_way_each_time() -> None:
    """Rounds go to two processes by their numbers, so that chance has no say."""
    text = "given M: matrix; conclude entry_sum(M) <= 40"
    lines: list[str] = []
    one = hunt(text, seconds=60, patience=2, workers=2, progress=lines.append)
    two = hunt(text, seconds=60, patience=2, workers=2)
    assert one.instance == two.instance == {"M": [["41"]]}
    assert (one.rounds, one.tried) == (two.rounds, two.tried)
    assert one.rounds % 2 == 0
    assert all(re.search(r"instances, .*, \d+ s left at most", line) for line in lines)


def test_progress_says_how_long_it_may_take() -> None:
    lines: list[str] = []
    hunt(ANY, seconds=4, progress=lines.append)  # a busy machine may be late with the first line
    assert lines
    told = re.fullmatch(r"[\d,]+ instances, all below size \d+, (\d+) s left at most", lines[0])
    assert told is not None
    assert int(told[1]) <= 3


def test_a_shrunk_instance_keeps_its_property_and_nothing_smaller_does() -> None:
    def keeps(instance: dict[str, list[list[str]]]) -> bool:
        return Question(statement_of("wong/argmax-rank-one")).ask(instance).answer == "breaks"

    rows = [
        ["3", "0", "-3", "0"],
        ["-6", "0", "6", "0"],
        ["0", "0", "0", "0"],
        ["3", "0", "-3", "0"],
    ]
    least = shrunk({"M": rows}, keeps)
    assert keeps(least)
    assert size_of(least) == 13
    assert not any(keeps(s) for s in smaller(least) if size_of(s) < 13)


def _breaking(claim: str) -> Callable[[Instance], bool]:
    asked = Question(statement_of(claim))
    return lambda instance: asked.ask(instance).answer == "breaks"


def test_two_values_become_one() -> None:
    """Fewer tokens than the facts had: a layer over two facts needs one value to be wrong."""
    layer = {
        "tokens": ["k0", "q0", "v0", "k1", "q1", "v1"],
        "unit": "1",
        "W_E": [["0"], ["0"], ["0"], ["1"], ["0"], ["0"]],
        "W_U": [["0", "0", "0", "0", "0", "1"]],
        "heads": [{"W_Q": [["0"]], "W_K": [["0"]], "W_V": [["1"]], "W_O": [["1"]]}],
    }
    facts = [["k0", "q0", "v0"], ["k1", "q1", "v1"]]
    least = shrunk(
        {"L": {"layer": layer}, "D": {"facts": facts}}, _breaking("wong/proposition-3.1")
    )
    assert {v for _, _, v in least["D"]["facts"]} == {"v1"}
    assert least["L"]["layer"]["tokens"] == ["k0", "q0", "k1", "q1", "v1"]


def test_a_row_makes_place_for_another() -> None:
    """No single number of (1, 4) and (1, 5) can be smaller: (1, 1) and (0, 1) can."""
    rows = [["1", "0"], ["1", "4"], ["1", "5"]]

    def different(instance: Instance) -> bool:
        return Question("given M: matrix; conclude kruskal_rank(M) < 2 or rows(M) < 3").ask(
            instance
        ).answer == "breaks"  # fmt: skip

    least = shrunk({"M": rows}, different)
    assert size_of(least) == 3 + 3 + 4  # (1, 0), (0, 1) and (1, 1), but for signs


def test_a_walk_goes_over_fractions() -> None:
    """From 1/7 to 1/8, which is larger, and from there to a number that is much smaller."""
    claim = "dana/section-4.1-display"
    caught = {"p": "1/7", "s": "71523/71524"}
    assert shrunk(caught, _breaking(claim)) == caught
    found = [
        one_round(Job(statement_of(claim), 0, number, caught, Late(lambda: 0.0, 1.0))).caught
        for number in (1, 5)
    ]
    assert min(size_of(i) for i in found if i is not None) < 70_000


def test_bad_statements_get_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    run = CliRunner().invoke(app, ["hunt", "given M: matrix; conclude rankk(M) == 1"])
    assert isinstance(run.exception, LemmaxError)
    assert "'rankk'" in str(run.exception)
    assert "Nearest: rank." in str(run.exception)
    with pytest.raises(LemmaxError, match=r"'matrx', which is unknown\. Nearest: matrix\."):
        hunt("given M: matrx; conclude rank(M) == 1")
    run = CliRunner().invoke(app, ["hunt", "wong/argmax-rank-onee"])
    assert "Nearest: wong/argmax-rank-one." in str(run.exception)
    with pytest.raises(LemmaxError, match="positive number of seconds"):
        hunt(ANY, seconds=0)
    monkeypatch.delitem(draws._SORTS, "tensor")
    with pytest.raises(LemmaxError, match="T is of the sort tensor, which has no generator"):
        hunt("given T: tensor; conclude slices(T) >= 1")


def test_the_command_says_what_it_caught(tmp_path: Path) -> None:
    target = tmp_path / "caught.json"
    run = CliRunner().invoke(app, ["hunt", ONE_HOT, "-o", str(target), "--seconds", "30"])
    assert run.exit_code == 0, run.output
    assert "A counterexample of size 4" in run.output
    assert "there is no smaller one" in run.output
    assert check(json.loads(target.read_text(encoding="utf-8"))).holds
    nothing = CliRunner().invoke(app, ["hunt", ANY, "--size", "3", "--json"])
    assert nothing.exit_code == 1
    assert json.loads(nothing.output)["exhausted_below"] == 4


def test_the_inequalities_of_every_claim_are_statements() -> None:
    """Each conclusion alone, without definitions and objects that only another one spoke of."""
    texts = [claim.formal for claim in load_claims().claims.values() if claim.formal]
    bounds = [text for formal in texts for _, text in inequalities(formal)]
    assert len(bounds) > 50
    for text in bounds:
        assert Question(text).statement.text == text
    (_, alone), (_, both) = inequalities(
        "given M: matrix, c: rational; let r = rank(M); let n = rows(M); "
        "conclude r <= columns(M) and r + c <= n + c"
    )
    assert alone == "given M: matrix; let r = rank(M); conclude r <= columns(M)"
    assert both.startswith("given M: matrix, c: rational; let r = rank(M); let n = rows(M);")


def test_each_inequality_is_attained_somewhere_or_never() -> None:
    text = "given M: matrix; conclude 0 <= rank(M) and rank(M) < rows(M) + 1 and rank(M) <= 9"
    least, below, nine = sharpness(text, seconds=0.9)
    assert least.attained
    assert least.instance == {"M": [["0"]]}
    assert below.gap == 1
    assert below.size == 2  # one entry, ±1
    assert not nine.attained
    command = ["hunt", "given M: matrix; conclude rank(M) <= rows(M)", "--sharp"]
    run = CliRunner().invoke(app, command)
    assert run.exit_code == 0
    assert "rank(M) <= rows(M) is attained" in run.output
    told = json.loads(CliRunner().invoke(app, [*command, "--json"]).output)
    assert told[0]["gap"] == "0"
    assert told[0]["instance"] == {"M": [["-1"]]}
    refused = CliRunner().invoke(app, [*command, "--size", "3"])
    assert isinstance(refused.exception, LemmaxError)
    with pytest.raises(LemmaxError, match="no inequality"):
        sharpness("given M: matrix; conclude rank(M) == rank(M)")


def test_undecided_instances_are_not_called_looked_at() -> None:
    """What stayed open may be a counterexample, so that nothing is said about all instances."""
    told = Hunt(ANY, "hunted/statement", None, 6, 64, 3, 0, 1.0, looked=60)
    assert "3 of 60 instances undecided" in told.sentence()
    assert "exhaustive" not in told.sentence()
    caught = Hunt(ANY, "hunted/statement", {"M": [["1"]]}, 6, 64, 3, 0, 1.0)
    assert not caught.smallest


def test_what_no_instance_satisfies_is_not_said_to_hold() -> None:
    """A rank of three takes nine entries: below that nothing is assumed, and nothing is learnt."""
    small = hunt("given M: matrix; assume rank(M) == 3; conclude max_entry(M) > 0", largest=4)
    assert (small.satisfied, small.looked) == (0, 40)
    assert "40 instances, exhaustive: no instance satisfies the assumptions." in small.sentence()
    never = "given L: layer; assume d_model(L) < 1; conclude heads(L) == 0"
    drawn = hunt(never, seconds=0.5)
    assert drawn.met == 0 < drawn.tried
    assert drawn.sentence().endswith("tried: no instance satisfies the assumptions.")


def test_only_exhausted_instances_are_called_exhaustive() -> None:
    """Drawn instances, and those of a size that is not finished, are counted apart."""
    told = Hunt(ANY, "x/y", None, 7, 900, 0, 2, 3.0, looked=40, satisfied=12, met=112)
    assert told.sentence() == (
        "None up to 6, 40 instances, exhaustive: 12 satisfy the assumptions; "
        "860 others in 3 s, 100 satisfy the assumptions."
    )


def test_what_is_left_below_a_catch_is_looked_at() -> None:
    """One round without anything smaller ends the rounds, not the sizes, which take seconds."""
    text = statement_of("wong/argmax-rank-one")
    caught = hunt(text, claim="wong/argmax-rank-one", seconds=200, patience=1)
    assert caught.size == 13
    assert caught.smallest
    assert "there is no smaller one (23,424 instances, exhaustive)" in caught.sentence()
    hurried = hunt(text, claim="wong/argmax-rank-one", seconds=0.8, patience=1)
    assert not hurried.smallest  # too many are left


def test_instances_beyond_the_limits_are_undecided() -> None:
    """They may break the statement: nothing is said about all instances, nothing is earned."""
    asked = Question("given n: integer; conclude rank(identity(n)) < 3000")
    assert asked.ask({"n": "2"}).answer == "holds"
    assert asked.ask({"n": "-2"}).answer == "outside"
    assert asked.ask({"n": "5000"}).answer == "open"
    assert asked.ask({"n": "5000000"}).answer == "open"


def test_what_exists_is_not_refuted_by_an_instance() -> None:
    run = CliRunner().invoke(app, ["hunt", "wong/tau-below-layer-rank", "--seconds", "1"])
    assert isinstance(run.exception, LemmaxError)
    assert "says that something exists" in str(run.exception)


def test_an_instance_is_refuted_by_itself_alone() -> None:
    """Example 2.4 has a tensor of rank one: that another tensor has not is no counterexample."""
    run = CliRunner().invoke(app, ["hunt", "wong/example-2.4", "--seconds", "1"])
    assert isinstance(run.exception, LemmaxError)
    assert "its assumptions leave X free" in str(run.exception)
    caught = hunt(refutable("dana/figure-4-bound"), claim="dana/figure-4-bound", seconds=1)
    assert caught.instance == shipped.load("dana/figure-4-bound")["instance"]
    assert _free("given n: integer; assume n == 2 or n == 3; conclude n < 2") == ["n"]
    circle = "given n: integer; let m = n + 0; assume n == m; conclude n < 2"
    assert _free(circle) == ["n"]


def test_a_size_that_is_begun_again_is_counted_once() -> None:
    asked = Question("given M: matrix; conclude rank(M) <= rows(M)")
    chase = _Chase(asked, "hunted/statement", 0, None, 40, {})
    chase.enumerate(25, Late(lambda: 0.0, 1.0))
    done = sum(len(list(instances(asked, n))) for n in range(1, chase.size))
    assert chase.state()["tried"] == done < chase.tried
    assert chase.state()["met"] == done < chase.met
    assert chase.result().looked == chase.result().satisfied == done


def test_plain_numbers_are_asked_of_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counterexamples so large that no order of sizes comes to them; without z3 there are none."""
    text = "given x: integer, y: rational; assume y == x / 2; conclude max(x, y) < 1000000"
    caught = hunt(text, seconds=5, patience=1)
    assert caught.instance == {"x": "1000000", "y": "500000"}
    assert check(json.loads(json.dumps(caught.certificate()))).holds
    assert solved(Question("given x: integer; conclude x / 2 != 1/3")) is None
    assert solved(Question("given x: rational; conclude x * x != 2")) is None
    assert solved(Question("given M: matrix; conclude rank(M) < 3")) is None
    monkeypatch.setitem(sys.modules, "z3", None)
    assert solved(Question(text)) is None
