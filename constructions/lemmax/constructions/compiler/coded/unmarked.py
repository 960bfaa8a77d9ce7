r"""Integer codes without a marker: d_model = m|Q|, not one coordinate more than the codes need.

With m ≥ 2 and |Q| ≥ 3, coordinates (h, j), outputs (1,1) and (2,2), …, (2,m), hot coordinates
t_1 = (1,2) and t_i = (i,1). For a power of two S, predicate i has S at t_i and at (max(i,3),2), and
at (2,2) also -S/2 if i = 1 and -S if i = 2.

* W_K adds up all t_i, W_Q of head h too, but t_h with the sign -1. A predicate scores itself S²,
  and -S² in its own head; a key scores at most S²/2 in absolute value, if |Q| max|c| ≤ S/2.
* So head i reads the key, and the others read what predicate i has in their blocks, which is
  nothing but: -S/2 and S at (2,2) for i = 1, S for i = 2. With its own (2,2) that cancels.
* ‖c‖² = hi + lo stands on the t_i and on (3,2), …, (|Q|,2), divided by S.

The residual stream holds sums of S and a code, so its format must hold integers up to 2S + max|c|.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


def mark(W_E: Floats, queries: list[int], hot: list[int], m: int, scale: int) -> None:
    """Write the rows of the predicates."""
    for i, q in enumerate(queries):
        W_E[q, [hot[i], max(i, 2) * m + 1]] = scale
        if i < 2:
            W_E[q, m + 1] = -scale / (2 - i)


def heads(hot: list[int], outputs: list[int], m: int) -> tuple[Floats, Floats, Floats, Floats]:
    """W_Q, W_K, W_V, W_O of all heads, stacked."""
    H, width = len(hot), len(hot) * m
    W_Q, W_K = np.zeros((H, width, 1)), np.zeros((H, 1, width))
    W_V, W_O = np.zeros((H, width, m)), np.zeros((H, m, width))
    W_Q[:, hot] = W_K[:, :, hot] = 1
    for h in range(H):
        W_Q[h, hot[h]] = -1
        W_V[h, range(h * m, h * m + m), range(m)] = 1
        W_O[h, range(m), outputs] = 1
    return W_Q, W_K, W_V, W_O
