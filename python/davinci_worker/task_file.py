"""The task file of a reference: what is imported, under which sizes, and what makes the module.

It is user code: what it does wrong is reported with the file's name (``source.SourceError``).
"""

from collections.abc import Iterable
from typing import Any

import torch

from davinci_worker import arguments, eager, memory, on_target, packing, process_state, smaller, source
from davinci_worker.messages import Message


class TaskFile:
    """Holds the imported file, the message that loaded it, and the sizes in force."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.spec: Message = {}  # the message that loaded it, and what was found out since
        self.sizes_of = 0  # the variant whose sizes are set
        self.module: Any = None
        self.factory: Any = None
        self.own_sizes: Message = {}
        self._snapshot: Any = None

    def load(self, spec: Message) -> Message:
        """Imports the task file. ``globals`` are the target's sizes, ``variants`` further shapes; ``compile_only``: what fits without a device.
        Returns the sizes that had to become smaller."""
        self.spec = spec
        compile_only = spec.get("compile_only")
        self.sizes_of = 0
        eager.forget()
        if self.device == "cuda":
            torch.cuda.synchronize()  # the only device that this process sees
        self._snapshot = self._snapshot or process_state.Snapshot()
        with on_target.OnTarget(self.device):
            self.module = source.load_module(spec["path"], "davinci_task", spec.get("globals"), spec["source"], spec.get("imports"))
        self.factory = source.factory(self.module, spec.get("entry"), spec.get("function"), spec.get("op_path"))
        for name, returned in (("get_inputs", "inputs of forward"), ("get_init_inputs", "arguments of the constructor")):
            if not callable(getattr(self.module, name, list if name == "get_init_inputs" else None)):
                raise self.error(f"def {name}() is missing; it returns the list of {returned}")
        fitted = smaller.fit(self.module, lambda init: packing.called(self.factory, self.constructing(init)), compile_only) if compile_only else {}
        if compile_only:
            memory.bound(compile_only["memory"])
        changed = {name for sizes in spec.get("variants") or () for name in sizes}
        self.own_sizes = {name: getattr(self.module, name) for name in changed if hasattr(self.module, name)}
        return fitted

    def forget(self) -> bool:
        """Lets go of all that belonged to the task; True: nothing of it is left in this process."""
        self.module, self.factory, self.spec, self.own_sizes = None, None, {}, {}
        return source.forget_task(self._snapshot)

    def error(self, text: str, kind: str = "load_error") -> source.SourceError:
        """What to raise where the task file is at fault."""
        return source.SourceError(kind, f"{self.spec['path']}: {text}")

    def sizes_in_force(self) -> str:
        """What the .toml has set when something went wrong."""
        sizes = dict(self.spec.get("globals") or {}, **(self.spec["variants"][self.sizes_of - 1] if self.sizes_of else {}))
        if not sizes:
            return ""
        table = f"[[variants]] number {self.sizes_of}" if self.sizes_of else f"[sizes.{self.device}]"
        return f"; with {', '.join(f'{k} = {v!r}' for k, v in sizes.items())} ({table} of {source.sidecar(self.spec['path'])})"

    @property
    def published(self) -> float | None:
        """Tolerance of the published rule when it decides the verdict (protocol kernelbench), else None."""
        return self.spec.get("published_tolerance")

    def insist_on_supported(self, named: Iterable[tuple[str, torch.Tensor]]) -> None:
        for name, tensor in named:
            if (reason := packing.why_not(tensor)) is not None:
                raise self.error(f"{name} {reason}")

    def set_sizes(self, variant: int) -> None:
        source.set_globals(self.module, self.own_sizes)  # what another variant has changed
        self.sizes_of = variant
        if variant:
            source.set_globals(self.module, self.spec["variants"][variant - 1])

    def constructing(self, init: Any) -> Any:
        """The constructor's arguments."""
        with on_target.OnTarget(self.device):
            return arguments.of(init, self.factory, arguments.run_through(self.factory))

    def make(self, init: str) -> Any:
        with on_target.OnTarget(self.device):
            return packing.called(self.factory, packing.from_blob(init))
