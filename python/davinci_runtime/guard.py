"""The guard of an exported kernel: the kernel runs for what it was verified with, the reference for everything else.

A kernel reads memory by address, so the wrong type, shape or layout is not an error but a crash, or a wrong number. Before each call the
guard compares the arguments and the module's state with what the judge verified. What differs in any way goes to the reference's own
forward, with a warning; so do calls that need gradients, autocast, tracing and transforms. ``on_unverified`` and ``on_grad`` (attributes of
the class, the instance or the function: "reference" or "raise") choose between that and NotVerified.

The guarded class is a subclass of the reference: parameters, buffers, state_dict and gradients are the original's, and it is copied, pickled
and compiled like the original. Needs torch alone: this file is pasted into exported kernels.
"""

import functools
import inspect
import itertools
import linecache
import sys
import types
import warnings
import weakref

import torch

_ALIGNMENT = 64  # bytes; what torch's allocators give and vector loads may rely on
_MODE_DEPENDENT = (torch.nn.modules.batchnorm._NormBase, torch.nn.modules.dropout._DropoutNd, torch.nn.RReLU, torch.nn.RNNBase,
                   torch.nn.MultiheadAttention, torch.nn.TransformerEncoderLayer)
_MODULE_FIELDS = frozenset(vars(torch.nn.Module()))
_PLAIN = (type(None), bool, int, float, str, bytes)


class NotVerified(RuntimeError):
    """The arguments, the module's state or the way it is called differ from all that the kernel was verified with."""


def _transformed():
    """Why torch's own machinery stands between the caller and the numbers; None: it does not."""
    if torch.compiler.is_compiling() or torch.jit.is_tracing():
        return "the call is being traced or compiled"
    if torch._C._len_torch_dispatch_stack() or torch._C._len_torch_function_stack():
        return "a torch mode (a default device, fake tensors, …) is active"
    if torch._C._functorch.peek_interpreter_stack() is not None or torch.autograd.forward_ad._current_level >= 0:
        return "the call is inside a functorch transform or forward-mode differentiation"
    if torch.get_default_dtype() is not torch.float32:
        return f"the default type is {torch.get_default_dtype()}"
    return None


# ---- values ----


def _why_tensor(value, spec, target, name):
    kind = type(value)
    if kind is not torch.Tensor and kind is not torch.nn.Parameter:
        return f"{name} is a {kind.__name__}, not a torch.Tensor"
    if value.dtype is not spec["dtype"]:
        return f"{name} is {value.dtype}, verified for {spec['dtype']}"
    if value.device.type != target:
        return f"{name} is on {value.device}, verified for {target}"
    if value.shape != spec["shape"]:
        return f"{name} has shape {tuple(value.shape)}, verified for {spec['shape']}"
    if not value.is_contiguous() if spec["contiguous"] else value.stride() != spec["stride"]:
        return f"{name} has strides {value.stride()}, verified for {spec['stride']}"
    if value.layout is not torch.strided or value.is_neg() or value.is_conj():
        return f"{name} is no plain dense tensor"
    if value.data_ptr() % _ALIGNMENT:
        return f"{name} does not begin at a multiple of {_ALIGNMENT} bytes"
    if target == "cuda" and value.device.index != torch.cuda.current_device():
        return f"{name} is on {value.device}, the current device is cuda:{torch.cuda.current_device()}"
    return None


def _begins_as(tensor, verified):
    """Does the tensor begin at an aligned address, or where `verified` does in an aligned storage? Recurrent layers on cuda keep their weights
    in one buffer."""
    return tensor.data_ptr() % _ALIGNMENT == 0 or (tensor.storage_offset() == verified.storage_offset() and
                                                   tensor.untyped_storage().data_ptr() % _ALIGNMENT == 0)


