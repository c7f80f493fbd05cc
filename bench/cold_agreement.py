"""Time on the CPU, side by side: what davinci judges, and a plain measurement of the same calls on cold inputs in one run.

    python bench/cold_agreement.py --davinci build/release/apps/davinci/davinci [--out F.json] [--slower 4] [--only NAME,…]

Tasks: those of bench/aa.py and larger ones. The candidate is the task's own text; with --slower F the reference repeats its body, so one
judgement has two kernels of which the ratio is known to be about F. Of each, medians in milliseconds:
  cold   a forked process, stopped between its calls, calls the module on inputs that another process has written into memory they
         share and evicted from all caches, by its own clock; one call each, sides by turns, median over --calls of each process, then
         over --processes. Memory that is freed stays with the process, as in the judge's
  hot    the fastest of many calls on the same inputs
  judge  `davinci judge`, time of record; of it and of cold the median over --rounds
Both have all cores, as the judge's default is. The last lines count how many of the kernels between 50 us and 50 ms are within 5, 10 and
25 %, and in how many the first two rounds of one measure, which run in other processes, are as near to each other: no two measures can be
nearer. The plain measurement has the judge's allocator, threads and state of caches; what it lacks is the judge: its clocks, its sandbox,
and the oracle's work between two calls, which leaves the code of a kernel colder.
"""
import argparse
import ctypes
import importlib.util
import json
import math
import mmap
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]
os.environ.setdefault("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1:glibc.malloc.tcache_count=0")  # as the judge's processes have it; read when a process starts

import aa  # noqa: E402

