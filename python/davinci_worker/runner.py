"""Runs a candidate (or the baseline) on request. Everything in this process counts as hostile.

It holds inputs only while it is being timed, never an expected value, and reports nothing but where its outputs lie.
"""

import contextlib
import errno
import re
import struct
import sys
import threading
import time
import traceback

import torch

from davinci_worker import arena, channel, handover, kept_state, memory, on_target, packing, placement, process_state, source, weights, window

_MESSAGE_BYTES = 16000  # the supervisor leaves out what is too much for a verdict
_MOST_POINTERS = 1024
_UNREGISTERED = re.compile(r"Could not run '(\w+)::\S+' with arguments from the '(\w+)' backend\.")
# Mark, own nanoseconds, data pointers; everything else as last described.
_DONE = [struct.Struct(f"<cq{n}Q") for n in range(_MOST_POINTERS + 1)]


def _text(error):
    """Of an operator without a kernel torch lists all backends."""
    text = str(error)
    return text.partition(". This could be because")[0] if isinstance(error, NotImplementedError) and _UNREGISTERED.match(text) else text


def _hint(error):
    """What to do, where that does not follow from what went wrong."""
    text = str(error)
    if "0 active drivers" in text:
        return "; Triton kernels need a device: --target cuda"
    if "redefinition of 'PyObject* PyInit_" in text:
        return "; load_inline(functions=...) writes a PYBIND11_MODULE of its own: keep one of the two"
    if "PyInit_" in text:
        return "; name the functions to export in load_inline(functions=[...]) or write PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)"
    if "bindings:" in text and "was not declared in this scope" in text:
        return "; load_inline(functions=...) names functions that its sources define"
    if isinstance(error, NotImplementedError) and (unregistered := _UNREGISTERED.match(text)):
        return f"; register a kernel for it: TORCH_LIBRARY_IMPL({unregistered[1]}, {unregistered[2]}, m)"
    if isinstance(error, TypeError) and "argument" in text and "__init__()" in text:
        return "; it is constructed with what get_init_inputs() of the reference returns"
    if isinstance(error, TypeError) and "argument" in text and "forward()" in text:
        return "; it is called with what get_inputs() of the reference returns"
    denied = isinstance(error, PermissionError) and error.errno == errno.EPERM or "PermissionError: [Errno 1]" in str(error)
    return ("; a candidate may start no programs, use no network and make no anonymous files: C++ and CUDA go into torch.utils.cpp_extension.load_inline, "
            "which the judge compiles, and torch.compile can be asked for as the baseline only") if denied else ""


