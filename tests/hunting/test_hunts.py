"""The hunter: what it lists, what it catches, what it says, and that it agrees with the checker."""

import itertools
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lemmax.checker import check
from lemmax.checker.language.instances import on_instance
from lemmax.checker.limits import NotACertificate, metered
from lemmax.cli import app
from lemmax.theory.errors import LemmaxError
from lemmax.theory.hunting import Hunt, draws, hunt, size_of
from lemmax.theory.hunting.draws import Draw
from lemmax.theory.hunting.enumeration import instances
from lemmax.theory.hunting.question import Question
from lemmax.theory.hunting.shrinking import shrunk, smaller
from lemmax.theory.ledger.statements import statement_of

ONE_HOT = statement_of("mahdavi/one-hot")
ANY = "given M: matrix; conclude rank(M) <= 9"


def _integer_matrices(size: int) -> set[tuple[tuple[int, ...], ...]]:
    """Every integer matrix with Σ (1 + |entry|) = size, by brute force."""
    found = set()
    for m, n in itertools.product(range(1, size + 1), repeat=2):
        rest = size - m * n
        if rest < 0:
            continue
        for cells in itertools.product(range(-rest, rest + 1), repeat=m * n):
            if sum(map(abs, cells)) == rest:
                found.add(tuple(cells[i * n : (i + 1) * n] for i in range(m)))
    return found


@pytest.mark.parametrize("size", range(1, 7))
def test_every_matrix_is_listed_up_to_permutations(size: int) -> None:
    """Without symmetry every matrix is listed once; with it one of every orbit."""
    seen = Question("given M: matrix; conclude entry(M, 0, 0) <= 9")
    assert not seen.permutable
    listed = [tuple(tuple(map(int, r)) for r in i["M"]) for i in instances(seen, size)]
    assert len(listed) == len(set(listed))
    assert set(listed) == _integer_matrices(size)
    unseen = Question(ANY)
    assert unseen.permutable
    representatives = {tuple(tuple(map(int, r)) for r in i["M"]) for i in instances(unseen, size)}
    assert len(representatives) < len(listed) or size < 3
    for M in listed:
        orbit = {
            tuple(tuple(M[i][j] for j in columns) for i in rows)
            for rows in itertools.permutations(range(len(M)))
            for columns in itertools.permutations(range(len(M[0])))
        }
        assert orbit & representatives


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


def test_true_statements_are_not_caught() -> None:
    caught = hunt(ANY, seconds=60, largest=5)
    assert caught.instance is None
    assert caught.exhausted == 6
    assert "all of them looked at" in caught.sentence()
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
    with pytest.raises(LemmaxError, match="another hunt"):
        hunt(ANY, seconds=1, seed=1, state=state)
    state.write_text("{")
    with pytest.raises(LemmaxError, match="not the state of a hunt"):
        hunt(ANY, seconds=1, state=state)


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


def test_bad_statements_get_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    run = CliRunner().invoke(app, ["hunt", "given M: matrix; conclude rankk(M) == 1"])
    assert isinstance(run.exception, LemmaxError)
    assert "'rankk'" in str(run.exception)
    assert "Nearest: rank." in str(run.exception)
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
    assert "no smaller one has integer entries" in run.output
    assert check(json.loads(target.read_text(encoding="utf-8"))).holds
    nothing = CliRunner().invoke(app, ["hunt", ANY, "--size", "3", "--json"])
    assert nothing.exit_code == 1
    assert json.loads(nothing.output)["exhausted_below"] == 4
    sharp = CliRunner().invoke(
        app, ["hunt", "given M: matrix; conclude rank(M) <= rows(M)", "--size", "2", "--sharp"]
    )
    assert sharp.exit_code == 0
    assert "The bound is attained, first at" in sharp.output


def test_undecided_instances_are_not_called_looked_at() -> None:
    """What stayed open may be a counterexample, so that nothing is said about all instances."""
    told = Hunt(ANY, "hunted/statement", None, 6, 64, 3, 0, 1.0)
    assert "3 undecided" in told.sentence()
    assert "all of them" not in told.sentence()
    caught = Hunt(ANY, "hunted/statement", {"M": [["1"]]}, 6, 64, 3, 0, 1.0)
    assert not caught.smallest
