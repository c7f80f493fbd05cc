"""Loads one exported kernel and calls it with wrong inputs. Prints one JSON document as its last line.

On the cpu target each call is made in a child process, so that a crash is seen; on cuda, where a forked child has no device, all calls are
made in this one, and an error of the device that stays is a crash.

    attack.py EXPORT.py
"""
import importlib.util
import json
import os
import resource
import signal
import sys
import time
import warnings

import torch

warnings.simplefilter("ignore")
torch.set_num_threads(1)
spec = importlib.util.spec_from_file_location("exported", sys.argv[1])
exported = importlib.util.module_from_spec(spec)
sys.modules["exported"] = exported
spec.loader.exec_module(exported)
FACTS = exported._VERIFIED
CASE = FACTS["cases"][0]
DEVICE = FACTS["target"]
NAME = FACTS["kernel"] if FACTS["kernel"] in vars(exported) else FACTS["kernel_function"]
ENTRY = getattr(exported, NAME)
IS_CLASS = isinstance(ENTRY, type)
LARGEST_PROCESS = 12 << 30  # bytes of address space
TASK = {"__name__": "task"}  # the names of its file, which an export of a task has as text
exec(next((text for text in vars(exported).values() if isinstance(text, str) and "\ndef get_inputs" in text), ""), TASK)


def value_of(spec):
    if spec["kind"] == "tensor":
        dtype = getattr(torch, spec["dtype"])
        if dtype.is_floating_point:
            return torch.randn(spec["shape"], device=DEVICE).to(dtype)
        return torch.full(spec["shape"], dtype is torch.bool, dtype=dtype, device=DEVICE)
    if spec["kind"] == "list":
        items = [value_of(item) for item in spec["items"]]
        return tuple(items) if spec["type"] == "tuple" else items
    if spec["kind"] == "dict":
        return {key: value_of(item) for key, item in spec["items"].items()}
    return spec["value"]


def make(training=CASE["training"]):
    """The guarded module or function, and the plain reference with the same state."""
    if not IS_CLASS:
        return ENTRY, ENTRY.__wrapped__
    torch.manual_seed(1)
    init = [value_of(item) for item in CASE["init"]["positional"]]
    module = ENTRY(*init)
    reference = ENTRY.__bases__[0](*init)
    reference.load_state_dict(module.state_dict())  # the original's state_dict is the export's
    module.load_state_dict(reference.state_dict())
    return module.to(DEVICE).train(training), reference.to(DEVICE).train(training)


def first_tensor(arguments, change):
    at = next((i for i, a in enumerate(arguments) if isinstance(a, torch.Tensor) and a.dim() and a.is_floating_point()), None)
    if at is None:
        raise SkipCall
    return [*arguments[:at], change(arguments[at]), *arguments[at + 1:]]


class SkipCall(Exception):
    pass


def strided(t):
    wide = torch.randn(*t.shape[:-1], 2 * t.shape[-1], device=t.device).to(t.dtype)
    return wide[..., ::2]


def offset(t):
    flat = torch.empty(t.numel() + 1, dtype=t.dtype, device=t.device)
    flat[1:] = t.reshape(-1)
    return flat[1:].view(t.shape)


def other_type(t):
    return t.half() if t.dtype is not torch.float16 else t.double()


def leaf(t):
    return t.detach().clone().requires_grad_()


