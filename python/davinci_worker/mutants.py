"""Mutants of a reference: one call of one operator is left out or replaced (mutation testing, R. DeMillo, R. Lipton, F. Sayward, 1978). Inputs on
which a mutant's outputs pass do not tell such a kernel from a right one: a ReLU of numbers that are positive, a bias in front of a batch
normalisation.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch

from davinci_worker import memory
from davinci_worker.rounding import EagerMode

# What the judge checks a candidate on, in the order in which mutants are held against it.
DISTRIBUTIONS = ("task", "heavy_tailed", "log_uniform", "small_scale", "degenerate", "large_mean", "outliers")
_MOST = 64  # mutants of a task, spread over its calls
_MOST_SECONDS = 60.0

_UNARY = frozenset({
    "relu", "gelu", "silu", "sigmoid", "tanh", "hardtanh", "hardswish", "hardsigmoid", "leaky_relu", "elu", "softplus", "mish", "clamp", "clamp_min",
    "clamp_max", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "reciprocal", "abs", "neg", "sin", "cos", "erf", "pow", "round", "floor", "ceil",
    "sign", "_softmax", "_log_softmax", "masked_fill", "tril", "triu", "cumsum", "cumprod", "flip", "roll", "nan_to_num"})
_BINARY = frozenset({"add", "sub", "mul", "div", "maximum", "minimum", "fmod", "remainder"})
_REPLACED = {"sum": "mean", "mean": "sum", "amax": "amin", "amin": "amax", "argmax": "argmin", "argmin": "argmax", "maximum": "minimum",
             "minimum": "maximum", "add": "sub", "sub": "add"}
# Overloads of a replacement that are named otherwise.
_OVERLOADS = {("mean", "dim_IntList"): "dim", ("sum", "dim"): "dim_IntList"}
# Places of arguments that may be missing.
_OPTIONAL = {"convolution": {2: "bias"}, "native_layer_norm": {2: "weight", 3: "bias"}, "native_group_norm": {1: "weight", 2: "bias"},
             "native_batch_norm": {1: "weight", 2: "bias"}, "linear": {2: "bias"}}
_MASKED = frozenset({"_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_flash_attention", "_scaled_dot_product_efficient_attention",
                     "_scaled_dot_product_cudnn_attention", "_scaled_dot_product_attention_math"})

Change = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


class Mutant(NamedTuple):
    call: int  # of an operator, from 0
    text: str  # "relu left out"
    change: Change


def survivors(truth: Any, seed: int, most_seconds: float = _MOST_SECONDS) -> dict[str, Any]:
    """Which mutants pass everywhere: {"number", "died_on": {distribution: how many}, "survive": [text], "undecided", "seconds"}. ``truth``: the
    oracle's, of a reference that repeats itself. What raises or answers in other shapes died on "call"; what time did not suffice for is
    undecided.
    """
    started = time.monotonic()
    reference = truth.reference
    recorder = _Recorder()
    alive: list[Mutant] = []
    died_on: dict[str, int] = {}
    undecided = 0
    for distribution in DISTRIBUTIONS:
        if distribution != "task" and not alive:
            break
        try:
            drawn, used, _ = truth.draw_judged(seed, distribution, 0)
        except RuntimeError as error:
            if distribution == "task" or memory.ran_out(error):
                raise
            continue
        if distribution != "task" and used == "task":
            continue  # the reference is not defined on these inputs
        if distribution == "task":
            with recorder:
                reference.outputs_for(drawn)
            alive = _spread(recorder.found)
        passed = []
        for mutant in alive:
            if time.monotonic() - started > most_seconds:
                undecided += 1
                continue
            outputs = _outputs(reference, drawn, mutant)
            if outputs is not None and truth.comparator.compare(drawn.truth, outputs)["passed"]:
                passed.append(mutant)
            else:
                death = used if outputs is not None else "call"
                died_on[death] = died_on.get(death, 0) + 1
        alive = passed
    return {"number": len(recorder.found), "died_on": died_on, "survive": [f"{m.text} (call {m.call + 1})" for m in alive],
            "undecided": undecided, "seconds": time.monotonic() - started}


def _spread(found: list[Mutant]) -> list[Mutant]:
    return found if len(found) <= _MOST else [found[i * len(found) // _MOST] for i in range(_MOST)]


def _outputs(reference: Any, drawn: Any, mutant: Mutant) -> list[torch.Tensor] | None:
    """None where the mutant raises, or answers in other shapes: it would not be taken for an answer."""
    try:
        with _Mutation(mutant):
            outputs: list[torch.Tensor] = reference.outputs_for(drawn)
    except Exception as error:  # noqa: BLE001  of operators behind the one that was changed
        if memory.ran_out(error):
            raise
        return None
    honest = drawn.reference
    return outputs if [(t.shape, t.dtype) for t in outputs] == [(t.shape, t.dtype) for t in honest] else None


class _Recorder(EagerMode):
    """While active, finds the mutants of each call."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Mutant] = []
        self._calls = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        before = [(a.shape, a.dtype) if isinstance(a, torch.Tensor) else None for a in args]
        result = func(*args, **kwargs)
        for text, change in _changes(func, args, kwargs, before, result):
            self.found.append(Mutant(self._calls, text, change))
        self._calls += 1
        return result


