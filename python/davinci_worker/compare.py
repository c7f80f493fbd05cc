"""Truth, tolerance and comparison of outputs, on top of the native comparators (judge/compare/worker_abi.h).

On the cpu target the arithmetic runs in libdavinci_worker.so; on cuda the same rules run as device kernels
(gpu/worker_abi.h), so that outputs of gigabytes never leave the device.
"""

import copy
import ctypes

import torch

from davinci_worker import native, packing

_DTYPE_CODES = {"f16": 0, "bf16": 1, "f32": 2, "f64": 3, "i8": 4, "u8": 5, "i16": 6, "i32": 7, "i64": 8, "bool": 9}
_MAX_UNVERIFIED = 0.5
_MAX_SUSPECTS = 0.01  # of an integer output
_RESIDUE = 1 / 64  # of them: what no honest answer explains
_ZERO_BUCKET = 320  # judge/compare/element_rules.h


class _Result(ctypes.Structure):
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
    if lib.dv_sizeof(3) != ctypes.sizeof(_Result) or lib.dv_sizeof(2) != ctypes.sizeof(_Options):
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
            _pointer(truth), _pointer(honest), _DTYPE_CODES[packing.DTYPES[honest.dtype]], _DTYPE_CODES[dtype],
            ctypes.c_int64(truth.numel()), profile, _pointer(dont_care), self._threads))

    def tolerance(self, profile, dtype, multiple, terms, spread):
        """One rule for both targets (judge/compare/tolerance.h); ``terms`` is how many numbers one output sums up, about; ``spread``:
        they differ by orders of magnitude."""
        options = _Options()
        self._lib.dv_default_options(_DTYPE_CODES[dtype], ctypes.byref(options))
        if multiple:
            options.multiple = multiple
            options.rms_multiple = max(options.rms_multiple, multiple / 2)
        if dtype == "f64":  # truth is computed in the same precision and errs as much
            options.multiple *= 4
            options.rms_multiple *= 4
        options.terms = terms
        options.spread = float(spread)
        built = ctypes.create_string_buffer(self._lib.dv_sizeof(1))
        self._check(self._lib.dv_tolerance_build(profile, _DTYPE_CODES[dtype], ctypes.byref(options), built))
        return built

    def compare(self, truth, candidate, dtype, tolerance, dont_care):
        result = _Result()
        self._check(self._lib.dv_compare(
            _pointer(truth), _pointer(candidate), _DTYPE_CODES[dtype], ctypes.c_int64(truth.numel()), tolerance,
            _pointer(dont_care), ctypes.c_double(_MAX_UNVERIFIED), self._threads, ctypes.byref(result)))
        return result

    def compare_direct(self, baseline, candidate, dtype, tolerance):
        result = _Result()
        self._check(self._lib.dv_compare_direct(
            _pointer(baseline), _pointer(candidate), _DTYPE_CODES[dtype], ctypes.c_int64(baseline.numel()), tolerance,
            ctypes.c_double(_MAX_UNVERIFIED), self._threads, ctypes.byref(result)))
        return result

    def accepts(self, baseline, candidate, dtype, tolerance):
        """Whether ``compare_direct`` would pass, at a glance; False says nothing."""
        accepted = ctypes.c_int(0)
        self._check(self._lib.dv_accepts(
            _pointer(baseline), _pointer(candidate), _DTYPE_CODES[dtype], ctypes.c_int64(baseline.numel()), tolerance,
            self._threads, ctypes.byref(accepted)))
        return bool(accepted.value)

    def compare_integers(self, truth, honest, candidate, dtype, allowed):
        result = _Result()
        pointers = (ctypes.c_void_p * max(1, len(honest)))(*[h.data_ptr() for h in honest])
        self._check(self._lib.dv_compare_integers(
            _pointer(truth), pointers, len(honest), _pointer(candidate), _DTYPE_CODES[dtype], ctypes.c_int64(truth.numel()),
            ctypes.c_double(allowed), self._threads, ctypes.byref(result)))
        return result

    def compare_integers_direct(self, baseline, candidate, dtype, allowed):
        result = _Result()
        self._check(self._lib.dv_compare_integers_direct(
            _pointer(baseline), _pointer(candidate), _DTYPE_CODES[dtype], ctypes.c_int64(baseline.numel()),
            ctypes.c_double(allowed), self._threads, ctypes.byref(result)))
        return result

    def describe(self, result, dtype):
        text = ctypes.create_string_buffer(1024)
        self._lib.dv_describe_result(ctypes.byref(result), _DTYPE_CODES[dtype], text, ctypes.c_size_t(len(text)))
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


