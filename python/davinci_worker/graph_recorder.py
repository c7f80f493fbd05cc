"""Records the calls of PyTorch that a forward makes while it runs (module_graph.py)."""

import inspect
import itertools
import weakref

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from davinci_worker import attention_parts, configuration, sizes
from davinci_worker.graph_changes import Changes
from davinci_worker.graph_refusal import Kept, Untraceable, users_line
from davinci_worker.graph_text import CallText, accessor, name_of_operator
from davinci_worker.graph_values import described, leaves, paths, same_storage

_MOST_CALLS = 2_000
_MOST_LITERAL = 64  # elements
_LITERAL_TYPES = (torch.float32, torch.float64, torch.int64, torch.bool)
# Answers that depend on numbers: what a program does next is then no property of its configuration.
_READS_NUMBERS = frozenset("""item tolist numpy __bool__ __int__ __float__ __index__ __complex__ __array__ is_nonzero equal allclose data_ptr
    __contains__ __len__of_values storage untyped_storage __dlpack__ __reduce_ex__ __deepcopy__ save""".split())
# The shape of the answer depends on numbers.
_SHAPED_BY_NUMBERS = frozenset("""nonzero masked_select unique unique_consecutive argwhere bincount histc combinations unique_dim _unique2
    nonzero_static""".split())
_DRAWS = frozenset("""rand randn randint rand_like randn_like randint_like randperm bernoulli multinomial normal poisson uniform_ normal_ random_
    bernoulli_ exponential_ cauchy_ geometric_ log_normal_ rrelu_ feature_dropout_ dropout_""".split())
_DROPOUTS = frozenset("dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout".split())
_VIEWS = frozenset("""view reshape view_as reshape_as flatten unflatten permute transpose t T mT H swapaxes swapdims movedim moveaxis unsqueeze
    squeeze expand expand_as broadcast_to narrow select chunk split unbind tensor_split diagonal unfold detach size adjoint ravel
    contiguous as_strided view_as_real view_as_complex real imag data hsplit vsplit dsplit atleast_1d atleast_2d atleast_3d""".split())


