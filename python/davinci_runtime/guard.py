"""The guard of an exported kernel: the kernel runs for what it was verified with, the reference for everything else.

A kernel reads memory by address, so the wrong type, shape or layout is not an error but a crash, or a wrong number. Before each call the
guard compares the arguments and the module's state with what the judge verified. What differs in any way goes to the reference's own
forward, with a warning; so do calls that need gradients, autocast, tracing and transforms. ``on_unverified`` and ``on_grad`` (attributes of
the class, the instance or the function: "reference" or "raise") choose between that and NotVerified.

The guarded class is a subclass of the reference: parameters, buffers, state_dict and gradients are the original's. Needs torch alone: this file
is pasted into exported kernels.
"""

import copy
import functools
import inspect
import itertools
import types
import warnings

import torch

_ALIGNMENT = 64  # bytes; what torch's allocators give and vector loads may rely on
_MODE_DEPENDENT = (torch.nn.modules.batchnorm._NormBase, torch.nn.modules.dropout._DropoutNd, torch.nn.RReLU, torch.nn.RNNBase,
                   torch.nn.MultiheadAttention, torch.nn.TransformerEncoderLayer)


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
        if type(value) is not dict or list(value) != list(spec["items"]):
            return f"{name} is another dict than verified"
        for key, inner in spec["items"].items():
            if (why := _why_value(value[key], inner, target, f"{name}[{key!r}]")) is not None:
                return why
        return None
    if kind == "value" and type(value) is type(spec["value"]) and value == spec["value"]:
        return None
    return f"{name} is {value!r:.60}, verified for {spec.get('value', 'something else')!r}"


def _prepared(spec):
    """A spec as the judge writes it, with torch's own types in it."""
    if spec["kind"] == "tensor":
        shape, stride = tuple(spec["shape"]), tuple(spec["stride"])
        return {"kind": "tensor", "dtype": getattr(torch, spec["dtype"]), "shape": shape, "stride": stride, "contiguous": _is_contiguous(shape, stride)}
    if spec["kind"] == "list":
        return dict(spec, items=[_prepared(item) for item in spec["items"]])
    if spec["kind"] == "dict":
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


class _Guard:
    """What was verified. ``cases``: {"inputs", "init", "state", "training"} of each verified shape."""

    def __init__(self, facts, signature):
        self.target = facts["target"]
        self.capability = facts.get("capability")
        self.signature = signature
        self.mode_matters = True
        self.cases = [dict(case, inputs=_prepared(case["inputs"]), init=_prepared(case["init"]),
                           state={name: (getattr(torch, dtype), tuple(shape)) for name, dtype, shape in case["state"]}) for case in facts["cases"]]

    def positional(self, arguments, keywords):
        """Arguments in the reference's order, keywords as positional ones where there is a place for them; None: they do not fit."""
        try:
            bound = self.signature.bind(*arguments, **keywords)
        except TypeError:
            return None
        return bound.args if not bound.kwargs else None

    def why_arguments(self, arguments, cases):
        """None, or what differs from the case that fits best (the last one tried)."""
        why = "nothing was verified"
        for case in cases:
            spec = case["inputs"]
            if spec["kind"] != "list" or len(spec["items"]) != len(arguments):
                why = f"{len(arguments)} arguments, verified for {len(spec['items'])}"
                continue
            for i, (value, inner) in enumerate(zip(arguments, spec["items"])):
                if (why := _why_value(value, inner, self.target, f"argument {i}")) is not None:
                    break
            else:
                return None
        return why

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


