"""Owns the reference: secret seeds, inputs, truth and comparison. Never loads candidate code.

Truth is the reference evaluated in float64. How far a candidate may be from it is measured, not guessed: the error of
honest implementations in the task's precision (the reference itself, and the reference on inputs moved by half a unit
in the last place) fills an error profile from which the comparator derives tolerances (numerics/tolerance.h).
"""

import itertools
import math
import os
import threading
import time

import torch

from davinci_worker import (admission, arena, channel, choices, degenerate, description, distributions, eager, forms, handover, memory, module_graph, nearby,
                            nonfinite, outputs, packing, oracle_windows, published, reads, rounding, source, trace, weights)
from davinci_worker.compare import Comparator, bits_of
from davinci_worker.from_the_end import FromTheEnd
from davinci_worker.reference import InputSet, Reference, widen

_OVERWRITTEN = 256  # elements of every output, with bytes 0x7f; on cpu returned_outputs.cc does it
_MOST_GROWTH = 45  # powers of two; products of three inputs grow by 40 on "log_uniform"
_KEEP_WHILE_RESTING_BYTES = 1 << 30
# Of inputs that a session's candidates are checked on, with outputs of the reference and truth. On cuda they are not part of what is
# reserved for a task.
_MOST_KEPT_BYTES = {"cpu": 1 << 30, "cuda": 256 << 20}
_KEPT_ARENA_BYTES = 256 << 20
_ASSERTED = "device-side assert"  # in the text of every CUDA error after a failed device assertion


