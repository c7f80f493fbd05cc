"""``--target cuda`` where there is no GPU: kernels are compiled for the target architecture and, where that is possible,
interpreted on CPU tensors. Nothing here is timed.

* Triton: every launch compiles the kernel with the types and constants of that launch (Triton's own binder, an explicit
  target) down to a cubin, and then runs it in Triton's interpreter. The interpreter is normally chosen by an environment
  variable before Triton is imported, and then nothing can be compiled; here both are done by the same function object.
* CUDA C++ (``load_inline``, ``davinci_runtime.cuda_module``): compiled by the build service, never run. Signatures are
  checked against the compiled kernel or the C++ prototype; the first call ends the check with ``NeedsDevice``.
* PyTorch: runs on CPU tensors. Code that asks for the device "cuda" is given the CPU, and the report says so.

What this process reports about itself is evidence for people and can only make a verdict weaker, never better.
"""

import contextlib
import re
import struct
import time
import types

import torch
from torch.overrides import TorchFunctionMode

_SHARED_LIMIT_BYTES = {80: 166912, 86: 101376, 89: 101376, 90: 232448, 100: 232448, 103: 232448, 120: 101376}
_SM_COUNT = 132
_PROBE_PROGRAMS = 4
_MAX_LISTED = 64
_MAX_INTERPRETED_BYTES = 1 << 30  # the interpreter copies what a launch is given


class NeedsDevice(Exception):
    """The check cannot go further without a GPU. Not the candidate's fault."""


class NeedsToolchain(NeedsDevice):
    """A compiler is missing; the text holds the remedy."""


class NotInterpretable(NeedsDevice):
    """The kernel compiled, but Triton's interpreter cannot run it."""


class TooSlow(NeedsDevice):
    """The kernel compiled, but interpreting this launch would take too long."""


class _State:
    arch = 90
    seconds = 10.0
    redirected = False
    blocked = None  # {"reason", "detail"} of the last call or load
    any_size = False  # the last call or load failed in a way that no size of the inputs leads to
    kernels = {}    # (name, constants) -> report
    builds = []
    deadline = 0.0
    started = 0.0
    programs = 0
    total = 0


_state = _State()


# ---- what stands in for the device --------------------------------------------------------------------------


def _is_cuda(device):
    if isinstance(device, str):
        return device.split(":")[0] == "cuda"
    if isinstance(device, torch.device):
        return device.type == "cuda"
    return False


# A getter is made anew whenever it is asked for: these compare equal, but are not the same object.
_IS_CUDA = torch.Tensor.is_cuda.__get__
_DEVICE = torch.Tensor.device.__get__


