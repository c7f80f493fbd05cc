"""Compares every function of synth/teacher/math.cpp with double precision over a sample of all floats.

Compiled as the teacher's candidates are. A function fails above 3 ulp, or where an infinity, a NaN or a zero is another one.
"""
import ctypes
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import torch

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Where results are normal numbers: below, one ulp is most of the value.
FUNCTIONS = {
    "Exp": (torch.exp, -87, 89), "Exp2": (torch.exp2, -126, 128), "Expm1": (torch.expm1, -1e30, 89), "Sigmoid": (torch.sigmoid, -85, 1e30),
    "Tanh": (torch.tanh, -1e30, 1e30), "Log": (torch.log, -1e30, 3e38), "Log2": (torch.log2, -1e30, 3e38), "Log1p": (torch.log1p, -1e30, 3e38),
    "Erf": (torch.erf, -1e30, 1e30), "Sin": (torch.sin, -1e9, 1e9), "Cos": (torch.cos, -1e9, 1e9),
    "Atan": (torch.atan, -1e30, 1e30), "Atan2:0.75f": (lambda y: torch.atan2(y, torch.full_like(y, 0.75)), -1e30, 1e30),
    "Atan2:-3.0f": (lambda y: torch.atan2(y, torch.full_like(y, -3.0)), -1e30, 1e30),
    "LogAdd:1.5f": (lambda x: torch.logaddexp(x, torch.full_like(x, 1.5)), -1e30, 1e30),
    "Pow:1.75f": (lambda x: x**1.75, -1e30, 1e22), "Pow:-2.5f": (lambda x: x**-2.5, 1e-15, 1e15), "Pow:5.0f": (lambda x: x**5, -1e7, 1e7),
}

HALVES = {"Bf16": torch.bfloat16, "Fp16": torch.float16}


def check_half(library, name, dtype, x):
    """All numbers of the type are read as PyTorch reads them, floats rounded as PyTorch rounds them."""
    every = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(dtype)
    wide, narrow = torch.empty(every.numel()), torch.empty(x.numel(), dtype=dtype)
    getattr(library, f"from{name}")(*(ctypes.c_void_p(t.data_ptr()) for t in (every, wide)), ctypes.c_int64(every.numel()))
    getattr(library, f"to{name}")(*(ctypes.c_void_p(t.data_ptr()) for t in (x, narrow)), ctypes.c_int64(x.numel()))
    bad = sum(
        (~((a == b) & (a.signbit() == b.signbit()) | a.isnan() & b.isnan())).sum().item()
        for a, b in ((wide, every.float()), (narrow.float(), x.to(dtype).float()))
    )
    print(f"{name:10} {bad} converted otherwise")
    return bad


def main():
    text = (ROOT / "synth/teacher/math.cpp").read_text()
    defined = re.findall(r"^// ---- (\w+):", text, re.M)
    missing = set(defined) - {name.split(":")[0] for name in FUNCTIONS} - {"Maximum", "Minimum", "MultiplyAdd"} - set(HALVES)
    assert not missing, f"not checked: {missing}"
    source = "#include <bit>\n#include <cmath>\n#include <cstdint>\n" + text
    for number, name in enumerate(FUNCTIONS):
        function, _, argument = name.partition(":")
        call = f"{function}(x[i], {argument})" if argument else f"{function}(x[i])"
        source += f'extern "C" void f{number}(const float* x, float* y, int64_t n) {{\n#pragma omp simd\n  for (int64_t i = 0; i < n; ++i) y[i] = {call};\n}}\n'
    for name in HALVES:
        loop = "#pragma omp simd\n  for (int64_t i = 0; i < n; ++i) y[i] = x[i];\n"
        source += f'extern "C" void from{name}(const {name}* x, float* y, int64_t n) {{\n{loop}}}\n'
        source += f'extern "C" void to{name}(const float* x, {name}* y, int64_t n) {{\n{loop}}}\n'
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "math.cpp"
        path.write_text(source)
        flags = ["-O3", "-march=native", "-fopenmp", "-std=c++20", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
        subprocess.run([os.environ.get("CXX", "g++"), *flags, str(path), "-o", str(path) + ".so"], check=True)
        library = ctypes.CDLL(str(path) + ".so")
        bits = torch.arange(0, 2**32, 2**32 // 2**21 + 1, dtype=torch.int64)
        x = torch.where(bits < 2**31, bits, bits - 2**32).to(torch.int32).view(torch.float32)
        special = torch.tensor([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-45, -1e-45, 1e-40, 3.4e38, -3.4e38])
        x = torch.cat([x, torch.linspace(-20, 20, 2**18), special])
        for number, (name, (reference, low, high)) in enumerate(FUNCTIONS.items()):
            y = torch.empty_like(x)
            getattr(library, f"f{number}")(*(ctypes.c_void_p(t.data_ptr()) for t in (x, y)), ctypes.c_int64(x.numel()))
            want = reference(x.double())
            rounded = want.float()
            unit = torch.nextafter(rounded.abs(), torch.tensor(math.inf)).double() - rounded.abs().double()
            usual = (x >= low) & (x <= high) & rounded.isfinite() & (rounded.abs() > 1.2e-38)
            worst = ((y.double() - want).abs() / unit)[usual].max().item()
            edge = torch.ones_like(usual) if name not in ("Sin", "Cos") else (x.abs() < 1e14) | ~x.isfinite()
            kinds = ((y.isnan() != rounded.isnan()) | (y.isinf() != rounded.isinf())) & edge
            # An overflow within the last ulp is rounding.
            kinds &= ~(y.isinf() & (rounded.abs() > 3.4e38))
            bad = kinds.sum().item()
            print(f"{name:10} {worst:.2f} ulp, {bad} of another kind{'' if not bad else f', such as at {x[kinds][0].item()}'}")
            failed = failed or worst > 3 or bad
        for name, dtype in HALVES.items():
            failed = check_half(library, name, dtype, x) or failed
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
