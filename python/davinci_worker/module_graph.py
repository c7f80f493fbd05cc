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

import ast
import copy
import inspect
import math
import os
import sys
import weakref

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from davinci_worker import attention_parts, configuration

_MOST_CALLS = 2_000
_SEED = 20  # of what kept calls draw while they are compared
_MOST_LITERAL = 64  # elements
_LITERAL_TYPES = (torch.float32, torch.float64, torch.int64, torch.bool)
_MOST_RETRIES = 24  # each keeps one more submodule as a call
# Answers that depend on numbers: what a program does next is then no property of its configuration.
_READS_NUMBERS = frozenset("""item tolist numpy __bool__ __int__ __float__ __index__ __complex__ __array__ is_nonzero equal allclose data_ptr
    __contains__ __len__of_values storage untyped_storage __dlpack__ __reduce_ex__ __deepcopy__ save""".split())
# The shape of the answer depends on numbers.
_SHAPED_BY_NUMBERS = frozenset("""nonzero masked_select unique unique_consecutive argwhere bincount histc combinations unique_dim _unique2
    nonzero_static""".split())
_DRAWS = frozenset("""rand randn randint rand_like randn_like randint_like randperm bernoulli multinomial normal poisson uniform_ normal_ random_
    bernoulli_ exponential_ cauchy_ geometric_ log_normal_ rrelu_ feature_dropout_ dropout_""".split())
_DROPOUTS = frozenset("dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout".split())
_BINARY = {"__add__": "+", "__sub__": "-", "__mul__": "*", "__truediv__": "/", "__floordiv__": "//", "__mod__": "%", "__pow__": "**",
           "__matmul__": "@", "__and__": "&", "__or__": "|", "__xor__": "^", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">=",
           "__eq__": "==", "__ne__": "!=", "__lshift__": "<<", "__rshift__": ">>"}
_METHOD_OF_SIGN = {"add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "pow": "**", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
                   "eq": "==", "ne": "!=", "true_divide": "/"}
_VIEWS = frozenset("""view reshape view_as reshape_as flatten unflatten permute transpose t T mT H swapaxes swapdims movedim moveaxis unsqueeze
    squeeze expand expand_as broadcast_to narrow select chunk split unbind tensor_split diagonal unfold detach size adjoint ravel
    contiguous as_strided view_as_real view_as_complex real imag data hsplit vsplit dsplit atleast_1d atleast_2d atleast_3d""".split())
# Keywords that change nothing where they have these values.
_USUAL = {"out": None, "dtype": None, "device": None, "layout": None, "size_average": None, "reduce": None, "inplace": False, "ceil_mode": False,
          "return_indices": False, "count_include_pad": True, "divisor_override": None, "padding_idx": None, "max_norm": None,
          "scale_grad_by_freq": False, "sparse": False, "weight": None, "pos_weight": None, "recompute_scale_factor": None, "antialias": False,
          "requires_grad": False, "pin_memory": False, "non_blocking": False, "copy": False, "memory_format": None, "norm_type": 2.0, "ignore_index": -100, "label_smoothing": 0.0, "enable_gqa": False,
          "need_weights": None, "scale": None, "attn_mask": None, "stacklevel": 3}
_SAME_TYPE = frozenset(f"{owner}.{name}" for owner in ("torch", "torch.Tensor", "torch.nn.functional")
                       for name in ("softmax", "log_softmax", "softmin", "sum", "mean", "cumsum", "cumprod", "prod", "zeros_like", "ones_like", "full_like"))
_TORCH = os.path.dirname(torch.__file__) + os.sep
_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


class Untraceable(Exception):
    """Why a module cannot be recorded, and where."""


class _Kept(Exception):
    """The submodule ``path`` has to stay one call of itself."""

    def __init__(self, path, why):
        super().__init__(why)
        self.path = path


