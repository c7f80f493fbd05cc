"""How long a candidate's source takes to become loadable: torch's own load_inline against davinci's build service.

    python bench/compile_times.py --builder build/dev/src/davinci/build/davinci-build [--repeat 3] [--json out.json]

Every row is the median of --repeat runs; "cold" sources differ from run to run, so nothing is cached. torch's own flow is
run once, in a fresh process (--no-torch leaves it out).
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

FLAGS = ["-O3", "-march=native", "-fopenmp"]
CPP = """
torch::Tensor add_relu(torch::Tensor a, torch::Tensor b) {
  TORCH_CHECK(a.is_contiguous() && b.is_contiguous(), "inputs must be contiguous");
  auto out = torch::empty_like(a);
  const float *x = a.data_ptr<float>(), *y = b.data_ptr<float>();
  float* z = out.data_ptr<float>();
  #pragma omp parallel for
  for (int64_t i = 0; i < a.numel(); i++) z[i] = std::max(x[i] + y[i], 0.0f);
  return out;
}
"""
CUDA_DECLARATION = "torch::Tensor twice(torch::Tensor x);"
CUDA = """
template <typename T> __global__ void twice_kernel(const T* x, T* y, int64_t n) {
  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + x[i];
}
torch::Tensor twice(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int64_t n = x.numel();
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "twice", [&] {
    twice_kernel<scalar_t><<<(n + 255) / 256, 256>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n);
  });
  return y;
}
"""
C_ABI = 'extern "C" void twice(const float* x, float* y, long n) {\n  #pragma omp parallel for\n  for (long i = 0; i < n; i++) y[i] = 2 * x[i];\n}\n'
KERNEL = 'extern "C" __global__ void twice(const float* x, float* y, long n) {\n  long i = blockIdx.x * (long)blockDim.x + threadIdx.x;\n  if (i < n) y[i] = 2 * x[i];\n}\n'


def salted(text):
    return f"{text}\n// {time.time_ns()}\n"


def requests():
    """Name -> function that makes a request never made before."""
    extension = {"kind": "extension", "name": "bench"}
    return {
        "load_inline C++": lambda: {**extension, "cpp_sources": [salted(CPP)], "functions": ["add_relu"], "extra_cflags": FLAGS},
        "load_inline C++, real types (slim)": lambda: {
            **extension, "cpp_sources": [salted(CPP + "void g() { torch::NoGradGuard guard; }")], "functions": ["add_relu"],
            "extra_cflags": FLAGS},
        "load_inline CUDA": lambda: {**extension, "cpp_sources": [CUDA_DECLARATION], "cuda_sources": [salted(CUDA)],
                                     "functions": ["twice"], "with_cuda": True},
        "plain C ABI": lambda: {"kind": "library", "cpp_sources": [salted(C_ABI)]},
        "cubin": lambda: {"kind": "cubin", "cuda_sources": [salted(KERNEL)]},
    }


class Service:
    def __init__(self, builder, cache):
        self.process = subprocess.Popen([builder, "--python", sys.executable, "--cache", cache], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def build(self, request):
        started = time.perf_counter()
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        outcome = json.loads(self.process.stdout.readline())
        return time.perf_counter() - started, outcome

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def torch_flow(folder):
    """Seconds of torch's unchanged load_inline for the C++ source, the process's start and imports not counted."""
    script = ("import time, torch\nfrom torch.utils.cpp_extension import load_inline\nstarted = time.perf_counter()\n"
              f"load_inline(name='bench_torch', cpp_sources={CPP!r}, functions=['add_relu'], extra_cflags={FLAGS!r}, "
              f"build_directory={folder!r})\nprint('seconds', time.perf_counter() - started)\n")
    environment = {**os.environ, "PATH": os.path.dirname(sys.executable) + ":" + os.environ["PATH"], "CCACHE_DISABLE": "1"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    lines = [line for line in done.stdout.splitlines() if line.startswith("seconds ")]
    if not lines:
        print(done.stderr[-2000:], file=sys.stderr)
        return None
    return float(lines[-1].split()[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--builder", required=True)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--no-torch", action="store_true")
    parser.add_argument("--json", default="")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="davinci-bench") as folder:
        service = Service(arguments.builder, os.path.join(folder, "cache"))
        # Compiles the support object, once per torch version: reported apart.
        seconds, outcome = service.build(requests()["load_inline C++"]())
        rows.append({"what": "first request on a machine (support object included)", "cold_s": seconds, "stage": outcome.get("stage", "")})
        for what, make in requests().items():
            cold, cached, stage = [], [], ""
            for _ in range(arguments.repeat):
                request = make()
                seconds, outcome = service.build(request)
                if not outcome["ok"]:
                    stage = outcome["error"]["message"].splitlines()[0][:60]
                    break
                stage = outcome["stage"]
                cold.append(seconds)
                cached.append(service.build(request)[0])
            rows.append({"what": what, "cold_s": statistics.median(cold) if cold else None,
                         "cached_s": statistics.median(cached) if cached else None, "stage": stage})
        service.close()
        if not arguments.no_torch:
            build_folder = os.path.join(folder, "torch")
            os.makedirs(build_folder)
            rows.append({"what": "torch's own load_inline C++", "cold_s": torch_flow(build_folder), "stage": "torch"})
    load = os.getloadavg()[0]
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} CPUs, load {load:.1f}")
    print(f"{'what':54} {'cold s':>8} {'cached s':>9}  stage")
    for row in rows:
        cells = [f"{row[key]:.3f}" if row.get(key) is not None else "-" for key in ("cold_s", "cached_s")]
        print(f"{row['what']:54} {cells[0]:>8} {cells[1]:>9}  {row['stage']}")
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"rows": rows, "cpus": os.cpu_count(), "load": load}, file, indent=1)


if __name__ == "__main__":
    main()