class _Part:
    """The kernel behind one guarded module: made at its first call, and again in a copy."""

    def __init__(self, kernel_class, reference_class, guard, init):
        self.kernel_class, self.reference_class, self.guard, self.init = kernel_class, reference_class, guard, init
        self.module = None
        self.trouble = None
        self.stamps = {}  # of tensors that the kernel keeps in a layout of its own
        self.cases = [case for case in guard.cases if _why_value(list(init), case["init"], "", "the constructor's arguments") is None]

    def __deepcopy__(self, memo):
        return _Part(self.kernel_class, self.reference_class, self.guard, copy.deepcopy(self.init, memo))

    def __reduce__(self):  # pickled with its module: made anew by the class that owns it
        return (_unpickled, ())

    def build(self, model):
        """Constructs the kernel and finds out which of its tensors is which of the model's."""
        devices = list(range(torch.cuda.device_count())) if self.guard.target == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            torch.manual_seed(0)
            kernel = self.kernel_class(*self.init)
            if isinstance(kernel, torch.nn.Module):
                self.pairs = self._pairs(model, kernel)
                kernel.train(model.training)
                if self.guard.target == "cuda":
                    kernel.to("cuda")
            elif next(itertools.chain(model.parameters(), model.buffers()), None) is not None:
                raise NotVerified("the kernel's class is no module, so it cannot share the original's state")
            else:
                self.pairs = []
        self.parts = [(parent._modules, name, part) for parent in model.modules() for name, part in parent._modules.items()]
        self.mode_matters = self.guard.mode_matters or any(isinstance(part, _MODE_DEPENDENT) for part in model.modules())
        self.module = kernel

    def _pairs(self, model, kernel):
        """[(dict that holds the original's, its key, dict that holds the kernel's, its key, order of dimensions or None for the same tensor,
        verified type, verified shape)]"""
        theirs, own = _state(model), _state(kernel)
        specs = self.cases[0]["state"]

        def pair(name, entry, order):
            held, key, tensor = theirs[name]
            return (held, key, *entry[:2], order, *specs.get(name, (tensor.dtype, tuple(tensor.shape))))

        names = [name for name in own if name in theirs and own[name][2].shape == theirs[name][2].shape]
        pairs = [pair(name, own[name], None) for name in names]
        held = {id(theirs[name][2]) for name in names}
        free = {name: entry for name, entry in own.items() if name not in names}
        missing = [name for name, entry in theirs.items() if name not in names and id(entry[2]) not in held]
        if missing and free:  # as the judge handed the state over: by the values both begin with, else by shape
            torch.manual_seed(0)
            fresh = _state(self.reference_class(*self.init))
            for match in (_same_values, _same_shape):
                for name in list(missing):
                    found = next((n for n, e in free.items() if match(fresh[name][2], e[2]) is not None), None)
                    if found is not None:
                        order, entry = match(fresh[name][2], free[found][2]), free.pop(found)
                        same = order == tuple(range(len(order))) and theirs[name][2].shape == entry[2].shape
                        pairs.append(pair(name, entry, None if same else order))
                        missing.remove(name)
        parameters = dict(model.named_parameters(remove_duplicate=False))
        if lost := [name for name in missing if name in parameters]:
            raise NotVerified(f"the kernel has no place for {', '.join(lost)}")
        return pairs

    def why_state(self, model):
        """Gives the kernel the model's tensors as they are now; None, or why it cannot work with them."""
        case = self.cases[0]
        for modules, name, part in self.parts:
            if modules.get(name) is not part:
                return f"the submodule {name} was replaced"
            if part._forward_hooks or part._forward_pre_hooks:
                return f"the submodule {name} has hooks"
        if self.mode_matters and any(part.training != case["training"] for part in model.modules()):
            return "the module is in " + ("eval" if case["training"] else "train") + " mode, verified for the other one"
        for theirs, key, own, own_key, order, dtype, shape in self.pairs:
            tensor = theirs.get(key)
            if tensor is None:
                return f"the original's {key} is gone"
            if tensor.dtype is not dtype or tensor.shape != shape or tensor.device.type != self.guard.target:
                return f"{key} is {tensor.dtype} {tuple(tensor.shape)} on {tensor.device}, verified for {dtype} {shape} on {self.guard.target}"
            if not tensor.is_contiguous() or tensor.data_ptr() % _ALIGNMENT:
                return f"{key} is not contiguous from a multiple of {_ALIGNMENT} bytes on"
            if order is None:
                own[own_key] = tensor
                continue
            stamp = (id(tensor), tensor.data_ptr(), tensor._version)
            if self.stamps.get((id(theirs), key)) != stamp:
                own[own_key].detach().copy_(tensor.detach().permute(order).reshape(own[own_key].shape))
                self.stamps[id(theirs), key] = stamp
        return None