def _clip(text):
    if len(text) <= _MESSAGE_BYTES:
        return text
    return text[: _MESSAGE_BYTES * 2 // 3] + "\n…\n" + text[-_MESSAGE_BYTES // 3:]


def classify(error, stage):
    """Outcome name for an exception of the candidate, from where and what it is, not from words in its text."""
    name = type(error).__name__
    if isinstance(error, source.SourceError):
        return error.kind
    if memory.ran_out(error):
        return "out_of_memory"
    if name in ("CompilationError", "CompileTimeAssertionFailure", "UnsupportedLanguageConstruct", "BuildError"):
        return "compile_error"
    if name in ("OutOfResources", "LaunchError") or "invalid configuration argument" in str(error) or "too many resources" in str(error):
        return "launch_error"
    return stage


class _Gate:
    """Gives the device up while Triton compiles, and asks for it again right before the next of its kernels is launched: others may be
    timed on it meanwhile. Only a courtesy; who leaves it out disturbs, and gains nothing."""

    _MOST_PAUSES = 8  # then it is kept: an autotuner compiles many

    def __init__(self, peer):
        self._peer, self._held, self._pauses, self._hooks, self._jit = peer, True, 0, None, None
        try:
            from triton import knobs
            from triton.runtime.jit import JITFunction

            compile_it = JITFunction._do_compile
        except (ImportError, AttributeError):
            return

        def do_compile(*arguments, **options):
            self.give_up()
            return compile_it(*arguments, **options)

        self._jit, self._compile_it, JITFunction._do_compile = JITFunction, compile_it, do_compile
        self._hooks = knobs.runtime.launch_enter_hook
        self._hooks.add(self)

    def give_up(self):
        # A stream that is being captured must not be waited for.
        if not self._held or self._pauses == self._MOST_PAUSES or torch.cuda.is_current_stream_capturing():
            return
        torch.cuda.synchronize()
        self._pauses += 1
        self._ask(0)

    def __call__(self, metadata=None):
        if not self._held:
            self._ask(1)

    def _ask(self, wanted):
        self._peer.send({"gate": wanted})
        self._peer.recv()
        self._held = bool(wanted)

    def close(self):
        if self._hooks is not None:
            self._hooks.remove(self)
            self._jit._do_compile = self._compile_it


class Runner:
    def __init__(self, peer, request):
        self._peer = peer
        self._cuda = request.get("target") == "cuda"
        self._factory = None
        self._models = {}
        self._contiguous = []  # of each output of the bound variant: its elements, where the reference returns it so, or None
        self._wanted = []  # names of the reference's state
        self._plans = {}  # of shape variants: what of the reference's state goes where
        self._model = None
        self._inputs = []
        self._kept = None  # where the reference's forward writes to buffers
        self._shift = 0
        self._arena = None
        self._held = None
        self._told = None  # outputs of the last window, where each time all of them are described
        self._blob = self._skeleton = None
        self._known = None
        self._shared = set()
        self._buffers = None  # cuda: what is filled between the calls of a window (window.py)
        self._user_code = contextlib.nullcontext
        self._guard = lambda model: model
        self._placement = placement.Placement()
        self._snapshot = None
        self._shared_by_candidates = False
        self._sleepers = []
        torch.set_grad_enabled(False)

    # --- protocol ---------------------------------------------------------------------------------------------

    def serve(self):
        receive, respond = self._peer.recv, self._peer.send
        while True:
            message, fds = receive()
            if message["op"] == "arm":
                (self._armed_window if "window" in message else self._armed_call)(message)
                continue
            try:
                reply = getattr(self, "_op_" + message["op"])(message, fds)
            except BaseException as error:  # noqa: BLE001  every failure of user code is a reply, sys.exit() too
                reply = self._failure(error, message.get("stage", "runtime_error"))
            channel.close_all(fds if message["op"] != "bind" else [])
            respond(reply)

    @staticmethod
    def _failure(error, stage):
        error = source.readable(error)
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        own = [line for line in lines if "davinci_worker" not in line]
        line = None
        files = {getattr(sys.modules.get(name), "__file__", None) for name in ("candidate", "davinci_task")}
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename in files:
                line = frame.lineno
        name = "" if isinstance(error, source.SourceError) else f"{type(error).__name__}: "
        return {"error": {
            "never_fits": memory.never_fits(error),
            "kind": classify(error, stage), "type": type(error).__name__,
            "message": _clip(f"{name}{_text(error)}{_hint(error) or source.remedy(error)}"), "line": line, "traceback": _clip("".join(own[-6:])),
        }}

    # --- life cycle -------------------------------------------------------------------------------------------

    def _op_load(self, message, fds):
        """Imports the file. Compilers are called through ``build`` requests to the supervisor."""
        started = time.monotonic()
        message["stage"] = "load_error"
        if message.get("accelerate", True):
            from davinci_worker import hooks

            hooks.install(self._peer, self._cuda)
        if message.get("compile_only"):
            from davinci_worker import compile_only

            compile_only.install(message["compile_only"])
            self._user_code, self._guard = compile_only.user_code, compile_only.guarded
        if self._cuda:
            from davinci_worker import device

            torch.cuda.synchronize()  # the only device that this process sees
            device.keep_freed()
        if message.get("shared"):  # this process may serve another candidate later
            self._shared_by_candidates = True
            memory.overwrite_freed()
            self._snapshot = self._snapshot or process_state.Snapshot(process_state.of_kernels())
        if "source" in message:  # a reference: this process may serve another one later
            self._user_code = lambda: on_target.OnTarget("cuda" if self._cuda else "cpu")
            self._snapshot = self._snapshot or process_state.Snapshot()
        with self._user_code():
            module = source.load_module(
                message["path"], message.get("module", "candidate"), message.get("globals"), message.get("source"), message.get("imports"))
        self._factory = source.factory(module, message.get("entry"), message.get("function"), message.get("op_path"))
        return {"ok": {"seconds": time.monotonic() - started}}

    def _op_construct(self, message, fds):
        """Builds the module for one shape variant, weights drawn after ``torch.manual_seed(seed)``. ``padding``: bytes that lie below
        all that is allocated from here on."""
        message["stage"] = "load_error"
        self._padding = torch.empty(message.get("padding", 0), dtype=torch.uint8)
        arguments = packing.from_blob(message["init"])
        torch.manual_seed(message["seed"])
        device = "cuda" if self._cuda else "cpu"
        with self._user_code():
            model = packing.called(self._factory, arguments)
        if not callable(model):
            raise source.SourceError("load_error", f"{type(model).__name__} cannot be called; derive the class from torch.nn.Module")
        if isinstance(model, torch.nn.Module):
            model = model.to(device)
            if message.get("cast"):
                from davinci_worker import published

                model = published.cast_model(model, message["cast"])
            if message.get("mode") == "eval":
                model.eval()
            elif message.get("mode") == "train":
                model.train()
        if message.get("compile"):
            model = torch.compile(model, mode=message["compile"] if message["compile"] != "default" else None)
        self._models[message["variant"]] = model
        self._model = model
        return {"ok": {"state": self._describe_state(model)}}

    @staticmethod
    def _state(model):
        if not isinstance(model, torch.nn.Module):
            return []
        return [(name.replace("_orig_mod.", ""), tensor) for name, tensor in weights.state(model)]

    def _describe_state(self, model):
        return [{"name": n, "shape": list(t.shape), "dtype": packing.DTYPES.get(t.dtype, str(t.dtype))}
                for n, t in self._state(model)]

    def _op_state(self, message, fds):
        """Copies the reference's parameters and buffers in (handover.py). What takes what is decided once, while all has the values it
        was constructed with."""
        message["stage"] = "load_error"
        kept = self._kept if self._models[message["variant"]] is self._model else None
        if kept is not None:
            kept.restore()
        own = self._state(self._models[message["variant"]])
        wanted = message["tensors"]
        self._wanted = [w["name"] for w in wanted]
        if message["variant"] not in self._plans or message.get("again"):  # again: fewer are wanted, and nothing was copied
            self._plans[message["variant"]] = handover.plan(own, wanted)
        pairs, how = self._plans[message["variant"]]
        shared, by_name = arena.HostArena(fds[0], message["bytes"]), dict(own)
        for name, index, order in pairs:
            if name not in by_name:
                raise RuntimeError(f"the module had {name} when it was made and has it no longer; parameters and buffers are written to in place")
            handover.copy(by_name[name], shared.view(wanted[index]), order)
        if kept is not None:
            kept.save()
        return {"ok": {"matched": how, "pairs": pairs, "copied": len(pairs), "wanted": len(wanted), "own": len(own)}}

    def _op_export(self, message, fds):
        """Calls an exported file as its user does (exported.py)."""
        message["stage"] = "runtime_error"
        from davinci_worker import exported, hooks

        hooks.install(self._peer, self._cuda)
        return {"ok": {"why": exported.why_reference(message, self._cuda)}}

    def _op_bind(self, message, fds):
        """Maps the input arena of one variant; calls name a slot of it."""
        self._model = self._models[message["variant"]]
        self._known = None
        message["stage"] = "load_error"
        self._kept = self._state_to_keep(message["variant"], message["kept"]) if message.get("kept") else None
        self._inputs, self._contiguous = message["inputs"], message["contiguous"]
        if self._cuda:
            from davinci_worker import device

            self._arena = device.ImportedArena(message["handle"], message["bytes"])
            self._share = device.share_outputs
        elif fds:
            self._arena = arena.HostArena(fds[0], message["bytes"], populate=True)
        return {"ok": {}}

    def _op_buffers(self, message, fds):
        """Maps the buffers that are filled between the calls of a window."""
        from davinci_worker import device

        self._buffers = window.Buffers(device.ImportedArena(message["handle"], message["bytes"]).base, message["count"])
        return {"ok": {}}

    def _state_to_keep(self, variant, names):
        """Buffers of the reference, by what took them over (``_op_state``)."""
        pairs, wanted = self._plans.get(variant, ((), ""))[0], self._wanted
        taken = {wanted[index]: name for name, index, _ in pairs}
        if not isinstance(self._model, torch.nn.Module):
            raise source.SourceError("load_error", f"the reference writes to its buffers {', '.join(names)} in forward; return a torch.nn.Module with such ones")
        return kept_state.KeptState(self._model, [taken.get(name, name) for name in names])

    def _op_warm(self, message, fds):
        """Makes this process's context on the device before there is a candidate."""
        torch.zeros(1, device="cuda")
        torch.cuda.synchronize()
        try:
            from triton.runtime import driver

            driver.active.get_current_target()
        except Exception:  # noqa: BLE001  a candidate that needs Triton will meet it again
            pass
        return {"ok": {}}

    def _op_forget(self, message, fds):
        """Between two references, or candidates: lets go of all that belonged to the last one. ``clean``: nothing of it is left."""
        self._factory = self._model = self._held = self._told = self._known = self._blob = self._skeleton = None
        self._models.clear()
        self._plans.clear()
        self._inputs, self._arena, self._kept, self._buffers = [], None, None, None
        self._shared.clear()
        if self._cuda:
            from davinci_worker import device

            torch.cuda.synchronize()
            device.close_handles()
        self._contiguous, self._wanted, self._padding, self._shift = [], [], None, 0
        forget = source.forget_candidate if self._shared_by_candidates else source.forget_task
        return {"ok": {"clean": forget(self._snapshot)}}

    def _op_sleepers(self, message, fds):
        """Has so many threads that only sleep: what the supervisor pays for waking and stopping them is then measured."""
        while len(self._sleepers) > message["count"]:
            thread, wake = self._sleepers.pop()
            wake.set()
            thread.join()
        while len(self._sleepers) < message["count"]:
            wake = threading.Event()
            thread = threading.Thread(target=wake.wait, daemon=True)
            thread.start()
            self._sleepers.append((thread, wake))
        return {"ok": {}}

    def _op_lock(self, message, fds):
        from davinci_worker import native

        return {"ok": native.sandbox_lock()}

    # --- the call ---------------------------------------------------------------------------------------------

    def _armed_call(self, message):
        """One forward, in two steps: arm (free the last outputs, make the arguments; off the clock, before the inputs
        exist), then GO. The same path for checked, timed and profiled calls."""
        peer, cuda, seeded = self._peer, self._cuda, message.get("seeded", False)
        try:
            self._held = None
            blob = message["args"]
            if blob != self._blob:
                self._blob, self._skeleton = blob, packing.from_blob(blob)
            view, shift = self._arena.view, message["shift"]
            arguments = packing.unflatten(self._skeleton, [view(p, shift) for p in self._inputs])
            gate = _Gate(peer) if message.get("gate") else None
            if (kept := self._kept) is not None:
                kept.restore()
            if not cuda:
                self._placement.arrange()
        except BaseException as error:  # noqa: BLE001
            peer.send(self._failure(error, "runtime_error"))
            return
        model, clock, synchronize = self._guard(self._model), time.perf_counter_ns, torch.cuda.synchronize
        positional, keywords = packing.split(arguments)
        peer.send({"ok": {}})
        if not peer.wait_go():
            raise EOFError
        if not cuda:
            self._placement.free()
        try:
            started = clock()
            if seeded:
                torch.manual_seed(peer.recv_seed())
            output = model(*positional, **keywords)
            output = self._laid_out(output if kept is None else kept.joined(output))
            if cuda:
                synchronize()
            ended = clock()
            self._held = output
            pointers = self._pointers(output)
            if pointers:
                peer.send_raw(_DONE[len(pointers)].pack(b"D", ended - started, *pointers))
                return
            peer.send({"done": self._describe(output, ended - started)})
        except BaseException as error:  # noqa: BLE001
            peer.send(self._failure(error, "runtime_error"))
        finally:
            if gate is not None:
                gate.close()

    def _armed_window(self, message):
        """Several calls on one GO, or all that belongs to them but the calls (``empty``). What the last window returned is kept while an
        empty one runs."""
        peer, asked, kept = self._peer, message["window"], self._kept
        empty = asked["empty"]
        try:
            arguments = ()
            if not empty:
                if kept is not None:  # before an empty one they still are the last window's answer
                    kept.restore()
                self._held = self._told = None
                skeletons = {blob: packing.from_blob(blob) for blob in set(asked["args"])}
                view = self._arena.view
                arguments = [packing.unflatten(skeletons[blob], [view(p, shift) for p in self._inputs])
                             for blob, shift in zip(asked["args"], asked["shifts"])]
        except BaseException as error:  # noqa: BLE001
            peer.send(self._failure(error, "runtime_error"))
            return
        model, clock, synchronize = self._guard(self._model), time.perf_counter_ns, torch.cuda.synchronize
        pointers = [0] * (asked["calls"] * len(self._known[1]) if self._known else 1)

        by_keyword = any(packing.split(given)[1] for given in arguments)
        if by_keyword:
            arguments = [packing.split(given) for given in arguments]

        def forward(*given):
            output = model(*given[0], **given[1]) if by_keyword else model(*given)
            return self._laid_out(output if kept is None else kept.joined(output))

        peer.send({"ok": {}})
        if not peer.wait_go():
            raise EOFError
        try:
            started = clock()
            seed = peer.recv_seed()
            if asked["seeded"]:
                torch.manual_seed(seed)
            returned = window.run(forward, arguments, self._buffers, seed, asked)
            if not empty:
                pointers = self._pointers_of(returned)
            synchronize()
            ended = clock()
            if empty and self._told is not None:  # what telling them takes belongs to the window
                held = self._held  # the oracle still looks at these
                done = self._describe_all(self._told, ended - started)
                self._held = held
                peer.send({"done": done})
            elif pointers:
                peer.send_raw(struct.pack(f"<cq{len(pointers)}Q", b"D", ended - started, *pointers))
            else:
                peer.send({"done": self._describe_all(returned, ended - started)})
            if not empty and pointers:
                self._held = returned
            elif not empty:
                self._told = returned
        except BaseException as error:  # noqa: BLE001
            peer.send(self._failure(error, "runtime_error"))

    def _pointers_of(self, returned):
        """Of all outputs of all calls; none when one is unlike those described last."""
        pointers = []
        for output in returned:
            found = self._pointers(output)
            if not found:
                return None
            pointers += found
        return pointers

    def _describe_all(self, returned, inner_ns):
        described, held = [], []
        for output in returned:
            described.append(self._describe(output, inner_ns))
            held.append(self._held)
        self._held = held
        return {"several": described, "inner_ns": inner_ns}

    def _laid_out(self, output):
        """What the reference returns contiguous is contiguous here too: that is part of the call."""
        if type(output) is torch.Tensor:
            return packing.in_order(output, self._contiguous[0]) if len(self._contiguous) == 1 else output
        return packing.laid_out(output, iter(self._contiguous)) if self._contiguous else output

    def _describe(self, output, inner_ns):
        """The long form of DONE. Sent once, not repeated: see ``_known``."""
        tensors = []
        structure = packing.describe(output, tensors)
        if self._cuda:
            self._held = (output, self._share(output, tensors))
        outputs = (output,) if type(output) is torch.Tensor else output
        simple = type(output) in (torch.Tensor, tuple, list) and 0 < len(outputs) <= _MOST_POINTERS and all(
            type(t) is torch.Tensor for t in outputs) and not any(t.get("copied") for t in tensors)
        self._known = (type(output), [(t.shape, t.dtype, t.stride()) for t in outputs]) if simple else None
        if simple and self._cuda:
            self._shared.update(t["ptr"] for t in tensors)
        return {"structure": structure, "outputs": tensors, "inner_ns": inner_ns}

    def _pointers(self, output):
        """Where the outputs lie, when they look like those described last."""
        if self._known is None or type(output) is not self._known[0]:
            return None
        outputs = (output,) if type(output) is torch.Tensor else output
        known = self._known[1]
        if len(outputs) != len(known):
            return None
        pointers = []
        for tensor, (shape, dtype, stride) in zip(outputs, known):
            if type(tensor) is not torch.Tensor or tensor.dtype is not dtype or tensor.shape != shape or tensor.stride() != stride:
                return None
            pointers.append(tensor.data_ptr())
        return pointers if not self._cuda or self._shared.issuperset(pointers) else None

    def _op_warm_profiler(self, message, fds):
        """What the first recording costs beyond the next, off the device: nothing is launched here."""
        from davinci_worker import device

        device.kernels(lambda: None)
        return {"ok": {}}

    def _op_profile(self, message, fds):
        """One more call, under a dispatch trace: which library operators the forward used, on which threads."""
        from davinci_worker import trace

        arguments = packing.unflatten(
            packing.from_blob(message["args"]), [self._arena.view(p, message["shift"]) for p in self._inputs])
        report = trace.profile(self._model, arguments, message["warmup_seconds"] if self._cuda else None)
        if self._cuda:
            report["peak_bytes"] = torch.cuda.max_memory_reserved()
        return {"ok": report}

    def _op_hot(self, message, fds):
        """The same call again and again on the same inputs, as people time it first: the fastest, milliseconds by this process's own clock."""
        arguments = packing.unflatten(
            packing.from_blob(message["args"]), [self._arena.view(p, message["shift"]) for p in self._inputs])
        model = self._guard(self._model)
        clock, times, begun = time.perf_counter, [], time.perf_counter()
        while len(times) < 3 or (clock() - begun < message["seconds"] and len(times) < 1000):
            if self._kept is not None:
                self._kept.restore()
            started = clock()
            packing.called(model, arguments)
            times.append(clock() - started)
        return {"ok": {"ms": 1e3 * min(times), "calls": len(times)}}

    def _op_compile_only(self, message, fds):
        """What was compiled and interpreted where there is no device, and what stopped the last call."""
        from davinci_worker import compile_only

        return {"ok": compile_only.report()}
