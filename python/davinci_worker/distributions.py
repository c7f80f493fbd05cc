"""Input distributions that tell a real implementation from one that is right by luck.

``own``: what the task draws. ``signed``: zero-mean and heavy-tailed, so that low precision, rank-1 answers and dropped
signs show. ``magnitudes``: from 1e-4 to 1e4 with repeated values, so that missing max-subtraction and overflow show. ``outliers``:
own values but for a few large ones, the last among them, and slices that are zero or nearly so. ``faint``: own values, all of them small.
"""

import ctypes
import math

import torch

from davinci_worker import degenerate, keyed_draws, native, packing, structure

_NOTHING = {}  # is said of an input: all of it is looked at (specification.py)
_MIN_SLICES, _MOST_SLICES = 4, 64
_PIECE = 1 << 25  # elements drawn in one go: temporaries stay small
_FEW_EDGES = 4
_NEAR_EDGE = 1e-2
_STEP = 0.02  # of a slow random walk: the chance to go anywhere
# Of half precision a smaller factor would leave few bits.
_FAINT = {torch.float64: 2.0 ** -14, torch.float32: 2.0 ** -14, torch.bfloat16: 2.0 ** -14, torch.float16: 2.0 ** -8}


# The bits that decide how a number is rounded to bfloat16, and to TF32.
_ROUNDING_BITS = {torch.float64: (torch.int64, 1 << 44 | 1 << 41), torch.float32: (torch.int32, 1 << 15 | 1 << 12), torch.float16: (torch.int16, 1 << 2)}


def round_down(tensor):
    """Moves numbers towards zero, in place, by little more than half of what bfloat16 resolves at most, so that bfloat16 and TF32 round
    them all towards zero: their errors no longer cancel where products are summed up over all samples, while those of the tensor's own
    precision do. Plain sums of such numbers err one way, too, wherever a partial sum is a few hundred times as large."""
    if tensor.dtype in _ROUNDING_BITS:
        integers, bits = _ROUNDING_BITS[tensor.dtype]
        tensor.view(integers).bitwise_and_(~bits)
    return tensor


# Milder replacements, tried in order while the reference is mostly undefined on the stress inputs.
_LADDERS = {
    "heavy_tailed": ("heavy_tailed", "heavy_tailed_sided", "positive", "task"),
    "log_uniform": ("log_uniform", "log_uniform_mild", "positive", "task"),
    "outliers": ("outliers", "outliers_small", "boundary", "task"),
    "degenerate": ("degenerate", "degenerate_values", "degenerate_masks", "task"),
}
_LAST = 0.93  # the last outlier is above this share of their range, the others below
_NEAR_OWN = ("outliers", "outliers_small", "boundary")
VARYING = ("heavy_tailed", "heavy_tailed_sided", "outliers", "outliers_small")  # in which what the task draws alike every time is drawn otherwise


# A softmax underflows to zeros, even in float64; all probabilities are alike; slices of zeros, equal values; few bits that differ.
_TYING = ("log_uniform", "small_scale", "outliers", "boundary", *degenerate.NAMES)


def ladder(name, selects=False):
    """``selects``: the reference picks the largest of something. Which of several equal ones is decided by their order."""
    return tuple(rung for rung in _LADDERS.get(name, (name, "task")) if not (selects and rung in _TYING))


def is_restylable(tensor, said=_NOTHING):
    """Masks, indices, one-hot and lengths keep their own values: their meaning is in them."""
    if "values" in said:
        return said["values"] in ("free", "system")
    if not tensor.is_floating_point() or tensor.numel() == 0:
        return False
    some = structure.sample(tensor)
    if not torch.isfinite(some).all():
        return False
    return not structure.has_few_values(some)


def is_constant(tensor, said=_NOTHING):
    if "values" in said:
        return said["values"] == "constant"
    if not (tensor.is_floating_point() or tensor.dtype is torch.bool) or tensor.numel() < structure.MIN_CONSTANT:
        return False
    some = structure.sample(tensor)
    value = some[0]
    return bool(torch.isfinite(value) & (some == value).all()) and all(bool((part == value).all()) for part in structure.blocks(tensor))


def _unlike_constant(tensor, generator):
    """Zeros become numbers from 0 to 0.5, others lose up to half of themselves: a bias, a scale, a probability or a state stays one,
    and a kernel that leaves it out is wrong. Of a mask an eighth flips."""
    if tensor.dtype is torch.bool:
        return tensor ^ (torch.rand(tensor.shape, generator=generator, device=tensor.device) < 0.125)
    share = torch.rand(tensor.shape, generator=generator, device=tensor.device).mul_(0.5)
    return tensor + share.to(tensor.dtype) if tensor.reshape(-1)[0] == 0 else tensor * (1 - share).to(tensor.dtype)


