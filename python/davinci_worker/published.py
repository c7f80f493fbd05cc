"""The published rule of KernelBench as a second opinion: seeds derived from 42 and torch.allclose against the reference.

Nothing here decides a verdict of the davinci protocol; it lets our numbers be compared with published fast_p.
"""

import torch

from davinci_worker import packing

SEED = 42
_PREFIX = "published-"
_CHUNK = {"cpu": 1 << 20, "cuda": 1 << 24}  # elements compared at once, so that outputs of gigabytes need no second copy
_CASTS = {"fp32": torch.float32, "tf32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


def trial_of(distribution):
    """Number of the trial for "published-3", else None."""
    return int(distribution[len(_PREFIX):]) if distribution.startswith(_PREFIX) else None


def trial_seed(trial):
    """The seed of a correctness trial. The published numbers."""
    torch.manual_seed(SEED)
    seed = 0
    for _ in range(trial + 1):
        seed = torch.randint(0, 2**32 - 1, (1,)).item()
    return seed


def cast(tensors, precision):
    """Floating tensors in the precision under test. Integer labels and indices keep their type: cast, the reference would raise."""
    dtype = _CASTS[precision]
    return [t.to(dtype) if t.is_floating_point() else t for t in tensors]


def cast_model(model, precision):
    return model.to(_CASTS[precision])


def cast_arguments(arguments, precision):
    tensors = []
    skeleton = packing.flatten(arguments, tensors)
    return packing.unflatten(skeleton, cast(tensors, precision))


def compare(reference, candidate, tolerance):
    """|candidate - reference| <= tolerance + tolerance |reference| for every element of every output; NaN equals nothing."""
    outputs = [_compare_one(r, c, tolerance) for r, c in zip(reference, candidate)]
    return {"passed": len(reference) == len(candidate) and all(o["passed"] for o in outputs), "outputs": outputs}


def _compare_one(reference, candidate, tolerance):
    report = {"passed": False, "dtype": packing.DTYPES[reference.dtype], "shape": list(reference.shape),
              "elements": reference.numel(), "wrong": reference.numel(), "max_ratio": "nan", "max_abs_diff": "nan"}
    if reference.shape != candidate.shape or reference.dtype != candidate.dtype:
        return report
    expected, got = reference.contiguous().reshape(-1), candidate.contiguous().reshape(-1)
    wrong, first, largest, ratio, worst = 0, -1, 0.0, 0.0, 0
    step = _CHUNK[expected.device.type]
    for start in range(0, expected.numel(), step):
        e, g = expected[start:start + step], got[start:start + step]
        if e.dtype is torch.float32:  # the same arithmetic as isclose; values not clearly inside are tested again below
            difference = torch.sub(g, e).abs_()
            relative = difference / e.abs().mul_(tolerance).add_(tolerance)
            here = relative.max().item()
            if here < 0.999:
                largest, ratio = max(largest, difference.max().item()), max(ratio, here)
                continue
        outside = ~torch.isclose(g, e, rtol=tolerance, atol=tolerance)
        count = int(outside.sum())
        if count and first < 0:
            first = start + int(outside.nonzero()[0])
        wrong += count
        e = e.double()
        difference = (g.double() - e).abs_().nan_to_num_(nan=float("inf"), posinf=float("inf"))
        difference[~outside & difference.isinf()] = 0  # equal infinities
        largest = max(largest, difference.max().item())
        relative = difference.div_(e.abs_().mul_(tolerance).add_(tolerance)).nan_to_num_(nan=float("inf"))
        if relative.max().item() > ratio:
            ratio, worst = relative.max().item(), start + int(relative.argmax())
    report.update({"passed": wrong == 0, "wrong": wrong, "max_ratio": _number(ratio), "max_abs_diff": _number(largest)})
    if wrong:
        def at(index):
            e, g = float(expected[index]), float(got[index])
            return {"index": _coordinates(index, report["shape"]), "expected": _number(e), "got": _number(g)}, abs(g - e), e

        first_wrong, _, _ = at(first)
        worst_wrong, error, value = at(worst)
        report["first_wrong"] = first_wrong
        report["worst"] = {**worst_wrong, "error": _number(error), "tolerance": _number(tolerance * (1 + abs(value)))}
    return report


def _number(value):
    """JSON has no NaN or infinity."""
    if value != value:
        return "nan"
    return value if abs(value) != float("inf") else ("inf" if value > 0 else "-inf")


def _coordinates(index, shape):
    coordinates = []
    for size in reversed(shape):
        coordinates.append(int(index % size))
        index //= size
    return coordinates[::-1]
