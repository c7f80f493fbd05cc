"""Shared memory for inputs, outputs and weights on the cpu target.

The oracle creates an arena as a sealed memfd (it cannot be shrunk under a reader), the supervisor forwards the
descriptor, and each process maps it. Every tensor starts on its own cache line.
"""

import fcntl
import mmap
import os

import torch

from davinci_worker import packing

_ALIGN = 256
_SEALS = 0x0001 | 0x0002 | 0x0004  # F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW
_F_ADD_SEALS = 1033


def plan(tensors, start=0):
    """Places tensors one after the other: (descriptors, end offset in bytes). Strides are kept."""
    placed = []
    offset = start
    for tensor in tensors:
        offset = (offset + _ALIGN - 1) // _ALIGN * _ALIGN
        num_bytes = packing.span_elements(tensor.shape, tensor.stride()) * tensor.element_size()
        placed.append({
            "offset": offset, "bytes": num_bytes, "dtype": packing.DTYPES[tensor.dtype],
            "shape": list(tensor.shape), "stride": list(tensor.stride()),
        })
        offset += num_bytes
    return placed, offset


def whole_pages(num_bytes):
    return max(4096, (num_bytes + 4095) // 4096 * 4096)


class HostArena:
    """A mapped memfd. ``base`` is its uint8 tensor; views keep the mapping alive."""

    def __init__(self, fd, num_bytes, populate=False):
        """``populate``: every page is in this process's tables from the beginning, so reads cause no page fault."""
        self.fd = fd
        self.num_bytes = num_bytes
        self._map = mmap.mmap(fd, num_bytes, mmap.MAP_SHARED | (mmap.MAP_POPULATE if populate else 0), mmap.PROT_READ | mmap.PROT_WRITE)
        self.base = torch.frombuffer(self._map, dtype=torch.uint8)

    @classmethod
    def create(cls, name, num_bytes):
        num_bytes = whole_pages(num_bytes)
        fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, num_bytes)
        fcntl.fcntl(fd, _F_ADD_SEALS, _SEALS)
        return cls(fd, num_bytes)

    def view(self, placed, shift=0):
        """Tensor over the region of a descriptor; no copy."""
        dtype = packing.BY_NAME[placed["dtype"]]
        if placed["bytes"] == 0:
            return torch.empty(placed["shape"], dtype=dtype)
        start = placed["offset"] + shift
        flat = self.base[start:start + placed["bytes"]].view(dtype)
        last = sum((size - 1) * stride for size, stride in zip(placed["shape"], placed["stride"]))
        if min(placed["stride"], default=0) < 0 or last >= flat.numel():
            raise ValueError(f"a view of {last + 1} elements in a region of {flat.numel()}")
        return flat.as_strided(placed["shape"], placed["stride"])
