"""Sizes that fit where there is no device: smaller values of a task's own module globals, tried out on the meta device, where tensors
have shapes and take no memory."""

import math
import time

import torch

from davinci_worker import arguments, memory, on_target, outputs, packing, source

_KEPT_FACTOR = 16  # powers of two up to it that divide a size go on dividing it
_QUICK_SECONDS = 2  # one that takes longer on the meta device, such as a loop over time steps, is asked once
_ROOM = 4  # times as much as may be drawn, while something is drawn to be measured


def fit(module, make, limits):
    """Shrinks the integer globals of ``module`` when its own size takes more than ``limits`` allow. {"bytes": own size (None: not known),
    "shrunk": None or {"set", "own", "bytes"}}. ``make`` builds the reference from the arguments of its constructor."""
    memory.bound(_ROOM * limits["most"])
    started = time.thread_time()
    own, runs = _look(module, make)
    quick = runs and time.thread_time() - started < _QUICK_SECONDS
    found = {"bytes": None if own in (None, math.inf) else own, "shrunk": None}
    if own is None or own <= (limits["most"] if limits["own"] else limits["to"]):
        return found
    before = {name: value for name, value in vars(module).items() if _is_size(value)}
    # What is no size of the inputs, such as a vocabulary, may be tied to their values: it stays where the reference does not run else.
    trouble = None
    for model in (make, None) if quick else (None,):
        _shrink(module, model, limits["to"])
        changed = {name: vars(module)[name] for name in before if vars(module)[name] != before[name]}
        if changed and (size := _look(module, make)[0]) <= limits["most"] and (trouble := _trouble(module, make)) is None:
            return dict(found, shrunk={"set": changed, "own": {name: before[name] for name in changed}, "bytes": size})
        vars(module).update(before)
    size = "more than there is room for" if own == math.inf else f"{own / 1e6:.4g} MB"
    raise source.SourceError("too_large", f"{module.__file__}: inputs, weights and outputs take {size}, and no smaller values of its integer "
                             "globals were found with which the reference runs" + (f" ({trouble})" if trouble else "") +
                             "; declare [[variants]] or [sizes.cpu] in its .toml")


def _is_size(value):
    return type(value) is int or isinstance(value, (tuple, list)) and bool(value) and all(type(part) is int for part in value)


def _shrink(module, make, goal):
    """Halves the largest global, again and again. One whose half breaks the reference, or saves nothing, keeps its value."""
    names = vars(module)
    places = [(name, i) for name, value in names.items() if _is_size(value)
              for i in ([None] if type(value) is int else range(len(value)))]
    size = lambda place: names[place[0]] if place[1] is None else names[place[0]][place[1]]  # noqa: E731
    now, runs = _look(module, make)
    while now > goal and (places := [place for place in places if size(place) > 1]):
        place = max(places, key=size)
        kept = names[place[0]]
        names[place[0]] = _replaced(kept, place[1], _half(size(place)))
        smaller, still_runs = _look(module, make)
        if smaller is not None and (smaller < now or smaller == math.inf) and still_runs >= runs:
            now = smaller
        else:
            names[place[0]] = kept
            places.remove(place)


def _half(size):
    factor = min(size & -size, _KEPT_FACTOR)
    return size // 2 // factor * factor or size // 2


def _replaced(value, index, part):
    return part if index is None else type(value)([*value[:index], part, *value[index + 1:]])


def _look(module, make):
    """(bytes of the inputs, and where the reference runs on the meta device of its weights and outputs; whether it runs there).
    None: get_inputs() does not run. No ``make``: the reference is not run."""
    inputs = _input_bytes(module)
    if inputs in (None, math.inf) or make is None:
        return inputs, False
    try:
        with torch.device("meta"), on_target.OnTarget("meta"):
            model = _built(module, make)
            held = [*outputs.flat(_answer(model, module)), *model.parameters(), *model.buffers()]
        return inputs + _bytes(held), True
    except Exception:  # noqa: BLE001  it is user code, on a device that it does not know
        return inputs, False


def _input_bytes(module):
    for device in ("meta", "cpu"):
        try:
            tensors = []
            with torch.device(device), on_target.OnTarget(device):
                packing.flatten(_drawn(module), tensors)
            return _bytes(tensors)
        except Exception as error:  # noqa: BLE001  it is user code
            if memory.ran_out(error):
                return math.inf
    return None


def _drawn(module):
    drawn = module.get_inputs()
    return [drawn] if isinstance(drawn, torch.Tensor) else dict(drawn) if isinstance(drawn, dict) else list(drawn)


def _built(module, make):
    init = getattr(module, "get_init_inputs", list)()
    return make(init)


def _answer(model, module):
    return packing.called(model, arguments.of(_drawn(module), source.callee(model), arguments.run_through(model)))


def _bytes(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def _trouble(module, make):
    """What the reference says to real numbers of these sizes: what is looked up may lie outside a table that has become smaller."""
    try:
        with on_target.OnTarget("cpu"):
            _answer(_built(module, make), module)
        return None
    except Exception as error:  # noqa: BLE001  it is user code
        error = source.readable(error)
        return f"{type(error).__name__}: {error}"[:300]
