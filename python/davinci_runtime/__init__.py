"""Compile C++ or CUDA from a string and call it on tensors, without torch headers.

    kernels = cpp_module(source)                                  # g++ -O3 -march=native -fno-trapping-math -fopenmp, plain C functions
    kernels.get("scale", "ptr ptr i64 f32")(x, y, x.numel(), 2.0)
    kernels = cuda_module(source)                                 # NVRTC, plain __global__ functions (extern "C")
    kernels.get("scale", "ptr ptr i64 f32")[blocks, 256](x, y, x.numel(), 2.0)

A signature names the C types in order: ptr (a tensor, an int address or None), i32, i64, u32, u64, f32, f64, bool; C++
functions may add "-> i64" and so on. Kernels run on torch's current stream. Needs the standard library and torch only:
this file can be pasted into a kernel that must run where davinci is not installed. Inside the judge the same calls are
compiled by its build service.
"""

import ctypes
import hashlib
import os
import subprocess
import tempfile

_TYPES = {
    "ptr": ctypes.c_void_p, "i32": ctypes.c_int32, "i64": ctypes.c_int64, "u32": ctypes.c_uint32,
    "u64": ctypes.c_uint64, "f32": ctypes.c_float, "f64": ctypes.c_double, "bool": ctypes.c_bool,
}


def _signature(text):
    parameters, _, result = text.partition("->")
    try:
        types = [_TYPES[word] for word in parameters.replace(",", " ").split()]
        return types, _TYPES[result.strip()] if result.strip() not in ("", "void") else None
    except KeyError as error:
        raise ValueError(f"unknown type {error} in signature '{text}'; known: {' '.join(_TYPES)}") from None


def _convert(kinds, arguments, name):
    if len(kinds) != len(arguments):
        raise TypeError(f"{name}() takes {len(kinds)} arguments by its signature, {len(arguments)} were given")
    return [kind(value.data_ptr() if hasattr(value, "data_ptr") else value) for kind, value in zip(kinds, arguments)]


def _caller(function, kinds, name):
    """``function`` with tensors for addresses, as the text of one call: a loop over the arguments costs more than a small kernel."""
    parameters = [f"a{i}" for i in range(len(kinds))]
    passed = [f"{p} if {p} is None or {p}.__class__ is int else {p}.data_ptr()" if kind is ctypes.c_void_p else p
              for p, kind in zip(parameters, kinds)]
    # This call refuses some right arguments (a tensor whose address is a u64): the conversion decides, and its error is shown.
    text = f"""def {name}(*arguments):
    try:
        [{', '.join(parameters)}] = arguments
        return function({', '.join(passed)})
    except (ValueError, AttributeError, ArgumentError):
        return function(*convert(kinds, arguments, {name!r}))
"""
    scope = {"function": function, "kinds": kinds, "convert": _convert, "ArgumentError": ctypes.ArgumentError}
    exec(text, scope)
    return scope[name]


def _judge_build(request):
    """The judge's build service, or None outside the judge."""
    try:
        from davinci_worker import hooks
    except ImportError:
        return None
    return hooks.build(request) if hooks.active() else None


def _cached(key, suffix, make):
    """Path of the artifact for ``key``; ``make(path)`` writes it. Safe for concurrent processes."""
    folder = os.environ.get("DAVINCI_RUNTIME_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "davinci_runtime")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:
        folder = tempfile.mkdtemp(prefix="davinci_runtime")
    path = os.path.join(folder, hashlib.sha256(key.encode()).hexdigest()[:32] + suffix)
    if not os.path.exists(path):
        handle, temporary = tempfile.mkstemp(suffix=suffix, dir=folder)
        os.close(handle)
        try:
            make(temporary)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    return path


def _cpu():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return "".join(line for line in file.read(65536).splitlines(True)[:40] if line[:5] in ("model", "flags"))
    except OSError:
        return ""


# ---- C++ ----


class CppModule:
    """Functions of a shared object with a plain C ABI."""

    def __init__(self, path):
        self.path = path
        self._library = ctypes.CDLL(path)

    def get(self, name, signature):
        """A Python callable for ``extern "C"`` function ``name``. Tensors must stay alive during the call."""
        kinds, result = _signature(signature)
        function = getattr(self._library, name)
        function.argtypes, function.restype = kinds, result
        return _caller(function, kinds, name)


def cpp_module(source, flags=()):
    """Compiles C++ with ``g++ -O3 -march=native -fno-trapping-math -fopenmp`` plus ``flags``; raises RuntimeError with the compiler's text."""
    flags = list(flags)
    built = _judge_build({"kind": "library", "cpp_sources": [source], "extra_cflags": flags})
    if built is not None:
        return CppModule(built["path"])
    command = [os.environ.get("CXX", "g++"), "-O3", "-march=native", "-fno-trapping-math", "-fopenmp", "-std=c++20", "-fPIC", "-shared", *flags]

    def make(path):
        with tempfile.TemporaryDirectory(prefix="davinci_runtime") as folder:
            file_name = os.path.join(folder, "source.cpp")
            with open(file_name, "w", encoding="utf-8") as file:
                file.write(source)
            done = subprocess.run([*command, file_name, "-o", path], capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"{command[0]} failed:\n{done.stderr[:8000]}")

    return CppModule(_cached("\0".join([source, *command, _cpu()]), ".so", make))


# ---- CUDA ----


def _load_first(names):
    import glob

    import torch

    site = os.path.dirname(os.path.dirname(os.path.abspath(torch.__file__)))
    for name in names:
        candidates = [name]
        for pattern in (os.path.join(site, "nvidia", "*", "lib", name + "*"), os.path.join(site, "torch", "lib", name + "*"),
                        os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "lib64", name + "*")):
            candidates += sorted(glob.glob(pattern))
        for candidate in candidates:
            try:
                return ctypes.CDLL(candidate)
            except OSError:
                continue
    raise RuntimeError(f"none of {', '.join(names)} can be loaded; install the CUDA toolkit or a CUDA build of torch")


