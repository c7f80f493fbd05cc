"""Where results jump (rounding, quantisation, counting), honest answers differ in a few elements by far more than any tolerance: what
honest answers say in the very place of a wrong element, when inputs and arithmetic are moved by some ulps."""
import time

import torch

from davinci_worker import distributions, rounding

_FEW = 1e-4  # of the numbers: as many may have fallen the other way where something is rounded, quantised or counted
_MOST_JOLTS = 32  # samples for them, half as many where those show nothing
_JOLTING_SECONDS = 20


def is_few(report, inputs, row=1):
    """Two, or few of the elements; where many inputs are counted in few outputs, few of the inputs; of whole numbers about as many as
    honest answers differ in; and as many as are in two rows of so many, for what is rounded ahead of a product changes a row of it."""
    wrong, elements = report.get("wrong", 0), report.get("elements", 0)
    return 0 < wrong <= max(2, _FEW * elements, min(_FEW * inputs, elements / 4), report["suspects"] * elements, min(2 * row, elements / 10))


class Doubt:
    """The wrong elements of one output, and the honest answer nearest to each so far."""

    _PIECE = 1 << 24

    def __init__(self, expected, candidate):
        self.expected = expected
        self._truth = expected.truth.view(-1)
        candidate = _numbers(candidate)
        found = [torch.nonzero(self._wrong(self._truth[at : at + self._PIECE], candidate[at : at + self._PIECE])).view(-1) + at
                 for at in range(0, candidate.numel(), self._PIECE)]
        self._at = torch.cat(found)
        if self._truth.is_floating_point():
            self._at = self._at[expected._dont_care[self._at] == 0]
        self._got = candidate[self._at].to(self._truth.dtype)
        self.truth = self._truth[self._at]
        self.nearest = self.truth.clone()
        for honest in expected.honest:
            self.learn(honest)

    def _wrong(self, truth, got):
        got = got.to(truth.dtype)
        same = (truth == got) | (truth != truth) & (got != got)
        if not truth.is_floating_point():
            return ~same
        # judge/compare/element_rules.h: ElementTolerance() of struct Tolerance.
        limits = torch.frombuffer(bytearray(self.expected.tolerance.raw), dtype=torch.float64)
        limits, share, largest = limits[:321].to(truth.device), limits[642].item(), limits[643].item()
        bucket = torch.where(truth == 0, 320, (torch.frexp(truth)[1].long() + 159).clamp_(0, 319))
        truth = truth.clamp(-largest, largest)
        return ~same & ~((got.clamp(-largest, largest) - truth).abs() <= limits[bucket] + share * truth.abs())

    def open(self):
        """How many elements no honest answer is near to, beyond those that may be so."""
        return max(0, int(self._wrong(self.nearest, self._got).sum()) - int(self.expected.residue * self._truth.numel()))

    def learn(self, honest):
        values = _numbers(honest)[self._at].to(self.truth.dtype)
        nearer = values == self._got
        if values.is_floating_point():
            nearer |= (values - self._got).abs() < (self.nearest - self._got).abs()
        self.nearest = torch.where(nearer, values, self.nearest)

    def replace(self, values):
        self._truth[self._at] = values