# name: (change of the arguments, keywords?) — the state of the module is changed further below
CHANGES = {
    "half": lambda a: first_tensor(a, other_type),
    "bfloat16 all": lambda a: [t.bfloat16() if isinstance(t, torch.Tensor) and t.is_floating_point() else t for t in a],
    "double": lambda a: first_tensor(a, lambda t: t.double() if t.dtype is not torch.float64 else t.float()),
    "int": lambda a: first_tensor(a, lambda t: t.int()),
    "complex": lambda a: first_tensor(a, lambda t: t.to(torch.complex64)),
    "smaller": lambda a: first_tensor(a, lambda t: t[: max(t.shape[0] // 2, 1)] if t.shape[0] > 1 else t[..., : t.shape[-1] // 2]),
    "odd": lambda a: first_tensor(a, lambda t: t[..., : t.shape[-1] - 1].contiguous()),
    "rank up": lambda a: first_tensor(a, lambda t: t[None]),
    "rank down": lambda a: first_tensor(a, lambda t: t[0]),
    "flat": lambda a: first_tensor(a, lambda t: t.reshape(-1)),
    "broadcast": lambda a: first_tensor(a, lambda t: t.reshape(-1)[:1].reshape([1] * t.dim()).expand(t.shape)),
    "row broadcast": lambda a: first_tensor(a, lambda t: t[:1].expand(t.shape)),
    "strided": lambda a: first_tensor(a, strided),
    "transposed": lambda a: first_tensor(a, lambda t: t.transpose(0, -1).contiguous().transpose(0, -1)),
    "unaligned": lambda a: first_tensor(a, offset),
    "empty": lambda a: first_tensor(a, lambda t: t[:0]),
    "meta": lambda a: first_tensor(a, lambda t: t.to("meta")),
    "other device": lambda a: first_tensor(a, lambda t: t.to("cpu" if DEVICE == "cuda" else "cuda")),
    "all on another device": lambda a: [t.to("cpu" if DEVICE == "cuda" else "cuda") if isinstance(t, torch.Tensor) else t for t in a],
    "sparse": lambda a: first_tensor(a, lambda t: t.to_sparse()),
    "number": lambda a: first_tensor(a, lambda t: 1.5),
    "None": lambda a: first_tensor(a, lambda t: None),
    "list of lists": lambda a: first_tensor(a, lambda t: t[:2].tolist()),
    "numpy": lambda a: first_tensor(a, lambda t: t.float().cpu().numpy()),
    "subclass": lambda a: first_tensor(a, lambda t: t.as_subclass(type("Mine", (torch.Tensor,), {}))),
    "one more": lambda a: [*a, torch.ones(3)],
    "one less": lambda a: a[:-1],
    "no arguments": lambda a: [],
    "gradients": lambda a: first_tensor(a, leaf),
}


def same(a, b):
    if isinstance(a, torch.Tensor):
        if not isinstance(b, torch.Tensor) or a.shape != b.shape or a.dtype is not b.dtype or a.device != b.device:
            return False
        if a.device.type == "meta":
            return True
        a, b = (t.to_dense() if t.layout is not torch.strided else t for t in (a, b))
        tolerance = {torch.float16: 2e-2, torch.bfloat16: 5e-2}.get(a.dtype, 1e-3)
        return torch.allclose(a.detach(), b.detach(), rtol=tolerance, atol=tolerance, equal_nan=True)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def fresh():
    """Inputs as the task draws them, where they have the verified shapes: a task may be defined for no other numbers."""
    shown = CASE["inputs"]["positional"]
    torch.manual_seed(2)
    drawn = list(TASK.get("get_inputs", list)())
    if len(drawn) == len(shown) and all(fits(a, b) for a, b in zip(drawn, shown)):
        return [a.to(DEVICE) if isinstance(a, torch.Tensor) else a for a in drawn]
    return [value_of(item) for item in shown]


def fits(value, spec):
    if spec["kind"] != "tensor":
        return not isinstance(value, (torch.Tensor, list, tuple, dict)) and value == spec["value"]
    return isinstance(value, torch.Tensor) and list(value.shape) == spec["shape"] and value.dtype is getattr(torch, spec["dtype"])


def copied(arguments):
    return [a.detach().clone().as_strided(a.shape, a.stride()).requires_grad_(a.requires_grad)
            if isinstance(a, torch.Tensor) and type(a) is torch.Tensor and a.layout is torch.strided and a.is_contiguous() and a.data_ptr() % 64 == 0
            else a for a in arguments]


def call(change=None, prepare=None, keywords=False, grad=False, around=None, training=CASE["training"]):
    """"kernel", "reference", "raised", "wrong" or "skipped"."""
    module, reference = make(training)
    arguments = fresh()
    if change:
        try:
            arguments = change(arguments)
        except (SkipCall, RuntimeError, TypeError, AssertionError):  # AssertionError: a torch without CUDA
            return "skipped"
    if prepare:
        try:
            prepare(module)
            prepare(reference)
        except (SkipCall, RuntimeError):
            return "skipped"
    named = {}
    if keywords:
        import inspect

        try:
            names = list(inspect.signature(reference.forward if IS_CLASS else reference).parameters)
        except ValueError:  # of a function that PyTorch has built in
            return "skipped"
        named, arguments = dict(zip(names, arguments)), []
    used = []
    ENTRY.__dict__.get("_davinci_said", set()).clear()  # warnings of earlier calls
    if IS_CLASS:
        real = ENTRY.__bases__[0].forward
        ENTRY.__bases__[0].forward = lambda self, *a, **k: (used.append(1), real(self, *a, **k))[1]
    with around() if around else torch.enable_grad() if grad else torch.no_grad():
        torch.manual_seed(3)
        try:
            expected = reference(*copied(arguments), **named)
            failed = None
        except Exception as error:  # noqa: BLE001
            failed, expected = error, None
        used.clear()
        torch.manual_seed(3)
        theirs = copied(arguments)
        try:
            got = module(*theirs, **named)
        except Exception as error:  # noqa: BLE001
            return "raised" if failed is not None or "NotVerified" in type(error).__name__ else f"wrong: {type(error).__name__}: {error}"
    if failed is not None:
        return f"wrong: the reference raises {type(failed).__name__}"
    # Weights and inputs without numbers: what PyTorch computes of them is whatever lay in its memory.
    tensors = [*(module.parameters() if IS_CLASS else ()), *(a for a in [*arguments, *named.values()] if isinstance(a, torch.Tensor))]
    if any(t.is_meta for t in tensors):
        return "reference" if used or not IS_CLASS else "wrong: a kernel ran"
    if not same(expected, got):
        return "wrong"
    outputs = [t for t in (got if isinstance(got, (list, tuple)) else [got]) if isinstance(t, torch.Tensor) and t.is_floating_point()]
    if grad and outputs:
        again = copied(arguments)
        with torch.enable_grad():
            wanted = reference(*again, **named)
        wanted = [t for t in (wanted if isinstance(wanted, (list, tuple)) else [wanted]) if isinstance(t, torch.Tensor) and t.is_floating_point()]
        if any(t.requires_grad for t in wanted):
            try:
                sum(t.float().sum() for t in wanted if t.requires_grad).backward()
            except RuntimeError:  # the reference changes what its own gradient needs
                return "reference" if used else "wrong: a kernel ran"
            sum(t.float().sum() for t in outputs).backward()  # raises where gradients are gone
            for a, b in zip(theirs, again):
                if isinstance(a, torch.Tensor) and a.requires_grad and b.grad is not None and not same(a.grad, b.grad):
                    return "wrong gradients"
            if IS_CLASS:
                for a, b in zip(module.parameters(), reference.parameters()):
                    if b.grad is not None and not same(a.grad, b.grad):
                        return "wrong gradients of parameters"
    if IS_CLASS:
        return "reference" if used else "kernel"
    return "reference" if ENTRY.__dict__.get("_davinci_said") else "kernel"


def halved(module):
    if not IS_CLASS or not any(True for _ in module.parameters()):
        raise SkipCall
    module.half()


def strided_weight(module):
    if not IS_CLASS:
        raise SkipCall
    for part in module.modules():
        for name, weight in part._parameters.items():
            if weight is not None and weight.dim():
                part._parameters[name] = torch.nn.Parameter(strided(weight.detach()).copy_(weight.detach()))
                return
    raise SkipCall


def elsewhere(module):
    if not IS_CLASS or not any(True for _ in module.parameters()):
        raise SkipCall
    module.to("cpu" if DEVICE == "cuda" else "meta")


def trained(module):
    """An optimizer step: the kernel sees the new values."""
    if not IS_CLASS or not any(True for _ in module.parameters()):
        raise SkipCall
    with torch.no_grad():
        for i, parameter in enumerate(module.parameters()):
            if parameter.is_floating_point():
                parameter.add_(0.01 * (i + 1))


def replaced(module):
    if not IS_CLASS or not any(True for _ in module.parameters()):
        raise SkipCall
    for part in module.modules():
        for name, weight in part._parameters.items():
            if weight is not None:
                part._parameters[name] = torch.nn.Parameter(weight.detach() * 0.5)


CALLS = {"as verified": {}, "by keyword": {"keywords": True}, "half weights": {"prepare": halved}, "strided weight": {"prepare": strided_weight}, "weights elsewhere": {"prepare": elsewhere},
         "trained": {"prepare": trained}, "replaced weights": {"prepare": replaced}, "gradients of inputs": {"change": CHANGES["gradients"], "grad": True},
         "gradients on": {"grad": True}, "autocast": {"around": lambda: torch.autocast(DEVICE, torch.bfloat16)},
         "default device": {"around": lambda: torch.device("meta")}, "other mode": {"training": not CASE["training"]},
         **{name: {"change": change} for name, change in CHANGES.items()}}


def on_device(name):
    real = ENTRY.__bases__[0].forward if IS_CLASS else None
    try:
        result = call(**CALLS[name])
        torch.cuda.synchronize()
    except Exception as error:  # noqa: BLE001
        result = f"wrong: {type(error).__name__}: {error}"
    finally:
        if IS_CLASS:
            ENTRY.__bases__[0].forward = real
    try:
        torch.cuda.synchronize()
    except RuntimeError as error:
        return f"crashed: {error}"
    return result


def in_child(name):
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        signal.alarm(60)
        resource.setrlimit(resource.RLIMIT_AS, (LARGEST_PROCESS, LARGEST_PROCESS))  # a reference may spread a wrong shape over all memory
        try:
            result = call(**CALLS[name])
        except Exception as error:  # noqa: BLE001
            result = f"wrong: {type(error).__name__}: {error}"
        os.write(write, result.encode()[:4000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        result = pipe.read().decode()
    status = os.waitpid(child, 0)[1]
    return result if status == 0 else f"crashed with status {status}"


def guard_us():
    """What the guard adds to a verified call."""
    module, _ = make()
    arguments = fresh()
    with torch.no_grad():
        module(*arguments)
        ask = module._davinci_why if IS_CLASS else None
        if ask is None:
            guard = next(c.cell_contents for c in ENTRY.__closure__ if type(c.cell_contents).__name__ == "_Guard")
            ask = lambda a, k: (exported._guard._transformed() or guard.match(a, k, guard.cases)[0] or guard.why_device(),)  # noqa: E731
        best = float("inf")
        for _ in range(20):
            begun = time.perf_counter()
            for _ in range(100):
                ask(tuple(arguments), {})
            best = min(best, (time.perf_counter() - begun) / 100)
    return 1e6 * best


torch.relu(torch.empty(1, device="meta"))  # imports half of torch: once here, not in each child that needs it
results = {name: on_device(name) if DEVICE == "cuda" else in_child(name) for name in CALLS}
report = {"calls": sum(r != "skipped" for r in results.values()),
          "crashed": [f"{n}: {r}" for n, r in results.items() if r.startswith("crashed")],
          "wrong": [f"{n}: {r}" for n, r in results.items() if r.startswith("wrong")],
          "kernel": [n for n, r in results.items() if r == "kernel" and n == "as verified"],
          "reference": sum(r == "reference" for r in results.values()), "raised": sum(r == "raised" for r in results.values()),
          "results": results, "guard_us": guard_us()}
print(json.dumps(report))
