"""Buffers that a forward writes to: running means, counters, caches. Both sides have them put back before each call, off the clock, and what
they hold after it is part of the answer."""

from davinci_worker import source
from davinci_worker.compare import bits_of


def _places(model):
    """name: (module, name in it) of every buffer."""
    return {f"{prefix}.{leaf}".lstrip(".").replace("_orig_mod.", ""): (module, leaf)
            for prefix, module in model.named_modules(remove_duplicate=False) for leaf, buffer in module._buffers.items() if buffer is not None}


class KeptState:
    """The buffers of these names, as they are now."""

    def __init__(self, model, names):
        places = _places(model)
        for name in names:
            if name not in places:
                raise source.SourceError("load_error", f"the reference writes to its buffer {name} in forward, and that is part of its answer; "
                                         f"register_buffer() one of this name and update it as the reference does")
        self._places = [places[name] for name in names]
        self.save()

    def save(self):
        self._own = [module._buffers[leaf] for module, leaf in self._places]
        self._values = [tensor.detach().clone() for tensor in self._own]

    def restore(self):
        for (module, leaf), own, value in zip(self._places, self._own, self._values):
            own.detach().copy_(value)
            module._buffers[leaf] = own  # forward may have put another tensor in its place

    def joined(self, output):
        """The answer of a call: what forward returned, and the buffers after it."""
        return (output, *(module._buffers[leaf] for module, leaf in self._places))


class Watch:
    """Which buffers does a call of the model write to? Afterwards all are what they were."""

    def __init__(self, model):
        self._model = model
        self.names = ()

    def __enter__(self):
        self._state = KeptState(self._model, list(_places(self._model)))
        return self

    def __exit__(self, *_):
        names, places = list(_places(self._model)), self._state._places
        changed = [module._buffers[leaf] is not own or not bits_of(own.contiguous()).equal(bits_of(value.contiguous()))
                   for (module, leaf), own, value in zip(places, self._state._own, self._state._values)]
        self.names = tuple(name for name, was in zip(names, changed) if was)
        self._state.restore()
