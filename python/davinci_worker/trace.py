"""What a forward did, as torch's own profiler saw it: evidence for labels and the roofline, never part of a verdict."""

import re
import threading
import time

import torch

from davinci_worker import packing

# Operators that only make or describe tensors; calling them is not doing the work in a library.
_BOOKKEEPING = {
    "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "view", "_unsafe_view", "reshape", "as_strided", "detach",
    "t", "transpose", "permute", "expand", "slice", "select", "squeeze", "unsqueeze", "alias", "lift_fresh", "zeros", "zeros_like",
    "new_zeros", "full", "full_like", "fill_", "zero_", "_to_copy", "to", "clone", "contiguous", "copy_", "unbind", "split", "set_",
    "resize_", "ones", "ones_like", "scalar_tensor", "arange", "is_pinned", "_local_scalar_dense", "record_stream", "unfold", "narrow",
    "movedim", "flatten", "chunk", "resolve_conj", "resolve_neg", "item", "result_type", "expand_as", "view_as",
}
# Operators that read only part of some operand: their bytes are no lower bound.
_SPARSE_READERS = {
    "index", "index_select", "gather", "embedding", "_embedding_bag", "take", "slice", "select", "narrow", "_index", "masked_select",
    "where", "masked_fill", "masked_fill_", "masked_scatter", "tril", "triu", "tril_", "triu_", "diagonal", "diag", "trace",
    "nll_loss", "nll_loss_forward", "nll_loss2d_forward", "index_put", "index_put_", "index_copy", "scatter", "scatter_", "unfold",
    "searchsorted", "bucketize", "constant_pad_nd", "dropout", "native_dropout", "bernoulli_", "grid_sampler", "grid_sampler_2d",
    # with a stride above the window they skip elements
    "max_pool1d", "max_pool2d", "max_pool2d_with_indices", "max_pool3d_with_indices", "avg_pool1d", "avg_pool2d", "avg_pool3d",
    "upsample_nearest2d", "upsample_bilinear2d", "upsample_nearest1d",
}
# Operators that are carried out by one as_strided each and keep every element. Any as_strided beyond theirs is the task's own.
_WHOLE_VIEWS = {"transpose", "permute", "expand", "squeeze", "unsqueeze"}


def operators(function):
    """Runs ``function`` under the profiler: (its result, [(name, calls, self seconds, flops)], total seconds, how many of the calls compute
    without calling another that does: about as many as there are kernels)."""
    # Library calls on helper threads count like those of the main thread.
    everywhere = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    with torch.autograd.profiler.profile(use_cpu=True, with_flops=True, experimental_config=everywhere) as profiler:
        started = time.perf_counter()  # the profiler itself takes a millisecond to start and to stop
        result = function()
        total = time.perf_counter() - started
    rows = [(e.key, e.count, 1e-6 * e.self_cpu_time_total, int(e.flops or 0)) for e in profiler.key_averages()]
    leaves = sum(_is_compute(e.name) and not any(_is_compute(c.name) for c in e.cpu_children) for e in profiler.function_events)
    return result, rows, total, leaves


def _is_compute(key):
    namespace, _, name = key.partition("::")
    return namespace == "aten" and name not in _BOOKKEEPING


_FORWARDS = 5
_LONG_FORWARDS_SECONDS = 1.0

# Kernels of PyTorch and NVIDIA's libraries, by how their names begin or what they contain.
_VENDOR_KERNEL = re.compile(
    r"at::native|at_cuda_detail|c10::|cutlass|cublas|cudnn|cub::|thrust::|nvjet|sm[0-9]+_xmma|xmma|ampere_|hopper_|volta_|turing_"
    r"|\b(gemm|gemv|splitK|implicit_convolve|pytorch_flash|fmha|flash_fwd|dot_kernel|reduce_1Block)")


