"""Time on the CPU, side by side: what davinci judges, and a plain measurement of the same calls on cold inputs in one run.

    python bench/cold_agreement.py --davinci build/release/apps/davinci/davinci [--out F.json] [--slower 4] [--only NAME,…]

Tasks: those of bench/aa.py and larger ones. The candidate is the task's own text; with --slower F the reference repeats its body, so one
judgement has two kernels of which the ratio is known to be about F. Of each, medians in milliseconds:
  cold   a forked process calls the module on inputs that another process has just written into memory they share, as a model's layer
         finds what the one before has written; one call each, sides by turns, median over --calls of each process, then over
         --processes. Memory that is freed stays with the process, as in the judge's
  hot    the fastest of many calls on the same inputs
  judge  `davinci judge`, time of record
Both have all cores, as the judge's default is. The last line counts how many of the kernels between 50 us and 50 ms are within 5 %.
"""
import argparse
import importlib.util
import json
import math
import mmap
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]
os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")  # as the judge's processes have it; read when a process starts

import aa  # noqa: E402

LARGE = {
    "chain_64MB": ("torch.relu(x * 2 + 1)", "torch.randn(4096, 4096),", ""),
    "softmax_32MB": ("torch.softmax(x, -1)", "torch.randn(4096, 2048),", ""),
    "matmul_1024": ("x @ y", "torch.randn(1024, 1024), torch.randn(1024, 1024)", ""),
    "conv_large": ("torch.relu(self.layer(x))", "torch.randn(8, 32, 64, 64),", "self.layer = nn.Conv2d(32, 64, 3, padding=1)"),
    "layer_norm_16MB": ("torch.nn.functional.layer_norm(x, (2048,))", "torch.randn(2048, 2048),", ""),
    "mlp_large": ("self.b(torch.nn.functional.gelu(self.a(x)))", "torch.randn(512, 512),", "self.a = nn.Linear(512, 2048); self.b = nn.Linear(2048, 512)"),
}
LOWEST_MS, HIGHEST_MS, ALLOWED = 0.05, 50, 0.05
SPIN_S = 0.01  # for which OpenMP's threads of the other side wait actively after its call


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Caller:
    """A forked process that calls one module on inputs in shared memory: 'c' times one call on what lies there, 'h' many, 'q' ends it."""

    def __init__(self, path, name, shared):
        import torch

        receive, self.ask = os.pipe()
        self.answer, send = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(receive), os.close(send)
            return
        os.close(self.ask), os.close(self.answer)
        torch.set_num_threads(os.cpu_count())
        torch.manual_seed(0)
        task = load(path)
        model = getattr(task, name)(*task.get_init_inputs())
        with torch.no_grad():
            for _ in range(3):
                model(*shared)
            while (order := os.read(receive, 1)) != b"q":
                fastest = math.inf
                for _ in range(1 if order == b"c" else 30):
                    begun = time.perf_counter()
                    kept = model(*shared)
                    fastest = min(fastest, time.perf_counter() - begun)
                    if order == b"h":
                        kept = None
                kept = None
                os.write(send, f"{fastest * 1e3:.6f}\n".encode())
        del kept
        os._exit(0)

    def time(self, order):
        os.write(self.ask, order)
        return float(os.read(self.answer, 64))

    def end(self):
        os.write(self.ask, b"q")
        os.waitpid(self.pid, 0)
        os.close(self.ask), os.close(self.answer)


def share(tensors):
    """Copies of tensors in memory that forked processes share."""
    import torch

    copies = []
    for tensor in tensors:
        memory = mmap.mmap(-1, max(tensor.numel() * tensor.element_size(), 1))
        copies.append(torch.frombuffer(memory, dtype=tensor.dtype).view(tensor.shape))
        copies[-1].copy_(tensor)
    return copies