def _place():
    """"file.py:12" of the user's line that is running."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_TORCH, _OWN, "<")):
            return f"{os.path.basename(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def accessor(model, path):
    """Python text of what lies at a dotted path below ``self``."""
    text, owner = "self", model
    for part in path.split(".") if path else ():
        if part.isidentifier():
            text += f".{part}"
        elif part.isdigit() and isinstance(owner, (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ParameterList)):
            text += f"[{part}]"
        elif isinstance(owner, (torch.nn.ModuleDict, torch.nn.ParameterDict)):
            text += f"[{part!r}]"
        else:
            text = f"getattr({text}, {part!r})"
        owner = getattr(owner, part, None) if isinstance(owner, torch.nn.Module) else None
    return text


def _leaves(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, slice):
        yield from _leaves((value.start, value.stop, value.step))


def _paths(value, prefix=""):
    """(text behind the result's name, leaf) of a nested result."""
    if isinstance(value, torch.Tensor):
        yield prefix, value
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _paths(item, f"{prefix}[{i}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, (str, int)):
                raise Untraceable(f"a result with the key {key!r}")
            yield from _paths(item, f"{prefix}[{key!r}]")
    elif value is not None and not isinstance(value, (bool, int, float, str, torch.Size, torch.dtype, torch.device)):
        raise Untraceable(f"a result that holds a {type(value).__name__}")


class Recorder(TorchFunctionMode):
    """Records the calls of one forward. ``model`` may be a source.Function: then nothing lies below ``self``."""

    def __init__(self, model, kept, names_of_globals):
        super().__init__()
        self.model = model
        self.kept = kept  # paths of submodules that stay calls
        self.values, self.calls, self.weights = [], [], []
        self._by_id, self._roots, self._stale, self._numbers = {}, [], set(), []
        self._refs = {}
        self._globals = names_of_globals  # id of a tensor -> name in the task's module
        self._paused = False
        self._stack = [""]
        self._view_of = {}  # a view -> (the tensor behind it, text with {0} for that, id of the Python object)
        self._device = None  # type of the first input's
        self._devices = {}  # id of an input or weight -> the type of its device
        self._changed_state = {}  # id of a weight that a call has changed -> that call
        self._read_by = {}  # id of a weight -> calls that read it
        self._changed_by_kept = {}  # id of a tensor -> the kept submodule that changes it
        self._last_of = {}  # path of a kept submodule -> what its last call gave
        self._paths = {id(m): p for p, m in model.named_modules()} if isinstance(model, torch.nn.Module) else {}
        self._state = {}
        for path, module in model.named_modules():
            tables = [module._parameters, module._buffers, {k: v for k, v in vars(module).items() if isinstance(v, torch.Tensor)}]
            for table in tables:
                for name, tensor in table.items():
                    if isinstance(tensor, torch.Tensor):
                        self._state.setdefault(id(tensor), (tensor, f"{path}.{name}" if path else name))
            for name, value in vars(module).items():  # lists of tensors: self.scales[2]
                if isinstance(value, (list, tuple)) and not name.startswith("_"):
                    for i, tensor in enumerate(value):
                        if isinstance(tensor, torch.Tensor):
                            self._state.setdefault(id(tensor), (tensor, (path, name, i)))
        self._autocast = self._autocasts()
        classes = {id(module): configuration.class_of(path, module) for path, module in model.named_modules()}
        self.attributes = configuration.Reads(classes, lambda: not self._paused)

    @staticmethod
    def _autocasts():
        return torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")

    # --- values ---------------------------------------------------------------------------------------------------

    def new_value(self, tensor, root, live):
        index = len(self.values)
        self.values.append(_described(tensor, self._device))
        self._roots.append(index if root is None else root)
        self._numbers.append(live)
        self._name(tensor, index)
        return index

    def _name(self, tensor, index):
        key = id(tensor)
        self._by_id[key] = index
        self._refs[key] = weakref.ref(tensor, lambda _, key=key: (self._by_id.pop(key, None), self._refs.pop(key, None)))

    def add_input(self, tensor):
        self._device = self._device or tensor.device.type
        index = self.new_value(tensor, None, True)
        self._devices[index] = tensor.device.type
        return index

    def known(self, tensor):
        return self._by_id.get(id(tensor))

    def value_of(self, tensor):
        index = self._by_id.get(id(tensor))
        if index is not None:
            if index in self._stale:
                raise Untraceable(f"{_place()}: a view of a tensor that was changed in place is read")
            return index
        if id(tensor) in self._state:
            kept, path = self._state[id(tensor)]
            if isinstance(path, tuple):
                owner, name, at = path
                text = accessor(self.model, f"{owner}.{name}" if owner else name) + f"[{at}]"
            else:
                text = accessor(self.model, path)
            return self._weight(kept, text)
        if id(tensor) in self._globals:
            return self._weight(tensor, self._globals[id(tensor)])
        if tensor.numel() <= _MOST_LITERAL and tensor.dtype in _LITERAL_TYPES and not tensor.requires_grad:
            return self._literal(tensor)
        raise Untraceable(f"{_place()}: a tensor comes from outside of PyTorch's functions")

    def _literal(self, tensor):
        """A small tensor that the constructor's code holds (a closure, a list): its numbers stand in the text."""
        reads = []
        text = f"torch.tensor({self.text(tensor.tolist(), reads)}, dtype={tensor.dtype}, device={self._device_text(tensor.device, reads)})"
        index = self.new_value(tensor, None, False)
        self._refs[("literal", index)] = tensor
        self._append(text, "tensor", reads, [{"id": index, "item": ""}])
        return index

    def _weight(self, tensor, text):
        index = self.new_value(tensor, None, True)
        self.weights.append({"id": index, "text": text, "contiguous": tensor.is_contiguous()})
        self._devices[index] = tensor.device.type
        self._refs[("weight", index)] = tensor  # alive: its id stays its own
        return index

    # --- text -----------------------------------------------------------------------------------------------------

    def text(self, value, reads):
        """Python text of an argument; tensors become {0}, {1}, … of ``reads``."""
        if isinstance(value, torch.Tensor):
            index = self.value_of(value)
            if index not in reads:
                reads.append(index)
            return f"{{{reads.index(index)}}}"
        if value is None or isinstance(value, (bool, str)):
            return repr(value).replace("{", "{{").replace("}", "}}") if isinstance(value, str) else repr(value)
        if type(value) is int:
            return repr(value)
        if isinstance(value, float):
            if math.isfinite(value):
                return repr(float(value))
            return "float('nan')" if math.isnan(value) else "float('inf')" if value > 0 else "float('-inf')"
        if isinstance(value, (torch.dtype, torch.memory_format, torch.layout)):
            return str(value)
        if isinstance(value, torch.device):
            return self._device_text(value, reads)
        if isinstance(value, slice):
            return f"slice({self.text(value.start, reads)}, {self.text(value.stop, reads)}, {self.text(value.step, reads)})"
        if value is Ellipsis:
            return "..."
        if isinstance(value, (list, torch.Size)):
            return "[" + ", ".join(self.text(v, reads) for v in value) + "]"
        if isinstance(value, tuple):
            return "(" + "".join(self.text(v, reads) + ", " for v in value)[:-1 if len(value) == 1 else -2 if value else None].rstrip() + ")"
        if hasattr(value, "item") and type(value).__module__ == "numpy":
            return self.text(value.item(), reads)
        if isinstance(value, int):  # an enum
            return repr(int(value))
        raise Untraceable(f"{_place()}: an argument of type {type(value).__name__}")

    def _device_text(self, device, reads):
        """The device of a tensor that forward is given, so that the text runs wherever the module does."""
        index = next((i for i, d in self._devices.items() if d == device.type), None)
        if index is None:
            raise Untraceable(f"{_place()}: the device {device} is none of its inputs'")
        if index not in reads:
            reads.append(index)
        return f"{{{reads.index(index)}}}.device"

    def _index_text(self, index, reads):
        parts = index if isinstance(index, tuple) else (index,)
        texts = []
        for part in parts:
            if isinstance(part, slice):
                ends = [self.text(end, reads) if end is not None else "" for end in (part.start, part.stop, part.step)]
                texts.append(f"{ends[0]}:{ends[1]}" + (f":{ends[2]}" if ends[2] else ""))
            else:
                if isinstance(part, torch.Tensor) and part.dtype in (torch.bool, torch.uint8) and part.dim() > 0:
                    raise Untraceable(f"{_place()}: indexing by a mask gives a shape that depends on numbers")
                texts.append(self.text(part, reads))
        return ", ".join(texts) + ("," if isinstance(index, tuple) and len(parts) == 1 else "")

    def _call_text(self, name, args, kwargs, reads, func=None):
        """(text, the function's last name) of a call by the public name of a function."""
        kwargs = {k: v for k, v in kwargs.items() if not k.startswith("_") and not _is_usual(k, v)}
        if kwargs.get("dtype") is not None and args and isinstance(args[0], torch.Tensor) and args[0].dtype is kwargs["dtype"] and name in _SAME_TYPE:
            kwargs.pop("dtype")
        name = name.replace("torch.functional.", "torch.", 1)
        short = name.rpartition(".")[2]
        if name.startswith("torch.nn.functional.") and len(args) > 2:
            args, kwargs = _by_keyword(func, args, kwargs)

        def listed(arguments):
            texts = [self.text(a, reads) for a in arguments] + [f"{k}={self.text(v, reads)}" for k, v in kwargs.items()]
            return ", ".join(texts)

        if name.startswith("torch.Tensor."):
            member = name.removeprefix("torch.Tensor.")
            if member.endswith(".__get__"):
                member = member.removesuffix(".__get__")
                return f"{self.text(args[0], reads)}.{member}", member
            if member == "__getitem__":
                return f"{self.text(args[0], reads)}[{self._index_text(args[1], reads)}]", member
            if member in _BINARY and not kwargs:
                return f"{self.text(args[0], reads)} {_BINARY[member]} {self.text(args[1], reads)}", member
            if member.startswith("__r") and "__" + member[3:] in _BINARY and not kwargs:
                return f"{self.text(args[1], reads)} {_BINARY['__' + member[3:]]} {self.text(args[0], reads)}", "__" + member[3:]
            if member == "__neg__":
                return f"-{self.text(args[0], reads)}", member
            if member == "__invert__":
                return f"~{self.text(args[0], reads)}", member
            if member in _METHOD_OF_SIGN and len(args) == 2 and not kwargs:
                return f"{self.text(args[0], reads)} {_METHOD_OF_SIGN[member]} {self.text(args[1], reads)}", member
            if not isinstance(args[0], torch.Tensor):
                raise Untraceable(f"{_place()}: {name} of a {type(args[0]).__name__}")
            return f"{self.text(args[0], reads)}.{member}({listed(args[1:])})", member
        return f"{name}({listed(args)})", short

    # --- calls ----------------------------------------------------------------------------------------------------

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self._paused:
            return func(*args, **kwargs)
        own = isinstance(func, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)) or str(getattr(func, "__module__", "")).startswith("torch._C._nn")
        name = None if own else resolve_name(func)
        if name is None:
            name = _name_of_operator(func)
        if name is None:
            return self._nameless(func, args, kwargs)
        member = name.removesuffix(".__get__").rpartition(".")[2]
        tensors = list(_leaves((args, kwargs)))
        before = [t._version for t in tensors]
        if member in _READS_NUMBERS:
            if any(self._is_live(t) for t in tensors):
                raise Untraceable(f"{_place()}: {member} makes what follows depend on numbers")
            return func(*args, **kwargs)
        self._refuse(name, member, func, args, kwargs)
        if member == "multi_head_attention_forward":
            with self:  # its parts are what is recorded
                parts = attention_parts.multi_head_attention(*args, **kwargs)
            if parts is not None:
                return parts
        result = func(*args, **kwargs)
        changed = [t for t, version in zip(tensors, before) if t._version != version]
        given = [t for t in _leaves(result)]
        if not given and not changed:
            return result
        if name.endswith("__set__"):
            raise Untraceable(f"{_place()}: {name.removeprefix('torch.Tensor.').removesuffix('.__set__')} of a tensor is set")
        if not changed and all(self.known(t) is not None and self.known(t) not in self._stale for t in given) and member != "batch_norm":
            return result  # what it was given, unchanged
        if changed:
            self._record_change(name, member, args, kwargs, result, changed)
        else:
            self._record(name, args, kwargs, result, func)
        return result

    @staticmethod
    def _nameless(func, args, kwargs):
        """A function that no text can call: fine where it neither gives nor changes a tensor (torch.set_grad_enabled)."""
        tensors = list(_leaves((args, kwargs)))
        before = [t._version for t in tensors]
        result = func(*args, **kwargs)
        if any(True for _ in _leaves(result)) or any(t._version != version for t, version in zip(tensors, before)):
            raise Untraceable(f"{_place()}: a function without a public name, {getattr(func, '__name__', func)}")
        return result

    def _is_live(self, tensor):
        index = self.known(tensor)
        return True if index is None else self._numbers[index]

    def _refuse(self, name, member, func, args, kwargs):
        if member in _SHAPED_BY_NUMBERS or member == "where" and len(args) == 1:
            raise Untraceable(f"{_place()}: {member} gives a shape that depends on numbers")
        if member in _DROPOUTS:
            options = inspect.signature(func).bind(*args, **kwargs)
            options.apply_defaults()
            if options.arguments.get("training") and options.arguments.get("p"):
                raise Untraceable(f"{_place()}: {member} draws random numbers")
        elif member in _DRAWS:
            raise Untraceable(f"{_place()}: {member} draws random numbers")

    def _append(self, text, member, reads, given, place="", effect=False, view=False):
        if self._autocasts() != self._autocast:
            text, member = self._autocast_text(text, reads), "under_autocast"
        if len(self.calls) >= _MOST_CALLS:
            raise Untraceable(f"{place or _place()}: more than {_MOST_CALLS} calls")
        for index in reads:
            self._read_by.setdefault(index, []).append(len(self.calls))
        self.calls.append({"text": text, "name": member, "reads": reads, "gives": given, "view": view, "effect": effect,
                           "place": place or _place(), "module": self._stack[-1]})

    def _autocast_text(self, text, reads):
        """The call as it runs within the autocast that is in force: it stays PyTorch's."""
        kind = "cuda" if torch.is_autocast_enabled("cuda") != self._autocast[1] else "cpu"
        if not reads:
            raise Untraceable(f"{_place()}: autocast")
        enabled = torch.is_autocast_enabled(kind)
        return f"under_autocast({{0}}.device.type, {torch.get_autocast_dtype(kind)}, {enabled}, lambda: {text})"

    def _results(self, result, reads, view_of):
        live = any(self._numbers[r] for r in reads)
        given = []
        for item, tensor in _paths(result):
            root = None
            for source in view_of:
                if _same_storage(tensor, source):
                    root = self._roots[self.value_of(source)]
            given.append({"id": self.new_value(tensor, root, live), "item": item})
        return given

    def _record(self, name, args, kwargs, result, func):
        reads = []
        member = name.removesuffix(".__get__").rpartition(".")[2]
        if member in _DROPOUTS:
            args, kwargs = args[:1] or (kwargs["input"],), {}
            text, member = f"{self.text(args[0], reads)}", "identity"
        else:
            text, member = self._call_text(name, args, kwargs, reads, func)
        if member in ("view", "reshape", "flatten", "unflatten", "expand", "view_as", "reshape_as", "ravel") and isinstance(result, torch.Tensor) \
                and not any(isinstance(a, torch.dtype) for a in args):
            shape = ", ".join(map(str, result.shape)) or "()"
            reads = reads[:1]
            text, member = (f"{{0}}.expand({shape})", "expand") if member == "expand" else (f"{{0}}.reshape({shape})", "reshape")
        given = self._results(result, reads, list(_leaves((args, kwargs))))
        if len(given) == 1 and len(reads) == 1 and isinstance(result, torch.Tensor) and args and isinstance(args[0], torch.Tensor) \
                and self._roots[given[0]["id"]] == self._roots[reads[0]]:
            self._view_of[given[0]["id"]] = (reads[0], text, id(args[0]))
        self._append(text, member, reads, given, view=member in _VIEWS or member in ("__getitem__", "identity") and _is_view(args))

    def _record_change(self, name, member, args, kwargs, result, changed):
        targets = {id(t): t for t in changed}
        indices = {self.value_of(t) for t in targets.values()}
        weights = {w["id"] for w in self.weights}
        if indices <= weights:
            reads = []
            text, member = self._call_text(name, args, kwargs, reads)
            if member == "__setitem__":
                text = f"{self.text(args[0], reads)}.__setitem__({self.text(args[1], reads)}, {self.text(args[2], reads)})"
            given = [] if all(id(t) in targets for t in _leaves(result)) else self._results(result, reads, ())
            self._append(text, member, reads, given, effect=not given)
            for index in indices:
                self._changed_state[index] = len(self.calls) - 1
            return
        if len(targets) != 1:
            raise Untraceable(f"{_place()}: {member} changes several tensors in place")
        (target,) = targets.values()
        index = self.value_of(target)
        if self._roots[index] in self.inputs or index in self.inputs:
            raise Untraceable(f"{_place()}: {member} changes an input in place")
        if self._roots[index] in weights:
            raise Untraceable(f"{_place()}: {member} changes a view of the module's state in place")
        if index in self._view_of and self._behind(index, name, args, target, member):
            return self._record_change_of_view(name, member, args, kwargs, target, index)
        reads = []
        plain = member.removesuffix("_") if member.endswith("_") and not member.startswith("__") else {
            "__iadd__": "add", "__isub__": "sub", "__imul__": "mul", "__itruediv__": "div"}.get(member)
        functional = plain is not None and hasattr(torch.Tensor, plain) and plain not in ("copy", "fill", "zero", "index_put", "set", "resize")
        if "inplace" in kwargs and kwargs["inplace"]:
            text, member = self._call_text(name, args, {k: v for k, v in kwargs.items() if k != "inplace"}, reads)
        elif name.startswith("torch.nn.functional.") and not member.endswith("_") and args and args[-1] is True:
            text, member = self._call_text(name, args[:-1], kwargs, reads)
        elif functional and name.startswith("torch.Tensor."):
            text, member = self._call_text(f"torch.Tensor.{plain}", args, kwargs, reads)
        elif functional and hasattr(torch.nn.functional, plain) and name.startswith("torch.nn.functional."):
            text, member = self._call_text(f"torch.nn.functional.{plain}", args, kwargs, reads)
        elif functional and hasattr(torch, plain):
            text, member = self._call_text(f"torch.{plain}", args, kwargs, reads)
        elif member == "zero_":
            text, member = f"torch.zeros_like({self.text(target, reads)})", "zeros_like"
        elif member == "fill_" and len(args) == 2 and not isinstance(args[1], torch.Tensor):
            text, member = f"torch.full_like({self.text(target, reads)}, {self.text(args[1], reads)})", "full_like"
        else:
            # The target comes first: the changed copy is the result.
            place = self.text(target, reads)
            if member == "__setitem__":
                what = f"t.__setitem__({self.text(args[1], reads)}, {self.text(args[2], reads)})"
            elif name.startswith("torch.Tensor.") and args and args[0] is target and member.endswith("_"):
                rest = [self.text(a, reads) for a in args[1:]] + [f"{k}={self.text(v, reads)}" for k, v in kwargs.items()]
                what = f"t.{member}({', '.join(rest)})"
            else:
                raise Untraceable(f"{_place()}: {member} changes a tensor in place")
            text, member = f"changed_copy({place}, lambda t: {what})", "changed_copy"
        root = self._roots[index]
        live = any(self._numbers[r] for r in reads) or self._numbers[index]
        self._stale.update(i for i, r in enumerate(self._roots) if r == root)
        new = len(self.values)
        self.values.append(_described(target, self._device))
        self._roots.append(new)
        self._numbers.append(live)
        others = [key for key, value in self._by_id.items() if self._roots[value] == root and key != id(target)]
        for key in others:  # views of it: stale from now on
            self._stale.add(self._by_id[key])
        self._by_id[id(target)] = new
        self._append(text, member, reads, [{"id": new, "item": ""}])

    def _behind(self, index, name, args, target, member):
        """Is the tensor behind a view still somebody's, and can its change be written down? Where it is not, the view's own copy is changed, and
        whoever reads the tensor all the same is refused."""
        base, _, key = self._view_of[index]
        alive = key in self._refs and not isinstance(self._refs[key], torch.Tensor) and self._refs[key]() is not None
        return (alive and self._by_id.get(key) == base and base not in self._view_of and self._roots[base] == self._roots[index]
                and name.startswith("torch.Tensor.") and bool(args) and args[0] is target and (member.endswith("_") or member == "__setitem__"))

    def _record_change_of_view(self, name, member, args, kwargs, target, index):
        """What is written to a view is written to the tensor behind it: a changed copy of that, of which the view is made again."""
        base, view, key = self._view_of[index]
        reads = [base]
        part = view.format("t")
        if member in ("__iadd__", "__isub__", "__imul__", "__itruediv__"):
            member = {"__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_"}[member]
        if member == "__setitem__":
            rest = [self.text(args[1], reads), self.text(args[2], reads)]
        else:
            rest = [self.text(a, reads) for a in args[1:]] + [f"{k}={self.text(v, reads)}" for k, v in kwargs.items()]
        live = any(self._numbers[r] for r in reads)
        root = self._roots[base]
        self._stale.update(i for i, r in enumerate(self._roots) if r == root)
        new = len(self.values)
        self.values.append(dict(self.values[base]))
        self._roots.append(new)
        self._numbers.append(live)
        self._by_id[key] = new
        self._append(f"changed_copy({{0}}, lambda t: {part}.{member}({', '.join(rest)}))", "changed_copy", reads, [{"id": new, "item": ""}])
        again = len(self.values)
        self.values.append(_described(target, self._device))
        self._roots.append(new)
        self._numbers.append(live)
        self._by_id[id(target)] = again
        self._view_of[again] = (new, view, key)
        self._append(view.replace("{0}", "{0}"), "view", [new], [{"id": again, "item": ""}], view=True)

    # --- modules --------------------------------------------------------------------------------------------------

    def enter(self, module, call, args, kwargs):
        """In place of ``module.__call__``."""
        path = self._paths.get(id(module))
        if self._paused or path is None:
            return call(module, *args, **kwargs)
        if path in self.kept:
            return self._keep(module, path, call, args, kwargs)
        self._stack.append(path)
        try:
            return call(module, *args, **kwargs)
        except _Kept:
            raise
        except Untraceable as error:
            if path:
                raise _Kept(path, str(error)) from None
            raise
        finally:
            self._stack.pop()

    def _keep(self, module, path, call, args, kwargs):
        reads = []
        listed = [self.text(a, reads) for a in args] + [f"{k}={self.text(v, reads)}" for k, v in kwargs.items()]
        # Calls of one submodule keep their order, which its state may depend on.
        reads += [index for index in self._last_of.get(path, ())[:1] if index not in reads]
        tensors = list(_leaves((args, kwargs)))
        state = [*module.parameters(), *module.buffers()]
        before = [t._version for t in tensors + state]
        self._paused = True
        try:
            result = call(module, *args, **kwargs)
        finally:
            self._paused = False
        changed = [t._version != version for t, version in zip(tensors + state, before)]
        if any(changed[:len(tensors)]):
            raise Untraceable(f"{path}: it changes its arguments in place")
        self._changed_by_kept.update((id(t), path) for t, new in zip(state, changed[len(tensors):]) if new)
        self._paused = True
        given = self._results(result, reads, tensors)
        self._paused = False
        self._last_of[path] = [value["id"] for value in given]
        self._append(f"{accessor(self.model, path)}({', '.join(listed)})", "module", reads, given, place=path)
        return result

    def check_state(self):
        """State that a call changes is read by no other call: the order of the two could become another."""
        for index, at in self._changed_state.items():
            calls = self._read_by.get(index, ())
            if any(call != at for call in calls):
                paths = {self.calls[call]["module"] for call in (*calls, at)}
                why = f"{self.calls[at]['place']}: the module's state is changed and read in one forward"
                if len(paths) == 1 and "" not in paths:  # one submodule, called several times
                    raise _Kept(paths.pop(), why)
                raise Untraceable(why)
        for weight in self.weights:
            path = self._changed_by_kept.get(id(self._refs[("weight", weight["id"])]))
            if path is not None:
                raise Untraceable(f"{path}: it changes {weight['text']}, which forward reads elsewhere")


def _described(tensor, device):
    kind = str(tensor.dtype).removeprefix("torch.")
    if tensor.layout is not torch.strided:
        kind = f"sparse {kind}"
    elif device is not None and tensor.device.type != device:
        kind = f"{tensor.device.type} {kind}"
    return {"shape": list(tensor.shape), "dtype": kind}


def _is_view(args):
    return all(not isinstance(part, torch.Tensor) for part in (args[1:] or ()) for part in (part if isinstance(part, tuple) else (part,)))


def _by_keyword(func, args, kwargs):
    """Arguments behind the second by keyword, where the function says their names; those at their default are left out."""
    try:
        parameters = list(inspect.signature(func).parameters.values())
    except (TypeError, ValueError):
        return args, kwargs
    if len(args) > len(parameters) or any(p.kind is not p.POSITIONAL_OR_KEYWORD for p in parameters[:len(args)]):
        return args, kwargs
    named = {p.name: value for p, value in zip(parameters[2:], args[2:]) if not _same_number(value, p.default)}
    return args[:2], {**named, **{k: v for k, v in kwargs.items() if not _is_usual(k, v)}}


def _same_number(value, usual):
    return value is usual or type(value) is type(usual) and isinstance(value, (bool, int, float, str)) and value == usual


def _is_usual(keyword, value):
    return keyword in _USUAL and _same_number(value, _USUAL[keyword])


def _same_storage(a, b):
    try:
        return a.untyped_storage()._cdata == b.untyped_storage()._cdata
    except (RuntimeError, NotImplementedError):
        return False


def _name_of_operator(func):
    text = str(func)
    if isinstance(func, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return "torch.ops." + text.replace("::", ".")
    name = getattr(func, "__name__", "")
    module = getattr(func, "__module__", None) or "torch"
    if module.startswith("torch._C._nn"):
        return f"torch.nn.functional.{name}" if hasattr(torch.nn.functional, name) else f"torch._C._nn.{name}"
    if name and getattr(torch, name, None) is func:
        return f"torch.{name}"
    if name == "__get__" or name == "__set__":
        owner = getattr(func, "__self__", None)
        return f"torch.Tensor.{getattr(owner, '__name__', '?')}.{name}"
    if name and getattr(torch.Tensor, name, None) is func:
        return f"torch.Tensor.{name}"
    return None


class _Modules:
    """``module.__call__`` goes through the recorder while this is open."""

    def __init__(self, recorder):
        self._recorder = recorder

    def __enter__(self):
        self._own = torch.nn.Module.__call__
        recorder, own = self._recorder, self._own

        def call(module, *args, **kwargs):
            return recorder.enter(module, own, args, kwargs)

        torch.nn.Module.__call__ = call

    def __exit__(self, *unused):
        torch.nn.Module.__call__ = self._own


# --- the whole ----------------------------------------------------------------------------------------------------


def _bound(forward, args, kwargs):
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


def record(model, args, kwargs, kept, scope):
    """One forward: (graph without what belongs to the task file, the attributes that it reads)."""
    recorder = Recorder(model, kept, {id(v): k for k, v in scope.items() if isinstance(v, torch.Tensor)})
    recorder.scope = scope
    forward = model.forward if isinstance(model, torch.nn.Module) else model
    target = getattr(model, "_function", None) if type(model).__name__ == "Function" else None
    try:
        signature, names, values = _bound(target or forward, args, kwargs)
    except ValueError:  # an operator of torch's, which has no signature
        names = [f"x{i}" for i in range(len(args))] + list(kwargs)
        signature, values = ", ".join(names), list(zip(names, [*args, *kwargs.values()]))
    inputs = []
    recorder.inputs = set()
    for name, value in values:
        for suffix, tensor in _paths(value):
            if recorder.known(tensor) is not None:
                raise Untraceable("one tensor is passed as two arguments")
            index = recorder.add_input(tensor)
            recorder.inputs.add(index)
            inputs.append({"id": index, "text": name + suffix, "order": _order_in_memory(tensor)})
    with torch.no_grad(), recorder.attributes, _Modules(recorder), recorder:
        result = recorder.enter(model, type(model).__call__, args, kwargs) if id(model) not in recorder._paths else model(*args, **kwargs)
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


def _prune(graph):
    """Leaves out calls whose results nothing reads."""
    needed, calls = set(graph["outputs"]), []
    for call in reversed(graph["calls"]):
        if call["effect"] or any(given["id"] in needed for given in call["gives"]) or call["name"] == "batch_norm" and "True" in call["text"]:
            needed.update(call["reads"])
            calls.append(call)
    graph["calls"] = calls[::-1]
    graph["weights"] = [w for w in graph["weights"] if w["id"] in needed]


def run(graph, model, args, kwargs, scope):
    """Evaluates a graph in PyTorch: its result for these arguments."""
    target = getattr(model, "_function", None) if type(model).__name__ == "Function" else None
    try:
        _, _, values = _bound(target or model.forward, args, kwargs)
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


def _guard(graph, model, reads, args, kwargs):
    """When a candidate's kernels are the answer: for what was traced, in sizes, types, other arguments and configuration. Else the module's own
    forward is."""
    function = getattr(model, "_function", None) if type(model).__name__ == "Function" else None
    try:
        _, _, values = _bound(function or model.forward, args, kwargs)
    except ValueError:
        values = list(zip(graph["names"], [*args, *kwargs.values()]))
    tests = []
    for name, value in values:
        for suffix, tensor in _paths(value):
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


def _function_name(function):
    name = resolve_name(function)
    return name or getattr(function, "__name__", "")


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


def _helpers(graph):
    """What the graph's texts call, as text."""
    called = {call["name"] for call in graph["calls"]}
    helpers = [helper for helper in (changed_copy, under_autocast) if helper.__name__ in called]
    if "as_traced(" in graph["guard"]:
        helpers += [configuration.AsTraced, configuration.as_traced]
    return "".join("\n\n" + inspect.getsource(helper) for helper in helpers)


def graph_of(model, args, kwargs, scope, fresh):
    """The graph of a module, checked: evaluated on other inputs it gives what the module gives.

    ``scope``: globals of the task's module. ``fresh()``: (a copy of the model, positional, keyword arguments) drawn anew."""
    kept, why = set(), []
    while True:
        try:
            graph, attributes = record(model, args, kwargs, kept, scope)
            break
        except _Kept as error:
            if len(kept) >= _MOST_RETRIES:
                raise Untraceable(f"more than {_MOST_RETRIES} submodules would stay calls; the last: {error}") from None
            kept.add(error.path)
            why.append({"module": error.path, "why": str(error)})
            model, args, kwargs = fresh()
    _prune(graph)
    graph["kept"] = why
    traced = args, kwargs
    other, args, kwargs = fresh()
    _guard(graph, other, attributes.named(other, model), *traced)
    graph["helpers"] = _helpers(graph)
    torch.manual_seed(_SEED)
    with torch.no_grad():
        expected = copy.deepcopy(other)(*copy.deepcopy(args), **copy.deepcopy(kwargs))
    torch.manual_seed(_SEED)
    found = run(graph, other, args, kwargs, scope)
    if not same(expected, found):
        raise Untraceable("the recorded calls give another result than the module on other inputs")
    return graph


# --- the task's file ----------------------------------------------------------------------------------------------

_DRAWING = frozenset(("get_inputs", "get_init_inputs"))


def source_of(text, sizes):
    """{"future", "text", "names"}: what a candidate keeps of a task's file, which is all but what draws inputs; ``sizes`` are set behind it.
    ``names`` are those that the text binds."""
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    drop, future, names = set(), [], set()
    for node in tree.body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
        span = range(first - 1, node.end_lineno)
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            future += ["".join(lines[i] for i in span)]
            drop.update(span)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name in _DRAWING or _is_main(node):
            drop.update(span)
        else:
            names.update(_bound_names(node))
    kept = "".join(line for i, line in enumerate(lines) if i not in drop).strip("\n") + "\n"
    kept += "\n" * bool(sizes) + "".join(f"{name} = {value!r}\n" for name, value in sizes.items())
    while "\n\n\n\n" in kept:
        kept = kept.replace("\n\n\n\n", "\n\n\n")
    return {"future": "".join(future), "text": kept, "names": sorted(names)}


def _is_main(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and isinstance(node.test.left, ast.Name) and node.test.left.id == "__name__"


def _bound_names(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {node.name}
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}
