"""What a task's inputs are like: which of their values carry meaning, so that other values must have it too.

Each entry is a word that follows from the task's file. Admission infers all of them from a few draws, the judge keeps them under the task's
hash, and the sidecar may say otherwise. Where draws differ in an entry it is None, and every draw is looked at for itself.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch

from davinci_worker import degenerate, distributions, packing, structure
from davinci_worker.messages import Message

VERSION = 1  # of the record; one of another version is inferred anew
Entries = Mapping[str, Any]  # of one input, by name; what is missing has to be looked at
_FACTS = ("dtype", "shape")  # of a draw, by which it is known whether the record is about it


@dataclass(frozen=True)
class InputSpecification:
    """One tensor that get_inputs() draws, in the order of forward's arguments. The words are those of docs/tasks.md."""

    dtype: str
    shape: list[int]
    varies: str | None = None  # drawn; never: alike in every draw, and other numbers would do; fixed: alike, and stays
    values: str | None = None  # free, kept, constant, mask, system, lengths, groups, begins
    sums: str | None = None  # none; one: probabilities; unit: vectors of length one
    order: str | None = None  # none, ascending, descending
    axis: int | None = None  # along which sums and order hold
    zeros: str | None = None  # free; kept: their places are structure
    symmetry: str | None = None  # none, kept
    sign: str | None = None  # any, positive, negative
    whole_columns: list[int] | None = None  # of the last dimension, that hold whole numbers only
    fractions: str | None = None  # of inputs that hold whole numbers only; none, taken; None where that was not asked
    from_zero: bool | None = None  # is a first number of zero habit?

    @property
    def entries(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None and name not in _FACTS}

    def is_about(self, tensor: torch.Tensor) -> bool:
        return self.dtype == packing.DTYPES[tensor.dtype] and self.shape == list(tensor.shape)


def record(inputs: Sequence[InputSpecification]) -> Message:
    """As the judge keeps it."""
    return {"version": VERSION, "inputs": [asdict(one) for one in inputs]}


def from_record(kept: Any) -> list[InputSpecification] | None:
    """None of what was kept by another version."""
    names = {f.name for f in fields(InputSpecification)}
    if not isinstance(kept, dict) or kept.get("version") != VERSION or any(set(one) != names for one in kept["inputs"]):
        return None
    return [InputSpecification(**one) for one in kept["inputs"]]


def infer(draws: Iterable[list[torch.Tensor]]) -> list[InputSpecification]:
    """What all ``draws`` of a task's inputs, two or more, have in common; two of them are held at a time."""
    seen: list[list[dict[str, Any]]] = []  # by draw and input
    same: list[tuple[frozenset[int], list[degenerate.Habits]]] = []  # of a draw and the one before it
    before: list[torch.Tensor] = []
    prints: Any = None
    for tensors in draws:
        now = distributions.fingerprint(tensors)
        if before:
            never = distributions.never_vary(prints, now) | distributions.fixed_whole(before, tensors)
            same.append((never, [degenerate.Habits(a, b) for a, b in zip(before, tensors)]))
        seen.append([_of_draw(t, {size for one in tensors for size in one.shape}) for t in tensors])
        before, prints = tensors, now
    return [_of_input(i, tensor, [draw[i] for draw in seen], same) for i, tensor in enumerate(before)]


def _of_input(i: int, tensor: torch.Tensor, seen: list[dict[str, Any]], same: Any) -> InputSpecification:
    from_zero = all(habits[i].begins for _, habits in same)
    for draw in seen:
        begins, other = draw.pop("counts")
        draw["values"] = begins if from_zero else other
    common = {name: word for name, word in seen[0].items() if all(draw[name] == word for draw in seen)}
    alike = all(habits[i].alike for _, habits in same)
    varies = "never" if all(i in never for never, _ in same) else "fixed" if alike else "drawn"
    return InputSpecification(packing.DTYPES[tensor.dtype], list(tensor.shape), varies=varies, from_zero=from_zero, **common)


def _of_draw(tensor: torch.Tensor, sizes: set[int]) -> dict[str, Any]:
    """Entries of one drawn input. ``counts``: its values where a first number of zero is habit, and where it is none."""
    floating = tensor.is_floating_point()
    if distributions.is_constant(tensor):
        found, values = structure.Structure(tensor, constant=True).entries if floating else dict(structure.NO_ENTRIES), "constant"
    elif tensor.numel() and degenerate.two_values(tensor) is not None:
        found, values = dict(structure.NO_ENTRIES), "kept" if degenerate.is_one_hot(tensor) else "mask"
    elif distributions.is_restylable(tensor):
        found = structure.Structure(tensor).entries
        values = found["values"]
    else:
        found, values = dict(structure.NO_ENTRIES), "kept"
    side = distributions.side(tensor) if floating and values in ("free", "system") else None
    found["sign"] = {1: "positive", -1: "negative", None: "any"}[side]
    counts = (values, values)
    if not floating and values == "kept" and degenerate.may_count(tensor) and degenerate.two_values(tensor) is None:
        counts = (degenerate.count_kind(tensor, sizes, True), degenerate.count_kind(tensor, sizes, False))
    return {**found, "counts": counts}


_COUNTS = (degenerate.may_count, "it is no list of whole numbers")
_NUMBERS = (lambda t: t.is_floating_point() and t.numel() > 0, "it holds no numbers of a floating type")
_ROWS = (lambda t: t.is_floating_point() and t.dim() > 0 and t.numel() > 0, "it holds no rows of a floating type")
_SQUARE = (lambda t: t.is_floating_point() and t.dim() > 1 and t.shape[-2] == t.shape[-1] > 1, "it holds no square matrices of a floating type")
# Conditions on an input, by entry and word of the sidecar, and the reason that is given where one fails. A word without a condition fits any input.
_FITS: dict[tuple[str, str], tuple[Callable[[torch.Tensor], bool], str]] = {
    ("varies", "never"): (lambda t: t.is_floating_point() or distributions.has_other_whole(t), "it holds neither numbers of a floating type nor rows of "
                          "whole numbers"),
    ("values", "free"): _NUMBERS, ("values", "system"): _SQUARE, ("values", "lengths"): _COUNTS, ("values", "groups"): _COUNTS,
    ("values", "begins"): _COUNTS, ("values", "mask"): (lambda t: t.numel() > 0 and degenerate.two_values(t) is not None, "it does not hold two values"),
    ("values", "constant"): (distributions.is_constant, "its numbers are not all alike"), ("sums", "one"): _ROWS, ("sums", "unit"): _ROWS,
    ("order", "ascending"): _ROWS, ("order", "descending"): _ROWS, ("zeros", "kept"): _NUMBERS, ("symmetry", "kept"): _SQUARE,
    ("sign", "positive"): _NUMBERS, ("sign", "negative"): _NUMBERS, ("fractions", "taken"): _NUMBERS,
}


def misfit(entry: str, word: str, tensor: torch.Tensor) -> str | None:
    """Why an input cannot be what the sidecar says it is; None where it can."""
    fits, why = _FITS.get((entry, word), (lambda t: True, ""))
    return None if fits(tensor) else why