def measure(sides, calls, processes):
    """[(cold, hot)] of each (path, class name), in milliseconds; all run on the first one's inputs."""
    import torch

    from davinci_worker import memory

    memory.keep_freed()
    torch.set_num_threads(1)  # of OpenMP: threads of its pool do not survive a fork
    task, cold, hot = load(sides[0][0]), [[] for _ in sides], [[] for _ in sides]
    draws = [task.get_inputs() for _ in range(3)]
    for _ in range(processes):
        shared = share(draws[0])
        callers = [Caller(path, name, shared) for path, name in sides]
        rounds = [[] for _ in sides]
        for call in range(calls):
            for side, caller in enumerate(callers):
                time.sleep(SPIN_S)
                for there, new in zip(shared, draws[call % len(draws)]):
                    there.copy_(new)
                rounds[side].append(caller.time(b"c"))
        for side, caller in enumerate(callers):
            cold[side].append(statistics.median(rounds[side]))
            hot[side].append(caller.time(b"h"))
            caller.end()
        del shared
    return [(statistics.median(c), min(h)) for c, h in zip(cold, hot)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--out")
    parser.add_argument("--slower", type=int, default=4)
    parser.add_argument("--only", default="")
    parser.add_argument("--calls", type=int, default=15)
    parser.add_argument("--processes", type=int, default=5)
    options = parser.parse_args()
    aa.TASKS.update(LARGE)
    names = options.only.split(",") if options.only else list(aa.TASKS)
    rows, ratios = [], []
    print(f"{'kernel':26} {'cold ms':>9} {'hot ms':>9} {'judge ms':>9} {'judge/cold':>10}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            task, own = aa.write(folder, name, options.slower)
            own.write_text(own.read_text() + task.read_text()[task.read_text().index("\n\ndef get_inputs"):])
            # A process of its own for each task.
            code = f"import sys, json; sys.path.insert(0, {str(HERE)!r}); import cold_agreement as c, pathlib as p; " \
                   f"print(json.dumps(c.measure([(p.Path({str(task)!r}), 'Model'), (p.Path({str(own)!r}), 'ModelNew')], {options.calls}, {options.processes})))"
            plain = json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
            done = subprocess.run([options.davinci, "judge", "-r", str(task), "-c", str(own), "-t", "cpu", "--json"],
                                  capture_output=True, text=True, check=False, env=os.environ | {"DAVINCI_PYTHON": sys.executable})
            verdict = json.loads(done.stdout)
            if verdict["status"] != "ok":
                sys.exit(f"{name}: {verdict['status']}: {verdict['message']}")
            for side, (cold, hot) in zip(("baseline", "candidate"), plain):
                judged = verdict["times"][side]["median_ms"]
                rows.append({"kernel": name + (f" x{options.slower}" if side == "baseline" else ""), "cold_ms": cold, "hot_ms": hot,
                             "judge_ms": judged, "ratio": judged / cold})
                print(f"{rows[-1]['kernel']:26} {cold:9.3f} {hot:9.3f} {judged:9.3f} {judged / cold:10.3f}", flush=True)
            ratios.append({"task": name, "cold": plain[0][0] / plain[1][0], "hot": plain[0][1] / plain[1][1], "judge": verdict["speedup"]["median"]})
    inside = [row for row in rows if LOWEST_MS <= row["cold_ms"] <= HIGHEST_MS]
    near = sum(abs(row["ratio"] - 1) <= ALLOWED for row in inside)
    same = sum(abs(r["judge"] / r["cold"] - 1) <= ALLOWED for r in ratios)
    result = {"kernels": rows, "ratios": ratios, "inside": len(inside), "near": near, "same_ratio": same, "torch_threads": os.cpu_count()}
    apart = [f"{r['task']} {r['judge'] / r['cold'] - 1:+.0%}" for r in ratios if abs(r["judge"] / r["cold"] - 1) > ALLOWED]
    print(f"{near} of {len(inside)} kernels between 50 us and 50 ms within 5 % of cold; {same} of {len(ratios)} ratios within 5 %, the others: {', '.join(apart)}")
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
