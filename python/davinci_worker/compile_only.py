"""``--target cuda`` where there is no GPU: kernels are compiled for the target architecture and, where that is possible,
interpreted on CPU tensors. Nothing here is timed.

* Triton: compiled and interpreted (compile_only_triton.py).
* C++ and CUDA C++ (``load_inline``, ``davinci_runtime``): compiled, never run on tensors (compile_only_native.py).
* PyTorch: runs on CPU tensors. Code that asks for the device "cuda" is given the CPU, and the report says so.

What this process reports about itself is evidence for people and can only make a verdict weaker, never better.
"""

import contextlib
import time
import types

import torch
from torch.overrides import TorchFunctionMode

from davinci_worker import compile_only_graphs, compile_only_native
from davinci_worker.compile_only_state import LEAST_SHARED_LIMIT_BYTES, MOST_LISTED, SHARED_LIMIT_BYTES, is_on_host, state
from davinci_worker.on_target import is_cuda
from davinci_worker.undecided import Undecided

_SM_COUNT = 132


# ---- what stands in for the device --------------------------------------------------------------------------


def _names_device(value):
    """A number is what torch.cuda.current_device() returns."""
    return is_cuda(value) or isinstance(value, int) and not isinstance(value, bool)


# A getter is made anew whenever it is asked for: these compare equal, but are not the same object.
_IS_CUDA = torch.Tensor.is_cuda.__get__
_DEVICE = torch.Tensor.device.__get__


# What makes a tensor of no other one: on the host, unless a device is named.
_FACTORIES = frozenset((
    torch.arange, torch.empty, torch.empty_strided, torch.eye, torch.from_numpy, torch.full, torch.linspace, torch.logspace, torch.ones, torch.rand,
    torch.randint, torch.randn, torch.randperm, torch.scalar_tensor, torch.tensor, torch.zeros))


class _Redirect(TorchFunctionMode):
    """Asking for a CUDA tensor yields a CPU one that calls itself CUDA, so that unchanged candidates can be interpreted. In a call of the
    model, tensors that a device would not hold are marked: those made without a device, copies to the CPU, and what is made of them alone.
    Before, there is no telling: the model moves to the device after it was constructed."""

    def __init__(self, calling):
        super().__init__()
        self._calling = calling

    def __torch_function__(self, func, types_, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if func == _IS_CUDA:
            return not is_on_host(args[0])
        if func == _DEVICE:
            return torch.device("cpu") if is_on_host(args[0]) else torch.device("cuda", 0)
        if func is torch.Tensor.cpu:
            return self._mark(args[0].clone())
        if func is torch.Tensor.cuda:
            state.redirected = True
            return args[0].clone() if is_on_host(args[0]) else args[0]
        to_device = _names_device(kwargs.get("device"))
        if to_device:
            kwargs["device"] = torch.device("cpu")
        if func is torch.Tensor.to and any(_names_device(a) for a in args[1:]):
            to_device = True
            args = tuple(torch.device("cpu") if _names_device(a) else a for a in args)
        if func in (torch.Tensor.to, torch.Tensor.type_as):  # where another tensor is
            to_device = to_device or any(isinstance(a, torch.Tensor) and not is_on_host(a) for a in args[1:])
        state.redirected = state.redirected or to_device
        kwargs.pop("pin_memory", None)
        result = func(*args, **kwargs)
        if not self._calling or not isinstance(result, torch.Tensor):
            return result
        if to_device:
            return result.clone() if is_on_host(result) else result
        if func in _FACTORIES:
            return self._mark(result) if torch.get_default_device().type == "cpu" else result
        given = [a for a in (*args, *kwargs.values()) if isinstance(a, torch.Tensor)]
        return self._mark(result) if given and all(map(is_on_host, given)) else result

    def _mark(self, tensor):
        if self._calling:
            tensor._davinci_on_host = True
        return tensor


@contextlib.contextmanager
def user_code(calling=False):
    """Around everything of the candidate: redirection on, the reason for stopping noted."""
    state.blocked = None
    state.any_size = False
    state.outside_since = time.thread_time()  # of this thread: a busy machine interprets as much
    state.deadline = state.outside_since + state.seconds
    try:
        with _Redirect(calling):
            yield
    except BaseException as error:  # noqa: BLE001  noted and passed on
        state.blocked = _why_blocked(error)
        state.any_size = _fails_at_any_size(error)
        raise
    finally:
        compile_only_graphs.forget()


def guarded(model):
    def call(*args, **kwargs):
        state.calls += 1
        with user_code(calling=True):
            return model(*args, **kwargs)

    return call


def _chain(error, follow):
    """``error`` and what led to it. One that is raised a second time may be found behind itself."""
    seen = []
    while error is not None and not any(error is s for s in seen):
        seen.append(error)
        error = follow(error)
    return seen


def _why_blocked(error):
    """None for the candidate's own failures."""
    for seen in _chain(error, lambda e: e.__cause__):
        if isinstance(seen, Undecided):
            return {"reason": seen.reason, "detail": str(seen)}
        if isinstance(seen, ModuleNotFoundError) and (seen.name or "").split(".")[0] == "triton":
            return {"reason": "toolchain", "detail": "Triton is missing in this Python; pip install triton"}
        if not isinstance(seen, (SyntaxError, NameError, MemoryError)) and _asks_for_cuda(seen):
            return {"reason": "needs device", "detail": f"{type(seen).__name__}: {seen}"[:500]}
    return None


def _fails_at_any_size(error):
    """A name without any definition (not one that a branch has left out), or a call with other arguments than were declared; inside
    Triton's compiler too."""
    return any(isinstance(seen, NameError) and not isinstance(seen, UnboundLocalError) or isinstance(seen, TypeError) and "argument" in str(seen)
               for seen in _chain(error, lambda e: e.__cause__ or e.__context__))


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
        name=f"sm_{state.arch} (absent)", major=state.arch // 10, minor=state.arch % 10, multi_processor_count=_SM_COUNT,
        total_memory=140 << 30, warp_size=32, max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536,
        shared_memory_per_block=48 << 10, shared_memory_per_block_optin=SHARED_LIMIT_BYTES.get(state.arch, LEAST_SHARED_LIMIT_BYTES),
        shared_memory_per_multiprocessor=233472, L2_cache_size=50 << 20)
    cuda = torch.cuda
    cuda.is_available = lambda: True
    cuda.device_count = lambda: 1
    cuda.current_device = lambda: 0
    cuda.set_device = lambda device: None
    cuda.synchronize = lambda device=None: None
    cuda.empty_cache = lambda: None
    cuda.get_device_capability = lambda device=None: (state.arch // 10, state.arch % 10)
    cuda.get_device_name = lambda device=None: properties.name
    cuda.get_device_properties = lambda device=None: properties
    cuda.device = lambda device: contextlib.nullcontext()


# ---- front door ---------------------------------------------------------------------------------------------


def install(options):
    """Turns this process into one that checks without a device. Call before each candidate is imported."""
    state.begin(int(options.get("arch", 90)), float(options.get("seconds", 10)))
    if state.installed:
        return
    state.installed = True
    _patch_torch()
    compile_only_graphs.install()
    compile_only_native.install()
    with contextlib.suppress(ImportError):
        from davinci_worker import compile_only_triton

        compile_only_triton.install()


def report():
    return {"arch": f"sm_{state.arch}", "kernels": list(state.kernels.values()), "builds": state.builds[:MOST_LISTED],
            "blocked": state.blocked, "any_size": state.any_size, "device_redirected": state.redirected}
