"""Device memory shared between processes, and what is asked of a device (gpu/worker_abi.h). Used on the cuda target only.

Input arenas belong to the oracle and are opened by runners through CUDA IPC; outputs belong to a runner and are opened by
the oracle. Nothing is copied, so outputs of gigabytes are compared where they lie.
"""

import ctypes
import glob
import json
import os
import statistics
import sys
import time

import torch

from davinci_worker import native, packing
from davinci_worker.native_compare import DTYPE_CODES

_BLOCK_BYTES = 2 << 20
_TURNS = 7
_CALIBRATION_BYTES, _CALIBRATION_CALLS, _CALIBRATIONS = 256 << 20, 8, 15
_MOST_BETWEEN_EVENTS = 3e-6
_MOST_IMPORTED = 256  # views of other processes' memory, kept
_u64 = ctypes.c_uint64
_initialised = False


def _library_directories():
    found = []
    for root in sys.path:
        found += glob.glob(os.path.join(root, "nvidia", "*", "lib"))
    found += [os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "lib64")]
    return ":".join(found)


def library():
    """The native library with the device of this process initialised."""
    global _initialised
    lib = native.lib()
    if not _initialised:
        torch.zeros(1, device="cuda")  # makes the primary context current on this thread
        lib.dv_cuda_last_error.restype = ctypes.c_char_p
        cache = os.environ.get("DAVINCI_DEVICE_CACHE", "")
        check(lib.dv_cuda_init(torch.cuda.current_device(), _library_directories().encode(), cache.encode()))
        _initialised = True
    return lib


