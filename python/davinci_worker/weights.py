"""The state of a module: parameters and buffers, given to its twin, moved away from their defaults, and written to between calls."""

import itertools
import math

import torch

from davinci_worker import distributions, memory, packing, structure
from davinci_worker.compare import bits_of

_SMALL_CONSTANT = 0.3
_LARGE_BIASES, _LARGE_BIAS = 1 / 16, 4.0
_NEGATIVE_SCALES = 1 / 16
_NORMS = (torch.nn.modules.batchnorm._NormBase, torch.nn.LayerNorm, torch.nn.GroupNorm, torch.nn.RMSNorm)
_SMALL_SIZE, _USUAL_SIZE = 1e-3, 0.02  # root mean squares


def state(model):
    """(name, tensor) of every parameter and buffer, complex ones as their real and imaginary parts; what has two names twice."""
    named = itertools.chain(model.named_parameters(remove_duplicate=False), model.named_buffers(remove_duplicate=False))
    return [(name, packing.real(tensor.detach()) if tensor.is_complex() else tensor) for name, tensor in named]


def _parameters(model):
    """name: parameter, or the real and imaginary parts of a complex one."""
    return {n: packing.real(p.detach()) if p.is_complex() else p for n, p in model.named_parameters()}


def take_over(model, other):
    """All state of ``other``, a module of the same class: what is not persistent too, which a state_dict leaves out."""
    for (_, own), (_, value) in zip(state(model), state(other)):
        own.detach().copy_(value)


def _is_running(name):
    """A statistic that training keeps up: at first it is a constant, and means nothing then."""
    return name.rpartition(".")[2].startswith("running_")


def _is_empty_state(buffer):
    return buffer.numel() >= structure.MIN_CONSTANT and not buffer.any()


def _is_unit_scale(buffer):
    """A temperature or a variance, say: as tables they would be of no use. With more dimensions it may be the filter of a mean."""
    return buffer.dim() <= 1 and bool((buffer == 1).all())


def _same_bits(left, right):
    return left.dtype is right.dtype and left.shape == right.shape and torch.equal(bits_of(left.contiguous()), bits_of(right.contiguous()))


def constant_tables(model, make_other, seed):
    """Names of floating buffers that are the same whatever the seed: filters, masks, tables of angles. An honest candidate writes
    them down or works them out anew, so they may not change; a state or a cache, which starts as zeros, and a scale of one may.
    ``make_other`` constructs the module again; before ``model`` has a twin, so that two of it fit for sure."""
    tables = {n: b for n, b in model.named_buffers() if b.is_floating_point() and b.numel()
              and not (_is_running(n) or _is_empty_state(b) or _is_unit_scale(b))}
    if not tables:
        return frozenset()
    torch.manual_seed(seed ^ 0x5DEECE66D)
    try:
        others = dict(make_other().named_buffers())
        return frozenset(n for n, b in tables.items() if n in others and _same_bits(b, others[n].to(b.device)))
    except Exception as error:  # noqa: BLE001  it can be built but once
        if memory.ran_out(error):
            raise
        return frozenset()


def _wide(tensor):
    return tensor.detach().to(torch.promote_types(tensor.dtype, torch.float32))


def _has_both_signs(values):
    """As random initialisations have, and scales and decays have not."""
    values = structure.sample(values)
    negative, positive = int((values < 0).sum()), int((values > 0).sum())
    return min(negative, positive) >= 0.1 * (negative + positive) > 0


def _is_code(values):
    """Masks, signs, and scales that are powers of two."""
    some = _wide(structure.sample(values))
    return structure.has_few_values(some) or bool(((some == 0) | (torch.frexp(some)[0].abs() == 0.5)).all())


def _is_trained(tensor):
    """Training gives a parameter any values; masks and tables among the parameters ask for no gradient."""
    return isinstance(tensor, torch.nn.Parameter) and tensor.requires_grad


class _Nature:
    """What other values of a parameter or buffer keep of those it has: all that is structural, or, where it is trained, order, and the
    sign where all have one."""

    def __init__(self, tensor, values):
        self.values, self.trained = values, _is_trained(tensor)
        constant = bool(torch.all(values == values.flatten()[0]))
        self._kind = structure.Structure(values, constant=constant)
        self._is_code = not constant and not self.trained and _is_code(values)
        self.ordered = self._kind.ordered
        self._both_signs = self.trained and not self.ordered and _has_both_signs(values)

    def keep(self, moved, coins):
        """``moved``, the values times positive numbers, made such as they may be; ``coins`` of the same shape: whose sign changes."""
        if self.trained:
            return self._kind.keep(moved) if self.ordered else torch.where(coins, -moved, moved) if self._both_signs else moved
        return self.values if self._is_code or self._kind.keeps_all or self._kind.solvable else self._kind.keep(moved)


