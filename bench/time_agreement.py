"""Time on a CUDA device, side by side: what davinci judges, and what others measure of the same kernels in one run.

    python bench/time_agreement.py --davinci build/dev/apps/davinci/davinci [--out F.json] [--repeat 10] [--only NAME,…] [--protocol davinci]

Of every kernel and of its eager reference, medians in milliseconds:
  do_bench   triton.testing.do_bench, which flushes the L2 before each call of a full queue
  cupti      what the kernels, copies and fills of a call cover on the device (torch.profiler's records), L2 flushed before each call
  events     two CUDA events around a call from an idle queue, L2 flushed: host work included
  device     `davinci judge`, time of the device
  latency    `davinci judge`, latency
Sizes are chosen for device times from 5 us to 5 ms. The last lines say how many agree: device with do_bench (5 % from 20 us on, 10 %
below), device between cupti and do_bench or as near to one of them, latency with events (10 %), and one kernel judged again and again.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F
"""
TASK = HEAD + """

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, {names}):
        {eager}


def get_inputs():
    return [{inputs}]


def get_init_inputs():
    return []
"""
CANDIDATE = HEAD + """
{top}

class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, {names}):
        {body}
"""
TRITON_MAP = """import triton
import triton.language as tl

{tune}@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, {expr}, mask=at < n)
"""
TUNE = ("@triton.autotune(configs=[triton.Config({'BLOCK': b}, num_warps=w) for b, w in ((1024, 4), (2048, 8), (4096, 8))], key=['n'])\n")
TRITON_CALL = "out = torch.empty_like(x); n = x.numel(); kernel[{grid}](x, out, n{block}); return out"
TRITON_ROWS = """import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row + at, mask=at < columns, other={other}).to(tl.float32)
    {expr}
    tl.store(out_ptr + row + at, y, mask=at < columns)
"""
NVRTC_MAP = """import davinci_runtime as dv

SOURCE = r\"\"\"
extern "C" __global__ void Map(const float4* in, float4* out, long long n) {{
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {{
    float4 v = in[i];
    v.x = {f}; v.y = {g}; v.z = {h}; v.w = {k};
    out[i] = v;
  }}
}}
\"\"\"
kernel = dv.cuda_module(SOURCE).get("Map", "ptr ptr i64")
"""
INLINE_MAP = """from torch.utils.cpp_extension import load_inline

SOURCE = r\"\"\"
#include <torch/extension.h>
__global__ void Map(const float* in, float* out, long n) {{
  const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < n) {{ const float x = in[i]; out[i] = {expr}; }}
}}
torch::Tensor forward(torch::Tensor x) {{
  auto out = torch::empty_like(x);
  const long n = x.numel();
  Map<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), out.data_ptr<float>(), n);
  return out;
}}
\"\"\"
module = load_inline(name="map", cpp_sources="torch::Tensor forward(torch::Tensor x);", cuda_sources=SOURCE, functions=["forward"])
"""