LARGE = {
    "chain_64MB": ("torch.relu(x * 2 + 1)", "torch.randn(4096, 4096),", ""),
    "softmax_32MB": ("torch.softmax(x, -1)", "torch.randn(4096, 2048),", ""),
    "matmul_1024": ("x @ y", "torch.randn(1024, 1024), torch.randn(1024, 1024)", ""),
    "conv_large": ("torch.relu(self.layer(x))", "torch.randn(8, 32, 64, 64),", "self.layer = nn.Conv2d(32, 64, 3, padding=1)"),
    "layer_norm_16MB": ("torch.nn.functional.layer_norm(x, (2048,))", "torch.randn(2048, 2048),", ""),
    "mlp_large": ("self.b(torch.nn.functional.gelu(self.a(x)))", "torch.randn(512, 512),", "self.a = nn.Linear(512, 2048); self.b = nn.Linear(2048, 512)"),
}
LOWEST_MS, HIGHEST_MS, ALLOWED = 0.05, 50, (0.05, 0.1, 0.25)
READY = b"ready\n"
WARM_UP = 16  # calls of a process until it has all the memory it will use


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Caller:
    """A forked process that calls one module on inputs in shared memory, stopped between its calls as a process under judgement is:
    its caches are its own only while it runs, and no thread of it spins beside the other side's call."""

    def __init__(self, path, name, shared):
        receive, self._ask = os.pipe()
        self._answer, send = os.pipe()
        self._pid = os.fork()
        if self._pid:
            os.close(receive), os.close(send)
            self._text = b""
            self._await_ready()
            return
        os.close(self._ask), os.close(self._answer)
        try:
            self._serve(load(path), name, shared, receive, send)
        finally:
            os._exit(0)

    @staticmethod
    def _serve(task, name, shared, receive, send):
        import torch

        from davinci_worker import placement

        place = placement.Placement()
        torch.set_num_threads(os.cpu_count())
        torch.manual_seed(0)
        model = getattr(task, name)(*task.get_init_inputs())
        with torch.no_grad():
            kept = model(*shared)
            while True:
                kept = None
                place.arrange()
                os.write(send, READY)
                order = os.read(receive, 1)
                if order == b"q":
                    return
                place.free()
                fastest = math.inf
                for _ in range(1 if order == b"c" else 30):
                    kept = None if order == b"h" else kept
                    begun = time.perf_counter()
                    kept = model(*shared)
                    fastest = min(fastest, time.perf_counter() - begun)
                os.write(send, f"{fastest * 1e3:.6f}\n".encode())
        del kept

    def _await_ready(self):
        """Reads what the process says until it is ready for an order, then stops it; what it said before that."""
        while not self._text.endswith(READY):
            if not (text := os.read(self._answer, 64)):
                sys.exit("a process of the plain measurement ended: see above")
            self._text += text
        os.kill(self._pid, signal.SIGSTOP)
        os.waitpid(self._pid, os.WUNTRACED)
        said, self._text = self._text[:-len(READY)], b""
        return said

    def time(self, order):
        """Milliseconds: 'c' of one call on what lies in the shared memory, 'h' of the fastest of many."""
        os.write(self._ask, order)
        os.kill(self._pid, signal.SIGCONT)
        return float(self._await_ready())

    def end(self):
        os.write(self._ask, b"q")
        os.kill(self._pid, signal.SIGCONT)
        os.waitpid(self._pid, 0)
        os.close(self._ask), os.close(self._answer)


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

    from davinci_worker import memory, native

    memory.keep_freed()
    torch.set_num_threads(1)  # of OpenMP: threads of its pool do not survive a fork
    task, cold, hot = load(sides[0][0]), [[] for _ in sides], [[] for _ in sides]
    draws = [task.get_inputs() for _ in range(3)]
    for _ in range(processes):
        shared = share(draws[0])
        callers = [Caller(path, name, shared) for path, name in sides]
        rounds = [[] for _ in sides]
        for call in range(WARM_UP + calls):
            for side, caller in enumerate(callers):
                for there, new in zip(shared, draws[call % len(draws)]):
                    there.copy_(new)
                    native.lib().dv_flush_lines(ctypes.c_void_p(there.data_ptr()), ctypes.c_size_t(there.numel() * there.element_size()))
                rounds[side].append(caller.time(b"c"))
        for side, caller in enumerate(callers):
            cold[side].append(statistics.median(rounds[side][WARM_UP:]))
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
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="of plain measurement and judgement by turns; medians over them")
    options = parser.parse_args()
    aa.TASKS.update(LARGE)
    names = options.only.split(",") if options.only else list(aa.TASKS)
    environment = os.environ | {"DAVINCI_PYTHON": sys.executable, "DAVINCI_WORKER_LIB": str(pathlib.Path(options.davinci).resolve().parents[2] / "lib/libdavinci_worker.so")}
    rows, ratios = [], []
    print(f"{'kernel':26} {'cold ms':>9} {'hot ms':>9} {'judge ms':>9} {'judge/cold':>10}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            task, own = aa.write(folder, name, options.slower)
            own.write_text(own.read_text() + task.read_text()[task.read_text().index("\n\ndef get_inputs"):])
            # A process of its own for each task.
            code = f"import sys, json; sys.path.insert(0, {str(HERE)!r}); import cold_agreement as c, pathlib as p; " \
                   f"print(json.dumps(c.measure([(p.Path({str(task)!r}), 'Model'), (p.Path({str(own)!r}), 'ModelNew')], {options.calls}, {options.processes})))"
            plain, judged, speedups = [], [], []
            for _ in range(options.rounds):
                done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True, env=environment)
                plain.append(json.loads(done.stdout))
                done = subprocess.run([options.davinci, "judge", "-r", str(task), "-c", str(own), "-t", "cpu", "--json"],
                                      capture_output=True, text=True, check=False, env=environment)
                verdict = json.loads(done.stdout)
                if verdict["status"] != "ok":
                    sys.exit(f"{name}: {verdict['status']}: {verdict['message']}")
                judged.append([verdict["times"][side]["median_ms"] for side in ("baseline", "candidate")])
                speedups.append(verdict["speedup"]["median"])
            middle = statistics.median
            sides = [(middle(p[k][0] for p in plain), min(p[k][1] for p in plain), middle(j[k] for j in judged)) for k in range(2)]
            for k, (cold, hot, ours) in enumerate(sides):
                rows.append({"kernel": name + ("" if k else f" x{options.slower}"), "cold_ms": cold, "hot_ms": hot, "judge_ms": ours, "ratio": ours / cold,
                             "rounds": {"cold": [p[k][0] for p in plain], "judge": [j[k] for j in judged]}})
                print(f"{rows[-1]['kernel']:26} {cold:9.3f} {hot:9.3f} {ours:9.3f} {ours / cold:10.3f}", flush=True)
            ratios.append({"task": name, "cold": sides[0][0] / sides[1][0], "hot": sides[0][1] / sides[1][1], "judge": middle(speedups)})
    kept = [row for row in rows if LOWEST_MS <= row["cold_ms"] <= HIGHEST_MS]
    inside = [row["ratio"] for row in kept]
    again = {what: {f"{a:.0%}": sum(abs(row["rounds"][what][1] / row["rounds"][what][0] - 1) <= a for row in kept) for a in ALLOWED}
             for what in ("cold", "judge")} if options.rounds > 1 else {}
    result = {"kernels": rows, "ratios": ratios, "inside": len(inside), "middle": statistics.median(inside), "torch_threads": os.cpu_count(), "again": again,
              "within": {f"{a:.0%}": sum(abs(r - 1) <= a for r in inside) for a in ALLOWED},
              "ratios_within": {f"{a:.0%}": sum(abs(r["judge"] / r["cold"] - 1) <= a for r in ratios) for a in ALLOWED}}
    print(f"of {len(inside)} kernels between 50 us and 50 ms {result['within']} of cold, {result['middle']:.3f} in the middle; of {len(ratios)} ratios {result['ratios_within']}; "
          f"two rounds of one measure: {again}")
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
