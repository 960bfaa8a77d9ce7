"""What stands behind verdicts: kinds of certificates, the checker, grades, proofs."""

from __future__ import annotations

import ast
import inspect
import json
import posixpath
from collections import Counter
from collections.abc import Mapping
from typing import Any

import lemmax.checker as checker
from lemmax.checker.words import VOCABULARY
from lemmax.sphinx.bases import Generated
from lemmax.sphinx.checking import button
from lemmax.sphinx.markup import markdown
from lemmax.sphinx.sites import SCHEMAS
from lemmax.theory.certificates.archive import FOLDER, checker_sources, sources_for
from lemmax.theory.ledger import coq as kernel
from lemmax.theory.ledger.proofs import read_proof
from lemmax.theory.ledger.verdicts import GRADES


class CertificateKinds(Generated):
    """One section a kind, drawn from its JSON Schema and a shipped example."""

    def markdown(self) -> str:
        site = self.site
        origin = posixpath.dirname(self.env.docname) or "."
        lines: list[str] = []
        for path in sorted(SCHEMAS.glob("*.schema.json")):
            schema = json.loads(path.read_text(encoding="utf-8"))
            kind = path.name.removesuffix(".schema.json")
            href = posixpath.relpath(f"certificates/schemas/{path.name}", origin)
            lines += [
                f"## {kind}",
                "",
                f"{markdown(schema.get('description', ''))} "
                f'<a download href="{href}">JSON Schema</a>',
                "",
                *_rule(kind),
                "| field | needed | content |",
                "|---|---|---|",
            ]
            for name, field in schema["properties"].items():
                if name in ("format", "version", "kind", "note"):
                    continue
                needed = "yes" if name in schema.get("required", ()) else "no"
                lines.append(f"| `{name}` | {needed} | {_describe(field, schema)} |")
            lines += [""]
            example = next((n for n in site.certificates if site.checked(n)["kind"] == kind), None)
            if example:
                href = posixpath.relpath(f"certificates/{example}.json", origin)
                lines += [
                    f'<p class="lx-certificate"><a download href="{href}">{example}.json</a> '
                    f"<small>a shipped one</small> {button(site, example, self.env.docname)}</p>",
                    "",
                ]
        return "\n".join(lines)


class Vocabulary(Generated):
    """The words of the checker's language, from its own table."""

    def markdown(self) -> str:
        lines = ["| word | meaning |", "|---|---|"]
        for words in VOCABULARY.values():
            for word in words:
                meaning = word.meaning.replace("|", "\\|")
                lines.append(f"| `{word.call}` | {meaning} |")
        return "\n".join(lines)


class CheckerModules(Generated):
    """What a referee reads, counted."""

    def markdown(self) -> str:
        lines, counts = ["| module | lines | |", "|---|---|---|"], Counter[str]()
        for path in checker_sources():
            text, name = path.read_text(encoding="utf-8"), path.relative_to(FOLDER).as_posix()
            counts[self.part(name)] += (count := text.count("\n"))
            told = ast.get_docstring(ast.parse(text)) if path.suffix == ".py" else ""
            first = (told or "What the claims of the papers say.").partition("\n")[0]
            lines.append(f"| `{name}` | {count} | {first} |")
        lines += [f"| {part} | {count:,} | together |" for part, count in counts.items()]
        lines += [
            f"| all | {counts.total():,} | |",
            "",
            "What is imported for a kind, and read by its referee:",
            "",
        ]
        lines += ["| kind | modules | lines |", "|---|---|---|"]
        for kind in checker.KINDS:
            texts = [path.read_text(encoding="utf-8") for path in sources_for(kind)]
            lines.append(f"| {kind} | {len(texts)} | {sum(t.count(chr(10)) for t in texts):,} |")
        return "\n".join(lines)

    @staticmethod
    def part(name: str) -> str:
        """Which count a module belongs to."""
        folder = name.partition("/")[0]
        if folder in ("language", "words"):
            return "the language of statements"
        if folder == "models" or "transformer_mem" in name:
            return "trained transformers"
        return "layers by codes" if folder == "coded" or "float_" in name else "kinds and numbers"


def _rule(kind: str) -> list[str]:
    """What the checker's own function says about a kind."""
    told = inspect.getdoc(checker.rule_of(kind)) if kind in checker.KINDS else None
    if not told:
        return []
    body = " ".join(told.split())
    return [f"**Checked.** {markdown(body)}", ""]


def _describe(field: Mapping[str, Any], schema: Mapping[str, Any], depth: int = 0) -> str:
    """A JSON Schema in a few words."""
    if depth > 6:
        return "…"
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        target = schema.get("$defs", {}).get(name, {})
        if target.get("type") == "object" and "properties" in target:
            return _describe(target, schema, depth + 1)
        return str(name)
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        return " or ".join(f"`{json.dumps(v)}`" for v in field["enum"])
    for key in ("oneOf", "anyOf"):
        if key in field:
            return "; or ".join(_describe(f, schema, depth + 1) for f in field[key])
    if "properties" in field:
        inner = (
            f"`{name}`: {_describe(f, schema, depth + 1)}"
            for name, f in field["properties"].items()
        )
        return "{ " + ", ".join(inner) + " }"
    if field.get("type") == "array":
        items = field.get("items", field.get("prefixItems"))
        if isinstance(items, dict):
            return f"list of {_describe(items, schema, depth + 1)}"
        return "list"
    if isinstance(field.get("additionalProperties"), dict):
        return f"names with {_describe(field['additionalProperties'], schema, depth + 1)}"
    if "description" in field:
        return markdown(str(field["description"]))
    return str(field.get("type", "as the method needs"))


class ProofList(Generated):
    """Every proof page, by paper."""

    def markdown(self) -> str:
        site = self.site
        lines: list[str] = []
        folder = site.docs / "proofs"
        for key in site.papers:
            pages = sorted((folder / key).glob("*.md"))
            if pages:
                lines += [f"## {site.papers[key]['title']}", ""]
            for path in pages:
                proof = read_proof(path)
                word = {"for": "", "against": " (refutation)", "gap": " (gap)"}[proof.direction]
                lines.append(
                    f"- [{markdown(proof.title, escape=False)}]({key}/{path.name}){word}: "
                    f"{site.link(proof.claim, self.env.docname)}"
                )
            lines.append("")
        return "\n".join(lines)


class Grades(Generated):
    """How many claims each grade decides now."""

    def markdown(self) -> str:
        site = self.site
        counts = Counter(e["grade"] for e in site.entries.values() if e["grade"])
        lines = ["| grade | claims whose verdict rests on it |", "|---|---|"]
        lines += [f"| {grade} | {counts[grade]} |" for grade in GRADES]
        return "\n".join(lines)


class FormalProofs(Generated):
    """What the headers of the Coq sources say that they prove."""

    def markdown(self) -> str:
        site = self.site
        lines = ["| file | proves | by | controls |", "|---|---|---|---|"]
        for file, text in kernel.formal_sources().items():
            told = kernel.header(text)
            controls = " ".join(f"`{t}`" for p in told if p.claim is None for t in p.theorems)
            name = f"`{file}.v`"
            for proved in told:
                if proved.claim is None:
                    continue
                what = site.link(proved.claim, self.env.docname)
                what = f"against {what}" if proved.direction == "against" else what
                scope = f" ({markdown(proved.scope)})" if proved.scope else ""
                theorems = " ".join(f"`{t}`" for t in proved.theorems)
                lines.append(f"| {name} | {what}{scope} | {theorems} | {controls} |")
                name = controls = ""
        return "\n".join(lines)