def cases():
    """name, language, task text, candidate text"""
    found = []

    def add(name, language, eager, inputs, body, top="", init="pass", names="x", task_init="pass"):
        fill = lambda text: text.replace("\n", "\n        ")
        found.append((name, language, TASK.format(init=fill(task_init), names=names, eager=fill(eager), inputs=inputs),
                      CANDIDATE.format(top=top, init=fill(init), names=names, body=fill(body))))

    def randn(*shape, dtype=None):
        return f"torch.randn({', '.join(map(str, shape))}{', dtype=torch.' + dtype if dtype else ''})"

    chain = "x = x * 0.5 + 1.0\nreturn x * torch.sigmoid(x) + torch.exp(-x * x)"
    for mb in (1, 4, 16, 67, 134, 512, 2048):
        n = mb * 250_000 // 256 * 256
        tune = mb in (134, 67)
        expr = "(x * 0.5 + 1.0) * tl.sigmoid(x * 0.5 + 1.0) + tl.exp(-(x * 0.5 + 1.0) * (x * 0.5 + 1.0))"
        call = TRITON_CALL.format(grid="lambda m: (triton.cdiv(n, m['BLOCK']),)" if tune else "(triton.cdiv(n, 2048),)",
                                  block="" if tune else ", BLOCK=2048")
        add(f"chain_{mb}MB" + ("_autotuned" if tune else ""), "triton", chain, randn(n), call,
            TRITON_MAP.format(tune=TUNE if tune else "", expr=expr))
    gelu = "0.5f * {0} * (1.f + erff({0} * 0.70710678f))"
    for mb in (2, 32, 256):
        n = mb * 250_000 // 1024 * 1024
        top = NVRTC_MAP.format(**{k: gelu.format("v." + c) for k, c in zip("fghk", "xyzw")})
        add(f"gelu_{mb}MB", "cuda", "return F.gelu(x)", randn(n),
            "out = torch.empty_like(x); n = x.numel() // 4; kernel[(min(4096, (n + 255) // 256),), (256,)](x, out, n); return out", top)
    for mb in (8, 128, 800):
        n = mb * 250_000 // 256 * 256
        add(f"softplus_{mb}MB", "cuda-inline", "return F.softplus(x) * 2.0", randn(n), "return module.forward(x)",
            INLINE_MAP.format(expr="2.f * (x > 20.f ? x : log1pf(expf(x)))"))
    soft = "e = tl.exp(x - tl.max(x, 0)); y = e / tl.sum(e, 0)"
    for rows, columns in ((512, 1024), (2048, 4096), (16384, 4096)):
        add(f"softmax_{rows}x{columns}", "triton", "return torch.softmax(x * 0.5, -1)", randn(rows, columns),
            f"out = torch.empty_like(x); kernel[({rows},)](x, out, {columns}, BLOCK={columns}, num_warps=8); return out",
            TRITON_ROWS.format(other='-float("inf")', expr="x = x * 0.5; " + soft))
    for rows, columns in ((1024, 2048), (8192, 4096), (32768, 8192)):
        add(f"rms_norm_{rows}x{columns}", "triton", "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)", randn(rows, columns),
            f"out = torch.empty_like(x); kernel[({rows},)](x, out, {columns}, BLOCK={columns}, num_warps=8); return out",
            TRITON_ROWS.format(other="0.0", expr=f"y = x * tl.rsqrt(tl.sum(x * x, 0) / {columns} + 1e-6)"))
    for rows in (2048, 16384):
        add(f"layer_norm_{rows}x2048_vendor", "python", "return F.layer_norm(x, (2048,)) * 1.5", randn(rows, 2048),
            "m = x.mean(-1, keepdim=True); return (F.layer_norm(x, (2048,))).mul_(1.5)")
    for n in (1024, 2048, 4096, 8192):
        add(f"matmul_bf16_{n}_vendor", "python", "return (a @ b) * 2.0", f"{randn(n, n, dtype='bfloat16')}, {randn(n, n, dtype='bfloat16')}",
            "return (a @ b).mul_(2.0)", names="a, b")
    add("gemv_associated", "python", "return (a @ b) @ v", f"{randn(2048, 2048)}, {randn(2048, 2048)}, {randn(2048, 1)}", "return a @ (b @ v)",
        names="a, b, v")
    linear = "self.w = nn.Parameter(torch.randn({0}, {1}, dtype=torch.bfloat16) * 0.02)"
    for batch, width in ((16, 4096), (16, 16384), (4096, 4096)):
        add(f"linear_{batch}x{width}_vendor", "python", "return F.relu(x @ self.w)", randn(batch, width, dtype="bfloat16"),
            "return (x @ self.w).relu_()", init=linear.format(width, 4096), task_init=linear.format(width, 4096))
    graph = ("if not hasattr(self, 'g') or self.key != x.shape:\n    self.key, self.x = x.shape, x.clone()\n    s = torch.cuda.Stream()\n"
             "    s.wait_stream(torch.cuda.current_stream())\n    with torch.cuda.stream(s):\n        self.body(self.x)\n"
             "    torch.cuda.current_stream().wait_stream(s)\n    self.g = torch.cuda.CUDAGraph()\n    with torch.cuda.graph(self.g):\n"
             "        self.y = self.body(self.x)\nself.x.copy_(x)\nself.g.replay()\nreturn self.y.clone()")
    body = "self.body = lambda x: ((x * 0.5 + 1.0).sigmoid() * x).exp().mul(0.25).add(1.0)"
    for mb in (4, 64):
        add(f"graph_{mb}MB", "python", "return ((x * 0.5 + 1.0).sigmoid() * x).exp().mul(0.25).add(1.0)", f"torch.randn({mb * 250_000}) * 0.5", graph,
            init=body)
    add("graph_4MB_one_memory", "python", "return ((x * 0.5 + 1.0).sigmoid() * x).exp().mul(0.25).add(1.0)", "torch.randn(4 * 250_000) * 0.5",
        graph.replace("return self.y.clone()", "return self.y"), init=body)
    streams = ("now = torch.cuda.current_stream()\nself.s.wait_stream(now)\nwith torch.cuda.stream(self.s):\n    left = F.gelu(x)\n"
               "right = torch.tanh(y)\n{join}return left, right")
    for mb, join in ((8, True), (128, True), (32, False)):
        n = mb * 250_000
        add(f"streams_{mb}MB" + ("" if join else "_unjoined"), "python", "return F.gelu(x), torch.tanh(y)", f"{randn(n)}, {randn(n)}",
            streams.format(join="now.wait_stream(self.s)\n" if join else ""), init="self.s = torch.cuda.Stream() if torch.cuda.is_available() else None",
            names="x, y")
    loop = "for i in range({0}):\n    x = x * 1.0001 + 0.001\nreturn x"
    for times, n in ((20, 1 << 14), (60, 1 << 14)):
        add(f"host_bound_{times}x2_launches", "python", loop.format(times), randn(n),
            f"for i in range({times}):\n    x = torch.add(0.001, x * 1.0001)\nreturn x")
    add("host_bound_item", "python", "return x / x.abs().sum()", randn(1 << 18), "s = x.abs().sum().item(); return x / s")
    add("conv2d_vendor", "python", "return F.relu(F.conv2d(x, self.w, padding=1))", randn(16, 64, 56, 56), "return F.conv2d(x, self.w, padding=1).relu_()",
        init="self.w = nn.Parameter(torch.randn(64, 64, 3, 3) * 0.05)", task_init="self.w = nn.Parameter(torch.randn(64, 64, 3, 3) * 0.05)")
    # Batch norms in training keep state, so they get windows of one call, which hide up to 0.3 ms of host time.
    for blocks in (1, 6):
        layers = f"self.c = nn.ModuleList(nn.Conv2d(16, 16, 3, padding=1) for _ in range({blocks}))\nself.n = nn.ModuleList(nn.BatchNorm2d(16) for _ in range({blocks}))"
        block = "for c, n in zip(self.c, self.n):\n    x = {0}\nreturn x"
        add(f"batch_norm_training_{blocks}", "python", block.format("F.relu(n(c(x)))"), randn(8, 16, 28, 28), block.format("n(c(x)).relu_()"), init=layers, task_init=layers)
        by_hand = ("for c, n in zip(self.c, self.n):\n    x = c(x)\n    m, v = x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)\n"
                   "    many = x.numel() // x.shape[1]\n    n.running_mean.lerp_(m, 0.1)\n    n.running_var.lerp_(v * (many / (many - 1)), 0.1)\n"
                   "    n.num_batches_tracked.add_(1)\n    scale = n.weight * torch.rsqrt(v + n.eps)\n"
                   "    x = ((x - m[:, None, None]) * scale[:, None, None] + n.bias[:, None, None]).relu_()\nreturn x")
        add(f"batch_norm_training_{blocks}_by_hand", "python", block.format("F.relu(n(c(x)))"), randn(8, 16, 28, 28), by_hand, init=layers, task_init=layers)
    add("sdpa_vendor", "python", "return torch.softmax(q @ k.transpose(-1, -2) * 0.125, -1) @ v",
        ", ".join(["torch.randn(4, 16, 1024, 64, dtype=torch.float16)"] * 3), "return F.scaled_dot_product_attention(q, k, v)", names="q, k, v")
    add("group_norm_silu", "python", "return F.silu(F.group_norm(x, 8))", randn(32, 64, 64, 64), "return F.silu(F.group_norm(x, 8), inplace=True)")
    add("cumsum_rows", "python", "return torch.cumsum(x, -1)", randn(2048, 4096), "return torch.cumsum(x, dim=1)")
    add("sort_rows", "python", "return torch.sort(x, -1)[0]", randn(512, 4096), "return torch.sort(x, dim=-1).values")
    add("transpose_copy", "python", "return x.t().contiguous()", randn(4096, 4096), "return x.t().clone(memory_format=torch.contiguous_format)")
    add("gather_rows", "python", "return x[i]", f"{randn(65536, 256)}, torch.randint(65536, (65536,))", "return x.index_select(0, i)", names="x, i")
    return found


