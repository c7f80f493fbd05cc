"""What a runner and the supervisor need to know about a reference before it is judged against: shapes, sizes, conduct, cost."""

import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import torch

from davinci_worker import arena, eager, memory, outputs, packing, signature, source, trace, weights
from davinci_worker.instance import InputSet, Instance
from davinci_worker.oracle.messages import Described, Descriptor, Report
from davinci_worker.reference import Reference

_SLOTS = 3
_MANY_SLOTS_BYTES = 64 << 20  # larger inputs get one slot: contents are fresh anyway, memory is not free
_WINDOW_SLOTS, _ARENA_SHARE = 16, 128  # at most so many, and no more than this part of a device's memory
_LARGE_BYTES = 256 << 20  # of inputs: of their temporaries none is kept
_MOST_OF_MEMORY = 0.9


def describe(reference: Reference, drawn: InputSet, seed: int) -> Described:
    """Facts about one variant, from a few calls with ``drawn``, which are inputs of its own. Sets ``spec["mode"]`` and
    ``spec["reseed_calls"]`` where a forward that answers differently when asked again needs them."""
    variant = drawn.variant
    built = reference.instance(variant)
    if reference.device == "cpu" and _bytes(drawn.tensors) > _LARGE_BYTES:
        memory.return_large_blocks()
    started = time.monotonic()
    (first, used), forward_bytes = _measured(
        reference, lambda: reference.first_forward(built, drawn, lambda: reference.forward_terms(built, drawn)))
    _insist_on_time(reference, time.monotonic() - started)
    _insist_on_output(reference, first)
    from_inputs = outputs.lie_in(first, used)
    reference.learn_changes(drawn, first, used)
    del used
    if reference.device == "cpu":
        _insist_on_room(reference, built.model, drawn, first)
    built.shapes = [list(t.shape) for t in outputs.flat(first)]
    if variant and _changes_nothing(reference, variant, seed):
        raise source.SourceError("load_error", f"{source.sidecar(reference.spec['path'])}: [[variants]] number {variant} changes nothing: "
                                 "inputs, outputs and state are those without it. Set a global that get_inputs() or get_init_inputs() "
                                 "reads when it is called; one that was computed from another on import does not follow it")
    if variant == 0:
        del built
        built, first = _settled(reference, drawn, first)
    described: list[Descriptor] = []
    structure = packing.describe(first, described)
    if "unsupported" in structure:
        raise reference.error(f"forward returns {structure}; only tensors, numbers, and tuples, lists and dicts of them can be compared")
    kept = reference.kept_names(variant)  # the last outputs
    layout, num_bytes = arena.plan(drawn.tensors)
    state = weights.state(built.model)
    slot_bytes = (num_bytes + 4095) // 4096 * 4096
    return Described(
        init=built.init, structure=structure,
        outputs=[{k: o[k] for k in ("dtype", "shape", "stride")} for o in described],
        inputs=layout, slot_bytes=slot_bytes, slots=_slots(reference, num_bytes, slot_bytes),
        state=[{"name": n, "shape": list(t.shape), "dtype": packing.DTYPES[t.dtype]} for n, t in state],
        device_bytes=torch.cuda.get_device_properties(0).total_memory if reference.device == "cuda" else 0,
        footprint_bytes=_footprint(built.model, drawn, first, forward_bytes, reference.spec.get("window_calls")),
        lent=[a or b or i >= len(described) - len(kept) for i, (a, b) in enumerate(
            zip(from_inputs, outputs.lie_in(first, outputs.of_module(built.model, state))))],
        kept=kept, left_in=list(reference.left_in(variant)),
        begins=outputs.begins(first), regions=outputs.regions(first),
        stochastic=reference.stochastic, reseed_calls=bool(reference.spec.get("reseed_calls")), mode=reference.spec.get("mode"),
        compiles=eager.asked_for_a_compiler(), verified=signature.case(built, drawn, reference.spec.get("mode")),
        work=_work(reference, built.model, drawn) if variant == 0 else None)


def _changes_nothing(reference: Reference, variant: int, seed: int) -> bool:
    """Do the sizes of a variant reach neither inputs nor outputs nor the constructor?"""
    a, b = reference.instance(0), reference.instance(variant)
    if a.init != b.init or a.shapes != b.shapes:
        return False
    if [t.shape for _, t in weights.state(a.model)] != [t.shape for _, t in weights.state(b.model)]:
        return False
    (one, those), (other, these) = (reference.own_inputs(seed, None, v) for v in (0, variant))
    return packing.to_blob(one) == packing.to_blob(other) and len(those) == len(these) and all(
        x.dtype is y.dtype and torch.equal(x, y) for x, y in zip(those, these))


def _insist_on_time(reference: Reference, seconds: float) -> None:
    if seconds > reference.spec.get("call_seconds", math.inf):
        raise reference.error(f"forward takes {seconds:.0f} s, a call may take {reference.spec['call_seconds']:.0f}; use smaller sizes "
                              f"([sizes.{reference.device}] in its .toml) or --call-timeout",
                              "too_large" if reference.spec.get("compile_only") else "load_error")


def _insist_on_output(reference: Reference, output: Any) -> None:
    if outputs.holds_array(output):
        raise reference.error("forward returns a numpy.ndarray; return torch tensors (torch.from_numpy)")
    if not outputs.flat(output):
        raise reference.error("forward returns no tensor and no number, so there is nothing to compare; return what it computes, also where "
                              "it changes its inputs")
    if not outputs.numel(output):
        raise reference.error("all that forward returns is empty, so there is nothing to compare; use larger "
                              f"sizes{reference.sizes_in_force()}")
    reference.insist_on_supported((f"output {i} of forward", t) for i, t in enumerate(outputs.flat(output)))


