"""What a module computes, as a list of calls of PyTorch: recorded while its forward runs on its own inputs.

Sizes are numbers, loops are unrolled, and branches on configuration are decided, because forward really runs. Each call is kept as Python text
with ``{0}``, ``{1}``, … for the tensors it reads, so what is recorded, what is checked (``Check``) and what a candidate holds is one text.
A submodule that cannot be recorded is kept as one call of itself. What makes the whole module impossible is raised as ``Untraceable``: one line
that names the place.

The answer of ``graph_of`` is JSON (``src/davinci/import/traced_module.h`` reads it):

    {"inputs": [{"id", "text", "order"}], "weights": [{"id", "text", "contiguous"}], "values": [{"shape", "dtype"}],
     "calls": [{"text", "name", "reads": [id], "gives": [{"id", "item"}], "view", "effect", "place"}],
     "outputs": [id], "result": "text with {0}, …", "signature", "names", "source", "entry", "function", "kept": [{"module", "why"}]}
"""

import copy
import inspect

import torch
from torch.overrides import resolve_name

from davinci_worker import configuration, graph_check
from davinci_worker.graph_recorder import Modules, Recorder
from davinci_worker.graph_refusal import Kept, Untraceable
from davinci_worker.graph_values import paths

_SEED = 20  # of what kept calls draw while they are compared
_MOST_RETRIES = 24  # each keeps one more submodule as a call


def _result_text(value, outputs, recorder):
    if isinstance(value, torch.Tensor):
        outputs.append(recorder.value_of(value))
        return f"{{{len(outputs) - 1}}}"
    if type(value).__module__ == "torch.return_types":  # of torch.max and its like
        return "(" + ", ".join(_result_text(v, outputs, recorder) for v in value) + ")"
    if type(value) in (tuple, list):
        inside = ", ".join(_result_text(v, outputs, recorder) for v in value)
        return f"[{inside}]" if type(value) is list else f"({inside},)" if len(value) == 1 else f"({inside})"
    if type(value) is dict and all(isinstance(k, (str, int)) for k in value):
        return "{{" + ", ".join(f"{k!r}: {_result_text(v, outputs, recorder)}" for k, v in value.items()) + "}}"
    if value is None or isinstance(value, (bool, int, float, str)):
        return repr(value)
    kind = type(value).__name__
    fields = getattr(value, "_fields", None) if isinstance(value, tuple) else getattr(value, "__dataclass_fields__", None)
    if fields is not None and recorder.scope.get(kind) is type(value):
        return kind + "(" + ", ".join(f"{name}={_result_text(getattr(value, name), outputs, recorder)}" for name in fields) + ")"
    raise Untraceable(f"forward returns a {kind}")


def record(model, args, kwargs, kept, scope, built, orders=None):
    """One forward: (graph without what belongs to the task file, the attributes that it reads). ``orders``: of its inputs' axes in memory, where
    their strides do not say it."""
    recorder = Recorder(model, kept, {id(v): k for k, v in scope.items() if isinstance(v, torch.Tensor)}, built)
    recorder.scope = scope
    forward = model.forward if isinstance(model, torch.nn.Module) else model
    target = getattr(model, "_function", None) if type(model).__name__ == "Function" else None
    try:
        signature, names, values = graph_check.bound(target or forward, args, kwargs)
    except ValueError:  # an operator of torch's, which has no signature
        names = [f"x{i}" for i in range(len(args))] + list(kwargs)
        signature, values = ", ".join(names), list(zip(names, [*args, *kwargs.values()]))
    inputs = []
    recorder.inputs = set()
    for name, value in values:
        for suffix, tensor in paths(value):
            if recorder.known(tensor) is not None:
                raise Untraceable("one tensor is passed as two arguments")
            index = recorder.add_input(tensor)
            recorder.inputs.add(index)
            order = _order_in_memory(tensor) if orders is None else orders[len(inputs)]
            inputs.append({"id": index, "text": name + suffix, "order": order})
    with torch.no_grad(), recorder.attributes, Modules(recorder), recorder:
        result = recorder.enter(model, type(model).__call__, args, kwargs) if not recorder.enters(model) else model(*args, **kwargs)
    recorder.check_state()
    outputs = []
    text = _result_text(result, outputs, recorder)
    graph = {"inputs": inputs, "weights": recorder.weights, "values": recorder.values, "calls": recorder.calls, "outputs": outputs,
             "result": text, "signature": signature, "names": names}
    return graph, recorder.attributes