def look(truth, tensors, comparison, comparator, jolted):
    """Where results jump, rounding decides on which side a number falls. The few wrong elements are held, each of them, against
    the nearest of what honest answers say in its very place, to the same tolerance; nobody else's limits change. ``jolted(seed, own)``
    gives outputs of an honest answer, in the task's own precision or in a higher one. Returns a comparison that passed, or the given one."""
    doubts = [Doubt(expected, tensor) for expected, tensor, report in zip(truth.outputs, tensors, comparison["outputs"]) if not report["passed"]]
    wrong, started = sum(doubt.open() for doubt in doubts), time.monotonic()
    for k in range(_MOST_JOLTS):
        still = sum(doubt.open() for doubt in doubts)
        if not still or (k >= _MOST_JOLTS // 2 and 2 * still > wrong) or time.monotonic() - started > _JOLTING_SECONDS:
            break
        if (honest := jolted(k + 64 << 16, k % 4 == 3 or not truth.exact)) is None:
            return comparison
        for expected, values in zip(truth.outputs, honest):
            for doubt in doubts:
                if doubt.expected is expected:
                    doubt.learn(values)
    if any(doubt.open() for doubt in doubts):
        return comparison
    for doubt in doubts:
        doubt.replace(doubt.nearest)
    try:
        again = comparator.compare(truth, tensors)
    finally:
        for doubt in doubts:
            doubt.replace(doubt.truth)
    return again if again["passed"] else comparison


def _numbers(tensor):
    tensor = tensor.contiguous().view(-1)
    return tensor.view(torch.uint8) if tensor.dtype is torch.bool else tensor  # as stored: neither 0 nor 1 is no bool


def jolt_size(dtype, precision):
    """Of how much of itself a number is moved at most; an honest kernel rounds more than once in fp32, in half precision it need not."""
    if dtype is torch.float32:
        return 2.0 ** -10 if precision == "tf32" else 4 * torch.finfo(dtype).eps
    return (4 if dtype is torch.float64 else 1) * torch.finfo(dtype).eps


def jolt(tensor, seed, widen, precision):
    """Inputs moved up or down by a half to all of ``jolt_size``, small ones by as much as fp32 loses when they are added to common ones.
    Whole numbers and what is not finite stay: masks, levels, indices."""
    if not tensor.is_floating_point():
        return tensor.clone()
    wide = tensor.double() if tensor.dtype is not torch.float64 else tensor.clone(memory_format=torch.preserve_format)
    if tensor.numel():
        size = wide.abs().mul_(jolt_size(tensor.dtype, precision))
        if tensor.dtype is not torch.float64:
            common = tensor.reshape(-1)[:4096].double().abs()
            size.clamp_(min=4 * torch.finfo(torch.float32).eps * common[common.isfinite()].nan_to_num().median().item()
                        if common.isfinite().any() else 0.0)
        _shake(wide, size, seed)
    return wide if widen else wide.to(tensor.dtype)


def _shake(tensor, size, seed):
    noise = distributions.uniform(tensor.shape, seed, tensor.device).sub_(0.5)
    noise.add_(noise.sign(), alpha=0.5)  # half to all of it, up or down
    tensor.copy_(torch.where(tensor.isfinite() & (tensor.round() != tensor), tensor + size * noise, tensor))


class Jolts(rounding.RoundingNoise):
    """While active, results of arithmetic in float64 are moved by up to ``size`` of themselves. Those of selections stay, or a maximum
    would not be among the numbers that it is of; whole numbers stay, or what was rounded would be cut off."""

    _MOVED = {getattr(torch.ops.aten, name + end) for end in ("", "_") for name in (
        "add", "sub", "rsub", "mul", "div", "reciprocal", "sqrt", "rsqrt", "pow", "exp", "exp2", "expm1", "log", "log2", "log1p", "sin", "cos",
        "tanh", "sigmoid", "erf", "silu", "gelu", "softplus", "mm", "bmm", "addmm", "baddbmm", "addmv", "mv", "dot", "convolution", "sum",
        "mean", "var", "std", "linalg_vector_norm", "cumsum", "_softmax", "_log_softmax", "addcmul", "addcdiv", "lerp")
              if hasattr(torch.ops.aten, name + end)}

    def __init__(self, seed, size):
        super().__init__(seed)
        self._size = size

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func.overloadpacket in self._MOVED:
            self._move(result)
        return result

    def _move(self, tensor):
        if isinstance(tensor, torch.Tensor) and tensor.dtype is torch.float64 and tensor.numel():
            self._seed += 1
            _shake(tensor, tensor.abs().mul_(self._size), self._seed)