def _why_value(value, spec, target, name):
    kind = spec["kind"]
    if kind == "tensor":
        return _why_tensor(value, spec, target, name)
    if kind == "list":
        if type(value).__name__ != spec["type"] or len(value) != len(spec["items"]):
            return f"{name} is another {spec['type']} than verified"
        for i, (item, inner) in enumerate(zip(value, spec["items"])):
            if (why := _why_value(item, inner, target, f"{name}[{i}]")) is not None:
                return why
        return None
    if kind == "dict":
        if type(value) is not dict:
            return f"{name} is another dict than verified"
        return _why_items(value, spec, target, name)
    if kind == "object":
        if f"{type(value).__module__}.{type(value).__qualname__}" != spec["type"]:
            return f"{name} is a {type(value).__qualname__}, verified for {spec['type']}"
        return _why_items(vars(value), spec, target, name)
    if kind == "map" and type(value) is dict and len(value) == len(spec["items"]):
        pairs = zip(value.items(), spec["items"])
        return next((why for pair, inner in pairs for v, s in zip(pair, inner) if (why := _why_value(v, s, target, name)) is not None), None)
    if kind == "named" and type(value).__name__ == spec["type"] and str(value) == spec["name"]:
        return None
    if kind == "value" and type(value) is type(spec["value"]) and value == spec["value"]:
        return None
    return f"{name} is {value!r:.60}, verified for {spec.get('value', spec.get('name', 'something else'))!r}"


def _why_items(items, spec, target, name):
    if list(map(str, items)) != list(spec["items"]):
        return f"{name} holds other entries than verified"
    for key, inner in spec["items"].items():
        if (why := _why_value(items[key], inner, target, f"{name}[{key!r}]")) is not None:
            return why
    return None


def _prepared(spec):
    """A spec as the judge writes it, with torch's own types in it."""
    if spec["kind"] == "tensor":
        shape, stride = tuple(spec["shape"]), tuple(spec["stride"])
        return {"kind": "tensor", "dtype": getattr(torch, spec["dtype"]), "shape": shape, "stride": stride, "contiguous": _is_contiguous(shape, stride)}
    if spec["kind"] == "list":
        return dict(spec, items=[_prepared(item) for item in spec["items"]])
    if spec["kind"] == "map":
        return dict(spec, items=[[_prepared(part) for part in pair] for pair in spec["items"]])
    if spec["kind"] in ("dict", "object"):
        return dict(spec, items={key: _prepared(item) for key, item in spec["items"].items()})
    return spec


def _is_contiguous(shape, stride):
    expected = 1
    for size, step in zip(reversed(shape), reversed(stride)):
        if size != 1 and step != expected:
            return False
        expected *= size
    return True


def _tensors(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)


# ---- calls ----


