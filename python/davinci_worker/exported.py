"""Does an exported file run its kernel? It is called as its user calls it: once for each shape that it was verified with, with inputs of the
reference's own, under ``torch.no_grad()``."""

import contextlib
import importlib.util
import sys

import torch

from davinci_worker import arguments, eager, outputs, packing, published, source, weights

_MOST_DIFFERENT = 0.5  # relative, in the 2-norm: another tensor in a parameter's place changes more, another order of sums far less


def why_reference(message, cuda):
    """[None, or why the call runs the reference] of each verified shape."""
    eager.install()
    exported = _load(message)
    verified = exported._VERIFIED
    entry = vars(exported)[next(n for n in (verified["kernel"], verified.get("kernel_function")) if n and n in vars(exported))]
    task = exported._reference
    if task is None:  # a file that the export cannot see from where it is: it raises where it would call the reference
        task = source.load_module(message["task"], "davinci_task", message["globals"], message["source"],
                                  dict(message["imports"], package=message["package"]))
    own = {name: getattr(task, name) for sizes in message["variants"] for name in sizes if hasattr(task, name)}
    found = []
    for sizes, case in zip([{}, *message["variants"]], verified["cases"]):
        source.set_globals(task, {**own, **sizes})
        found.append(_why(exported, task, entry, case, message, cuda))
    return found


def _load(message):
    path, imports = message["path"], message["imports"]
    source.import_from(imports.get("folders", ()))
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    module.__file__ = message["task"]  # a reference finds its data next to it
    sys.modules["exported"] = module
    spec.loader.exec_module(module)
    return module


def _why(exported, task, entry, case, message, cuda):
    seed, precision = message["seed"], message.get("cast")
    torch.manual_seed(seed)
    if isinstance(entry, type):
        init = arguments.of(getattr(task, "get_init_inputs", list)(), entry, arguments.run_through(entry))
        torch.manual_seed(seed)
        called = packing.called(entry, init)
        if isinstance(called, torch.nn.Module):
            called = _set_up(called, lambda: packing.called(entry, init), case, message, cuda)
    else:
        called = entry
    called.on_unverified = called.on_grad = "raise"
    drawn = _inputs(task, seed, cuda, precision)
    given = arguments.of([drawn] if isinstance(drawn, torch.Tensor) else drawn, _function(called), arguments.run_through(called))
    answers = []
    for function in (called, exported._guard.reference_of(called)) if exported._reference is not None else (called,):
        torch.manual_seed(seed)
        before = [(t, t.detach().clone()) for _, t in weights.state(called)] if isinstance(called, torch.nn.Module) else []
        try:
            answers.append(packing.called(function, packing.with_leaves(given, _copy)))
        except exported.NotVerified as reason:
            return str(reason)
        for tensor, value in before:  # that a forward may write to
            tensor.detach().copy_(value)
    return _why_different(*answers) if len(answers) == 2 else None


def _set_up(module, make_other, case, message, cuda):
    """On the device, in the verified mode, with weights that a user may give it."""
    module = module.to("cuda") if cuda else module
    if message.get("cast") is not None:
        module = published.cast_model(module, message["cast"])
    if case["mode"] is not None:
        module.train(case["training"])
    if case["handover"] is not None:
        weights.randomise(module, message["seed"], weights.constant_tables(module, make_other, message["seed"]))
    return module


def _function(called):
    return called.forward if isinstance(called, torch.nn.Module) else called


def _inputs(task, seed, cuda, precision):
    torch.manual_seed(seed)
    with torch.device("cuda") if cuda else contextlib.nullcontext():
        drawn = task.get_inputs()

    def placed(leaf):
        if not isinstance(leaf, torch.Tensor):
            return leaf
        leaf = leaf.detach().to("cuda" if cuda else "cpu")
        if precision is not None:
            leaf = published.cast([leaf], precision)[0]
        return leaf.contiguous() if packing.span_elements(leaf.shape, leaf.stride()) < leaf.numel() else leaf

    return packing.with_leaves(drawn, placed)


def _copy(leaf):
    """With the same strides, in memory of its own."""
    if not isinstance(leaf, torch.Tensor):
        return leaf
    return torch.empty_strided(leaf.shape, leaf.stride(), dtype=leaf.dtype, device=leaf.device).copy_(leaf)


def _why_different(got, wanted):
    """None for answers that are as like as those of two correct kernels; the judge has compared them in earnest."""
    for own, theirs in zip(outputs.flat(got), outputs.flat(wanted)):
        if own.shape != theirs.shape:
            return f"its answer has shape {tuple(own.shape)}, the reference's {tuple(theirs.shape)}"
        if not theirs.is_floating_point() or not bool(torch.isfinite(theirs).all()):
            continue
        own, theirs = own.double(), theirs.double()
        if float((own - theirs).norm()) > _MOST_DIFFERENT * float(theirs.norm()) + 1e-6:
            return "its answer is not the reference's: it does not use the module's parameters as the kernel that was judged did"
    return None
