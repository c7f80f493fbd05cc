"""A live module's structure as text, for candidates that extend its class: its state lies in a file that no candidate can see (``live.py``).

Classes, attributes and the shapes of parameters and buffers are written down; numbers of parameters and buffers are not, because whatever the
candidate stands for hands them over. Tensors that are neither (plain attributes, globals) have their numbers in the text."""

import base64
import inspect
import os
import pprint
import re
import textwrap

import torch

from davinci_worker import live

_MOST_BYTES = 256 << 10  # of tensors whose numbers stand in the text
_IMPORT = re.compile(r"^from davinci_worker import live as (\w+)\n", re.MULTILINE)

_STRUCTURE = '''

def _live_structure():
    """Makes the live module's attributes and submodules again; its parameters and buffers are handed over to them."""
    import base64
    import importlib
    import threading
    import weakref

    import torch
    import torch.nn.utils.parametrize

    inf, nan = float("inf"), float("nan")
    _MAKERS = {makers}

{reader}

    def constant(dtype, shape, stride, numbers):
        made = torch.empty(shape, dtype=dtype)
        made.view(-1).copy_(torch.frombuffer(bytearray(base64.b64decode(numbers)), dtype=dtype))
        return made if made.stride() == stride else torch.empty_strided(shape, stride, dtype=dtype).copy_(made)

    def tensors():
        """In the order of the description; those without numbers are parameters and buffers."""
        return [constant(*one) if len(one) > 3 else torch.empty_strided(one[1], one[2], dtype=one[0]).zero_() for one in
{tensors}]

    class Structure:
        @staticmethod
        def restore(module, scope):
            described = \\
{described}
            Reader(scope, {{"tensors": tensors()}}).module(described, module)

        @staticmethod
        def tensor(name):
            return tensors()[{named}[name]]

    return Structure


{name} = _live_structure()
'''


class TooLarge(Exception):
    """A tensor's numbers would take too much text."""


def _state_of(described, found):
    """Indices of parameters and buffers below a description, wherever they stand."""
    if isinstance(described, dict):
        for table in ("parameters", "buffers"):
            if "class" in described and table in described:
                found.update(entry[1] for entry in described[table] if entry[1] is not None)
        if "parameter" in described:
            found.add(described["parameter"])
        described = list(described.values())
    if isinstance(described, (list, tuple)):
        for part in described:
            _state_of(part, found)


def _indices(described, found):
    """Indices of the plain tensors below a description."""
    if isinstance(described, dict):
        found.update(described[key] for key in ("tensor", "array") if isinstance(described.get(key), int))
        described = list(described.values())
    if isinstance(described, (list, tuple)):
        for part in described:
            _indices(part, found)


def _laid_out(value, indent):
    return textwrap.indent(pprint.pformat(value, width=110, compact=True, sort_dicts=False), " " * indent)


class _Dtype:
    def __init__(self, dtype):
        self._dtype = dtype

    def __repr__(self):
        return str(self._dtype)


def with_structure(text, task_file):
    """The text of a live task with the module's structure in the place of ``davinci_worker.live``; any other text as it is."""
    found = _IMPORT.search(text)
    if found is None:
        return text
    name = found.group(1)
    content = torch.load(os.path.splitext(task_file)[0] + ".weights.pt", weights_only=True, mmap=True)
    described = content.get("module")
    named = {key: index for key, index in content["named"].items() if not key.startswith("example ")}
    state, plain = set(), set(named.values())
    _state_of(described, state)
    _indices(described, plain)
    entries, size = [], 0
    for i, tensor in enumerate(content["tensors"]):
        entry = (_Dtype(tensor.dtype), tuple(tensor.shape), tuple(tensor.stride()))
        if i in plain - state:
            size += tensor.numel() * tensor.element_size()
            if size > _MOST_BYTES:
                raise TooLarge(f"the module holds tensors of {size} bytes that are neither parameters nor buffers; register them as buffers")
            numbers = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""
            entry += (base64.b64encode(numbers).decode(),)
        elif i not in state:
            entry = (_Dtype(torch.float32), (0,), (1,))  # of an example
        entries.append(entry)
    structure = _STRUCTURE.format(makers=live._MAKERS, reader=textwrap.indent(inspect.getsource(live.Reader).rstrip(), "    "),
                                  tensors=_laid_out(entries, 16), described=_laid_out(described, 16), named=named, name=name)
    text = _IMPORT.sub("", text, count=1)
    text = text.replace(f"{name}.restore(self, __file__, ", f"{name}.restore(self, ").replace(f"{name}.tensor(__file__, ", f"{name}.tensor(")
    # Behind the imports, before the first use.
    lines = text.splitlines(keepends=True)
    last = max((i for i, line in enumerate(lines) if re.match(r"(from|import) ", line)), default=-1)
    first = next((i for i, line in enumerate(lines) if re.match(r"(class|def|@|\w+ = )", line)), len(lines))
    at = min(last + 1, first) if last >= 0 else first
    return "".join(lines[:at]) + structure + "".join(lines[at:])
