"""The A/A test in fresh processes: identical code against its own text, each comparison in a `davinci judge` of its own. Counts
`significant` verdicts and 95 % and 99.9 % intervals that hold 1. Appends one line per comparison to --out and continues a file.

    python bench/aa.py --davinci BIN --out aa.jsonl [--comparisons 1000] [--load 2] [--target cpu] [-j 1]
    python bench/aa.py --summary aa.jsonl

`--batch`: all comparisons are jobs of one `davinci judge --batch`, each of a task of its own (its text differs in a remark), so each has a
session and a candidate's process of its own; the baseline's process has served other tasks. On cuda, where five processes with contexts
for each comparison take longer than what is compared.

`--slower F` repeats the body of the reference F times instead, for kernels of which the ratio is known to be about F: every
verdict should be significant.
"""
import argparse
import contextlib
import itertools
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

# name: (body of forward, inputs, constructor). Eager chains of temporaries of MB size first: what a process is born with shows there.
TASKS = {
    "chain_2x4MB": ("torch.sigmoid(x * y + x) * torch.tanh(y) - x", "torch.randn(1024, 1024), torch.randn(1024, 1024)", ""),
    "chain_8MB": ("torch.relu(x * 0.5 + 1) * torch.exp(-x * x)", "torch.randn(2048, 1024),", ""),
    "chain_1MB": ("(x + 1) * (x - 1) * x + x.abs()", "torch.randn(512, 512),", ""),
    "chain_16MB": ("(x * 2 + 1).clamp(min=0) * x", "torch.randn(2048, 2048),", ""),
    "chain_of_sums": ("(x * y).sum(-1) + (x - y).pow(2).mean(-1)", "torch.randn(1024, 1024), torch.randn(1024, 1024)", ""),
    "small_pointwise": ("x * 2 + 1", "torch.randn(128, 256),", ""),
    "tiny": ("x + 1", "torch.randn(32, 32),", ""),
    "gelu": ("torch.nn.functional.gelu(x)", "torch.randn(1024, 1024),", ""),
    "softmax": ("torch.softmax(x * 0.5, -1)", "torch.randn(1024, 1024),", ""),
    "log_softmax": ("torch.log_softmax(x, -1)", "torch.randn(512, 2048),", ""),
    "layer_norm": ("torch.nn.functional.layer_norm(x, (1024,))", "torch.randn(1024, 1024),", ""),
    "rms_norm": ("x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)", "torch.randn(1024, 1024),", ""),
    "matmul_256": ("x @ y", "torch.randn(256, 256), torch.randn(256, 256)", ""),
    "matmul_512": ("x @ y", "torch.randn(512, 512), torch.randn(512, 512)", ""),
    "bmm": ("torch.bmm(x, y)", "torch.randn(16, 128, 128), torch.randn(16, 128, 128)", ""),
    "linear_relu": ("torch.relu(self.layer(x))", "torch.randn(256, 512),", "self.layer = nn.Linear(512, 512)"),
    "mlp": ("self.b(torch.nn.functional.gelu(self.a(x)))", "torch.randn(128, 256),", "self.a = nn.Linear(256, 1024); self.b = nn.Linear(1024, 256)"),
    "conv": ("torch.relu(self.layer(x))", "torch.randn(4, 16, 32, 32),", "self.layer = nn.Conv2d(16, 32, 3, padding=1)"),
    "attention": ("torch.softmax(x @ y.transpose(-1, -2) / 8, -1) @ y", "torch.randn(4, 256, 64), torch.randn(4, 256, 64)", ""),
    "cumsum": ("torch.cumsum(x, -1)", "torch.randn(512, 1024),", ""),
    "transpose": ("x.t().contiguous() + 1", "torch.randn(1024, 1024),", ""),
    "max_pool": ("torch.nn.functional.max_pool2d(x, 2)", "torch.randn(8, 32, 64, 64),", ""),
    "gather": ("x[:, y]", "torch.randn(1024, 1024), torch.randint(0, 1024, (512,))", ""),
    "cat": ("torch.cat([x, y * 2], -1).abs()", "torch.randn(1024, 512), torch.randn(1024, 512)", ""),
}


def write(folder, name, slower):
    body, inputs, make = TASKS[name]
    repeated = "; ".join([f"_ = {body}"] * (slower - 1) + [f"return {body}"])
    text = ("import torch\nimport torch.nn as nn\n\n\nclass {cls}(nn.Module):\n    def __init__(self):\n        super().__init__()\n        "
            f"{make or 'pass'}\n\n    def forward(self, {'x, y' if ' y' in body or '(y' in body or ', y' in body else 'x'}):\n        {{forward}}\n")
    task = pathlib.Path(folder) / f"{name}.py"
    task.write_text(text.replace("{cls}", "Model").replace("{forward}", repeated) + f"\n\ndef get_inputs():\n    return [{inputs}]\n\n\ndef get_init_inputs():\n    return []\n")
    own = pathlib.Path(folder) / f"{name}_copy.py"
    own.write_text(text.replace("{cls}", "ModelNew").replace("{forward}", f"return {body}"))
    return task, own


