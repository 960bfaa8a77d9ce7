"""Stacked training with torch: groups of similar models in one set of tensors, on any device.

Gradients are written by hand, since ``torch.func.vmap`` over the modules is several times slower
(``python -m benchmarks.training vmap``). Smaller models are padded; nothing compiled is needed.
"""
