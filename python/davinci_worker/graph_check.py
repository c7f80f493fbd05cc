"""A graph evaluated in PyTorch, and compared with what the module gives."""

import inspect

import torch


def bound(forward, args, kwargs):
    """(signature text, names to call by, [(text, value)] of the arguments) of a forward."""
    signature = inspect.signature(forward)
    bound = signature.bind(*args, **kwargs)
    texts, names, values = [], [], []
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            texts.append(f"*{name}")
        elif parameter.kind is parameter.VAR_KEYWORD:
            texts.append(f"**{name}")
        else:
            if parameter.kind is parameter.KEYWORD_ONLY and not any(t.startswith("*") for t in texts):
                texts.append("*")
            default = parameter.default
            if default is parameter.empty:
                texts.append(name)
            elif default is None or isinstance(default, (bool, int, float, str)):
                texts.append(f"{name}={default!r}")
            else:
                texts.append(f"{name}=None")
        names.append(name)
        if name in bound.arguments:
            values.append((name, bound.arguments[name]))
    return ", ".join(texts), names, values


def run(graph, model, args, kwargs, scope):
    """Evaluates a graph in PyTorch: its result for these arguments."""
    target = getattr(model, "_function", None) if type(model).__name__ == "Function" else None
    try:
        _, _, values = bound(target or model.forward, args, kwargs)
    except ValueError:
        values = list(zip(graph["names"], [*args, *kwargs.values()]))
    names = dict(scope, self=model, torch=torch, changed_copy=changed_copy, under_autocast=under_autocast, **dict(values))
    known = {}
    for entry in [*graph["inputs"], *graph["weights"]]:
        known[entry["id"]] = eval(entry["text"], names)  # noqa: S307  text of this module's own making
    with torch.no_grad():
        for call in graph["calls"]:
            local = {f"r{i}_": known[index] for i, index in enumerate(call["reads"])}
            text = call["text"].format(*local)
            result = eval(text, dict(names, **local))  # noqa: S307
            for given in call["gives"]:
                known[given["id"]] = eval("result_" + given["item"], {"result_": result})  # noqa: S307
        local = {f"r{i}_": known[index] for i, index in enumerate(graph["outputs"])}
        return eval(graph["result"].format(*local), dict(names, **local))  # noqa: S307


def changed_copy(tensor, change):
    """A copy of ``tensor`` after ``change``."""
    tensor = tensor.clone()
    change(tensor)
    return tensor


def under_autocast(kind, dtype, enabled, call):
    """What ``call`` gives under autocast."""
    with torch.autocast(kind, dtype=dtype, enabled=enabled):
        return call()


def same(a, b):
    """Do two results agree, but for what threads round differently?"""
    if isinstance(a, torch.Tensor):
        if not isinstance(b, torch.Tensor) or a.shape != b.shape or a.dtype != b.dtype:
            return False
        if torch.equal(a, b):
            return True
        if not a.is_floating_point() and not a.is_complex():
            return False
        return torch.allclose(a, b, rtol=1e-3 if a.element_size() < 4 else 1e-5, atol=1e-6 + 1e-6 * _size(a), equal_nan=True)
    if isinstance(a, (list, tuple)):
        return type(b) is type(a) and len(a) == len(b) and all(map(same, a, b)) or \
            isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if hasattr(a, "__dataclass_fields__"):
        return type(a) is type(b) and same(vars(a), vars(b))
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return a == b


def _size(tensor):
    finite = tensor[torch.isfinite(tensor)]
    return float(finite.abs().max()) if finite.numel() else 0.0