def _unlike_initial(parameter, noise):
    """Other values for a parameter: none that an initialisation makes small, zero or of one sign need stay so."""
    value = _wide(parameter)
    if torch.all(value == 0):
        return (noise(value) - 0.5) * 0.6
    first = value.flatten()[0].item()
    if torch.all(value == first) and (value.numel() > 1 or abs(first) < _SMALL_CONSTANT):
        return math.copysign(max(abs(first), _SMALL_CONSTANT), first) * (0.5 + noise(value))
    nature = _Nature(parameter, value)
    # Never more, or what is applied a thousand times grows without bounds.
    moved = nature.keep(value * (0.6 + 0.4 * noise(value)), noise(value) < 0.5)
    if not nature.trained or nature.ordered:
        return moved
    size = value.square().mean().sqrt()
    moved = torch.where(value == 0, (noise(value) - 0.5) * (0.2 * size), moved)
    return moved * (_USUAL_SIZE / size) if size < _SMALL_SIZE else moved


def _open_gates(bias, noise):
    """A sixteenth of a bias is large. Gates that are wide open, or shut, make a recurrent network remember what it forgets within some
    dozen steps with initial weights, so that who begins late in the sequence is wrong."""
    chosen = noise(bias) < _LARGE_BIASES
    large = _LARGE_BIAS * (0.75 + 0.5 * noise(bias))
    bias.copy_(torch.where(chosen, large.copysign_(noise(bias) - 0.5).to(bias.dtype), bias))


def _padding_rows(model):
    """Views of the rows of embeddings that are zero, and that training leaves so."""
    embeddings = (m for m in model.modules() if isinstance(m, (torch.nn.Embedding, torch.nn.EmbeddingBag)) and m.padding_idx is not None)
    return [row for row in (m.weight.detach()[m.padding_idx] for m in embeddings) if not row.any()]


def randomise(model, seed, constants=(), precision=None):
    """Moves parameters and floating buffers away from their defaults, so that dropping gamma, beta or bias shows, or a whole branch
    behind a scale of 1e-6. Buffers named in ``constants`` stay. Unless ``precision`` is tf32, bfloat16 and TF32 round matrices
    all one way (``distributions.round_down``).

    Of buffers, and of parameters that ask for no gradient, signs and zeros survive (masks, variances); of other parameters the sign
    where all have it.
    """
    seeds = itertools.count(seed & (1 << 62) - 1)

    def noise(tensor):
        return distributions.uniform(tensor.shape, next(seeds), tensor.device)

    running, scales, padding = {}, set(), _padding_rows(model)
    for module in model.modules():
        if isinstance(module, _NORMS):
            running.update({id(b): n for n, b in module.named_buffers(recurse=False)})
            scales.add(id(module.weight))
    with torch.no_grad():
        for name, parameter in sorted(_parameters(model).items()):
            if not parameter.is_floating_point() or parameter.numel() == 0:
                continue
            parameter.copy_(_unlike_initial(parameter, noise))
            if "bias" in name.rpartition(".")[2] and parameter.numel() >= structure.MIN_CONSTANT and _is_trained(parameter):
                _open_gates(parameter, noise)
            if id(parameter) in scales:  # what is monotonic behind a positive scale only
                parameter.copy_(torch.where(noise(parameter) < _NEGATIVE_SCALES, -parameter, parameter))
            if precision != "tf32" and parameter.dim() > 1:
                distributions.round_down(parameter.detach())
        for row in padding:
            row.zero_()
        for key, buffer in sorted(model.named_buffers(), key=lambda item: item[0]):
            if key in constants or not buffer.is_floating_point() or buffer.numel() == 0:
                continue
            name = running.get(id(buffer))
            value = _wide(buffer)
            if name == "running_mean":
                value = (noise(value) - 0.5) * 0.6
            elif name == "running_var":
                value = 0.5 + 1.5 * noise(value)
            elif _is_empty_state(buffer):
                value = 0.5 * noise(value)
            else:
                value = _Nature(buffer, value).keep(value * (0.9 + 0.2 * noise(value)), None)
            buffer.copy_(value)


def reweigh(model, origin, seed, buffers, constants=(), precision=None):
    """Moves every floating parameter (and buffer, with ``buffers``, but for ``constants``) in place to other values near those of
    the first call, which ``origin``, a dict, keeps with what they are like, so that a result derived from the old ones shows. Zeros survive, and signs where all
    have the same one. False: there are none.
    """
    tensors = _parameters(model)
    if buffers:
        tensors.update((n, b) for n, b in model.named_buffers() if n not in constants)
    tensors = {n: t for n, t in tensors.items() if t.is_floating_point() and t.numel() > 0}
    generators = {}
    for name, tensor in tensors.items():
        if name not in origin:
            origin[name] = _Nature(tensor, tensor.detach().clone())
        if tensor.device not in generators:
            generators[tensor.device] = torch.Generator(device=tensor.device).manual_seed(seed)
        factor = torch.rand(tensor.shape, generator=generators[tensor.device], device=tensor.device)
        moved = origin[name].values * (factor * 0.4 + 0.6).to(tensor.dtype)
        tensor.detach().copy_(origin[name].keep(moved, factor * 1024 % 1 < 0.5))
        if precision != "tf32" and isinstance(tensor, torch.nn.Parameter) and tensor.dim() > 1:
            distributions.round_down(tensor.detach())
    return bool(tensors)
