"""Questions beside the verdict: what a forward launches, the same call over and over, what a stopped process costs."""

import threading
import time

import torch

from davinci_worker import packing
from davinci_worker.channel import Channel
from davinci_worker.messages import Message
from davinci_worker.runner.calls import Calls
from davinci_worker.runner.candidate import Candidate
from davinci_worker.runner.messages import Done, Export, Exported, Hot, HotTime, Nothing, Profile, Sleepers


class Evidence:
    """Holds threads that only sleep."""

    def __init__(self, peer: Channel, cuda: bool, candidate: Candidate, calls: Calls) -> None:
        self._peer = peer
        self._cuda = cuda
        self._candidate = candidate
        self._calls = calls
        self._sleepers: list[tuple[threading.Thread, threading.Event]] = []

    def warm(self, asked: Nothing) -> Done:
        """Makes this process's context on the device before there is a candidate."""
        torch.zeros(1, device="cuda")
        torch.cuda.synchronize()
        try:
            from triton.runtime import driver

            driver.active.get_current_target()
        except Exception:  # noqa: BLE001  a candidate that needs Triton will meet it again
            pass
        return Done()

    def lock(self, asked: Nothing) -> Message:
        from davinci_worker import native

        return native.sandbox_lock()

    def warm_profiler(self, asked: Nothing) -> Done:
        """What the first recording costs beyond the next, off the device: nothing is launched here."""
        from davinci_worker import device

        device.kernels(lambda: None)
        return Done()

    def profile(self, asked: Profile) -> Message:
        """One more call, under a dispatch trace: which library operators the forward used, on which threads."""
        from davinci_worker import trace

        arguments = self._calls.arguments(asked.args, asked.shift)
        report = trace.profile(self._candidate.model, arguments, asked.warmup_seconds if self._cuda else None)
        if self._cuda:
            report["peak_bytes"] = torch.cuda.max_memory_reserved()
        return report

    def hot(self, asked: Hot) -> HotTime:
        """The same call again and again on the same inputs, as people time it first: the fastest, milliseconds by this process's own clock."""
        arguments = self._calls.arguments(asked.args, asked.shift)
        model, kept, seconds = self._candidate.guard(self._candidate.model), self._candidate.kept, asked.seconds
        clock, begun = time.perf_counter, time.perf_counter()
        times: list[float] = []
        while len(times) < 3 or (clock() - begun < seconds and len(times) < 1000):
            if kept is not None:
                kept.restore()
            started = clock()
            packing.called(model, arguments)
            times.append(clock() - started)
        return HotTime(1e3 * min(times), len(times))

    def compile_only(self, asked: Nothing) -> Message:
        """What was compiled and interpreted where there is no device, and what stopped the last call."""
        from davinci_worker import compile_only

        return compile_only.report()

    def export(self, asked: Export) -> Exported:
        """Calls an exported file as its user does (exported.py)."""
        from davinci_worker import exported, hooks

        hooks.install(self._peer, self._cuda)
        return Exported(exported.why_reference(asked, self._cuda))

    def sleepers(self, asked: Sleepers) -> Done:
        """Has so many threads that only sleep: what the supervisor pays for waking and stopping them is then measured."""
        while len(self._sleepers) > asked.count:
            thread, wake = self._sleepers.pop()
            wake.set()
            thread.join()
        while len(self._sleepers) < asked.count:
            wake = threading.Event()
            thread = threading.Thread(target=wake.wait, daemon=True)
            thread.start()
            self._sleepers.append((thread, wake))
        return Done()
