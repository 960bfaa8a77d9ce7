r"""The compiler: facts in, attention weights out, and a proof that every fact is known.

Values are numbered 1, …, N. The first four constructions make the logits of the input (k, q)

.. math:: L_v = c\,(s\,v - v^2/2), \qquad |s - n| \le 1/8, \quad n = \text{the number of } D(k, q),

which is largest at v = n by at least 3c/8, and give every token outside V the logit -c(N+2).
They differ in how a head produces the scalar s = s(k, q):

``by-predicates`` (subjects and predicates disjoint)
    One head, d_vo = 1, d_qk = |Q| - 1, d_model = |Q| (for one predicate d_model = 2 and uniform
    attention). Key k carries the number x_k and its wanted attention for each predicate but one;
    that one sees it with attention 1/2, which fixes x_k.
``by-keys`` (subjects and predicates disjoint)
    The same with the roles exchanged: d_qk = |K| - 1, d_model = |K| + 1.
``two-heads`` (any tokens may coincide, k = q included)
    Two heads, d_vo = 1, d_qk = |Q|, d_model = 2|Q| + 1. The second head attends uniformly and
    subtracts, so s = e_q + (α - 1/2)(x_k - x_q), and s(q, q) = e_q.
``two-heads-one-hot``
    The same with d_model = |T| and the identity as embedding, for small vocabularies.

Attention weights are logistic functions of rationals and therefore never exactly what is wanted:
the scores are rounded to dyadic rationals so finely that s is off by at most 1/8.

The fifth is for number formats, and takes a dtype:

``by-codes``
    |Q| heads, d_qk = 1, d_vo = m, d_model about |Q|·m: a key carries a code of m numbers for each
    value, attention saturates, and the logits are those of the nearest code. What a computer makes
    of it in bfloat16, float16 or float32 is proved, not measured. Where a predicate is a subject
    too, d_qk = 2 and d_model about |Q|(m+1).

One builder per file, :mod:`~lemmax.constructions.compiler.planning` to choose among them,
:mod:`~lemmax.constructions.compiler.compiling` to run the passes, and the layers' answers and
files. Smaller layers, constructed or searched for, are in
:mod:`~lemmax.constructions.compiler.smallest`; nothing is learnt outside of it.
"""

from lemmax.constructions.compiler.answers import Recall, recall
from lemmax.constructions.compiler.coded.compiled import CompiledByCodes
from lemmax.constructions.compiler.compiling import (
    CompiledDatabase,
    checked_threshold,
    compile_database,
)
from lemmax.constructions.compiler.files import load, load_layer, save
from lemmax.constructions.compiler.planning import (
    Dimensions,
    Method,
    applicable,
    dimensions,
    lower_bounds,
)

__all__ = [
    "CompiledByCodes",
    "CompiledDatabase",
    "Dimensions",
    "Method",
    "Recall",
    "applicable",
    "checked_threshold",
    "compile_database",
    "dimensions",
    "load",
    "load_layer",
    "lower_bounds",
    "recall",
    "save",
]
