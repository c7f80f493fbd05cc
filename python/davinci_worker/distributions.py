"""Input distributions that tell a real implementation from one that is right by luck.

``own``: what the task draws. ``signed``: zero-mean and heavy-tailed, so that low precision, rank-1 answers and dropped
signs show. ``magnitudes``: from 1e-4 to 1e4 with repeated values, so that missing max-subtraction and overflow show.
"""

import ctypes
import math

import torch
from torch.overrides import TorchFunctionMode

from davinci_worker import native, packing

_MIN_KEYED = 1 << 14
_MIN_CONSTANT = 16  # elements
_SAMPLE = 4096
_CHUNK = 1 << 25  # elements; what is moved on a device moves in pieces, so that temporaries stay small
_LONGEST_ROW = 1 << 18  # elements; longer ones are no probabilities and no unit vectors
_COLUMNS = 64  # a last dimension so short may hold one quantity in each column
_MIN_ROWS = 8  # where all numbers of a column are whole, that is no coincidence; the same for elements that are in order
_MIN_SLICES = 4
# Of half precision a smaller factor would leave few bits.
_FAINT = {torch.float64: 2.0 ** -14, torch.float32: 2.0 ** -14, torch.bfloat16: 2.0 ** -14, torch.float16: 2.0 ** -8}
_MIN_MATRIX = 4  # rows; that the diagonal of a smaller one stands out may be by chance
_TOLERANCE = 1e-3


def _fill(function, tensor, key):
    function(ctypes.c_void_p(tensor.data_ptr()), ctypes.c_size_t(tensor.numel()), ctypes.c_uint64(key & 0xFFFFFFFFFFFFFFFF),
             ctypes.c_int(torch.get_num_threads()))
    return tensor


def keyed_uniform(tensor, key):
    """Overwrites a dense float32 host tensor (judge/draw/keyed_fill.h)."""
    return _fill(native.lib().dv_fill_uniform, tensor, key)


def keyed_normal(tensor, key):
    return _fill(native.lib().dv_fill_normal, tensor, key)


_KEYED = {torch.rand: keyed_uniform, torch.randn: keyed_normal}
# What a draw may say and still be one of float32 on the host.
_PLAIN = {"dtype": (torch.float32,), "device": (None, "cpu", torch.device("cpu")), "requires_grad": (False,)}


class KeyedDraws(TorchFunctionMode):
    """Inside, large float32 ``torch.rand`` and ``torch.randn`` on the host come from the judge's own keyed generator.

    Same distribution, several times as fast, and out of reach of whoever can guess torch's generator state.
    """

    def __init__(self, seed):
        super().__init__()
        self._seed = seed
        self._drawn = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in _KEYED and all(value in _PLAIN.get(name, ()) for name, value in kwargs.items()):
            size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
            try:
                dtype = kwargs.get("dtype", torch.get_default_dtype())
                tensor = torch.empty(size, dtype=dtype) if dtype is torch.float32 else None
            except TypeError:
                tensor = None
            if tensor is not None and tensor.numel() >= _MIN_KEYED:
                self._drawn += 1
                key = self._seed * 0x9E3779B97F4A7C15 + self._drawn
                return _KEYED[function](tensor, key)
        return function(*args, **kwargs)


# The bit that decides how a number is rounded to bfloat16.
_ROUNDING_BIT = {torch.float64: (torch.int64, 1 << 44), torch.float32: (torch.int32, 1 << 15), torch.float16: (torch.int16, 1 << 2)}


def round_down(tensor):
    """Moves numbers towards zero, in place, by half of what bfloat16 resolves at most, so that it rounds them all towards zero: its
    errors no longer cancel where products are summed up over all samples, while those of the tensor's own precision do. Plain
    sums of such numbers err one way, too, wherever a partial sum is a few hundred times as large."""
    if tensor.dtype in _ROUNDING_BIT:
        integers, bit = _ROUNDING_BIT[tensor.dtype]
        tensor.view(integers).bitwise_and_(~bit)
    return tensor


