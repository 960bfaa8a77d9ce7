"""A module of one's own: what makes it and its data, by name, so that jobs of it can travel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from lemmax.numerics.training.naming import function_named, name_of
from lemmax.numerics.training.recipes import Family
from lemmax.theory.errors import LemmaxError

if TYPE_CHECKING:
    from torch import Tensor, nn

Options = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Own:
    """A torch module of one's own and the data that it is trained on.

    Parameters
    ----------
    module
        A function, or its name ``package.module:function``, that makes the module. It is called
        under a seed of torch that is the job's, so its own initialisation is drawn from that.
    data
        A function, or its name, that gives the inputs (a tensor, or a tuple of them, one row per
        sample) and the targets.
    options, data_options
        Keyword arguments of the two: plain data.
    loss
        A function, or its name, of outputs and targets; without one cross entropy for integers,
        over the last axis of the outputs, and the mean squared error for floats.

    Examples
    --------
    >>> Own("torch.nn:Linear", "lemmax.numerics.training.own:xor", {"in_features": 2,
    ...     "out_features": 2}).samples
    4
    """

    family: ClassVar[Family] = "own"
    module: str | Callable[..., nn.Module]
    data: str | Callable[..., Any]
    options: Mapping[str, Any] | Options = ()
    data_options: Mapping[str, Any] | Options = ()
    loss: str | Callable[[Tensor, Tensor], Tensor] | None = field(default=None)

    def __post_init__(self) -> None:
        for name in ("module", "data"):
            object.__setattr__(self, name, name_of(getattr(self, name)))
        if self.loss is not None:
            object.__setattr__(self, "loss", name_of(self.loss))
        for name in ("options", "data_options"):
            pairs = tuple(sorted((str(k), _plain(v)) for k, v in dict(getattr(self, name)).items()))
            object.__setattr__(self, name, pairs)

    def make(self, seed: int) -> nn.Module:
        """The module as it is before training."""
        import torch

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            made: nn.Module = function_named(str(self.module))(**dict(self.options))
        return made

    def tensors(self) -> tuple[tuple[Tensor, ...], Tensor]:
        """Inputs, as a tuple, and targets."""
        return _tensors(str(self.data), tuple(dict(self.data_options).items()))

    @property
    def samples(self) -> int:
        """The number of rows."""
        return int(self.tensors()[1].shape[0])

    @property
    def work(self) -> int:
        """Rows × parameters of one full step."""
        return self.samples * sum(prod(shape) for shape in self.shapes().values())

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The parameters that are trained."""
        return _shapes(self)


def _plain(value: Any) -> Any:
    """A value as JSON gives it back."""
    if isinstance(value, list | tuple):
        return tuple(_plain(x) for x in value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise LemmaxError(f"Options are numbers, texts and lists of them, not {value!r}.")


@lru_cache(maxsize=64)
def _tensors(data: str, options: Options) -> tuple[tuple[Tensor, ...], Tensor]:
    import torch

    inputs, targets = function_named(data)(**dict(options))
    rows = tuple(torch.as_tensor(x) for x in (inputs if isinstance(inputs, tuple) else (inputs,)))
    wanted = torch.as_tensor(targets)
    if not rows or any(x.shape[:1] != wanted.shape[:1] for x in rows) or not len(wanted):
        raise LemmaxError(f"{data} must give inputs and targets with one row per sample each.")
    return rows, wanted


@lru_cache(maxsize=64)
def _shapes(config: Own) -> dict[str, tuple[int, ...]]:
    named = config.make(0).named_parameters()
    return {name: tuple(p.shape) for name, p in named if p.requires_grad}


def xor() -> tuple[list[list[float]], list[int]]:
    """Data to try things on: the exclusive or of two bits.

    >>> xor()[1]
    [0, 1, 1, 0]
    """
    return [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [0, 1, 1, 0]