class Oracle(oracle_windows.Windows):
    def __init__(self, peer, request):
        super().__init__()
        self._peer = peer
        self._device = "cuda" if request.get("target") == "cuda" else "cpu"
        self.reference = Reference(self._device)
        self._never_vary = {}  # variant: places of the inputs that get_inputs makes alike for every seed
        self._fixed_whole = {}  # the same of whole numbers; none where the reference can do with no others
        self._habits = {}  # variant: of each input
        self._fractions = {}  # variant: of inputs that are whole numbers, those that may be others (_takes_fractions)
        self._set = None
        self._weights = None  # seed of the last change of weights
        self._judged_inputs, self._kept_bytes = {}, 0  # by seed, variant, distribution and weights
        self._arenas = {}
        self._kept_arena = None  # cpu: the last candidate's, all zeros
        self._retired = []
        self._outputs = None
        self._samples = None
        self._returned = None  # cuda: (outputs of the candidate, not overwritten yet, seed of the places)
        self.judging_seconds = 0.0  # of working out truth and tolerance once, for planning
        self._nonfinite = None
        self._comparator = Comparator(self._device, int(request.get("threads", 1)))
        torch.set_grad_enabled(False)
        eager.install()
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
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == self.reference.spec.get("path")]
        where = f"{frames[-1].filename}:{frames[-1].lineno}: " if frames else f"{self.reference.spec.get('path', 'the task')}: "
        if not frames and isinstance(error, (NameError, AttributeError, KeyError, IndexError, ImportError)):
            where += "a fault of davinci's own, please report it: "
        hint = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
        remedy = source.remedy(error)
        hint += remedy
        hint += self.reference.sizes_in_force() if message["op"] != "load" else ""
        if isinstance(error, TypeError) and "argument" in str(error) and ("forward()" in str(error) or "__init__()" in str(error)):
            hint += "; forward is called with what get_inputs() returns, the constructor with what get_init_inputs() returns"
        if self._device == "cuda" and _ASSERTED in str(error) and message["op"] not in ("load", "describe") \
                and not self.reference.spec.get("domain_on_host"):
            return {"kind": "device_assert", "message": f"{where}{error}"}
        crowded = (self._device == "cuda" or self.reference.spec.get("compile_only")) and memory.ran_out(error)
        return {"kind": "out_of_memory" if crowded else "reference_error", "op": "" if remedy else message["op"],
                "message": f"{where}{type(error).__name__}: {error}{hint}",
                "traceback": "".join(traceback.format_exception(error)[-4:])[-2000:]}

    # --- the reference ----------------------------------------------------------------------------------------

    def _op_load(self, message, fds):
        self._never_vary.clear()
        self._fixed_whole.clear()
        self._habits.clear()
        self._fractions.clear()
        return self.reference.load(message)

    def _op_describe(self, message, fds):
        """What a runner needs to build a variant of its own, plus facts about the task."""
        variant = message.get("variant", 0)
        self.reference.instance(variant)
        return description.describe(self.reference, self._draw(message["seed"], "task", variant), message["seed"])

    def _op_graph(self, message, fds):
        """What the reference computes, as calls of PyTorch (module_graph.py); {"untraceable": why} where that cannot be said."""
        return self.reference.graph(message["seed"], message.get("variant", 0))

    def _op_reweigh(self, message, fds):
        """Draws new parameters (and, with ``buffers``, floating buffers) around those of the start and exports them as
        ``state`` does; ``changed`` is false where there is nothing that may change."""
        if not self.reference.reweigh(message["seed"], message["buffers"]):
            return {"changed": False}
        self._weights = message["seed"], message["buffers"]
        reply, out_fds = self._op_state({}, ())
        return dict(reply, changed=True), out_fds

    def _op_state(self, message, fds):
        """The randomised parameters and buffers, in shared memory."""
        built = self.reference.instance(message.get("variant", 0))
        self.reference.restore_state(built)
        state = weights.state(built.model)
        layout, num_bytes = arena.plan([t.contiguous() for _, t in state])
        shared = arena.HostArena.create("davinci-state", num_bytes)
        for (_, tensor), placed, item in zip(state, layout, handover.offer(built.model, built.initial, built.constants)):
            placed.update(item)
            shared.view(placed).copy_(tensor)
        return {"tensors": layout, "bytes": shared.num_bytes}, [shared.fd]

    def _op_unread(self, message, fds):
        """Names of parameters and buffers that forward does not read: a candidate need not hold them."""
        variant = message["variant"]
        return {"names": reads.unread(self.reference, self._draw(message["seed"], "task", variant))}

    def _op_unrandomise(self, message, fds):
        self.reference.keep_initial_weights()
        return {}

    # --- inputs -----------------------------------------------------------------------------------------------

    def _draw(self, seed, distribution, variant):
        """Own inputs, moved to the wanted distribution."""
        other = None
        if distribution == "task" and variant not in self._never_vary and frozenset() not in self._never_vary.values():
            others = self.reference.own_inputs(seed ^ 0x2545F4914F6CDD1D, None, variant)[1]
            other = distributions.fingerprint(others)
        skeleton, tensors = self.reference.own_inputs(seed, published.trial_of(distribution), variant)
        if other is not None:
            self._never_vary[variant] = distributions.never_vary(other, distributions.fingerprint(tensors))
            self._fixed_whole[variant] = distributions.fixed_whole(others, tensors)
            self._habits[variant] = [degenerate.Habits(a, b) for a, b in zip(others, tensors)]
            del others
        for i in self._never_vary.get(variant, ()) if distribution == "task" else ():
            tensors[i] = distributions.scaled(tensors[i], seed + (i << 32))
        if self.reference.published:
            tensors = published.cast(tensors, self.reference.spec["precision"])
        elif distribution != "task":
            generator = torch.Generator(device=self._device)
            generator.manual_seed(seed ^ 0x5DEECE66D)
            coarse = self.reference.multiplies and self.reference.spec.get("precision") != "tf32"
            own, sizes = tensors, {size for t in tensors for size in t.shape}
            if distribution in degenerate.NAMES:
                habits = self._habits.get(variant) or self._habits.get(0) or itertools.repeat(degenerate.NONE)
                terms = self.reference.instance(variant).terms
                tensors = [degenerate.restyle(t, distribution, generator, sizes, habit, terms) for t, habit in zip(tensors, habits)]
                return InputSet(skeleton, tensors, variant, seed, distribution)
            tensors = [distributions.restyle(t, distribution, generator, coarse) for t in tensors]
            if coarse and distribution == "heavy_tailed" and all(a is b for a, b in zip(own, tensors)):
                takes = self._takes_fractions(own, skeleton, variant) or [False] * len(own)
                tensors = [distributions.round_down(distributions.with_fractions(t, generator)) if may else t for t, may in zip(own, takes)]
            for i in self._fixed_whole.get(variant, ()) if distribution in distributions.VARYING else ():
                tensors[i] = distributions.other_whole(tensors[i], generator, sizes)
            if distribution.startswith("outliers"):
                skeleton = distributions.other_numbers(skeleton, generator)
        return InputSet(skeleton, tensors, variant, seed, distribution)

    def _takes_fractions(self, own, skeleton, variant):
        """Of each input: is it of floating type and does the reference work with what is between whole numbers, too? It does where its float64
        twin answers half a step with about half the change, or a quarter; ids, which it rounds or looks up, show no change, or a jump. None
        where no input is such."""
        if variant not in self._fractions:
            precise = self.reference.instance(variant).precise

            def answer(i, step):
                moved = [t + step * t if k == i else t for k, t in enumerate(own)]
                found = self.reference.outputs(precise, InputSet(skeleton, moved, variant, 0, "task"), widen)
                return torch.cat([t.double().reshape(-1) for t in found])

            def is_smooth(i):
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
        """Draws inputs never used before; with ``truth`` also the float64 outputs and the tolerance."""
        variant = message.get("variant", 0)
        wanted = message.get("distribution", "task")
        self._set = self._samples = None  # their memory is needed for the next
        self._overwrite()
        if not message.get("truth"):
            drawn, used, judged = self._draw(message["seed"], wanted, variant), wanted, None
        elif self.reference.published:
            drawn, used, judged = self._draw(message["seed"], wanted, variant), wanted, None
            drawn.reference = self.reference_outputs(drawn)
        else:
            drawn, used, judged = self._judged_before(message) or self.draw_judged(message["seed"], wanted, variant)
            if message.get("keep"):
                self._keep_judged(message, (drawn, used, judged))
        self._set = drawn
        reply = {"distribution": used, "args": packing.to_blob(drawn.skeleton), "tolerance": judged, "call_seed": drawn.call_seed()}
        if self._device == "cuda":
            if judged:  # where the peak is; asking costs too much for a timed pair
                reply["peak_bytes"] = self._peak_bytes()
            torch.cuda.synchronize()  # nothing of it is under way when the next request is timed
        return reply

    def _kept_by(self, message):
        return message["seed"], message.get("variant", 0), message.get("distribution", "task"), self._weights

    def _judged_before(self, message):
        """Inputs that another candidate of this session was checked on, with their truth: (inputs, distribution, tolerance)."""
        found = self._judged_inputs.get(self._kept_by(message)) if message.get("keep") else None
        if found is not None and found[1] == "task" and found[0].variant == 0:
            self._comparator.remember(found[0].truth)
        return found

    def _keep_judged(self, message, found):
        key, drawn = self._kept_by(message), found[0]
        size = sum(t.numel() * t.element_size() for t in (*drawn.tensors, *drawn.reference))
        size += sum(t.numel() * torch.float64.itemsize for t in drawn.reference)
        if key not in self._judged_inputs and self._kept_bytes + size <= _MOST_KEPT_BYTES[self._device]:
            self._judged_inputs[key] = found
            self._kept_bytes += size

    def _peak_bytes(self):
        """Most device memory this process has held so far: what it asked torch for, and the arenas."""
        return torch.cuda.max_memory_reserved() + sum(a.num_bytes for a in (*self._arenas.values(), *self._retired))

    def _judged(self, built, seed, used, variant):
        """(inputs with truth, the tolerance's summary), None outside the reference's domain."""
        drawn = self._draw(seed, used, variant)
        try:
            return drawn, self._judge_inputs(built, drawn)
        except Exception as error:  # noqa: BLE001
            if used == "task" or memory.ran_out(error):
                raise
            return None

    def draw_judged(self, seed, wanted, variant):
        """(inputs with truth, the distribution they are of, the tolerance's summary)."""
        built = self.reference.instance(variant)
        # Stress inputs must stay inside the reference's domain: fall back to milder ones while truth is mostly undefined, or grows out of
        # all proportion, as behind a decay with a negative rate, where honest answers have little in common.
        for used in ("task",) if wanted == "task" else distributions.ladder(wanted, self.reference.selects):
            found = self._judged(built, seed, used, variant)
            if found is None and self._fixed_whole.pop(variant, None):  # other lengths or positions may be what it cannot do with
                found = self._judged(built, seed, used, variant)
            if used == "task" or found is not None and self._tells(built, found):
                break
        drawn, judged = found
        return drawn, used, judged

    def _tells(self, built, found):
        """Is the reference in its domain with these inputs, so that honest answers have something in common?"""
        drawn, judged = found
        if judged["defined_share"] < 0.5 or drawn.distribution == "large_mean" and not self._is_well_conditioned(built, drawn):
            return False
        if drawn.distribution != "log_uniform" and drawn.truth.growth(built.magnitudes) > _MOST_GROWTH:  # those ask about overflow, too
            return False
        if drawn.distribution in ("degenerate", "degenerate_masks") and self._reads_from_the_end(built, drawn):
            return False
        return not self.reference.partial_products_overflow(built, drawn)

    def _reads_from_the_end(self, built, drawn):
        """Does a length of zero become an index of -1, and with it the last number of another row?"""
        if not any(not t.is_floating_point() and t.dtype is not torch.bool for t in drawn.tensors):
            return False

        def count(inputs):
            try:
                with FromTheEnd() as watch:
                    self.reference.outputs(built.model, inputs)
            except Exception as error:  # noqa: BLE001  operators that take no dispatch mode
                if memory.ran_out(error):
                    raise
            return watch.count

        found = count(drawn)
        return found > 0 and found > count(self._draw(drawn.seed, "task", drawn.variant))

    def _is_well_conditioned(self, built, drawn):
        """Is the reference near truth in its own precision, and PyTorch's other ways to the same answer within the tolerance? A norm of
        channels-last inputs may take the variance as a difference of squares."""
        if not drawn.truth.is_well_conditioned(drawn.reference):
            return False
        for context, convert in forms.of(drawn.tensors, self.reference.multiplies, 0)[1:]:
            try:
                with context():
                    other = self.reference.outputs(built.model, drawn, lambda t: convert(t.clone(memory_format=torch.preserve_format)))  # noqa: B023
            except RuntimeError as error:  # it cannot be done in this form
                self._insist_on_memory(error)
                continue
            if not self._comparator.compare(drawn.truth, other)["passed"]:
                return False
        return True

    # What admission asks about the reference.
    def reference_outputs(self, drawn):
        return self.reference.outputs(self.reference.instance(drawn.variant).model, drawn)

    def redraw(self, drawn, seed):
        """The reference's outputs for other inputs of the same distribution."""
        return self.reference_outputs(self._draw(seed, drawn.distribution, drawn.variant))

    def outputs_of_other_weights(self, drawn, seed):
        model = self.reference.of_other_weights(drawn.variant, seed)
        return None if model is None else self.reference.outputs(model, drawn)

    def compare_with(self, truth, tensors):
        return self._comparator.compare(truth, tensors)

    def _judge_inputs(self, built, drawn):
        """Fills the comparator with truth and honest errors of ``drawn``."""
        started = time.monotonic()
        model, precise = built.model, built.precise
        honest, left = self.reference.answer(model, drawn)  # and not its other inputs, for whose float64 twins there may be no room
        shapes = [list(t.shape) for t in outputs.flat(honest)]
        built.shapes = built.shapes or shapes
        if shapes != built.shapes:
            raise self.reference.error(f"the shapes of the outputs depend on the values of the inputs ({built.shapes}, then {shapes}); such a task "
                                       "cannot be judged, return tensors of fixed shape")
        exact = True
        try:
            truth, left_truth = self.reference.answer(precise, drawn, widen)
        except RuntimeError as error:
            self._insist_on_memory(error)
            truth, left_truth, exact = honest, left, False
        except Exception as error:
            error.__notes__ = ["forward was called again, with inputs and weights in float64, to find what is right; take out what insists on "
                               "another type"]
            raise
        # Of the sums behind one output, about.
        terms = max(sum(t.numel() for t in drawn.tensors) // max(1, outputs.numel(truth)), built.terms)
        given = [*drawn.tensors, *(t for _, t in weights.state(model))]
        drawn.reference = outputs.flat(honest, _number_type(given)) + left
        drawn.truth = self._comparator.truth(outputs.flat(truth) + left_truth, drawn.reference, exact)
        if drawn.distribution != "task":
            drawn.truth.forgive_undefined(drawn.tensors)
        try:
            repeats = 1 if outputs.numel(honest) > 1 << 16 else 3  # samples of what rounding does
            wide = any(t.dtype is torch.float64 for t in drawn.reference)
            # A reference that goes over to float64 takes its inputs for exact.
            widens = wide and not any(t.dtype is torch.float64 for t in given) and any(t.is_floating_point() for t in given)
            for k in range(0 if widens else repeats):
                seeds = itertools.count(drawn.seed + 1 + (k << 16))
                drawn.truth.learn(self.reference.outputs(
                    precise if exact else model, drawn,
                    lambda t: distributions.nudge(t, next(seeds), exact, self.reference.spec.get("precision"))))  # noqa: B023
            for k in range(repeats if wide else 0):
                with rounding.RoundingNoise(drawn.seed + (k + 4 << 16)):
                    drawn.truth.learn(self.reference.outputs(precise if exact else model, drawn, widen if exact else None))
        except RuntimeError as error:
            self._insist_on_memory(error)
        # Where all inputs are small, biases make the terms of a sum alike, as a large mean or a constant stretch does, and one loop rounds all of them to one side.
        one_sided = drawn.distribution.startswith(("log_uniform", "small_scale", "degenerate", "large_mean"))
        drawn.truth.settle(self.reference.spec.get("tolerance_multiple"), terms, one_sided)
        if drawn.distribution == "task":
            built.magnitudes = built.magnitudes or drawn.truth.magnitudes()
            if drawn.variant == 0:
                self._comparator.remember(drawn.truth)
        self.judging_seconds = time.monotonic() - started
        return drawn.truth.summary()

    def _insist_on_memory(self, error):
        """Truth in a lesser precision, with the tolerance that follows from it, refuses honest kernels: it is for references
        that know no float64, and for what does not fit on the device even alone, not for a device full of others, nor for want of one."""
        shared = self._device == "cuda" and not self.reference.spec.get("alone")
        if (shared or self.reference.spec.get("compile_only")) and memory.ran_out(error):
            raise error

    def _op_publish(self, message, fds):
        """Copies the current inputs into a slot of an arena and evicts them from the caches of every core."""
        target = self._copy_to(message["name"], self._set, message["shift"])
        if self._device == "cpu":
            self._comparator.flush(target.base.data_ptr() + message["shift"], message["slot_bytes"])
        else:
            self._comparator.backend.cool(self._set.seed)
        return {}

    def _copy_to(self, name, drawn, shift):
        target = self._arenas[name]
        layout, _ = arena.plan(drawn.tensors)
        for tensor, placed in zip(drawn.tensors, layout):
            self._comparator.copy(target.view(placed, shift), tensor)
        return target

    def _op_settle(self, message, fds):
        """First look at a runner's outputs on the device, right after it said done. Nothing may change from here on, until
        ``overwrite`` (a seed, and which) lets them be overwritten at secret places before the next inputs are drawn."""
        tensors = self._candidate_tensors(message["outputs"])
        self._samples = self._comparator.backend.sample(tensors, int.from_bytes(os.urandom(7), "little"))
        torch.cuda.synchronize()
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
        distribution, twice as wide; where that fails, truth decides), against truth, or both; ``settled``: did a store land after
        done; ``intact``: which input was changed first, if any."""
        tensors = self._answer_of(message, "outputs", self._set)
        comparison = None
        if message.get("baseline") is not None:
            baseline = self._answer_of(message, "baseline", self._set)
            comparison = published.compare(baseline, tensors, self.reference.published) if self.reference.published \
                else self._comparator.compare_pair(baseline, tensors)
        # The tolerance was measured on other inputs and weights, where few elements may have been as ill-conditioned.
        in_doubt = comparison is not None and not comparison["passed"] and not self.reference.published
        if in_doubt or (message.get("truth") and (comparison is None or comparison["passed"])):
            self._work_out_truth()
            comparison = self._compare_with_truth(tensors)
        late = message.get("settled") and self._samples is not None and not self._comparator.backend.steady(self._samples)
        intact = message.get("intact")
        return {"comparison": comparison, "late": bool(late), "changed": self._changed_input(intact) if intact else None}

    def _work_out_truth(self):
        """Of inputs that were drawn without it."""
        if self.reference.published:
            self._set.reference = self._set.reference or self.reference_outputs(self._set)
        elif self._set.truth is None:
            self._judge_inputs(self.reference.instance(self._set.variant), self._set)

    def _changed_input(self, where):
        target = self._arenas[where["name"]]
        layout, _ = arena.plan(self._set.tensors)
        for i, (tensor, placed) in enumerate(zip(self._set.tensors, layout)):
            if not self._comparator.same_bytes(target.view(placed, where["shift"]), tensor):
                return i
        return None

    def _op_mutates(self, message, fds):
        """Does the reference itself change its inputs, and any that it does not return?"""
        drawn = self._draw(message["seed"], "task", 0)
        returned, used = self.reference.forward(self.reference.instance(0).model, drawn)
        self.reference.learn_changes(drawn, returned, used)
        changed = [a for a, b in zip(used, drawn.tensors) if not self._comparator.same_bytes(a, b)]
        hides = not self.reference.spec.get("inplace") and not all(outputs.lie_in(changed, outputs.flat(returned)))
        return {"mutates": bool(changed), "hides": hides}

    # --- comparison -------------------------------------------------------------------------------------------

    def _candidate_tensors(self, descriptors):
        if self._device == "cuda":
            from davinci_worker import device

            return [device.import_tensor(d) for d in descriptors]
        return [self._outputs.view(d) for d in descriptors]

    def _answer_of(self, message, side, drawn):
        """All that is compared of a call with ``drawn``: what it returned, and what it left in the inputs (``Reference.left_in``), which lie in
        an arena of ours."""
        tensors, places = self._candidate_tensors(message[side]), self.reference.left_in(drawn.variant)
        if places:
            where, (layout, _) = message["left"][side], arena.plan(drawn.tensors)
            tensors = tensors + [self._arenas[where["name"]].view(layout[i], where["shift"]) for i in places]
        return tensors

    def _op_compare(self, message, fds):
        """Outputs in the output arena (CPU) or in a frozen runner's device memory, against truth; ``at_a_glance``: without asking what other
        honest answers there are."""
        tensors = self._answer_of(message, "outputs", self._set)
        if message.get("at_a_glance") and not self.reference.published:
            return self._compared(tensors)[1]
        return self._compare_with_truth(tensors)

    def _compare_with_truth(self, tensors):
        if self.reference.published:
            return published.compare(self._set.reference, tensors, self.reference.published)
        truth, comparison = self._compared(tensors)
        if comparison["passed"]:
            return comparison
        inputs = sum(t.numel() for t in self._set.tensors)
        few = all(report["passed"] or nearby.is_few(report, inputs, tensor.shape[-1] if tensor.dim() > 1 else 1)
                  for report, tensor in zip(comparison["outputs"], tensors))
        if not few and any(map(nearby.is_hopeless, comparison["outputs"])):
            return comparison
        return nearby.look(truth, tensors, comparison, self._comparator, self._honest_rounds(few), few)

    def _compared(self, tensors):
        """(the truth they are held against, the comparison)"""
        truth = self._set.truth
        comparison = self._comparator.compare(truth, tensors)
        if not comparison["passed"] and self.reference.selects and truth.exact:
            truth = self._for_its_choices(truth, tensors)
            comparison = self._comparator.compare(truth, tensors)
        return truth, comparison

    def _for_its_choices(self, truth, tensors):
        """The truth for what the candidate has chosen, where that is as good as what the reference chooses."""
        drawn, built = self._set, self.reference.instance(self._set.variant)
        try:
            return choices.steered(truth, tensors, lambda: self.reference.outputs(built.precise, drawn, widen),
                                   lambda: self.reference.outputs(built.model, drawn)) or truth
        except Exception as error:  # noqa: BLE001  it takes no dispatch mode
            self._insist_on_memory(error)
            return truth

    def _honest_rounds(self, few):
        """Honest answers for the present inputs, round by round: the reference and its other forms, from the second round on with inputs
        moved by some ulps; where few elements are in doubt also the float64 twin with every result of arithmetic moved."""
        drawn, built, exact = self._set, self.reference.instance(self._set.variant), self._set.truth.exact
        precision = self.reference.spec.get("precision")
        dtype = next((t.dtype for t in (*drawn.tensors, *drawn.reference) if t.is_floating_point()), torch.float32)

        def jolted(k, convert, wide=False):
            seeds = itertools.count(drawn.seed + (k + 64 << 16))
            return lambda t: convert(nearby.jolt(t, next(seeds), wide, precision) if k else t.clone(memory_format=torch.preserve_format))

        def answer(context, model, convert):
            try:
                with context:
                    return [self.reference.outputs(model, drawn, convert)]
            except RuntimeError as error:  # it cannot be done in this form
                self._insist_on_memory(error)
                return []

        def answers(k):
            if not k:
                yield drawn.reference
            for context, convert in forms.of(drawn.tensors, self.reference.multiplies, k)[0 if k else 1:]:
                yield from answer(context(), built.model, jolted(k, convert))
            for again in range(2 if k and few and exact else 0):
                jolts = nearby.Jolts(drawn.seed + (2 * k + again << 20), nearby.jolt_size(dtype, precision))
                yield from answer(jolts, built.precise, jolted(2 * k + again, lambda t: t, True))

        return map(answers, itertools.count())

    def _op_published_compare(self, message, fds):
        """A second opinion on the outputs just compared: torch.allclose against the reference's own output."""
        tensors = self._candidate_tensors(message["outputs"])
        return published.compare(self._set.reference[:len(tensors)], tensors, message["tolerance"])

    def _op_admit(self, message, fds):
        return admission.check(self, message["seed"], self.reference.stochastic, message.get("budget_seconds"))

    def _op_nonfinite(self, message, fds):
        """Own inputs with a few NaN and infinities, for one call that is never timed and never decides."""
        built = self.reference.instance(0)
        drawn = self._draw(message["seed"], "task", 0)
        generator = torch.Generator()
        generator.manual_seed(drawn.seed)
        tensors = nonfinite.inject(drawn.tensors, generator)
        if tensors is None:
            return {"args": None}
        drawn.tensors = tensors
        self._nonfinite = [self.reference_outputs(drawn)]
        try:
                self._nonfinite.append(self.reference.outputs(built.precise, drawn, widen))
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
        drawn = self._set or self._draw(message["seed"], "task", 0)
        arguments = packing.unflatten(drawn.skeleton, drawn.tensors)
        return {"device": trace.device_profile(self.reference.instance(0).model, arguments, message["warmup_seconds"])}

    def _op_forget(self, message, fds):
        """Between two tasks: lets go of all that belonged to the last one. ``clean``: nothing of it is left."""
        self._op_rest(message, fds)
        self._outputs, self._buffers = None, None
        self._judged_inputs, self._kept_bytes, self._weights = {}, 0, None
        for gone in self._arenas.values():
            if self._device == "cpu":
                os.close(gone.fd)
        if self._kept_arena is not None:
            os.close(self._kept_arena.fd)
            self._kept_arena = None
        self._arenas.clear()
        self._comparator.forget()
        return {"clean": self.reference.forget()}

    def _op_rest(self, message, fds):
        """Between two candidates: lets go of all that belonged to the last one."""
        self._set = self._samples = self._nonfinite = self._returned = None
        self._sets, self._ahead = [], {}
        gone = self._arenas.pop("candidate", None)
        if self._device == "cuda":
            from davinci_worker import device

            del gone
            self._retired.clear()
            device.close_handles()
            if torch.cuda.memory_reserved() > _KEEP_WHILE_RESTING_BYTES:
                torch.cuda.empty_cache()
        else:
            for name in set(self._arenas) - {"baseline"}:  # of further launches
                os.close(self._arenas.pop(name).fd)
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


def _number_type(given):
    """As what a Python number that forward returns is judged: made of single precision, it is no better than that."""
    widest = max((t.element_size() for t in given if t.is_floating_point()), default=8)
    return torch.float64 if widest > 4 else torch.float32
