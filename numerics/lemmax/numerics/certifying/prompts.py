"""Facts as prompts: which tokens a model reads for a fact, and which one it should say."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lemmax.theory.errors import LemmaxError
from lemmax.theory.facts.database import Database
from lemmax.theory.files import regular_bytes

Tokenize = Callable[[str], Sequence[int]]
PROMPT = ("{subject}", "{predicate}")
_FIELD = re.compile(r"\{(subject|predicate|object)\}")


@dataclass(frozen=True)
class Asked:
    """A fact, the numbers of its prompt's tokens and of its answer; or why it has none."""

    fact: tuple[Any, ...]
    prompt: tuple[int, ...] = ()
    answer: int = -1
    reason: str = ""


def asked(
    facts: Any,
    size: int,
    prompt: str | Sequence[Any] = PROMPT,
    tokens: Sequence[Hashable] | None = None,
    tokenize: Tokenize | None = None,
    answer: str = "{object}",
    places: int | None = None,
) -> list[Asked]:
    """The prompts of facts (subject, predicate, object), or of pairs (prompt, answer) as they are.

    Parameters
    ----------
    facts
        A list of triples or pairs, or whatever ``Database.of`` takes.
    prompt
        The tokens in turn, ``"{subject}"`` and ``"{predicate}"`` standing for those of the fact;
        a text is split at spaces, or given to ``tokenize`` with the fields filled in.
    tokens
        The name of each token; without them tokens are their numbers.
    tokenize
        From a text to numbers of tokens. ``answer`` is then a text too, and must be one token.
    places
        How many positions the model has.

    Examples
    --------
    >>> asked([("Rome", "capital-of", "Italy")], 4, "<s> {subject} {predicate}",
    ...       tokens=["<s>", "Rome", "capital-of", "Italy"])[0].prompt
    (0, 1, 2)
    """
    if not isinstance(facts, (list, tuple)):
        facts = Database.of(facts)
    if tokens is not None and len(tokens) != size:
        raise LemmaxError(f"There are {len(tokens)} names for {size} tokens.")
    number: dict[Any, int] = {name: i for i, name in enumerate(tokens or range(size))}
    if len(number) < size:
        raise LemmaxError("A token's name occurs twice.")
    listed = [tuple(fact) for fact in facts]
    if not listed:
        raise LemmaxError("There are no facts.")
    seen: dict[tuple[int, ...], tuple[Any, ...]] = {}
    found = []
    for fact in listed:
        one = _one(fact, number, prompt, tokenize, answer, tokens is None)
        if one.prompt:
            other = seen.setdefault(one.prompt, one.fact)
            if other is not one.fact:
                raise LemmaxError(f"The facts {other} and {one.fact} have the same prompt.")
        if places is not None and len(one.prompt) > places:
            why = f"the prompt has {len(one.prompt)} tokens, and the model {places} positions"
            one = Asked(one.fact, reason=why)
        found.append(one)
    return found


def _one(
    fact: tuple[Any, ...],
    number: dict[Any, int],
    prompt: str | Sequence[Any],
    tokenize: Tokenize | None,
    answer: str,
    numbered: bool,
) -> Asked:
    def token(name: Any) -> int:
        if numbered and isinstance(name, str) and name.isdecimal():
            name = int(name)
        try:
            return number[name]
        except (KeyError, TypeError):
            raise LemmaxError(f"The model has no token {name!r}, which {fact} needs.") from None

    if len(fact) == 2:
        return Asked(fact, tuple(map(token, fact[0])), token(fact[1]))
    if len(fact) != 3:
        raise LemmaxError(
            f"A fact is (subject, predicate, object) or (prompt, answer), not {fact}."
        )
    fields: dict[str, Any] = dict(zip(("subject", "predicate", "object"), fact, strict=True))
    if tokenize is not None:
        if not isinstance(prompt, str):
            prompt = " ".join(map(str, prompt))
        texts = [_FIELD.sub(lambda m: str(fields[m[1]]), text) for text in (prompt, answer)]
        read, said = (tuple(map(int, tokenize(text))) for text in texts)
        if not read or any(not 0 <= t < len(number) for t in read + said):
            raise LemmaxError(f"The prompt of {fact} has tokens that the model does not.")
        if len(said) != 1:
            return Asked(fact, reason=f"the answer {texts[1]!r} is {len(said)} tokens, not one")
        return Asked(fact, read, said[0])
    template = prompt.split() if isinstance(prompt, str) else list(prompt)
    if not any(isinstance(part, str) and _FIELD.fullmatch(part) for part in template):
        raise LemmaxError("The prompt has neither {subject} nor {predicate} in it.")
    filled = [
        fields[match[1]] if isinstance(part, str) and (match := _FIELD.fullmatch(part)) else part
        for part in template
    ]
    return Asked(fact, tuple(map(token, filled)), token(fields["object"]))


def read_prompts(path: Path) -> list[tuple[list[str], str]] | None:
    """The pairs of a table headed ``prompt`` and ``answer`` (.csv, .tsv, .jsonl); else None.

    Tokens of a prompt are parted by spaces; in .jsonl a prompt may be a list.
    """
    if path.suffix not in (".csv", ".tsv", ".jsonl"):
        return None
    text = regular_bytes(path, 2**28).decode("utf-8", "replace")
    if path.suffix == ".jsonl":
        try:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return None
        if not rows or not all(isinstance(r, dict) and {*r} == {"prompt", "answer"} for r in rows):
            return None
    else:
        reader = csv.DictReader(
            text.splitlines(), delimiter="," if path.suffix == ".csv" else "\t", strict=True
        )
        try:
            if set(reader.fieldnames or ()) != {"prompt", "answer"}:
                return None
            rows = list(reader)
        except csv.Error as error:
            raise LemmaxError(f"{path}, line {reader.line_num}: {error}.") from None
    pairs = []
    for number, row in enumerate(rows, 1):
        prompt, answer = row["prompt"], row["answer"]
        parts = prompt if isinstance(prompt, list) else str(prompt or "").split()
        if not parts or answer in (None, "") or None in row:
            raise LemmaxError(f"{path}: row {number} has no prompt or no answer.")
        pairs.append(([str(part) for part in parts], str(answer)))
    return pairs


def read_names(path: Path) -> dict[str, str]:
    """What arrays are called elsewhere and here: a JSON object of names."""
    try:
        names = json.loads(regular_bytes(path, 2**20).decode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        if isinstance(error, LemmaxError):
            raise
        names = None
    if not isinstance(names, dict) or not all(isinstance(ours, str) for ours in names.values()):
        raise LemmaxError(f"{path} is not a JSON object of names.")
    return names


def read_tokens(weights: Path, tokens: Path | None) -> list[str] | None:
    """Names of tokens: a JSON list, a file of one per line, or what lemmax wrote beside weights."""
    if tokens is not None:
        text = regular_bytes(tokens, 2**28).decode("utf-8", "replace")
        if tokens.suffix != ".json":
            return text.splitlines()
        try:
            names = json.loads(text)
        except (ValueError, RecursionError):
            names = None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise LemmaxError(f"{tokens} is not a JSON list of names.")
        return names
    if weights.suffix != ".safetensors":
        return None
    data = regular_bytes(weights, 2**30)
    try:
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
        names = json.loads(header["__metadata__"]["tokens"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if isinstance(names, list) and not all(isinstance(name, str) for name in names):
        raise LemmaxError(f"{weights}: the names of its tokens are not a list of names.")
    return names if isinstance(names, list) else None
