"""Small candidates of small tasks for bench/judge_numbers.py: eight pointwise functions of 2048 x 1024 values, each answered in Triton
and in CUDA through load_inline, with several block sizes. No two are alike, so none is judged by another's verdict."""
import pathlib

# Name, what torch says, and the same in Triton and in CUDA for one value x.
FUNCTIONS = [
    ("relu_squared", "torch.relu(x) ** 2", "tl.maximum(x, 0.0) * tl.maximum(x, 0.0)", "fmaxf(x, 0.f) * fmaxf(x, 0.f)"),
    ("swish", "x * torch.sigmoid(x)", "x * tl.sigmoid(x)", "x / (1.f + expf(-x))"),
    ("quick_gelu", "x * torch.sigmoid(1.702 * x)", "x * tl.sigmoid(1.702 * x)", "x / (1.f + expf(-1.702f * x))"),
    ("hardswish", "torch.nn.functional.hardswish(x)", "x * tl.minimum(tl.maximum(x + 3.0, 0.0), 6.0) / 6.0",
     "x * fminf(fmaxf(x + 3.f, 0.f), 6.f) / 6.f"),
    ("leaky", "torch.nn.functional.leaky_relu(x, 0.1)", "tl.where(x > 0, x, 0.1 * x)", "(x > 0.f ? x : 0.1f * x)"),
    ("hardtanh", "torch.nn.functional.hardtanh(x)", "tl.minimum(tl.maximum(x, -1.0), 1.0)", "fminf(fmaxf(x, -1.f), 1.f)"),
    ("softsign", "torch.nn.functional.softsign(x)", "x / (1.0 + tl.abs(x))", "x / (1.f + fabsf(x))"),
    ("scaled_square", "0.5 * x * x + x", "0.5 * x * x + x", "0.5f * x * x + x"),
]

_TASK = '''import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return {torch}


def get_inputs():
    return [torch.randn({rows}, {columns})]


def get_init_inputs():
    return []
'''

_TRITON = '''import torch
import triton
import triton.language as tl


@triton.jit
def {name}_{i}(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, {triton}, mask=at < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        {name}_{i}[(triton.cdiv(x.numel(), {block}),)](x, out, x.numel(), BLOCK={block})
        return out
'''

_CUDA = '''import torch
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>

__global__ void {name}_{i}(const float* in, float* out, long n) {{
  const long at = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (at < n) {{
    const float x = in[at];
    out[at] = {cuda};
  }}
}}

torch::Tensor run(torch::Tensor x) {{
  auto out = torch::empty_like(x);
  const long n = x.numel();
  {name}_{i}<<<(n + {block} - 1) / {block}, {block}>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}}
"""
module = load_inline(name="{name}_{i}", cpp_sources="torch::Tensor run(torch::Tensor x);", cuda_sources=source, functions=["run"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return module.run(x.contiguous())
'''


def task_text(function, shape):
    return _TASK.format(torch=function[1], rows=shape[0], columns=shape[1])


def write(folder, count, kinds=("triton", "cuda-inline"), shape=(2048, 1024)):
    """Writes `count` candidates, kinds and tasks in turn: [(reference, candidate, kind)]."""
    folder = pathlib.Path(folder)
    written = []
    for i in range(count):
        kind = kinds[i % len(kinds)]
        function = FUNCTIONS[i // len(kinds) % len(FUNCTIONS)]
        name, _, triton, cuda = function
        block = 128 << (i // (len(kinds) * len(FUNCTIONS)) % 4)
        reference, candidate = folder / f"task_{name}.py", folder / f"small_{i:04}.py"
        reference.write_text(task_text(function, shape))
        template = _TRITON if kind == "triton" else _CUDA
        candidate.write_text(template.format(name=name, i=i, triton=triton, cuda=cuda, block=block))
        written.append((str(reference), str(candidate), kind))
    return written
