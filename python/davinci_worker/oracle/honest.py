"""Honest answers for an answer in doubt: what the reference, its other forms and its float64 twin say of the same inputs (nearby.py)."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import torch

from davinci_worker import forms, nearby
from davinci_worker.instance import InputSet
from davinci_worker.oracle.failures import insist_on_memory
from davinci_worker.reference import Reference

Convert = Callable[[torch.Tensor], torch.Tensor]


def rounds(reference: Reference, drawn: InputSet, few: bool) -> Iterator[Iterator[list[torch.Tensor]]]:
    """Honest answers for ``drawn``, round by round: the reference and its other forms, from the second round on with inputs
    moved by some ulps; where few elements are in doubt also the float64 twin with every result of arithmetic moved."""
    built, exact = reference.instance(drawn.variant), drawn.truth.exact
    precision = reference.spec.get("precision")
    dtype = next((t.dtype for t in (*drawn.tensors, *drawn.reference) if t.is_floating_point()), torch.float32)

    def jolted(k: int, convert: Convert, wide: bool = False) -> Convert:
        seeds = itertools.count(drawn.seed + (k + 64 << 16))
        return lambda t: convert(nearby.jolt(t, next(seeds), wide, precision) if k else t.clone(memory_format=torch.preserve_format))

    def answer(context: AbstractContextManager[Any], model: Any, convert: Convert) -> list[list[torch.Tensor]]:
        try:
            with context:
                return [reference.outputs(model, drawn, convert)]
        except RuntimeError as error:  # it cannot be done in this form
            insist_on_memory(error, reference)
            return []

    def answers(k: int) -> Iterator[list[torch.Tensor]]:
        if not k:
            yield drawn.reference
        for context, convert in forms.of(drawn.tensors, reference.multiplies, k)[0 if k else 1:]:
            yield from answer(context(), built.model, jolted(k, convert))
        for again in range(2 if k and few and exact else 0):
            jolts = nearby.Jolts(drawn.seed + (2 * k + again << 20), nearby.jolt_size(dtype, precision))
            yield from answer(jolts, built.precise, jolted(2 * k + again, lambda t: t, True))

    return map(answers, itertools.count())
