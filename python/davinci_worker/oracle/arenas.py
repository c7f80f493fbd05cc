"""Memory for inputs that the oracle owns and runners read."""

import os
from typing import Any

import torch

from davinci_worker import arena, memory
from davinci_worker.compare import Comparator
from davinci_worker.instance import InputSet
from davinci_worker.oracle.messages import DeviceMemory, Done, HostMemory, MakeArena, Place, Publish
from davinci_worker.oracle.draws import Draws

KEEP_WHILE_RESTING_BYTES = 1 << 30
_KEPT_ARENA_BYTES = 256 << 20


class Spare:
    """Holds the memory of the last candidate's arena (cpu), all zeros. The next candidate gets it as new: pages that are given back and asked for
    again with each candidate lie ever more scattered, and reading them takes some per cent longer than the baseline's."""

    def __init__(self) -> None:
        self._kept: arena.HostArena | None = None

    def take(self, size: int) -> arena.HostArena | None:
        """None where there is none of this size; one of another size is given back."""
        kept = self._kept
        if kept is not None and kept.num_bytes != arena.whole_pages(size):
            self.close()
            return None
        self._kept = None
        return kept

    def keep(self, gone: arena.HostArena) -> None:
        """The process that had it mapped has ended."""
        if self._kept is None and gone.num_bytes <= _KEPT_ARENA_BYTES:
            gone.base.zero_()
            self._kept = gone
        else:
            os.close(gone.fd)

    def close(self) -> None:
        if self._kept is not None:
            os.close(self._kept.fd)
            self._kept = None


class Arenas:
    """Holds the arenas by name ("candidate", "baseline", "buffers", further launches)."""

    def __init__(self, device: str, draws: Draws, comparator: Comparator) -> None:
        self._device = device
        self._draws = draws
        self._comparator = comparator
        self._named: dict[str, Any] = {}
        self._spare = Spare()
        self._retired: list[Any] = []

    def __getitem__(self, name: str) -> Any:
        return self._named[name]

    def create(self, asked: MakeArena) -> HostMemory | DeviceMemory:
        """Creates the input arena of ``name`` for one variant; the supervisor forwards the descriptor."""
        size = asked.slot_bytes * asked.slots
        if self._device == "cuda":
            return self._create_on_device(asked.name, size)
        if (previous := self._named.pop(asked.name, None)) is not None:
            os.close(previous.fd)
        again = self._spare.take(size) if asked.name == "candidate" else None
        made = self._named[asked.name] = again or arena.HostArena.create("davinci-" + asked.name, size)
        return HostMemory(made.num_bytes, [made.fd])

    def _create_on_device(self, name: str, size: int) -> DeviceMemory:
        previous = self._named.get(name)
        if previous is not None and previous.num_bytes >= size:
            previous.base.zero_()  # the runner has it mapped: the next shape moves in
        else:
            if previous is not None:
                self._retired.append(previous)  # may not be freed while another process has it mapped
            self.allocate(name, size)
        return DeviceMemory(self._named[name].handle, size)

    def allocate(self, name: str, size: int) -> Any:
        """cuda: memory of a name, in place of what had it."""
        from davinci_worker import device

        self._named[name] = device.DeviceArena(size)
        return self._named[name]

    def peak_bytes(self) -> int:
        """cuda: most device memory this process has held so far: what it asked torch for, and the arenas."""
        return torch.cuda.max_memory_reserved() + sum(a.num_bytes for a in (*self._named.values(), *self._retired))

    def publish(self, asked: Publish) -> Done:
        """Copies the current inputs into a slot of an arena and evicts them from the caches of every core."""
        drawn = self._draws.at_hand
        target = self.copy_to(asked.name, drawn, asked.shift)
        if self._device == "cpu":
            self._comparator.flush(target.base.data_ptr() + asked.shift, asked.slot_bytes)
        else:
            self._comparator.backend.cool(drawn.seed)
        return Done()

    def copy_to(self, name: str, drawn: InputSet, shift: int) -> Any:
        target = self._named[name]
        layout, _ = arena.plan(drawn.tensors)
        for tensor, placed in zip(drawn.tensors, layout):
            self._comparator.copy(target.view(placed, shift), tensor)
        return target

    def views(self, drawn: InputSet, where: Place) -> list[torch.Tensor]:
        """What a runner sees of each input."""
        target, (layout, _) = self._named[where["name"]], arena.plan(drawn.tensors)
        return [target.view(placed, where["shift"]) for placed in layout]

    def changed_input(self, drawn: InputSet, where: Place) -> int | None:
        """The first input that a runner has changed, if any."""
        for i, (seen, tensor) in enumerate(zip(self.views(drawn, where), drawn.tensors)):
            if not self._comparator.same_bytes(seen, tensor):
                return i
        return None

    def rest(self) -> None:
        """Between two candidates."""
        gone = self._named.pop("candidate", None)
        if self._device == "cuda":
            from davinci_worker import device

            del gone
            self._retired.clear()
            device.close_handles()
            if torch.cuda.memory_reserved() > KEEP_WHILE_RESTING_BYTES:
                torch.cuda.empty_cache()
        else:
            for name in set(self._named) - {"baseline"}:  # of further launches
                os.close(self._named.pop(name).fd)
            if gone is not None:
                self._spare.keep(gone)
            memory.give_freed_back(KEEP_WHILE_RESTING_BYTES)

    def forget(self) -> None:
        """Between two tasks, after ``rest``."""
        for gone in self._named.values():
            if self._device == "cpu":
                os.close(gone.fd)
        self._spare.close()
        self._named.clear()