MEASURE = '''
import importlib.util, json, statistics, sys
import torch, triton
from torch.profiler import ProfilerActivity, profile
torch.set_grad_enabled(False)
def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path); m = importlib.util.module_from_spec(spec); spec.loader.exec_module(m); return m
def busy(spans):
    covered, end = 0, -1
    for a, b in sorted(spans):
        covered += max(0, b - max(a, end)); end = max(end, b)
    return covered
cache = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
def measure(f):
    for _ in range(5): f()
    torch.cuda.synchronize()
    bench = triton.testing.do_bench(f, warmup=25, rep=100, return_mode="median")
    events = []
    for _ in range(40):
        cache.zero_(); torch.cuda.synchronize()
        s, e = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        s.record(); f(); e.record(); torch.cuda.synchronize(); events.append(s.elapsed_time(e))
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        for _ in range(3): cache.zero_(); f()
        for _ in range(12): cache.fill_(3); f()
        torch.cuda.synchronize()
    records = sorted((e for e in prof.events() if e.device_type == torch.autograd.DeviceType.CUDA), key=lambda e: e.time_range.start)
    calls, current = [], None
    for e in records:
        if "FillFunctor<unsigned char>" in e.name:
            if current: calls.append(busy(current))
            current = []
        elif current is not None and "Memset" not in e.name or current: current.append((e.time_range.start, e.time_range.end))
    if current: calls.append(busy(current))
    return {"do_bench": bench, "events": statistics.median(events), "cupti": 1e-3 * statistics.median(calls) if calls else None}
out = {}
for name, task, candidate in json.load(open(sys.argv[1])):
    try:
        t = load(task, "task"); c = load(candidate, "candidate_" + name)
        torch.manual_seed(1); a = t.Model().cuda(); torch.manual_seed(1); b = c.ModelNew().cuda()
        x = [v.cuda() for v in t.get_inputs()]
        out[name] = {"eager": measure(lambda: a(*x)), "candidate": measure(lambda: b(*x))}
        del a, b, x, t, c; torch.cuda.empty_cache()
    except Exception as error:
        out[name] = {"error": repr(error)[:300]}
    json.dump(out, open(sys.argv[2], "w"))
'''


