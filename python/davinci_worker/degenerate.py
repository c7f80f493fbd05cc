"""Values at the end of what an input may hold, which a task's own draws hardly ever reach: a row of a mask that hides or shows all, a sequence or
group without elements, silence, a constant stretch, and a mean that is large beside the spread.

``degenerate`` has all of the first; ``degenerate_values`` those of floating inputs alone, ``degenerate_masks`` those of masks and lengths alone.
``large_mean`` has the last.
"""

import torch

from davinci_worker import structure

NAMES = ("degenerate", "degenerate_values", "degenerate_masks", "large_mean")
_ROWS = 16  # one in so many rows of a mask hides all, one shows all; one in half as many lengths is zero
_LEAST_STRETCH = 8  # elements; a shorter dimension has no silence
# Elements of a constant stretch: a loop that adds up more equal numbers rounds all of them to one side.
_MOST_ALIKE = 64
# Terms of a sum times the mean over the spread: a serial loop over more of them no longer sees the spread.
_MOST_OF_LOOP = 1 << 22
# Times the spread: a variance taken as a difference of squares is wrong in its first digits, and enough bits of the spread are left.
_MEAN = {torch.float64: 4096.0, torch.float32: 4096.0, torch.float16: 32.0, torch.bfloat16: 8.0}


class Habits:
    """What two draws of an input have in common, which is structure. ``alike``: all of it. ``begins``: a first number of zero, as begins of groups
    have."""

    def __init__(self, one=None, other=None):
        same = one is not None and one.shape == other.shape and one.numel() > 0
        self.alike = same and torch.equal(one, other)
        self.begins = same and one.dim() == 1 and not one.is_floating_point() and int(one[0]) == int(other[0]) == 0


    @classmethod
    def said(cls, entries):
        """As the specification has them."""
        made = cls()
        made.alike, made.begins = entries["varies"] != "drawn", bool(entries.get("from_zero"))
        return made


NONE = Habits()


def restyle(tensor, distribution, generator, sizes=(), habits=NONE, terms=0, said=None):
    """The tensor, or another of its kind, shape, strides and type. ``sizes``: of the dimensions of all inputs; ``terms``: how many numbers the
    reference sums up into one, about; ``said``: entries of its specification (specification.py)."""
    said = said or {}
    if tensor.numel() == 0 or tensor.dim() == 0 or said.get("values") in ("kept", "constant"):
        return tensor
    masks, values = distribution in ("degenerate", "degenerate_masks"), distribution in ("degenerate", "degenerate_values")
    pair = two_values(tensor) if said.get("values", "mask") == "mask" else None
    if pair is not None:
        return _mask(tensor, *pair, generator) if masks and not habits.alike and not is_one_hot(tensor) else tensor
    if not tensor.is_floating_point():
        return _counts(tensor, generator, said.get("values") or count_kind(tensor, sizes, habits.begins)) if masks and may_count(tensor) else tensor
    if distribution != "large_mean" and not values or said.get("values") == "mask":
        return tensor
    some = structure.sample(tensor)
    if "values" not in said and (not torch.isfinite(some).all() or structure.has_few_values(some)):
        return tensor
    kind = structure.Structure(tensor, said=said)
    if kind.is_bound:
        return tensor
    return kind.keep(_large_mean(tensor, some, generator, terms) if distribution == "large_mean" else _with_silence(tensor, generator))


def _uniform(shape, generator):
    return torch.rand(shape, generator=generator, device=generator.device)


def two_values(tensor):
    """The two values of a mask of any type, the lower one first; None of another tensor."""
    if tensor.dtype is torch.bool:
        low, high = torch.tensor(False, device=tensor.device), torch.tensor(True, device=tensor.device)
        return (low, high) if bool(tensor.any()) and not bool(tensor.all()) else None
    found = torch.unique(structure.sample(tensor))
    if found.numel() != 2 or tensor.numel() < structure.MIN_CONSTANT:
        return None
    low, high = found
    return (low, high) if all(bool(((part == low) | (part == high)).all()) for part in structure.blocks(tensor)) else None


def is_one_hot(tensor):
    rows = tensor != tensor.amin() if tensor.dtype is not torch.bool else tensor
    return tensor.shape[-1] > 1 and any(bool((rows.sum(axis) == 1).all()) for axis in {tensor.dim() - 1, 0})