def _nvrtc_cubin(source, options, arch):
    nvrtc = _load_first(["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"])
    options = [f"--gpu-architecture={arch}", *options]
    if not any("-std=" in option for option in options):
        options.append("--std=c++17")
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"cuda_sources", 0, None, None)
    encoded = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    result = nvrtc.nvrtcCompileProgram(program, len(options), encoded)
    if result != 0:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value + 1)
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(f"NVRTC failed:\n{log.value.decode(errors='replace')[:8000]}")
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin.raw


class LaunchError(RuntimeError):
    """The device refused a launch configuration; nothing ran."""


# cuLaunchKernel's answers about the launch itself. It may also hand over what an earlier kernel did wrong.
_REFUSED = {1, 701, 720}  # invalid value, out of resources, cooperative launch too large


def _check(driver, error, what, launch=False):
    if error != 0:
        text = ctypes.c_char_p()
        driver.cuGetErrorString(error, ctypes.byref(text))
        kind = LaunchError if launch and error in _REFUSED else RuntimeError
        raise kind(f"{what}: {text.value.decode() if text.value else f'CUDA error {error}'}")


def _three(value):
    value = (value,) if isinstance(value, int) else tuple(value)
    return tuple(int(v) for v in value) + (1,) * (3 - len(value))


class CudaKernel:
    """``kernel[grid, block](*arguments, shared=bytes)`` on torch's current stream."""

    def __init__(self, driver, function, name, signature):
        self._driver, self._function, self._name = driver, function, name
        self._kinds, result = _signature(signature)
        if result is not None:
            raise ValueError("a kernel returns nothing")
        self._shared_limit = 48 << 10

    def __getitem__(self, launch):
        grid, block = _three(launch[0]), _three(launch[1])

        def call(*arguments, shared=0):
            import torch

            values = _convert(self._kinds, arguments, self._name)
            pointers = (ctypes.c_void_p * max(1, len(values)))(*[ctypes.addressof(value) for value in values])
            if shared > self._shared_limit:
                # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
                _check(self._driver, self._driver.cuFuncSetAttribute(self._function, 8, int(shared)),
                       f"{self._name}: {shared} bytes of shared memory", launch=True)
                self._shared_limit = shared
            stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            _check(self._driver, self._driver.cuLaunchKernel(self._function, *grid, *block, int(shared), stream, pointers, None),
                   f"launching {self._name}: grid {grid}, block {block}, {shared} bytes of shared memory", launch=True)

        return call


class CudaModule:
    """Kernels of one cubin, loaded into the current device's primary context."""

    def __init__(self, cubin):
        import torch

        torch.cuda.init()
        torch.cuda.current_stream().synchronize()  # makes the primary context current in this thread
        self._driver = _load_first(["libcuda.so.1"])
        self._cubin = cubin
        self._module = ctypes.c_void_p()
        _check(self._driver, self._driver.cuModuleLoadData(ctypes.byref(self._module), cubin), "loading the cubin")

    def get(self, name, signature):
        """The ``extern "C" __global__`` function ``name``."""
        function = ctypes.c_void_p()
        _check(self._driver, self._driver.cuModuleGetFunction(ctypes.byref(function), self._module, name.encode()), f"kernel {name}")
        return CudaKernel(self._driver, function, name, signature)


def cuda_module(source, options=()):
    """Compiles CUDA C++ with NVRTC for the current device; raises RuntimeError with the compiler's text."""
    import torch

    options = list(options)
    major, minor = torch.cuda.get_device_capability()
    # From Hopper on the instructions of this very architecture (wgmma and the like) need the "a" target.
    arch = f"sm_{major}{minor}" + ("a" if major >= 9 else "")
    built = _judge_build({"kind": "cubin", "cuda_sources": [source], "extra_cuda_cflags": options, "cuda_arch": arch})
    if built is not None:
        path = built["path"]
    else:
        def make(target):
            with open(target, "wb") as file:
                file.write(_nvrtc_cubin(source, options, arch))

        path = _cached("\0".join([source, *options, arch]), ".cubin", make)
    with open(path, "rb") as file:
        return CudaModule(file.read())
