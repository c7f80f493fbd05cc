"""The state of a module: parameters and buffers, given to its twin, moved away from their defaults, and written to between calls."""

import torch

from davinci_worker import memory
from davinci_worker.compare import bits_of


def state(model):
    """(name, tensor) of every parameter and buffer; what has two names twice."""
    return list(model.named_parameters(remove_duplicate=False)) + list(model.named_buffers(remove_duplicate=False))


def take_over(model, other):
    """All state of ``other``, a module of the same class: what is not persistent too, which a state_dict leaves out."""
    for (_, own), (_, value) in zip(state(model), state(other)):
        own.detach().copy_(value)


def _is_running(name):
    """A statistic that training keeps up: at first it is a constant, and means nothing then."""
    return name.rpartition(".")[2].startswith("running_")


def _same_bits(left, right):
    return left.dtype is right.dtype and left.shape == right.shape and torch.equal(bits_of(left.contiguous()), bits_of(right.contiguous()))


def constant_tables(model, make_other, seed):
    """Names of floating buffers that are the same whatever the seed: filters, masks, tables of angles. An honest candidate writes
    them down or works them out anew, so they may not change. ``make_other`` constructs the module again; before ``model`` has a
    twin, so that two of it fit for sure."""
    tables = {n: b for n, b in model.named_buffers() if b.is_floating_point() and b.numel() and not _is_running(n)}
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


def randomise(model, seed, constants=()):
    """Moves parameters and floating buffers away from their defaults, so that dropping gamma, beta or bias shows. Buffers named
    in ``constants`` stay.

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
        for key, buffer in sorted(model.named_buffers(), key=lambda item: item[0]):
            if key in constants or not buffer.is_floating_point() or buffer.numel() == 0:
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


def reweigh(model, origin, seed, buffers, constants=()):
    """Moves every floating parameter (and buffer, with ``buffers``, but for ``constants``) in place to other values near those of
    the first call, which ``origin`` keeps, so that a result derived from the old ones shows. Zeros and signs survive. False: there
    are none.
    """
    tensors = dict(model.named_parameters())
    if buffers:
        tensors.update((n, b) for n, b in model.named_buffers() if n not in constants)
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
