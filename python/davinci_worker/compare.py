"""Truth, tolerance and comparison of outputs, on top of the native comparators (native_compare.py, device_backend.py)."""

import copy
import math

import torch

from davinci_worker import packing
from davinci_worker.native_compare import HostBackend

_MAX_SUSPECTS = 0.01  # of an integer output
_RESIDUE = 1 / 64  # of them: what no honest answer explains
_ZERO_BUCKET = 320  # numerics/element_rules.h
_LOOKED_AT = 1 << 20  # elements
_MOST_LOST, _MOST_FLIPS = 1 / 64, 1e-3  # of an answer: root mean square error over its spread, and share of other whole numbers


class _Float:
    """Truth of one floating output: float64 values, their tolerance, and where honest implementations disagree."""

    suspects = residue = 0.0
    honest = ()

    def __init__(self, backend, truth, dtype):
        self.dtype = dtype
        self.truth = truth.double().contiguous()
        self.shape = list(truth.shape)
        self.tolerance = self.tolerance_on_device = None
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


def _is_well_conditioned(value, honest):
    """Does the reference's own precision keep what differs between the numbers of its answer? Where it does not, two honest answers need have
    little in common."""
    if not honest.is_floating_point():
        return float((honest.to(torch.int64) != value.to(torch.int64)).double().mean()) <= _MOST_FLIPS if value.numel() else True
    wide, own = (t.reshape(-1)[:_LOOKED_AT].double() for t in (value, honest))
    both = wide.isfinite() & own.isfinite()
    wide, own = wide[both], own[both]
    differs = (wide - wide.mean()).norm() if wide.numel() > 1 else wide.norm()
    return bool((own - wide).norm() <= max(_MOST_LOST, 16 * torch.finfo(honest.dtype).eps) * differs)


class RightAnswer:
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

    def is_well_conditioned(self, honest):
        """Is ``honest``, the reference in task precision, near the truth for the most part?"""
        return all(_is_well_conditioned(output.truth, value) for output, value in zip(self.outputs, honest))

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
            from davinci_worker.device_backend import DeviceBackend  # its kernels need a device

            self.backend = DeviceBackend()
        else:
            self.backend = HostBackend(threads)
        self._own = None  # tolerances of the task's own distribution, for candidate-against-baseline

    def truth(self, values, honest, exact):
        return RightAnswer(self.backend, values, honest, exact)

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

    def for_a_glance(self, baseline, candidate):
        """What ``backend.at_a_glance`` is asked about the outputs of one call against the baseline's; None where that cannot be asked."""
        asked = []
        for expected, reference, tensor in zip(self._own, baseline, candidate):
            if not isinstance(expected, _Float) or expected.dtype == "f64" or not tensor.numel():
                return None
            reference, tensor = expected.stored(reference.contiguous()), expected.stored(tensor.contiguous())
            asked.append((reference, tensor, expected))
        return asked

    def accepted(self):
        """The report of ``compare_pair`` on outputs of which each was accepted."""
        return {"passed": True, "outputs": [_accepted(expected) for expected in self._own]}

    def compare_pair(self, baseline, candidate):
        results = []
        for expected, reference, tensor in zip(self._own, baseline, candidate):
            reference, tensor = reference.contiguous(), tensor.contiguous()
            if isinstance(expected, _Float):
                reference, tensor = expected.stored(reference), expected.stored(tensor)
                if self.backend.accepts(reference, tensor, expected.dtype, expected.tolerance):
                    results.append(_accepted(expected))
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
        rows = in_memory_order(left, right)
        if rows is None:  # gaps between the elements are not compared
            return torch.equal(bits_of(left.contiguous()), bits_of(right.contiguous()))
        return self.backend.same_bits(*rows)

    def copy(self, target, source):
        """Between two tensors of one layout."""
        if self._device == "cpu":
            self.backend.copy(target, source)
        else:
            target.copy_(source)

    def flush(self, address, num_bytes):
        self.backend.flush(address, num_bytes)


def _accepted(expected):
    """The report of one output that was accepted."""
    return {"passed": True, "dtype": expected.dtype, "shape": expected.shape, "elements": math.prod(expected.shape), "wrong": 0}


def in_memory_order(left, right):
    """The bits of two tensors of one layout without gaps, as they lie in memory; else None."""
    flat = [packing.in_memory(t) for t in (left, right)]
    if left.stride() != right.stride() or any(t is None for t in flat):
        return None
    return tuple(bits_of(t) for t in flat)


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
