"""One kernel a step; a kernel that was compiled for such arguments is launched without Triton's look-up."""
import torch
import torch.nn as nn
import triton
import triton.language as tl
from triton.runtime import driver

WIDTH = 256


class direct:
    """Launches a kernel that was compiled for such arguments without Triton's look-up."""

    def __init__(self, kernel):
        self.kernel, self.compiled = kernel, {}

    def __getitem__(self, grid):
        def launch(*args, **constants):
            # What a kernel is compiled for: types, alignment of addresses, sizes, constants.
            key = tuple([a if isinstance(a, (int, float)) else (a.dtype, a.data_ptr() % 16) for a in args])
            key = (args[0].device, key, *constants.values())
            if key in self.compiled:
                made, fixed = self.compiled[key]
                stream = driver.active.get_current_stream(args[0].device.index)
                place = (*grid, 1, 1)[:3]
                made[place](*args, *fixed, stream=stream)
                return
            made = self.kernel[grid](*args, **constants)
            if made is not None:  # Triton's interpreter compiles nothing
                self.compiled[key] = made, [constants[name] for name in self.kernel.arg_names[len(args) :]]

        return launch


@direct
@triton.jit
def rms_add_kernel(x_ptr, weight_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    col = tl.arange(0, BLOCK)
    inside = col < cols
    x = tl.load(x_ptr + row * cols + col, mask=inside, other=0.0)
    weight = tl.load(weight_ptr + col, mask=inside, other=0.0)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) / cols + 1e-5)
    tl.store(out_ptr + row * cols + col, x + weight * x * scale, mask=inside)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList(nn.Parameter(torch.rand(WIDTH)) for _ in range(24))

    def forward(self, x):
        x = x.contiguous()
        for weight in self.weights:
            out = torch.empty_like(x)
            rms_add_kernel[(x.shape[0],)](x, weight, out, x.shape[1], BLOCK=1 << (x.shape[1] - 1).bit_length())
            x = out
        return x