def other_numbers(value, generator):
    """What a task passes beside tensors, with other Python floats, as ``_unlike_constant`` makes them; whole numbers, names and flags stay."""
    def other(leaf):
        if type(leaf) is not float or not math.isfinite(leaf):
            return leaf
        share = 0.5 * torch.rand((), generator=generator, device=generator.device).item()
        return share if leaf == 0 else leaf * (1 - share)

    return packing.with_leaves(value, other)


def _empty_like(tensor):
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)


def restyle(tensor, distribution, generator, coarse=False, said=_NOTHING):
    """A tensor of the same shape, strides, dtype and device under another distribution. ``coarse``: bfloat16 and TF32 round it all one way.
    ``said``: entries of its specification."""
    down = round_down if coarse else lambda tensor: tensor
    if distribution in VARYING and is_constant(tensor, said):
        varied = down(_varied(tensor, distribution, generator))
        return varied if tensor.dtype is torch.bool else structure.Structure(tensor, True, said).keep(varied)
    if not is_restylable(tensor, said) or (distribution in _NEAR_OWN and tensor.dim() == 0):
        return tensor
    kind = structure.Structure(tensor, said=said)
    if kind.solvable and not kind.keeps_all and distribution in ("heavy_tailed", "heavy_tailed_sided"):
        return kind.other_system(generator)
    if kind.keeps_all or kind.solvable:
        return tensor
    if distribution == "small_scale":
        return kind.keep(tensor * _FAINT[tensor.dtype])
    result = kind.keep(down(_with_outliers(tensor, distribution, generator, said) if distribution in _NEAR_OWN
                            else _redrawn(tensor, distribution, generator, said)))
    if distribution == "log_uniform" and kind.is_walk:  # one that mixes slowly: who stops after some steps is wrong
        result.mul_(_STEP).diagonal(dim1=-2, dim2=-1).add_(1 - _STEP)
    return result


def with_fractions(tensor, generator):
    """Whole numbers and masks of floating type, each a quarter to a half larger in size (zeros stay) and with all bits of its precision: where nothing
    but such numbers is multiplied, lower precision is exact."""
    share = torch.rand(tensor.shape, generator=generator, device=tensor.device).mul_(0.25).add_(0.25)
    return tensor + tensor * share.to(tensor.dtype)


