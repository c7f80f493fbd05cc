"""Reference results: what is right for drawn inputs, and how far an honest answer may be from it.

Truth is the reference evaluated in float64. How far a candidate may be from it is measured, not guessed: the error of honest implementations
in the task's precision (the reference itself, and the reference on inputs moved by half a unit in the last place) fills an error profile from
which the comparator derives tolerances (numerics/tolerance.h).
"""

import itertools
import time
from collections.abc import Iterable

import torch

from davinci_worker import distributions, memory, outputs, packing, rounding, weights
from davinci_worker.compare import Comparator
from davinci_worker.instance import InputSet, Instance, widen
from davinci_worker.oracle.answers import Answers
from davinci_worker.oracle.arenas import Arenas
from davinci_worker.oracle.domain import Domain
from davinci_worker.oracle.draws import Draws
from davinci_worker.oracle.failures import insist_on_memory
from davinci_worker.oracle.messages import Prepare, Prepared, Report
from davinci_worker.reference import Reference

# Bytes of inputs that a session's candidates are checked on, with the reference's outputs and truth, that are kept. On cuda they are
# not part of what is reserved for a task.
_MOST_KEPT_BYTES = {"cpu": 1 << 30, "cuda": 256 << 20}

Judged = tuple[InputSet, str, Report]  # inputs with truth, the distribution they are of, the tolerance's summary
Key = tuple[int, int, str, tuple[int, bool] | None]