def judge(options, jobs, folder):
    lines = pathlib.Path(folder) / "jobs.jsonl"
    lines.write_text("".join(json.dumps({"target": "cuda", "protocol": options.protocol, **job}) + "\n" for job in jobs))
    done = subprocess.run([options.davinci, "judge", "--batch", str(lines), "-j", str(options.jobs), "--json"], capture_output=True, text=True, check=False)
    documents = {}
    for line in done.stdout.splitlines():
        try:
            document = json.loads(line)
        except json.JSONDecodeError:
            continue
        if "id" in document:
            documents[document["id"]] = document
    if not documents:
        print(done.stderr[-2000:], file=sys.stderr)
    return documents


def share(flags):
    flags = [f for f in flags if f is not None]
    return f"{sum(flags)} of {len(flags)}"


def near(a, b, allowed):
    return abs(a / b - 1) <= allowed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--protocol", default="davinci")
    parser.add_argument("--only", default="")
    parser.add_argument("--without", default="", help="a language to leave out: cuda-inline takes a minute to compile outside the judge")
    parser.add_argument("-j", "--jobs", type=int, default=4)
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--repeated", default="chain_134MB_autotuned,softmax_2048x4096")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--out")
    options = parser.parse_args()
    chosen = [c for c in cases() if (not options.only or c[0] in options.only.split(",")) and c[1] != options.without]
    if options.list:
        print(len(chosen), *[(name, language) for name, language, _, _ in chosen], sep="\n")
        return
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        jobs, inputs = [], []
        for name, _, task, candidate in chosen:
            (place / f"{name}_task.py").write_text(task)
            (place / f"{name}.py").write_text(candidate)
            jobs.append({"id": name, "reference": str(place / f"{name}_task.py"), "candidate": str(place / f"{name}.py")})
            inputs.append((name, str(place / f"{name}_task.py"), str(place / f"{name}.py")))
        for name in options.repeated.split(",") if options.repeat else ():
            for k in range(options.repeat):
                if any(c[0] == name for c in chosen):
                    copy = place / f"{name}_{k}.py"
                    copy.write_text((place / f"{name}.py").read_text() + f"\n# {k}\n")
                    jobs.append({"id": f"{name}#{k}", "reference": str(place / f"{name}_task.py"), "candidate": str(copy)})
        documents = judge(options, jobs, folder)
        judged_seconds = time.monotonic() - started
        (place / "list.json").write_text(json.dumps(inputs))
        (place / "measure.py").write_text(MEASURE)
        root = pathlib.Path(__file__).resolve().parents[1] / "python"
        log = subprocess.run([options.python, str(place / "measure.py"), str(place / "list.json"), str(place / "out.json")], capture_output=True,
                             text=True, check=False, env={**os.environ, "PYTHONPATH": str(root)})
        out = place / "out.json"
        others = json.loads(out.read_text()) if out.exists() else {}
        if not others:
            print(log.stderr[-1500:], file=sys.stderr)
    rows = []
    print(f"{'kernel':28} {'language':11} | {'do_bench':>17} {'cupti':>17} {'device':>17} | {'ratio do_bench':>14} {'device':>7} | {'events':>17} {'latency':>17}")
    for name, language, _, _ in chosen:
        d, o = documents.get(name, {}), others.get(name, {})
        row = {"kernel": name, "language": language, "status": d.get("status"), "message": d.get("message", "")[:200], "labels": d.get("labels"),
               "others": o, "device": d.get("device"), "latency": d.get("latency"), "windows": d.get("evidence", {}).get("windows"), "times": d.get("times")}
        rows.append(row)
        if d.get("status") != "ok" or "eager" not in o:
            print(f"{name:28} {language:11} | {d.get('status')} {d.get('message', '')[:100]} {o.get('error', '')}")
            continue
        pair = lambda a, b: f"{1e3 * a:8.1f}/{1e3 * b:8.1f}"
        e, c = o["eager"], o["candidate"]
        dv, lt = d["device"], d["latency"]
        print(f"{name:28} {language:11} | {pair(e['do_bench'], c['do_bench'])} {pair(e['cupti'] or 0, c['cupti'] or 0)} "
              f"{pair(dv['baseline']['median_ms'], dv['candidate']['median_ms'])} | {e['do_bench'] / c['do_bench']:14.2f} {dv['speedup']['median']:7.2f} | "
              f"{pair(e['events'], c['events'])} {pair(lt['baseline']['median_ms'], lt['candidate']['median_ms'])}", flush=True)
    summary = {}
    timed = [(side, r["others"][side], r["device"][key]["median_ms"], r["latency"][key]["median_ms"], r["kernel"])
             for r in rows if r["status"] == "ok" and "eager" in r["others"] for side, key in (("eager", "baseline"), ("candidate", "candidate"))]
    for label, keep, allowed in ((">= 20 us", lambda t: t >= 0.02, 0.05), ("< 20 us", lambda t: t < 0.02, 0.10)):
        group = [t for t in timed if keep(t[1]["do_bench"])]
        summary[f"device within {allowed:.0%} of do_bench, {label}"] = share([near(t[2], t[1]["do_bench"], allowed) for t in group])
        summary[f"device within {allowed:.0%} of cupti, {label}"] = share([near(t[2], t[1]["cupti"], allowed) if t[1]["cupti"] else None for t in group])
        summary[f"device within {allowed:.0%} of the nearer of both or between them, {label}"] = share(
            [(min(t[1]["cupti"], t[1]["do_bench"]) * (1 - allowed) <= t[2] <= max(t[1]["cupti"], t[1]["do_bench"]) * (1 + allowed)) if t[1]["cupti"] else None
             for t in group])
        summary[f"cupti within {allowed:.0%} of do_bench, {label}"] = share([near(t[1]["cupti"], t[1]["do_bench"], allowed) if t[1]["cupti"] else None for t in group])
    summary["latency within 10 % of events"] = share([near(t[3], t[1]["events"], 0.10) for t in timed])
    summary["latency within 10 % or 10 us of events"] = share([near(t[3], t[1]["events"], 0.10) or abs(t[3] - t[1]["events"]) <= 0.010 for t in timed])
    summary["speedup within 5 % of do_bench's"] = share(
        [near(r["device"]["speedup"]["median"], r["others"]["eager"]["do_bench"] / r["others"]["candidate"]["do_bench"], 0.05)
         for r in rows if r["status"] == "ok" and "eager" in r["others"]])
    repeats = {}
    for name in options.repeated.split(",") if options.repeat else ():
        ds = [documents[f"{name}#{k}"] for k in range(options.repeat) if documents.get(f"{name}#{k}", {}).get("status") == "ok"]
        if len(ds) < 3:
            continue
        times, ratios = [d["device"]["candidate"]["median_ms"] for d in ds], [d["device"]["speedup"] for d in ds]
        lats = [d["latency"]["candidate"]["median_ms"] for d in ds]
        mean = statistics.mean(r["median"] for r in ratios)
        repeats[name] = {"times": len(ds), "device_cv": statistics.stdev(times) / statistics.mean(times), "latency_cv": statistics.stdev(lats) / statistics.mean(lats),
                         "speedup_mean": mean, "speedup_cv": statistics.stdev(r["median"] for r in ratios) / mean,
                         "intervals_cover_mean": sum(r["low"] <= mean <= r["high"] for r in ratios), "speedups": ratios}
        summary[f"{name} judged {len(ds)} times"] = {k: v for k, v in repeats[name].items() if k != "speedups"}
    record = {"command": sys.argv[1:], "date": time.strftime("%Y-%m-%d", time.gmtime()), "judged_seconds": judged_seconds, "rows": rows, "summary": summary,
              "repeats": repeats}
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps(record, indent=1) + "\n")
    for key, value in summary.items():
        print(f"{key}: {value}")


if __name__ == "__main__":
    main()
