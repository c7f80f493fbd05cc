"""How inputs are drawn: the task's own under a secret seed, moved to the wanted distribution."""

import itertools
import math

import torch

from davinci_worker import degenerate, distributions, memory, published
from davinci_worker.instance import InputSet, widen
from davinci_worker.reference import Reference

_OTHER_SEED = 0x2545F4914F6CDD1D  # differs from a seed by this: of the draw that shows what never varies
_STRESS_SEED = 0x5DEECE66D  # differs from a seed by this: of the numbers that replace or move the task's own


class Draws:
    """Holds the inputs at hand, and by variant what is known of the task's own: what never varies, and what may be other numbers."""

    def __init__(self, reference: Reference, device: str) -> None:
        self.current: InputSet | None = None
        self._reference = reference
        self._device = device
        self._never_vary: dict[int, frozenset[int]] = {}  # places of the inputs that get_inputs makes alike for every seed
        self._fixed_whole: dict[int, frozenset[int]] = {}  # the same of whole numbers; none where the reference can do with no others
        self._habits: dict[int, list[degenerate.Habits]] = {}  # of each input
        self._fractions: dict[int, list[bool] | None] = {}  # of inputs that are whole numbers, those that may be others (_takes_fractions)

    @property
    def at_hand(self) -> InputSet:
        assert self.current is not None, "no inputs were drawn"
        return self.current

    def forget_task(self) -> None:
        for known in (self._never_vary, self._fixed_whole, self._habits, self._fractions):
            known.clear()

    def keep_whole(self, variant: int) -> bool:
        """From here on whole numbers that never vary stay as they are; False: there are none, or they did already."""
        return bool(self._fixed_whole.pop(variant, None))

    def draw(self, seed: int, distribution: str, variant: int) -> InputSet:
        """Own inputs, moved to the wanted distribution."""
        if distribution == "task" and variant not in self._never_vary and frozenset() not in self._never_vary.values():
            skeleton, tensors = self._draw_twice(seed, variant)
        else:
            skeleton, tensors = self._reference.own_inputs(seed, published.trial_of(distribution), variant)
        for i in self._never_vary.get(variant, ()) if distribution == "task" else ():
            tensors[i] = distributions.scaled(tensors[i], seed + (i << 32))
        if self._reference.published:
            tensors = published.cast(tensors, self._reference.spec["precision"])
        elif distribution != "task":
            generator = torch.Generator(device=self._device)
            generator.manual_seed(seed ^ _STRESS_SEED)
            if distribution in degenerate.NAMES:
                tensors = self._degenerate(tensors, distribution, generator, variant)
            else:
                skeleton, tensors = self._restyled(skeleton, tensors, distribution, generator, variant)
        return InputSet(skeleton, tensors, variant, seed, distribution)

    def _draw_twice(self, seed: int, variant: int) -> tuple[object, list[torch.Tensor]]:
        """(skeleton, tensors) of the task's own inputs; another draw before shows what both have in common."""
        others = self._reference.own_inputs(seed ^ _OTHER_SEED, None, variant)[1]
        other = distributions.fingerprint(others)
        skeleton, tensors = self._reference.own_inputs(seed, None, variant)
        self._never_vary[variant] = distributions.never_vary(other, distributions.fingerprint(tensors))
        self._fixed_whole[variant] = distributions.fixed_whole(others, tensors)
        self._habits[variant] = [degenerate.Habits(a, b) for a, b in zip(others, tensors)]
        return skeleton, tensors

    def _degenerate(self, tensors: list[torch.Tensor], distribution: str, generator: torch.Generator, variant: int) -> list[torch.Tensor]:
        sizes = {size for t in tensors for size in t.shape}
        habits = self._habits.get(variant) or self._habits.get(0) or itertools.repeat(degenerate.NONE)
        terms = self._reference.instance(variant).terms
        return [degenerate.restyle(t, distribution, generator, sizes, habit, terms) for t, habit in zip(tensors, habits)]

    def _restyled(self, skeleton: object, own: list[torch.Tensor], distribution: str, generator: torch.Generator,
                  variant: int) -> tuple[object, list[torch.Tensor]]:
        """(skeleton, tensors) of the other distributions."""
        coarse = self._reference.multiplies and self._reference.spec.get("precision") != "tf32"
        sizes = {size for t in own for size in t.shape}
        tensors = [distributions.restyle(t, distribution, generator, coarse) for t in own]
        if coarse and distribution == "heavy_tailed" and all(a is b for a, b in zip(own, tensors)):
            takes = self._takes_fractions(own, skeleton, variant) or [False] * len(own)
            tensors = [distributions.round_down(distributions.with_fractions(t, generator)) if may else t for t, may in zip(own, takes)]
        for i in self._fixed_whole.get(variant, ()) if distribution in distributions.VARYING else ():
            tensors[i] = distributions.other_whole(tensors[i], generator, sizes)
        if distribution.startswith("outliers"):
            skeleton = distributions.other_numbers(skeleton, generator)
        return skeleton, tensors

    def _takes_fractions(self, own: list[torch.Tensor], skeleton: object, variant: int) -> list[bool] | None:
        """Of each input: is it of floating type and does the reference work with what is between whole numbers, too? It does where its float64
        twin answers half a step with about half the change, or a quarter; ids, which it rounds or looks up, show no change, or a jump. None
        where no input is such."""
        if variant not in self._fractions:
            precise = self._reference.instance(variant).precise

            def answer(i: int, step: float) -> torch.Tensor:
                moved = [t + step * t if k == i else t for k, t in enumerate(own)]
                found = self._reference.outputs(precise, InputSet(skeleton, moved, variant, 0, "task"), widen)
                return torch.cat([t.double().reshape(-1) for t in found])

            def is_smooth(i: int) -> bool:
                base = answer(i, 0.0)
                half, whole = ((answer(i, step) - base).norm().item() for step in (0.25, 0.5))
                return 0 < half < math.inf and 1.5 * half <= whole <= 6 * half

            try:
                takes = [t.is_floating_point() and bool(t.any()) and is_smooth(i) for i, t in enumerate(own)]
            except Exception as error:  # noqa: BLE001  it is not defined there
                if memory.ran_out(error):
                    raise
                takes = []
            self._fractions[variant] = takes if any(takes) else None
        return self._fractions[variant]
