"""The oracle's side of windows of several calls, on cuda (judge/timing/timed_windows.cc; the runner's side: window.py)."""

import time

import torch

from davinci_worker import arena, memory, packing, window
from davinci_worker.compare import in_memory_order

_LEAST_FLUSH_BYTES, _MOST_FLUSH_BYTES = 64 << 20, 256 << 20
_AHEAD_SHARE = 32  # of the device's free memory, for inputs drawn ahead
_LONGEST_HOLD_NS = 1_800_000  # of a time slice of 2 ms


class Windows:
    """The requests that belong to windows, a part of ``Oracle``: it draws, imports outputs and compares."""

    def __init__(self):
        self._sets = []  # inputs of a window's calls
        self._ahead = {}  # by seed, inputs drawn before anything is timed
        self._buffers = None  # what runners fill between the calls of a window
        self._between_events = None  # seconds (calibrate)
        self._word = None  # ends a hold of the device, in memory that it reads

    def _op_buffers(self, message, fds):
        """Makes the buffers that runners fill between the calls of a window, once."""
        from davinci_worker import device

        if self._buffers is None:
            size = max(_LEAST_FLUSH_BYTES, min(_MOST_FLUSH_BYTES, 4 * torch.cuda.get_device_properties(0).L2_cache_size))
            room = min(torch.cuda.mem_get_info()[0] // 8, torch.cuda.get_device_properties(0).total_memory // memory.BUFFERS_SHARE)
            count = max(1, min(message["count"], room // size))
            self._arenas["buffers"] = device.DeviceArena(size * count)
            self._buffers = window.Buffers(self._arenas["buffers"].base, count)
        owned = self._arenas["buffers"]
        return {"handle": owned.handle, "bytes": owned.num_bytes, "count": self._buffers.views.shape[0]}

    def _op_calibrate(self, message, fds):
        """What two events around a call say beyond what the call adds to a full queue (docs/judge-internals.md). A property of the device:
        measured once."""
        from davinci_worker import device

        if self._between_events is None:
            self._between_events = device.between_events_seconds()
        return {"between_events_seconds": self._between_events}

    def _op_turn(self, message, fds):
        """How long a small kernel takes to come and go: a time slice longer while another process computes on the device."""
        from davinci_worker import device

        return {"turn_seconds": device.turn_seconds()}

    def _op_draw_ahead(self, message, fds):
        """Inputs for calls to come, before the device is this task's alone; those drawn ahead earlier are forgotten."""
        self._ahead, room = {}, torch.cuda.mem_get_info()[0] // _AHEAD_SHARE
        for seed in message["seeds"]:
            drawn = self._ahead[seed] = self._draw(seed, "task", 0)
            room -= sum(t.nbytes for t in drawn.tensors)
            if room < 0:
                break
        torch.cuda.synchronize()
        return {}

    def _op_draw(self, message, fds):
        """Inputs for the calls of a window, each of its own seed."""
        self._set, self._sets, self._samples = None, [], None
        self._overwrite()
        drawn = {seed: self._ahead.pop(seed, None) or self._draw(seed, "task", 0) for seed in dict.fromkeys(message["seeds"])}
        self._sets = [drawn[seed] for seed in message["seeds"]]
        torch.cuda.synchronize()
        return {"args": [packing.to_blob(drawn.skeleton) for drawn in self._sets], "call_seed": self._sets[0].call_seed()}

    def _op_publish_several(self, message, fds):
        """``cool``: the runner fills no buffer before its first call, which is to find the L2 cold."""
        arenas, layout = self._arenas[message["name"]], arena.plan(self._sets[0].tensors)[0]
        targets = [arenas.view(placed, shift) for shift in message["shifts"] for placed in layout]
        sources = [tensor for drawn in self._sets for tensor in drawn.tensors]
        if targets:
            torch._foreach_copy_(targets, sources)
        if message["cool"]:
            self._comparator.backend.cool(self._sets[0].seed)
        else:
            self._comparator.backend.forget_pinned_lines()
        torch.cuda.synchronize()  # the runner is let go next, and its kernels wait for no copy
        return {}

    def _op_hold(self, message, fds):
        """Takes the device and keeps it until ``release``, or for a part of a time slice: what others queue meanwhile waits."""
        from davinci_worker import device

        if self._word is None:
            self._word = torch.zeros(1, dtype=torch.int32).pin_memory()
        device.hold(self._word, int(self._word[0]) + 1, _LONGEST_HOLD_NS)
        return {}

    def _op_release(self, message, fds):
        """Lets the device go in ``seconds``. ``at_ns``: when that was, on the clock that all processes of the machine have."""
        clock, word = time.monotonic_ns, self._word
        value, until = int(word[0]) + 1, clock() + int(1e9 * message["seconds"])
        while clock() < until:
            pass
        word[0] = value
        return {"at_ns": clock()}

    def _op_filled(self, message, fds):
        return {"filled": self._buffers.is_filled(message["seed"], message["count"], message["secret"])}

    def _op_verify_several(self, message, fds):
        """``verify`` of every call of a window, up to the first that is not as it should be."""
        found = []
        right = self._right_at_a_glance(message["calls"])
        for i, request in enumerate(message["calls"]):
            if right[i]:
                found.append({"comparison": self._comparator.accepted(), "late": False, "changed": None})
                continue
            self._set = self._sets[i]
            found.append(self._op_verify(request, ()))
            if not found[-1]["comparison"]["passed"] or found[-1]["late"] or found[-1]["changed"] is not None:
                break
        self._set = self._samples = None
        return {"calls": found}

    def _right_at_a_glance(self, calls):
        """Of each call: everything about it is known to be right. What is not is looked at more closely."""
        right, asked, inputs, whose = [False] * len(calls), [], [], []
        if self.reference.published:
            return right
        for i, request in enumerate(calls):
            if request.get("baseline") is None or request.get("truth"):
                continue
            outputs_of = self._comparator.for_a_glance(
                *(self._answer_of(request, side, self._sets[i]) for side in ("baseline", "outputs")))
            pairs = self._published_inputs(self._sets[i], request["intact"]) if request.get("intact") else []
            if outputs_of is not None and None not in pairs:
                whose.append((i, len(outputs_of), len(pairs)))
                asked += outputs_of
                inputs += pairs
        if not whose:
            return right
        settled = self._samples if any(calls[i].get("settled") for i, _, _ in whose) else None
        accepted, is_steady, intact = self._comparator.backend.at_a_glance(asked, settled, inputs)
        accepted, intact = iter(accepted), iter(intact)
        for i, num_outputs, num_inputs in whose:
            accepts, unchanged = [next(accepted) for _ in range(num_outputs)], [next(intact) for _ in range(num_inputs)]
            right[i] = is_steady and all(accepts) and all(unchanged)
        return right

    def _published_inputs(self, drawn, where):
        """(what a runner sees, what was drawn) of each input with elements, for ``same_bits``; None of one that has gaps."""
        target, (layout, _) = self._arenas[where["name"]], arena.plan(drawn.tensors)
        return [in_memory_order(target.view(placed, where["shift"]), tensor) for tensor, placed in zip(drawn.tensors, layout) if tensor.numel()]