def _insist_on_room(reference: Reference, model: torch.nn.Module, drawn: InputSet, output: Any) -> None:
    """On the host, short memory ends processes, perhaps unrelated ones."""
    read, written = _bytes(drawn.tensors), _bytes(outputs.flat(output))
    # The supervisor's copy of the outputs, and what the runners keep of theirs.
    needed, there = _footprint(model, drawn, output, read + written) + 3 * written, memory.machine_bytes()
    if 0 < _MOST_OF_MEMORY * there < needed:
        raise reference.error(f"judging takes about {needed / 1e9:.0f} GB (inputs, outputs, their float64 twins), this machine has "
                              f"{there / 1e9:.0f} GB; use smaller sizes ([sizes.cpu] in its .toml)")


def _settled(reference: Reference, drawn: InputSet, first: Any) -> tuple[Instance, Any]:
    """(the instance, its output) once it is known that forward gives one answer to one question: as it is; in eval mode where the task
    names no mode; or with a seed for every call."""
    built = reference.instance(drawn.variant)
    reference.stochastic = not outputs.same(first, reference.forward(built.model, drawn)[0])
    if not reference.stochastic:
        return built, first
    if built.model.training and reference.spec.get("mode") is None:
        reference.spec["mode"] = "eval"
        del built
        built, first, repeats = _asked_twice_anew(reference, drawn)
        if repeats:
            return built, first
    reference.spec["reseed_calls"] = True
    del built
    built, first, repeats = _asked_twice_anew(reference, drawn)
    if not repeats:
        raise reference.error("forward answers differently when called again with the same inputs and the same seed: it keeps state from call "
                              "to call outside of its buffers, which cannot be judged; keep it in buffers (register_buffer)")
    return built, first


def _asked_twice_anew(reference: Reference, drawn: InputSet) -> tuple[Instance, Any, bool]:
    """(the instance, made again because state that a call leaves behind looks like chance only in the first calls; its output; whether
    that is also its second)"""
    built = reference.made_again(drawn.variant)
    first = reference.first_forward(built, drawn, lambda: reference.forward(built.model, drawn))[0]
    second = reference.forward(built.model, drawn)[0]
    return built, first, outputs.same(first, second)


def _measured(reference: Reference, function: Callable[[], Any]) -> tuple[Any, int]:
    """(its result, most device memory it held beyond what was held before)"""
    if reference.device != "cuda":
        return function(), 0
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    return function(), torch.cuda.max_memory_allocated() - before


def _bytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(t.numel() * t.element_size() for t in tensors)


def _slots(reference: Reference, num_bytes: int, slot_bytes: int) -> int:
    """Of an input arena. On a device the calls of a window have one each (judge/timing/timed_windows.cc)."""
    few = _SLOTS if num_bytes <= _MANY_SLOTS_BYTES else 1
    if reference.device != "cuda":
        return few
    return max(few, _calls_of_window(slot_bytes, reference.spec.get("window_calls")))


def _calls_of_window(call_bytes: int, window_calls: int | None) -> int:
    """Calls of a window, as many as are asked for and have room for their inputs side by side."""
    room = torch.cuda.get_device_properties(0).total_memory // _ARENA_SHARE
    return min(window_calls or _WINDOW_SLOTS, room // max(call_bytes, 1))


def _footprint(model: torch.nn.Module, drawn: InputSet, output: Any, forward_bytes: int, window_calls: int | None = None) -> int:
    """Most device memory an evaluation will hold, all three processes together and without their contexts, from what one forward of the
    reference needed (its copies of the inputs included)."""
    results, state = outputs.flat(output), [t for _, t in weights.state(model)]
    inputs, written, held = _bytes(drawn.tensors), _bytes(results), _bytes(state)
    floating = [t.element_size() for t in (*drawn.tensors, *results, *state) if t.is_floating_point()]
    wide = 8 // min(floating, default=8)  # a float64 twin of the smallest type
    return (3 * inputs  # as drawn, and both arenas
            + wide * forward_bytes + (wide + 1) * written + sum(t.numel() for t in results)  # truth, honest answer, mask
            + 2 * max(forward_bytes - inputs, written)  # both runners
            + (5 + wide) * held + _for_windows(inputs, written, window_calls))


def _for_windows(inputs: int, written: int, window_calls: int | None) -> int:
    """A device's memory for the calls of a window: inputs as drawn and in both arenas, outputs of both runners, and what is filled between."""
    if not torch.cuda.is_initialized():
        return 0
    total = torch.cuda.get_device_properties(0).total_memory
    calls = max(1, _calls_of_window(inputs, window_calls)) - 1
    filled = total // memory.BUFFERS_SHARE
    return calls * (3 * inputs + 2 * written) + (min(filled, window_calls * memory.flush_bytes()) if window_calls else filled)


def _work(reference: Reference, model: torch.nn.Module, drawn: InputSet) -> Report:
    """Bytes and operations of one call, for the roofline."""
    (output, _), flops, dense, surely, names, leaves = trace.work(lambda: reference.forward(model, drawn))
    found: list[Any] = []
    packing.flatten(output, found)
    reference.multiplies = trace.multiplies(names)
    reference.chains_products = trace.chains_products(names)
    reference.selects = trace.selects(names, not all(t.is_floating_point() for t in found))
    return {"flops": int(flops), "operators": leaves, "input_bytes": _bytes(drawn.tensors), "weight_bytes": _bytes(t for _, t in weights.state(model)),
            "output_bytes": _bytes(found), "reads_everything": surely, "reads_whole_operands": dense}
