"""Mutants of functions and methods, as the operators of mutmut make them.

mutmut's operators are used and its runner is not: the runner copies the sources into a layout of
its own and leaves decorated functions out, for its trampolines cannot hold them. Here a mutant is
the text of one function with one place changed, and every function and method has them. What
stands outside of functions is not mutated, nor are annotations, decorators, and the arguments of
``len`` and ``isinstance``.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

# Not among lemmax's own requirements: `make mutants` installs them.
cst: Any = importlib.import_module("libcst")
metadata: Any = importlib.import_module("libcst.metadata")
file_mutation: Any = importlib.import_module("mutmut.mutation.file_mutation")
mutators: Any = importlib.import_module("mutmut.mutation.mutators")
pragmas: Any = importlib.import_module("mutmut.mutation.pragma_handling")

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Mutant:
    """One changed place of one function: where it is, and the text instead."""

    path: str
    function: str
    lines: tuple[int, int]  # of the statement that is changed
    begin: int
    end: int
    now: str
    digest: str
    words: bool  # only the words of a refusal or of a step, or the strictness of a zip

    @property
    def key(self) -> tuple[str, str]:
        return self.path, self.digest

    def source(self) -> str:
        """The text of the whole module with this change."""
        text = (ROOT / self.path).read_text(encoding="utf-8")
        return text[: self.begin] + self.now + text[self.end :]

    def told(self) -> dict[str, Any]:
        """What a record says of it."""
        text = (ROOT / self.path).read_text(encoding="utf-8")
        line = text.count("\n", 0, self.begin) + 1
        first = text.rfind("\n", 0, self.begin) + 1
        last = text.find("\n", self.end)
        before, after = (
            text[first:last],
            text[first : self.begin] + self.now + text[self.end : last],
        )
        return {
            "path": self.path,
            "function": self.function,
            "line": line,
            "was": " ".join(before.split())[:200],
            "now": " ".join(after.split())[:200],
            "digest": self.digest,
        }


class Everywhere(file_mutation.MutationVisitor):  # type: ignore[misc]
    """mutmut's visitor, which also enters functions with decorators."""

    METADATA_DEPENDENCIES = (
        metadata.PositionProvider,
        file_mutation.OuterFunctionProvider,
        metadata.WhitespaceInclusivePositionProvider,
    )

    def __init__(self) -> None:
        super().__init__(mutators.mutation_operators, pragmas.IgnoredCode(set(), set(), set()))
        self.spans: list[Any] = []

    def _create_mutations(self, node: Any) -> None:
        before = len(self.mutations)
        super()._create_mutations(node)
        span = self.get_metadata(metadata.WhitespaceInclusivePositionProvider, node, None)
        line = self.get_metadata(metadata.PositionProvider, node, None)
        self.spans += [(span, line)] * (len(self.mutations) - before)

    def _skip_node_and_children(self, node: Any) -> bool:
        if isinstance(node, cst.FunctionDef) and node.decorators:
            return False
        return bool(super()._skip_node_and_children(node))


def offsets(text: str) -> list[int]:
    """Where each line begins."""
    found = [0]
    for line in text.splitlines(keepends=True):
        found.append(found[-1] + len(line))
    return found


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Functions and methods that are not inside of another function, by their qualified names."""

    def within(body: list[ast.stmt], before: str) -> Iterator[tuple[str, Any]]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield before + node.name, node
            elif isinstance(node, ast.ClassDef):
                yield from within(node.body, f"{before}{node.name}.")
            elif isinstance(node, ast.If | ast.With | ast.Try):
                yield from within(node.body, before)

    yield from within(tree.body, "")


def first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])


def statements(tree: ast.Module) -> list[tuple[int, int]]:
    """The lines of every statement; of one with a body, those before the body.

    Of a function all lines: what its defaults are is seen where it runs, not where it is defined.
    """
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append((node.lineno, node.end_lineno or node.lineno))
        elif isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
            found.append((node.lineno, last))
        elif isinstance(node, ast.match_case):
            found.append((node.pattern.lineno, node.pattern.end_lineno))
    return found


SAYING = ("refuse", "beyond", "_beyond", "LemmaxError", "NotACertificate", "Step", "fail")


def wordings(tree: ast.Module, starts: list[int], lines: list[str]) -> list[tuple[int, int]]:
    """The places of arguments that only become words: of refusals, exceptions and steps."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        if name in SAYING or name.endswith(("Error", "Exit")):
            for each in node.args[1:] if name == "Step" else node.args:
                found.append(
                    (
                        place(each.lineno, each.col_offset, starts, lines),
                        place(each.end_lineno, each.end_col_offset, starts, lines),
                    )
                )
    return found