class Truth:
    """Holds the truth of inputs that a session's candidates are checked on, and how long the last one took."""

    def __init__(self, device: str, reference: Reference, draws: Draws, arenas: Arenas, answers: Answers, comparator: Comparator) -> None:
        self.reference = reference
        self.draws = draws
        self.comparator = comparator
        self.judging_seconds = 0.0  # of working out truth and tolerance once, for planning
        self.weights: tuple[int, bool] | None = None  # seed of the last change of weights, and whether buffers changed
        self._device = device
        self._arenas = arenas
        self._answers = answers
        self._domain = Domain(reference, draws, comparator)
        self._kept: dict[Key, Judged] = {}
        self._kept_bytes = 0

    def prepare(self, asked: Prepare) -> Prepared:
        """Draws inputs never used before; with ``truth`` also the float64 outputs and the tolerance."""
        self.draws.current = None  # its memory is needed for the next
        self._answers.overwrite()
        judged: Report | None = None
        used = asked.distribution
        if not asked.truth:
            drawn = self.draws.draw(asked.seed, used, asked.variant)
        elif self.reference.published:
            drawn = self.draws.draw(asked.seed, used, asked.variant)
            drawn.reference = self.reference.outputs_for(drawn)
        else:
            found = self._judged_before(asked) or self.draw_judged(asked.seed, used, asked.variant)
            if asked.keep:
                self._keep(asked, found)
            drawn, used, judged = found
        self.draws.current = drawn
        reply = Prepared(used, packing.to_blob(drawn.skeleton), judged, drawn.call_seed())
        if self._device == "cuda":
            if judged:  # where the peak is; asking costs too much for a timed pair
                reply.peak_bytes = self._arenas.peak_bytes()
            torch.cuda.synchronize()  # nothing of it is under way when the next request is timed
        return reply

    def _key(self, asked: Prepare) -> Key:
        return asked.seed, asked.variant, asked.distribution, self.weights

    def _judged_before(self, asked: Prepare) -> Judged | None:
        """Inputs that another candidate of this session was checked on."""
        found = self._kept.get(self._key(asked)) if asked.keep else None
        if found is not None and found[1] == "task" and found[0].variant == 0:
            self.comparator.remember(found[0].truth)
        return found

    def _keep(self, asked: Prepare, found: Judged) -> None:
        key, drawn = self._key(asked), found[0]
        size = sum(t.numel() * t.element_size() for t in (*drawn.tensors, *drawn.reference))
        size += sum(t.numel() * torch.float64.itemsize for t in drawn.reference)
        if key not in self._kept and self._kept_bytes + size <= _MOST_KEPT_BYTES[self._device]:
            self._kept[key] = found
            self._kept_bytes += size

    def draw_judged(self, seed: int, wanted: str, variant: int) -> Judged:
        """Inputs of the wanted distribution with truth. Stress inputs must stay inside the reference's domain: falls back to milder ones while truth
        is mostly undefined, or grows out of all proportion, as behind a decay with a negative rate, where honest answers have little in
        common."""
        built = self.reference.instance(variant)
        ladder: Iterable[str] = ("task",) if wanted == "task" else distributions.ladder(wanted, self.reference.selects)
        for used in ladder:
            found = self._drawn_and_judged(built, seed, used, variant)
            if found is None and self.draws.keep_whole(variant):  # other lengths or positions may be what it cannot do with
                found = self._drawn_and_judged(built, seed, used, variant)
            if used == "task" or found is not None and self._domain.has(built, *found):
                break
        assert found is not None  # the last rung is "task", which raises
        drawn, judged = found
        return drawn, used, judged

    def _drawn_and_judged(self, built: Instance, seed: int, used: str, variant: int) -> tuple[InputSet, Report] | None:
        """(inputs with truth, the tolerance's summary), None outside the reference's domain."""
        drawn = self.draws.draw(seed, used, variant)
        try:
            return drawn, self._judge(built, drawn)
        except Exception as error:  # noqa: BLE001
            if used == "task" or memory.ran_out(error):
                raise
            return None

    def work_out(self, drawn: InputSet) -> None:
        """The truth of inputs that were drawn without it."""
        if self.reference.published:
            drawn.reference = drawn.reference or self.reference.outputs_for(drawn)
        elif drawn.truth is None:
            self._judge(self.reference.instance(drawn.variant), drawn)

    def _judge(self, built: Instance, drawn: InputSet) -> Report:
        """Fills the comparator with truth and honest errors of ``drawn``."""
        started = time.monotonic()
        honest, left = self.reference.answer(built.model, drawn)  # and not its other inputs, for whose float64 twins there may be no room
        self._insist_on_shapes(built, [list(t.shape) for t in outputs.flat(honest)])
        exact = True
        try:
            truth, left_truth = self.reference.answer(built.precise, drawn, widen)
        except RuntimeError as error:
            insist_on_memory(error, self.reference)
            truth, left_truth, exact = honest, left, False
        except Exception as error:
            error.__notes__ = ["forward was called again, with inputs and weights in float64, to find what is right; take out what insists on "
                               "another type"]
            raise
        # This is about the number of terms of the sums behind one output.
        terms = max(sum(t.numel() for t in drawn.tensors) // max(1, outputs.numel(truth)), built.terms)
        given = [*drawn.tensors, *(t for _, t in weights.state(built.model))]
        drawn.reference = outputs.flat(honest, _number_type(given)) + left
        drawn.truth = self.comparator.truth(outputs.flat(truth) + left_truth, drawn.reference, exact)
        if drawn.distribution != "task":
            drawn.truth.forgive_undefined(drawn.tensors)
        try:
            self._learn_rounding(built, drawn, given, 1 if outputs.numel(honest) > 1 << 16 else 3, exact)
        except RuntimeError as error:
            insist_on_memory(error, self.reference)
        # Small inputs leave the biases, which make the terms of a sum alike, as a large mean or a constant stretch does. One loop then
        # rounds all of them to one side.
        one_sided = drawn.distribution.startswith(("log_uniform", "small_scale", "degenerate", "large_mean"))
        drawn.truth.settle(self.reference.spec.get("tolerance_multiple"), terms, one_sided)
        if drawn.distribution == "task":
            built.magnitudes = built.magnitudes or drawn.truth.magnitudes()
            if drawn.variant == 0:
                self.comparator.remember(drawn.truth)
        self.judging_seconds = time.monotonic() - started
        return drawn.truth.summary()

    def _insist_on_shapes(self, built: Instance, shapes: list[list[int]]) -> None:
        built.shapes = built.shapes or shapes
        if shapes != built.shapes:
            raise self.reference.error(f"the shapes of the outputs depend on the values of the inputs ({built.shapes}, then {shapes}); such a task "
                                       "cannot be judged, return tensors of fixed shape")

    def _learn_rounding(self, built: Instance, drawn: InputSet, given: list[torch.Tensor], repeats: int, exact: bool) -> None:
        """Samples of what rounding does: inputs moved by half a unit in the last place, and in float64 every result of arithmetic."""
        model = built.precise if exact else built.model
        wide = any(t.dtype is torch.float64 for t in drawn.reference)
        # A reference that goes over to float64 takes its inputs for exact.
        widens = wide and not any(t.dtype is torch.float64 for t in given) and any(t.is_floating_point() for t in given)
        for k in range(0 if widens else repeats):
            seeds = itertools.count(drawn.seed + 1 + (k << 16))
            drawn.truth.learn(self.reference.outputs(
                model, drawn, lambda t: distributions.nudge(t, next(seeds), exact, self.reference.spec.get("precision"))))
        for k in range(repeats if wide else 0):
            with rounding.RoundingNoise(drawn.seed + (k + 4 << 16)):
                drawn.truth.learn(self.reference.outputs(model, drawn, widen if exact else None))

    def forget(self) -> None:
        """Between two tasks."""
        self._kept, self._kept_bytes, self.weights = {}, 0, None


def _number_type(given: Iterable[torch.Tensor]) -> torch.dtype:
    """As what a Python number that forward returns is judged: made of single precision, it is no better than that."""
    widest = max((t.element_size() for t in given if t.is_floating_point()), default=8)
    return torch.float64 if widest > 4 else torch.float32