class _Verified:
    """Arguments that a callable was verified with, by position and by keyword. A call with the same values may mix the two as it likes; what
    it leaves out has its default value."""

    def __init__(self, spec, signature, target):
        self.positional = [_prepared(item) for item in spec["positional"]]
        self.keywords = {name: _prepared(item) for name, item in spec["keywords"].items()}
        self._signature, self._target = signature, target
        self._by_name = self._named(self.positional, self.keywords)
        # parameter: position in the verified call
        self._order = self._named(range(len(self.positional)), dict.fromkeys(self.keywords))

    def _named(self, arguments, keywords):
        """{parameter, or (its name, position) of *args: value}; None where they do not fit the signature."""
        if self._signature is None:
            return None
        try:
            bound = self._signature.bind(*arguments, **keywords)
        except TypeError:
            return None
        named = {}
        for name, value in bound.arguments.items():
            kind = self._signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                named.update({(name, i): item for i, item in enumerate(value)})
            elif kind is inspect.Parameter.VAR_KEYWORD:
                named.update(value)
            else:
                named[name] = value
        return named

    def match(self, arguments, keywords):
        """(None or what differs, positional arguments, keywords) of the kernel's call."""
        if len(arguments) != len(self.positional) or keywords.keys() != self.keywords.keys():
            return self._match_by_name(arguments, keywords)
        for i, (value, inner) in enumerate(zip(arguments, self.positional)):
            if (why := _why_value(value, inner, self._target, f"argument {i}")) is not None:
                return why, arguments, keywords
        for name, inner in self.keywords.items():
            if (why := _why_value(keywords[name], inner, self._target, name)) is not None:
                return why, arguments, keywords
        return None, arguments, keywords

    def _match_by_name(self, arguments, keywords):
        named = self._named(arguments, keywords)
        if named is None or self._by_name is None:
            return f"{len(arguments) + len(keywords)} arguments, verified for {len(self.positional) + len(self.keywords)}", arguments, keywords
        values = {}
        for name, spec in self._by_name.items():
            values[name] = named[name] if name in named else self._default(name)
            if values[name] is inspect.Parameter.empty:
                return f"{name} is missing", arguments, keywords
            if (why := _why_value(values[name], spec, self._target, str(name))) is not None:
                return why, arguments, keywords
        for name in named.keys() - self._by_name.keys():
            value, default = named[name], self._default(name)
            if value is not default and not (type(value) in _PLAIN and type(default) is type(value) and default == value):
                return f"{name} is given, verified without it", arguments, keywords
        at = sorted((self._order[name], name) for name in values if name not in self.keywords)
        return None, tuple(values[name] for _, name in at), {name: values[name] for name in self.keywords}

    def _default(self, name):
        return self._signature.parameters[name].default if name in self._signature.parameters else inspect.Parameter.empty


def _signature(function, skip=0):
    """Of a function, without its first ``skip`` parameters; None where it has none that can be told."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    return signature.replace(parameters=list(signature.parameters.values())[skip:])


class _Case:
    """One verified shape."""

    def __init__(self, case, target, call, init):
        self.inputs, self.init = _Verified(case["inputs"], call, target), _Verified(case["init"], init, "")
        self.state = {name: (getattr(torch, dtype), tuple(shape)) for name, dtype, shape in case["state"]}
        self.names = [name for name, _, _ in case["state"]]
        self.training, self.mode, self.other_mode = case["training"], case["mode"], frozenset(case["other_mode"])
        self.handover = case["handover"]  # [[the kernel's name, index of the original's, order of dimensions]]; None: both kept what they drew


class _Guard:
    """What was verified, of one class or function."""

    def __init__(self, facts, call, init, source):
        self.target = facts["target"]
        self.capability = facts.get("capability")
        self.cases = [_Case(case, self.target, call, init) for case in facts["cases"]]
        # Code of its own that asks for the mode: only the source can tell.
        self.mode_matters = "training" in source or "dropout" in source.lower()
        self.draws = any(case.handover is None for case in self.cases)

    @staticmethod
    def match(arguments, keywords, cases):
        """_Verified.match of the case that fits, or of the last one tried."""
        found = ("nothing was verified", arguments, keywords)
        for case in cases:
            found = case.inputs.match(arguments, keywords)
            if found[0] is None:
                break
        return found

    def why_device(self):
        if self.target == "cuda" and self.capability and list(torch.cuda.get_device_capability()) != list(self.capability):
            return f"the GPU has compute capability {torch.cuda.get_device_capability()}, verified for {tuple(self.capability)}"
        if torch.is_autocast_enabled(self.target):
            return "autocast is on"
        return None


def _needs_gradients(arguments, state):
    return torch.is_grad_enabled() and (any(t.requires_grad for t in _tensors(arguments)) or any(t.requires_grad for t in state))


def _warn(owner, why):
    said = owner.__dict__.setdefault("_davinci_said", set())
    if why not in said:
        said.add(why)
        warnings.warn(f"davinci: the reference runs instead of the kernel: {why}", RuntimeWarning, stacklevel=4)


# ---- modules ----


def _random_state():
    return torch.get_rng_state(), torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None


def _with_random_state(state, function):
    """The function's result, called with random numbers that begin at ``state``; those of the process stay as they are."""
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with torch.random.fork_rng(devices=devices):
        if state is None:
            torch.default_generator.manual_seed(0)
        else:
            torch.set_rng_state(state[0])
        for device in devices:
            if state is None:
                torch.cuda.default_generators[device].manual_seed(0)
            elif state[1] and device < len(state[1]):
                torch.cuda.set_rng_state(state[1][device], device)
        return function()