def _mask(tensor, low, high, generator):
    """Some rows all of one value, some all of the other. In a square mask a triangle or diagonal of one value stays."""
    result = tensor.clone(memory_format=torch.preserve_format)
    if tensor.dim() == 1:
        return result.fill_(low if bool(_uniform((), generator) < 0.5) else high)
    count = tensor.numel() // tensor.shape[-1]
    order = _uniform((count,), generator).argsort().reshape(tensor.shape[:-1])  # a number for each row
    most = max(1, count // _ROWS)
    result[order < most] = low
    result[(order >= most) & (order < 2 * most)] = high
    if tensor.shape[-2] == tensor.shape[-1] > 1:
        whole = torch.ones(tensor.shape[-2:], dtype=torch.bool, device=tensor.device)
        for part in (whole.triu(1), whole.tril(-1), torch.eye(tensor.shape[-1], dtype=torch.bool, device=tensor.device)):
            own = tensor[..., part]
            if bool((own == low).all() | (own == high).all()):
                result[..., part] = own
    return result


def may_count(tensor):
    return not tensor.is_floating_point() and tensor.dtype is not torch.bool and tensor.dim() == 1 and tensor.numel() > 1


def count_kind(tensor, sizes, from_zero):
    """begins (of groups, where a first number of zero is habit), lengths, groups (that make up one of the ``sizes``), or kept: other whole numbers."""
    steps = tensor[1:] - tensor[:-1]
    if from_zero and bool((steps >= 0).all()) and int(steps.max()) > 1:
        return "begins"
    low, high = int(tensor.min()), int(tensor.max())
    if low < 1 or high > max(sizes, default=0) or tensor.numel() not in sizes:
        return "kept"
    if tensor.unique().numel() == tensor.numel() and high - low + 1 == tensor.numel():  # an order
        return "kept"
    return "groups" if int(tensor.sum()) in sizes else "lengths"


def _counts(tensor, generator, kind):
    """Lengths, of which some become zero; groups and their begins, of which one becomes empty. All other whole numbers stay."""
    steps = tensor[1:] - tensor[:-1]
    if kind == "begins":
        lengths = _one_empty(steps)
        return torch.cat([tensor[:1], lengths.cumsum(0).to(tensor.dtype)])
    if kind != "lengths":
        return _one_empty(tensor) if kind == "groups" else tensor
    count = max(1, 2 * tensor.numel() // _ROWS)
    places = _uniform((tensor.numel(),), generator).argsort()
    if bool((steps >= 0).all()):
        places = torch.arange(tensor.numel(), device=tensor.device)
    elif bool((steps <= 0).all()):
        places = torch.arange(tensor.numel(), device=tensor.device).flip(0)
    result = tensor.clone()
    result[places[:count]] = 0
    return result


def _one_empty(lengths):
    """The same sum, and no group larger than the largest: the smallest gives all to the next one."""
    order = lengths.argsort()
    give, take = order[0], order[min(1, lengths.numel() - 1)]
    if lengths.numel() < 3 or int(lengths[give] + lengths[take]) > int(lengths.max()):
        return lengths
    result = lengths.clone()
    result[take] += result[give]
    result[give] = 0
    return result


def _with_silence(tensor, generator):
    """Each sample at a loudness of its own, with a stretch of zeros and one of a constant along its longest dimension."""
    along = max(range(min(1, tensor.dim() - 1), tensor.dim()), key=lambda d: tensor.shape[d])
    length, samples = tensor.shape[along], tensor.shape[0] if tensor.dim() > 1 else 1
    result = tensor.clone(memory_format=torch.preserve_format)
    if length < _LEAST_STRETCH:
        return result
    shape = [1] * tensor.dim()
    shape[along] = length
    place = torch.arange(length, device=tensor.device).reshape(shape)
    shape[along], shape[0] = 1, samples

    def drawn(low, high):
        return low + (_uniform(shape, generator) * (high - low + 1)).long()

    if tensor.dim() > 1:
        result.mul_((2.0 ** -drawn(0, 2)).to(tensor.dtype))
    least = max(1, length // 16)  # what is long and all alike, once centred, a serial loop rounds to one side
    silent, same, gap = drawn(least, 2 * least), drawn(least, 2 * least).clamp(max=_MOST_ALIKE), drawn(1, least)
    after = (place - drawn(0, length - 1)) % length  # places behind the beginning of the silence
    constant = (after >= silent + gap) & (after < silent + gap + same)
    result.copy_(torch.where(constant, result.narrow(along, 0, 1), result))
    return result.masked_fill_(after < silent, 0)


def _large_mean(tensor, some, generator, terms):
    """All of it moved to one side by much more than its spread."""
    spread = some.double().std().item() if some.numel() > 1 else 0.0
    mean = spread * min(_MEAN[tensor.dtype], _MOST_OF_LOOP / max(terms, 1)) * (0.75 + 0.5 * _uniform((), generator).item())
    both_sides = bool((some < 0).any()) and bool((some > 0).any())
    if (both_sides and _uniform((), generator).item() < 0.5) or bool((some <= 0).all()):
        mean = -mean
    result = tensor.clone(memory_format=torch.preserve_format)
    return result if abs(mean) > torch.finfo(tensor.dtype).max / 16 else result.add_(mean)
