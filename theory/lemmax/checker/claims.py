"""What the claims of the papers say, where a refutation has to carry the claim's own statement."""

from __future__ import annotations

from .statements import Statement, statement

RESERVED = ("wong/", "dana/", "mahdavi/", "lemmax/")

_TABLE = """
wong/argmax-rank-one
given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 2

lemmax/argmax-rank-one-sharp
given M: matrix; assume rank(M) == 1; conclude rank(argmax(M)) <= 3

wong/proposition-3.6-proof
given P: matrix;
assume columns(P) >= 2 and rows(P) >= columns(P) and distinct_rows(P) and unit_rows(P);
conclude rank(gram(P)) == columns(P)

# k = q: the one entry A_qqq is both softmax(S)_0 and the sum of its row, which is 1.
wong/equation-5-diagonal
given S: matrix;
assume rows(S) == 1 and columns(S) == 2 and entry(S, 0, 0) == entry(S, 0, 1);
conclude entry(threshold(S, 1), 0, 0) == 1

wong/proposition-3.1
given L: layer, D: database;
assume d_model(L) <= tokens(L);
conclude equal(fibres(layer_tensor(L, D)), fibres(logits_tensor(L, D)))

# A rank is at most the product of two flattening ranks and at least each of them. If L = D,
# then the value flattening of D factors through the d_model rows of W_U.
wong/remark-3.4
given L: layer, D: database;
assume flattening_rank(layer_tensor(L, D), 0)
> flattening_rank(tensor(D), 0) * flattening_rank(tensor(D), 1);
conclude flattening_rank(tensor(D), 2) <= d_model(L)

# For all weights rank L <= d_model |Q|, since every slice L_:q: factors through W_U.
wong/equation-9
given L: layer, D: database;
assume queries(D) == 1;
conclude d_model(L) + heads(L) * d_vo(L) <= d_model(L) * queries(D)

# rank L >= rank D, where flattening ranks bound the one from above and the other from below.
wong/rank-hypothesis
given L: layer, D: database;
assume memorizes(L, D);
conclude flattening_rank(layer_tensor(L, D), 0) * flattening_rank(layer_tensor(L, D), 1)
>= flattening_rank(tensor(D), 0)

wong/precision
given M: matrix;
assume rank(M) >= 2 and rank(M) < rows(M) and rows(M) == columns(M)
and rank(argmax(M)) == rows(M) and max_entry(M) >= -min_entry(M);
conclude max_entry(M) > rows(M) * rows(M) * row_gap(M)

# slices_rank_sum(D) >= rank D, and for a total D memorizing means argmax(L) = D.
wong/rank-conditions
given L: layer, D: database;
assume size(D) == keys(D) * queries(D)
and rank(argmax(fibres(layer_tensor(L, D)))) >= slices_rank_sum(D);
conclude equal(argmax(fibres(layer_tensor(L, D))), fibres(tensor(D)))

wong/threshold-largest
given M: matrix, tau: rational;
assume rows(M) == 1 and 2 * tau >= 1 and entry(threshold(M, tau), 0, 0) == 1;
conclude entry(M, 0, 0) > entry(M, 0, 1)

# Probabilities over the full vocabulary are at most those over the values.
wong/tau-memorizes
given L: layer, D: database, tau: rational;
assume 2 * tau >= 1 and tau <= 1 and memorizes_at(L, D, tau);
conclude equal(threshold(fibres(layer_tensor(L, D)), tau), fibres(tensor(D)))

# As for wong/rank-conditions; above 1/2 the threshold marks at most one value of a fibre.
wong/equation-15
given L: layer, D: database, tau: rational;
assume 2 * tau > 1 and tau <= 1 and size(D) == keys(D) * queries(D)
and rank(threshold(fibres(layer_tensor(L, D)), tau)) >= slices_rank_sum(D);
conclude equal(threshold(fibres(layer_tensor(L, D)), tau), fibres(tensor(D)))

# One row; odds(tau) = odds(tau0)^2, so the quotient of the log-odds is 2.
wong/large-tau-large-c
given M: matrix, C0: matrix, C: matrix, tau0: rational, tau: rational;
assume rows(M) == 1 and 2 * tau0 > 1 and tau0 < tau and tau < 1
and tau * (1 - tau0) * (1 - tau0) == (1 - tau) * tau0 * tau0
and min_entry(C0) > 0 and min_entry(C) > 0
and equal(threshold(product(C0, M), tau0), argmax(M))
and equal(threshold(product(C, M), tau), argmax(M));
conclude entry(C, 0, 0) > 2 * entry(C0, 0, 0)

# The rank of a tensor is at least one flattening rank and at most the product of two.
wong/tau-monotone
given L: layer, D: database, tau0: rational, tau: rational;
assume 2 * tau0 >= 1 and tau0 <= tau and tau <= 1;
conclude flattening_rank(fold(threshold(fibres(layer_tensor(L, D)), tau), queries(D)), 0)
<= flattening_rank(fold(threshold(fibres(layer_tensor(L, D)), tau0), queries(D)), 0)
* flattening_rank(fold(threshold(fibres(layer_tensor(L, D)), tau0), queries(D)), 1)

wong/tau-one
given L: layer, D: database;
assume d_model(L) <= tokens(L);
conclude rank(threshold(fibres(layer_tensor(L, D)), 1)) == 0

wong/figure-3-tau-99
given L: layer, D: database;
assume d_model(L) <= 6 and heads(L) <= 4 and d_vo(L) <= d_model(L) and d_qk(L) <= d_model(L)
and memorizes_at(L, D, 99 / 100);
conclude slices_rank_sum(D) < d_model(L) + heads(L) * d_vo(L)

dana/t-epsilon
given P: matrix, eps: rational;
assume 0 < eps and eps < 1 and rows(P) == 1 and min_entry(P) >= 0 and entry_sum(P) == 1;
conclude covering(P, 1 - eps) < (1 - eps) * columns(P) + 1

# With B = 0.
dana/lemma-2-increment
given F: tensor;
assume flattening_rank(F, 0) == slice_rows(F) * slice_columns(F)
and slice_rows(F) <= slice_columns(F);
conclude max_slice_rank(F) >= slice_rows(F)

# Attention to position S needs a largest score there.
dana/skip-as-head
given X: matrix;
assume rows(X) >= 2;
conclude entry(argmax(gram(X)), rows(X) - 1, rows(X) - 1) == 1

# With H = 1 and S = 1, where A = X.
dana/value-map-keeps-rank
given W: matrix, X: matrix;
assume rank(W) == rows(W) and rank(X) == columns(X) and columns(X) <= rows(W);
conclude rank(product(W, X)) == rank(X)

dana/figure-4-bound
given N: rational, T: rational, d: rational, d_h: rational, H: rational;
assume N == 10 and T == 100 and d == 2 and d_h == 5 and H == 20;
conclude 1 / N + (1 - 1 / N) * (H * d_h + d) / T == 1

mahdavi/theorem-1-parameters
given A: contexts;
assume context_length(A) >= 2 and examples(A) == head_count(A) * (context_length(A) - 1) + 1
and kruskal_rank(query_matrix(A)) >= context_length(A)
and least_context_rank(A) == context_length(A) and feature_rank_lower(A) == examples(A);
conclude head_dimension(A) >= context_length(A)

mahdavi/kruskal-weakening-tight
given A: contexts;
assume shared(A) == 1 and least_context_rank(A) == context_length(A)
and kruskal_rank(query_matrix(A)) < context_length(A);
conclude feature_rank_lower(A) <= head_count(A) * (kruskal_rank(query_matrix(A)) - 1) + 1

mahdavi/head-dimension-rank
given A: contexts;
assume shared(A) == 1 and least_context_rank(A) == context_length(A)
and head_dimension(A) <= context_length(A);
conclude feature_rank_lower(A) <= head_count(A) * (head_dimension(A) - 1) + 1

mahdavi/general-position-limit
given A: contexts;
assume kruskal_rank(all_tokens(A)) >= dimension(A);
conclude feature_rank_lower(A) <= head_count(A) * (dimension(A) - 1) + 1

# softmax(ca) tends to the uniform distribution on the largest entries: one-hot iff there is one.
mahdavi/one-hot
given a: matrix;
assume rows(a) == 1 and min_entry(a) < max_entry(a);
conclude entry(gram(argmax(a)), 0, 0) == 1

mahdavi/saturation-lemma
given E: matrix, W: matrix, e: matrix;
assume rank(E) == rows(E) and columns(e) == 1
and min_entry(product(E, product(W, e))) < max_entry(product(E, product(W, e)));
conclude entry(gram(argmax(transpose(product(E, product(W, e))))), 0, 0) == 1

mahdavi/similar-contexts
given E: matrix, cv: matrix;
assume columns(E) == 2
and (entry(E, 0, 0) - entry(E, 1, 0)) * (entry(E, 0, 0) - entry(E, 1, 0))
+ (entry(E, 0, 1) - entry(E, 1, 1)) * (entry(E, 0, 1) - entry(E, 1, 1)) < 1/1000000
and columns(cv) == 1;
conclude max_entry(threshold(transpose(product(E, cv)), 99/100)) == 0

# n = 1, d = 2: the encoding of position 0 is P = (sin 0, cos 0) = (0, 1), and X + P is not 0.
mahdavi/encoding-makes-contexts-full-rank
given X: matrix;
assume rows(X) == 1 and columns(X) == 2;
conclude entry(X, 0, 0) * entry(X, 0, 0) + (entry(X, 0, 1) + 1) * (entry(X, 0, 1) + 1) > 0

mahdavi/approximate-kruskal
given M: matrix, k: rational;
assume independent_share(M, k) >= 99/100;
conclude kruskal_rank(M) >= k
"""


def _read(table: str) -> dict[str, Statement]:
    """One paragraph per claim: its id, then its statement; lines with a # are remarks."""
    found = {}
    for paragraph in table.strip().split("\n\n"):
        claim, *lines = [line for line in paragraph.splitlines() if not line.startswith("#")]
        found[claim] = statement(" ".join(lines))
    return found


STATEMENTS: dict[str, Statement] = _read(_TABLE)
