"""Formal statements that ask for hours or for all of the memory: each ends by itself.

As in test_hostile_files: a process with 60 seconds of processor time and a gigabyte.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lemmax import checker

Certificate = dict[str, Any]
HOSTILE: dict[str, Callable[[], Certificate]] = {}


def hostile(make: Callable[[], Certificate]) -> Callable[[], Certificate]:
    HOSTILE[make.__name__] = make
    return make


def witness(statement: str, **instance: Any) -> Certificate:
    fields = {"claim": "own/hostile", "statement": statement, "instance": instance}
    return {"format": "lemmax-certificate", "version": 2, "kind": "witness", **fields}


def cube(a: int, b: int, c: int, size: int) -> list[list[list[str]]]:
    rng = random.Random(a + b + c)
    return [[[str(rng.randint(-size, size)) for _ in range(c)] for _ in range(b)] for _ in range(a)]


def repeated(part: str, between: str, most: int) -> str:
    return between.join([part] * (most // (len(part) + len(between))))


LONG = "0x" + "f" * 200_000


@hostile
def ranks_of_a_wide_tensor() -> Certificate:
    return witness("given T: tensor; conclude tensor_rank(T) == 1", T=cube(40, 40, 60, 9))


@hostile
def trees_of_long_slices() -> Certificate:
    return witness("given T: tensor; conclude spanning_tree(T, 0) == 1", T=cube(40, 16, 16, 10**60))


@hostile
def trees_of_many_slices() -> Certificate:
    return witness("given T: tensor; conclude spanning_tree(T, 0) == 1", T=cube(5_000, 4, 4, 1))


@hostile
def one_rank_many_times() -> Certificate:
    text = repeated("spanning_tree(join(T, T), 0) >= 0", " and ", 1_900)
    return witness(f"given T: tensor; conclude {text}", T=cube(40, 12, 12, 9))


@hostile
def joins_of_joins() -> Certificate:
    lets = "".join(f"let T{i + 1} = join(T{i}, T{i}); " for i in range(50))
    return witness(f"given T0: tensor; {lets}conclude slices(T50) == 1", T0=cube(2, 50, 50, 1))


@hostile
def stacks_of_stacks() -> Certificate:
    lets = "".join(f"let M{i + 1} = stack(M{i}, M{i}); " for i in range(50))
    return witness(f"given M0: matrix; {lets}conclude rows(M50) == 1", M0=[["1"] * 100])


@hostile
def products_of_bounds() -> Certificate:
    text = repeated("x", " * ", 1_900)
    return witness(
        f"given T: tensor, x: rational; conclude {text} * tensor_rank(T) > 0",
        x=LONG,
        T=[[["1", "0"], ["0", "1"]], [["0", "1"], ["-1", "0"]]],
    )


@hostile
def scales_of_scales() -> Certificate:
    lets = "".join(f"let M{i + 1} = scale(M{i}, x); " for i in range(50))
    text = f"given M0: matrix, x: rational; {lets}conclude rank(M50) == 1"
    return witness(text, M0=[["1"] * 100] * 20, x=LONG)


@hostile
def logarithms_that_are_close() -> Certificate:
    near = f"1{'0' * 3_000}1/1{'0' * 3_000}"
    text = repeated("log(x) - log(y)", " + ", 1_800)
    return witness(f"given x: rational, y: rational; conclude {text} > 0", x=near, y="1")


@hostile
def large_multiples_of_logarithms() -> Certificate:
    text = " and ".join(f"n * log({k}) > n * log({k - 1})" for k in range(2, 40))
    return witness(f"given n: rational; conclude {text}", n=LONG)


@hostile
def logarithms_of_long_numbers() -> Certificate:
    text = repeated("log(x) > 1", " and ", 1_900)
    return witness(f"given x: rational; conclude {text}", x=LONG)


@hostile
def tables_that_are_almost_the_same() -> Certificate:
    def facts(last: str) -> list[list[str]]:
        cells = [(k, q) for k in range(8) for q in range(8)]
        values = {(7, 7): last, (0, 0): "w"}
        return [[f"k{k}", f"q{q}", values.get((k, q), "v")] for k, q in cells]

    text = "given D: database, E: database; conclude same_table(D, E)"
    return witness(text, D={"facts": facts("w")}, E={"facts": facts("u")})


@hostile
def sparse_tables() -> Certificate:
    first = [[f"k{i}", f"q{i}", "v"] for i in range(8)]
    second = [[f"k{i // 2 * 2 + j}", f"q{i}", "v"] for i in range(0, 8, 2) for j in range(2)]
    text = "given D: database, E: database; conclude isomorphic(D, E)"
    return witness(text, D={"facts": first}, E={"facts": second})


@hostile
def many_facts_many_times() -> Certificate:
    facts = [[f"k{i}", f"q{i}", f"v{i}"] for i in range(30_000)]
    text = repeated("disjoint(D)", " and ", 1_800)
    return witness(f"given D: database; conclude {text} and total(D)", D={"facts": facts})


def layer(tokens: int, d: int, heads: int) -> dict[str, Any]:
    head = {"W_Q": [["1"]] * d, "W_K": [["1"] * d], "W_V": [["1"]] * d, "W_O": [["1"] * d]}
    return {
        "tokens": [f"t{i}" for i in range(tokens)],
        "unit": "ln2",
        "W_E": [["1"] * d] * tokens,
        "W_U": [["1"] * tokens] * d,
        "heads": [head] * heads,
    }


@hostile
def circuits_of_many_tokens() -> Certificate:
    text = "given L: layer; conclude max_abs(EU(L)) == 1"
    return witness(text, L={"layer": layer(30_000, 1, 1)})


@hostile
def attention_of_many_pairs() -> Certificate:
    facts = [[f"t{i}", f"t{i + 400}", f"t{i}"] for i in range(400)]
    text = "given L: layer, D: database; conclude tensor_rank(unmasked_tensor(L, D)) == 1"
    return witness(text, L={"layer": layer(800, 1, 40)}, D={"facts": facts})


@hostile
def subsets_of_contexts() -> Certificate:
    rng = random.Random(3)
    contexts = [
        [[str(rng.randint(-99, 99)) for _ in range(24)] for _ in range(24)] for _ in range(16)
    ]
    heads = [{"W_K": [["1"]] * 24, "W_Q": [["1"]] * 24}]
    data = {
        "contexts": contexts,
        "context_of": list(range(16)),
        "queries": [["1"] * 24] * 16,
        "scale": "1",
        "heads": heads,
    }
    text = "given A: contexts; conclude feature_rank(A) <= feature_ceiling(A)"
    return witness(text, A={"multi-head": data})


@hostile
def many_sequences() -> Certificate:
    pairs = [[[i // 256, i % 256], 0] for i in range(30_000)]
    net = {"layer": layer(256, 8, 8), "pos": [["0"] * 8] * 2}
    text = "given T: transformer, a: associations; conclude memorized(T, a) == 1"
    return witness(text, T={"transformer": net}, a={"associations": pairs})


@hostile
def softmax_of_long_exponents() -> Certificate:
    T = cube(6, 6, 6, 10**200)
    return witness("given T: tensor; conclude softmax_tensor_rank(T) == 1", T=T)


@hostile
def nested_denials() -> Certificate:
    return witness(f"given n: integer; conclude {'not ' * 470}n == 1", n="1")


@hostile
def nested_signs() -> Certificate:
    return witness(f"given n: integer; conclude {'-' * 1_900}n == 1", n="1")


@hostile
def nested_words() -> Certificate:
    text = "transpose(" * 90 + "M" + ")" * 90
    return witness(f"given M: matrix; conclude rank({text}) == 1", M=[["1"] * 300] * 300)


@hostile
def large_literals() -> Certificate:
    text = "stack(" * 1 + "ones(1000, 1000), ones(1000, 1000))"
    lets = "".join(f"let M{i} = product({text}, ones(1000, 1000)); " for i in range(10))
    total = " + ".join(f"rank(M{i})" for i in range(10))
    return witness(f"given n: integer; {lets}conclude {total} == n", n="1")


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
    resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_it_ends_by_itself(name: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.json"
    path.write_text(json.dumps(HOSTILE[name](), separators=(",", ":")), encoding="utf-8")
    assert path.stat().st_size <= 1_000_000
    done = subprocess.run(
        [sys.executable, "-I", "-S", Path(checker.__file__).parent, path],
        capture_output=True,
        text=True,
        preexec_fn=limited,
    )
    assert done.returncode in (0, 1, 2), done
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr  # by its own account, and not by that of the system
    if done.returncode == 2:
        assert done.stderr.count("\n") == 1
        assert len(done.stderr) < 600


# --- claims files -------------------------------------------------------------------------------

DEEP = ".".join(["a"] * 30_000) + " = 1\n"
CLAIMS = {
    "a key of many parts": DEEP,
    "parts behind a quoted equals sign": '"=".' + DEEP,
    "parts between letters that only look like ends of lines": '"\u2028".'.join(
        [".".join(["a"] * 900) + "."] * 30
    )
    + "a = 1\n",
    "keys of a thousand parts": "".join(f"a{n}{'.a' * 1_000} = 1\n" for n in range(400)),
    "many tables": "".join(f"[a{n}]\n" for n in range(100_000)),
    "a long array": "z = [" + "1," * 450_000 + "]\n",
    "a long integer": "z = 0x" + "f" * 900_000 + "\n",
    "arrays in arrays": "z = " + "[" * 100_000 + "]" * 100_000 + "\n",
    "a larger file than claims fill": "#" * 5_000_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CLAIMS)
def test_claims_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    """With the claim in it, the certificate holds; otherwise the file is refused, not the claim."""
    said = witness("given n: integer; conclude n == 1", n="1")
    claim = f'[[claim]]\nid = "{said["claim"]}"\nformal = "{said["statement"]}"\n'
    (tmp_path / "hostile.json").write_text(json.dumps(said), encoding="utf-8")
    (tmp_path / "claims.toml").write_text(claim + CLAIMS[name], encoding="utf-8")
    folder = str(Path(checker.__file__).parent)
    done = subprocess.run(
        [sys.executable, "-I", "-S", folder, "--claims", "claims.toml", "hostile.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=limited,
    )
    assert done.returncode in (0, 2), done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode == 2:
        assert "is not a claims file" in done.stderr.splitlines()[-1]
        assert len(done.stderr) < 600
