"""The reference of a task: its file, its instances in the task's precision and in float64, its own inputs, its forward.

It is user code: what it does wrong is reported with the file's name (``source.SourceError``).
"""

import contextlib
import copy

import torch

from davinci_worker import (admission, arguments, distributions, eager, handover, kept_state, memory, on_target, outputs, packing, process_state,
                            published, rounding, smaller, source, twin_draws, weights)
from davinci_worker.compare import bits_of
from davinci_worker.instance import Instance, widen
from davinci_worker.wide_numbers import WideNumbers

_SCAN_TERMS = 4  # errors of a scan's steps add up: it counts as a sum of so many times its length


class Reference:
    def __init__(self, device):
        self.device = device
        self.spec = {}  # the message that loaded it, and what was found out since
        self.sizes_of = 0  # the variant whose sizes are set
        self.stochastic = False
        self.multiplies = self.selects = False  # does it multiply matrices, pick the largest of something?
        self.chains_products = False  # does it multiply the numbers along a dimension?
        self.module = None
        self.factory = None
        self.own_sizes = {}
        self._given_both = None  # does get_inputs() return what forward takes by position and by keyword? where that was tried
        self._instances = {}
        self._kept_names = {}  # variant: of buffers that forward writes to
        self._left_in = {}  # variant: places of the inputs whose values after a call are part of the answer
        self._snapshot = None

    def load(self, spec):
        """Imports the task file. ``globals`` are the target's sizes, ``variants`` further shapes; ``compile_only``: what fits without a device.
        Returns the sizes that had to become smaller."""
        self.spec = spec
        compile_only = spec.get("compile_only")
        self.sizes_of, self._given_both = 0, None
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
        fitted = smaller.fit(self.module, lambda init: packing.called(self.factory, self._constructing(init)), compile_only) if compile_only else {}
        if compile_only:
            memory.bound(compile_only["memory"])
        changed = {name for sizes in spec.get("variants") or () for name in sizes}
        self.own_sizes = {name: getattr(self.module, name) for name in changed if hasattr(self.module, name)}
        return fitted

    def forget(self):
        """Lets go of all that belonged to the task; True: nothing of it is left in this process."""
        self.module, self.factory, self.spec, self.own_sizes = None, None, {}, {}
        self._instances.clear()
        self._kept_names.clear()
        self._left_in.clear()
        self.stochastic = False
        return source.forget_task(self._snapshot)

    def error(self, text, kind="load_error"):
        """What to raise where the task file is at fault."""
        return source.SourceError(kind, f"{self.spec['path']}: {text}")

    def sizes_in_force(self):
        """What the .toml has set when something went wrong."""
        sizes = dict(self.spec.get("globals") or {}, **(self.spec["variants"][self.sizes_of - 1] if self.sizes_of else {}))
        if not sizes:
            return ""
        table = f"[[variants]] number {self.sizes_of}" if self.sizes_of else f"[sizes.{self.device}]"
        return f"; with {', '.join(f'{k} = {v!r}' for k, v in sizes.items())} ({table} of {source.sidecar(self.spec['path'])})"

    @property
    def published(self):
        """Tolerance of the published rule when it decides the verdict (protocol kernelbench), else None."""
        return self.spec.get("published_tolerance")

    def insist_on_supported(self, named):
        for name, tensor in named:
            if (reason := packing.why_not(tensor)) is not None:
                raise self.error(f"{name} {reason}")

    # --- instances --------------------------------------------------------------------------------------------

    def instance(self, variant):
        """Of one shape variant in task precision and in float64, with randomised state."""
        if variant in self._instances:
            return self._instances[variant]
        self.set_sizes(variant)
        get_init = getattr(self.module, "get_init_inputs", list)
        if self.published:
            torch.manual_seed(self.spec["init_seed"])
        init = get_init()
        if not isinstance(init, (list, tuple, dict)):
            raise self.error(f"get_init_inputs() must return the list of positional arguments of the constructor, or a dict of those by keyword; it "
                             f"returned {type(init).__name__}")
        init = self._constructing(init)
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
        constants = frozenset()
        if self.spec.get("randomise", True):
            constants = weights.constant_tables(model, lambda: self.make(init), self.spec["init_seed"])
            weights.randomise(model, self.spec["state_seed"], constants, self.spec.get("precision"))
        precise = self._twin(model, init).double()._apply(lambda t: t.to(torch.complex128) if t.is_complex() else t)
        self._instances[variant] = Instance(model, precise, init, constants, initial)
        self._instances[variant].keep(self._kept_names.get(variant, ()))
        return self._instances[variant]

    def kept_names(self, variant):
        return list(self._kept_names.get(variant, ()))

    def first_forward(self, built, drawn, forward):
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

    def made_again(self, variant):
        """An instance in place of the old one, in which calls have left state behind."""
        old = self._instances.pop(variant)
        self._kept_names.pop(variant, None)
        shapes, terms = old.shapes, old.terms
        del old  # there may be room for one only
        made = self.instance(variant)
        made.shapes, made.terms = shapes, terms
        return made

    def keep_initial_weights(self):
        """A runner could not take the weights over: both sides keep those drawn from the init seed."""
        self.spec["randomise"] = False
        self._instances.clear()

    def reweigh(self, seed, buffers):
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
    def restore_state(built):
        for kept in built.kept.values():
            kept.restore()

    def of_other_weights(self, variant, seed):
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

    def _constructing(self, init):
        """The constructor's arguments."""
        with on_target.OnTarget(self.device):
            return arguments.of(init, self.factory, arguments.run_through(self.factory))

    def make(self, init):
        with on_target.OnTarget(self.device):
            return packing.called(self.factory, packing.from_blob(init))

    def _twin(self, model, init):
        try:
            return copy.deepcopy(model)
        except Exception as error:  # noqa: BLE001  it holds what cannot be copied, such as a scripted function
            if memory.ran_out(error):
                raise
        torch.manual_seed(self.spec["init_seed"])
        twin = self.make(init).to(self.device).train(model.training)
        weights.take_over(twin, model)
        return twin

    # --- inputs -----------------------------------------------------------------------------------------------

    def set_sizes(self, variant):
        source.set_globals(self.module, self.own_sizes)  # what another variant has changed
        self.sizes_of = variant
        if variant:
            source.set_globals(self.module, self.spec["variants"][variant - 1])

    def own_inputs(self, seed, trial, variant):
        """(skeleton, tensors on the device) of what the task draws under the secret seed, or in a trial as published."""
        self.set_sizes(variant)
        torch.manual_seed(seed if trial is None else published.trial_seed(trial))
        modes = [] if trial is not None else [torch.device(self.device) if self.device == "cuda" else distributions.KeyedDraws(seed)]
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
        tensors = []
        skeleton = packing.flatten(self._calling(drawn, variant), tensors)
        self.insist_on_supported((f"input {i} of get_inputs()", t) for i, t in enumerate(tensors))
        tensors = [t.detach().to(self.device) for t in tensors]
        # What broadcasts cannot be written to, and a runner gets tensors of its own.
        return skeleton, [t.contiguous() if packing.span_elements(t.shape, t.stride()) < t.numel() else t for t in tensors]

    def _calling(self, drawn, variant):
        """The arguments of forward that get_inputs() has drawn."""
        model = self.instance(variant).model

        def runs(given):
            moved = packing.with_leaves(given, lambda leaf: leaf.to(self.device, copy=True) if isinstance(leaf, torch.Tensor) else leaf)
            with kept_state.Watch(model):
                self._given_both = arguments.run_through(model)(moved)
            return self._given_both

        return arguments.of(drawn, source.callee(model), runs if self._given_both is None else lambda given: self._given_both)

    # --- forward ----------------------------------------------------------------------------------------------

    def forward(self, model, drawn, convert=None):
        """(its output, the tensors it was called with: copies of the inputs, or what ``convert`` makes of them). Where forward
        writes to buffers, they are put back first, and copies of what they hold afterwards are part of the output."""
        tensors = [t.clone(memory_format=torch.preserve_format) if convert is None else convert(t) for t in drawn.tensors]
        arguments = packing.unflatten(drawn.skeleton, tensors)
        if self.spec.get("domain_on_host") and (convert is not None or drawn.distribution != "task"):
            self._insist_on_domain(model, arguments)
        built = self._instances.get(drawn.variant)
        kept = built.kept.get(id(model)) if built is not None else None
        if kept is not None:
            kept.restore()
        output = self._called(model, arguments, drawn, convert is not None)
        if kept is not None:
            output, *after = kept.joined(output)
            output = (output, *(t.clone() for t in after))
        return output, tensors

    @staticmethod
    def _insist_on_domain(model, arguments):
        """Raises where a copy of the model on the host raises: on a device a failed assertion would end the process' CUDA context."""
        try:
            packing.called(copy.deepcopy(model).cpu(), packing.with_leaves(arguments, lambda leaf: leaf.cpu() if isinstance(leaf, torch.Tensor) else leaf))
        except Exception as error:
            raise RuntimeError(f"outside of the reference's domain: {error}") from error

    def _called(self, model, arguments, drawn, converted):
        if not self.spec.get("reseed_calls"):
            return self._wide_call(model, arguments, drawn) if converted else packing.called(model, arguments)
        torch.manual_seed(drawn.call_seed())
        own = next((t.dtype for t in drawn.tensors if t.is_floating_point()), torch.float32)
        with twin_draws.TwinDraws(own) if converted and own is not torch.float64 else contextlib.nullcontext():
            return packing.called(model, arguments)

    def answer(self, model, drawn, convert=None):
        """(the output of ``forward``, what it leaves in ``left_in``)"""
        output, used = self.forward(model, drawn, convert)
        return output, [used[i] for i in self.left_in(drawn.variant)]

    def outputs(self, model, drawn, convert=None):
        """The tensors of an ``answer``."""
        output, left = self.answer(model, drawn, convert)
        return outputs.flat(output) + left

    def outputs_for(self, drawn):
        """``outputs`` of its own model, in the task's precision."""
        return self.outputs(self.instance(drawn.variant).model, drawn)

    def left_in(self, variant):
        return self._left_in.get(variant, ())

    def learn_changes(self, drawn, output, used):
        """After a forward with ``drawn``: may it change its inputs (sidecar), then what it leaves in those it does not return is compared."""
        if not self.spec.get("inplace") or self.published:
            return
        changed = [i for i, (after, before) in enumerate(zip(used, drawn.tensors)) if not torch.equal(bits_of(after), bits_of(before))]
        hidden = [i for i in changed if not outputs.lie_in([used[i]], outputs.flat(output))[0]]
        self._left_in[drawn.variant] = sorted({*self.left_in(drawn.variant), *hidden})

    def partial_products_overflow(self, built, drawn):
        """Does fp32 hold what it multiplies along a dimension only where that is begun at the first number?"""
        if not self.chains_products:
            return False
        with rounding.PartialProducts() as products:
            self.forward(built.precise, drawn, widen)
        return products.overflow

    def forward_terms(self, built, drawn):
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

    def _wide_call(self, model, arguments, drawn):
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
