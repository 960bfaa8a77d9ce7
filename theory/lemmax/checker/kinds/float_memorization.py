"""Facts in a layer by codes, recalled over the reals and in floating point, from its structure.

Assumed of the formats: sums are rounded to nearest (any monotone rounding serves ``integers`` and
``one-rounding``, an error of one unit in the last place the other families), products and sums that
a format holds are exact, exp(x) is 0 for x <= -104, softmax subtracts the maximum, subnormal
float16 weights are not flushed to zero. Nothing is assumed of the order of a sum.

On (k, q) head q scores the key 0 and the predicate -g, the other heads the key 0 and the predicate
+g, with g >= 104. So attention is 0 or 1, head q writes the key's block q to the outputs, the
others write zeros, and a logit is the sum of 2<c_v, x> - |c_v|^2, x = c_w, and exact zeros. Over
the reals x is off by less than exp(-g) (H + 1) max(1, |c|); codes are multiples of a power of two.
"""

import json
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from ..coded import joined, unmarked
from ..coded.arrays import NAMES, Table, tables
from ..coded.codebooks import FAMILIES, Codes, Layer, Layout
from ..coded.envelopes import Envelope
from ..coded.floats import FORMATS, ONE, SHIFT, value, values
from ..coded.selection import astray, stacked
from ..files import weighed
from ..limits import keep, refuse, room, spend
from ..reading import choice, fields, integer, number
from ..steps import Step

ARRAYS = "W_E W_U W_Q W_K W_V W_O facts queries tokens"


