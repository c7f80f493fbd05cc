"""The user's code and the modules made of it: a candidate's, or the reference's where this runner is the baseline."""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from davinci_worker import arena, handover, kept_state, memory, on_target, packing, process_state, source, weights
from davinci_worker.channel import Channel
from davinci_worker.messages import ABSENT, Forgot, Message
from davinci_worker.runner.messages import Construct, Constructed, Load, Loaded, TakeState, TookState


class Candidate:
    """Holds what makes the module, one module for each shape variant, which of them is called, and the buffers that are put back before calls."""

    def __init__(self, peer: Channel, cuda: bool) -> None:
        self.model: Any = None  # of the bound variant
        self.kept: kept_state.KeptState | None = None  # where the reference's forward writes to buffers
        self.guard: Callable[[Any], Any] = lambda model: model
        self._peer = peer
        self._cuda = cuda
        self._factory: Any = None
        self._models: dict[int, Any] = {}
        self._wanted: list[str] = []  # names of the reference's state
        self._plans: dict[int, Any] = {}  # of shape variants: what of the reference's state goes where
        self._padding: torch.Tensor | None = None
        self._user_code: Callable[[], Any] = contextlib.nullcontext
        self._snapshot: Any = None
        self._shared_by_candidates = False

    def load(self, asked: Load) -> Loaded:
        """Imports the file. Compilers are called through ``build`` requests to the supervisor."""
        started = time.monotonic()
        if asked.accelerate:
            from davinci_worker import hooks

            hooks.install(self._peer, self._cuda)
        if asked.compile_only:
            from davinci_worker import compile_only

            compile_only.install(asked.compile_only)
            self._user_code, self.guard = compile_only.user_code, compile_only.guarded
        if self._cuda:
            from davinci_worker import device

            torch.cuda.synchronize()  # the only device that this process sees
            device.keep_freed()
        if asked.shared:
            self._shared_by_candidates = True
            memory.overwrite_freed()
            self._snapshot = self._snapshot or process_state.Snapshot(process_state.of_kernels())
        if asked.source is not None:  # a reference: this process may serve another one later
            self._user_code = lambda: on_target.OnTarget("cuda" if self._cuda else "cpu")
            self._snapshot = self._snapshot or process_state.Snapshot()
        with self._user_code():
            module = source.load_module(asked.path, asked.module, asked.globals, asked.source, asked.imports)
        self._factory = source.factory(module, asked.entry, asked.function, asked.op_path)
        return Loaded(time.monotonic() - started)

    def construct(self, asked: Construct) -> Constructed:
        """Builds the module for one shape variant, weights drawn after ``torch.manual_seed(seed)``."""
        self._padding = torch.empty(asked.padding, dtype=torch.uint8)
        arguments = packing.from_blob(asked.init)
        torch.manual_seed(asked.seed)
        with self._user_code():
            model = packing.called(self._factory, arguments)
        if not callable(model):
            raise source.SourceError("load_error", f"{type(model).__name__} cannot be called; derive the class from torch.nn.Module")
        if isinstance(model, torch.nn.Module):
            model = model.to("cuda" if self._cuda else "cpu")
            if asked.cast:
                from davinci_worker import published

                model = published.cast_model(model, asked.cast)
            if asked.mode == "eval":
                model.eval()
            elif asked.mode == "train":
                model.train()
        if asked.compile:
            model = torch.compile(model, mode=asked.compile if asked.compile != "default" else None)
        self._models[asked.variant] = model
        self.model = model
        return Constructed(_described(_state(model)))

    def take_state(self, asked: TakeState) -> TookState:
        """Copies the reference's parameters and buffers in (handover.py). What takes what is decided once, while all has the values it
        was constructed with."""
        kept = self.kept if self._models[asked.variant] is self.model else None
        if kept is not None:
            kept.restore()
        own = _state(self._models[asked.variant])
        wanted = asked.tensors
        self._wanted = [w["name"] for w in wanted]
        if asked.variant not in self._plans or asked.again:
            self._plans[asked.variant] = handover.plan(own, wanted)
        pairs, how = self._plans[asked.variant]
        shared, by_name = arena.HostArena(asked.fds[0], asked.bytes), dict(own)
        for name, index, order in pairs:
            if name not in by_name:
                raise RuntimeError(f"the module had {name} when it was made and has it no longer; parameters and buffers are written to in place")
            handover.copy(by_name[name], shared.view(wanted[index]), order)
        if kept is not None:
            kept.save()
        return TookState(how, pairs, len(pairs), len(wanted), len(own))

    def bind(self, variant: int, names: Sequence[str]) -> None:
        """From here on the module of this variant is called. ``names``: buffers that the reference writes to in forward."""
        self.model = self._models[variant]
        self.kept = self._state_to_keep(variant, names) if names else None

    def _state_to_keep(self, variant: int, names: Sequence[str]) -> kept_state.KeptState:
        """Buffers of the reference, by what took them over (``take_state``)."""
        pairs, wanted = self._plans.get(variant, ((), ""))[0], self._wanted
        taken = {wanted[index]: name for name, index, _ in pairs}
        if not isinstance(self.model, torch.nn.Module):
            raise source.SourceError("load_error", f"the reference writes to its buffers {', '.join(names)} in forward; return a torch.nn.Module with such ones")
        return kept_state.KeptState(self.model, [taken.get(name, name) for name in names])

    def drop(self) -> None:
        """Between two references, or candidates: lets go of all that was made of the last one."""
        self._factory = self.model = self.kept = self._padding = None
        self._models.clear()
        self._plans.clear()
        self._wanted = []

    def forgotten(self) -> Forgot:
        """After ``drop``: forgets the last one's file, and says what is left of it in this process."""
        if not self._shared_by_candidates:
            return Forgot(source.forget_task(self._snapshot))
        clean, full = source.forget_candidate(self._snapshot)
        return Forgot(clean, full or ABSENT)


def _state(model: Any) -> list[tuple[str, torch.Tensor]]:
    if not isinstance(model, torch.nn.Module):
        return []
    return [(name.replace("_orig_mod.", ""), tensor) for name, tensor in weights.state(model)]


def _described(state: list[tuple[str, torch.Tensor]]) -> list[Message]:
    return [{"name": n, "shape": list(t.shape), "dtype": packing.DTYPES.get(t.dtype, str(t.dtype))} for n, t in state]