def _state(model):
    """{name: (dict that holds it, key, tensor, its module)} of parameters and buffers, under each name."""
    return {f"{prefix}.{key}" if prefix else key: (held, key, tensor, part) for prefix, part in model.named_modules(remove_duplicate=False)
            for held in (part._parameters, part._buffers) for key, tensor in held.items() if tensor is not None}


def _stamp(tensor):
    return id(tensor), tensor.data_ptr(), tensor._version


def _hooks(model, of_torch=False):
    """{(submodule, number of one of its forward hooks)}; ``of_torch``: of those alone that torch.nn.utils makes, which compute weights."""
    return frozenset((name, key) for name, part in model.named_modules() if name for hooks in (part._forward_hooks, part._forward_pre_hooks)
                     for key, hook in hooks.items() if not of_torch or type(hook).__module__.startswith("torch.nn.utils"))


class _Kernel:
    """The kernel behind one guarded module, made at its first call."""

    def __init__(self, kernel_class, reference_class, guard, model, init):
        self.guard, self.owner = guard, weakref.ref(model)
        self.cases = [case for case in guard.cases if case.init.match(*init[:2])[0] is None]
        self.module = self.trouble = None
        self._classes, self._init = (kernel_class, reference_class), init
        self._written = []  # buffers of both: (dict that holds the original's, its key, dict that holds the kernel's, its key)
        self._stamps = {}  # of tensors that the kernel keeps in a layout of its own, or has drawn itself

    def build(self):
        """Constructs the kernel and finds out which of its tensors is which of the model's."""
        model, case = self.owner(), self.cases[0]
        _, arguments, keywords = case.init.match(*self._init[:2])
        drawn = case.handover is None
        if drawn and self._init[2] is None:
            raise NotVerified("the kernel draws weights of its own, so it can take the place of a newly constructed module only")
        kernel = _with_random_state(self._init[2] if drawn else None, lambda: self._classes[0](*arguments, **keywords))
        if isinstance(kernel, torch.nn.Module):
            if case.mode is not None:
                kernel.train(case.mode == "train")
            if self.guard.target == "cuda":
                kernel.to("cuda")
        self._pairs = [] if drawn else self._paired(model, kernel, case)
        self._drawn = drawn and bool(case.state)
        names = {id(part): name for name, part in model.named_modules()}
        hooks = self._init[3]
        self._parts = [(parent._modules, name, part, {key for owner, key in hooks if owner == names[id(part)]},
                        case.training != (names[id(part)] in case.other_mode))
                       for parent in model.modules() for name, part in parent._modules.items() if part is not None]
        self._mode_matters = self.guard.mode_matters or any(isinstance(part, _MODE_DEPENDENT) for part in model.modules())
        self.module = kernel

    def _paired(self, model, kernel, case):
        """[(dict that holds the original's, its key, the kernel's entry, order of dimensions or None for the same tensor, verified type,
        verified shape)], as the judge handed the state over"""
        theirs = _state(model)
        own = _state(kernel) if isinstance(kernel, torch.nn.Module) else {}
        pairs = []
        for name, index, order in case.handover:
            if name not in own or case.names[index] not in theirs:
                raise NotVerified(f"{name if name not in own else case.names[index]} was a parameter or buffer when it was verified, and is none now")
            held, key, tensor, part = theirs[case.names[index]]
            same = order == list(range(len(order))) and own[name][2].shape == tensor.shape and own[name][2].dtype is tensor.dtype
            if same and held is part._buffers:
                self._written.append((held, key, *own[name][:2]))
            pairs.append((held, key, own[name], None if same else order, *case.state[case.names[index]]))
        return pairs

    def why_state(self, model):
        """Gives the kernel the model's tensors as they are now; None, or why it cannot work with them."""
        case = self.cases[0]
        for modules, name, part, hooks, training in self._parts:
            if modules.get(name) is not part:
                return f"the submodule {name} was replaced"
            if (part._forward_hooks or part._forward_pre_hooks) and {*part._forward_hooks, *part._forward_pre_hooks} != hooks:
                return f"the submodule {name} has hooks of its own, which the kernel does not call"
            if self._mode_matters and part.training != training:
                return f"the submodule {name} is in {'train' if part.training else 'eval'} mode, verified for the other one"
        if self._mode_matters and model.training != case.training:
            return f"the module is in {'train' if model.training else 'eval'} mode, verified for the other one"
        if self._drawn:
            return self._why_drawn(model)
        for held, key, (own, own_key, made, owner), order, dtype, shape in self._pairs:
            tensor = held.get(key)
            if tensor is None:
                return f"the original's {key} is gone"
            if tensor.dtype is not dtype or tensor.shape != shape or tensor.device.type != self.guard.target:
                return f"{key} is {tensor.dtype} {tuple(tensor.shape)} on {tensor.device}, verified for {dtype} {shape} on {self.guard.target}"
            if not tensor.is_contiguous() or (order is None and not _begins_as(tensor, made)):
                return f"{key} is not contiguous from a multiple of {_ALIGNMENT} bytes on"
            if order is not None:
                if self._stamps.get((id(held), key)) != _stamp(tensor):
                    own[own_key].detach().copy_(tensor.detach().permute(order).reshape(own[own_key].shape))
                    self._stamps[id(held), key] = _stamp(tensor)
            elif own.get(own_key) is not tensor:
                own[own_key] = tensor
                if isinstance(owner, torch.nn.RNNBase):  # it reads its weights from a list of its own
                    owner._flat_weights = [getattr(owner, name, None) for name in owner._flat_weights_names]
        return None

    def call(self, arguments, keywords):
        """The kernel's answer. A buffer that it has put another tensor in place of is the original's, too."""
        answer = self.module(*arguments, **keywords)
        for held, key, own, own_key in self._written:
            if own.get(own_key, held[key]) is not held[key]:
                held[key] = own[own_key]
        return answer

    def _why_drawn(self, model):
        """The kernel was verified with the weights that both drew when they were constructed, so the model must still have them."""
        state = _state(model)
        stamps = {name: _stamp(tensor) for name, (_, _, tensor, _) in state.items()}
        if self._stamps == stamps:
            return None
        case = self.cases[0]
        _, arguments, keywords = case.init.match(*self._init[:2])
        fresh = _state(_with_random_state(self._init[2], lambda: self._classes[1](*arguments, **keywords)))
        for name, (_, _, tensor, _) in state.items():
            if name not in fresh or tensor.device.type != self.guard.target or not torch.equal(fresh[name][2].to(tensor.device), tensor):
                return f"{name} is not as it was drawn, and the kernel, which draws weights of its own, was verified with no other values"
        self._stamps = stamps
        return None


