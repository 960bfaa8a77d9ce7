r"""refutation and witness: what is assumed, and the conclusion or its negation, in its own words.

``rank(argmax(M)) <= 2`` becomes ``((rank (argmax M)) <= 2%:R :> R)``: the words are functions of
real matrices, tensors and layers (``theory/formal/*_words.v``), so that the statement can be read
beside the certificate's. Numbers of the instance stand in the statement, other objects are named
data. A tensor rank or a Kruskal rank stands as a variable, with the relation that determines it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lemmax.theory.proving import literals
from lemmax.theory.proving.statements import matrix_words, tensor_words, truths
from lemmax.theory.proving.statements.back import read_back
from lemmax.theory.proving.statements.objects import FACTS, Thing, things
from lemmax.theory.proving.statements.trees import Sentence, sentence, words_in
from lemmax.theory.proving.statements.writer import Writer
from lemmax.theory.proving.theorem import NotTranslated, Theorem

__all__ = ["matrix_words", "meant", "read_back", "tensor_words", "translate"]
EXPONENTIAL = {
    "threshold",
    "threshold_tensor",
    "memorizes_at",
    "memorizes_values",
    "memorizes_values_at",
    "layer_tensor",
    "logits_tensor",
    "unmasked_tensor",
    "feature_rank",
}
# Words of probabilities, which are counted in natural units whatever the layer's are.
NATURAL = {"threshold", "threshold_tensor", "memorizes_at", "memorizes_values_at", "feature_rank"}


def mode_of(sent: Sentence, objects: Mapping[str, Thing]) -> str:
    """What is asked of the exponential: nothing, that it is one, or that it is the power of two."""
    used = set().union(*map(words_in, (*sent.hypotheses, sent.conclusion)))
    if not used & EXPONENTIAL:
        return "Plain"
    units = {thing.unit for thing in objects.values() if thing.unit}
    if units - {"1", "ln2"} or len(units) > 1 or (units == {"ln2"} and used & NATURAL):
        raise NotTranslated(
            "It counts attention in units of ln 2 and probabilities in natural units, and a "
            "theorem here has one exponential."
        )
    return "Binary" if units == {"ln2"} else "Natural"


def translate(certificate: Mapping[str, Any]) -> Theorem:
    """The theorem of a refutation or a witness."""
    sent = sentence(certificate)
    objects = things(sent)
    mode = mode_of(sent, objects)
    writer = Writer(sent, objects, mode)
    parts = []
    for tree in sent.hypotheses:
        text, proof = truths.shown(writer, tree, True)
        parts.append((text, proof))
    text, proof = truths.shown(writer, sent.conclusion, sent.wanted)
    parts.append((truths.goal(text, sent.wanted), proof))
    unknowns = list(writer.unknowns.values())
    data = {name: entry for thing in objects.values() for name, entry in thing.data.items()}
    data |= {name: (FACTS, facts) for name, facts in writer.literals.items()}
    binders = "(R : realFieldType)" + " (exp : R -> R)" * (mode != "Plain")
    binders += "".join(f"\n  {thing.binder}" for thing in objects.values() if thing.binder)
    assumed = {"Plain": "", "Natural": "natural", "Binary": "binary"}[mode]
    assumed = assumed and f"{assumed}_exponential exp ->\n  "
    lines = ["move=> ok."] if assumed else []
    if unknowns:
        assumed += f"exists {' '.join(u.name for u in unknowns)} : nat,\n  "
        lines.append(f"exists {', '.join(f'{u.value}%N' for u in unknowns)}.")
        parts = [(u.relation, u.proof) for u in unknowns] + parts
        for u in unknowns:  # after `exists` the goals speak of the values
            parts = [(t, p.replace(f"{u.name}%:R", f"{u.value}%:R")) for t, p in parts]
    for _, proof in parts[:-1]:
        lines += ["split.", literals.folded(f"{proof}.")]
    lines.append(literals.folded(f"{parts[-1][1]}."))
    texts = " /\\\n  ".join(text for text, _ in parts)
    return Theorem(data, f"{binders} :\n  {assumed}{texts}", "\n".join(lines))


def meant(certificate: Mapping[str, Any]) -> Any:
    """What a certificate says, as :func:`read_back` says it of a written theorem."""
    sent = sentence(certificate)
    objects = things(sent)
    mode = mode_of(sent, objects)
    writer = Writer(sent, objects, mode)

    def named(tree: Any) -> Any:
        """The tree with literal facts as the names of their data."""
        if not isinstance(tree, tuple):
            return tree
        if tree[0] == "facts":
            return writer.facts(tree)
        return tree[0], *map(named, tree[1:])

    hypotheses = [named(tree) for tree in sent.hypotheses]
    conclusion = named(sent.conclusion)
    said = {name: thing.said for name, thing in objects.items()} | writer.literals
    return mode, said, [*hypotheses, conclusion if sent.wanted else ("not", conclusion)]