class Recorder(TorchFunctionMode):
    """Records the calls of one forward. ``model`` may be a source.Function: then nothing lies below ``self``. ``built``: what it is a copy of."""

    def __init__(self, model, kept, names_of_globals, built):
        super().__init__()
        self.model = model
        self.kept = kept  # paths of submodules that stay calls
        self.values, self.calls, self.weights = [], [], []
        self.by_id, self.roots, self.stale, self.numbers = {}, [], set(), []
        self.refs = {}
        self._globals = names_of_globals  # id of a tensor -> name in the task's module
        self._paused = False
        self._stack = [""]
        self.view_of = {}  # a view -> (the tensor behind it, text with {0} for that, id of the Python object)
        self.device = None  # type of the first input's
        self._devices = {}  # id of an input or weight -> the type of its device
        self.changed_state = {}  # id of a weight that a call has changed -> that call
        self._read_by = {}  # id of a weight -> calls that read it
        self._changed_by_kept = {}  # id of a tensor -> the kept submodule that changes it
        self._last_of = {}  # path of a kept submodule -> what its last call gave
        self._paths = {id(m): p for p, m in model.named_modules()} if isinstance(model, torch.nn.Module) else {}
        self._state = {}
        # A closure that the constructor made still calls the modules of the object that the copy was made of.
        both = list(itertools.chain(model.named_modules(), built.named_modules()))
        for path, module in both:
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
        self._autocast = _autocasts()
        self.texts = CallText(self.value_of, self._devices)
        self._changes = Changes(self)
        classes = {id(module): configuration.class_of(path, module) for path, module in both}
        self.attributes = configuration.Reads(classes, lambda: not self._paused)

    # --- values ---------------------------------------------------------------------------------------------------

    def new_value(self, tensor, root, live):
        index = len(self.values)
        self.values.append(described(tensor, self.device))
        self.roots.append(index if root is None else root)
        self.numbers.append(live)
        self._name(tensor, index)
        return index

    def _name(self, tensor, index):
        key = id(tensor)
        self.by_id[key] = index
        self.refs[key] = weakref.ref(tensor, lambda _, key=key: (self.by_id.pop(key, None), self.refs.pop(key, None)))

    def add_input(self, tensor):
        self.device = self.device or tensor.device.type
        index = self.new_value(tensor, None, True)
        self._devices[index] = tensor.device.type
        return index

    def known(self, tensor):
        return self.by_id.get(id(tensor))

    def value_of(self, tensor):
        index = self.by_id.get(id(tensor))
        if index is not None:
            if index in self.stale:
                raise Untraceable(f"{users_line()}: a view of a tensor that was changed in place is read")
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
        raise Untraceable(f"{users_line()}: a tensor comes from outside of PyTorch's functions")

    def _literal(self, tensor):
        """A small tensor that the constructor's code holds (a closure, a list): its numbers stand in the text."""
        reads = []
        text = f"torch.tensor({self.texts.text(tensor.tolist(), reads)}, dtype={tensor.dtype}, device={self.texts.device(tensor.device, reads)})"
        index = self.new_value(tensor, None, False)
        self.refs[("literal", index)] = tensor
        self.append(text, "tensor", reads, [{"id": index, "item": ""}])
        return index

    def _weight(self, tensor, text):
        index = self.new_value(tensor, None, True)
        self.weights.append({"id": index, "text": text, "contiguous": tensor.is_contiguous()})
        self._devices[index] = tensor.device.type
        self.refs[("weight", index)] = tensor  # alive: its id stays its own
        return index

    # --- calls ----------------------------------------------------------------------------------------------------

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self._paused:
            return func(*args, **kwargs)
        own = isinstance(func, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)) or str(getattr(func, "__module__", "")).startswith("torch._C._nn")
        name = None if own else resolve_name(func)
        if name is None:
            name = name_of_operator(func)
        if name is None:
            return self._nameless(func, args, kwargs)
        member = name.removesuffix(".__get__").rpartition(".")[2]
        tensors = list(leaves((args, kwargs)))
        before = [t._version for t in tensors]
        if member in _READS_NUMBERS:
            if any(self._is_live(t) for t in tensors):
                raise Untraceable(f"{users_line()}: {member} makes what follows depend on numbers")
            return func(*args, **kwargs)
        self._refuse(name, member, func, args, kwargs)
        if member == "multi_head_attention_forward":
            with self:  # its parts are what is recorded
                parts = attention_parts.multi_head_attention(*args, **kwargs)
            if parts is not None:
                return parts
        result = func(*args, **kwargs)
        changed = [t for t, version in zip(tensors, before) if t._version != version]
        given = [t for t in leaves(result)]
        if not given and not changed:
            return result
        if name.endswith("__set__"):
            raise Untraceable(f"{users_line()}: {name.removeprefix('torch.Tensor.').removesuffix('.__set__')} of a tensor is set")
        if not changed and all(self.known(t) is not None and self.known(t) not in self.stale for t in given) and member != "batch_norm":
            return result  # what it was given, unchanged
        if changed:
            self._changes.record(name, member, args, kwargs, result, changed)
        else:
            self._record(name, args, kwargs, result, func)
        return result

    @staticmethod
    def _nameless(func, args, kwargs):
        """A function that no text can call: fine where it neither gives nor changes a tensor (torch.set_grad_enabled)."""
        tensors = list(leaves((args, kwargs)))
        before = [t._version for t in tensors]
        result = func(*args, **kwargs)
        if any(True for _ in leaves(result)) or any(t._version != version for t, version in zip(tensors, before)):
            raise Untraceable(f"{users_line()}: a function without a public name, {getattr(func, '__name__', func)}")
        return result

    def _is_live(self, tensor):
        index = self.known(tensor)
        return True if index is None else self.numbers[index]

    def _refuse(self, name, member, func, args, kwargs):
        if member in _SHAPED_BY_NUMBERS or member == "where" and len(args) == 1:
            raise Untraceable(f"{users_line()}: {member} gives a shape that depends on numbers")
        if member in _DROPOUTS:
            options = inspect.signature(func).bind(*args, **kwargs)
            options.apply_defaults()
            if options.arguments.get("training") and options.arguments.get("p"):
                raise Untraceable(f"{users_line()}: {member} draws random numbers")
        elif member in _DRAWS:
            raise Untraceable(f"{users_line()}: {member} draws random numbers")

    def append(self, text, member, reads, given, place="", effect=False, view=False):
        if _autocasts() != self._autocast:
            text, member = self._autocast_text(text, reads), "under_autocast"
        if len(self.calls) >= _MOST_CALLS:
            raise Untraceable(f"{place or users_line()}: more than {_MOST_CALLS} calls")
        for index in reads:
            self._read_by.setdefault(index, []).append(len(self.calls))
        self.calls.append({"text": text, "name": member, "reads": reads, "gives": given, "view": view, "effect": effect,
                           "place": place or users_line(), "module": self._stack[-1]})

    def _autocast_text(self, text, reads):
        """The call as it runs within the autocast that is in force: it stays PyTorch's."""
        kind = "cuda" if torch.is_autocast_enabled("cuda") != self._autocast[1] else "cpu"
        if not reads:
            raise Untraceable(f"{users_line()}: autocast")
        enabled = torch.is_autocast_enabled(kind)
        return f"under_autocast({{0}}.device.type, {torch.get_autocast_dtype(kind)}, {enabled}, lambda: {text})"

    def results(self, result, reads, view_of):
        live = any(self.numbers[r] for r in reads)
        given = []
        for item, tensor in paths(result):
            root = None
            for source in view_of:
                if same_storage(tensor, source):
                    root = self.roots[self.value_of(source)]
            given.append({"id": self.new_value(tensor, root, live), "item": item})
        return given

    def _record(self, name, args, kwargs, result, func):
        reads = []
        member = name.removesuffix(".__get__").rpartition(".")[2]
        if member in _DROPOUTS:
            args, kwargs = args[:1] or (kwargs["input"],), {}
            text, member = f"{self.texts.text(args[0], reads)}", "identity"
        else:
            text, member = self.texts.call(name, args, kwargs, reads, func)
        if member in ("view", "reshape", "flatten", "unflatten", "expand", "view_as", "reshape_as", "ravel") and isinstance(result, torch.Tensor) \
                and not any(isinstance(a, torch.dtype) for a in args):
            shape = ", ".join(map(sizes.marked, result.shape)) or "()"
            reads = reads[:1]
            text, member = (f"{{0}}.expand({shape})", "expand") if member == "expand" else (f"{{0}}.reshape({shape})", "reshape")
        given = self.results(result, reads, list(leaves((args, kwargs))))
        if len(given) == 1 and len(reads) == 1 and isinstance(result, torch.Tensor) and args and isinstance(args[0], torch.Tensor) \
                and self.roots[given[0]["id"]] == self.roots[reads[0]]:
            self.view_of[given[0]["id"]] = (reads[0], text, id(args[0]))
        self.append(text, member, reads, given, view=member in _VIEWS or member in ("__getitem__", "identity") and is_view(args))

    # --- modules --------------------------------------------------------------------------------------------------

    def enters(self, module):
        return id(module) in self._paths

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
        except Kept:
            raise
        except Untraceable as error:
            if path:
                raise Kept(path, str(error)) from None
            raise
        finally:
            self._stack.pop()

    def _keep(self, module, path, call, args, kwargs):
        reads = []
        listed = [self.texts.text(a, reads) for a in args] + [f"{k}={self.texts.text(v, reads)}" for k, v in kwargs.items()]
        # Calls of one submodule keep their order, which its state may depend on.
        reads += [index for index in self._last_of.get(path, ())[:1] if index not in reads]
        tensors = list(leaves((args, kwargs)))
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
        given = self.results(result, reads, tensors)
        self._paused = False
        self._last_of[path] = [value["id"] for value in given]
        self.append(f"{accessor(self.model, path)}({', '.join(listed)})", "module", reads, given, place=path)
        return result

    def check_state(self):
        """State that a call changes is read by no other call: the order of the two could become another."""
        for index, at in self.changed_state.items():
            calls = self._read_by.get(index, ())
            if any(call != at for call in calls):
                paths = {self.calls[call]["module"] for call in (*calls, at)}
                why = f"{self.calls[at]['place']}: the module's state is changed and read in one forward"
                if len(paths) == 1 and "" not in paths:  # one submodule, called several times
                    raise Kept(paths.pop(), why)
                raise Untraceable(why)
        for weight in self.weights:
            path = self._changed_by_kept.get(id(self.refs[("weight", weight["id"])]))
            if path is not None:
                raise Untraceable(f"{path}: it changes {weight['text']}, which forward reads elsewhere")


def _autocasts():
    return torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")


def is_view(args):
    return all(not isinstance(part, torch.Tensor) for part in (args[1:] or ()) for part in (part if isinstance(part, tuple) else (part,)))


class Modules:
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