def _module_class(kernel_class, reference_class, guard):
    class Guarded(reference_class):
        on_unverified = "reference"
        on_grad = "reference"

        def __init__(self, *arguments, **keywords):
            state = _random_state() if guard.draws else None
            super().__init__(*arguments, **keywords)
            self.__dict__["_davinci_init"] = (arguments, keywords, state, _hooks(self))

        @classmethod
        def around(cls, original):
            """In the place of ``original``, whose class the reference derives from: with its state, the very objects."""
            made = cls.__new__(cls)
            for key, value in vars(original).items():
                made.__dict__[key] = value.copy() if key in _MODULE_FIELDS and isinstance(value, (dict, set)) else value
            made.__dict__.pop("_compiled_call_impl", None)  # of the original's forward
            made.__dict__["_davinci_init"] = ((), {}, None, _hooks(original, of_torch=True))
            return made

        def __getstate__(self):
            inherited = getattr(super(), "__getstate__", None)  # of object, from Python 3.11 on
            state = dict(inherited() if inherited is not None else self.__dict__)
            state.pop("_davinci_kernel", None)  # made again where it is needed
            return state

        def _davinci_held(self):
            held = self.__dict__.get("_davinci_kernel")
            if held is None or held.owner() is not self:
                init = self.__dict__.get("_davinci_init", ((), {}, None, frozenset()))
                held = self.__dict__["_davinci_kernel"] = _Kernel(kernel_class, reference_class, guard, self, init)
            return held

        def why_reference(self, *arguments, **keywords):
            """Why a call with these arguments would run the reference; None: it would run the kernel."""
            return self._davinci_why(arguments, keywords)[0]

        def _davinci_why(self, arguments, keywords):
            """(why the reference runs, positional arguments and keywords of the kernel's call)"""
            if (why := _transformed()) is not None:
                return why, arguments, keywords
            held = self._davinci_held()
            if not held.cases:
                return "the constructor's arguments are not those that were verified", arguments, keywords
            why, arguments, keywords = guard.match(arguments, keywords, held.cases)
            if why is None:
                why = guard.why_device() or held.trouble
            if why is not None:
                return why, arguments, keywords
            if held.module is None:
                try:
                    held.build()
                except Exception as error:  # noqa: BLE001 - no compiler, another torch: the reference still works
                    reason = str(error) if isinstance(error, NotVerified) else f"{type(error).__name__}: {error}"
                    held.trouble = f"the kernel could not be made: {reason}"
                    return held.trouble, arguments, keywords
            why = held.why_state(self)
            if why is None and _needs_gradients((arguments, keywords), self.parameters()):
                if self.on_grad == "raise":
                    raise NotVerified("the call needs gradients, which the kernel does not have; call it under torch.no_grad()")
                why = "the call needs gradients; under torch.no_grad() the kernel runs"
            return why, arguments, keywords

        def forward(self, *arguments, **keywords):
            if torch.compiler.is_compiling():
                if self.on_unverified == "raise":
                    raise NotVerified("the call is being compiled")
                return super().forward(*arguments, **keywords)
            why, own_arguments, own_keywords = self._davinci_why(arguments, keywords)
            if why is None:
                return self._davinci_held().call(own_arguments, own_keywords)
            if self.on_unverified == "raise" and not why.startswith("the call needs gradients"):
                raise NotVerified(why)
            _warn(self, why)
            return super().forward(*arguments, **keywords)

    if (signature := _signature(reference_class.forward)) is not None:
        Guarded.forward.__signature__ = signature
    Guarded.__name__ = Guarded.__qualname__ = kernel_class.__name__
    Guarded.__module__ = kernel_class.__module__
    Guarded.__doc__ = kernel_class.__doc__ or reference_class.__doc__
    return Guarded


