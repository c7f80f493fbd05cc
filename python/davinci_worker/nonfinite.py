"""Does a candidate pass NaN on as the reference does? A label, never a failure: honest kernels built on fmaxf drop NaN."""

import torch

_NAN_PER_INPUT = 3


def inject(tensors, generator):
    """Copies with a few NaN and one infinity in each floating input; None when there is none."""
    touched = False
    changed = []
    for tensor in tensors:
        if not tensor.is_floating_point() or tensor.numel() < 8:
            changed.append(tensor)
            continue
        touched = True
        tensor = tensor.clone(memory_format=torch.preserve_format)
        for k in range(_NAN_PER_INPUT + 1):
            flat = int(torch.randint(0, tensor.numel(), (1,), generator=generator))
            where = []
            for size in reversed(tensor.shape):
                where.append(flat % size)
                flat //= size
            tensor[tuple(reversed(where))] = float("nan") if k < _NAN_PER_INPUT else float("inf")
        changed.append(tensor)
    return changed if touched else None


def compare(references, candidate):
    """``references``: outputs of several honest evaluations; only where all of them agree does NaN count."""
    expected = missing = extra = 0
    for i, tensor in enumerate(candidate):
        if not tensor.is_floating_point():  # flags and counts that all honest answers agree on
            tensors = [other[i].to(tensor.dtype) for other in references]
            surely = torch.stack([other == tensors[0] for other in tensors]).all(0)
            extra += int((surely & (tensor != tensors[0])).count_nonzero())
            continue
        surely = references[0][i].isnan()
        possibly = surely.clone()
        for other in references[1:]:
            pattern = other[i].isnan()
            surely &= pattern
            possibly |= pattern
        got = tensor.isnan()
        expected += int(surely.count_nonzero())
        missing += int(surely.logical_and_(~got).count_nonzero())
        extra += int(got.logical_and_(possibly.logical_not_()).count_nonzero())
    return {"expected": expected, "missing": missing, "extra": extra}
