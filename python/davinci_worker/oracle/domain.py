"""Whether stress inputs lie in the reference's domain, so that honest answers have something in common."""

import torch

from davinci_worker import forms, memory, rounding
from davinci_worker.compare import Comparator
from davinci_worker.from_the_end import FromTheEnd
from davinci_worker.instance import InputSet, Instance, widen
from davinci_worker.oracle.draws import Draws
from davinci_worker.oracle.failures import insist_on_memory
from davinci_worker.oracle.messages import Report
from davinci_worker.reference import Reference

_MOST_GROWTH = 45  # powers of two; products of three inputs grow by 40 on "log_uniform"


class Domain:
    """Holds what it asks: the reference, further draws and the comparator. Knows nothing itself."""

    def __init__(self, reference: Reference, draws: Draws, comparator: Comparator) -> None:
        self._reference = reference
        self._draws = draws
        self._comparator = comparator

    def has(self, built: Instance, drawn: InputSet, judged: Report) -> bool:
        """``judged``: the summary of the truth of ``drawn``."""
        if judged["defined_share"] < 0.5 or drawn.distribution == "large_mean" and not self._is_well_conditioned(built, drawn):
            return False
        if drawn.distribution != "log_uniform" and drawn.truth.growth(built.magnitudes) > _MOST_GROWTH:  # those ask about overflow, too
            return False
        if drawn.distribution in ("degenerate", "degenerate_masks") and self._reads_from_the_end(built, drawn):
            return False
        return not self._partial_products_overflow(built, drawn)

    def _partial_products_overflow(self, built: Instance, drawn: InputSet) -> bool:
        """Does fp32 hold what the reference multiplies along a dimension only where that is begun at the first number?"""
        if not self._reference.chains_products:
            return False
        with rounding.PartialProducts() as products:
            self._reference.forward(built.precise, drawn, widen)
        return products.overflow

    def _reads_from_the_end(self, built: Instance, drawn: InputSet) -> bool:
        """Does a length of zero become an index of -1, and with it the last number of another row?"""
        if not any(not t.is_floating_point() and t.dtype is not torch.bool for t in drawn.tensors):
            return False

        def count(inputs: InputSet) -> int:
            try:
                with FromTheEnd() as watch:
                    self._reference.outputs(built.model, inputs)
            except Exception as error:  # noqa: BLE001  operators that take no dispatch mode
                if memory.ran_out(error):
                    raise
            return int(watch.count)

        found = count(drawn)
        return found > 0 and found > count(self._draws.draw(drawn.seed, "task", drawn.variant))

    def _is_well_conditioned(self, built: Instance, drawn: InputSet) -> bool:
        """Is the reference near truth in its own precision, and PyTorch's other ways to the same answer within the tolerance? A norm of
        channels-last inputs may take the variance as a difference of squares."""
        if not drawn.truth.is_well_conditioned(drawn.reference):
            return False
        for context, convert in forms.of(drawn.tensors, self._reference.multiplies, 0)[1:]:
            try:
                with context():
                    other = self._reference.outputs(built.model, drawn, lambda t: convert(t.clone(memory_format=torch.preserve_format)))
            except RuntimeError as error:  # it cannot be done in this form
                insist_on_memory(error, self._reference)
                continue
            if not self._comparator.compare(drawn.truth, other)["passed"]:
                return False
        return True