# ---- functions ----


def _function(kernel, reference, guard):
    @functools.wraps(reference)
    def guarded(*arguments, **keywords):
        if torch.compiler.is_compiling():
            if guarded.on_unverified == "raise":
                raise NotVerified("the call is being compiled")
            return reference(*arguments, **keywords)
        own_arguments, own_keywords = arguments, keywords
        if (why := _transformed()) is None:
            why, own_arguments, own_keywords = guard.match(arguments, keywords, guard.cases)
            why = why or guard.why_device()
        if why is None and _needs_gradients((own_arguments, own_keywords), ()):
            if guarded.on_grad == "raise":
                raise NotVerified("the call needs gradients, which the kernel does not have; call it under torch.no_grad()")
            why = "the call needs gradients; under torch.no_grad() the kernel runs"
        elif why is not None and guarded.on_unverified == "raise":
            raise NotVerified(why)
        if why is None:
            return kernel(*own_arguments, **own_keywords)
        _warn(guarded, why)
        return reference(*arguments, **keywords)

    guarded.on_unverified = guarded.on_grad = "reference"
    guarded.__name__ = guarded.__qualname__ = kernel.__name__
    guarded.__module__ = kernel.__module__
    return guarded


# ---- entry ----


def _strict(kernel, guard, why):
    """Without a reference there is nothing to fall back to: what was not verified raises."""
    def checked(arguments, keywords):
        reason = _transformed()
        if reason is None:
            reason, arguments, keywords = guard.match(arguments, keywords, guard.cases)
            reason = reason or guard.why_device()
        if reason is None and _needs_gradients((arguments, keywords), ()):
            reason = "the call needs gradients"
        if reason is not None:
            raise NotVerified(f"{reason}; the reference cannot be called instead ({why})")
        return arguments, keywords

    if not isinstance(kernel, type):
        @functools.wraps(kernel)
        def strict(*arguments, **keywords):
            arguments, keywords = checked(arguments, keywords)
            return kernel(*arguments, **keywords)

        return strict

    class Strict(kernel):
        def forward(self, *arguments, **keywords):
            arguments, keywords = checked(arguments, keywords)
            return super().forward(*arguments, **keywords)

    Strict.__name__ = Strict.__qualname__ = kernel.__name__
    Strict.__module__ = kernel.__module__
    return Strict


