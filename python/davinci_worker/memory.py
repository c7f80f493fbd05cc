"""Memory of a process: what it keeps of the host's, and whether it, or the device's, ran out."""

import ctypes
import re
import resource

import torch

# malloc.h
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_MMAP_MAX = -4
_M_PERTURB = -6
_LARGE_BLOCK = 1 << 25  # bytes; the most that glibc takes for a threshold

# Of a device: what lies between the calls of a window (window.py) takes no more than this part of its memory.
BUFFERS_SHARE = 48
_LEAST_FLUSH_BYTES, _MOST_FLUSH_BYTES = 64 << 20, 256 << 20  # of one of them

# Texts of torch's host allocator, of the driver, of the CUDA runtime and of cuBLAS.
_TEXTS = ("DefaultCPUAllocator", "CUDA_ERROR_OUT_OF_MEMORY", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED")


# "Tried to allocate 256.00 GiB. GPU 0 has a total capacity of 139.80 GiB of which …"
_REFUSED = re.compile(r"Tried to allocate ([\d.]+) ([KMGTPE]iB)\b.*?total capacity of ([\d.]+) ([KMGTPE]iB)\b", re.DOTALL)
_BYTES = {unit + "iB": 1024.0 ** (k + 1) for k, unit in enumerate("KMGTPE")}


def flush_bytes() -> int:
    """What is filled between two calls of a window, so that the first one's data leaves the device's L2."""
    return max(_LEAST_FLUSH_BYTES, min(_MOST_FLUSH_BYTES, 4 * torch.cuda.get_device_properties(0).L2_cache_size))


def keep_freed():
    """Memory that was freed stays with the process, as it mostly does in a long-running program. By default glibc decides by
    what happens to lie at the end of the heap: then the same eager code takes 2 ms in one process and 6 ms in the next, which
    gets fresh pages for every temporary."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_MAX, 0)
        mallopt(_M_TRIM_THRESHOLD, 2**31 - 1)


def overwrite_freed():
    """From here on glibc fills what is freed, and what is allocated, with a pattern: uninitialised memory of one candidate must not be an
    earlier one's answer."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_PERTURB, 0x7F)


def return_large_blocks():
    """From here on large blocks go back to the system when they are freed. Kept, those of gigabytes leave holes that the next do not
    fit into."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK)
        mallopt(_M_MMAP_MAX, 65536)


def _meminfo(name):
    with open("/proc/meminfo", encoding="ascii") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(name + ":"))


def machine_bytes():
    """Of the host's memory; 0 where the kernel does not tell."""
    try:
        return _meminfo("MemTotal")
    except (OSError, StopIteration, ValueError):
        return 0


def give_freed_back(above_bytes):
    """What ``keep_freed`` has kept, if this process ever held more than that."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > above_bytes:
        trim(ctypes.c_size_t(0))


def ran_out(error):
    """Does this exception, of any origin, say that memory ran out?"""
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(text in str(error) for text in _TEXTS)


def never_fits(error):
    """Did it ask the device for more in one piece than the device has? Then it will again, however empty the device is."""
    refused = _REFUSED.search(str(error)) if isinstance(error, torch.OutOfMemoryError) else None
    return refused is not None and float(refused[1]) * _BYTES[refused[2]] > float(refused[3]) * _BYTES[refused[4]]


def bound(more_bytes):
    """What this process may have of its own from now on, beyond what it has: who asks for more is refused, instead of the machine
    running out."""
    torch.zeros(1 << 20).add_(1)  # threads that got no stack any more would end the process
    with open("/proc/self/statm", encoding="ascii") as statm:
        held = int(statm.read().split()[5]) * resource.getpagesize()
    available = _meminfo("MemAvailable")
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (held + min(more_bytes, available // 2), hard))