def peaks():
    """What dv_cuda_peaks measures, plus what the device is: evidence, and what prompts say about it."""
    def text_of(function, *arguments):
        text = ctypes.create_string_buffer(4096)
        check(function(*arguments, text, ctypes.c_size_t(len(text)), None))
        return json.loads(text.value)

    lib = library()
    info = text_of(lib.dv_cuda_driver_info)
    free, _ = torch.cuda.mem_get_info()
    return {**text_of(lib.dv_cuda_peaks, _u64(min(1 << 30, free // 4)), ctypes.c_int(0), stream()),
            **{key: info[key] for key in ("l2_bytes", "uuid", "multiprocessors", "compute_capability", "memory_total_bytes",
                                          "max_shared_bytes_per_block")}, "device": info["name"]}


def check(code):
    if code != 0:
        raise RuntimeError("device: " + native.lib().dv_cuda_last_error().decode())


def stream():
    return _u64(torch.cuda.current_stream().cuda_stream)


class _Raw:
    """Memory at an address, for torch.as_tensor."""

    def __init__(self, address, num_bytes):
        self.__cuda_array_interface__ = {
            "shape": (num_bytes,), "typestr": "|u1", "data": (address, False), "version": 3, "strides": None, "stream": None,
        }


def bytes_at(address, num_bytes):
    return torch.as_tensor(_Raw(address, num_bytes), device="cuda")


class _Arena:
    base = None

    def __init__(self):
        self._views = {}  # made once each: the calls of a window come back to the same slots

    def view(self, placed, shift=0):
        key = placed["offset"] + shift, placed["dtype"], *placed["shape"], *placed["stride"]
        if key not in self._views:
            self._views[key] = self._view(placed, shift)
        return self._views[key]

    def _view(self, placed, shift):
        dtype = packing.BY_NAME[placed["dtype"]]
        if placed["bytes"] == 0:
            return torch.empty(placed["shape"], dtype=dtype, device="cuda")
        start = placed["offset"] + shift
        flat = self.base[start:start + placed["bytes"]].view(dtype)
        return flat.as_strided(placed["shape"], placed["stride"])


class DeviceArena(_Arena):
    """Owned by the oracle. An allocation of its own: what shares memory with another process shares the whole allocation,
    and in torch's pools (or in one of the driver's blocks of 2 MiB) truth could lie beside the inputs."""

    def __init__(self, num_bytes):
        super().__init__()
        self.num_bytes = -(-max(num_bytes, 1) // _BLOCK_BYTES) * _BLOCK_BYTES
        self._address = _u64()
        check(library().dv_cuda_malloc(_u64(self.num_bytes), ctypes.byref(self._address)))
        self.base = bytes_at(self._address.value, self.num_bytes)
        self.base.zero_()
        self.handle = export(self.base)

    def __del__(self):
        self.base = self._views = None
        if self._address.value:
            library().dv_cuda_free(self._address)


class ImportedArena(_Arena):
    """The oracle's arena, seen from a runner."""

    def __init__(self, handle, num_bytes):
        super().__init__()
        self.base = bytes_at(open_handle(handle), num_bytes)


def export(tensor):
    """{"handle", "offset"} of the allocation behind a tensor; raises when it is of a kind that cannot be shared."""
    handle = ctypes.create_string_buffer(64)
    offset, size = _u64(), _u64()
    check(library().dv_cuda_ipc_export(_u64(tensor.data_ptr()), handle, ctypes.byref(offset), ctypes.byref(size)))
    return {"handle": handle.raw.hex(), "offset": offset.value}


_opened = {}
_imported = {}


def open_handle(handle):
    """Address here of what another process exported. Mappings are kept: opening costs far more than looking up."""
    if handle["handle"] not in _opened:
        base, size = _u64(), _u64()
        check(library().dv_cuda_ipc_open(bytes.fromhex(handle["handle"]), ctypes.byref(base), ctypes.byref(size)))
        _opened[handle["handle"]] = (base.value, size.value)
    base, size = _opened[handle["handle"]]
    if not 0 <= handle["offset"] < size:
        raise RuntimeError("an exported offset lies outside its allocation")
    return base + handle["offset"]


def overwrite_freed():
    """Fills what torch keeps of freed memory with bytes 0x7f."""
    for segment in torch.cuda.memory_snapshot():
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "inactive":
                bytes_at(address, block["size"]).fill_(0x7F)
            address += block["size"]
    torch.cuda.synchronize()


def _keep_all():
    pass


def keep_freed():
    """torch.cuda.empty_cache() frees nothing from here on; capturing a graph calls it, too. Memory that the oracle has mapped may not be freed:
    other memory at its address would have its handle, and the oracle would go on looking at the old one."""
    torch.cuda.empty_cache = _keep_all


def close_handles():
    """Unmaps what other processes exported; memory of a process that has ended is given back by that."""
    _imported.clear()
    while _opened:
        _, (base, _) = _opened.popitem()
        check(library().dv_cuda_ipc_close(_u64(base)))


def import_tensor(described):
    """A runner's output as a tensor of this process. Claims are checked against the size of the allocation."""
    if described.get("value") is not None:
        dtype = packing.BY_NAME[described["dtype"]]
        return torch.tensor(float(described["value"]), dtype=dtype, device="cuda")  # "nan" and "inf" come as text
    shape, stride = described["shape"], described["stride"]
    if not packing.span_elements(shape, stride):
        return torch.empty(shape, dtype=packing.BY_NAME[described["dtype"]], device="cuda")
    key = described["ipc"]["handle"], described["ipc"]["offset"], described["dtype"], tuple(shape), tuple(stride)
    if key not in _imported:
        if len(_imported) >= _MOST_IMPORTED:
            _imported.clear()
        _imported[key] = _import_memory(described)
    return _imported[key]


def _import_memory(described):
    dtype, shape, stride = packing.BY_NAME[described["dtype"]], described["shape"], described["stride"]
    span = packing.span_elements(shape, stride)
    address = open_handle(described["ipc"])
    _, size = _opened[described["ipc"]["handle"]]
    num_bytes = span * dtype.itemsize
    if min(stride, default=0) < 0 or described["ipc"]["offset"] + num_bytes > size:
        raise RuntimeError("an output claims more memory than its allocation has")
    return bytes_at(address, num_bytes).view(dtype).as_strided(shape, stride)


def nudged(tensor, seed, eps):
    """float64: a dense tensor with every value moved by up to ``eps`` / 2 of it."""
    moved = torch.empty_like(tensor, dtype=torch.float64)
    check(library().dv_cuda_nudge(_u64(tensor.data_ptr()), DTYPE_CODES[packing.DTYPES[tensor.dtype]], _u64(tensor.numel()),
                                  ctypes.c_double(eps), _u64(seed & 0xFFFFFFFFFFFFFFFF), _u64(moved.data_ptr()), stream()))
    return moved


# gpu/kernels/keyed.h, StressKind
_STRESS_KINDS = {"heavy_tailed": 0, "positive": 1, "log_uniform": 2, "log_uniform_mild": 3}


def stress(size, distribution, key):
    """float32 from one of the stress distributions, in one pass over memory."""
    values = torch.empty(size, dtype=torch.float32, device="cuda")
    check(library().dv_cuda_stress(_u64(values.data_ptr()), _u64(values.numel()), _STRESS_KINDS[distribution], _u64(key), stream()))
    return values


def share_outputs(output, described):
    """Adds what the oracle needs to open each output. One that cannot be exported is copied into memory that can."""
    tensors = []
    packing.flatten(output, tensors)
    kept = []
    tensors = iter(tensors)
    for item in described:
        if "value" in item:
            continue
        tensor = next(tensors)
        if tensor.device.type != "cuda" or tensor.numel() == 0:
            continue
        try:
            item["ipc"] = export(tensor)
        except RuntimeError:
            tensor = tensor.clone()
            torch.cuda.synchronize()
            item.update({"ipc": export(tensor), "ptr": tensor.data_ptr(), "stride": list(tensor.stride()), "copied": True})
        kept.append(tensor)
    return kept


def kernels(function):
    """Device activity of ``function`` as CUPTI saw it: [{"name", "start_ns", "end_ns", "stream", "grid", "block", …}]."""
    lib = library()
    torch.cuda.synchronize()
    check(lib.dv_cuda_activity_start())
    try:
        function()
        torch.cuda.synchronize()
    finally:
        text, needed = ctypes.create_string_buffer(1 << 20), ctypes.c_size_t()
        code = lib.dv_cuda_activity_stop(text, ctypes.c_size_t(len(text)), ctypes.byref(needed))
    check(code)
    return json.loads(text.value)


def hold(word, value, longest_ns):
    """Queues a kernel that keeps the device from other processes until the pinned ``word`` is ``value``, for so long at most."""
    check(library().dv_cuda_hold(_u64(word.data_ptr()), ctypes.c_uint32(value), _u64(longest_ns), stream()))


def turn_seconds():
    """From the launch of a small kernel on an idle queue to its end as the host sees it, in the middle of several."""
    scratch, times = torch.zeros(1, device="cuda"), []
    for _ in range(_TURNS):
        torch.cuda.synchronize()
        started = time.perf_counter()
        scratch.fill_(1)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def between_events_seconds():
    """What two events around a kernel that does nothing say in a full queue, less what that kernel adds to the queue."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    size = min(_CALIBRATION_BYTES, torch.cuda.mem_get_info()[0] // 4)
    scratch, filled = torch.zeros(1, device="cuda"), torch.empty(size // 8, dtype=torch.int64, device="cuda")

    def seconds(queue):
        times = []
        for _ in range(_CALIBRATIONS):
            filled.zero_(), filled.zero_()  # for as long the host runs ahead
            queue()
            torch.cuda.synchronize()
            times.append(1e-3 * start.elapsed_time(end))
        return statistics.median(times)

    def one():
        start.record()
        scratch.fill_(1)
        end.record()

    def many(with_it):
        start.record()
        for _ in range(_CALIBRATION_CALLS):
            filled.fill_(5)  # a kernel, as in a window; zero_() is none
            if with_it:
                scratch.fill_(1)
        end.record()

    for _ in range(_CALIBRATIONS):  # clocks rise
        one(), many(True), torch.cuda.synchronize()
    added = (seconds(lambda: many(True)) - seconds(lambda: many(False))) / _CALIBRATION_CALLS
    return min(_MOST_BETWEEN_EVENTS, max(0.0, seconds(one) - max(0.0, added)))