def reference_of(guarded):
    """What a guarded module or function calls instead of the kernel."""
    if isinstance(guarded, torch.nn.Module):
        return functools.partial(type(guarded).__bases__[0].forward, guarded)
    return guarded.__wrapped__


def _reference_module(namespace, source, facts):
    """The reference as a module that pickle, torch.compile and inspect find."""
    module = types.ModuleType(namespace["__name__"] + "_reference")
    module.__file__ = namespace.get("__file__")
    if facts.get("package"):
        module.__package__ = facts["package"]
    place = f"{module.__name__}.py"
    linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    sys.modules[module.__name__] = module
    exec(compile(source, place, "exec"), module.__dict__)  # noqa: S102 - the user's own reference
    for name, value in (facts.get("globals") or {}).items():
        setattr(module, name, value)
    return module


def install(namespace, reference_source, facts):
    """Puts guarded classes and functions in the place of the kernel's in ``namespace`` (the exported file's globals). Returns the reference's
    module; None where it cannot be imported."""
    kernels = [name for name in (facts["kernel"], facts.get("kernel_function")) if name and name in namespace]
    module = reference = why = None
    try:
        module = _reference_module(namespace, reference_source, facts)
        if facts.get("op"):
            reference = functools.reduce(getattr, facts["op"].split(".")[1:], __import__(facts["op"].split(".")[0]))
        else:
            reference = getattr(module, facts["entry"])
    except Exception as error:  # noqa: BLE001 - what the reference imports may be missing here
        module, why = None, f"{type(error).__name__}: {error}"
    for name in kernels:
        kernel = namespace[name]
        if module is None:
            signature = _signature(kernel.forward, 1) if isinstance(kernel, type) else _signature(kernel)
            namespace[name] = _strict(kernel, _Guard(facts, signature, None, ""), why)
            continue
        is_class, reference_is_class = isinstance(kernel, type), isinstance(reference, type)
        if is_class and not reference_is_class:
            reference_class = type(kernel.__name__, (torch.nn.Module,), {"forward": lambda self, *a, **k: reference(*a, **k)})
            namespace[name] = _module_class(kernel, reference_class, _Guard(facts, _signature(reference), inspect.Signature(), reference_source))
        elif is_class:
            if not issubclass(reference, torch.nn.Module):
                continue
            guard = _Guard(facts, _signature(reference.forward, 1), _signature(reference.__init__, 1), reference_source)
            namespace[name] = _module_class(kernel, reference, guard)
        else:
            namespace[name] = _function(kernel, reference, _Guard(facts, _signature(reference), inspect.Signature(), reference_source))
    return module