def layout(heads: int, m: int, intercepts: int, shared: int | None) -> Layout:
    """Blocks first; lines (where ``shared`` is given) write their numbers twice."""
    blocks = heads * m
    if shared is not None:
        common = -(-heads // shared) if shared else 0
        second = heads + common
        outputs = [0, second] + ([heads, second + 1] if shared else [])
        markers = list(range(second + m, second + m + intercepts))
        return Layout(second + m + intercepts, outputs, [None, *range(1, heads)], markers)
    hot: list[int | None] = list(range(m, blocks, m))
    if m == 1 or heads == 1:
        markers = list(range(blocks, blocks + intercepts))
        return Layout(blocks + intercepts, list(range(m)), [None, *hot], markers)
    return Layout(blocks + 1, [0, *range(m + 1, 2 * m)], [1, *hot], [blocks])


def read(data: Mapping[str, Any]) -> Layer:
    wide = type(data["arithmetic"]) is dict and "residual" in data["arithmetic"]
    names = ("weights", "accumulate", "logits", *["residual"] * wide)
    arithmetic = fields(data["arithmetic"], "arithmetic", " ".join(names))
    forms = {name: FORMATS[choice(arithmetic[name], name, tuple(FORMATS))] for name in names}
    names_of_code = "family coordinates intercepts factor"
    lines = type(data["code"]) is dict and data["code"].get("family") == "envelope"
    code = fields(data["code"], "code", names_of_code + " shared" * lines)
    shared = integer(code["shared"], "code.shared", 9) if lines else None
    m = integer(code["coordinates"], "code.coordinates", 65)
    intercepts, factor = (
        integer(code["intercepts"], "code.intercepts", 4 if lines else 3),
        code["factor"],
    )
    if integer(factor, "code.factor", 2**20) < 1 or factor & (factor - 1):
        refuse("code.factor", "must be a power of two")
    if not m or not intercepts:
        refuse("code", "needs coordinates and intercepts")
    if shared is not None and m != (2 if shared else 1):
        refuse("code.coordinates", "of lines are one number, and one more that is shared")
    arrays = tables(data["arrays"], ARRAYS)
    queries = list(arrays["queries"].entries)
    heads = len(queries)
    if not heads:
        refuse("queries", "must not be empty")
    family = choice(code["family"], "code.family", FAMILIES)
    both = family == "joined"  # predicates may be subjects
    if family == "unmarked":
        if heads < 3 or m < 2 or intercepts != 2:
            refuse("code", "without markers needs three heads, two coordinates and two intercepts")
        place = unmarked.layout(heads, m)
    else:
        place = joined.layout(heads, m) if both else layout(heads, m, intercepts, shared)
    size, d = (*arrays["W_E"].shape, 0)[0], place.width
    shapes = {
        "W_E": (size, d),
        "W_U": (d, size),
        "W_Q": (heads, d, 2 if both else 1),
        "W_K": (heads, 2 if both else 1, d),
        "W_V": (heads, d, m),
        "W_O": (heads, m, d),
        "facts": (integer(data["facts"], "facts", 2**31), 3),
        "queries": (heads,),
    }
    for name, shape in shapes.items():
        if arrays[name].shape != shape:
            refuse(name, f"must have the shape {shape}")
        if name.startswith("W") and NAMES.get(arrays[name].kind) != forms["weights"].name:
            refuse(name, f"must have entries of the type {forms['weights'].name}")
    if arrays["facts"].kind != "I32" or arrays["queries"].kind != "I32":
        refuse("facts and queries", "must be integers")
    tokens(arrays["tokens"], size)
    weights, sums, logits, *stream = (forms[name] for name in names)
    residual = stream[0] if stream else weights
    return Layer(
        weights, sums, logits, residual, family, m, factor, place, arrays, queries, shared or 0
    )


def tokens(table: Table, size: int) -> None:
    """The names of the tokens: a JSON list of distinct strings."""
    keep("The tokens", 3 * size)
    spend("The tokens", 10 * size + len(table.entries))
    raw = table.entries.tobytes()
    weighed("The tokens", raw)
    try:
        names = json.loads(raw)
    except (ValueError, RecursionError):
        refuse("tokens", "must be a JSON list of strings")
    if table.kind != "U8" or type(names) is not list or len(names) != size:
        refuse("tokens", f"must be a list of {size} names")
    if not all(type(name) is str and name for name in names) or len(set(names)) != size:
        refuse("tokens", "must be distinct nonempty strings")


def check(data: Mapping[str, Any]) -> Iterator[Step]:
    """Structure, codes, margins, and one comparison of a block with a code per fact."""
    fields(data, "The certificate", "arithmetic code arrays facts" + " tau" * ("tau" in data))
    tau = number(data["tau"], "tau") if "tau" in data else None
    if tau is not None and not 0 < tau < 1:
        refuse("tau", "must lie strictly between 0 and 1")
    layer = read(data)
    for where, form in (("accumulate", layer.sums), ("residual", layer.residual)):
        if layer.weights.significand > form.significand or layer.weights.greatest > form.greatest:
            refuse(where, "must hold the weights")
    spend("The weights", sum(2 * len(table.entries) for table in layer.arrays.values()))
    yield named(layer)
    if layer.family == "joined":
        yield joined.predicates(layer)
        yield joined.held(layer)
        scale = 1
        gain, step = joined.heads(layer)
    elif layer.family == "unmarked":
        scale, step = unmarked.predicates(layer)
        yield step
        gain, step = unmarked.heads(layer, max(1, scale))
    else:
        scale, step = predicates(layer)
        yield step
        gain, step = heads(layer, max(1, scale))
    yield step
    known = sorted(set(layer.arrays["facts"].entries[2::3]))
    if layer.family == "envelope":
        if tau is not None or scale != 1:
            refuse("tau", "needs integer codes, and lines need markers of 1")
        yield questions(layer)
        yield from Envelope(layer, gain, known).steps()
        return
    codes = Codes(layer, scale, gain, known)
    yield codes.columns()
    yield codes.others()
    yield codes.distinct()
    yield codes.margins()
    yield codes.real()
    if tau is not None:
        yield codes.probability(tau)
    yield recalled(layer, codes)


def named(layer: Layer) -> Step:
    """Predicates are distinct tokens, facts name tokens, and each asks for a predicate."""
    facts, queries = layer.arrays["facts"].entries, layer.queries
    if len(set(queries)) != len(queries) or not 0 <= min(queries) <= max(queries) < layer.size:
        refuse("queries", "must be distinct tokens")
    if not facts:
        refuse("facts", "must not be empty")
    if not 0 <= min(facts) <= max(facts) < layer.size:
        refuse("facts", "name tokens that do not exist")
    if not set(facts[1::3]) <= set(queries):
        return Step(False, "a fact asks for a predicate that no head belongs to")
    return Step(True, f"{len(facts) // 3} facts about {len(queries)} predicates")


def predicates(layer: Layer) -> tuple[int, Step]:
    """Predicates: a power of two at the first marker, 1 at the second and at a hot coordinate."""
    W_E, d = layer.arrays["W_E"].entries, layer.layout.width
    queries, first = layer.queries, layer.layout.markers[0]
    scale = value(W_E[queries[0] * d + first], layer.weights, "W_E")
    if scale < ONE or scale & (scale - 1):
        return 0, Step(False, "predicate 0 has no power of two at the marker")
    for i, (q, hot) in enumerate(zip(queries, layer.layout.hot, strict=True)):
        wanted = dict.fromkeys(layer.layout.markers[1:], ONE) | {first: scale}
        if hot is not None:
            wanted[hot] = ONE
        for j in range(d):
            if value(W_E[q * d + j], layer.weights, "W_E") != wanted.get(j, 0):
                return 0, Step(False, f"predicate {i} is not a marker and a hot coordinate")
    keys = set(layer.arrays["facts"].entries[0::3])
    for j in layer.layout.markers:
        marks = W_E[j::d]
        if any(map(marks.__getitem__, keys)):
            return 0, Step(False, "a key is not zero at a marker")
    return scale >> SHIFT, Step(True, f"{len(queries)} predicates, {len(keys)} keys as they should")


def heads(layer: Layer, scale: int) -> tuple[int, Step]:
    """Head h scores keys 0, predicate h -g and the others +g, and copies block h to the outputs."""
    place, stacks = layer.layout, stacked(layer)
    z, gain = place.markers[0], abs(stacks["W_Q"][place.markers[0]]) * scale
    if gain < 104 * ONE:
        return 0, Step(False, f"attention saturates to exp(-{gain // ONE}), which is not 0")
    others = [hot for hot in place.hot if hot is not None]

    def scores(h: int) -> tuple[list[int], list[int]]:
        W_Q, W_K, hot = [0] * place.width, [0] * place.width, place.hot[h]
        W_K[z] = ONE // scale
        W_Q[z] = -gain // scale if hot is None else gain // scale
        for j in others if hot is None else [hot]:
            W_Q[j] = 2 * gain if hot is None else -2 * gain
        return W_Q, W_K

    if wrong := astray(layer, stacks, scores):
        return 0, wrong
    text = f"{len(place.hot)} heads attend to one token only: exp(-{gain // ONE}) is 0"
    return gain // ONE, Step(True, text)


def questions(layer: Layer) -> Step:
    """No subject and predicate occur in two facts."""
    facts = layer.arrays["facts"].entries
    room("The facts", 3 * (len(facts) // 3))
    spend("The facts", 3 * (len(facts) // 3))
    pairs = {k * layer.size + q for k, q in zip(facts[0::3], facts[1::3], strict=True)}
    if len(pairs) != len(facts) // 3:
        return Step(False, "a subject and a predicate occur in two facts")
    return Step(True, f"{len(pairs)} questions differ")


def recalled(layer: Layer, codes: Codes) -> Step:
    """Per fact: block q of the key is the code of the value."""
    facts, d, m = layer.arrays["facts"].entries, layer.layout.width, layer.m
    count = len(facts) // 3
    if not (differ := questions(layer)).ok:
        return differ
    keep("The facts", 3 * count)
    spend("The facts", 8 * count * (m + 2))
    keys, asked, told = facts[0::3], facts[1::3], facts[2::3]
    groups: dict[int, tuple[array[int], array[int]]] = {
        q: (array("i"), array("i")) for q in layer.queries
    }
    for k, q, v in zip(keys, asked, told, strict=True):
        mine = groups[q]
        mine[0].append(k)
        mine[1].append(v)
    W_E = layer.arrays["W_E"].entries
    for h, q in enumerate(layer.queries):
        subjects, objects = groups[q]
        for j in range(m):
            block, row = W_E[h * m + j :: d], codes.rows[layer.layout.outputs[j]]
            double = {
                w: 2 * layer.factor * x for w, x in values(block, layer.weights, "W_E").items()
            }
            held = map(double.__getitem__, map(block.__getitem__, subjects))
            wanted = map(codes.value.__getitem__, map(row.__getitem__, objects))
            for at, (x, y) in enumerate(zip(held, wanted, strict=True)):
                if x != y:
                    fact = (subjects[at], q, objects[at])
                    return Step(False, f"the fact {fact} is not held: its block is another code")
    return Step(True, f"{count} facts: the block of the key is the code of the value")