def _order_in_memory(tensor):
    """The axes of a dense tensor, outermost in memory first; [] where that is their own order, or the tensor is not dense."""
    if tensor.layout is not torch.strided or tensor.is_contiguous():
        return []
    order = sorted(range(tensor.dim()), key=lambda axis: (-tensor.stride(axis), axis))
    return order if tensor.permute(order).is_contiguous() else []


def prune(graph):
    """Leaves out calls whose results nothing reads."""
    needed, calls = set(graph["outputs"]), []
    for call in reversed(graph["calls"]):
        if call["effect"] or any(given["id"] in needed for given in call["gives"]) or call["name"] == "batch_norm" and "True" in call["text"]:
            needed.update(call["reads"])
            calls.append(call)
    graph["calls"] = calls[::-1]
    graph["weights"] = [w for w in graph["weights"] if w["id"] in needed]


def _guard(graph, model, reads, args, kwargs):
    """When a candidate's kernels are the answer: for what was traced, in sizes, types, other arguments and configuration. Else the module's own
    forward is."""
    function = getattr(model, "_function", None) if type(model).__name__ == "Function" else None
    try:
        _, _, values = graph_check.bound(function or model.forward, args, kwargs)
    except ValueError:
        values = list(zip(graph["names"], [*args, *kwargs.values()]))
    tests = []
    for name, value in values:
        for suffix, tensor in paths(value):
            tests.append(f"{name}{suffix}.shape == {tuple(tensor.shape)} and {name}{suffix}.dtype is {tensor.dtype}")
        if value is None or isinstance(value, (bool, str)):
            tests.append(f"{name} is {value!r}" if not isinstance(value, str) else f"{name} == {value!r}")
        elif isinstance(value, (int, float)):
            tests.append(f"{name} == {value!r}")
    if function is None:
        tests.append(f"self.training is {model.training}")
        found = configuration.AsTraced(model, reads)
        tests.append(f"as_traced(self, {reads!r}, {tuple(found.loose)!r}, {found.digest!r})")
    graph["guard"] = " and ".join(tests)
    call = ", ".join(name for name in graph["names"])
    for part in graph["signature"].split(", "):
        if part.startswith("*") and part != "*":
            call = ", ".join(part if name == part.lstrip("*") else name for name in call.split(", "))
    after = graph["signature"].split(", ")
    if "*" in after:  # keyword-only arguments
        first = after.index("*")
        names = call.split(", ")
        call = ", ".join(name if i < first else f"{name}={name}" for i, name in enumerate(names))
    graph["fallback"] = f"super().forward({call})" if function is None else f"{_function_name(function)}({call})"


def answers(graph, model, args, kwargs):
    """Does the graph's guard let its kernels answer a call of this module?"""
    values = dict(graph_check.bound(model.forward, args, kwargs)[2])
    return eval(graph["guard"], dict(values, self=model, torch=torch, as_traced=configuration.as_traced))  # noqa: S307  text of this module's own making


def _function_name(function):
    name = resolve_name(function)
    return name or getattr(function, "__name__", "")


def _helpers(graph):
    """What the graph's texts call, as text."""
    called = {call["name"] for call in graph["calls"]}
    helpers = [helper for helper in (graph_check.changed_copy, graph_check.under_autocast) if helper.__name__ in called]
    if "as_traced(" in graph["guard"]:
        helpers += [configuration.AsTraced, configuration.as_traced]
    return "".join("\n\n" + inspect.getsource(helper) for helper in helpers)


def graph_of(model, args, kwargs, scope, fresh, built):
    """The graph of a module, checked: evaluated on other inputs it gives what the module gives.

    ``scope``: globals of the task's module. ``fresh()``: (a copy of the model, positional, keyword arguments) drawn anew. ``built``: what
    the copies are made of."""
    kept, why = set(), []
    while True:
        try:
            graph, attributes = record(model, args, kwargs, kept, scope, built)
            break
        except Kept as error:
            if len(kept) >= _MOST_RETRIES:
                raise Untraceable(f"more than {_MOST_RETRIES} submodules would stay calls; the last: {error}") from None
            kept.add(error.path)
            why.append({"module": error.path, "why": str(error)})
            model, args, kwargs = fresh()
    prune(graph)
    graph["kept"] = why
    traced = args, kwargs
    other, args, kwargs = fresh()
    _guard(graph, other, attributes.named(other, model), *traced)
    graph["helpers"] = _helpers(graph)
    torch.manual_seed(_SEED)
    with torch.no_grad():
        expected = copy.deepcopy(other)(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    torch.manual_seed(_SEED)
    found = graph_check.run(graph, other, args, kwargs, scope)
    if not graph_check.same(expected, found):
        raise Untraceable("the recorded calls give another result than the module on other inputs")
    return graph