class _Float:
    """Truth of one floating output: float64 values, their tolerance, and where honest implementations disagree."""

    suspects = residue = 0.0
    honest = ()

    def __init__(self, backend, truth, dtype):
        self.dtype = dtype
        self.truth = truth.double().contiguous()
        self.shape = list(truth.shape)
        self.tolerance = None
        self._backend = backend
        self._dont_care = torch.zeros(max(1, self.truth.numel()), dtype=torch.uint8, device=self.truth.device)
        self._profile = backend.new_profile()

    def learn(self, honest):
        self._backend.accumulate(self._profile, self.truth, honest.contiguous(), self.dtype, self._dont_care)

    def settle(self, multiple, terms, spread=False):
        if self.truth.numel() == 0:  # no sample, and nothing to hold a tolerance against
            zero = torch.zeros(1, dtype=torch.float64, device=self.truth.device)
            self._backend.accumulate(self._profile, zero, zero, self.dtype, self._dont_care)
        self.tolerance = self._backend.tolerance(self._profile, self.dtype, multiple, terms, spread)

    def limits(self):
        rest = copy.copy(self)
        rest.truth = rest._dont_care = None
        return rest

    def defined_share(self):
        if self.truth.numel() == 0:
            return 1.0
        sample = self.truth.reshape(-1)[:1 << 20]
        defined = torch.isfinite(sample) & (self._dont_care[: sample.numel()] == 0)
        return defined.double().mean().item()

    def magnitude(self):
        """Exponent of the largest finite value, about; None where there is none but zero."""
        found = torch.frombuffer(bytearray(self._profile.raw[:8 * _ZERO_BUCKET]), dtype=torch.int64).nonzero()
        return int(found.max()) if found.numel() else None

    def stored(self, values):
        """A Python float comes as float64, and may be judged as less."""
        return values.to(packing.BY_NAME[self.dtype])

    def compare(self, candidate):
        return self._backend.compare(self.truth, self.stored(candidate), self.dtype, self.tolerance, self._dont_care)

    def forgive(self, places):
        self._dont_care |= places.view(-1)


class _Integer:
    """Truth of an integer or boolean output. Near ties may fall either way: what honest answers said is right too. ``suspects``: the share
    in which a candidate may be unlike them and get a second look (nearby.py), ``residue``: that in which it may still be after it."""

    def __init__(self, backend, truth, dtype):
        self.dtype = dtype
        self.shape = list(truth.shape)
        self.truth = truth.to(torch.int64).contiguous()
        self.suspects = 0.0
        self._backend = backend
        self.honest = []

    def learn(self, honest):
        self.honest.append(honest.to(packing.BY_NAME[self.dtype]).contiguous())
        if self.truth.numel():
            differing = float((honest.to(torch.int64) != self.truth).double().mean())
            self.suspects = max(self.suspects, min(_MAX_SUSPECTS, 4 * differing))

    def settle(self, multiple, terms, spread=False):
        pass

    def limits(self):
        rest = copy.copy(self)
        rest.truth, rest.honest = None, []
        return rest

    def defined_share(self):
        return 1.0

    def magnitude(self):
        return None

    @property
    def residue(self):
        return self.suspects * _RESIDUE

    def compare(self, candidate):
        return self._backend.compare_integers(self.truth, self.honest, candidate, self.dtype, self.residue)


class Truth:
    """Everything known about the right answer of one input set. It learns from honest answers, one after the other, so that
    none has to be kept, and then settles on its tolerances."""

    def __init__(self, backend, values, honest, exact):
        """``honest`` is the reference in task precision: it fixes the dtypes, and is the first to learn from."""
        kinds = [_Float if h.is_floating_point() else _Integer for h in honest]
        self.outputs = [kind(backend, value, packing.DTYPES[h.dtype]) for kind, value, h in zip(kinds, values, honest)]
        self.exact = exact
        self.learn(honest)

    def learn(self, honest):
        for output, value in zip(self.outputs, honest):
            output.learn(value)

    def settle(self, multiple, terms, spread=False):
        for output in self.outputs:
            output.settle(multiple, terms, spread)

    def forgive_undefined(self, inputs):
        """On finite inputs that the task would not draw: where the reference comes to 0/0, a stabler form may know better."""
        undefined = [(o, o.truth.isnan()) for o in self.outputs if isinstance(o, _Float) and o.truth.numel()]
        undefined = [(output, places) for output, places in undefined if places.any()]
        if undefined and all(t.isfinite().all() for t in inputs if t.is_floating_point()):
            for output, places in undefined:
                output.forgive(places)

    def growth(self, usual):
        """How many powers of two its largest value is above that of ``usual``, magnitudes of the same outputs."""
        return max((m - u for m, u in zip(self.magnitudes(), usual or ()) if m is not None and u is not None), default=0)

    def magnitudes(self):
        return [output.magnitude() for output in self.outputs]

    def summary(self):
        return {"exact": self.exact, "defined_share": min((o.defined_share() for o in self.outputs), default=1.0),
                "outputs": [{"dtype": o.dtype, "shape": o.shape} for o in self.outputs]}


