"""Who is chosen is decided by scores: an index is right where the reference's own score there is as good as the best, within what rounding does
to the scores.

Honest kernels round scores otherwise (squared differences instead of the expanded square, another order of a sum), so near ties fall otherwise,
and so does all that follows from the index. An answer in doubt is therefore held against the truth for its own choices: the float64 twin is run
once more, and picks what the candidate has picked wherever that is allowed. Choices that the candidate does not return are tried: the second
best and the third best, where they are allowed.
"""

import copy
import itertools

import torch

from davinci_worker.rounding import EagerMode

_ATEN = torch.ops.aten
_BEST = {_ATEN.argmin.default: False, _ATEN.argmax.default: True}  # is the largest chosen?
_BEST_OF = {_ATEN.min.dim: False, _ATEN.max.dim: True}
_SORTS = (_ATEN.sort.default, _ATEN.sort.stable)  # the second is the first where it is not asked to be stable
_CHOOSE = frozenset((*_BEST, *_BEST_OF, *_SORTS, _ATEN.topk.default))
_AS_HONEST = 4  # times the largest error of the reference's own scores in the row
_ULPS = 2  # of the largest score of a row, at least, where scores are rounded at all
_ALTERNATIVES = (1, 2)
_MOST_SCORES = 1 << 26  # several copies of them are held at once


class _Choice:
    """One choice of a forward: along ``dim`` of the scores, the first ``count`` from the best on, which are all of them for a sort."""

    def __init__(self, func, args, kwargs):
        self.scores, self.largest = args[0], _BEST.get(func, _BEST_OF.get(func))
        named = {**dict(zip(("dim", "keepdim"), args[1:])), **kwargs}
        self.dim, self.keeps, self.count = named.get("dim"), bool(named.get("keepdim")), 1
        if func is _ATEN.topk.default:
            named = {"dim": -1, "largest": True, **dict(zip(("k", "dim", "largest", "sorted"), args[1:])), **kwargs}
            self.dim, self.largest, self.keeps, self.count = named["dim"], named["largest"], True, named["k"]
        if func in _SORTS:
            named = {"dim": -1, "descending": False, **dict(zip(("dim", "descending"), args[1:])), **kwargs}
            self.dim, self.largest, self.keeps, self.count = named["dim"], named["descending"], True, args[0].shape[named["dim"]] if args[0].dim() else 1
        if self.dim is None:
            self.scores, self.dim, self.keeps = self.scores.reshape(-1), 0, False
        self.with_values = func not in _BEST

    @property
    def is_usable(self):
        return self.scores.is_floating_point() and self.scores.dim() > 0 and 0 < self.scores.numel() <= _MOST_SCORES

    def kept(self, indices):
        """With the dimension of the choice."""
        return indices if self.keeps else indices.unsqueeze(self.dim)

    def result(self, indices):
        """What the operator returns for these indices, which have the dimension."""
        values = self.scores.gather(self.dim, indices)
        if not self.keeps:
            indices, values = indices.squeeze(self.dim), values.squeeze(self.dim)
        return (values, indices) if self.with_values else indices

    def ranked(self, rank, indices):
        """Instead of the own indices those of the choice that is so many ranks worse."""
        size = self.scores.shape[self.dim]
        order = self.scores.topk(min(size, self.count + rank), self.dim, largest=self.largest).indices
        others = order.narrow(self.dim, min(rank, size - self.count), self.count)
        if self.count == 1:
            return others
        # Of several the last one is in question: the one behind it takes its place.
        return torch.cat([indices.narrow(self.dim, 0, self.count - 1), others.narrow(self.dim, self.count - 1, 1)], self.dim)

    def allowed(self, wanted, indices, tolerance):
        """Where the score of ``wanted`` is as good as that of ``indices``, and no place is taken twice."""
        gap = (self.scores.gather(self.dim, wanted) - self.scores.gather(self.dim, indices)).abs()
        good = (gap < tolerance) | (wanted == indices)
        if self.count > 1:
            order = wanted.sort(self.dim).values
            twice = (order.narrow(self.dim, 1, self.count - 1) == order.narrow(self.dim, 0, self.count - 1)).any(self.dim, keepdim=True)
            good = good.all(self.dim, keepdim=True) & ~twice
        return good


