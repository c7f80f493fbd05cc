"""C++ and CUDA C++ of a candidate where there is no device. CUDA is compiled, never run. C++ is compiled, and called where it gets no
tensor: for a CUDA task its tensors are memory of the device, which it cannot read. Signatures are checked against the compiled kernel or
the C++ prototype; a call that would need the device ends the check with ``NeedsDevice``.
"""

import ctypes
import re
import struct
import types

from davinci_worker.compile_only_state import LEAST_SHARED_LIMIT_BYTES, SHARED_LIMIT_BYTES, state
from davinci_worker.undecided import NeedsDevice, NeedsToolchain

_MOST_PROGRAMS = (2**31 - 1, 65535, 65535)  # blocks of a grid, by axis
_MOST_THREADS = (1024, 1024, 64)            # threads of a block, by axis
_MOST_THREADS_IN_ALL = 1024


def refused_grid(grid):
    """Why no device launches so many blocks; "" where one does."""
    for axis, count, most in zip("xyz", grid, _MOST_PROGRAMS):
        if count > most or count < 0:
            return f"grid {tuple(grid)}: a device takes at most {most} in {axis}"
    return ""


def _build(request):
    from davinci_worker import hooks

    state.last_request = request
    hooks._peer.send({"build": request})
    reply, _ = hooks._peer.recv()
    outcome = reply["built"]
    entry = {"kind": request["kind"], "ok": bool(outcome.get("ok")), "stage": outcome.get("stage"),
             "cached": outcome.get("cached"), "cuda": bool(request.get("cuda_sources"))}
    state.builds.append(entry)
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
        threads = block[0] * block[1] * block[2]
        most = all(count <= limit for count, limit in zip(block, _MOST_THREADS)) and threads <= _MOST_THREADS_IN_ALL
        if min(grid) < 1 or min(block) < 1 or not most or refused_grid(grid):
            raise RuntimeError(f"launching {self._name}: invalid configuration argument (grid {grid}, block {block}"
                               f"{'; ' + why if (why := refused_grid(grid)) else ''})")

        def call(*arguments, shared=0):
            self._runtime._convert(self._kinds, arguments, self._name)
            if shared > (limit := SHARED_LIMIT_BYTES.get(state.arch, LEAST_SHARED_LIMIT_BYTES)):
                raise self._runtime.LaunchError(f"{self._name}: {shared} bytes of shared memory, of {limit} that a block may have")
            raise NeedsDevice(f"{self._name} is compiled CUDA code")

        return call


def _is_tensor(value):
    if isinstance(value, (list, tuple)):
        return any(map(_is_tensor, value))
    return hasattr(value, "data_ptr")


def _on_the_host(function, name):
    def call(*args, **kwargs):
        if any(map(_is_tensor, (*args, *kwargs.values()))):
            raise NeedsDevice(f"{name}() is C++ that runs on the host, and its tensors are memory of the device")
        return function(*args, **kwargs)

    return call


class _HostModule(types.ModuleType):
    """An extension of C++ alone. Its functions run where they get no tensor, its classes not at all."""

    def __init__(self, module):
        super().__init__(module.__name__)
        self.__dict__["_module"] = module

    def __getattr__(self, name):
        value = getattr(self._module, name)
        if isinstance(value, type):
            raise NeedsDevice(f"{self.__name__}.{name} is a class of C++ that runs on the host")
        return _on_the_host(value, name) if callable(value) else value


def _patch_runtime():
    try:
        import davinci_runtime as runtime
    except ImportError:
        return

    class CppModule(runtime.CppModule):
        def get(self, name, signature):
            function = super().get(name, signature)
            kinds, _ = runtime._signature(signature)

            def call(*arguments):
                if ctypes.c_void_p not in kinds and not any(map(_is_tensor, arguments)):
                    return function(*arguments)
                runtime._convert(kinds, arguments, name)
                raise NeedsDevice(f"{name}() is C++ that runs on the host, and its tensors are memory of the device")

            return call

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

    runtime.CppModule, runtime.CudaModule = CppModule, CudaModule


def _patch_builds():
    from davinci_worker import hooks, load_inline

    hooks.build = _build
    finish = load_inline._finish

    def finish_compile_only(name, outcome, is_python_module):
        request = state.last_request
        if not is_python_module:
            raise NeedsDevice(f"{name} registers operators with torch, which the tensors of a device are given to")
        if request.get("cuda_sources") or request.get("with_cuda"):
            return _foreign_module(name, request)
        return _HostModule(finish(name, outcome, is_python_module))

    load_inline._finish = finish_compile_only


def install():
    _patch_builds()
    _patch_runtime()
