"""Questions beside the verdict: admission of the task, inputs that are not finite, device time of the reference, peaks of the device."""

from typing import Any

import torch

from davinci_worker import admission, nonfinite, packing, trace
from davinci_worker.instance import widen
from davinci_worker.messages import Message
from davinci_worker.oracle.answers import Answers
from davinci_worker.oracle.draws import Draws
from davinci_worker.oracle.messages import Admit, Calibrated, DeviceProfile, NonfiniteCompare, Nothing, PreparedNonfinite, Profile, Seeded, Turn
from davinci_worker.oracle.truth import Truth
from davinci_worker.reference import Reference


_SPECIFYING = 3  # behind the seeds of admission.check: the first of the draws from which inputs are specified


class Evidence:
    """Holds what the reference answers to inputs that are not finite, and what was measured of the device once."""

    def __init__(self, reference: Reference, draws: Draws, truth: Truth, answers: Answers) -> None:
        self._reference = reference
        self._draws = draws
        self._truth = truth
        self._answers = answers
        self._nonfinite: Any = None
        self._between_events: float | None = None  # seconds (calibrate)

    def admit(self, asked: Admit) -> Message:
        found = admission.check(self._truth, asked.seed, self._reference.stochastic, asked.budget_seconds)
        if "tags" in found:
            found["specification"] = self._draws.specification(asked.seed + _SPECIFYING)
        return found

    def nonfinite(self, asked: Seeded) -> PreparedNonfinite:
        """Own inputs with a few NaN and infinities, for one call that is never timed and never decides."""
        built = self._reference.instance(0)
        drawn = self._draws.draw(asked.seed, "task", 0)
        generator = torch.Generator()
        generator.manual_seed(drawn.seed)
        tensors = nonfinite.inject(drawn.tensors, generator)
        if tensors is None:
            return PreparedNonfinite(None)
        drawn.tensors = tensors
        self._nonfinite = [self._reference.outputs_for(drawn)]
        try:
            self._nonfinite.append(self._reference.outputs(built.precise, drawn, widen))
        except RuntimeError:
            pass
        self._draws.current = drawn
        return PreparedNonfinite(packing.to_blob(drawn.skeleton), drawn.call_seed())

    def compare_nonfinite(self, asked: NonfiniteCompare) -> Message:
        return nonfinite.compare(self._nonfinite, self._answers.returned(asked.outputs))

    def profile(self, asked: Profile) -> DeviceProfile:
        """Device time of the reference, as of a candidate. Here, because whose launches are recorded is slower for ever."""
        drawn = self._draws.current or self._draws.draw(asked.seed, "task", 0)
        arguments = packing.unflatten(drawn.skeleton, drawn.tensors)
        return DeviceProfile(trace.device_profile(self._reference.instance(0).model, arguments, asked.warmup_seconds))

    def peaks(self, asked: Nothing) -> Message:
        """Best bandwidth and arithmetic rate of the device, by the judge's own kernels."""
        from davinci_worker import device

        return device.peaks()

    def calibrate(self, asked: Nothing) -> Calibrated:
        """What two events around a call say beyond what the call adds to a full queue (docs/judge-internals.md). A property of the device:
        measured once."""
        from davinci_worker import device

        if self._between_events is None:
            self._between_events = device.between_events_seconds()
        return Calibrated(self._between_events)

    def turn(self, asked: Nothing) -> Turn:
        """How long a small kernel takes to come and go: a time slice longer while another process computes on the device."""
        from davinci_worker import device

        return Turn(device.turn_seconds())

    def rest(self) -> None:
        """Between two candidates."""
        self._nonfinite = None
