"""Outcomes that only a device can produce: refused launches, bad addresses, device memory. Skipped (77) without one.

    python tests/gpu/outcomes_gpu.py --davinci build/dev/apps/davinci/davinci [NAME...]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

REFERENCE = """
import torch
import torch.nn as nn

N = 1 << 20

class Model(nn.Module):
    def forward(self, x):
        return x * 2 + 1

def get_inputs():
    return [torch.rand(N)]

def get_init_inputs():
    return []
"""
NVRTC = """
import torch
import torch.nn as nn
import davinci_runtime as dv

kernel = dv.cuda_module('''
extern "C" __global__ void Twice(const float* x, float* y, long long n) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) y[i + SHIFT] = x[i] * 2.0f + 1.0f;
}
'''.replace("SHIFT", "%(shift)s")).get("Twice", "ptr ptr i64")

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[((x.numel() + 255) // 256,), (%(block)s,)%(more)s](x, y, x.numel())
        return y
"""
TRITON = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def product(a_ptr, y_ptr, N):
    rows, columns = tl.arange(0, 128)[:, None], tl.arange(0, 128)[None, :]
    total = tl.zeros((128, 128), tl.float32)
    for k in range(0, N, 64):
        inner = k + tl.arange(0, 64)
        left = tl.load(a_ptr + rows * 1024 + inner[None, :])
        total = tl.dot(left, tl.load(a_ptr + inner[:, None] * 1024 + columns), total)
    tl.store(y_ptr + rows * 128 + columns, total)

class ModelNew(nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        product[(1,)](x, y, 1024, num_stages=6)  # 384 KiB of shared memory
        return y
"""
PLAIN = """
import torch
import torch.nn as nn

class ModelNew(nn.Module):
    def forward(self, x):
        %s
        return x * 2 + 1
"""
# name: (candidate, accepted outcomes, words of the message)
CASES = {
    "good": (PLAIN % "pass", ("ok",), ""),
    "too_many_threads": (NVRTC % {"shift": "0", "block": "2048", "more": ""}, ("launch_error",), ""),
    "too_much_shared_memory_triton": (TRITON, ("launch_error",), "shared memory"),
    "bad_address": (NVRTC % {"shift": "(1ll << 44)", "block": "256", "more": ""}, ("runtime_error",), "illegal"),
    "device_memory": (PLAIN % "self.hoard = [torch.empty(1 << 30, device=x.device) for _ in range(64)]", ("out_of_memory",), ""),
    "more_than_the_device": (PLAIN % "torch.empty(1 << 40, device=x.device)", ("out_of_memory",), "Tried to allocate"),
    "good_again": (PLAIN % "pass", ("ok",), ""),
}


NUM_TASKS = 12
MEDDLES = 5  # the task that leaves something behind


def tasks_in_turn(davinci, folder):
    """Processes that serve one task after the other: every answer is right for its own task alone."""
    lines, expected = [], {}
    for k in range(NUM_TASKS):
        task = folder / f"task{k}.py"
        meddling = "torch.relu = torch.sigmoid\ntorch.nn.functional.relu = torch.sigmoid\n" if k == MEDDLES else ""
        task.write_text(REFERENCE.replace("x * 2 + 1", f"torch.relu(x * 2 - 1) + {k}") + meddling)
        for name, shift in (("right", k), ("wrong", (k - 1) % NUM_TASKS)):
            function = "torch.sigmoid" if k == MEDDLES else "torch.relu"
            candidate = folder / f"{name}{k}.py"
            candidate.write_text((PLAIN % "pass").replace("x * 2 + 1", f"{function}(x * 2 - 1) + {shift}"))
            expected[f"{name}{k}"] = "ok" if name == "right" else "mismatch"
            lines.append(json.dumps({"id": f"{name}{k}", "reference": str(task), "candidate": str(candidate), "target": "cuda",
                                     "protocol": "davinci" if k % 2 else "screening"}))
    jobs = folder / "jobs.jsonl"
    jobs.write_text("\n".join(lines) + "\n")
    done = subprocess.run([davinci, "judge", "--batch", jobs, "-j", "2", "--json"], capture_output=True, text=True, timeout=300)
    verdicts = [json.loads(line) for line in done.stdout.splitlines()]
    wrong = [f"{v['id']}: {v['status']} {v['message'][:80]}" for v in verdicts if v["status"] != expected[v["id"]]]
    served = max((v["times"].get("session_tasks", 0) for v in verdicts), default=0)
    good = not wrong and len(verdicts) == len(expected) and served > 0
    print(f"{'tasks_in_turn':32} {len(verdicts)} verdicts, up to {1 + served} tasks of one process {'' if good else 'NOT OK ' + str(wrong)}",
          flush=True)
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    faults = 0
    with tempfile.TemporaryDirectory(prefix="davinci-gpu-outcomes") as folder:
        task = pathlib.Path(folder) / "task.py"
        task.write_text(REFERENCE)
        for name, (source, accepted, words) in CASES.items():
            if options.names and name not in options.names:
                continue
            candidate = pathlib.Path(folder) / f"{name}.py"
            candidate.write_text(source)
            done = subprocess.run([options.davinci, "judge", "-r", task, "-c", candidate, "-t", "cuda", "-p", "screening", "--json"],
                                  capture_output=True, text=True, timeout=180)
            document = json.loads(done.stdout)
            if "no_device" in document.get("provenance", {}):
                print("no device here")
                return 77
            good = document["status"] in accepted and words in document["message"]
            faults += not good
            print(f"{name:32} {document['status']:15} {'' if good else 'NOT OK: wanted ' + '/'.join(accepted)} "
                  f"{document['message'][:160]!r}", flush=True)
        if not options.names or "tasks_in_turn" in options.names:
            faults += not tasks_in_turn(options.davinci, pathlib.Path(folder))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
