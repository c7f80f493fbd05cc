"""Answers held against truth, against the baseline's, or against both."""

from collections.abc import Sequence
from typing import Any

import torch

from davinci_worker import choices, nearby, published
from davinci_worker.compare import Comparator, RightAnswer
from davinci_worker.instance import InputSet, widen
from davinci_worker.oracle import honest
from davinci_worker.oracle.answers import Answers
from davinci_worker.oracle.arenas import Arenas
from davinci_worker.oracle.draws import Draws
from davinci_worker.oracle.failures import insist_on_memory
from davinci_worker.oracle.messages import Compare, PublishedCompare, Report, Verified, Verify
from davinci_worker.oracle.truth import Truth
from davinci_worker.reference import Reference


class Comparison:
    """Holds no state of its own: it asks ``Truth`` what is right, ``Answers`` what a call returned, ``Arenas`` whether inputs are intact."""

    def __init__(self, reference: Reference, draws: Draws, truth: Truth, arenas: Arenas, answers: Answers, comparator: Comparator) -> None:
        self._reference = reference
        self._draws = draws
        self._truth = truth
        self._arenas = arenas
        self._answers = answers
        self._comparator = comparator

    def verify(self, asked: Verify) -> Verified:
        """One look at all that a call with the inputs at hand has left behind."""
        return self.verify_call(asked, self._draws.at_hand)

    def verify_call(self, asked: Verify, drawn: InputSet) -> Verified:
        """The outputs against the baseline's (with the tolerance of the own distribution, twice as wide; where that fails, truth decides),
        against truth, or both; ``settled``: did a store land after done; ``intact``: which input was changed first, if any."""
        tensors = self._answers.of(asked, "outputs", drawn)
        rule = self._reference.published
        comparison: Report | None = None
        if asked.baseline is not None:
            baseline = self._answers.of(asked, "baseline", drawn)
            comparison = published.compare(baseline, tensors, rule) if rule else self._comparator.compare_pair(baseline, tensors)
        # The tolerance was measured on other inputs and weights, where few elements may have been as ill-conditioned.
        in_doubt = comparison is not None and not comparison["passed"] and not rule
        if in_doubt or (asked.truth and (comparison is None or comparison["passed"])):
            self._truth.work_out(drawn)
            comparison = self.with_truth(drawn, tensors)
        late = asked.settled and self._answers.is_late()
        return Verified(comparison, late, self._arenas.changed_input(drawn, asked.intact) if asked.intact else None)

    def compare(self, asked: Compare) -> Report:
        """Outputs against truth; ``at_a_glance``: without asking what other honest answers there are."""
        drawn = self._draws.at_hand
        tensors = self._answers.of(asked, "outputs", drawn)
        if asked.at_a_glance and not self._reference.published:
            return self._compared(drawn, tensors)[1]
        return self.with_truth(drawn, tensors)

    def second_opinion(self, asked: PublishedCompare) -> Report:
        """On the outputs just compared: torch.allclose against the reference's own output."""
        tensors = self._answers.returned(asked.outputs)
        return published.compare(self._draws.at_hand.reference[:len(tensors)], tensors, asked.tolerance)

    def with_truth(self, drawn: InputSet, tensors: Sequence[torch.Tensor]) -> Report:
        """Against the truth of ``drawn``; what that refuses is looked at again with what other honest answers there are."""
        if self._reference.published:
            return published.compare(drawn.reference, tensors, self._reference.published)
        truth, comparison = self._compared(drawn, tensors)
        if comparison["passed"]:
            return comparison
        inputs = sum(t.numel() for t in drawn.tensors)
        few = all(report["passed"] or nearby.is_few(report, inputs, tensor.shape[-1] if tensor.dim() > 1 else 1)
                  for report, tensor in zip(comparison["outputs"], tensors))
        if not few and any(map(nearby.is_hopeless, comparison["outputs"])):
            return comparison
        return nearby.look(truth, tensors, comparison, self._comparator, honest.rounds(self._reference, drawn, few), few)

    def _compared(self, drawn: InputSet, tensors: Sequence[torch.Tensor]) -> tuple[RightAnswer, Report]:
        """(the truth they are held against, the comparison)"""
        truth = drawn.truth
        comparison = self._comparator.compare(truth, tensors)
        if not comparison["passed"] and self._reference.selects and truth.exact:
            truth = self._for_its_choices(drawn, tensors)
            comparison = self._comparator.compare(truth, tensors)
        return truth, comparison

    def _for_its_choices(self, drawn: InputSet, tensors: Sequence[torch.Tensor]) -> Any:
        """The truth for what the candidate has chosen, where that is as good as what the reference chooses."""
        built = self._reference.instance(drawn.variant)
        try:
            return choices.steered(drawn.truth, tensors, lambda: self._reference.outputs(built.precise, drawn, widen),
                                   lambda: self._reference.outputs(built.model, drawn)) or drawn.truth
        except Exception as error:  # noqa: BLE001  it takes no dispatch mode
            insist_on_memory(error, self._reference)
            return drawn.truth
