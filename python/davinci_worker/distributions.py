"""Input distributions that tell a real implementation from one that is right by luck, and randomised weights.

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


# Milder replacements, tried in order while the reference is mostly undefined on the stress inputs.
_LADDERS = {
    "signed": ("signed", "positive", "own"),
    "magnitudes": ("magnitudes", "magnitudes-mild", "positive", "own"),
}


def ladder(name):
    return _LADDERS.get(name, (name, "own"))


def _first(tensor):
    return tensor.flatten()[:_SAMPLE] if tensor.is_contiguous() else tensor.reshape(-1)[:_SAMPLE]


def _is_restylable(tensor):
    """Masks, indices, one-hot and lengths keep their own values: their meaning is in them."""
    if not tensor.is_floating_point() or tensor.numel() == 0:
        return False
    sample = _first(tensor)
    if not torch.isfinite(sample).all():
        return False
    return sample.numel() < 16 or torch.unique(sample).numel() > 8


def _is_constant(tensor):
    if not tensor.is_floating_point() or tensor.numel() < _MIN_CONSTANT:
        return False
    sample = _first(tensor)
    value = sample[0]
    return bool(torch.isfinite(value) & (sample == value).all()) and bool((tensor == value).all())


def _unlike_constant(tensor, generator):
    """Zeros become numbers from 0 to 0.5, others lose up to half of themselves: a bias, a scale, a probability or a state stays one,
    and whoever has left it out because it never varied is wrong."""
    share = torch.rand(tensor.shape, generator=generator, device=tensor.device).mul_(0.5)
    return tensor + share.to(tensor.dtype) if tensor.reshape(-1)[0] == 0 else tensor * (1 - share).to(tensor.dtype)


def restyle(tensor, distribution, generator):
    """A tensor of the same shape, strides, dtype and device under another distribution."""
    if distribution == "signed" and _is_constant(tensor):
        result = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
        return result.copy_(_unlike_constant(tensor, generator))
    if not _is_restylable(tensor):
        return tensor
    if distribution == "outliers":
        return _with_outliers(tensor, generator)
    result = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
    for part in _pieces(result):
        values = _values(distribution, tuple(part.shape), generator, part.device)
        limit = min(torch.finfo(tensor.dtype).max, torch.finfo(values.dtype).max) / 4
        if values.dtype is part.dtype:
            torch.clamp(values, -limit, limit, out=part)
        else:
            part.copy_(values.clamp_(-limit, limit))
    return result


def _with_outliers(tensor, generator):
    """The task's own values but for a few of 10 to 300: who looks at a sample of them does not know what is among them."""
    result = tensor.clone(memory_format=torch.preserve_format)
    count, device = 4 + tensor.numel() // 100_000, tensor.device
    at = torch.randint(tensor.numel(), (count,), generator=generator, device=device)
    values = 10.0 ** (1.0 + 1.5 * torch.rand(count, generator=generator, device=device))
    values = values.copysign_(torch.randn(count, generator=generator, device=device))
    result[packing.coordinates(at, tensor.shape)] = values.to(tensor.dtype)
    return result


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


def randomise_state(model, seed):
    """Moves parameters and floating buffers away from their defaults, so that dropping gamma, beta or bias shows.

    Signs, zeros in masks and the positivity of variances survive: constants become spread-out values of the same sign,
    everything else is scaled element by element.
    """
    norm = (torch.nn.modules.batchnorm._NormBase,)
    generator = torch.Generator()
    generator.manual_seed(seed)

    def noise(tensor):
        return torch.rand(tensor.shape, generator=generator, dtype=torch.float64)

    running = {}
    for module in model.modules():
        if isinstance(module, norm):
            running.update({id(b): n for n, b in module.named_buffers(recurse=False)})
    with torch.no_grad():
        for _, parameter in sorted(model.named_parameters(), key=lambda item: item[0]):
            if not parameter.is_floating_point() or parameter.numel() == 0:
                continue
            value = parameter.detach().double().cpu()
            if torch.all(value == 0):
                value = (noise(value) - 0.5) * 0.6
            elif value.numel() > 1 and torch.all(value == value.flatten()[0]):
                value = value * (0.5 + noise(value))
            else:
                value = value * (0.8 + 0.4 * noise(value))
            parameter.copy_(value)
        for _, buffer in sorted(model.named_buffers(), key=lambda item: item[0]):
            if not buffer.is_floating_point() or buffer.numel() == 0:
                continue
            name = running.get(id(buffer))
            value = buffer.detach().double().cpu()
            if name == "running_mean":
                value = (noise(value) - 0.5) * 0.6
            elif name == "running_var":
                value = 0.5 + 1.5 * noise(value)
            else:
                value = value * (0.9 + 0.2 * noise(value))
            buffer.copy_(value)


def reweigh(model, origin, seed, buffers):
    """Moves every floating parameter (and buffer, with ``buffers``) in place to other values near those of the first call,
    which ``origin`` keeps, so that a result derived from the old ones shows. Zeros and signs survive. False: there are none.
    """
    tensors = dict(model.named_parameters())
    if buffers:
        tensors.update(model.named_buffers())
    tensors = {n: t.detach() for n, t in tensors.items() if t.is_floating_point() and t.numel() > 0}
    generators = {}
    for name, tensor in tensors.items():
        if name not in origin:
            origin[name] = tensor.clone()
        if tensor.device not in generators:
            generators[tensor.device] = torch.Generator(device=tensor.device).manual_seed(seed)
        factor = torch.rand(tensor.shape, generator=generators[tensor.device], device=tensor.device)
        tensor.copy_(origin[name] * factor.mul_(0.5).add_(0.75).to(tensor.dtype))
    return bool(tensors)
