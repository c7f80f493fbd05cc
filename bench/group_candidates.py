"""Groups of candidates as a step of training has them, for bench/staged_rate.py: of each pointwise task right answers in several forms, slow
ones, wrong ones, one that does not compile, and one that repeats another but for a comment. Triton (cuda) or C++ (cpu)."""
import pathlib

from small_candidates import FUNCTIONS, task_text

_TRITON = '''{comment}import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, {expression}, mask=at < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        for _ in range({passes}):
            kernel[(triton.cdiv(x.numel(), {block}),)](x, out, x.numel(), BLOCK={block}, num_warps={warps})
        return out
'''

_CPP = '''{comment}import davinci_runtime as dv
import torch

SOURCE = r"""
#include <cmath>
#include <cstdint>

extern "C" void pointwise(const float* in, float* out, int64_t n) {{
  for (int pass = 0; pass < {passes}; ++pass) {{
#pragma omp parallel for schedule(static, {block})
    for (int64_t at = 0; at < n; ++at) {{
      const float x = ((volatile const float*)in)[at];
      out[at] = {expression};
    }}
  }}
}}
"""
kernel = dv.cpp_module(SOURCE).get("pointwise", "ptr ptr i64")


class ModelNew(torch.nn.Module):
    def forward(self, x):
        out = torch.empty_like(x)
        kernel(x, out, x.numel())
        return out
'''

# What a group of sixteen holds: kind, passes over the data.
_GROUP = [("right", 1)] * 7 + [("right", 12)] * 3 + [("wrong", 1)] * 4 + [("broken", 1), ("repeated", 1)]
SHAPES = {"cuda": [(1024, 1024), (2048, 512)], "cpu": [(256, 1024), (512, 512)], "compile-only": [(64, 128), (32, 256)]}


def _candidate(kind, passes, function, i, number, cuda):
    _, _, triton, cpp = function
    expression = triton if cuda else cpp
    if kind == "wrong":
        expression = f"({expression}) + {0.25 * (1 + i % 4)}"
    if kind == "broken":
        expression += " +" if cuda else " + missing"
    # Forms that differ: of the right ones no two have the same block and number of warps.
    form = {"block": (128, 256, 512, 1024)[i % 4] if cuda else 1024 << (i % 8), "warps": (1, 2, 4, 8)[i // 4 % 4]}
    return (_TRITON if cuda else _CPP).format(comment=f"# {number:04}\n", expression=expression, passes=passes, **form)


def write(folder, tasks, candidates, target):
    """Writes the files: [{"reference", "candidate", "kind", "id"}], task by task."""
    folder, cuda, rows = pathlib.Path(folder), target != "cpu", []
    folder.mkdir(parents=True, exist_ok=True)
    each = candidates // tasks
    for t in range(tasks):
        function, shape = FUNCTIONS[t % len(FUNCTIONS)], SHAPES[target][t // len(FUNCTIONS) % 2]
        reference = folder / f"task_{t:02}_{function[0]}.py"
        reference.write_text(task_text(function, shape))
        for i in range(each):
            kind, passes = _GROUP[i * (len(_GROUP) - 1) // max(each - 1, 1)]
            text = _candidate(kind, passes, function, 0 if kind == "repeated" else i, t * each + i, cuda)
            path = folder / f"t{t:02}_{i:02}_{kind}.py"
            path.write_text(text)
            rows.append({"id": path.stem, "reference": str(reference), "candidate": str(path), "kind": kind})
    return rows
