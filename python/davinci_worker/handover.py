"""Which parameter or buffer of a candidate takes which of the reference's. Names decide; where they do not, the values both were
constructed with from one seed, kept in whatever layout; where those do not either, order and shape."""

import itertools
import math

import torch

from davinci_worker import packing, weights

_SAMPLES = 16
_MOST_DIMENSIONS = 4


def fingerprint(tensor):
    """{"at": flat positions, "values"} of a tensor as constructed; None where there are no numbers."""
    if not tensor.is_floating_point() or tensor.numel() == 0:
        return None
    at = sorted({k * 2654435761 % tensor.numel() for k in range(_SAMPLES)})
    values = tensor.detach()[packing.coordinates(torch.tensor(at, device=tensor.device), tensor.shape)].double().reshape(-1).tolist()
    return {"at": at, "values": values} if all(map(math.isfinite, values)) else None


def offer(model, initial, constants):
    """What a runner has to know of each of ``weights.state(model)``, besides where its values are, to tell its counterpart;
    ``initial``: their fingerprints as constructed, ``constants``: names of buffers that are the same whatever the seed."""
    parameters = {n for n, _ in model.named_parameters(remove_duplicate=False)}
    fixed = {id(b) for n, b in model.named_buffers() if n in constants}  # under each of their names
    first = {}
    return [{"name": name, "initial": values, "alias": first.setdefault(id(tensor), i), "optional": name not in parameters,
             "constant": id(tensor) in fixed} for i, ((name, tensor), values) in enumerate(zip(weights.state(model), initial))]


def plan(own, wanted):
    """How the state ``own``, [(name, tensor)] as constructed, takes over ``wanted``, entries of ``offer`` with "shape" and "dtype":
    ([(name, index of wanted, order of dimensions)], how), how being "names", "values", "shapes" or "reseeded" (nothing fits).

    ``alias``: the index of the first entry that is the same tensor. Constants need not be held; optional ones, buffers, are taken
    over under their names or by their values."""
    by_name = dict(own)
    held = [i for i, w in enumerate(wanted) if w["name"] in by_name and list(by_name[w["name"]].shape) == w["shape"]]
    pairs = [(wanted[i]["name"], i, _order(by_name[wanted[i]["name"]], wanted[i]) or _as_is(wanted[i])) for i in held]
    known = {wanted[i]["alias"] for i in held}

    def needed(i):
        return not wanted[i]["constant"] and wanted[i]["alias"] not in known

    if not any(map(needed, range(len(wanted)))):
        return pairs, "names"
    free = {name: tensor for name, tensor in own if all(name != pair[0] for pair in pairs)}
    missing, how = [i for i, w in enumerate(wanted) if i not in held and not w["constant"]], "values"

    def take(match):
        for i in list(missing):
            name, order = next(((n, o) for n, o in ((n, match(t, wanted[i])) for n, t in free.items()) if o is not None), (None, None))
            if name is not None:
                pairs.append((name, i, order))
                known.add(wanted[i]["alias"])
                missing.remove(i)
                del free[name]
                yield i

    list(take(lambda tensor, w: None if _is_uniform(w) else _order(tensor, w)))
    list(take(lambda tensor, w: _as_is(w) if _is_uniform(w) and _fits(tensor, w) and _order(tensor, w) is not None else None))
    if list(take(lambda tensor, w: _as_is(w) if not w["optional"] and w["alias"] not in known and _fits(tensor, w) else None)):
        how = "shapes"
    return ([], "reseeded") if any(needed(i) and not wanted[i]["optional"] for i in missing) else (pairs, how)


def copy(target, value, order):
    target.detach().copy_(value.permute(order).reshape(target.shape))


def _fits(tensor, wanted):
    return list(tensor.shape) == wanted["shape"] and packing.DTYPES.get(tensor.dtype) == wanted["dtype"]


def _as_is(wanted):
    return tuple(range(len(wanted["shape"])))


def _is_uniform(wanted):
    """Its first values tell nothing: they are all the same, or unknown."""
    return wanted["initial"] is None or len(set(wanted["initial"]["values"])) == 1


def _order(tensor, wanted):
    """In which order ``tensor`` holds the dimensions of ``wanted``, by the values both began with; None: it holds something else."""
    initial, shape = wanted["initial"], wanted["shape"]
    if initial is None or tensor.numel() != math.prod(shape) or not tensor.is_floating_point() or len(shape) > _MOST_DIMENSIONS:
        return None
    flat = tensor.detach().reshape(-1)
    expected = torch.tensor(initial["values"], dtype=torch.float64).to(tensor.dtype)
    places = packing.coordinates(torch.tensor(initial["at"]), shape)
    for order in itertools.permutations(range(len(shape))):
        at = torch.zeros(len(initial["at"]), dtype=torch.int64)
        for dimension in order:
            at = at * shape[dimension] + places[dimension]
        if torch.equal(flat[at.to(flat.device)].cpu(), expected):
            return order
    return None