class _Mutation(EagerMode):
    """While active, one call is another."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__()
        self._mutant = mutant
        self._calls = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        this = self._calls
        self._calls += 1
        change = self._mutant.change if this == self._mutant.call else _as_it_is
        return change(func, args, kwargs or {})


def _as_it_is(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(*args, **kwargs)


def _left_out(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The first operand, as large as the result; in place: untouched."""
    if func.overloadpacket.__name__.endswith("_"):
        return args[0]
    return args[0].expand(torch.broadcast_shapes(*(a.shape for a in args if isinstance(a, torch.Tensor)))).clone()


def _by(operator: str) -> Change:
    def replaced(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return _replacement(operator, func)(*args, **kwargs)
    return replaced


def _without(place: int) -> Change:
    def changed(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return func(*args[:place], None, *args[place + 1:], **kwargs)
    return changed


def _product_alone(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return func(torch.zeros_like(args[0]), *args[1:], **kwargs)


def _unmasked(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Attention to everything: neither a mask nor an end at the diagonal."""
    names = [a.name for a in func._schema.arguments]
    given = {**dict(zip(names, args)), **kwargs}
    for name, nothing in (("attn_mask", None), ("attn_bias", None), ("is_causal", False)):
        if name in given:
            given[name] = nothing
    return func(**given)


def _changes(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], before: list[Any], result: Any) -> Iterator[tuple[str, Change]]:
    """(text, change) of each mutant of a call that was made. ``before``: shapes and types of its arguments then."""
    name = func.overloadpacket.__name__.rstrip("_") if not func.overloadpacket.__name__.startswith("__") else ""
    first = args[0] if args and isinstance(args[0], torch.Tensor) else None
    number = first is not None and (first.is_floating_point() or first.is_complex())
    alike = isinstance(result, torch.Tensor) and first is not None and before[0] == (result.shape, result.dtype)
    same_type = isinstance(result, torch.Tensor) and first is not None and before[0][1] == result.dtype
    if name in _UNARY and alike and number:
        yield f"{name.strip('_')} left out", _left_out
    if name in _BINARY and same_type and number:
        yield f"{name} without its second operand", _left_out
    if name in _REPLACED and number and _replacement(_REPLACED[name], func) is not None:
        yield f"{_REPLACED[name]} in place of {name}", _by(_REPLACED[name])
    for place, what in _OPTIONAL.get(name, {}).items():
        if place < len(args) and args[place] is not None:
            yield f"{name.removeprefix('native_')} without its {what}", _without(place)
    if name in ("addmm", "addbmm", "baddbmm", "addmv") and not kwargs.get("beta") == 0:
        yield f"{name} without its first operand", _product_alone
    if name in _MASKED and _is_masked(func, args, kwargs):
        yield "attention without its mask", _unmasked


def _replacement(operator: str, func: Any) -> Any:
    """The overload of another operator that takes the arguments of ``func``; None where there is none."""
    in_place = func.overloadpacket.__name__.endswith("_")
    other = getattr(torch.ops.aten, operator + ("_" if in_place else ""), None)
    overload = _OVERLOADS.get((operator, func._overloadname), func._overloadname)
    return getattr(other, overload) if other is not None and overload in other.overloads() else None


def _is_masked(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    given = {**{a.name: value for a, value in zip(func._schema.arguments, args)}, **kwargs}
    return any(given.get(name) is not None for name in ("attn_mask", "attn_bias")) or bool(given.get("is_causal"))
