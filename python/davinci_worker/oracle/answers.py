"""What calls return and leave behind, where it lies."""

import os
from collections.abc import Sequence
from typing import Any

import torch

from davinci_worker import arena, packing
from davinci_worker.compare import Comparator, bits_of
from davinci_worker.instance import InputSet
from davinci_worker.oracle.arenas import Arenas
from davinci_worker.oracle.messages import Compare, Descriptor, Done, MapOutputs, Settle, Verify
from davinci_worker.reference import Reference

_OVERWRITTEN = 256  # elements of every output, with bytes 0x7f; on cpu returned_outputs.cc does it


class Answers:
    """Holds the supervisor's output arena (cpu), and of the last call on a device samples of its outputs and which are to be overwritten."""

    def __init__(self, device: str, reference: Reference, arenas: Arenas, comparator: Comparator) -> None:
        self.samples: Any = None
        self._device = device
        self._reference = reference
        self._arenas = arenas
        self._comparator = comparator
        self._outputs: arena.HostArena | None = None
        self._returned: tuple[list[torch.Tensor], int] | None = None  # cuda: (outputs, not overwritten yet, seed of the places)

    def map(self, asked: MapOutputs) -> Done:
        """Maps the supervisor's output arena, into which it reads the outputs of frozen runners."""
        self._outputs = arena.HostArena(asked.fds[0], asked.bytes)
        return Done()

    def returned(self, descriptors: Sequence[Descriptor]) -> list[torch.Tensor]:
        """What a call has returned: in the output arena (cpu), or in a frozen runner's device memory."""
        if self._device == "cuda":
            from davinci_worker import device

            return [device.import_tensor(d) for d in descriptors]
        assert self._outputs is not None or not descriptors, "there is no output arena"
        return [self._outputs.view(d) for d in descriptors]  # type: ignore[union-attr]

    def of(self, asked: Verify | Compare, side: str, drawn: InputSet) -> list[torch.Tensor]:
        """All that is compared of a call with ``drawn``: what it returned, and what it left in the inputs (``Reference.left_in``), which lie in
        an arena of ours. ``side``: the field of the request that tells of it."""
        tensors, places = self.returned(getattr(asked, side)), self._reference.left_in(drawn.variant)
        if places:
            seen = self._arenas.views(drawn, asked.left[side])
            tensors = tensors + [seen[i] for i in places]
        return tensors

    def settle(self, asked: Settle) -> Done:
        """First look at a runner's outputs on the device, right after it said done. Nothing may change from here on, until
        ``overwrite`` (a seed, and which) lets them be overwritten at secret places before the next inputs are drawn."""
        tensors = self.returned(asked.outputs)
        self.samples = self._comparator.backend.sample(tensors, int.from_bytes(os.urandom(7), "little"))
        torch.cuda.synchronize()
        if asked.overwrite is not None:
            self._returned = ([tensors[i] for i in asked.overwrite["which"]], asked.overwrite["seed"])
        return Done()

    def is_late(self) -> bool:
        """Did a store land after done?"""
        return self.samples is not None and not self._comparator.backend.steady(self.samples)

    def overwrite(self) -> None:
        """Before the next inputs. What a call has returned is the caller's: who goes on from it instead of computing it is wrong from here on."""
        self.samples = None
        tensors, seed = self._returned or ((), 0)
        self._returned = None
        generator = torch.Generator(device="cuda").manual_seed(seed) if tensors else None
        for tensor in tensors:
            if tensor.numel():
                bits, at = bits_of(tensor), torch.randint(tensor.numel(), (_OVERWRITTEN,), generator=generator, device="cuda")
                bits[packing.coordinates(at, bits.shape)] = int.from_bytes(b"\x7f" * bits.element_size(), "little")

    def rest(self) -> None:
        """Between two candidates."""
        self.samples = self._returned = None

    def forget(self) -> None:
        """Between two tasks."""
        self._outputs = None
