"""Activity records, with Triton too, and measured peaks."""
import json
import sys
import tempfile
import time

from selftest.library import timed_ms


def test_activity(t):
    torch = t.torch
    x = torch.randn(1 << 26, device="cuda")
    torch.relu(x)
    torch.cuda.synchronize()
    steps = []

    def step(name, function, *arguments):
        started = time.perf_counter()
        value = function(*arguments)
        steps.append(f"{name} {1e3 * (time.perf_counter() - started):.1f} ms")
        return value

    step("prepare", t.lib.activity_prepare)
    step("first start", t.lib.activity_start)
    torch.relu(x)
    step("first stop", t.lib.json, t.lib.activity_stop)
    step("second start", t.lib.activity_start)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(1_000_000)  # what follows is queued behind it: the host's time stays out of the events
    begin.record()
    y = torch.relu(x)
    end.record()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        z = x * 2
    host = y[:1024].cpu()
    del z, host
    result = step("second stop", t.lib.json, t.lib.activity_stop)
    t.note(", ".join(steps))
    for item in result["activities"]:
        t.note(f"  {item['kind']:7} {(item['end_ns'] - item['start_ns']) / 1e3:9.2f} us stream {item['stream']:3} "
               f"grid {item.get('grid')} block {item.get('block')} regs {item.get('registers')} {item['name'][:70]}")
    kernels = [item for item in result["activities"] if item["kind"] == "kernel" and "spin" not in item["name"]]
    t.check(result["dropped"] == 0, "nothing dropped")
    t.check(len(kernels) == 2, f"two kernels, seen {len(kernels)}")
    t.check(len({item["stream"] for item in kernels}) == 2, "on two streams")
    t.check(any(item["kind"] == "memcpy" and item["bytes"] == 4096 for item in result["activities"]), "the copy is seen")
    if kernels:
        kernel_ms = (kernels[0]["end_ns"] - kernels[0]["start_ns"]) * 1e-6
        event_ms = begin.elapsed_time(end)
        t.note(f"relu of 256 MiB: CUPTI {kernel_ms * 1e3:.1f} us, events {event_ms * 1e3:.1f} us")
        t.check(kernel_ms <= 1.02 * event_ms + 0.005, "a kernel is not longer than the events around it")
        t.check(event_ms - kernel_ms <= 0.1 * event_ms + 0.05, "nor much shorter")
        t.check(kernels[0]["grid"][0] > 0 and kernels[0]["registers"] > 0, "grid and registers")
    t.lib.activity_start()
    empty = t.lib.json(t.lib.activity_stop)
    t.check(empty["activities"] == [], "nothing ran, nothing recorded")
    cost = []
    for _ in range(10):
        started = time.perf_counter()
        t.lib.activity_start()
        torch.relu(x)
        t.lib.json(t.lib.activity_stop)
        cost.append(time.perf_counter() - started)
    t.note(f"start + one kernel + stop: median {sorted(cost)[5] * 1e3:.2f} ms")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        w = torch.relu(x) + 1
    t.lib.activity_start()
    graph.replay()
    seen = [i for i in t.lib.json(t.lib.activity_stop)["activities"] if i["kind"] == "kernel"]
    t.check(len(seen) == 2 and all(i["graph"] != 0 for i in seen), f"kernels of a graph: {[i['graph'] for i in seen]}")
    del w


def test_triton(t):
    torch = t.torch
    try:
        import triton
    except ImportError:
        t.note("no Triton here")
        return
    # Triton reads a kernel's source from a file.
    folder = tempfile.mkdtemp()
    with open(folder + "/selftest_kernel.py", "w", encoding="utf-8") as file:
        file.write("import triton\nimport triton.language as tl\n\n@triton.jit\n"
                   "def selftest_double(x, y, n, B: tl.constexpr):\n"
                   "    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                   "    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)\n")
    sys.path.insert(0, folder)
    import selftest_kernel
    x = torch.randn(1 << 26, device="cuda")
    y = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 1024),)
    selftest_kernel.selftest_double[grid](x, y, x.numel(), B=1024)
    torch.cuda.synchronize()
    t.lib.activity_start()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    selftest_kernel.selftest_double[grid](x, y, x.numel(), B=1024)
    end.record()
    result = t.lib.json(t.lib.activity_stop)
    kernels = [i for i in result["activities"] if i["kind"] == "kernel"]
    t.check(len(kernels) == 1 and "selftest_double" in kernels[0]["name"], f"the Triton kernel: {kernels}")
    if kernels:
        us = (kernels[0]["end_ns"] - kernels[0]["start_ns"]) / 1e3
        t.note(f"Triton {kernels[0]['name']} grid {kernels[0]['grid']}: CUPTI {us:.1f} us, "
               f"events {begin.elapsed_time(end) * 1e3:.1f} us")
        t.check(kernels[0]["grid"] == [grid[0], 1, 1], "its grid")


def test_peaks(t):
    torch = t.torch
    started = time.perf_counter()
    peaks = t.lib.json(t.lib.peaks, 2 << 30, 10, 0)
    t.note(f"{json.dumps(peaks)} in {time.perf_counter() - started:.2f} s")
    source = torch.empty(2 << 30, dtype=torch.uint8, device="cuda").random_(0, 256)
    target = torch.empty_like(source)
    ms = timed_ms(torch, lambda: target.copy_(source), 10)
    t.note(f"torch copy {2 * source.numel() / ms / 1e6:.0f} GB/s")
    t.check(peaks["copy_gb_per_s"] > 0.85 * 2 * source.numel() / ms / 1e6, "our copy is near torch's")
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    ms = timed_ms(torch, lambda: torch.mm(a, a), 10)
    t.note(f"torch bf16 mm 8192: {2 * 8192**3 / ms / 1e9:.0f} TFLOP/s")
