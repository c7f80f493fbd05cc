"""The calls that are checked, timed and profiled, all on one path."""

import struct
import time
from typing import Any

import torch

from davinci_worker import arena, packing, placement, window
from davinci_worker.channel import Channel
from davinci_worker.runner.answers import MOST_POINTERS, Answers
from davinci_worker.runner.candidate import Candidate
from davinci_worker.runner.failures import failure
from davinci_worker.runner.gate import Gate
from davinci_worker.runner.messages import Arm, ArmWindow, Bind, Descriptor, Done, MapBuffers

# Mark, own nanoseconds, data pointers; everything else as last described.
_DONE = [struct.Struct(f"<cq{n}Q") for n in range(MOST_POINTERS + 1)]


class Calls:
    """Holds where inputs lie: the arena of the bound variant, the arguments' skeleton, and on cuda the buffers of windows. Between the two readings
    of the clock stands what a call needs and nothing else: all that is looked up is looked up before GO."""

    def __init__(self, peer: Channel, cuda: bool, candidate: Candidate, answers: Answers) -> None:
        self._peer = peer
        self._cuda = cuda
        self._candidate = candidate
        self._answers = answers
        self._inputs: list[Descriptor] = []
        self._arena: Any = None
        self._blob: str | None = None
        self._skeleton: Any = None
        self._buffers: window.Buffers | None = None  # cuda: what is filled between the calls of a window (window.py)
        self._placement = placement.Placement()

    def bind(self, asked: Bind) -> Done:
        """Maps the input arena of one variant; calls name a slot of it."""
        self._answers.expect(asked.contiguous)
        self._candidate.bind(asked.variant, asked.kept)
        self._inputs = asked.inputs
        if self._cuda:
            from davinci_worker import device

            self._arena = device.ImportedArena(asked.handle, asked.bytes)
        elif asked.fds:
            self._arena = arena.HostArena(asked.fds[0], asked.bytes, populate=True)
        return Done()

    def map_buffers(self, asked: MapBuffers) -> Done:
        """Maps the buffers that are filled between the calls of a window."""
        from davinci_worker import device

        self._buffers = window.Buffers(device.ImportedArena(asked.handle, asked.bytes).base, asked.count)
        return Done()

    def arguments(self, args: str, shift: int) -> Any:
        """Of a call on the inputs in one slot."""
        return packing.unflatten(packing.from_blob(args), [self._arena.view(p, shift) for p in self._inputs])

    def call(self, asked: Arm) -> None:
        """One forward, in two steps: arm (free the last outputs, make the arguments; off the clock, before the inputs
        exist), then GO. The same path for checked, timed and profiled calls."""
        peer, cuda, seeded, answers, free_threads = self._peer, self._cuda, asked.seeded, self._answers, self._placement.free
        try:
            answers.held = None
            blob = asked.args
            if blob != self._blob:
                self._blob, self._skeleton = blob, packing.from_blob(blob)
            view, shift = self._arena.view, asked.shift
            arguments = packing.unflatten(self._skeleton, [view(p, shift) for p in self._inputs])
            gate = Gate(peer) if asked.gate else None
            if (kept := self._candidate.kept) is not None:
                kept.restore()
            if not cuda:
                self._placement.arrange()
        except BaseException as error:  # noqa: BLE001
            peer.send(failure(error, "runtime_error"))
            return
        model, clock, synchronize = self._candidate.guard(self._candidate.model), time.perf_counter_ns, torch.cuda.synchronize
        laid_out = answers.laid_out
        positional, keywords = packing.split(arguments)
        peer.send({"ok": {}})
        if not peer.wait_go():
            raise EOFError
        if not cuda:
            free_threads()
        try:
            started = clock()
            if seeded:
                torch.manual_seed(peer.recv_seed())
            output = model(*positional, **keywords)
            output = laid_out(output if kept is None else kept.joined(output))
            if cuda:
                synchronize()
            ended = clock()
            answers.held = output
            pointers = answers.pointers(output)
            if pointers:
                peer.send_raw(_DONE[len(pointers)].pack(b"D", ended - started, *pointers))
                return
            peer.send({"done": answers.describe(output, ended - started)})
        except BaseException as error:  # noqa: BLE001
            peer.send(failure(error, "runtime_error"))
        finally:
            if gate is not None:
                gate.close()

    def window(self, asked: ArmWindow) -> None:
        """Several calls on one GO, or all that belongs to them but the calls (``empty``). What the last window returned is kept while an
        empty one runs."""
        peer, wanted, answers, kept = self._peer, asked.window, self._answers, self._candidate.kept
        empty = wanted["empty"]
        try:
            arguments: Any = ()
            if not empty:
                if kept is not None:  # before an empty one they still are the last window's answer
                    kept.restore()
                answers.held = answers.told = None
                skeletons = {blob: packing.from_blob(blob) for blob in set(wanted["args"])}
                view = self._arena.view
                arguments = [packing.unflatten(skeletons[blob], [view(p, shift) for p in self._inputs])
                             for blob, shift in zip(wanted["args"], wanted["shifts"])]
        except BaseException as error:  # noqa: BLE001
            peer.send(failure(error, "runtime_error"))
            return
        model, clock, synchronize = self._candidate.guard(self._candidate.model), time.perf_counter_ns, torch.cuda.synchronize
        laid_out, pointers_of, run, buffers = answers.laid_out, answers.pointers_of, window.run, self._buffers
        num_known = answers.num_known()
        pointers: list[int] | None = [0] * (wanted["calls"] * num_known if num_known else 1)

        by_keyword = any(packing.split(given)[1] for given in arguments)
        if by_keyword:
            arguments = [packing.split(given) for given in arguments]

        def forward(*given: Any) -> Any:
            output = model(*given[0], **given[1]) if by_keyword else model(*given)
            return laid_out(output if kept is None else kept.joined(output))

        peer.send({"ok": {}})
        if not peer.wait_go():
            raise EOFError
        try:
            started = clock()
            seed = peer.recv_seed()
            if wanted["seeded"]:
                torch.manual_seed(seed)
            returned = run(forward, arguments, buffers, seed, wanted)
            if not empty:
                pointers = pointers_of(returned)
            synchronize()
            ended = clock()
            if empty and answers.told is not None:  # what telling them takes belongs to the window
                held = answers.held  # the oracle still looks at these
                done = answers.describe_all(answers.told, ended - started)
                answers.held = held
                peer.send({"done": done})
            elif pointers:
                peer.send_raw(struct.pack(f"<cq{len(pointers)}Q", b"D", ended - started, *pointers))
            else:
                peer.send({"done": answers.describe_all(returned, ended - started)})
            if not empty and pointers:
                answers.held = returned
            elif not empty:
                answers.told = returned
        except BaseException as error:  # noqa: BLE001
            peer.send(failure(error, "runtime_error"))

    def forget(self) -> None:
        """Between two references, or candidates."""
        self._blob = self._skeleton = self._arena = self._buffers = None
        self._inputs = []
