"""What every candidate would otherwise do again for itself, done once in the fork server; its children inherit the result. For Triton:
importing the compiler, hashing its installation, starting LLVM, building the driver's helper module. For MKL: finding its functions.

Nothing here touches a device: the kernel is compiled for a named architecture, and the helper module is only loaded.
"""

import os
import tempfile

# What torch has MKL's vector mathematics library work out.
_VECTOR_FUNCTIONS = ("acos", "asin", "atan", "cos", "cosh", "sin", "sinh", "tan", "tanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p",
                     "sqrt", "rsqrt", "erf", "erfc", "erfinv", "sigmoid", "lgamma", "trunc", "floor", "ceil", "round")

_KERNEL = '''
import triton
import triton.language as tl


@triton.jit
def add_one(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)
'''


def vector_functions():
    """MKL looks for the kernel of a function when that is called for the first time. Where several threads do so at once, one of them may
    get a kernel of half the accuracy for that call (PyTorch issue 188792), and an honest candidate is wrong once."""
    import torch

    for dtype in (torch.float32, torch.float64):
        one = torch.full((1,), 0.5, dtype=dtype)  # for one thread
        for name in _VECTOR_FUNCTIONS:
            getattr(torch, name)(one)


def triton_compiler(cache_folder, arch):
    """``cache_folder`` keeps the helper module between runs ("" for none); ``arch`` is 90 for sm_90."""
    previous = os.environ.get("TRITON_CACHE_DIR")
    try:
        with tempfile.TemporaryDirectory(prefix="davinci-prewarm") as scratch:
            _build_helpers(cache_folder or scratch)
            os.environ["TRITON_CACHE_DIR"] = os.path.join(scratch, "cache")
            _compile(scratch, arch)
    finally:
        if previous is None:
            os.environ.pop("TRITON_CACHE_DIR", None)
        else:
            os.environ["TRITON_CACHE_DIR"] = previous


def _build_helpers(folder):
    os.environ["TRITON_CACHE_DIR"] = folder
    try:
        from triton.backends.nvidia import driver

        driver.CudaUtils()  # a singleton; needs libcuda to be loaded, so only where there is a driver
    except Exception:  # noqa: BLE001
        pass


def _compile(scratch, arch):
    import importlib.util

    import triton
    import triton.experimental.gluon  # noqa: F401  imported by the first compilation
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    path = os.path.join(scratch, "davinci_prewarm.py")
    with open(path, "w") as file:
        file.write(_KERNEL)
    spec = importlib.util.spec_from_file_location("davinci_prewarm", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    triton.compile(ASTSource(module.add_one, {"x_ptr": "*fp32", "n": "i32"}, {"BLOCK": 1024}), target=GPUTarget("cuda", arch, 32))
