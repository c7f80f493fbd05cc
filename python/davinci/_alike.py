"""Which submodules of a model can one kernel serve? Those that differ in trained weights alone, as far as their forward can tell."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import Any, Iterator

import torch

from ._live import content_of, live

_FIELDS = frozenset(vars(torch.nn.Module()))


class Reads:
    """The attributes of modules that were read while it was open: {(id of the module, name)}."""

    def __init__(self) -> None:
        self.found: set[tuple[int, str]] = set()

    @contextmanager
    def of(self, model: torch.nn.Module) -> Iterator[None]:
        found = self.found

        def watched(kind: type) -> type:
            def read(self: Any, name: str) -> Any:
                found.add((id(self), name))
                return kind.__getattribute__(self, name)  # type: ignore[call-arg]

            return type(kind.__name__, (kind,), {"__getattribute__": read, "__module__": kind.__module__, "__qualname__": kind.__qualname__})

        kinds = {kind: watched(kind) for kind in {type(part) for part in model.modules()}}
        changed: list[tuple[torch.nn.Module, type]] = []
        try:
            for part in model.modules():
                kind = type(part)
                part.__class__ = kinds[kind]
                changed.append((part, kind))
            yield
        finally:
            for part, kind in changed:
                part.__class__ = kind


def key(part: torch.nn.Module, reads: Reads) -> str:
    """The same for modules that are alike: classes, modes, sizes, values of buffers and of parameters that are not trained, and of the
    attributes that were read. A judge gives other values to trained parameters alone."""
    worker = live()
    digest = hashlib.sha256()

    def add(*values: Any) -> None:
        digest.update(repr(values).encode() + b"\0")

    trained = {id(value) for value in part.parameters() if value.requires_grad}
    for name, module in part.named_modules(remove_duplicate=False):
        add(name, id(type(module)), module.training, sorted(module._non_persistent_buffers_set))
        for kept in (module._parameters, module._buffers):
            for own, tensor in kept.items():
                add(own, None if tensor is None else (tuple(tensor.shape), tensor.dtype, tensor.stride(), tensor.requires_grad))
                if tensor is not None and id(tensor) not in trained:
                    digest.update(content_of(tensor))
        for own, value in vars(module).items():
            if own in _FIELDS or (id(module), own) not in reads.found:
                continue
            writer = worker.Writer(lambda kind: str(id(kind)))
            try:
                add(own, writer.value(value, own))
            except worker.Unsupported:
                add(own, id(value))
            for tensor in writer.tensors:
                if id(tensor) not in trained:
                    digest.update(content_of(tensor))
    return digest.hexdigest()