def _unpickled():
    return None


def _state(model):
    """{name: (dict that holds it, key, tensor)} of parameters and buffers, under each name."""
    return {f"{prefix}.{key}" if prefix else key: (held, key, tensor) for prefix, part in model.named_modules(remove_duplicate=False)
            for held in (part._parameters, part._buffers) for key, tensor in held.items() if tensor is not None}


def _same_values(theirs, own):
    if theirs.numel() != own.numel() or not theirs.is_floating_point() or theirs.dim() > 4 or theirs.numel() < 2:
        return None
    if bool((theirs == theirs.reshape(-1)[0]).all()):
        return None
    return next((order for order in itertools.permutations(range(theirs.dim()))
                 if torch.equal(theirs.permute(order).reshape(own.shape).to(own.dtype), own)), None)


def _same_shape(theirs, own):
    return tuple(range(theirs.dim())) if theirs.shape == own.shape and theirs.dtype is own.dtype else None


def _module_class(kernel_class, reference_class, guard):
    class Guarded(reference_class):
        on_unverified = "reference"
        on_grad = "reference"

        def __init__(self, *arguments, **keywords):
            super().__init__(*arguments, **keywords)
            try:
                bound = inspect.signature(reference_class.__init__).bind(self, *arguments, **keywords)
                init = bound.args[1:] if not bound.kwargs else arguments
            except (TypeError, ValueError):
                init = arguments
            self.__dict__["_davinci"] = (_Part(kernel_class, reference_class, guard, init), init)

        def _davinci_part(self):
            held = self.__dict__["_davinci"]
            if held[0] is None:  # unpickled
                held = (_Part(kernel_class, reference_class, guard, held[1]), held[1])
                self.__dict__["_davinci"] = held
            return held[0]

        def why_reference(self, *arguments, **keywords):
            """Why a call with these arguments would run the reference; None: it would run the kernel."""
            return self._davinci_why(arguments, keywords)[0]

        def _davinci_why(self, arguments, keywords):
            if (why := _transformed()) is not None:
                return why, None
            part = self._davinci_part()
            if not part.cases:
                return "the constructor's arguments are not those that were verified", None
            if keywords:
                arguments = guard.positional((self, *arguments), keywords)
                if arguments is None:
                    return "the arguments are not those of forward", None
                arguments = arguments[1:]
            why = guard.why_arguments(arguments, part.cases)
            if why is None:
                why = guard.why_device()
            if why is not None:
                return why, None
            if part.trouble is not None:
                return part.trouble, None
            if part.module is None:
                try:
                    part.build(self)
                except Exception as error:  # noqa: BLE001 - no compiler, another torch: the reference still works
                    part.trouble = f"the kernel could not be made: {type(error).__name__}: {error}"
                    return part.trouble, None
            why = part.why_state(self)
            if why is None and _needs_gradients(arguments, self.parameters()):
                if self.on_grad == "raise":
                    raise NotVerified("the call needs gradients, which the kernel does not have; call it under torch.no_grad()")
                why = "the call needs gradients; under torch.no_grad() the kernel runs"
            return why, arguments

        def forward(self, *arguments, **keywords):
            why, positional = self._davinci_why(arguments, keywords)
            if why is None:
                return self._davinci_part().module(*positional)
            if self.on_unverified == "raise" and not why.startswith("the call needs gradients"):
                raise NotVerified(why)
            if not torch.compiler.is_compiling():
                _warn(self, why)
            return super().forward(*arguments, **keywords)

    Guarded.__name__ = Guarded.__qualname__ = kernel_class.__name__
    Guarded.__module__ = kernel_class.__module__
    Guarded.__doc__ = kernel_class.__doc__ or reference_class.__doc__
    return Guarded


# ---- functions ----


