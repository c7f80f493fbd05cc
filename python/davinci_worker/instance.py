"""Drawn inputs, and the model of one shape variant that they are for."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch

from davinci_worker import kept_state


@dataclass
class InputSet:
    """One drawn set of inputs, with truth when it was asked for."""

    skeleton: object
    tensors: list[torch.Tensor]
    variant: int
    seed: int
    distribution: str
    truth: Any = None  # compare.RightAnswer
    reference: Any = None  # the reference's own outputs in the task's precision, when truth was asked for

    def call_seed(self) -> int:
        """Of random numbers in a call with these inputs; says nothing about the secret seed."""
        return int.from_bytes(hashlib.blake2b(b"call%d" % self.seed, digest_size=8).digest(), "little") >> 1


@dataclass
class Instance:
    """The model of one shape variant, with randomised state."""

    model: Any
    precise: Any  # its twin in float64
    init: str  # packed arguments of the constructor
    constants: frozenset[str]  # names of tables that are not randomised
    initial: list[Any]  # fingerprints of the state as the constructor left it
    origin: dict[str, Any] = field(default_factory=dict)  # of the weights, for weights.reweigh
    shapes: list[list[int]] | None = None  # of the outputs, once known
    magnitudes: list[int | None] | None = None  # of the outputs for inputs of the task's own, once known
    terms: int = 0  # about how many numbers are summed up into one, where that could be watched
    single: bool | None = None  # is it fp32 throughout? once known
    kept: dict[int, kept_state.KeptState] = field(default_factory=dict)  # where forward writes to buffers: of model and of precise

    def keep(self, names: Iterable[str]) -> None:
        self.kept = {id(model): kept_state.KeptState(model, names) for model in (self.model, self.precise)} if names else {}


def widen(tensor: torch.Tensor) -> torch.Tensor:
    """In float64 where it is floating, a copy either way."""
    return tensor.double() if tensor.is_floating_point() else tensor.clone()
