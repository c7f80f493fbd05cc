"""Timed windows of several calls, on cuda (judge/timing/timed_windows.cc; the runner's side: window.py)."""

import time
from typing import Any

import torch

from davinci_worker import arena, memory, packing, window
from davinci_worker.compare import Comparator, in_memory_order
from davinci_worker.instance import InputSet
from davinci_worker.messages import read, wire
from davinci_worker.oracle.answers import Answers
from davinci_worker.oracle.arenas import Arenas
from davinci_worker.oracle.comparison import Comparison
from davinci_worker.oracle.draws import Draws
from davinci_worker.oracle.messages import (DeviceMemory, Done, Draw, Drawn, Filled, IsFilled, MakeBuffers, Nothing, PublishSeveral, Release, Released,
                                            VerifiedSeveral, Verify, VerifySeveral)
from davinci_worker.reference import Reference

_AHEAD_SHARE = 32  # of the device's free memory, for inputs drawn ahead
_LONGEST_HOLD_NS = 1_800_000  # of a time slice of 2 ms


class Windows:
    """Holds the inputs of a window's calls and those drawn ahead, the buffers that runners fill between calls, and the word that ends a hold."""

    def __init__(self, reference: Reference, draws: Draws, arenas: Arenas, answers: Answers, comparison: Comparison, comparator: Comparator) -> None:
        self._reference = reference
        self._draws = draws
        self._arenas = arenas
        self._answers = answers
        self._comparison = comparison
        self._comparator = comparator
        self._sets: list[InputSet] = []  # inputs of a window's calls
        self._ahead: dict[int, InputSet] = {}  # by seed, inputs drawn before anything is timed
        self._buffers: window.Buffers | None = None  # what runners fill between the calls of a window
        self._word: torch.Tensor | None = None  # ends a hold of the device, in memory that it reads

    def make_buffers(self, asked: MakeBuffers) -> DeviceMemory:
        """Makes the buffers that runners fill between the calls of a window, once."""
        if self._buffers is None:
            size = memory.flush_bytes()
            room = min(torch.cuda.mem_get_info()[0] // 8, torch.cuda.get_device_properties(0).total_memory // memory.BUFFERS_SHARE)
            count = max(1, min(asked.count, room // size))
            self._buffers = window.Buffers(self._arenas.allocate("buffers", size * count).base, count)
        owned = self._arenas["buffers"]
        return DeviceMemory(owned.handle, owned.num_bytes, self._buffers.views.shape[0])

    def draw_ahead(self, asked: Draw) -> Done:
        """Inputs for calls to come, before the device is this task's alone; those drawn ahead earlier are forgotten."""
        self._ahead, room = {}, torch.cuda.mem_get_info()[0] // _AHEAD_SHARE
        for seed in asked.seeds:
            drawn = self._ahead[seed] = self._draws.draw(seed, "task", 0)
            room -= sum(t.nbytes for t in drawn.tensors)
            if room < 0:
                break
        torch.cuda.synchronize()
        return Done()

    def draw(self, asked: Draw) -> Drawn:
        """Inputs for the calls of a window, each of its own seed."""
        self._draws.current, self._sets = None, []
        self._answers.overwrite()
        drawn = {seed: self._ahead.pop(seed) if seed in self._ahead else self._draws.draw(seed, "task", 0) for seed in dict.fromkeys(asked.seeds)}
        self._sets = [drawn[seed] for seed in asked.seeds]
        torch.cuda.synchronize()
        return Drawn([packing.to_blob(drawn.skeleton) for drawn in self._sets], self._sets[0].call_seed())

    def publish(self, asked: PublishSeveral) -> Done:
        """``cool``: the runner fills no buffer before its first call, which is to find the L2 cold."""
        arenas, layout = self._arenas[asked.name], arena.plan(self._sets[0].tensors)[0]
        targets = [arenas.view(placed, shift) for shift in asked.shifts for placed in layout]
        sources = [tensor for drawn in self._sets for tensor in drawn.tensors]
        if targets:
            torch._foreach_copy_(targets, sources)
        if asked.cool:
            self._comparator.backend.cool(self._sets[0].seed)
        else:
            self._comparator.backend.forget_pinned_lines()
        torch.cuda.synchronize()  # the runner is let go next, and its kernels wait for no copy
        return Done()

    def hold(self, asked: Nothing) -> Done:
        """Takes the device and keeps it until ``release``, or for a part of a time slice: what others queue meanwhile waits."""
        from davinci_worker import device

        if self._word is None:
            self._word = torch.zeros(1, dtype=torch.int32).pin_memory()
        device.hold(self._word, int(self._word[0]) + 1, _LONGEST_HOLD_NS)
        return Done()

    def release(self, asked: Release) -> Released:
        """Lets the device go in ``seconds``. ``at_ns``: when that was, on the clock that all processes of the machine have."""
        clock, word = time.monotonic_ns, self._word
        assert word is not None, "nothing is held"
        value, until = int(word[0]) + 1, clock() + int(1e9 * asked.seconds)
        while clock() < until:
            pass
        word[0] = value
        return Released(clock())

    def filled(self, asked: Filled) -> IsFilled:
        assert self._buffers is not None, "there are no buffers"
        return IsFilled(self._buffers.is_filled(asked.seed, asked.count, asked.secret))

    def verify(self, asked: VerifySeveral) -> VerifiedSeveral:
        """``verify`` of every call of a window, up to the first that is not as it should be."""
        calls = [read(Verify, call) for call in asked.calls]
        found: list[dict[str, Any]] = []
        right = self._right_at_a_glance(calls)
        for i, call in enumerate(calls):
            if right[i]:
                found.append({"comparison": self._comparator.accepted(), "late": False, "changed": None})
                continue
            verified = self._comparison.verify_call(call, self._sets[i])
            found.append(wire(verified)[0])
            if not (verified.comparison and verified.comparison["passed"]) or verified.late or verified.changed is not None:
                break
        self._draws.current = self._answers.samples = None
        return VerifiedSeveral(found)

    def _right_at_a_glance(self, calls: list[Verify]) -> list[bool]:
        """Of each call: everything about it is known to be right. What is not is looked at more closely."""
        right: list[bool] = [False] * len(calls)
        asked: list[Any] = []
        inputs: list[Any] = []
        whose: list[tuple[int, int, int]] = []
        if self._reference.published:
            return right
        for i, call in enumerate(calls):
            if call.baseline is None or call.truth:
                continue
            outputs_of = self._comparator.for_a_glance(
                *(self._answers.of(call, side, self._sets[i]) for side in ("baseline", "outputs")))
            pairs = _pairs(self._arenas.views(self._sets[i], call.intact), self._sets[i].tensors) if call.intact else []
            if outputs_of is not None and None not in pairs:
                whose.append((i, len(outputs_of), len(pairs)))
                asked += outputs_of
                inputs += pairs
        if not whose:
            return right
        settled = self._answers.samples if any(calls[i].settled for i, _, _ in whose) else None
        accepts, is_steady, are_intact = self._comparator.backend.at_a_glance(asked, settled, inputs)
        accepted, intact = iter(accepts), iter(are_intact)
        for i, num_outputs, num_inputs in whose:
            outputs_right, unchanged = [next(accepted) for _ in range(num_outputs)], [next(intact) for _ in range(num_inputs)]
            right[i] = is_steady and all(outputs_right) and all(unchanged)
        return right

    def rest(self) -> None:
        """Between two candidates."""
        self._sets, self._ahead = [], {}

    def forget(self) -> None:
        """Between two tasks."""
        self._buffers = None


def _pairs(seen: list[torch.Tensor], drawn: list[torch.Tensor]) -> list[Any]:
    """(what a runner sees, what was drawn) of each input with elements, for ``same_bits``; None of one that has gaps."""
    return [in_memory_order(view, tensor) for view, tensor in zip(seen, drawn) if tensor.numel()]