class _Redirect(TorchFunctionMode):
    """Asking for a CUDA tensor yields a CPU one that calls itself CUDA, so that unchanged candidates can be interpreted."""

    def __torch_function__(self, func, types_, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func == _IS_CUDA:
            return True
        if func == _DEVICE:
            return torch.device("cuda", 0)
        if func is torch.Tensor.cpu:
            return args[0].clone()
        if func is torch.Tensor.cuda:
            _state.redirected = True
            return args[0]
        if _is_cuda(kwargs.get("device")):
            _state.redirected = True
            kwargs["device"] = torch.device("cpu")
        if func in (torch.Tensor.to,) and any(_is_cuda(a) for a in args[1:]):
            _state.redirected = True
            args = tuple(torch.device("cpu") if _is_cuda(a) else a for a in args)
        kwargs.pop("pin_memory", None)
        return func(*args, **kwargs)


@contextlib.contextmanager
def user_code():
    """Around everything of the candidate: redirection on, the reason for stopping noted."""
    _state.blocked = None
    _state.any_size = False
    _state.deadline = time.monotonic() + _state.seconds
    try:
        with _Redirect():
            yield
    except BaseException as error:  # noqa: BLE001  noted and passed on
        _state.blocked = _why_blocked(error)
        _state.any_size = _fails_at_any_size(error)
        raise


def guarded(model):
    def call(*args, **kwargs):
        with user_code():
            return model(*args, **kwargs)

    return call


def _why_blocked(error):
    """None for the candidate's own failures."""
    seen = error
    while seen is not None:
        if isinstance(seen, NeedsToolchain):
            return {"reason": "toolchain", "detail": str(seen)}
        if isinstance(seen, TooSlow):
            return {"reason": "too slow to interpret", "detail": str(seen)}
        if isinstance(seen, NotInterpretable):
            return {"reason": "not interpretable", "detail": str(seen)}
        if isinstance(seen, NeedsDevice):
            return {"reason": "needs device", "detail": str(seen)}
        if isinstance(seen, ModuleNotFoundError) and (seen.name or "").split(".")[0] == "triton":
            return {"reason": "toolchain", "detail": "Triton is missing in this Python; pip install triton"}
        if not isinstance(seen, (SyntaxError, NameError, MemoryError)) and _asks_for_cuda(seen):
            return {"reason": "needs device", "detail": f"{type(seen).__name__}: {seen}"[:500]}
        seen = seen.__cause__
    return None


def _fails_at_any_size(error):
    """A name without any definition (not one that a branch has left out), or a call with other arguments than were declared; inside
    Triton's compiler too."""
    while error is not None:
        if isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
            return True
        if isinstance(error, TypeError) and "argument" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _asks_for_cuda(error):
    """Raised inside torch's CUDA code, or by any line that looks at the device."""
    trace = error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename.replace("\\", "/")
        if "/torch/cuda/" in name or "/triton/backends/" in name and "driver" in name:
            return True
        trace = trace.tb_next
    text = str(error)
    return any(mark in text for mark in ("not compiled with CUDA", "NVIDIA driver", "CUDA GPUs", "dummy base class",
                                         "CUDA error", "CUDA driver", "libcuda.so", "libcudart", "libc10_cuda",
                                         "libtorch_cuda", "'CUDA' backend"))


def _patch_torch():
    properties = types.SimpleNamespace(
        name=f"sm_{_state.arch} (absent)", major=_state.arch // 10, minor=_state.arch % 10, multi_processor_count=_SM_COUNT,
        total_memory=140 << 30, warp_size=32, max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536,
        shared_memory_per_block=48 << 10, shared_memory_per_block_optin=_SHARED_LIMIT_BYTES.get(_state.arch, 101376),
        shared_memory_per_multiprocessor=233472, L2_cache_size=50 << 20)
    cuda = torch.cuda
    cuda.is_available = lambda: True
    cuda.device_count = lambda: 1
    cuda.current_device = lambda: 0
    cuda.set_device = lambda device: None
    cuda.synchronize = lambda device=None: None
    cuda.empty_cache = lambda: None
    cuda.get_device_capability = lambda device=None: (_state.arch // 10, _state.arch % 10)
    cuda.get_device_name = lambda device=None: properties.name
    cuda.get_device_properties = lambda device=None: properties
    cuda.device = lambda device: contextlib.nullcontext()
    cuda.is_current_stream_capturing = lambda: False


# ---- Triton -------------------------------------------------------------------------------------------------


class _TargetDriver:
    """What Triton's compiler asks its driver for, with no device behind it."""

    def __init__(self, arch):
        from triton.backends.compiler import GPUTarget

        self._target = GPUTarget("cuda", arch, 32)

    def get_current_target(self):
        return self._target

    def get_current_device(self):
        return 0

    def get_active_torch_device(self):
        return torch.device("cuda", 0)

    def get_device_interface(self):
        return torch.cuda

    def get_current_stream(self, device):
        return 0

    def get_benchmarker(self):
        raise NeedsDevice("a benchmark of the candidate's own")

    def __getattr__(self, name):
        raise NeedsDevice(f"Triton's driver was asked for {name}")


def _constants(kernel, bound):
    return {name: value if isinstance(value, (bool, int, float, str)) else str(value)
            for name, value in bound.items() if name in kernel}


def _record(jit, kwargs, kernel, warps):
    constants = {jit.arg_names[i] for i in jit.constexprs}
    key = (jit.__name__, str(sorted(_constants(constants, kwargs).items(), key=str)))
    report = _state.kernels.get(key)
    if report is None:
        report = {"kernel": jit.__name__, "constants": _constants(constants, kwargs), "warps": warps,
                  "shared_bytes": getattr(kernel.metadata, "shared", 0), "cubin_bytes": len(kernel.asm.get("cubin", b"")),
                  "ptx_bytes": len(kernel.asm.get("ptx", "")), "launches": 0, "programs": 0, "interpreted": 0}
        if len(_state.kernels) < _MAX_LISTED:
            _state.kernels[key] = report
    report["launches"] += 1
    return report


def _patch_triton():
    import triton
    from triton import knobs
    from triton.runtime import autotuner, driver, errors, interpreter, jit

    driver.set_active(_TargetDriver(_state.arch))
    compile_only = jit.JITFunction.run
    open_scopes = []   # patches of triton.language while a kernel is being interpreted
    patched = set()
    rewritten = {}
    set_grid_idx = interpreter.interpreter_builder.set_grid_idx

    def tick(x, y, z):
        if _state.programs == _PROBE_PROGRAMS or _state.programs % 64 == 63:
            now = time.monotonic()
            expected = (now - _state.started) / _state.programs * _state.total
            if _state.started + expected > _state.deadline:
                raise TooSlow(f"{_state.total} programs would take about {expected:.0f} s")
        _state.programs += 1
        set_grid_idx(x, y, z)

    interpreter.interpreter_builder.set_grid_idx = tick

    def enter(function):
        marker = id(function.__globals__)
        if marker in patched:
            return
        scope = interpreter._patch_lang(function)
        if not hasattr(scope, "restore"):
            raise NotInterpretable(f"Triton {triton.__version__} cannot both compile and interpret in one process")
        patched.add(marker)
        open_scopes.append(scope)

    def rewrite(function):
        if function not in rewritten:
            rewritten[function] = interpreter.FunctionRewriter(function).rewrite_ast()
        return rewritten[function]

    def device_call(self, *args, **kwargs):
        if not open_scopes:
            raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")
        enter(self.fn)
        return rewrite(self.fn)(*args, **kwargs)

    def run(self, *args, grid, warmup, **kwargs):
        given = dict(zip(self.arg_names, args)) | kwargs
        began = time.monotonic()
        kernel = compile_only(self, *args, grid=grid, warmup=True, **kwargs)
        _state.deadline += time.monotonic() - began
        warps = getattr(kernel.metadata, "num_warps", 4)
        limit = _SHARED_LIMIT_BYTES.get(_state.arch, 101376)
        if kernel.metadata.shared > limit:
            raise errors.OutOfResources(kernel.metadata.shared, limit, "shared memory")
        if warps * 32 > 1024:
            raise errors.OutOfResources(warps * 32, 1024, "threads")
        report = _record(self, given, kernel, warps)
        if warmup:
            return kernel
        size = sum(a.numel() * a.element_size() for a in given.values() if isinstance(a, torch.Tensor))
        if size > _MAX_INTERPRETED_BYTES:
            raise TooSlow(f"{self.__name__} is launched on tensors of {size / 1e9:.3g} GB")
        function = rewrite(self.fn)
        shape = {name: p.default for name, p in self.signature.parameters.items() if p.default is not p.empty} | given
        sizes = tuple(int(g) for g in (grid(shape) if callable(grid) else grid))
        _state.programs, _state.total, _state.started = 0, 1, time.monotonic()
        for size in sizes:
            _state.total *= size
        report["programs"] = _state.total
        knobs.runtime.interpret = True
        patched.clear()
        try:
            enter(self.fn)
            interpreter.GridExecutor(function, self.arg_names, sizes, self.pre_run_hooks)(*args, **kwargs)
        except (errors.InterpreterError, AttributeError, NotImplementedError, TypeError) as error:
            if isinstance(error.__cause__, NeedsDevice):
                raise error.__cause__ from None
            raise NotInterpretable(f"{self.__name__}: {error}"[:500]) from None
        finally:
            while open_scopes:
                open_scopes.pop().restore()
            knobs.runtime.interpret = False
        report["interpreted"] += 1
        return kernel

    def tune(self, *args, **kwargs):
        """The first configuration that compiles; the fastest one is known on a device only."""
        self.nargs = dict(zip(self.arg_names, args))
        last = None
        for config in self.prune_configs(kwargs) if len(self.configs) > 1 else self.configs:
            current = dict(kwargs, **config.all_kwargs())
            full = {**self.nargs, **current}
            try:
                if config.pre_hook:
                    config.pre_hook(full)
                self.pre_hook(full, reset_only=True) if not self.user_defined_pre_hook else self.pre_hook(full)
                result = self.fn.run(*args, **current)
            except (errors.OutOfResources, errors.PTXASError, triton.compiler.CompilationError) as error:
                last = error
                continue
            self.best_config = config
            self.nargs = None
            return result
        raise last

    jit.JITFunction.__call__ = device_call
    jit.JITFunction.run = run
    autotuner.Autotuner.run = tune


# ---- CUDA C++ -----------------------------------------------------------------------------------------------


def _build(request):
    from davinci_worker import hooks

    _state.last_request = request
    hooks._peer.send({"build": request})
    reply, _ = hooks._peer.recv()
    outcome = reply["built"]
    entry = {"kind": request["kind"], "ok": bool(outcome.get("ok")), "stage": outcome.get("stage"),
             "cached": outcome.get("cached"), "cuda": bool(request.get("cuda_sources"))}
    _state.builds.append(entry)
    if "error" in outcome:
        entry["error"] = outcome["error"]["kind"]
        if outcome["error"]["kind"] in ("unavailable", "service"):
            raise NeedsToolchain(outcome["error"]["message"])
        raise hooks.BuildError(outcome["error"]["message"])
    return outcome


def _strip(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)


def _arity(text, name):
    """(fewest, most) arguments of C++ function ``name``, or None when no prototype is recognised."""
    for found in re.finditer(rf"[\w>&*\]]\s+{re.escape(name)}\s*\(", text):
        depth, start, i = 1, found.end(), found.end()
        parts = []
        while i < len(text) and depth:
            c = text[i]
            depth += c in "(<{["
            depth -= c in ")>}]"
            if c == "," and depth == 1:
                parts.append(text[start:i])
                start = i + 1
            i += 1
        parts.append(text[start:i - 1])
        parts = [p for p in parts if p.strip() not in ("", "void")]
        if text[:found.start()].rstrip().endswith("return"):
            continue
        return sum("=" not in p for p in parts), len(parts)
    return None


class _ForeignFunction:
    """A compiled function that cannot run here. Its call checks what can be checked and ends the check."""

    def __init__(self, name, arity):
        self._name, self._arity = name, arity
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        count = len(args) + len(kwargs)
        if self._arity and not self._arity[0] <= count <= self._arity[1]:
            fewest, most = self._arity
            wanted = str(most) if fewest == most else f"{fewest} to {most}"
            raise TypeError(f"{self._name}(): incompatible function arguments: takes {wanted}, {count} were given")
        raise NeedsDevice(f"{self._name}() is compiled CUDA code")


class _ForeignModule(types.ModuleType):
    def __getattr__(self, name):
        raise AttributeError(f"module '{self.__name__}' has no attribute '{name}'; bound are {sorted(self.__dict__['bound'])}")


def _foreign_module(name, request):
    module = _ForeignModule(name)
    text = _strip("\n".join(request.get("cpp_sources", []) + request.get("cuda_sources", [])))
    names = list(request.get("functions") or ())
    names = {n: n for n in names} if names else dict(re.findall(r'\bdef\(\s*"(\w+)"\s*,\s*&?\s*([\w:]+)', text))
    module.__dict__["bound"] = list(names)
    for bound, target in names.items():
        setattr(module, bound, _ForeignFunction(bound, _arity(text, target.split("::")[-1])))
    return module


def _kernel_parameters(cubin, name):
    """Sizes in bytes of a kernel's parameters in order, from the EIATTR_KPARAM_INFO records of its .nv.info section; None
    when the kernel is not in the cubin."""
    if cubin[:4] != b"\x7fELF":
        return None
    section_offset, = struct.unpack_from("<Q", cubin, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, section_offset + i * entry_size) for i in range(count)]
    names = sections[names_index][4]

    def title(section):
        start = names + section[0]
        return cubin[start:cubin.index(b"\0", start)].decode()

    by_name = {title(s): s for s in sections}
    if f".text.{name}" not in by_name:
        return None
    info = by_name.get(f".nv.info.{name}")
    sizes = {}
    position, end = (info[4], info[4] + info[5]) if info else (0, 0)
    while position + 4 <= end:
        form, attribute, value = struct.unpack_from("<BBH", cubin, position)
        position += 4
        if form == 4:  # a record of `value` bytes follows; else the value is in the header
            if attribute == 0x17:
                _, ordinal, _, flags = struct.unpack_from("<IHHI", cubin, position)
                sizes[ordinal] = flags >> 18
            position += value
    return [sizes[i] for i in sorted(sizes)]


class _Kernel:
    def __init__(self, runtime, name, signature):
        self._runtime, self._name = runtime, name
        self._kinds, result = runtime._signature(signature)
        if result is not None:
            raise ValueError("a kernel returns nothing")

    def __getitem__(self, launch):
        grid, block = self._runtime._three(launch[0]), self._runtime._three(launch[1])
        if block[0] * block[1] * block[2] > 1024 or min(grid) < 1 or min(block) < 1:
            raise RuntimeError(f"launching {self._name}: invalid configuration argument (grid {grid}, block {block})")

        def call(*arguments, shared=0):
            self._runtime._convert(self._kinds, arguments, self._name)
            raise NeedsDevice(f"{self._name} is compiled CUDA code")

        return call


def _patch_runtime():
    import ctypes

    try:
        import davinci_runtime as runtime
    except ImportError:
        return

    class CudaModule:
        def __init__(self, cubin):
            self._cubin = cubin

        def get(self, name, signature):
            kernel = _Kernel(runtime, name, signature)
            sizes = _kernel_parameters(self._cubin, name)
            if sizes is None:
                raise RuntimeError(f"kernel {name}: named symbol not found (is it extern \"C\" __global__?)")
            declared = [ctypes.sizeof(kind) for kind in kernel._kinds]
            if sizes != declared:
                raise TypeError(f"kernel {name} takes parameters of {sizes} bytes, its signature \"{signature}\" says {declared}")
            return kernel

    runtime.CudaModule = CudaModule


def _patch_builds():
    from davinci_worker import hooks, load_inline

    hooks.build = _build
    finish = load_inline._finish

    def finish_compile_only(name, outcome, is_python_module):
        request = _state.last_request
        if not request.get("cuda_sources") and not request.get("with_cuda"):
            return finish(name, outcome, is_python_module)  # plain C++ runs here as well as anywhere
        if not is_python_module:
            raise NeedsDevice(f"{name} registers CUDA operators with torch")
        return _foreign_module(name, request)

    load_inline._finish = finish_compile_only


# ---- front door ---------------------------------------------------------------------------------------------


def install(options):
    """Turns this process into one that checks without a device. Call once, before the candidate is imported."""
    _state.arch = int(options.get("arch", 90))
    _state.seconds = float(options.get("seconds", 10))
    _patch_torch()
    _patch_builds()
    _patch_runtime()
    try:
        _patch_triton()
    except ImportError:
        pass


def report():
    return {"arch": f"sm_{_state.arch}", "kernels": list(_state.kernels.values()), "builds": _state.builds[:_MAX_LISTED],
            "blocked": _state.blocked, "any_size": _state.any_size, "device_redirected": _state.redirected}