# Milder replacements, tried in order while the reference is mostly undefined on the stress inputs.
_LADDERS = {
    "signed": ("signed", "positive", "own"),
    "magnitudes": ("magnitudes", "magnitudes-mild", "positive", "own"),
}


def ladder(name):
    return _LADDERS.get(name, (name, "own"))


def _places(size, count, device):
    """Numbers of up to ``count`` of so many elements, always the same ones, from all over them: where a triangle of zeros begins or
    a batch is padded, the first would tell little."""
    if size <= count:
        return torch.arange(size, device=device)
    return torch.randint(size, (count,), generator=torch.Generator().manual_seed(size)).to(device)


def _sample(tensor):
    if tensor.numel() <= _SAMPLE:
        return tensor.reshape(-1)
    return tensor[packing.coordinates(_places(tensor.numel(), _SAMPLE, tensor.device), tensor.shape)]


def _sample_rows(tensor):
    """Some of the rows along the last dimension, up to where rows are too long to look at."""
    rows = tensor[..., :_LONGEST_ROW]
    if rows.dim() == 1:
        return rows[None]
    count = rows.numel() // rows.shape[-1]
    return rows[packing.coordinates(_places(count, max(4, _SAMPLE // rows.shape[-1]), rows.device), rows.shape[:-1])]


def _is_restylable(tensor):
    """Masks, indices, one-hot and lengths keep their own values: their meaning is in them."""
    if not tensor.is_floating_point() or tensor.numel() == 0:
        return False
    sample = _sample(tensor)
    if not torch.isfinite(sample).all():
        return False
    return sample.numel() < 16 or torch.unique(sample).numel() > 8


def _is_constant(tensor):
    if not tensor.is_floating_point() or tensor.numel() < _MIN_CONSTANT:
        return False
    sample = _sample(tensor)
    value = sample[0]
    return bool(torch.isfinite(value) & (sample == value).all()) and all(bool((part == value).all()) for part in _blocks(tensor))


def _unlike_constant(tensor, generator):
    """Zeros become numbers from 0 to 0.5, others lose up to half of themselves: a bias, a scale, a probability or a state stays one,
    and whoever has left it out because it never varied is wrong."""
    share = torch.rand(tensor.shape, generator=generator, device=tensor.device).mul_(0.5)
    return tensor + share.to(tensor.dtype) if tensor.reshape(-1)[0] == 0 else tensor * (1 - share).to(tensor.dtype)


def _blocks(tensor, together=0):
    """Views of about so many elements that make up the tensor; its last ``together`` dimensions are not taken apart."""
    if tensor.numel() <= _CHUNK or tensor.dim() <= together:
        yield tensor
    elif rows := _CHUNK // (tensor.numel() // tensor.shape[0]):
        yield from tensor.split(rows)
    else:
        for row in tensor.unbind(0):
            yield from _blocks(row, together)


def _strips(tensor):
    """Pairs of views of square matrices: some rows from the diagonal on, and what they would be in the transpose."""
    for block in _blocks(tensor, 2):
        size = block.shape[-1]
        step = max(1, _CHUNK // (block.numel() // size))
        for i in range(0, size, step):
            yield block[..., i:i + step, i:], block[..., i:, i:i + step].mT


def _wide(tensor):
    return torch.float64 if tensor.dtype is torch.float64 else torch.float32


def _tolerance(tensor):
    return max(_TOLERANCE, torch.finfo(tensor.dtype).eps)


def _whole(values):
    """Along the first dimension, are all of them whole numbers, and not for want of precision?"""
    exact = (values.abs() < 1 / torch.finfo(values.dtype).eps).float().mean(0) >= 0.01
    return (values == values.round()).all(0) & exact


def _sums(rows):
    return rows.sum(-1, dtype=_wide(rows))


def _norms(rows):
    return torch.linalg.vector_norm(rows, dim=-1, dtype=_wide(rows))


class _Structure:
    """What of a tensor's own values carries its meaning, so that other values must have it too: ids in a column, a triangle of zeros,
    symmetry, order, probabilities, unit vectors. A sample decides whether the whole tensor is looked at."""

    def __init__(self, own, constant=False):
        self._own = own
        self._columns, self._zeros, self.symmetric, self.dominated, self._order = [], False, False, False, 0
        length = own.shape[-1] if own.dim() else 0
        rows = _sample_rows(own) if length > 1 else None
        self._probabilities = 1 < length <= _LONGEST_ROW and self._holds(rows, lambda r: (r >= 0).all() & self._near_one(_sums(r)), 1)
        self._unit = 1 < length <= _LONGEST_ROW and not self._probabilities and self._holds(rows, lambda r: self._near_one(_norms(r)), 1)
        if constant:
            self.keeps_all = False
            return
        sample = _sample(own)
        self._zeros = self._has_zeros(sample)
        self.symmetric = own.dim() > 1 and own.shape[-2] == length > 1 and self._is_symmetric(sample)
        # A system that can be solved, or what is positive definite: no values but its own are sure to be one.
        self.dominated = own.dim() > 1 and own.shape[-2] == length >= _MIN_MATRIX and self._is_dominated()
        if length >= _MIN_ROWS and (rows[:, 0] != rows[:, -1]).float().mean() >= 0.5:
            if self._holds(rows, lambda r: (r[..., 1:] >= r[..., :-1]).all(), 1):
                self._order = 1
            elif self._holds(rows, lambda r: (r[..., 1:] <= r[..., :-1]).all(), 1):
                self._order = -1
        # Lengths and ids, and a matrix that would lose its symmetry or its sums for the other.
        self.keeps_all = self.symmetric and (self._probabilities or self._unit) or \
            self._holds(sample, lambda values: _whole(values.reshape(-1)) & (values.abs() > 1).any(), 0, lambda part: (part == part.round()).all())
        if not (self.keeps_all or self.symmetric or self._order or self._probabilities or self._unit) and own.dim() > 1 and \
                length <= _COLUMNS and own.numel() >= max(_MIN_CONSTANT, _MIN_ROWS * length):
            self._columns = [j for j in _whole(_sample_rows(own)).nonzero().flatten().tolist()
                             if all(bool((part == part.round()).all()) for part in _blocks(own[..., j]))]
            self.keeps_all = len(self._columns) == length

    def _holds(self, sample, of_sample, together, of_all=None):
        return bool(of_sample(sample)) and all(bool((of_all or of_sample)(part)) for part in _blocks(self._own, together))

    def _near_one(self, sizes):
        return ((sizes - 1).abs() <= _tolerance(self._own)).all()

    def _has_zeros(self, sample):
        if (sample == 0).float().mean() < 0.006:
            return False
        count = sum(int((part == 0).sum()) for part in _blocks(self._own))
        return 0.01 * self._own.numel() <= count < self._own.numel()

    def _is_symmetric(self, sample):
        own, scale = self._own, sample.abs().mean(dtype=_wide(sample)) / 10
        *batch, i, j = packing.coordinates(_places(own.numel(), _SAMPLE, own.device), own.shape)

        def alike(a, b):
            return ((a - b).abs() <= _tolerance(own) * (a.abs() + b.abs() + scale)).all()

        return bool(alike(own[(*batch, i, j)], own[(*batch, j, i)])) and all(bool(alike(a, b)) for a, b in _strips(own))

    def _is_dominated(self):
        """Is the largest element of every row the one on the diagonal?"""
        diagonal = self._own.diagonal(dim1=-2, dim2=-1)
        at = packing.coordinates(_places(diagonal.numel(), max(_MIN_MATRIX, _SAMPLE // diagonal.shape[-1]), diagonal.device), diagonal.shape)

        def stands_out(rows, values):
            return ((rows.abs() >= values.abs()[..., None]).sum(-1) == 1).all()

        return bool(stands_out(self._own[at], diagonal[at])) and all(
            bool(stands_out(part, part.diagonal(dim1=-2, dim2=-1))) for part in _blocks(self._own, 2))

    def keep(self, result):
        """Other values, in place, of the same structure."""
        rows = self._probabilities or self._unit or self._order
        for part, opposite in _strips(result) if self.symmetric else ():
            mean = (part * 0.5).add_(opposite, alpha=0.5)
            part.copy_(mean)
            opposite.copy_(mean)
        for part, own in zip(_blocks(result, bool(rows)), _blocks(self._own, bool(rows))) if rows or self._zeros else ():
            if self._probabilities:
                part.abs_()
            if self._zeros:
                if self._order:
                    part.copysign_(own)  # so that the zeros are where they were
                part.masked_fill_(own == 0, 0)
            if self._order:
                part.copy_(part.sort(dim=-1, descending=self._order < 0).values)
            if self._probabilities or self._unit:
                size = (_sums(part) if self._probabilities else _norms(part))[..., None]
                part.copy_(torch.where(size > 0, part / size, own))
        for j in self._columns:
            result[..., j] = self._own[..., j]
        return result


def _empty_like(tensor):
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)


def restyle(tensor, distribution, generator, coarse=False):
    """A tensor of the same shape, strides, dtype and device under another distribution. ``coarse``: bfloat16 rounds it all one way."""
    down = round_down if coarse else lambda tensor: tensor
    if distribution in ("signed", "outliers") and _is_constant(tensor):
        return _Structure(tensor, constant=True).keep(down(_varied(tensor, distribution, generator)))
    if not _is_restylable(tensor) or (distribution == "outliers" and tensor.dim() == 0):
        return tensor
    structure = _Structure(tensor)
    if structure.keeps_all or structure.dominated:
        return tensor
    return structure.keep(down(_with_outliers(tensor, generator) if distribution == "outliers" else _redrawn(tensor, distribution, generator)))


def _varied(tensor, distribution, generator):
    """What is constant varies everywhere, which one look at it tells, or (outliers) in a few places, which only who reads it all sees."""
    if distribution == "signed":
        return _empty_like(tensor).copy_(_unlike_constant(tensor, generator))
    result = _empty_like(tensor).copy_(tensor)
    at = torch.randint(tensor.numel(), (4 + tensor.numel() // 1000,), generator=generator, device=tensor.device)
    at = packing.coordinates(at, tensor.shape)
    result[at] = _unlike_constant(tensor[at], generator)
    return result


def _redrawn(tensor, distribution, generator):
    result = _empty_like(tensor)
    for part in _pieces(result):
        values = _values(distribution, tuple(part.shape), generator, part.device)
        limit = min(torch.finfo(tensor.dtype).max, torch.finfo(values.dtype).max) / 4
        if values.dtype is part.dtype:
            torch.clamp(values, -limit, limit, out=part)
        else:
            part.copy_(values.clamp_(-limit, limit))
    return result


def _with_outliers(tensor, generator):
    """The task's own values but for a few of 10 to 300, and slices near zero, in which an epsilon counts: who looks at a sample of them
    does not know what is among them."""
    result = _empty_like(tensor).copy_(tensor)
    count, device = 4 + tensor.numel() // 100_000, tensor.device
    at = torch.randint(tensor.numel(), (count,), generator=generator, device=device)
    values = 10.0 ** (1.0 + 1.5 * torch.rand(count, generator=generator, device=device))
    values = values.copysign_(torch.randn(count, generator=generator, device=device))
    result[packing.coordinates(at, tensor.shape)] = values.to(tensor.dtype)
    for dimension, size in enumerate(tensor.shape[:2]):  # a sample, and a channel
        if size >= _MIN_SLICES and tensor.dim() > 1:
            for k in torch.randint(size, (1 + size // 256,), generator=generator, device=device).tolist():
                result.select(dimension, k).mul_(_FAINT[tensor.dtype])
    return result


def fingerprint(tensors):
    """A sample of every tensor that may have other values, None for the rest."""
    return [_sample(t).clone() if _is_restylable(t) else None for t in tensors]


def never_vary(some, others):
    """Have inputs of two seeds the same fingerprint, and anything that could differ?"""
    return len(some) == len(others) and any(t is not None for t in some) and all(
        a is b if a is None or b is None else torch.equal(a, b) for a, b in zip(some, others))


def scaled(tensor, seed):
    """The own values of a task that always draws the same ones, each times a number from 0.75 to 1.25."""
    structure = _Structure(tensor) if _is_restylable(tensor) else None
    if structure is None or structure.keeps_all:
        return tensor
    result, low, high = _empty_like(tensor), 0.75, 1.25
    if structure.symmetric:  # rows and columns alike: what is positive definite stays so
        low, high = math.sqrt(low), math.sqrt(high)
        factor = uniform(tensor.shape[:-1], seed, tensor.device).mul_(high - low).add_(low).to(tensor.dtype)
        torch.mul(tensor, factor[..., None], out=result).mul_(factor[..., None, :])
    else:
        for k, (part, own) in enumerate(zip(_blocks(result), _blocks(tensor))):
            factor = uniform(own.shape, seed + (k << 40), own.device).mul_(high - low).add_(low)
            torch.mul(own, factor.to(own.dtype), out=part)
    return structure.keep(result)


def _values(distribution, size, generator, device):
    def draw(function):
        if device.type != "cpu" or torch.get_default_dtype() is not torch.float32:
            return function(size, generator=generator, device=device)
        return _KEYED[function](torch.empty(size), int(torch.randint(1 << 62, (), generator=generator)))

    def normal():
        return draw(torch.randn)

    def uniform():
        return draw(torch.rand)

    if distribution == "signed":
        return normal().mul_(normal().mul_(0.75).exp_())
    if distribution == "positive":
        return uniform() * 2.0 + 1e-3
    if distribution in ("magnitudes", "magnitudes-mild"):
        top = 4.0 if distribution == "magnitudes" else 1.0
        values = uniform().mul_(top + 4.0).sub_(4.0).mul_(math.log(10.0)).exp_()
        return torch.where(uniform() < 0.7, normal(), values.copysign_(normal()))
    raise ValueError(f"unknown distribution {distribution}")


def uniform(shape, seed, device):
    """float32 from [0, 1), the same for the same seed; the default generators are left alone."""
    if device.type == "cpu":
        return keyed_uniform(torch.empty(shape, dtype=torch.float32), seed)
    return torch.rand(shape, generator=torch.Generator(device=device).manual_seed(seed), device=device)


def nudge(tensor, seed, widen, precision=None):
    """Inputs moved by up to half a unit in the last place of their own precision: what rounding alone can do."""
    if not tensor.is_floating_point():
        return tensor.clone()
    eps = torch.finfo(tensor.dtype).eps
    if precision == "tf32" and tensor.dtype is torch.float32:
        eps = 2.0 ** -10  # the task accepts products of inputs with ten bits of mantissa
    if tensor.device.type == "cuda" and _is_dense(tensor):
        from davinci_worker import device

        wide = device.nudged(tensor, seed, eps)
        return wide if widen else wide.to(tensor.dtype)
    wide = tensor.double() if tensor.dtype is not torch.float64 else tensor.clone(memory_format=torch.preserve_format)
    for k, part in enumerate(_pieces(wide)):
        noise = uniform(part.shape, seed + (k << 40), part.device)
        moved = part.addcmul(part, noise.sub_(0.5).double(), value=eps)
        part.copy_(torch.where(part.isinf(), part, moved))  # infinity times a negative number would be NaN
    return wide if widen else wide.to(tensor.dtype)


def _is_dense(tensor):
    """Do its elements lie behind one another, in whatever order?"""
    span = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size > 1 and stride != span:
            return False
        span *= max(size, 1)
    return True


def _pieces(tensor):
    """Views that make up the tensor; on the host, and where it is not contiguous, the tensor itself."""
    return (tensor,) if tensor.device.type == "cpu" or not tensor.is_contiguous() else tensor.view(-1).split(_CHUNK)
