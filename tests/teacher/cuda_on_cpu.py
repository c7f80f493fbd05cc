"""Runs the teacher's CUDA C++ without a GPU: dv.cuda_module() compiles it as C++, where the threads of a block are fibers.

Only what the teacher writes is known: one-dimensional launches, __syncthreads, __shfl_xor_sync, __shared__ and half types. Where NVRTC is
installed it compiles each source as well, for sm_90.
"""
import ctypes
import os
import re
import subprocess
import tempfile

import davinci_runtime

# Fibers run in turn up to their next barrier, so all of a block pass it together. A shuffle is a store, a barrier and a load.
PRELUDE = r"""
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>
#include <ucontext.h>
using std::floor; using std::ceil; using std::erf; using std::tanh; using std::log1p; using std::expm1; using std::nearbyint;
struct Place { int x = 0; };
static Place threadIdx, blockIdx, blockDim;
static ucontext_t scheduler;
static std::vector<ucontext_t> fibers;
static std::vector<char> done;
static std::vector<float> lanes;
static std::function<void()> body;
static void Pause() { const int own = threadIdx.x; swapcontext(&fibers[own], &scheduler); threadIdx.x = own; }
static void Enter() { const int own = threadIdx.x; body(); done[own] = 1; swapcontext(&fibers[own], &scheduler); }
static void Launch(int64_t blocks, int threads, std::function<void()> kernel) {
  constexpr size_t kStack = 1 << 16;
  std::vector<char> stacks(kStack * threads);
  body = kernel;
  blockDim.x = threads;
  lanes.assign(threads, 0.0f);
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x) {
    fibers.assign(threads, {});
    done.assign(threads, 0);
    for (int t = 0; t < threads; ++t) {
      getcontext(&fibers[t]);
      fibers[t].uc_stack.ss_sp = stacks.data() + kStack * t;
      fibers[t].uc_stack.ss_size = kStack;
      makecontext(&fibers[t], Enter, 0);
    }
    for (bool more = true; more;) {
      more = false;
      for (int t = 0; t < threads; ++t)
        if (!done[t]) { threadIdx.x = t; swapcontext(&scheduler, &fibers[t]); more = true; }
    }
  }
}
static void __syncthreads() { Pause(); }
static float __shfl_xor_sync(unsigned, float x, int mask) {
  lanes[threadIdx.x] = x;
  Pause();
  const float other = lanes[threadIdx.x ^ mask];
  Pause();
  return other;
}
static float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
[[gnu::noinline]] static float __fsub_rn(float a, float b) { return a - b; }
static float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
struct __half { _Float16 value; __half() = default; explicit __half(float x) : value(x) {} operator float() const { return value; } };
struct __nv_bfloat16 {
  uint16_t bits;
  __nv_bfloat16() = default;
  explicit __nv_bfloat16(float x) {
    const uint32_t u = std::bit_cast<uint32_t>(x);
    bits = x != x ? 0x7fc0 : static_cast<uint16_t>((u + 0x7fff + (u >> 16 & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};
#define __global__
#define __device__ static
#define __forceinline__ inline
#define __launch_bounds__(n)
#define __shared__ static
"""


class Kernel:
    def __init__(self, function, signature):
        self.function, self.kinds = function, davinci_runtime._signature(signature)[0]

    def __getitem__(self, launch):
        grid, block = launch

        def call(*arguments):
            values = davinci_runtime._convert(self.kinds, arguments, "kernel")
            self.function(ctypes.c_int64(grid), ctypes.c_int(block), *values)

        return call


class Module:
    def __init__(self, source):
        text = re.sub(r"#include <cuda_\w+.h>\n|#define (INFINITY|NAN).*\n|typedef long long int64_t;\n|typedef int int32_t;\n", "", source)
        text = text.replace("static __device__", "static").replace("static static", "static")
        wrappers = ""
        for name, parameters in re.findall(r"extern \"C\" __global__ void __launch_bounds__\(\d+\) (\w+)\(([^)]*)\)", text):
            names = ", ".join(part.split()[-1] for part in parameters.split(","))
            wrappers += f'extern "C" void {name}_launch(int64_t blocks, int threads, {parameters}) {{ Launch(blocks, threads, [=] {{ {name}({names}); }}); }}\n'
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernel.cpp")
            with open(path, "w") as file:
                file.write(PRELUDE + text + wrappers)
            library = os.path.join(folder, "kernel.so")
            done = subprocess.run(["g++", "-std=c++20", "-O1", "-ffp-contract=off", "-w", "-fPIC", "-shared", path, "-o", library],
                                  capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr[:2000])
            self.library = ctypes.CDLL(library)

    def get(self, name, signature):
        return Kernel(getattr(self.library, name + "_launch"), signature)


def cuda_module(source, options=()):
    try:
        davinci_runtime._load_first(["libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12"])
    except RuntimeError:
        return Module(source)
    if "#include" not in source:  # NVRTC's package has no headers of half types
        davinci_runtime._nvrtc_cubin(source, list(options), "sm_90a")
    return Module(source)
