"""A pretrained reader of text lines: PP-OCRv4's recognizer, two attention layers, d = 120.

The network comes from the package ``rapidocr-onnxruntime``, which carries it as an ONNX file;
nothing of that package is imported and nothing is fetched. Convolutions turn an image of a line
into n tokens, one for each eight columns, and two transformer blocks of eight heads mix them. Runs
need ``onnx``, ``onnxruntime`` and ``pillow``; ranks are then decided on the stored floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmax.numerics.pretrained.assumptions import AttentionData
from lemmax.theory.errors import LemmaxError

PACKAGE = "rapidocr_onnxruntime"
HEADS, HEIGHT, STRIDE = 8, 48, 8  # the network reads lines 48 pixels high, 8 columns for a token
MISSING = (
    "The reader of text lines is not installed: pip install --no-deps rapidocr-onnxruntime==1.4.4, "
    "and onnx, onnxruntime and pillow."
)


def model_file() -> Path:
    """Where the network is; says what to install if it is not."""
    spec = find_spec(PACKAGE)
    needed = ("onnx", "onnxruntime", "PIL")
    if spec is None or spec.origin is None or not all(find_spec(name) for name in needed):
        raise LemmaxError(MISSING)
    path = Path(spec.origin).parent / "models" / "ch_PP-OCRv4_rec_infer.onnx"
    if not path.is_file():
        raise LemmaxError(f"The package {PACKAGE} is installed without its network; reinstall it.")
    return path


def lines(text: str, letters: int, count: int) -> list[str]:
    """The first distinct runs of so many letters of a text, in order; blanks count as letters.

    >>> lines("so on so on", 4, 3)
    ['so o', 'o on', ' on ']
    """
    plain = " ".join(text.split())
    starts = range(len(plain) - letters + 1)
    return list(dict.fromkeys(plain[s : s + letters] for s in starts))[:count]


def drawn(words: Sequence[str], n: int) -> NDArray[np.float32]:
    """Images of words in black on white, wide enough for n tokens, scaled to [-1, 1]."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(30)
    images = []
    for word in words:
        image = Image.new("RGB", (n * STRIDE, HEIGHT), "white")
        ImageDraw.Draw(image).text((2, 6), word, fill="black", font=font)
        images.append(np.asarray(image, dtype=np.float32).transpose(2, 0, 1) / 127.5 - 1)
    return np.stack(images)


def attention_layers(words: Sequence[str], n: int = 12) -> list[AttentionData]:
    """What enters the two attention layers on images of the words; queries are the middle tokens.

    Key biases move all logits of a row alike and are left out; a query bias is one more coordinate.
    """
    import onnx
    import onnxruntime

    network: Any = onnx.load(model_file())
    nodes = {name: node for node in network.graph.node for name in node.output}
    constants = {
        node.output[0]: onnx.numpy_helper.to_array(node.attribute[0].t)
        for node in network.graph.node
        if node.op_type == "Constant"
    }
    joint = []  # the maps to queries, keys and values, in order: what they read, weights, bias
    for node in network.graph.node:
        bias = nodes.get(node.input[0]) if node.op_type == "Reshape" else None
        product = nodes.get(bias.input[0]) if bias is not None and bias.op_type == "Add" else None
        if bias is None or product is None or product.op_type != "MatMul":
            continue
        W, b = constants[product.input[1]], constants[bias.input[1]]
        if W.shape[1] == 3 * W.shape[0]:
            joint.append((product.input[0], W, b))
    for name, *_ in joint:
        network.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    session: Any = onnxruntime.InferenceSession(network.SerializeToString())
    inputs = session.run([name for name, *_ in joint], {"x": drawn(words, n)})
    layers = []
    for number, (x, (_, W, b)) in enumerate(zip(inputs, joint, strict=True), 1):
        d = W.shape[0]
        size = d // HEADS
        queries = np.concatenate([x[:, n // 2], np.ones((len(x), 1), np.float32)], axis=1)
        heads = []
        for h in range(HEADS):
            own = slice(h * size, (h + 1) * size)
            keys = slice(d + h * size, d + (h + 1) * size)
            heads.append((W[:, keys], np.concatenate([W[:, own], b[None, own]])))
        layers.append(AttentionData(f"layer {number}", x, queries, heads, f"1/sqrt({size})"))
    return layers
