"""Instances of a reference: its modules, in the task's precision and in float64, with their weights, and the inputs it draws for them."""

import contextlib
import copy
from typing import Any

import torch

from davinci_worker import (admission, arguments, handover, keyed_draws, kept_state, memory, on_target, outputs, packing, published, source,
                            weights)
from davinci_worker.instance import Instance
from davinci_worker.messages import Message
from davinci_worker.task_file import TaskFile


class Instances(TaskFile):
    """Holds an instance of each variant that was asked for, and what is known of the state that its forward keeps."""

    def __init__(self, device: str) -> None:
        super().__init__(device)
        self._given_both: bool | None = None  # does get_inputs() return what forward takes by position and by keyword? where that was tried
        self._instances: dict[int, Instance] = {}
        self._kept_names: dict[int, tuple[str, ...]] = {}  # variant: of buffers that forward writes to

    def load(self, spec: Message) -> Message:
        self._given_both = None
        return super().load(spec)

    def forget(self) -> bool:
        self._instances.clear()
        self._kept_names.clear()
        return super().forget()

    def instance(self, variant: int) -> Instance:
        """Of one shape variant in task precision and in float64, with randomised state."""
        if variant in self._instances:
            return self._instances[variant]
        self.set_sizes(variant)
        get_init = getattr(self.module, "get_init_inputs", list)
        if self.published:
            torch.manual_seed(self.spec["init_seed"])
        init: Any = get_init()
        if not isinstance(init, (list, tuple, dict)):
            raise self.error(f"get_init_inputs() must return the list of positional arguments of the constructor, or a dict of those by keyword; it "
                             f"returned {type(init).__name__}")
        init = self.constructing(init)
        if self.published:
            init = published.cast_arguments(init, self.spec["precision"])
        init = packing.to_blob(init)  # a constructor may change what it is given
        torch.manual_seed(self.spec["init_seed"])
        model = self.make(init)
        if not isinstance(model, torch.nn.Module):
            raise self.error(f"{self.spec['entry']} is no torch.nn.Module; derive the class from it")
        self.insist_on_supported(weights.state(model))
        model = model.to(self.device)
        if self.published:
            model = published.cast_model(model, self.spec["precision"])
        mode = self.spec.get("mode")
        if mode == "eval":
            model.eval()
        elif mode == "train":
            model.train()
        initial = [handover.fingerprint(t) for _, t in weights.state(model)]
        constants: frozenset[str] = frozenset()
        if self.spec.get("randomise", True):
            constants = weights.constant_tables(model, lambda: self.make(init), self.spec["init_seed"])
            weights.randomise(model, self.spec["state_seed"], constants, self.spec.get("precision"))
        precise = self._twin(model, init).double()._apply(lambda t: t.to(torch.complex128) if t.is_complex() else t)
        self._instances[variant] = Instance(model, precise, init, constants, initial)
        self._instances[variant].keep(self._kept_names.get(variant, ()))
        return self._instances[variant]

    def kept_names(self, variant: int) -> list[str]:
        return list(self._kept_names.get(variant, ()))

    def made_again(self, variant: int) -> Instance:
        """An instance in place of the old one, in which calls have left state behind."""
        old = self._instances.pop(variant)
        self._kept_names.pop(variant, None)
        shapes, terms = old.shapes, old.terms
        del old  # there may be room for one only
        made = self.instance(variant)
        made.shapes, made.terms = shapes, terms
        return made

    def keep_initial_weights(self) -> None:
        """A runner could not take the weights over: both sides keep those drawn from the init seed."""
        self.spec["randomise"] = False
        self._instances.clear()

    def reweigh(self, seed: int, buffers: bool) -> bool:
        """Draws new parameters (and, with ``buffers``, floating buffers) around those of the start; False where nothing may change."""
        built = self.instance(0)
        self.restore_state(built)
        if not self.spec.get("randomise", True) or not weights.reweigh(
                built.model, built.origin, seed, buffers, built.constants, self.spec.get("precision")):
            return False
        weights.take_over(built.precise, built.model)
        for kept in built.kept.values():
            kept.save()
        return True

    @staticmethod
    def restore_state(built: Instance) -> None:
        for kept in built.kept.values():
            kept.restore()

    def of_other_weights(self, variant: int, seed: int) -> Any:
        """A model with weights drawn anew; None where there are none, or none that could be others."""
        built = self.instance(variant)
        own = dict(built.model.named_buffers())
        varying = [n for n, b in own.items() if b.is_floating_point() and n not in built.constants]
        if not varying and next(built.model.parameters(), None) is None:
            return None
        model = admission.other_weights(lambda: self.make(built.init), built.model, seed)
        if model is None:
            return None
        model = model.to(self.device)
        for name, buffer in model.named_buffers():
            if name in built.constants:
                buffer.copy_(own[name])
        return model

    def _twin(self, model: Any, init: str) -> Any:
        try:
            return copy.deepcopy(model)
        except Exception as error:  # noqa: BLE001  it holds what cannot be copied, such as a scripted function
            if memory.ran_out(error):
                raise
        torch.manual_seed(self.spec["init_seed"])
        twin = self.make(init).to(self.device).train(model.training)
        weights.take_over(twin, model)
        return twin

    def own_inputs(self, seed: int, trial: int | None, variant: int) -> tuple[object, list[torch.Tensor]]:
        """(skeleton, tensors on the device) of what the task draws under the secret seed, or in a trial as published."""
        self.set_sizes(variant)
        torch.manual_seed(seed if trial is None else published.trial_seed(trial))
        modes = [] if trial is not None else [torch.device(self.device) if self.device == "cuda" else keyed_draws.KeyedDraws(seed)]
        with contextlib.ExitStack() as active:
            for mode in (*modes, on_target.OnTarget(self.device)):
                active.enter_context(mode)
            drawn = self.module.get_inputs()
        if isinstance(drawn, torch.Tensor):
            drawn = [drawn]
        if not isinstance(drawn, (list, tuple, dict)):
            raise self.error("get_inputs() must return the list of arguments of forward, one entry for each, or a dict of those by keyword; it "
                             f"returned {type(drawn).__name__}")
        if isinstance(drawn, dict) and not all(isinstance(key, str) and key.isidentifier() for key in drawn):
            raise self.error("get_inputs() returns a dict, whose keys name arguments of forward; for one argument that is a dict return a list of it")
        if outputs.holds_array(drawn):
            raise self.error("get_inputs() returns a numpy.ndarray; return torch tensors (torch.randn, or torch.from_numpy)")
        tensors: list[torch.Tensor] = []
        skeleton = packing.flatten(self._calling(drawn, variant), tensors)
        self.insist_on_supported((f"input {i} of get_inputs()", t) for i, t in enumerate(tensors))
        tensors = [t.detach().to(self.device) for t in tensors]
        # A broadcast tensor cannot be written to, and a runner gets tensors of its own.
        return skeleton, [t.contiguous() if packing.span_elements(t.shape, t.stride()) < t.numel() else t for t in tensors]

    def _calling(self, drawn: Any, variant: int) -> Any:
        """The arguments of forward that get_inputs() has drawn."""
        model = self.instance(variant).model

        def runs(given: Any) -> Any:
            moved = packing.with_leaves(given, lambda leaf: leaf.to(self.device, copy=True) if isinstance(leaf, torch.Tensor) else leaf)
            with kept_state.Watch(model):
                self._given_both = arguments.run_through(model)(moved)
            return self._given_both

        return arguments.of(drawn, source.callee(model), runs if self._given_both is None else lambda given: self._given_both)
