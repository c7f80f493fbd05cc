"""When a candidate's kernels are the answer: while the module is as it was when its forward was traced.

``Reads`` records which plain attributes a forward reads. ``AsTraced`` and ``as_traced`` are also text of candidates
(``module_graph.py`` puts it there), so they import what they need themselves.
"""

import inspect
import types

import torch

_INTERNAL = frozenset(vars(torch.nn.Module())) - {"training"} | frozenset(vars(torch.nn.Module))


class Reads:
    """While this is open, attributes that are read of modules are noted: those that are no tensor, submodule, method or property. ``classes``
    gives the key of a module, by its id; ``counts()`` says whether a read matters now."""

    def __init__(self, classes, counts):
        self._classes, self._counts, self._found = classes, counts, {}

    def __enter__(self):
        def read(module, name):
            try:
                value = object.__getattribute__(module, name)
            except AttributeError:
                if not any(name in module.__dict__.get(table, ()) for table in ("_parameters", "_buffers", "_modules")):
                    self._note(module, name)  # getattr(self, "scale", None): it may be set later
                raise
            if not isinstance(value, (torch.Tensor, torch.nn.Module)) and not (isinstance(value, types.MethodType) and value.__self__ is module):
                self._note(module, name)
            return value

        torch.nn.Module.__getattribute__ = read

    def __exit__(self, *unused):
        del torch.nn.Module.__getattribute__

    def _note(self, module, name):
        kind = self._classes.get(id(module))
        if kind is None or name.startswith("__") or name in _INTERNAL or not self._counts():
            return
        if not isinstance(inspect.getattr_static(type(module), name, None), property):
            self._found.setdefault(kind, set()).add(name)

    def named(self, before, after):
        """((class, (name, …)), …), as ``AsTraced`` takes it. ``before`` is the module as it was, ``after`` the one that was traced: what was
        None and is a tensor now is forward's own cache, and no configuration."""
        traced = dict(after.named_modules())
        for path, module in before.named_modules():
            names = self._found.get(class_of(path, module), set())
            names -= {name for name in names if getattr(module, name, 0) is None and isinstance(getattr(traced[path], name, None), torch.Tensor)}
        return tuple((kind, tuple(sorted(names))) for kind, names in sorted(self._found.items()) if names)


def class_of(path, module):
    return type(module).__name__ if path else ""


class AsTraced:
    """What forward may depend on but its arguments and the numbers in tensors: attributes (``reads``: their names by the class of a module; ""
    is the module itself), submodules and their hooks, sizes and types of weights. A copy of a module gets another one."""

    def __init__(self, model, reads):
        import hashlib
        import operator
        import weakref

        self.owner, self.own, reads, parts = weakref.ref(model), None, dict(reads), []
        self.places, self.tables, self.hooks, self.weights, self.loose, self.objects = [], [], [], [], [], {}
        for path, module in model.named_modules():
            kind = type(module).__name__ if path else ""
            names = [name for name in reads.get(kind, ()) if hasattr(module, name)]
            self.places += [(vars(module).__contains__, name) for name in reads.get(kind, ()) if name not in names]
            if names and path:
                self.places.append((operator.attrgetter(*names), module))
            elif names:
                self.own = operator.attrgetter(*names)
            hooks = [module._forward_hooks, module._forward_pre_hooks] if path else []
            self.hooks += [table for table in hooks if not table]
            self.places += [(len, table) for table in hooks if table]
            self.tables += [table for table in (module._modules, module._parameters, module._buffers) if table]
            state = [(f"{path}.{name}", tensor) for table in (module._parameters, module._buffers) for name, tensor in table.items()]
            self.weights += [tensor for _, tensor in state if tensor is not None]
            self.loose += [name for name, tensor in state if tensor is not None and not tensor.is_contiguous()]
            parts += [(path, kind, [len(table) for table in hooks]), *((name, self.text(tensor)) for name, tensor in state)]
            parts += [(name, self.text(getattr(module, name))) for name in names]
        self.digest = "_" + hashlib.blake2b(repr(parts).encode(), digest_size=8).hexdigest()
        self.taken = self.copied(self.own and self.own(model))
        self.found = [self.copied(get(owner)) for get, owner in list(self.places)]
        self.found += [self.copied(vars(part)) for part in self.objects.values()]
        self.places += [(vars, part) for part in self.objects.values()]
        self.entries = [dict(table) for table in self.tables]
        self.states = [(tensor.data_ptr(), tensor.dtype) for tensor in self.weights]

    def __reduce__(self):
        return bool, ()

    def copied(self, value):
        """Containers anew, so that changes in them show. Objects with attributes are kept in mind."""
        if type(value) in (list, tuple):
            return type(value)(map(self.copied, value))
        if isinstance(value, dict):
            return {key: self.copied(item) for key, item in value.items()}
        if self.has_attributes(value) and id(value) not in self.objects:
            self.objects[id(value)] = value
            self.copied(vars(value))
        return value

    @staticmethod
    def has_attributes(value):
        return hasattr(value, "__dict__") and not isinstance(value, (type, type(torch), torch.Tensor, torch.nn.Module))

    def text(self, value, depth=0):
        """What repr() turns into the same text in every process."""
        if isinstance(value, torch.Tensor):
            return str(value.dtype), tuple(value.shape)
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)) or type(value).__module__ == "torch":
            return repr(value)
        name = getattr(value, "__qualname__", type(value).__qualname__)
        name += value.__code__.co_code.hex() if "<" in name and hasattr(value, "__code__") else ""
        if isinstance(value, (set, frozenset)):
            value = sorted(value, key=repr)
        elif self.has_attributes(value) and not isinstance(value, (list, tuple, dict)):
            value = {"attributes": vars(value), "partial": [getattr(value, part, None) for part in ("func", "args", "keywords")]}
        items = value.items() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
        return name, [self.text(item, depth + 1) for item in items] if depth < 8 else len(items)

    def stands(self, model):
        """Has nothing changed since?"""
        try:
            return (self.owner() is model and not any(self.hooks) and (self.own is None or self.own(model) == self.taken)
                    and [get(owner) for get, owner in self.places] == self.found and self.tables == self.entries
                    and [(weight.data_ptr(), weight.dtype) for weight in self.weights] == self.states)
        except Exception:
            return False  # an attribute is missing, or a tensor is another one


def as_traced(model, reads, loose, digest):
    """Is the module as it was when its forward was traced? ``loose``: weights that were not contiguous."""
    known = vars(model).get(digest)
    if not known or not known.stands(model):
        known = vars(model)[digest] = AsTraced(model, reads)
        known.fits = known.digest == digest and set(known.loose) <= set(loose)
    return known.fits