class Comparator:
    def __init__(self, device, threads):
        self._device = device
        if device == "cuda":
            from davinci_worker import device as device_module

            self.backend = device_module.DeviceBackend()
        else:
            self.backend = HostBackend(threads)
        self._own = None  # tolerances of the task's own distribution, for candidate-against-baseline

    def truth(self, values, honest, exact):
        return Truth(self.backend, values, honest, exact)

    def forget(self):
        self._own = None

    def remember(self, truth):
        """Its tolerances, not its values."""
        self._own = [output.limits() for output in truth.outputs]

    def compare(self, truth, tensors):
        results = []
        for expected, tensor in zip(truth.outputs, tensors):
            results.append(self._report(expected.compare(tensor.contiguous()), expected))
        return {"passed": all(r["passed"] for r in results), "outputs": results}

    def compare_pair(self, baseline, candidate):
        results = []
        for expected, reference, tensor in zip(self._own, baseline, candidate):
            reference, tensor = reference.contiguous(), tensor.contiguous()
            if isinstance(expected, _Float):
                reference, tensor = expected.stored(reference), expected.stored(tensor)
                if self.backend.accepts(reference, tensor, expected.dtype, expected.tolerance):
                    results.append({"passed": True, "dtype": expected.dtype, "shape": expected.shape,
                                    "elements": reference.numel(), "wrong": 0})
                    continue
                result = self.backend.compare_direct(reference, tensor, expected.dtype, expected.tolerance)
            else:
                result = self.backend.compare_integers_direct(reference, tensor, expected.dtype, max(expected.suspects, 1e-9))
            results.append(self._report(result, expected))
        return {"passed": all(r["passed"] for r in results), "outputs": results}

    def _report(self, result, expected):
        report = {"passed": bool(result.passed), "dtype": expected.dtype, "shape": expected.shape, "elements": result.n,
                  "wrong": result.num_wrong, "dont_care": result.num_dont_care, "max_ratio": _finite(result.max_ratio),
                  "rms_ratio": _finite(result.rms_ratio), "suspects": expected.suspects}
        if not result.passed:
            index = result.first_wrong_index if result.first_wrong_index >= 0 else result.worst_index
            report.update({
                "first_wrong": {"index": _coordinates(index, expected.shape), "expected": _finite(result.first_wrong_truth),
                                "got": _finite(result.first_wrong_candidate)},
                "worst": {"index": _coordinates(result.worst_index, expected.shape), "expected": _finite(result.worst_truth),
                          "got": _finite(result.worst_candidate), "error": _finite(result.worst_err),
                          "tolerance": _finite(result.worst_tol)},
                "unexpected_nan": result.num_unexpected_nan, "histogram": list(result.ratio_histogram),
                "text": self.backend.describe(result, expected.dtype),
            })
        return report

    def same_bytes(self, left, right):
        """Bit equality of two tensors of one layout; NaN payloads count."""
        if left.numel() == 0:
            return True
        span = packing.span_elements(left.shape, left.stride())
        if left.stride() != right.stride() or span != left.numel():  # what lies between the elements is nobody's business
            return torch.equal(bits_of(left.contiguous()), bits_of(right.contiguous()))
        a = left.as_strided((span,), (1,), left.storage_offset())
        b = right.as_strided((span,), (1,), right.storage_offset())
        return self.backend.same_bits(bits_of(a), bits_of(b))

    def copy(self, target, source):
        """Between two tensors of one layout."""
        if self._device == "cpu":
            self.backend.copy(target, source)
        else:
            target.copy_(source)

    def flush(self, address, num_bytes):
        self.backend.flush(address, num_bytes)


def bits_of(tensor):
    tensor = packing.real(tensor)
    size = tensor.element_size()
    if tensor.dtype == torch.bool:
        return tensor.view(torch.uint8)
    return tensor.view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size])


def _finite(value):
    """JSON has no NaN or infinity."""
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value


def _coordinates(index, shape):
    if index < 0:
        return None
    coordinates = []
    for size in reversed(shape):
        coordinates.append(int(index % size))
        index //= size
    return coordinates[::-1]
