"""What a forward did, seen from the dispatcher: evidence for labels, never part of a verdict."""

import threading
import time

from torch.utils._python_dispatch import TorchDispatchMode

# Operators that only make or describe tensors; calling them is not doing the work in a library.
_BOOKKEEPING = {
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "view", "_unsafe_view", "reshape", "as_strided", "detach",
    "t", "transpose", "permute", "expand", "slice", "select", "squeeze", "unsqueeze", "alias", "lift_fresh", "zeros", "zeros_like",
    "new_zeros", "full", "full_like", "fill_", "zero_", "_to_copy", "clone", "contiguous", "copy_", "unbind", "split", "set_", "resize_",
    "ones", "ones_like", "scalar_tensor", "arange", "is_pinned", "_local_scalar_dense", "record_stream", "unfold", "narrow", "movedim",
    "flatten", "chunk",
}


class _Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.ops = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function.overloadpacket.__name__ if hasattr(function, "overloadpacket") else str(function)
        namespace = getattr(function, "namespace", "")
        started = time.perf_counter()
        result = function(*args, **(kwargs or {}))
        count, seconds = self.ops.get((namespace, name), (0, 0.0))
        self.ops[(namespace, name)] = (count + 1, seconds + time.perf_counter() - started)
        return result


def profile(model, arguments, cuda):
    recorder = _Recorder()
    started = time.perf_counter()
    with recorder:
        model(*arguments)
    total = time.perf_counter() - started
    ops = [{"op": f"{ns}::{name}", "calls": c, "ms": 1e3 * s, "compute": ns == "aten" and name not in _BOOKKEEPING}
           for (ns, name), (c, s) in sorted(recorder.ops.items(), key=lambda kv: -kv[1][1])]
    compute = sum(o["ms"] for o in ops if o["compute"])
    return {"operators": ops[:40], "total_ms": 1e3 * total, "library_ms": compute,
            "library_share": min(1.0, compute / max(1e-9, 1e3 * total)), "python_threads": threading.active_count()}
