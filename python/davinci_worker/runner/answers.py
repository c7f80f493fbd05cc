"""What calls return, and how the supervisor is told where it lies."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from davinci_worker import packing
from davinci_worker.messages import Message

MOST_POINTERS = 1024


class Answers:
    """Holds the outputs until the next call, and how those described last look: outputs that look alike are told by their pointers."""

    def __init__(self, cuda: bool) -> None:
        self.held: Any = None  # what the last call, or window, has returned
        self.told: list[Any] | None = None  # outputs of the last window, where each time all of them are described
        self._cuda = cuda
        self._contiguous: Sequence[int | None] = ()  # of each output of the bound variant: its elements, where the reference returns it so, or None
        self._known: tuple[type, list[Any]] | None = None
        self._shared: set[int] = set()
        self._share: Any = None

    def expect(self, contiguous: Sequence[int | None]) -> None:
        """From here on outputs are those of another variant."""
        self._known, self._contiguous = None, contiguous
        if self._cuda:
            from davinci_worker import device

            self._share = device.share_outputs

    def num_known(self) -> int:
        """Outputs of a call that looks like those described last; 0 where it is not known how they look."""
        return len(self._known[1]) if self._known else 0

    def laid_out(self, output: Any) -> Any:
        """What the reference returns contiguous is contiguous here too: that is part of the call."""
        if type(output) is torch.Tensor:
            return packing.in_order(output, self._contiguous[0]) if len(self._contiguous) == 1 else output
        return packing.laid_out(output, iter(self._contiguous)) if self._contiguous else output

    def describe(self, output: Any, inner_ns: int) -> Message:
        """The long form of DONE. Sent once, not repeated: see ``pointers``."""
        tensors: list[Message] = []
        structure = packing.describe(output, tensors)
        if self._cuda:
            self.held = (output, self._share(output, tensors))
        outputs: Any = (output,) if type(output) is torch.Tensor else output
        simple = type(output) in (torch.Tensor, tuple, list) and 0 < len(outputs) <= MOST_POINTERS and all(
            type(t) is torch.Tensor for t in outputs) and not any(t.get("copied") for t in tensors)
        self._known = (type(output), [(t.shape, t.dtype, t.stride()) for t in outputs]) if simple else None
        if simple and self._cuda:
            self._shared.update(t["ptr"] for t in tensors)
        return {"structure": structure, "outputs": tensors, "inner_ns": inner_ns}

    def describe_all(self, returned: Iterable[Any], inner_ns: int) -> Message:
        described, held = [], []
        for output in returned:
            described.append(self.describe(output, inner_ns))
            held.append(self.held)
        self.held = held
        return {"several": described, "inner_ns": inner_ns}

    def pointers(self, output: Any) -> list[int] | None:
        """Where the outputs lie, when they look like those described last."""
        if self._known is None or type(output) is not self._known[0]:
            return None
        outputs: Any = (output,) if type(output) is torch.Tensor else output
        known = self._known[1]
        if len(outputs) != len(known):
            return None
        pointers = []
        for tensor, (shape, dtype, stride) in zip(outputs, known):
            if type(tensor) is not torch.Tensor or tensor.dtype is not dtype or tensor.shape != shape or tensor.stride() != stride:
                return None
            pointers.append(tensor.data_ptr())
        return pointers if not self._cuda or self._shared.issuperset(pointers) else None

    def pointers_of(self, returned: Iterable[Any]) -> list[int] | None:
        """Of all outputs of all calls; none when one is unlike those described last."""
        pointers: list[int] = []
        for output in returned:
            found = self.pointers(output)
            if not found:
                return None
            pointers += found
        return pointers

    def forget(self) -> None:
        """Between two references, or candidates."""
        self.held = self.told = self._known = None
        self._shared.clear()
        self._contiguous = ()
