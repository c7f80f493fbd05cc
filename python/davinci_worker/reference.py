"""The reference of a task: a task file, its instances, and here its forward."""

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import torch

from davinci_worker import kept_state, memory, outputs, packing, rounding, twin_draws, weights
from davinci_worker.compare import bits_of
from davinci_worker.instance import InputSet, Instance
from davinci_worker.instances import Instances
from davinci_worker.wide_numbers import WideNumbers

Convert = Callable[[torch.Tensor], torch.Tensor]

_SCAN_TERMS = 4  # errors of a scan's steps add up: it counts as a sum of so many times its length


class Reference(Instances):
    """Holds what is known of its forward: does it repeat itself, what does it compute, what does it leave in its inputs."""

    def __init__(self, device: str) -> None:
        super().__init__(device)
        self.stochastic = False
        self.multiplies = self.selects = False  # does it multiply matrices, pick the largest of something?
        self.chains_products = False  # does it multiply the numbers along a dimension?
        self._left_in: dict[int, list[int]] = {}  # variant: places of the inputs whose values after a call are part of the answer

    def forget(self) -> bool:
        self._left_in.clear()
        self.stochastic = False
        return super().forget()

    def first_forward(self, built: Instance, drawn: InputSet, forward: Callable[[], Any]) -> Any:
        """A first forward of an instance, after which it is known what state it keeps in buffers."""
        if self.published:
            return forward()
        self.restore_state(built)
        with kept_state.Watch(built.model) as watch:
            result = forward()
        if not watch.names:
            return result
        self._kept_names[drawn.variant] = watch.names
        built.keep(watch.names)
        return self.forward(built.model, drawn)

    def forward(self, model: Any, drawn: InputSet, convert: Convert | None = None) -> tuple[Any, list[torch.Tensor]]:
        """(its output, the tensors it was called with: copies of the inputs, or what ``convert`` makes of them). Where forward
        writes to buffers, they are put back first, and copies of what they hold afterwards are part of the output."""
        tensors = [t.clone(memory_format=torch.preserve_format) if convert is None else convert(t) for t in drawn.tensors]
        arguments = packing.unflatten(drawn.skeleton, tensors)
        if self.spec.get("domain_on_host") and (convert is not None or drawn.distribution != "task"):
            _insist_on_domain(model, arguments)
        built = self._instances.get(drawn.variant)
        kept = built.kept.get(id(model)) if built is not None else None
        if kept is not None:
            kept.restore()
        output = self._called(model, arguments, drawn, convert is not None)
        if kept is not None:
            output, *after = kept.joined(output)
            output = (output, *(t.clone() for t in after))
        return output, tensors

    def _called(self, model: Any, arguments: Any, drawn: InputSet, converted: bool) -> Any:
        if not self.spec.get("reseed_calls"):
            return self._wide_call(model, arguments, drawn) if converted else packing.called(model, arguments)
        torch.manual_seed(drawn.call_seed())
        own = next((t.dtype for t in drawn.tensors if t.is_floating_point()), torch.float32)
        with twin_draws.TwinDraws(own) if converted and own is not torch.float64 else contextlib.nullcontext():
            return packing.called(model, arguments)

    def answer(self, model: Any, drawn: InputSet, convert: Convert | None = None) -> tuple[Any, list[torch.Tensor]]:
        """(the output of ``forward``, what it leaves in ``left_in``)"""
        output, used = self.forward(model, drawn, convert)
        return output, [used[i] for i in self.left_in(drawn.variant)]

    def outputs(self, model: Any, drawn: InputSet, convert: Convert | None = None) -> list[torch.Tensor]:
        """The tensors of an ``answer``."""
        output, left = self.answer(model, drawn, convert)
        return outputs.flat(output) + left

    def outputs_for(self, drawn: InputSet) -> list[torch.Tensor]:
        """``outputs`` of its own model, in the task's precision."""
        return self.outputs(self.instance(drawn.variant).model, drawn)

    def left_in(self, variant: int) -> list[int]:
        return self._left_in.get(variant, [])

    def learn_changes(self, drawn: InputSet, output: Any, used: list[torch.Tensor]) -> None:
        """After a forward with ``drawn``: may it change its inputs (sidecar), then what it leaves in those it does not return is compared."""
        if not self.spec.get("inplace") or self.published:
            return
        changed = [i for i, (after, before) in enumerate(zip(used, drawn.tensors)) if not torch.equal(bits_of(after), bits_of(before))]
        hidden = [i for i in changed if not outputs.lie_in([used[i]], outputs.flat(output))[0]]
        self._left_in[drawn.variant] = sorted({*self.left_in(drawn.variant), *hidden})

    def forward_terms(self, built: Instance, drawn: InputSet) -> tuple[Any, list[torch.Tensor]]:
        """A forward, and in ``built`` how many numbers it sums up into one, where it can be watched."""
        loop = rounding.LongestLoop()
        try:
            with loop:
                result = self.forward(built.model, drawn)
        except Exception as error:  # noqa: BLE001  operators that take no dispatch mode
            if memory.ran_out(error):
                raise
            return self.forward(built.model, drawn)
        built.terms = max(loop.total, _SCAN_TERMS * loop.scan)
        return result

    def _wide_call(self, model: Any, arguments: Any, drawn: InputSet) -> Any:
        """A float64 twin of what is fp32 throughout makes all of its numbers in float64."""
        built = next((b for b in self._instances.values() if b.precise is model), None)
        if built is not None and built.single is None:
            own = [*drawn.tensors, *(t for _, t in weights.state(built.model))]
            built.single = all(t.dtype is torch.float32 for t in own if t.is_floating_point())
        if built is None or not built.single:
            return packing.called(model, arguments)
        try:
            with WideNumbers():
                return packing.called(model, arguments)
        except Exception as error:  # noqa: BLE001  operators that take no dispatch mode, or no float64
            if memory.ran_out(error):
                raise
            built.single = False
            return packing.called(model, arguments)


def _insist_on_domain(model: Any, arguments: Any) -> None:
    """Raises where a copy of the model on the host raises: on a device a failed assertion would end the process' CUDA context."""
    try:
        packing.called(copy.deepcopy(model).cpu(), packing.with_leaves(arguments, lambda leaf: leaf.cpu() if isinstance(leaf, torch.Tensor) else leaf))
    except Exception as error:
        raise RuntimeError(f"outside of the reference's domain: {error}") from error