def _function(kernel, reference, guard):
    @functools.wraps(reference)
    def guarded(*arguments, **keywords):
        positional = arguments
        if (why := _transformed()) is None:
            if keywords:
                positional = guard.positional(arguments, keywords)
            why = "the arguments are not those of the reference" if positional is None else guard.why_arguments(positional, guard.cases)
            why = why or guard.why_device()
        if why is None and _needs_gradients(positional, ()):
            if guarded.on_grad == "raise":
                raise NotVerified("the call needs gradients, which the kernel does not have; call it under torch.no_grad()")
            why = "the call needs gradients; under torch.no_grad() the kernel runs"
        elif why is not None and guarded.on_unverified == "raise":
            raise NotVerified(why)
        if why is None:
            return kernel(*positional)
        if not torch.compiler.is_compiling():
            _warn(guarded, why)
        return reference(*arguments, **keywords)

    guarded.on_unverified = guarded.on_grad = "reference"
    guarded.__name__ = guarded.__qualname__ = kernel.__name__
    guarded.__module__ = kernel.__module__
    return guarded


# ---- entry ----


def _strict(kernel, guard, why):
    """Without a reference there is nothing to fall back to: what was not verified raises."""
    def check(arguments, keywords):
        reason = _transformed() or ("keyword arguments" if keywords else guard.why_arguments(arguments, guard.cases)) or guard.why_device()
        if reason is None and _needs_gradients(arguments, ()):
            reason = "the call needs gradients"
        if reason is not None:
            raise NotVerified(f"{reason}; the reference cannot be called instead ({why})")

    if not isinstance(kernel, type):
        @functools.wraps(kernel)
        def strict(*arguments, **keywords):
            check(arguments, keywords)
            return kernel(*arguments)

        return strict

    class Strict(kernel):
        def forward(self, *arguments, **keywords):
            check(arguments, keywords)
            return super().forward(*arguments)

    Strict.__name__ = Strict.__qualname__ = kernel.__name__
    Strict.__module__ = kernel.__module__
    return Strict


def install(namespace, reference_source, facts):
    """Puts guarded classes and functions in the place of the kernel's in ``namespace`` (the exported file's globals)."""
    kernels = [name for name in (facts["kernel"], facts.get("kernel_function")) if name and name in namespace]
    module = types.ModuleType(namespace["__name__"] + "_reference")
    module.__file__ = namespace.get("__file__")
    reference = why = None
    try:
        exec(compile(reference_source, f"{module.__name__}.py", "exec"), module.__dict__)  # noqa: S102 - the user's own reference
        for name, value in (facts.get("globals") or {}).items():
            setattr(module, name, value)
        if facts.get("op"):
            reference = functools.reduce(getattr, facts["op"].split(".")[1:], __import__(facts["op"].split(".")[0]))
        else:
            reference = getattr(module, facts["entry"])
    except Exception as error:  # noqa: BLE001 - what the reference imports may be missing here
        why = f"{type(error).__name__}: {error}"
    for name in kernels:
        kernel = namespace[name]
        if reference is None:
            namespace[name] = _strict(kernel, _guard_of(facts, None, ""), why)
            continue
        is_class, reference_is_class = isinstance(kernel, type), isinstance(reference, type)
        if is_class and not reference_is_class:
            reference_class = type(kernel.__name__, (torch.nn.Module,), {"forward": lambda self, *a, **k: reference(*a, **k)})
            namespace[name] = _module_class(kernel, reference_class, _guard_of(facts, reference_class.forward, reference_source))
        elif is_class:
            if not issubclass(reference, torch.nn.Module):
                continue
            namespace[name] = _module_class(kernel, reference, _guard_of(facts, reference.forward, reference_source))
        else:
            namespace[name] = _function(kernel, reference, _guard_of(facts, reference, reference_source))


def _guard_of(facts, callable_, source):
    try:
        signature = inspect.signature(callable_)
    except (TypeError, ValueError):
        signature = inspect.Signature([inspect.Parameter("arguments", inspect.Parameter.VAR_POSITIONAL)])
    guard = _Guard(facts, signature)
    # Code of its own that asks for the mode: only the source can tell.
    guard.mode_matters = "training" in source or "dropout" in source.lower()
    return guard
