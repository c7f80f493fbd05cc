"""Tensors that a task asks a GPU for, on the judge's target: inputs, weights and tables of a reference."""

import torch
from torch.overrides import TorchFunctionMode


def is_cuda(device):
    if isinstance(device, str):
        return device.split(":")[0] == "cuda"
    return isinstance(device, torch.device) and device.type == "cuda"


class OnTarget(TorchFunctionMode):
    """Inside, ``device="cuda"``, ``.cuda()`` and ``.to("cuda")`` mean the target, a device of one process alone."""

    def __init__(self, target):
        super().__init__()
        self._target = torch.device(target)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if function is torch.Tensor.cuda:
            return args[0].to(self._target)
        if is_cuda(kwargs.get("device")):
            kwargs["device"] = self._target
        if function is torch.Tensor.to and any(map(is_cuda, args[1:])):
            args = (args[0], *(self._target if is_cuda(a) else a for a in args[1:]))
        if self._target.type != "cuda":  # the host's memory is pinned for a GPU
            if function is torch.Tensor.pin_memory:
                return args[0]
            kwargs.pop("pin_memory", None)
        return function(*args, **kwargs)
