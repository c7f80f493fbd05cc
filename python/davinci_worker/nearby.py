"""An answer in doubt is held against what honest answers say in the very place of each wrong element.

A tolerance is made of the errors of a few honest answers, pooled over elements of about one size. It says too little about an element
that is worse conditioned than all others of its size, about a library's other algorithm, and about a place where the result jumps
(rounding, counting, near ties). So before a candidate is called wrong, honest answers are asked there: the reference itself, its other
forms (forms.py), all of them with inputs moved by some ulps, and its float64 twin with every result of arithmetic moved.
"""
import time

import torch

from davinci_worker import distributions, packing, rounding

_AS_HONEST = 4  # times the error of the worst honest answer in the same place and to the same side, and the worst one's root mean square
_FEW = 1e-4  # of the numbers: as many are looked at patiently
_MANY = 1e-2  # of the numbers
# Times an honest answer's root mean square error: above it, where many elements are wrong, no other honest form is tried. TF32, which
# cuDNN uses for convolutions in some memory formats only, errs by up to 2**13.
_HOPELESS = 1 << 14
_MOST_ROUNDS = 8  # of honest answers, half as many where those show nothing
_SECONDS = {True: 20, False: 5}  # for few and for many


def is_few(report, inputs, row=1):
    """Two, or few of the elements; where many inputs are counted in few outputs, few of the inputs; of whole numbers about as many as
    honest answers differ in; and as many as are in two rows of so many, for what is rounded ahead of a product changes a row of it."""
    wrong, elements = report.get("wrong", 0), report.get("elements", 0)
    return wrong <= max(2, _FEW * elements, min(_FEW * inputs, elements / 4), report["suspects"] * elements, min(2 * row, elements / 10))


def is_hopeless(report):
    """Many elements are wrong by more than another honest form makes of them: none is asked."""
    ratio = report.get("rms_ratio", 0)
    return report.get("wrong", 0) > max(2, _MANY * report.get("elements", 0)) and not (isinstance(ratio, float) and ratio <= _HOPELESS)


class Doubt:
    """The wrong elements of one output, and how far from truth honest answers are in their places."""

    _PIECE = 1 << 24

    def __init__(self, expected, candidate):
        self.expected = expected
        self._truth = expected.truth.view(-1)
        self._floating = self._truth.is_floating_point()
        candidate = _numbers(expected.stored(candidate) if self._floating else candidate)
        found = [torch.nonzero(self._wrong(self._truth[at : at + self._PIECE], candidate[at : at + self._PIECE])).view(-1) + at
                 for at in range(0, candidate.numel(), self._PIECE)]
        self._at = torch.cat(found)
        if self._floating:
            self._at = self._at[expected._dont_care[self._at] == 0]
        self._got = candidate[self._at].to(self._truth.dtype)
        self.truth = self._truth[self._at]
        self._error = self._errors(self._got)
        self._up, self._down = torch.zeros_like(self._error), torch.zeros_like(self._error)
        self._same = torch.zeros_like(self._at, dtype=torch.bool)
        self._rms = 0.0
        for honest in expected.honest:
            self.learn(honest)

    def _wrong(self, truth, got):
        got = got.to(truth.dtype)
        same = (truth == got) | (truth != truth) & (got != got)
        if not truth.is_floating_point():
            return ~same
        # numerics/element_rules.h: ElementTolerance() of struct Tolerance.
        limits = torch.frombuffer(bytearray(self.expected.tolerance.raw), dtype=torch.float64)
        limits, share, largest = limits[:321].to(truth.device), limits[642].item(), limits[643].item()
        bucket = torch.where(truth == 0, 320, (torch.frexp(truth)[1].long() + 159).clamp_(0, 319))
        truth = truth.clamp(-largest, largest)
        return ~same & ~((got.clamp(-largest, largest) - truth).abs() <= limits[bucket] + share * truth.abs())

    def _errors(self, values):
        """Against truth; NaN where only one of the two is finite, or a number."""
        same = (values == self.truth) | (values != values) & (self.truth != self.truth)
        error = torch.where(same, 0, values - self.truth)
        return torch.where(error.isfinite(), error, float("nan")) if self._floating else error

    def _explained(self):
        """On the same side of truth, for where a result jumps it jumps one way."""
        if not self._floating:
            return self._same
        return torch.where(self._error.isnan(), self._up.isinf(), (self._error <= _AS_HONEST * self._up) & (-self._error <= _AS_HONEST * self._down))

    def open(self):
        """How many elements no honest answer explains, beyond those that may be so."""
        return max(0, int((~self._explained()).sum()) - int(self.expected.residue * self._truth.numel()))

    def learn(self, honest):
        """An honest answer: as stored, or in float64."""
        values = _numbers(honest)[self._at].to(self.truth.dtype)
        if self._floating:
            error = self._errors(values).nan_to_num(float("inf"))
            self._up, self._down = torch.maximum(self._up, error), torch.maximum(self._down, torch.where(error.isinf(), error, -error))
            rms = self.expected.compare(honest.contiguous()).rms_ratio if honest.dtype is packing.BY_NAME[self.expected.dtype] else 0.0
            self._rms = max(self._rms, rms) if rms < float("inf") else self._rms
        else:
            self._same |= values == self._got

    def accept(self):
        """Until ``restore``, what is explained is true."""
        at = self._explained()
        self._truth[self._at[at]] = self._got[at]

    def restore(self):
        self._truth[self._at] = self.truth

    def passes(self, report):
        """Each element is explained; are all together?"""
        return report["passed"] or (report["wrong"] == 0 and isinstance(report["rms_ratio"], float) and report["rms_ratio"] <= _AS_HONEST * self._rms)


def look(truth, tensors, comparison, comparator, answers, few):
    """A comparison that passed, or the given one. ``answers``: rounds of honest answers, each round iterable, in turn in the task's own
    precision or in a higher one. ``few``: the elements are few enough to be patient."""
    doubts = {i: Doubt(truth.outputs[i], tensors[i]) for i, report in enumerate(comparison["outputs"]) if not report["passed"]}

    def still():
        return sum(doubt.open() for doubt in doubts.values())

    def accepted():
        """With what is explained taken for true."""
        if still():
            return None
        for doubt in doubts.values():
            doubt.accept()
        try:
            again = comparator.compare(truth, tensors)
        finally:
            for doubt in doubts.values():
                doubt.restore()
        for i, report in enumerate(again["outputs"]):
            if i in doubts and doubts[i].passes(report):
                report["passed"] = True
        again["passed"] = all(report["passed"] for report in again["outputs"])
        return again if again["passed"] else None

    at_first, started = still(), time.monotonic()
    for k, answers_of_round in enumerate(answers):
        before = still()
        for honest in answers_of_round:
            for i, doubt in doubts.items():
                doubt.learn(honest[i])
            if (again := accepted()) is not None:
                return again
        left, patient = still(), few and k < _MOST_ROUNDS // 2
        if k + 1 == _MOST_ROUNDS or time.monotonic() - started > _SECONDS[few] or (k and not patient and 2 * left > (at_first if few else before)):
            break
    return comparison


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
