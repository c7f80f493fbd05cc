"""The native comparators (numerics/worker_abi.h) on host memory.

On the cpu target the arithmetic runs in libdavinci_worker.so; on cuda the same rules run as device kernels
(device_backend.py, gpu/worker_abi.h), so that outputs of gigabytes never leave the device.
"""

import ctypes

from davinci_worker import native, packing

DTYPE_CODES = {"f16": 0, "bf16": 1, "f32": 2, "f64": 3, "i8": 4, "u8": 5, "i16": 6, "i32": 7, "i64": 8, "bool": 9}
MAX_UNVERIFIED = 0.5


class Result(ctypes.Structure):
    """Mirror of dv_result; checked against dv_sizeof(3)."""

    _fields_ = [
        ("passed", ctypes.c_int), ("failed_criteria", ctypes.c_int), ("n", ctypes.c_int64), ("num_wrong", ctypes.c_int64),
        ("num_dont_care", ctypes.c_int64), ("num_special_match", ctypes.c_int64), ("num_nan_truth", ctypes.c_int64),
        ("num_nan_candidate", ctypes.c_int64), ("num_unexpected_nan", ctypes.c_int64), ("first_wrong_index", ctypes.c_int64),
        ("first_wrong_truth", ctypes.c_double), ("first_wrong_candidate", ctypes.c_double), ("worst_index", ctypes.c_int64),
        ("worst_err", ctypes.c_double), ("worst_tol", ctypes.c_double), ("worst_truth", ctypes.c_double),
        ("worst_candidate", ctypes.c_double), ("max_ratio", ctypes.c_double), ("rms_ratio", ctypes.c_double),
        ("rms_limit", ctypes.c_double), ("ratio_histogram", ctypes.c_int64 * 10),
    ]


class _Options(ctypes.Structure):
    _fields_ = [("multiple", ctypes.c_double), ("rms_multiple", ctypes.c_double), ("floor_ulps", ctypes.c_double),
                ("scale_floor_ulps", ctypes.c_double), ("terms", ctypes.c_double), ("spread", ctypes.c_double)]


def _bind(lib):
    lib.dv_sizeof.restype = ctypes.c_size_t
    lib.dv_last_error.restype = ctypes.c_char_p
    lib.dv_describe_result.restype = ctypes.c_size_t
    if lib.dv_sizeof(3) != ctypes.sizeof(Result) or lib.dv_sizeof(2) != ctypes.sizeof(_Options):
        raise RuntimeError("libdavinci_worker.so does not match this davinci_worker; rebuild davinci")
    return lib


def _pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


class HostBackend:
    """The native comparators on host memory. All tensors are dense."""

    def __init__(self, threads):
        self._lib = _bind(native.lib())
        self._threads = ctypes.c_int(threads)

    def _check(self, code):
        if code != 0:
            raise RuntimeError("comparator: " + self._lib.dv_last_error().decode())

    def new_profile(self):
        return ctypes.create_string_buffer(self._lib.dv_sizeof(0))

    def accumulate(self, profile, truth, honest, dtype, dont_care):
        self._check(self._lib.dv_profile_accumulate(
            _pointer(truth), _pointer(honest), DTYPE_CODES[packing.DTYPES[honest.dtype]], DTYPE_CODES[dtype],
            ctypes.c_int64(truth.numel()), profile, _pointer(dont_care), self._threads))

    def tolerance(self, profile, dtype, multiple, terms, spread):
        """One rule for both targets (numerics/tolerance.h); ``terms`` is how many numbers one output sums up, about; ``spread``:
        they differ by orders of magnitude."""
        options = _Options()
        self._lib.dv_default_options(DTYPE_CODES[dtype], ctypes.byref(options))
        if multiple:
            options.multiple = multiple
            options.rms_multiple = max(options.rms_multiple, multiple / 2)
        if dtype == "f64":  # truth is computed in the same precision and errs as much
            options.multiple *= 4
            options.rms_multiple *= 4
        options.terms = terms
        options.spread = float(spread)
        built = ctypes.create_string_buffer(self._lib.dv_sizeof(1))
        self._check(self._lib.dv_tolerance_build(profile, DTYPE_CODES[dtype], ctypes.byref(options), built))
        return built

    def compare(self, truth, candidate, dtype, tolerance, dont_care):
        result = Result()
        self._check(self._lib.dv_compare(
            _pointer(truth), _pointer(candidate), DTYPE_CODES[dtype], ctypes.c_int64(truth.numel()), tolerance,
            _pointer(dont_care), ctypes.c_double(MAX_UNVERIFIED), self._threads, ctypes.byref(result)))
        return result

    def compare_direct(self, baseline, candidate, dtype, tolerance):
        result = Result()
        self._check(self._lib.dv_compare_direct(
            _pointer(baseline), _pointer(candidate), DTYPE_CODES[dtype], ctypes.c_int64(baseline.numel()), tolerance,
            ctypes.c_double(MAX_UNVERIFIED), self._threads, ctypes.byref(result)))
        return result

    def accepts(self, baseline, candidate, dtype, tolerance):
        """Whether ``compare_direct`` would pass, at a glance; False says nothing."""
        accepted = ctypes.c_int(0)
        self._check(self._lib.dv_accepts(
            _pointer(baseline), _pointer(candidate), DTYPE_CODES[dtype], ctypes.c_int64(baseline.numel()), tolerance,
            self._threads, ctypes.byref(accepted)))
        return bool(accepted.value)

    def compare_integers(self, truth, honest, candidate, dtype, allowed):
        result = Result()
        pointers = (ctypes.c_void_p * max(1, len(honest)))(*[h.data_ptr() for h in honest])
        self._check(self._lib.dv_compare_integers(
            _pointer(truth), pointers, len(honest), _pointer(candidate), DTYPE_CODES[dtype], ctypes.c_int64(truth.numel()),
            ctypes.c_double(allowed), self._threads, ctypes.byref(result)))
        return result

    def compare_integers_direct(self, baseline, candidate, dtype, allowed):
        result = Result()
        self._check(self._lib.dv_compare_integers_direct(
            _pointer(baseline), _pointer(candidate), DTYPE_CODES[dtype], ctypes.c_int64(baseline.numel()),
            ctypes.c_double(allowed), self._threads, ctypes.byref(result)))
        return result

    def describe(self, result, dtype):
        text = ctypes.create_string_buffer(1024)
        self._lib.dv_describe_result(ctypes.byref(result), DTYPE_CODES[dtype], text, ctypes.c_size_t(len(text)))
        return text.value.decode()

    def same_bits(self, left, right):
        return bool(self._lib.dv_same(_pointer(left), _pointer(right), ctypes.c_size_t(left.nbytes), self._threads))

    def copy(self, target, source):
        """Between two tensors of one layout. What lies between the elements stays."""
        if target.numel() != packing.span_elements(target.shape, target.stride()):
            target.copy_(source)
        else:
            self._lib.dv_copy(_pointer(target), _pointer(source), ctypes.c_size_t(target.nbytes), self._threads)

    def flush(self, address, num_bytes):
        self._lib.dv_flush_lines(ctypes.c_void_p(address), ctypes.c_size_t(num_bytes))
