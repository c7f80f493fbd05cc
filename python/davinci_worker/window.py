"""A runner's side of a window: several calls on as many inputs, between two readings of the supervisor's clock (judge/timing/timed_windows.cc).

Before each call the runner writes a secret number all over another buffer that the oracle owns: that takes the last call's data out of the L2,
keeps the device busy while the host goes on, and the oracle sees afterwards that it was done.
"""

import torch

_STEP = 0x9E3779B97F4A7C15
_SAMPLES = 4096  # of every buffer


def number(seed, index):
    """What buffer ``index`` is filled with."""
    return (seed + index * _STEP & (1 << 63) - 1) | 1


class Buffers:
    """Of the arena "flush": ``count`` buffers in one allocation."""

    def __init__(self, base, count):
        self.views = base.view(torch.int64).view(count, -1)

    def flush(self, index, seed):
        self.views[index].fill_(number(seed, index))

    def is_filled(self, seed, count, secret):
        """The oracle: whether the first ``count`` hold what they should, at places that follow from ``secret``."""
        generator = torch.Generator(device=self.views.device).manual_seed(secret)
        at = torch.randint(self.views.shape[1], (count, _SAMPLES), generator=generator, device=self.views.device)
        wanted = torch.tensor([number(seed, i) for i in range(count)], device=self.views.device)
        return bool((self.views[:count].gather(1, at) == wanted[:, None]).all())


def run(forward, arguments, buffers, seed, window):
    """The calls of one window; what they returned, none of an empty one."""
    flush, idle, empty = window["flush"], window["idle"], window["empty"]
    synchronize, returned = torch.cuda.synchronize, []
    if not flush:
        buffers.views[0, :1].fill_(seed & 1)  # the device turns to this process
    for index in range(window["calls"]):
        if flush:
            buffers.flush(index, seed)
        if idle:
            synchronize()
        if not empty:
            returned.append(forward(*arguments[index]))
        if idle:
            synchronize()
    return returned
