"""Owns the reference: secret seeds, inputs, truth and comparison. Never loads candidate code.

Truth is the reference evaluated in float64. How far a candidate may be from it is measured, not guessed: the error of
honest implementations in the task's precision (the reference itself, and the reference on inputs moved by half a unit
in the last place) fills an error profile from which the comparator derives tolerances (judge/compare/tolerance.h).
"""

import contextlib
import copy
import hashlib
import itertools
import math
import os
import threading
import time

import torch

from davinci_worker import (admission, arena, channel, distributions, handover, memory, nearby, nonfinite, outputs, packing, process_state,
                            published, rounding, smaller, source, trace, twin_draws, weights)
from davinci_worker.compare import Comparator, bits_of
from davinci_worker.wide_numbers import WideNumbers

_SLOTS = 3
_OVERWRITTEN = 256  # elements of every output, with bytes 0x7f; on cpu examination_checks.cc does it
_REPEATS_IN_DOUBT = 5
_MARGINAL_RATIO = 4  # of error over tolerance
_SCAN_TERMS = 4  # errors of a scan's steps add up: it counts as a sum of so many times its length
_KEEP_WHILE_RESTING_BYTES = 1 << 30
_KEPT_ARENA_BYTES = 256 << 20
_LARGE_BYTES = 256 << 20  # of inputs: of their temporaries none is kept
_MOST_OF_MEMORY = 0.9
_MANY_SLOTS_BYTES = 64 << 20  # larger inputs get one slot: contents are fresh anyway, memory is not free


class InputSet:
    """One drawn set of inputs, with truth when it was asked for."""

    def __init__(self, skeleton, tensors, variant, seed, distribution):
        self.skeleton = skeleton
        self.tensors = tensors
        self.variant = variant
        self.seed = seed
        self.distribution = distribution
        self.truth = None  # Comparator state per output
        self.reference = None  # the reference's own outputs in the task's precision, when truth was asked for

    def call_seed(self):
        """Of random numbers in a call with these inputs; says nothing about the secret seed."""
        return int.from_bytes(hashlib.blake2b(b"call%d" % self.seed, digest_size=8).digest(), "little") >> 1