def summary(rows):
    ok = [r for r in rows if r["status"] == "ok" and r["speedup"]]
    def high(r):
        return r["speedup"]["high"] or math.inf
    covered = sum(r["speedup"]["low"] <= 1 <= high(r) for r in ok)
    wrong = [r for r in ok if r["speedup"]["significant"]]
    widths = [math.log(high(r) / r["speedup"]["low"]) / 2 for r in ok if r["speedup"]["low"] > 0 and math.isfinite(high(r))]
    return {"comparisons": len(rows), "tasks": len({r["task"] for r in rows}), "loads": sorted({r["load"] for r in rows}), "judged": len(ok),
            "significant": len(wrong), "significant_which": [(r["task"], round(r["speedup"]["median"], 3)) for r in wrong],
            "covered": covered, "covered_99_9": sum(r["speedup"].get("decided_low", 0) <= 1 <= (r["speedup"].get("decided_high") or math.inf) for r in ok), "coverage": round(covered / max(len(ok), 1), 4),
            "inconclusive": sum(any(x.startswith("inconclusive") for x in r["labels"]) for r in ok),
            "half_width_median": round(statistics.median(widths), 4) if widths else None,
            "log_sd": round(statistics.stdev(math.log(r["speedup"]["median"]) for r in ok), 4) if len(ok) > 1 else None,
            "seconds_median": round(statistics.median(r["seconds"] for r in rows), 2) if rows else None,
            "not_ok": sorted({r["status"] + ": " + r["message"][:120] for r in rows if r["status"] != "ok"})}


@contextlib.contextmanager
def loops(count):
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for one in running:
            one.kill()


def row_of(options, name, d, seconds):
    times = d.get("times", {})
    return {"task": name, "load": options.load, "status": d["status"], "message": d.get("message", ""), "speedup": d.get("speedup"),
            "labels": d.get("labels", []), "seconds": seconds, "baseline_ms": (times.get("baseline") or {}).get("median_ms"),
            "undisturbed": d.get("evidence", {}).get("undisturbed_calls"),
            "stages_ms": times.get("stages_ms"), "stopped_because": d.get("evidence", {}).get("stopped_because")}


def compare(options, name, files):
    one = time.monotonic()
    done = subprocess.run([options.davinci, "judge", "-r", files[name][0], "-c", files[name][1], "-t", options.target, "--protocol",
                           options.protocol, "--json"], capture_output=True, text=True, check=False)
    try:
        d = json.loads(done.stdout)
    except json.JSONDecodeError:
        d = {"status": "no verdict", "message": done.stderr[-300:]}
    return row_of(options, name, d, time.monotonic() - one)


def compare_in_batch(options, folder, files, names):
    """Rows of comparisons numbered by `names`, as they are judged."""
    jobs = pathlib.Path(folder) / "jobs.jsonl"
    with jobs.open("w") as out:
        for number, name in names.items():
            paths = []
            for path in files[name]:
                paths.append(path.with_stem(f"{path.stem}_{number}"))
                paths[-1].write_text(f"{path.read_text()}\n# {number}\n")
            out.write(json.dumps({"id": f"{number}", "reference": str(paths[0]), "candidate": str(paths[1]), "target": options.target,
                                  "protocol": options.protocol}) + "\n")
    with subprocess.Popen([options.davinci, "judge", "--batch", jobs, "-j", str(options.jobs), "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        for line in process.stdout:
            d = json.loads(line)
            yield row_of(options, names[int(d["id"])], d, 1e-3 * d.get("times", {}).get("total_ms", 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--davinci")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--comparisons", type=int, default=1000, help="of all that --out holds in the end")
    parser.add_argument("--load", type=int, default=0, help="endless loops beside it")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="comparisons at once; they take the device in turns")
    parser.add_argument("--batch", action="store_true", help="one process judges them all")
    parser.add_argument("--slower", type=int, default=1)
    parser.add_argument("--protocol", default="davinci")
    parser.add_argument("--tasks", default="", help="names, with commas; all otherwise")
    parser.add_argument("--summary", type=pathlib.Path)
    options = parser.parse_args()
    if options.summary:
        print(json.dumps(summary([json.loads(line) for line in options.summary.read_text().splitlines()]), indent=1))
        return
    rows = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    names = options.tasks.split(",") if options.tasks else list(TASKS)
    started, before, order = time.monotonic(), len(rows), itertools.count(len(rows))
    with tempfile.TemporaryDirectory() as folder, loops(options.load), options.out.open("a") as out, ThreadPoolExecutor(options.jobs) as pool:
        files = {name: write(folder, name, options.slower) for name in names}
        if options.batch:
            compared = compare_in_batch(options, folder, files, {i: names[i % len(names)] for i in range(before, options.comparisons)})
        else:
            asked = [pool.submit(lambda: compare(options, names[next(order) % len(names)], files)) for _ in range(options.comparisons - before)]
            compared = (one.result() for one in as_completed(asked))
        for one in compared:
            rows.append(one)
            out.write(json.dumps(rows[-1]) + "\n")
            out.flush()
            if len(rows) % 10 == 0:
                s = summary(rows)
                left = (options.comparisons - len(rows)) * (time.monotonic() - started) / (len(rows) - before)
                print(f"{len(rows)}/{options.comparisons}: significant {s['significant']}, coverage {s['coverage']}, inconclusive {s['inconclusive']}, "
                      f"{left / 60:.0f} min left", file=sys.stderr, flush=True)
    print(json.dumps(summary(rows), indent=1))


if __name__ == "__main__":
    main()