class _Watched(EagerMode):
    """While active, choices are noted in ``made``, [(choice, indices with the dimension)], and ``pick(number, choice, indices)`` may put others in
    their place."""

    def __init__(self, pick=None):
        super().__init__()
        self.made, self._pick = [], pick

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func not in _CHOOSE or (kwargs or {}).get("stable"):
            return result
        choice = _Choice(func, args, kwargs or {})
        if not choice.is_usable:
            return result
        indices = choice.kept(result if func in _BEST else result[1])
        if self._pick is not None:
            indices = self._pick(len(self.made), choice, indices)
            result = choice.result(indices)
        self.made.append((choice, indices))
        return result


def steered(truth, tensors, precise, own):
    """``truth`` for the choices behind ``tensors``, or None where the reference makes none. ``precise`` and ``own``: functions that run the
    float64 twin and the reference itself, and return their tensors."""
    with _Watched() as watch:
        precise()
    made = watch.made
    if not made:
        return None

    def as_in_truth(number, choice, indices):
        return made[number][1] if number < len(made) and made[number][1].shape == indices.shape else indices

    with _Watched(as_in_truth) as rough:
        own()
    if len(rough.made) != len(made):
        return None
    tolerances = [_tolerance(exact, other) for (exact, _), (other, _) in zip(made, rough.made)]
    wanted = _returned(truth, tensors, made)

    def run(rank):
        def pick(number, choice, indices):
            if number >= len(made) or tolerances[number] is None or made[number][1].shape != indices.shape:
                return indices
            other = wanted[number] if number in wanted else choice.ranked(rank, indices) if rank else indices
            return torch.where(choice.allowed(other, indices, tolerances[number]), other, indices)

        with _Watched(pick):
            return precise()

    hidden = any(number not in wanted and tolerance is not None for number, tolerance in enumerate(tolerances))
    answers = [run(rank) for rank in ((0, *_ALTERNATIVES) if hidden else (0,))]
    result = copy.copy(truth)
    result.outputs = [_nearest(output, tensor, others) for output, tensor, *others in zip(truth.outputs, tensors, *answers)]
    return result


def _tolerance(exact, rough):
    """By how much a score may be worse than the best of its row; None where scores are exact, so that there are no near ties."""
    if exact.scores.shape != rough.scores.shape:
        return None
    scores, dim = exact.scores.double(), exact.dim
    error = (rough.scores.double() - scores).abs().nan_to_num(0, 0, 0).amax(dim, keepdim=True)
    size = scores.abs().nan_to_num(0, 0, 0).amax(dim, keepdim=True)
    if not error.any():
        return None
    usual = (error / size).nan_to_num(0, 0, 0).median()
    return torch.maximum(_AS_HONEST * torch.maximum(error, usual * size), _ULPS * torch.finfo(rough.scores.dtype).eps * size)


def _returned(truth, tensors, made):
    """number of a choice: the indices that the candidate returns for it, with the dimension."""
    found = {}
    for (number, (choice, indices)), (output, tensor) in itertools.product(enumerate(made), zip(truth.outputs, tensors)):
        if number in found or output.truth.is_floating_point() or output.truth.numel() != indices.numel() or tensor.dtype is torch.bool:
            continue
        bare = choice.result(indices)
        bare = bare[1] if choice.with_values else bare
        if torch.equal(output.truth.reshape(-1), bare.reshape(-1)):
            taken = tensor.reshape(bare.shape).to(torch.int64).clamp(0, choice.scores.shape[choice.dim] - 1)
            found[number] = choice.kept(taken)
    return found


def _nearest(output, tensor, others):
    """The output with, element by element, the nearest to ``tensor`` of the truths for several choices."""
    got = output.stored(tensor).double() if output.truth.is_floating_point() else tensor.to(torch.int64)
    best = others[0].to(output.truth.dtype)
    for other in others[1:]:
        other = other.to(output.truth.dtype)
        best = torch.where((other - got).abs() < (best - got).abs(), other, best)
    result = copy.copy(output)
    result.truth = best.contiguous()
    return result