def lenient(text: str) -> str:
    """A text without the strictness of its zips, an assertion that no verdict depends on."""
    return re.sub(r",\s*(strict=\w+)?\s*\)", ")", text)


def place(line: int | None, column: int | None, starts: list[int], lines: list[str]) -> int:
    """A place of ast, whose columns are bytes, in characters."""
    assert line is not None
    assert column is not None
    return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())


def changed(text: str, other: str) -> tuple[int, int, str]:
    """Where two texts differ: begin and end in the first, and what stands there in the second."""
    begin = next(
        (i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b),
        min(len(text), len(other)),
    )
    end, last = len(text), len(other)
    while end > begin and last > begin and text[end - 1] == other[last - 1]:
        end, last = end - 1, last - 1
    return begin, end, other[begin:last]


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of a file, in the order of the text, each text once."""
    text = path.read_text(encoding="utf-8")
    visitor = Everywhere()
    module = metadata.MetadataWrapper(cst.parse_module(text)).visit(visitor)
    tree, starts, rows = ast.parse(text), offsets(text), text.splitlines()
    places = [(name, first_line(node), node.end_lineno or 0) for name, node in functions(tree)]
    worded = wordings(tree, starts, rows)
    parts = statements(tree)
    found: dict[str, Mutant] = {}
    name = path.relative_to(ROOT).as_posix()
    for mutation, (span, inner) in zip(visitor.mutations, visitor.spans, strict=True):
        line = inner.start.line
        inside = [each for each in places if each[1] <= line <= each[2]]
        if not inside:
            continue
        function, first, last = inside[0]
        if isinstance(mutation.original_node, cst.Match):
            other = module.deep_replace(mutation.original_node, mutation.mutated_node).code
        else:
            begin = starts[span.start.line - 1] + span.start.column
            end = starts[span.end.line - 1] + span.end.column
            other = text[:begin] + module.code_for_node(mutation.mutated_node) + text[end:]
        if other == text:
            continue
        begin, end, now = changed(text, other)
        own = text[starts[first - 1] : starts[last]]
        mutated = own[: begin - starts[first - 1]] + now + own[end - starts[first - 1] :]
        digest = hashlib.sha256("\n".join((name, function, own, mutated)).encode()).hexdigest()[:16]
        removed = isinstance(mutation.original_node, cst.Call) and (
            len(mutation.original_node.args) != len(getattr(mutation.mutated_node, "args", ()))
        )
        words = not removed and any(low <= begin and end <= high for low, high in worded)
        words |= lenient(own) == lenient(mutated)
        around = [part for part in parts if part[0] <= line <= part[1]] or [(line, line)]
        lines = min(around, key=lambda part: (part[1] - part[0], -part[0]))
        found.setdefault(digest, Mutant(name, function, lines, begin, end, now, digest, words))
    return list(found.values())


def mutants_in(folders: list[str], kept: Path | None = None) -> list[Mutant]:
    """All mutants of the Python files below some folders; kept in a folder between runs."""
    files = sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    return [mutant for file in files for mutant in (once(file, kept) if kept else mutants_of(file))]


def once(file: Path, kept: Path) -> list[Mutant]:
    """The mutants of a file, made once for each text of it and of this module."""
    texts = file.read_bytes() + Path(__file__).read_bytes()
    place = kept / f"{hashlib.sha256(str(file).encode() + texts).hexdigest()[:16]}.json"
    if place.exists():
        fields = json.loads(place.read_text(encoding="utf-8"))
        return [Mutant(**each | {"lines": tuple(each["lines"])}) for each in fields]
    found = mutants_of(file)
    kept.mkdir(parents=True, exist_ok=True)
    part = place.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps([asdict(each) for each in found]), encoding="utf-8")
    part.rename(place)
    return found


def drawn(mutants: list[Mutant], seed: int) -> list[Mutant]:
    """The same mutants in an order that the seed draws: any beginning of it is a sample."""
    key = {mutant: f"{seed}:{mutant.path}:{mutant.digest}".encode() for mutant in mutants}
    return sorted(mutants, key=lambda mutant: hashlib.sha256(key[mutant]).digest())