class Oracle:
    def __init__(self, peer, request):
        self._peer = peer
        self._snapshot = None
        self._device = "cuda" if request.get("target") == "cuda" else "cpu"
        self._module = None
        self._factory = None
        self._spec = {}
        self._own_sizes = {}
        self._variants = {}
        self._sizes_of = 0  # the variant whose sizes are set
        self._never_vary = {}  # variant: places of the inputs that get_inputs makes alike for every seed
        self._fixed_whole = {}  # the same of whole numbers; none where the reference can do with no others
        self._set = None
        self._arenas = {}
        self._kept_arena = None  # cpu: the last candidate's, all zeros
        self._retired = []
        self._outputs = None
        self._samples = []
        self._multiplies = self._selects = False  # does the reference multiply matrices, pick the largest of something?
        self._returned = None  # cuda: (outputs of the candidate that nobody has overwritten yet, seed of the places)
        self._stochastic = False
        self.judging_seconds = 0.0  # of working out truth and tolerance once, for whoever plans to do it again
        self._nonfinite = None
        self._comparator = Comparator(self._device, int(request.get("threads", 1)))
        torch.set_grad_enabled(False)
        if self._device == "cpu":
            _let_threads_sleep()

    def serve(self):
        while True:
            message, fds = self._peer.recv()
            try:
                reply, out_fds = self._answer(message, fds)
                self._peer.send({"ok": reply}, out_fds)
                if message["op"] in ("state", "reweigh"):
                    channel.close_all(out_fds)
            except (Exception, SystemExit) as error:  # noqa: BLE001  the reference is user code too
                self._peer.send({"error": self._explain(error, message)})
            if message["op"] != "outputs":
                channel.close_all(fds)

    def _answer(self, message, fds=()):
        started = time.monotonic()
        reply, out_fds = getattr(self, "_op_" + message["op"])(message, fds), ()
        if isinstance(reply, tuple):
            reply, out_fds = reply
        reply["seconds"] = time.monotonic() - started
        return reply, out_fds

    def _op_several(self, message, fds):
        """Requests without descriptors, one after the other; the first that fails is the last."""
        answers = []
        for request in message["requests"]:
            try:
                answers.append(self._answer(request)[0])
            except Exception as error:  # noqa: BLE001
                return {"answers": answers, "error": self._explain(error, request)}
        return {"answers": answers}

    def _explain(self, error, message):
        import traceback

        if isinstance(error, source.SourceError):
            return {"kind": error.kind, "message": str(error)}
        error = source.readable(error)
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == self._spec.get("path")]
        where = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else f"{self._spec.get('path', 'the task')}: "
        hint = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
        hint += self._sizes_in_force() if message["op"] != "load" else ""
        if isinstance(error, TypeError) and "argument" in str(error) and ("forward()" in str(error) or "__init__()" in str(error)):
            hint += "; forward is called with what get_inputs() returns, the constructor with what get_init_inputs() returns"
        crowded = (self._device == "cuda" or self._spec.get("offline")) and memory.ran_out(error)
        return {"kind": "out_of_memory" if crowded else "reference_error", "op": message["op"], "message": f"{where}{type(error).__name__}: {error}{hint}",
                "traceback": "".join(traceback.format_exception(error)[-4:])[-2000:]}

    def _sizes_in_force(self):
        """What the .toml has set when something went wrong."""
        sizes = dict(self._spec.get("globals") or {}, **(self._spec["variants"][self._sizes_of - 1] if self._sizes_of else {}))
        if not sizes:
            return ""
        table = f"[[variants]] number {self._sizes_of}" if self._sizes_of else f"[sizes.{self._device}]"
        return f"; with {', '.join(f'{k} = {v!r}' for k, v in sizes.items())} ({table} of {source.sidecar(self._spec['path'])})"

    # --- the reference ----------------------------------------------------------------------------------------

    def _op_load(self, message, fds):
        """Imports the task file. ``globals`` are the target's sizes, ``variants`` further shapes; ``offline``: what fits without a device."""
        self._spec = message
        offline = message.get("offline")
        self._sizes_of = 0
        if self._device == "cuda":
            torch.cuda.set_device(0)
        self._snapshot = self._snapshot or process_state.Snapshot()
        self._never_vary.clear()
        self._fixed_whole.clear()
        self._module = source.load_module(message["path"], "davinci_task", message.get("globals"), message["source"])
        self._factory = source.factory(self._module, message.get("entry"), message.get("function"), message.get("op_path"))
        for name, returned in (("get_inputs", "inputs of forward"), ("get_init_inputs", "arguments of the constructor")):
            if not callable(getattr(self._module, name, list if name == "get_init_inputs" else None)):
                raise source.SourceError("load_error", f"{message['path']}: def {name}() is missing; it returns the list of {returned}")
        fitted = smaller.fit(self._module, lambda init: self._factory(*init), offline) if offline else {}
        if offline:
            memory.bound(offline["memory"])
        changed = {name for sizes in message.get("variants") or () for name in sizes}
        self._own_sizes = {name: getattr(self._module, name) for name in changed if hasattr(self._module, name)}
        return fitted

    def _build(self, variant):
        """Instance of one shape variant in task precision and in float64, with randomised state."""
        if variant in self._variants:
            return self._variants[variant]
        self._set_sizes(variant)
        get_init = getattr(self._module, "get_init_inputs", list)
        if self._published:
            torch.manual_seed(self._spec["init_seed"])
        init = get_init()
        if not isinstance(init, (list, tuple)):
            raise source.SourceError("load_error", f"{self._spec['path']}: get_init_inputs() must return the list of positional arguments of "
                                     f"the constructor; it returned {type(init).__name__}")
        init = list(init)
        if self._published:
            init = published.cast_arguments(init, self._spec["precision"])
        init = packing.to_blob(init)  # a constructor may change what it is given
        torch.manual_seed(self._spec["init_seed"])
        model = self._make(init)
        if not isinstance(model, torch.nn.Module):
            raise source.SourceError("load_error", f"{self._spec['path']}: {self._spec['entry']} is no torch.nn.Module; derive the class from it")
        self._insist_on_supported(weights.state(model))
        model = model.to(self._device)
        if self._published:
            model = published.cast_model(model, self._spec["precision"])
        mode = self._spec.get("mode")
        if mode == "eval":
            model.eval()
        elif mode == "train":
            model.train()
        initial = [handover.fingerprint(t) for _, t in weights.state(model)]
        constants = frozenset()
        if self._spec.get("randomise", True):
            constants = weights.constant_tables(model, lambda: self._make(init), self._spec["init_seed"])
            weights.randomise(model, self._spec["state_seed"], constants, self._spec.get("precision"))
        precise = self._twin(model, init).double()
        self._variants[variant] = {"model": model, "precise": precise, "init": init, "origin": {}, "constants": constants, "initial": initial}
        return self._variants[variant]

    def _make(self, init):
        return self._factory(*packing.from_blob(init))

    def _twin(self, model, init):
        try:
            return copy.deepcopy(model)
        except Exception as error:  # noqa: BLE001  it holds what cannot be copied, such as a scripted function
            if memory.ran_out(error):
                raise
        torch.manual_seed(self._spec["init_seed"])
        twin = self._make(init).to(self._device).train(model.training)
        weights.take_over(twin, model)
        return twin

    @property
    def _published(self):
        """Tolerance of the published rule when it decides the verdict (protocol kernelbench), else None."""
        return self._spec.get("published_tolerance")

    def _set_sizes(self, variant):
        source.set_globals(self._module, self._own_sizes)  # what another variant has changed
        self._sizes_of = variant
        if variant:
            source.set_globals(self._module, self._spec["variants"][variant - 1])

    def _own_inputs(self, seed, trial, variant):
        """(skeleton, tensors on the device) of what the task draws under the secret seed, or in a trial as published."""
        self._set_sizes(variant)
        if trial is not None:
            torch.manual_seed(published.trial_seed(trial))
            drawn = self._module.get_inputs()
        else:
            torch.manual_seed(seed)
            with torch.device(self._device) if self._device == "cuda" else distributions.KeyedDraws(seed):
                drawn = self._module.get_inputs()
        if isinstance(drawn, torch.Tensor):
            drawn = [drawn]
        if not isinstance(drawn, (list, tuple)):
            raise source.SourceError("load_error", f"{self._spec['path']}: get_inputs() must return the list of arguments of forward, one "
                                     f"entry for each; it returned {type(drawn).__name__}")
        if outputs.holds_array(drawn):
            raise source.SourceError("load_error", f"{self._spec['path']}: get_inputs() returns a numpy.ndarray; return torch tensors "
                                     "(torch.randn, or torch.from_numpy)")
        tensors = []
        skeleton = packing.flatten(list(drawn), tensors)
        self._insist_on_supported((f"input {i} of get_inputs()", t) for i, t in enumerate(tensors))
        tensors = [t.detach().to(self._device) for t in tensors]
        # What broadcasts cannot be written to, and a runner gets tensors of its own.
        return skeleton, [t.contiguous() if packing.span_elements(t.shape, t.stride()) < t.numel() else t for t in tensors]

    def _insist_on_supported(self, named):
        for name, tensor in named:
            if (reason := packing.why_not(tensor)) is not None:
                raise source.SourceError("load_error", f"{self._spec['path']}: {name} {reason}")

    def _draw(self, seed, distribution, variant):
        """Own inputs, moved to the wanted distribution."""
        other = None
        if distribution == "own" and variant not in self._never_vary and frozenset() not in self._never_vary.values():
            others = self._own_inputs(seed ^ 0x2545F4914F6CDD1D, None, variant)[1]
            other = distributions.fingerprint(others)
        skeleton, tensors = self._own_inputs(seed, published.trial_of(distribution), variant)
        if other is not None:
            self._never_vary[variant] = distributions.never_vary(other, distributions.fingerprint(tensors))
            self._fixed_whole[variant] = distributions.fixed_whole(others, tensors)
            del others
        for i in self._never_vary.get(variant, ()) if distribution == "own" else ():
            tensors[i] = distributions.scaled(tensors[i], seed + (i << 32))
        if self._published:
            tensors = published.cast(tensors, self._spec["precision"])
        elif distribution != "own":
            generator = torch.Generator(device=self._device)
            generator.manual_seed(seed ^ 0x5DEECE66D)
            coarse = self._multiplies and self._spec.get("precision") != "tf32"
            tensors = [distributions.restyle(t, distribution, generator, coarse) for t in tensors]
            for i in self._fixed_whole.get(variant, ()) if distribution in ("signed", "outliers", "outliers-faint") else ():
                tensors[i] = distributions.other_whole(tensors[i], generator, {size for t in tensors for size in t.shape})
            if distribution.startswith("outliers"):
                skeleton = distributions.other_numbers(skeleton, generator)
        return InputSet(skeleton, tensors, variant, seed, distribution)

    def _forward(self, model, drawn, convert=None):
        tensors = [t.clone(memory_format=torch.preserve_format) if convert is None else convert(t) for t in drawn.tensors]
        arguments = packing.unflatten(drawn.skeleton, tensors)
        if not self._spec.get("reseed_calls"):
            return self._wide_call(model, arguments, drawn) if convert is not None else model(*arguments), tensors
        torch.manual_seed(drawn.call_seed())
        own = next((t.dtype for t in drawn.tensors if t.is_floating_point()), torch.float32)
        with twin_draws.TwinDraws(own) if convert is not None and own is not torch.float64 else contextlib.nullcontext():
            return model(*arguments), tensors

    def _wide_call(self, model, arguments, drawn):
        """A float64 twin of what is fp32 throughout makes all of its numbers in float64."""
        built = next((b for b in self._variants.values() if b["precise"] is model), None)
        if built is not None and "single" not in built:
            own = [*drawn.tensors, *(t for _, t in weights.state(built["model"]))]
            built["single"] = all(t.dtype is torch.float32 for t in own if t.is_floating_point())
        if built is None or not built["single"]:
            return model(*arguments)
        try:
            with WideNumbers():
                return model(*arguments)
        except Exception as error:  # noqa: BLE001  operators that take no dispatch mode, or no float64
            if memory.ran_out(error):
                raise
            built["single"] = False
            return model(*arguments)

    # --- facts about the task ---------------------------------------------------------------------------------

    def _op_describe(self, message, fds):
        """Builds a variant and reports what a runner needs to build its own, plus facts about the task."""
        variant = message.get("variant", 0)
        built = self._build(variant)
        drawn = self._draw(message["seed"], "own", variant)
        if self._device == "cpu" and sum(t.numel() * t.element_size() for t in drawn.tensors) > _LARGE_BYTES:
            memory.return_large_blocks()
        started = time.monotonic()
        (first, used), forward_bytes = self._measured(lambda: self._forward_terms(built, drawn))
        if (seconds := time.monotonic() - started) > self._spec.get("call_seconds", math.inf):
            raise source.SourceError("too_large" if self._spec.get("offline") else "load_error",
                                     f"{self._spec['path']}: forward takes {seconds:.0f} s, a call may take "
                                     f"{self._spec['call_seconds']:.0f}; use smaller sizes ([sizes.{self._device}] in its .toml) or --call-timeout")
        if outputs.holds_array(first):
            raise source.SourceError("load_error", f"{self._spec['path']}: forward returns a numpy.ndarray; return torch tensors "
                                     "(torch.from_numpy)")
        if not outputs.flat(first):
            raise source.SourceError("load_error", f"{self._spec['path']}: forward returns no tensor and no number, so there is nothing to "
                                     "compare; return what it computes, also where it changes its inputs")
        if not outputs.numel(first):
            raise source.SourceError("load_error", f"{self._spec['path']}: all that forward returns is empty, so there is nothing to "
                                     f"compare; use larger sizes{self._sizes_in_force()}")
        self._insist_on_supported((f"output {i} of forward", t) for i, t in enumerate(outputs.flat(first)))
        from_inputs = outputs.lie_in(first, used)
        del used
        if self._device == "cpu":
            self._insist_on_room(built["model"], drawn, first)
        built["shapes"] = [list(t.shape) for t in outputs.flat(first)]
        if variant and self._changes_nothing(variant, message["seed"]):
            raise source.SourceError("load_error", f"{source.sidecar(self._spec['path'])}: [[variants]] number {variant} changes nothing: "
                                     "inputs, outputs and state are those without it. Set a global that get_inputs() or get_init_inputs() "
                                     "reads when it is called; one that was computed from another on import does not follow it")
        stochastic = False
        if variant == 0:
            second = self._forward(built["model"], drawn)[0]
            stochastic = not outputs.same(first, second)
            repeats = not stochastic
            if stochastic and built["model"].training and self._spec.get("mode") is None:
                self._spec["mode"] = "eval"
                built = None
                built, first, repeats = self._asked_twice_anew(drawn)
            self._stochastic = stochastic
            if not repeats:
                self._spec["reseed_calls"] = True
                built = None
                built, first, repeats = self._asked_twice_anew(drawn)
                if not repeats:
                    raise source.SourceError("load_error", f"{self._spec['path']}: forward answers differently when called again with the same "
                                             "inputs and the same seed: it keeps state from call to call, which cannot be judged")
        described = []
        structure = packing.describe(first, described)
        if "unsupported" in structure:
            raise source.SourceError("load_error", f"{self._spec['path']}: forward returns {structure}; only tensors, numbers, and tuples, "
                                     "lists and dicts of them can be compared")
        layout, num_bytes = arena.plan(drawn.tensors)
        state = weights.state(built["model"])
        slot_bytes = (num_bytes + 4095) // 4096 * 4096
        return {
            "init": built["init"], "structure": structure,
            "outputs": [{k: o[k] for k in ("dtype", "shape", "stride")} for o in described],
            "inputs": layout, "input_bytes": num_bytes, "slot_bytes": slot_bytes, "slots": _SLOTS if num_bytes <= _MANY_SLOTS_BYTES else 1,
            "state": [{"name": n, "shape": list(t.shape), "dtype": packing.DTYPES[t.dtype]} for n, t in state],
            "device_bytes": torch.cuda.get_device_properties(0).total_memory if self._device == "cuda" else 0,
            "footprint_bytes": self._footprint(built["model"], drawn, first, forward_bytes),
            "lent": [a or b for a, b in zip(from_inputs, outputs.lie_in(first, outputs.of_module(built["model"], state)))],
            "begins": outputs.begins(first), "regions": outputs.regions(first),
            "stochastic": stochastic, "reseed_calls": bool(self._spec.get("reseed_calls")), "mode": self._spec.get("mode"),
            "training": bool(built["model"].training), "work": self._work(built["model"], drawn) if variant == 0 else None,
        }

    def _insist_on_room(self, model, drawn, output):
        """On the host memory that is short ends processes, perhaps somebody else's."""
        read, written = (sum(t.numel() * t.element_size() for t in group) for group in (drawn.tensors, outputs.flat(output)))
        # The supervisor's copy of the outputs, and what the runners keep of theirs.
        needed, there = self._footprint(model, drawn, output, read + written) + 3 * written, memory.machine_bytes()
        if 0 < _MOST_OF_MEMORY * there < needed:
            raise source.SourceError("load_error", f"{self._spec['path']}: judging takes about {needed / 1e9:.0f} GB (inputs, outputs, their "
                                     f"float64 twins), this machine has {there / 1e9:.0f} GB; use smaller sizes ([sizes.cpu] in its .toml)")

    def _asked_twice_anew(self, drawn):
        """(what ``_build`` returns, made again because state that a call leaves behind looks like chance only in the first calls;
        its output; whether that is also its second)"""
        known = {name: value for name, value in self._variants.pop(drawn.variant).items() if name in ("shapes", "terms")}
        built = self._build(drawn.variant)
        built.update(known)
        first, second = (self._forward(built["model"], drawn)[0] for _ in range(2))
        return built, first, outputs.same(first, second)

    def _changes_nothing(self, variant, seed):
        """Do the sizes of a variant reach neither inputs nor outputs nor the constructor?"""
        a, b = self._build(0), self._build(variant)
        if a["init"] != b["init"] or a["shapes"] != b["shapes"]:
            return False
        if [t.shape for _, t in weights.state(a["model"])] != [t.shape for _, t in weights.state(b["model"])]:
            return False
        (one, those), (other, these) = (self._own_inputs(seed, None, v) for v in (0, variant))
        return packing.to_blob(one) == packing.to_blob(other) and len(those) == len(these) and all(
            x.dtype is y.dtype and torch.equal(x, y) for x, y in zip(those, these))

    def _forward_terms(self, built, drawn):
        """A forward, and in ``built`` how many numbers it sums up into one, where it can be watched."""
        loop = rounding.LongestLoop()
        try:
            with loop:
                result = self._forward(built["model"], drawn)
        except Exception as error:  # noqa: BLE001  operators that take no dispatch mode
            if memory.ran_out(error):
                raise
            return self._forward(built["model"], drawn)
        built["terms"] = max(loop.total, _SCAN_TERMS * loop.scan)
        return result

    def _measured(self, function):
        """(its result, most device memory it held beyond what was held before)"""
        if self._device != "cuda":
            return function(), 0
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        return function(), torch.cuda.max_memory_allocated() - before

    @staticmethod
    def _footprint(model, drawn, output, forward_bytes):
        """Most device memory an evaluation will hold, all three processes together and without their contexts, from what one
        forward of the reference needed (its copies of the inputs included)."""
        results, state = outputs.flat(output), [t for _, t in weights.state(model)]
        inputs, written, held = (sum(t.numel() * t.element_size() for t in group) for group in (drawn.tensors, results, state))
        floating = [t.element_size() for t in (*drawn.tensors, *results, *state) if t.is_floating_point()]
        wide = 8 // min(floating, default=8)  # a float64 twin of the smallest type
        return (3 * inputs  # as drawn, and both arenas
                + wide * forward_bytes + (wide + 1) * written + sum(t.numel() for t in results)  # truth, honest answer, mask
                + 2 * max(forward_bytes - inputs, written)  # both runners
                + (5 + wide) * held)

    def _work(self, model, drawn):
        """Bytes and operations of one call, for the roofline."""
        (output, _), flops, dense, self._multiplies, self._selects = trace.work(lambda: self._forward(model, drawn))
        found = []
        packing.flatten(output, found)
        self._selects |= not all(t.is_floating_point() for t in found)
        read = sum(t.numel() * t.element_size() for t in drawn.tensors)
        held = sum(t.numel() * t.element_size() for _, t in weights.state(model))
        written = sum(t.numel() * t.element_size() for t in found)
        return {"flops": int(flops), "input_bytes": read, "weight_bytes": held, "output_bytes": written,
                "reads_everything": dense}

    def _op_reweigh(self, message, fds):
        """Draws new parameters (and, with ``buffers``, floating buffers) around those of the start and exports them as
        ``state`` does; ``changed`` is false where there is nothing that may change."""
        built = self._build(0)
        drawn = self._spec.get("randomise", True) and weights.reweigh(
            built["model"], built["origin"], message["seed"], message["buffers"], built["constants"], self._spec.get("precision"))
        if not drawn:
            return {"changed": False}
        weights.take_over(built["precise"], built["model"])
        reply, out_fds = self._op_state({}, ())
        return dict(reply, changed=True), out_fds

    def _op_state(self, message, fds):
        """The randomised parameters and buffers, in shared memory."""
        built = self._build(message.get("variant", 0))
        state = weights.state(built["model"])
        layout, num_bytes = arena.plan([t.contiguous() for _, t in state])
        shared = arena.HostArena.create("davinci-state", num_bytes)
        for (_, tensor), placed, item in zip(state, layout, handover.offer(built["model"], built["initial"], built["constants"])):
            placed.update(item)
            shared.view(placed).copy_(tensor)
        return {"tensors": layout, "bytes": shared.num_bytes}, [shared.fd]

    def _op_unrandomise(self, message, fds):
        """A runner could not take the weights over: both sides keep those drawn from the init seed."""
        self._spec["randomise"] = False
        self._variants.clear()
        return {}

    # --- inputs -----------------------------------------------------------------------------------------------

    def _op_arena(self, message, fds):
        """Creates the input arena of ``name`` for one variant; the supervisor forwards the descriptor."""
        name = message["name"]
        size = message["slot_bytes"] * message["slots"]
        if self._device == "cuda":
            from davinci_worker import device

            previous = self._arenas.get(name)
            if previous is not None and previous.num_bytes >= size:
                previous.base.zero_()  # the runner has it mapped: the next shape moves in
            else:
                if previous is not None:
                    self._retired.append(previous)  # may not be freed while another process has it mapped
                self._arenas[name] = device.DeviceArena(size)
            return {"handle": self._arenas[name].handle, "bytes": size}
        if (previous := self._arenas.pop(name, None)) is not None:
            os.close(previous.fd)
        shared = None
        if name == "candidate" and self._kept_arena is not None:
            shared, self._kept_arena = self._kept_arena, None
            if shared.num_bytes != arena.whole_pages(size):
                os.close(shared.fd)
                shared = None
        self._arenas[name] = shared or arena.HostArena.create("davinci-" + name, size)
        return {"bytes": self._arenas[name].num_bytes}, [self._arenas[name].fd]

    def _op_outputs(self, message, fds):
        """Maps the supervisor's output arena, into which it reads the outputs of frozen runners."""
        self._outputs = arena.HostArena(fds[0], message["bytes"])
        return {}

    def _op_prepare(self, message, fds):
        """Draws inputs nobody has seen; with ``truth`` also the float64 outputs and the tolerance."""
        variant = message.get("variant", 0)
        wanted = message.get("distribution", "own")
        self._set, self._samples = None, []  # their memory is needed for the next
        self._overwrite()
        if not message.get("truth"):
            drawn, used, judged = self._draw(message["seed"], wanted, variant), wanted, None
        elif self._published:
            drawn, used, judged = self._draw(message["seed"], wanted, variant), wanted, None
            drawn.reference = self.reference_outputs(drawn)
        else:
            drawn, used, judged = self.draw_judged(message["seed"], wanted, variant)
        self._set = drawn
        reply = {"distribution": used, "args": packing.to_blob(drawn.skeleton), "tolerance": judged, "call_seed": drawn.call_seed()}
        if self._device == "cuda":
            if judged:  # where the peak is; asking costs too much for a timed pair
                reply["peak_bytes"] = self._peak_bytes()
            torch.cuda.synchronize()  # nothing of it is under way when the next request is timed
        return reply

    def _peak_bytes(self):
        """Most device memory this process has held so far: what it asked torch for, and the arenas."""
        return torch.cuda.max_memory_reserved() + sum(a.num_bytes for a in (*self._arenas.values(), *self._retired))

    def _judged(self, built, seed, used, variant):
        """(inputs with truth, the tolerance's summary), None outside the reference's domain."""
        drawn = self._draw(seed, used, variant)
        try:
            return drawn, self._judge_inputs(built, drawn)
        except Exception as error:  # noqa: BLE001
            if used == "own" or memory.ran_out(error):
                raise
            return None

    def draw_judged(self, seed, wanted, variant):
        """(inputs with truth, the distribution they are of, the tolerance's summary)."""
        built = self._build(variant)
        # Stress inputs must stay inside the reference's domain: fall back to milder ones while truth is mostly undefined.
        for used in ("own",) if wanted == "own" else distributions.ladder(wanted, self._selects):
            found = self._judged(built, seed, used, variant)
            if found is None and self._fixed_whole.pop(variant, None):  # other lengths or positions may be what it cannot do with
                found = self._judged(built, seed, used, variant)
            if found is not None and (used == "own" or found[1]["defined_share"] >= 0.5):
                break
        drawn, judged = found
        return drawn, used, judged

    # What admission asks about the reference.
    def reference_outputs(self, drawn):
        return outputs.flat(self._forward(self._build(drawn.variant)["model"], drawn)[0])

    def redraw(self, drawn, seed):
        """The reference's outputs for other inputs of the same distribution."""
        return self.reference_outputs(self._draw(seed, drawn.distribution, drawn.variant))

    def outputs_of_other_weights(self, drawn, seed):
        built = self._build(drawn.variant)
        own = dict(built["model"].named_buffers())
        varying = [n for n, b in own.items() if b.is_floating_point() and n not in built["constants"]]
        if not varying and next(built["model"].parameters(), None) is None:
            return None
        model = admission.other_weights(lambda: self._make(built["init"]), built["model"], seed)
        if model is None:
            return None
        model = model.to(self._device)
        for name, buffer in model.named_buffers():
            if name in built["constants"]:
                buffer.copy_(own[name])
        return outputs.flat(self._forward(model, drawn)[0])

    def compare_with(self, truth, tensors):
        return self._comparator.compare(truth, tensors)

    def _judge_inputs(self, built, drawn, repeats=None):
        """Fills the comparator with truth and honest errors of ``drawn``; ``repeats`` samples of what rounding does."""
        started = time.monotonic()
        model, precise = built["model"], built["precise"]
        honest = self._forward(model, drawn)[0]  # and not its inputs, for whose float64 twins there may be no room
        shapes = [list(t.shape) for t in outputs.flat(honest)]
        if shapes != built.setdefault("shapes", shapes):
            raise source.SourceError("load_error", f"{self._spec['path']}: the shapes of the outputs depend on the values of the inputs "
                                     f"({built['shapes']}, then {shapes}); such a task cannot be judged, return tensors of fixed shape")
        widen = lambda t: t.double() if t.is_floating_point() else t.clone()  # noqa: E731
        exact = True
        try:
            truth = self._forward(precise, drawn, widen)[0]
        except RuntimeError as error:
            self._insist_on_memory(error)
            truth, exact = honest, False
        except Exception as error:
            error.__notes__ = ["forward was called again, with inputs and weights in float64, to find what is right; take out what insists on "
                               "another type"]
            raise
        # Of the sums behind one output, about.
        terms = max(sum(t.numel() for t in drawn.tensors) // max(1, outputs.numel(truth)), built.get("terms", 0))
        given = [*drawn.tensors, *(t for _, t in weights.state(model))]
        drawn.reference = outputs.flat(honest, self._number_type(given))
        drawn.truth = self._comparator.truth(outputs.flat(truth), drawn.reference, exact)
        if drawn.distribution != "own":
            drawn.truth.forgive_undefined(drawn.tensors)
        try:
            repeats = repeats or (1 if outputs.numel(honest) > 1 << 16 else 3)
            wide = any(t.dtype is torch.float64 for t in drawn.reference)
            # A reference that goes over to float64 takes its inputs for exact.
            widens = wide and not any(t.dtype is torch.float64 for t in given) and any(t.is_floating_point() for t in given)
            for k in range(0 if widens else repeats):
                seeds = itertools.count(drawn.seed + 1 + (k << 16))
                drawn.truth.learn(outputs.flat(self._forward(
                    precise if exact else model, drawn,
                    lambda t: distributions.nudge(t, next(seeds), exact, self._spec.get("precision")))[0]))  # noqa: B023
            for k in range(repeats if wide else 0):
                with rounding.RoundingNoise(drawn.seed + (k + 4 << 16)):
                    drawn.truth.learn(outputs.flat(self._forward(precise if exact else model, drawn, widen if exact else None)[0]))
        except RuntimeError as error:
            self._insist_on_memory(error)
        # Where all inputs are small, biases make the terms of a sum alike, and one loop rounds all of them to one side.
        one_sided = drawn.distribution.startswith(("magnitudes", "faint"))
        drawn.truth.settle(self._spec.get("tolerance_multiple"), terms, one_sided)
        if drawn.distribution == "own" and drawn.variant == 0:
            self._comparator.remember(drawn.truth)
        self.judging_seconds = time.monotonic() - started
        return drawn.truth.summary()

    @staticmethod
    def _number_type(given):
        """As what a Python number that forward returns is judged: made of single precision, it is no better than that."""
        widest = max((t.element_size() for t in given if t.is_floating_point()), default=8)
        return torch.float64 if widest > 4 else torch.float32

    def _insist_on_memory(self, error):
        """Truth in a lesser precision, with the tolerance that follows from it, refuses honest kernels: it is for references
        that know no float64, and for what does not fit on the device even alone, not for a device full of others, nor for want of one."""
        shared = self._device == "cuda" and not self._spec.get("alone")
        if (shared or self._spec.get("offline")) and memory.ran_out(error):
            raise error

    def _op_publish(self, message, fds):
        """Copies the current inputs into a slot of an arena and evicts them from the caches of every core."""
        target = self._arenas[message["name"]]
        tensors = self._set.tensors
        layout, _ = arena.plan(tensors)
        for tensor, placed in zip(tensors, layout):
            self._comparator.copy(target.view(placed, message["shift"]), tensor)
        if self._device == "cpu":
            self._comparator.flush(target.base.data_ptr() + message["shift"], message["slot_bytes"])
        else:
            self._comparator.backend.cool(self._set.seed)
        return {}

    def _op_settle(self, message, fds):
        """First look at a runner's outputs on the device, right after it said done. Nothing may change from here on, until
        ``overwrite`` (a seed, and which) lets them be overwritten at secret places before the next inputs are drawn."""
        tensors = self._candidate_tensors(message["outputs"])
        self._samples = [(t, self._comparator.backend.sample(t, self._set.seed)) for t in tensors]
        if "overwrite" in message:
            self._returned = ([tensors[i] for i in message["overwrite"]["which"]], message["overwrite"]["seed"])
        return {}

    def _overwrite(self):
        """What a call has returned is the caller's: who goes on from it instead of computing it is wrong from here on."""
        tensors, seed = self._returned or ((), 0)
        self._returned = None
        generator = torch.Generator(device="cuda").manual_seed(seed) if tensors else None
        for tensor in tensors:
            if tensor.numel():
                bits, at = bits_of(tensor), torch.randint(tensor.numel(), (_OVERWRITTEN,), generator=generator, device="cuda")
                bits[packing.coordinates(at, bits.shape)] = int.from_bytes(b"\x7f" * bits.element_size(), "little")

    def _op_verify(self, message, fds):
        """One look at all a call has left behind: the outputs against the baseline's (with the tolerance of the own
        distribution, twice as wide; where that fails, truth decides), against truth, or both; ``settled``: did a store land after done; ``intact``: which
        input was changed first, if any."""
        tensors = self._candidate_tensors(message["outputs"])
        comparison = None
        if message.get("baseline") is not None:
            baseline = self._candidate_tensors(message["baseline"])
            comparison = published.compare(baseline, tensors, self._published) if self._published \
                else self._comparator.compare_pair(baseline, tensors)
        # The tolerance was measured on other inputs and weights, where few elements may have been as ill-conditioned.
        in_doubt = comparison is not None and not comparison["passed"] and not self._published
        if in_doubt or (message.get("truth") and (comparison is None or comparison["passed"])):
            self._work_out_truth()
            comparison = self._compare_with_truth(tensors)
        late = message.get("settled") and any(
            bits is not None and self._comparator.backend.sample(t, self._set.seed) != bits for t, bits in self._samples)
        intact = message.get("intact")
        return {"comparison": comparison, "late": bool(late), "changed": self._changed_input(intact) if intact else None}

    def _work_out_truth(self):
        """Of inputs that were drawn without it."""
        if self._published:
            self._set.reference = self._set.reference or self.reference_outputs(self._set)
        elif self._set.truth is None:
            self._judge_inputs(self._build(self._set.variant), self._set)

    def _changed_input(self, where):
        target = self._arenas[where["name"]]
        layout, _ = arena.plan(self._set.tensors)
        for i, (tensor, placed) in enumerate(zip(self._set.tensors, layout)):
            if not self._comparator.same_bytes(target.view(placed, where["shift"]), tensor):
                return i
        return None

    def _op_mutates(self, message, fds):
        """Does the reference itself change its inputs, and any that it does not return?"""
        drawn = self._draw(message["seed"], "own", 0)
        returned, used = self._forward(self._build(0)["model"], drawn)
        changed = [a for a, b in zip(used, drawn.tensors) if not self._comparator.same_bytes(a, b)]
        return {"mutates": bool(changed), "hides": not all(outputs.lie_in(changed, outputs.flat(returned)))}

    # --- comparison -------------------------------------------------------------------------------------------

    def _candidate_tensors(self, descriptors):
        if self._device == "cuda":
            from davinci_worker import device

            return [device.import_tensor(d) for d in descriptors]
        return [self._outputs.view(d) for d in descriptors]

    def _op_compare(self, message, fds):
        """Outputs in the output arena (CPU) or in a frozen runner's device memory, against truth."""
        return self._compare_with_truth(self._candidate_tensors(message["outputs"]))

    def _compare_with_truth(self, tensors):
        if self._published:
            return published.compare(self._set.reference, tensors, self._published)
        comparison = self._comparator.compare(self._set.truth, tensors)
        if not comparison["passed"] and all(_is_marginal(output) for output in comparison["outputs"]):
            # One sample of rounding per element may have been a lucky one where hardly any other is as ill-conditioned.
            self._judge_inputs(self._build(self._set.variant), self._set, _REPEATS_IN_DOUBT)
            comparison = self._comparator.compare(self._set.truth, tensors)
        inputs = sum(t.numel() for t in self._set.tensors)
        if not comparison["passed"] and all(report["passed"] or nearby.is_few(report, inputs, tensor.shape[-1] if tensor.dim() > 1 else 1)
                                            for report, tensor in zip(comparison["outputs"], tensors)):
            comparison = nearby.look(self._set.truth, tensors, comparison, self._comparator, self._jolted)
        return comparison

    def _jolted(self, seed, own):
        """Outputs for the inputs moved by some ulps: the reference's in its ``own`` precision, or those of its float64 twin with every
        result of arithmetic moved as well; None where memory is too short."""
        drawn, built, precision, seeds = self._set, self._build(self._set.variant), self._spec.get("precision"), itertools.count(self._set.seed + seed)
        dtype = next((t.dtype for t in (*drawn.tensors, *drawn.reference) if t.is_floating_point()), torch.float32)
        try:
            if own:
                return outputs.flat(self._forward(built["model"], drawn, lambda t: nearby.jolt(t, next(seeds), False, precision))[0])
            with nearby.Jolts(drawn.seed + seed, nearby.jolt_size(dtype, precision)):
                return outputs.flat(self._forward(built["precise"], drawn, lambda t: nearby.jolt(t, next(seeds), True, precision))[0])
        except RuntimeError as error:
            self._insist_on_memory(error)
            return None

    def _op_published_compare(self, message, fds):
        """A second opinion on the outputs just compared: torch.allclose against the reference's own output."""
        return published.compare(self._set.reference, self._candidate_tensors(message["outputs"]), message["tolerance"])

    def _op_admit(self, message, fds):
        return admission.check(self, message["seed"], self._stochastic, message.get("budget_seconds"))

    def _op_nonfinite(self, message, fds):
        """Own inputs with a few NaN and infinities, for one call that is never timed and never decides."""
        built = self._build(0)
        drawn = self._draw(message["seed"], "own", 0)
        generator = torch.Generator()
        generator.manual_seed(drawn.seed)
        tensors = nonfinite.inject(drawn.tensors, generator)
        if tensors is None:
            return {"args": None}
        drawn.tensors = tensors
        self._nonfinite = [self.reference_outputs(drawn)]
        try:
            widen = lambda t: t.double() if t.is_floating_point() else t.clone()  # noqa: E731
            self._nonfinite.append(outputs.flat(self._forward(built["precise"], drawn, widen)[0]))
        except RuntimeError:
            pass
        self._set = drawn
        return {"args": packing.to_blob(drawn.skeleton), "call_seed": drawn.call_seed()}

    def _op_nonfinite_compare(self, message, fds):
        return nonfinite.compare(self._nonfinite, self._candidate_tensors(message["outputs"]))

    def _op_peaks(self, message, fds):
        """Best bandwidth and arithmetic rate of the device, by the judge's own kernels."""
        from davinci_worker import device

        return device.peaks()

    def _op_profile(self, message, fds):
        """Device time of the reference, as of a candidate. Here, because whose launches are recorded is slower for ever."""
        drawn = self._set or self._draw(message["seed"], "own", 0)
        arguments = packing.unflatten(drawn.skeleton, drawn.tensors)
        return {"device": trace.device_profile(self._build(0)["model"], arguments, message["warmup_seconds"])}

    def _op_forget(self, message, fds):
        """Between two tasks: lets go of all that belonged to the last one. ``clean``: nothing of it is left."""
        self._op_rest(message, fds)
        self._module, self._factory, self._spec, self._own_sizes = None, None, {}, {}
        self._variants.clear()
        self._outputs = None
        self._stochastic = False
        for gone in self._arenas.values():
            if self._device == "cpu":
                os.close(gone.fd)
        if self._kept_arena is not None:
            os.close(self._kept_arena.fd)
            self._kept_arena = None
        self._arenas.clear()
        self._comparator.forget()
        return {"clean": source.forget_task(self._snapshot)}

    def _op_rest(self, message, fds):
        """Between two candidates: lets go of all that belonged to the last one."""
        self._set, self._samples, self._nonfinite, self._returned = None, [], None, None
        gone = self._arenas.pop("candidate", None)
        if self._device == "cuda":
            from davinci_worker import device

            del gone
            self._retired.clear()
            device.close_handles()
            if torch.cuda.memory_reserved() > _KEEP_WHILE_RESTING_BYTES:
                torch.cuda.empty_cache()
        else:
            self._keep(gone)
            memory.give_freed_back(_KEEP_WHILE_RESTING_BYTES)
        return {}

    def _keep(self, gone):
        """The next candidate gets the memory of the last one, whose process has ended, as new. Pages that are given back and asked
        for again with each candidate lie ever more scattered, and reading them takes some per cent longer than the baseline's."""
        if gone is None:
            return
        if self._kept_arena is None and gone.num_bytes <= _KEPT_ARENA_BYTES:
            gone.base.zero_()
            self._kept_arena = gone
        else:
            os.close(gone.fd)


def _let_threads_sleep():
    """After a parallel loop the threads of libgomp look for the next one for milliseconds, on cores that the comparators and the
    runners need, unless there are more of them than cores: then they sleep. A second team, which never does anything again, sees
    to that."""
    if torch.get_num_threads() == 1:
        return
    ready = threading.Event()

    def team():
        torch.zeros(1 << 20).add_(1)
        ready.set()
        threading.Event().wait()

    threading.Thread(target=team, daemon=True).start()
    ready.wait()


def _is_marginal(report):
    return report["passed"] or (isinstance(report["max_ratio"], float) and report["max_ratio"] <= _MARGINAL_RATIO)