def profile(model, arguments, warmup_seconds=None):
    """Library operators of one forward, with their share of its time (CPU), and its device kernels (CUDA, where
    ``warmup_seconds`` is given)."""
    cuda = warmup_seconds is not None
    # Device activity first: torch's profiler leaves hooks behind that double the time of kernels.
    on_device = device_profile(model, arguments, warmup_seconds) if cuda else None
    _, rows, total, _ = operators(lambda: packing.called(model, arguments))
    spent = total
    # The first one pays for caches and for the profiler itself; whatever else the machine does makes any of them longer.
    for _ in range(0 if cuda else _FORWARDS):
        if spent >= _LONG_FORWARDS_SECONDS:
            break
        _, again, seconds, _ = operators(lambda: packing.called(model, arguments))
        spent += seconds
        if seconds < total:
            rows, total = again, seconds
    listed = [{"op": key, "calls": calls, "ms": 1e3 * seconds, "compute": _is_compute(key)}
              for key, calls, seconds, _ in sorted(rows, key=lambda row: -row[2]) if "::" in key]
    compute = sum(o["ms"] for o in listed if o["compute"])
    everything = max(1e-9, 1e3 * sum(seconds for _, _, seconds, _ in rows))
    report = {"operators": listed[:40], "library_ms": compute,
              "library_share": min(1.0, compute / max(everything, 1e3 * total)), "python_threads": threading.active_count()}
    if cuda:
        report["device"] = on_device
        report["library_share"] = 1.0 - report["device"]["custom_time_share"]
    return report


def device_profile(model, arguments, warmup_seconds):
    """Kernels with times, and which share of them is the candidate's own, from device activity alone."""
    from davinci_worker import device

    # An idle device has slowed its clocks down: it is kept busy first, and the last of several forwards is reported.
    until = time.perf_counter() + warmup_seconds
    while time.perf_counter() < until:
        packing.called(model, arguments)
        torch.cuda.synchronize()

    def forwards():
        for _ in range(_FORWARDS):
            packing.called(model, arguments)

    records = device.kernels(forwards)["activities"]
    records = sorted(records, key=lambda r: r["start_ns"])[-(len(records) // _FORWARDS):]
    launched = [r for r in records if r.get("kind", "kernel") == "kernel"]
    spans = sorted((r["start_ns"], r["end_ns"]) for r in records)
    busy, end = 0, 0
    for start, stop in spans:
        busy += max(0, stop - max(start, end))
        end = max(end, stop)
    custom = [r for r in launched if not _VENDOR_KERNEL.search(r["name"])]
    total = sum(r["end_ns"] - r["start_ns"] for r in launched)
    own = sum(r["end_ns"] - r["start_ns"] for r in custom)
    return {"busy_ms": 1e-6 * busy, "kernels": len(launched), "custom_kernels": len(custom),
            "custom_time_share": own / total if total else 0.0, "custom_count_share": len(custom) / len(launched) if launched else 0.0,
            "streams": sorted({r.get("stream") for r in launched}),
            "list": [{"name": r["name"][:160], "ms": 1e-6 * (r["end_ns"] - r["start_ns"]), "grid": r.get("grid"), "block": r.get("block"),
                      "stream": r.get("stream"), "custom": not _VENDOR_KERNEL.search(r["name"])} for r in launched[:64]]}


_PRODUCTS = {"mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "convolution", "scaled_dot_product_attention", "bilinear", "cdist"}

_SELECTORS = {"topk", "sort", "argsort", "argmax", "argmin", "kthvalue", "mode"}
_MAY_SELECT = {"max", "min", "median", "nanmedian", "cummax", "cummin"}  # they also tell where


def multiplies(names):
    """Do operators of these names multiply matrices?"""
    return bool(names & _PRODUCTS)


def chains_products(names):
    """Do they multiply the numbers along a dimension with one another?"""
    return bool(names & {"prod", "cumprod"})


def selects(names, tells_whole_numbers):
    """Do they pick the largest of something? ``tells_whole_numbers``: is any output not floating?"""
    return bool(names & _SELECTORS) or (tells_whole_numbers and bool(names & _MAY_SELECT))


def work(function):
    """(result, flops, whether every operator reads its operands whole: by its name, and surely; names of the operators, how many compute) of
    a reference forward."""
    result, rows, _, leaves = operators(function)
    calls = {}
    for key, count, _, _ in rows:
        name = key.partition("::")[2]
        calls[name] = calls.get(name, 0) + count
    own_views = calls.get("as_strided", 0) - sum(calls.get(name, 0) for name in _WHOLE_VIEWS)
    dense = not any(name in _SPARSE_READERS for name in calls)
    names = {name.lstrip("_") for name in calls}
    return result, sum(row[3] for row in rows), dense, dense and own_views <= 0, names, leaves