def _varied(tensor, distribution, generator):
    """What is constant varies everywhere, which one look at it tells, or (outliers) in a few places, which only who reads it all sees."""
    if distribution in ("heavy_tailed", "heavy_tailed_sided"):
        return _empty_like(tensor).copy_(_unlike_constant(tensor, generator))
    result = _empty_like(tensor).copy_(tensor)
    at = torch.randint(tensor.numel(), (4 + tensor.numel() // 1000,), generator=generator, device=tensor.device)
    at = packing.coordinates(at, tensor.shape)
    result[at] = _unlike_constant(tensor[at], generator)
    return result


def side(tensor, said=_NOTHING):
    """1 or -1 where no value is on the other side of zero, as of a time step or a rate of decay; else None."""
    if "sign" in said:
        return {"positive": 1, "negative": -1, "any": None}[said["sign"]]
    some = structure.sample(tensor)
    return 1 if (some >= 0).all() else -1 if (some <= 0).all() else None


def _redrawn(tensor, distribution, generator, said=_NOTHING):
    """``sided``: as ``signed``, but what has one sign keeps it."""
    result = _empty_like(tensor)
    sign = side(tensor, said) if distribution == "heavy_tailed_sided" else None
    for part in _pieces(result):
        values = stress_values("heavy_tailed" if distribution == "heavy_tailed_sided" else distribution, tuple(part.shape), generator, part.device)
        if sign is not None:
            values.abs_().mul_(sign)
        limit = min(torch.finfo(tensor.dtype).max, torch.finfo(values.dtype).max) / 4
        if values.dtype is part.dtype:
            torch.clamp(values, -limit, limit, out=part)
        else:
            part.copy_(values.clamp_(-limit, limit))
    return result


def _with_outliers(tensor, distribution, generator, said=_NOTHING):
    """The task's own values but for a few of 10 to 300 (where all are of one sign, of that), slices near zero, in which an epsilon
    counts, and one of zeros (``outliers-faint``: none): who looks at a sample of them does not know what is among them. The last one is the largest,
    so that who leaves out a tail is wrong. ``edges``: none is large, a few are as small and as large as they may be."""
    result = _empty_like(tensor).copy_(tensor)
    device = tensor.device

    def places(count):
        return torch.randint(tensor.numel(), (count,), generator=generator, device=device)

    for dimension, size in enumerate(tensor.shape[:2]):  # a sample, and a channel
        if size >= _MIN_SLICES and tensor.dim() > 1:
            chosen = torch.randint(size, (min(1 + size // 256, _MOST_SLICES),), generator=generator, device=device)
            result.index_copy_(dimension, chosen, result.index_select(dimension, chosen).mul_(_FAINT[tensor.dtype]))
            if size >= 2 * _MIN_SLICES and distribution != "outliers_small":
                result.select(dimension, int(torch.randint(size, (), generator=generator, device=device))).zero_()
    if distribution == "boundary":
        for bound in _bounds(tensor):
            result[packing.coordinates(places(_FEW_EDGES), tensor.shape)] = bound
        return result
    at = torch.cat([places(4 + tensor.numel() // 100_000), torch.tensor([tensor.numel() - 1], device=device)])
    share = torch.rand(at.numel(), generator=generator, device=device)
    share.mul_(_LAST)
    share[-1] = _LAST + (1 - _LAST) / _LAST * share[-1]  # not alike in two inputs: a reference may take their difference
    values = 10.0 ** (1.0 + 1.5 * share)
    sign = side(tensor, said)
    values = values.mul_(sign) if sign is not None else values.copysign_(torch.randn(at.numel(), generator=generator, device=device))
    result[packing.coordinates(at, tensor.shape)] = values.to(tensor.dtype)
    return result


def _bounds(tensor):
    """Whole numbers right below and above all of its values: of a probability 0 and 1, of a normal number none."""
    some = structure.sample(tensor).double()
    low, high = some.min(), some.max()
    return [float(whole) for whole, end in ((low.floor(), low), (high.ceil(), high)) if (whole - end).abs() < _NEAR_EDGE]


def fingerprint(tensors):
    """A sample of every tensor that may have other values, None for the rest."""
    return [structure.sample(t).clone() if is_restylable(t) else None for t in tensors]


def never_vary(some, others):
    """Places of the inputs that could differ and whose fingerprints are the same for two seeds. A few numbers, such as a temperature, are
    counted only where nothing else varies either."""
    same = [i for i, (a, b) in enumerate(zip(some, others)) if a is not None and b is not None and torch.equal(a, b)]
    nothing_varies = len(same) == sum(a is not None or b is not None for a, b in zip(some, others))
    return frozenset(i for i in same if nothing_varies or some[i].numel() >= structure.MIN_CONSTANT)


def fixed_whole(some, others):
    """Places of the inputs of whole numbers that are the same for two seeds: lengths, positions, segments."""
    return frozenset(i for i, (a, b) in enumerate(zip(some, others)) if has_other_whole(a) and torch.equal(a, b))


def has_other_whole(tensor):
    """Is it of a type and shape that ``other_whole`` knows?"""
    return tensor.dim() > 0 and not tensor.is_floating_point() and tensor.dtype is not torch.bool and 1 < tensor.shape[-1] \
        and tensor.numel() <= _PIECE


def other_whole(tensor, generator, sizes=()):
    """Other numbers that mean the same, along the last dimension: lengths become shorter, groups that make up one of the ``sizes`` of the
    inputs larger and smaller, positions (0, 1, 2 …) change places, segments (0, 0, 1, 1, 1 …) their sizes. All others stay."""
    rows, device = tensor.reshape(-1, tensor.shape[-1]), tensor.device
    steps = rows[:, 1:] - rows[:, :-1]
    if (rows == rows[0, 0]).all():
        if rows[0, 0] <= 1:
            return tensor
        if int(rows[0].sum()) in sizes:
            half = rows.shape[-1] // 2
            moved = torch.randint(0, int(rows[0, 0]), (len(rows), half), generator=generator, device=device, dtype=tensor.dtype)
            result = rows.clone()
            result[:, :half] += moved
            result[:, -half:] -= moved
            return result.reshape(tensor.shape)
        return torch.randint(1, int(rows[0, 0]) + 1, tensor.shape, generator=generator, device=device, dtype=tensor.dtype)
    if (steps == 1).all():
        order = torch.rand(rows.shape, generator=generator, device=device).argsort(-1)
        return rows.gather(-1, order).reshape(tensor.shape)
    if ((steps == 0) | (steps == 1)).all():  # segments may begin earlier or later, and none is left out
        begins = 1 + torch.rand(steps.shape, generator=generator, device=device).argsort(-1)
        starts = torch.zeros_like(rows)
        starts.scatter_(-1, begins, (torch.arange(steps.shape[-1], device=device) < (steps == 1).sum(-1, keepdim=True)).to(rows.dtype))
        return (rows[:, :1] + starts.cumsum(-1)).to(tensor.dtype).reshape(tensor.shape)
    return tensor


def scaled(tensor, seed, said=_NOTHING):
    """The own values of an input that a task always draws alike, each times a number from 0.75 to 1.25."""
    kind = structure.Structure(tensor, said=said) if is_restylable(tensor, said) else None
    if kind is None or kind.keeps_all:
        return tensor
    result, low, high = _empty_like(tensor), 0.75, 1.25
    if kind.symmetric:  # rows and columns alike: what is positive definite stays so
        low, high = math.sqrt(low), math.sqrt(high)
        factor = uniform(tensor.shape[:-1], seed, tensor.device).mul_(high - low).add_(low).to(tensor.dtype)
        torch.mul(tensor, factor[..., None], out=result).mul_(factor[..., None, :])
    else:
        for k, (part, own) in enumerate(zip(structure.blocks(result), structure.blocks(tensor))):
            factor = uniform(own.shape, seed + (k << 40), own.device).mul_(high - low).add_(low)
            torch.mul(own, factor.to(own.dtype), out=part)
    return kind.keep(result)


def stress_values(distribution, size, generator, where):
    """Numbers of the default floating type on the device ``where``, which is the generator's."""
    single = torch.get_default_dtype() is torch.float32
    if where.type == "cuda" and single:
        from davinci_worker import device

        return device.stress(size, distribution, int(torch.randint(1 << 62, (), generator=generator, device=where)))

    def draw(function):
        if where.type != "cpu" or not single:
            return function(size, generator=generator, device=where)
        return keyed_draws.KEYED[function](torch.empty(size), int(torch.randint(1 << 62, (), generator=generator)))

    def normal():
        return draw(torch.randn)

    def uniform():
        return draw(torch.rand)

    if distribution == "heavy_tailed":
        return normal().mul_(normal().mul_(0.75).exp_())
    if distribution == "positive":
        return uniform() * 2.0 + 1e-3
    if distribution in ("log_uniform", "log_uniform_mild"):
        top = 4.0 if distribution == "log_uniform" else 1.0
        values = uniform().mul_(top + 4.0).sub_(4.0).mul_(math.log(10.0)).exp_()
        return torch.where(uniform() < 0.7, normal(), values.copysign_(normal()))
    raise ValueError(f"unknown distribution {distribution}")


def uniform(shape, seed, device):
    """float32 from [0, 1), the same for the same seed; the default generators are left alone."""
    if device.type == "cpu":
        return keyed_draws.keyed_uniform(torch.empty(shape, dtype=torch.float32), seed)
    return torch.rand(shape, generator=torch.Generator(device=device).manual_seed(seed), device=device)


def nudge(tensor, seed, widen, precision=None):
    """Inputs moved by up to half a unit in the last place of their own precision: what rounding alone can do. Whole numbers in single and
    double precision stay, since they may be ids that a reference truncates."""
    if not tensor.is_floating_point():
        return tensor.clone()
    eps = torch.finfo(tensor.dtype).eps
    if precision == "tf32" and tensor.dtype is torch.float32:
        eps = 2.0 ** -10  # the task accepts products of inputs with ten bits of mantissa
    if tensor.device.type == "cuda" and _is_dense(tensor):
        from davinci_worker import device

        wide = device.nudged(tensor, seed, eps)
        return wide if widen else wide.to(tensor.dtype)
    if tensor.device.type == "cpu" and tensor.dtype is torch.float32 and _is_dense(tensor):
        wide = torch.empty_like(tensor, dtype=torch.float64, memory_format=torch.preserve_format)
        native.lib().dv_nudge_floats(
            ctypes.c_void_p(tensor.data_ptr()), ctypes.c_size_t(tensor.numel()), ctypes.c_double(eps),
            ctypes.c_uint64(seed & 0xFFFFFFFFFFFFFFFF), ctypes.c_void_p(wide.data_ptr()), ctypes.c_int(torch.get_num_threads()))
        return wide if widen else wide.to(tensor.dtype)
    wide = tensor.double() if tensor.dtype is not torch.float64 else tensor.clone(memory_format=torch.preserve_format)
    for k, part in enumerate(_pieces(wide)):  # in place, so that temporaries stay small
        noise = uniform(part.shape, seed + (k << 40), part.device)
        moved = part.addcmul(part, noise.sub_(0.5).double(), value=eps)
        stays = part.isinf()  # infinity times a negative number would be NaN
        if tensor.dtype in (torch.float32, torch.float64):
            stays |= part.round() == part
        part.copy_(torch.where(stays, part, moved))
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
    """Views that make up the tensor; where it is small or not contiguous, the tensor itself."""
    return (tensor,) if tensor.numel() <= _PIECE or not tensor.is_contiguous() else tensor.view(-1).split(_PIECE)
