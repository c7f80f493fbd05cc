"""How inputs are drawn: the task's own under a secret seed, moved to the wanted distribution."""

import dataclasses
import itertools
import math

import torch

from davinci_worker import degenerate, distributions, memory, published, source, specification
from davinci_worker.instance import InputSet, widen
from davinci_worker.messages import Message
from davinci_worker.oracle.messages import Load
from davinci_worker.reference import Reference
from davinci_worker.specification import Entries, InputSpecification

_OTHER_SEED = 0x2545F4914F6CDD1D  # differs from a seed by this: of the draw that shows what never varies
_STRESS_SEED = 0x5DEECE66D  # differs from a seed by this: of the numbers that replace or move the task's own
_SPECIFYING_DRAWS = 3  # from which a specification is inferred


class Draws:
    """Holds the inputs at hand, and by variant what is known of the task's own: what never varies, and what may be other numbers. What the judge
    has kept of the task's inputs, and what its sidecar says of them, comes with the task (``know``) and is not looked at again."""

    def __init__(self, reference: Reference, device: str) -> None:
        self.current: InputSet | None = None
        self._reference = reference
        self._device = device
        self._never_vary: dict[int, frozenset[int]] = {}  # places of the inputs that get_inputs makes alike for every seed
        self._fixed_whole: dict[int, frozenset[int]] = {}  # the same of whole numbers; none where the reference can do with no others
        self._habits: dict[int, list[degenerate.Habits]] = {}  # of each input
        self._fractions: dict[int, list[bool] | None] = {}  # of inputs that are whole numbers, those that may be others (_takes_fractions)
        self._recorded: list[InputSpecification] | None = None  # of the task's own sizes, where they were kept
        self._overrides: dict[int, Entries] = {}  # of inputs, by the sidecar

    @property
    def at_hand(self) -> InputSet:
        assert self.current is not None, "no inputs were drawn"
        return self.current

    def forget_task(self) -> None:
        for known in (self._never_vary, self._fixed_whole, self._habits, self._fractions):
            known.clear()
        self._recorded, self._overrides = None, {}

    def know(self, asked: Load) -> None:
        """What comes with the request that loads the task."""
        self._recorded = specification.from_record(asked.get("specification"))
        self._overrides = {int(place): entries for place, entries in asked.get("inputs", {}).items()}

    def specification(self, seed: int) -> Message:
        """The record of the task's inputs at its own sizes, inferred where none is known. ``overrides``: what the sidecar says instead."""
        recorded = self._recorded
        drawn = (self._reference.own_inputs(seed + k, None, 0)[1] for k in range(_SPECIFYING_DRAWS))
        known = specification.infer(drawn) if recorded is None else recorded
        return {**specification.record([self._with_fractions(i, one) for i, one in enumerate(known)]), "inferred": recorded is None,
                "overrides": {str(i): entries for i, entries in self._overrides.items()}}

    def _with_fractions(self, i: int, one: InputSpecification) -> InputSpecification:
        """With what was found out since."""
        takes = self._fractions.get(0)
        return dataclasses.replace(one, fractions="taken" if takes and takes[i] else "none") if 0 in self._fractions else one

    def _said(self, variant: int, tensors: list[torch.Tensor]) -> list[Entries]:
        """What need not be looked at, of each of these inputs."""
        recorded = self._entries(variant, tensors) or [{}] * len(tensors)
        return [{**entries, **self._overrides.get(i, {})} for i, entries in enumerate(recorded)]

    def _entries(self, variant: int, tensors: list[torch.Tensor]) -> list[Entries] | None:
        """By the record; None where it is not about these inputs."""
        known = self._recorded
        if variant != 0 or known is None or len(known) != len(tensors) or not all(one.is_about(t) for one, t in zip(known, tensors)):
            return None
        return [one.entries for one in known]

    def keep_whole(self, variant: int) -> bool:
        """From here on whole numbers that never vary stay as they are; False: there are none, or they did already."""
        return bool(self._fixed_whole.pop(variant, None))

    def draw(self, seed: int, distribution: str, variant: int) -> InputSet:
        """Own inputs, moved to the wanted distribution."""
        if distribution == "task" and self._is_first(variant):
            skeleton, tensors = self._first_draw(seed, variant)
        else:
            skeleton, tensors = self._reference.own_inputs(seed, published.trial_of(distribution), variant)
        said = self._said(variant, tensors)
        for i in self._never_vary.get(variant, ()) if distribution == "task" else ():
            tensors[i] = distributions.scaled(tensors[i], seed + (i << 32), said[i])
        if self._reference.published:
            tensors = published.cast(tensors, self._reference.spec["precision"])
        elif distribution != "task":
            generator = torch.Generator(device=self._device)
            generator.manual_seed(seed ^ _STRESS_SEED)
            if distribution in degenerate.NAMES:
                tensors = self._degenerate(tensors, distribution, generator, variant, said)
            else:
                skeleton, tensors = self._restyled(skeleton, tensors, distribution, generator, variant, said)
        return InputSet(skeleton, tensors, variant, seed, distribution)

    def _is_first(self, variant: int) -> bool:
        """Is it not known yet what of it never varies? Where all of another variant does, so does all of this one."""
        says = any("varies" in entries for entries in self._overrides.values())
        return variant not in self._never_vary and (says or frozenset() not in self._never_vary.values())

    def _first_draw(self, seed: int, variant: int) -> tuple[object, list[torch.Tensor]]:
        """(skeleton, tensors) of the task's own inputs, with which it becomes known what never varies."""
        found = self._draw_as_recorded(seed) if variant == 0 and self._recorded is not None else None
        skeleton, tensors = found or self._draw_twice(seed, variant)
        if self._overrides:
            self._take_overrides(variant, tensors)
        return skeleton, tensors

    def _draw_as_recorded(self, seed: int) -> tuple[object, list[torch.Tensor]] | None:
        """None, and the record is forgotten, where it is about inputs of other types or shapes."""
        skeleton, tensors = self._reference.own_inputs(seed, None, 0)
        said = self._entries(0, tensors)
        if said is None:
            self._recorded = None
            return None
        never = [i for i, entries in enumerate(said) if entries["varies"] == "never"]
        self._never_vary[0] = frozenset(i for i in never if tensors[i].is_floating_point())
        self._fixed_whole[0] = frozenset(i for i in never if not tensors[i].is_floating_point())
        self._habits[0] = [degenerate.Habits.said(entries) for entries in said]
        if any("fractions" in entries for entries in said):
            self._fractions[0] = [entries.get("fractions") == "taken" for entries in said]
        return skeleton, tensors

    def _take_overrides(self, variant: int, tensors: list[torch.Tensor]) -> None:
        """Takes over what the sidecar says of what varies; raises where an input cannot be what it says."""
        file = source.sidecar(self._reference.spec["path"])
        for i, entries in self._overrides.items():
            if i >= len(tensors):
                raise source.SourceError("load_error", f"{file}: [inputs.{i}]: get_inputs() returns {len(tensors)} tensors, numbered from 0")
            for entry, word in entries.items():
                if (why := specification.misfit(entry, word, tensors[i])) is not None:
                    raise source.SourceError("load_error", f'{file}: [inputs.{i}] {entry} = "{word}": {why}')
            if (word := entries.get("varies")) is not None:
                known = self._never_vary if tensors[i].is_floating_point() else self._fixed_whole
                known[variant] = known[variant] | {i} if word == "never" else known[variant] - {i}
                self._habits[variant][i].alike = word != "drawn"

    def _draw_twice(self, seed: int, variant: int) -> tuple[object, list[torch.Tensor]]:
        """(skeleton, tensors) of the task's own inputs; another draw before shows what both have in common."""
        others = self._reference.own_inputs(seed ^ _OTHER_SEED, None, variant)[1]
        other = distributions.fingerprint(others)
        skeleton, tensors = self._reference.own_inputs(seed, None, variant)
        self._never_vary[variant] = distributions.never_vary(other, distributions.fingerprint(tensors))
        self._fixed_whole[variant] = distributions.fixed_whole(others, tensors)
        self._habits[variant] = [degenerate.Habits(a, b) for a, b in zip(others, tensors)]
        return skeleton, tensors

    def _degenerate(self, tensors: list[torch.Tensor], distribution: str, generator: torch.Generator, variant: int,
                    said: list[Entries]) -> list[torch.Tensor]:
        sizes = {size for t in tensors for size in t.shape}
        habits = self._habits.get(variant) or self._habits.get(0) or itertools.repeat(degenerate.NONE)
        terms = self._reference.instance(variant).terms
        return [degenerate.restyle(t, distribution, generator, sizes, habit, terms, entries)
                for t, habit, entries in zip(tensors, habits, said)]

    def _restyled(self, skeleton: object, own: list[torch.Tensor], distribution: str, generator: torch.Generator,
                  variant: int, said: list[Entries]) -> tuple[object, list[torch.Tensor]]:
        """(skeleton, tensors) of the other distributions."""
        coarse = self._reference.multiplies and self._reference.spec.get("precision") != "tf32"
        sizes = {size for t in own for size in t.shape}
        tensors = [distributions.restyle(t, distribution, generator, coarse, entries) for t, entries in zip(own, said)]
        if coarse and distribution == "heavy_tailed" and all(a is b for a, b in zip(own, tensors)):
            takes = self._takes_fractions(own, skeleton, variant) or [False] * len(own)
            takes = [entries["fractions"] == "taken" if "fractions" in entries else may for may, entries in zip(takes, said)]
            tensors = [distributions.round_down(distributions.with_fractions(t, generator)) if may else t for t, may in zip(own, takes)]
        for i in self._fixed_whole.get(variant, ()) if distribution in distributions.VARYING else ():
            if self._overrides.get(i, {}).get("values") == "kept":
                continue
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
