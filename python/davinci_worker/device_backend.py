"""The comparators on device memory (gpu/worker_abi.h)."""

import ctypes
import os
import typing

import torch

from davinci_worker import packing
from davinci_worker.device import check, library, stream
from davinci_worker.native_compare import DTYPE_CODES, MAX_UNVERIFIED, HostBackend, Result

_NUM_SAMPLES = 4096  # of every tensor
_u64 = ctypes.c_uint64


class Samples(typing.NamedTuple):
    """Bits of ``tensors`` at places that follow from ``key``, a row each; of those that can be looked at."""

    tensors: list
    key: int
    bits: torch.Tensor


class DeviceBackend(HostBackend):
    """The comparators on device memory; profiles and tolerances stay small host buffers."""

    def __init__(self):
        super().__init__(1)
        self._cuda = library()
        self._key = int.from_bytes(os.urandom(8), "little")

    @staticmethod
    def _at(tensor):
        return _u64(tensor.data_ptr())

    def accumulate(self, profile, truth, honest, dtype, dont_care):
        check(self._cuda.dv_cuda_profile_accumulate(
            self._at(truth), self._at(honest), DTYPE_CODES[packing.DTYPES[honest.dtype]], DTYPE_CODES[dtype],
            _u64(truth.numel()), profile, self._at(dont_care), stream()))

    def compare(self, truth, candidate, dtype, tolerance, dont_care):
        result = Result()
        check(self._cuda.dv_cuda_compare(
            self._at(truth), self._at(candidate), DTYPE_CODES[dtype], _u64(truth.numel()), tolerance, self._at(dont_care),
            ctypes.c_double(MAX_UNVERIFIED), stream(), ctypes.byref(result)))
        return result

    def compare_direct(self, baseline, candidate, dtype, tolerance):
        result = Result()
        check(self._cuda.dv_cuda_compare_direct(
            self._at(baseline), self._at(candidate), DTYPE_CODES[dtype], _u64(baseline.numel()), tolerance,
            ctypes.c_double(MAX_UNVERIFIED), stream(), ctypes.byref(result)))
        return result

    def accepts(self, baseline, candidate, dtype, tolerance):
        accepted = ctypes.c_int()
        check(self._cuda.dv_cuda_accepts(
            self._at(baseline), self._at(candidate), DTYPE_CODES[dtype], _u64(baseline.numel()), tolerance, stream(),
            ctypes.byref(accepted)))
        return bool(accepted.value)

    def compare_integers(self, truth, honest, candidate, dtype, allowed):
        result = Result()
        honest = honest[:4]
        pointers = (_u64 * max(1, len(honest)))(*[h.data_ptr() for h in honest])
        check(self._cuda.dv_cuda_compare_integers(
            self._at(truth), DTYPE_CODES["i64"], pointers, len(honest), self._at(candidate), DTYPE_CODES[dtype],
            _u64(truth.numel()), ctypes.c_double(allowed), stream(), ctypes.byref(result)))
        return result

    def compare_integers_direct(self, baseline, candidate, dtype, allowed):
        result = Result()
        check(self._cuda.dv_cuda_compare_integers(
            self._at(baseline), DTYPE_CODES[dtype], None, 0, self._at(candidate), DTYPE_CODES[dtype], _u64(baseline.numel()),
            ctypes.c_double(allowed), stream(), ctypes.byref(result)))
        return result

    def same_bits(self, left, right):
        """By checksums under a secret key: each side is read once, and nothing is allocated."""
        sums = []
        for tensor in (left, right):
            checksum = _u64()
            check(self._cuda.dv_cuda_checksum(
                self._at(tensor), _u64(tensor.numel() * tensor.element_size()), _u64(self._key), stream(), ctypes.byref(checksum)))
            sums.append(checksum.value)
        return sums[0] == sums[1]

    def at_a_glance(self, outputs, samples, inputs):
        """Of several calls, read back at once, as booleans on the host. ``outputs``: (baseline, candidate, what is expected) that ``accepts``
        is asked about; ``samples``: are they ``steady``, or None; ``inputs``: pairs that ``same_bits`` is asked about."""
        cuda, queue, key = self._cuda, stream(), _u64(self._key)
        found = torch.zeros(len(outputs) + 2 * len(inputs) + 1, dtype=torch.int64, device="cuda")
        at = found.data_ptr()
        for baseline, candidate, expected in outputs:
            check(cuda.dv_cuda_queue_accepts(
                self._at(baseline), self._at(candidate), DTYPE_CODES[expected.dtype], _u64(baseline.numel()),
                self._at(self._on_device(expected)), queue, _u64(at)))
            at += 8
        for pair in inputs:
            for tensor in pair:
                check(cuda.dv_cuda_queue_checksum(self._at(tensor), _u64(tensor.nbytes), key, queue, _u64(at)))
                at += 8
        if samples is not None:
            found[-1] = samples.bits.ne(self.sample(samples.tensors, samples.key).bits).any()
        found = found.tolist()
        sums = found[len(outputs):-1]
        return ([bool(f) for f in found[:len(outputs)]], found[-1] == 0, [sums[2 * i] == sums[2 * i + 1] for i in range(len(inputs))])

    @staticmethod
    def _on_device(expected):
        """The tolerance of an output, copied there once."""
        if expected.tolerance_on_device is None:
            expected.tolerance_on_device = torch.frombuffer(bytearray(expected.tolerance.raw), dtype=torch.uint8).cuda()
        return expected.tolerance_on_device

    def forget_pinned_lines(self):
        """What a call has pinned in the L2 goes with the rest."""
        check(self._cuda.dv_cuda_persisting_reset())

    def cool(self, key):
        """Evicts the L2 and drops pinned lines, so that the next call starts cold."""
        self.forget_pinned_lines()
        check(self._cuda.dv_cuda_flush_l2(_u64(key), 1, stream()))
        torch.cuda.synchronize()

    def sample(self, tensors, key):
        """Bits at keyed positions, left on the device: cheap, and enough to see a store that lands later (``steady``). The device has work
        whatever the tensors are like: how long its turn takes is compared (judge/timing/clock_checks.cc)."""
        tensors = [t for t in map(packing.in_memory, tensors) if t is not None and t.numel()]
        bits = torch.zeros(len(tensors) + 1, _NUM_SAMPLES, dtype=torch.int64, device="cuda")  # the last row is of none
        at, queue, keyed, count = bits.data_ptr(), stream(), _u64(key), _u64(_NUM_SAMPLES)
        for tensor in tensors:
            check(self._cuda.dv_cuda_queue_sample(self._at(tensor), _u64(tensor.numel()), tensor.element_size(), keyed, count, queue, _u64(at)))
            at += 8 * _NUM_SAMPLES
        return Samples(tensors, key, bits)

    def steady(self, samples):
        """Whether the memory still holds what was sampled."""
        return bool(samples.bits.equal(self.sample(samples.tensors, samples.key).bits))
