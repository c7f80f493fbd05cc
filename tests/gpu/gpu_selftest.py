#!/usr/bin/env python3
"""Every dv_cuda_* function of libdavinci_worker.so against PyTorch and against the host's comparator, on a real device.

    gpu_selftest.py --library build/dev/lib/libdavinci_worker.so [--only checksum,ipc] [--big-gib 4]

Prints one line per check and throughputs; exit status 0 all passed, 1 some failed, 77 no device or no torch (skipped).
Never hangs: a watchdog ends the process with a traceback, children have timeouts of their own.
"""
import argparse
import ctypes
import faulthandler
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback

U64, I64, F64, INT = ctypes.c_uint64, ctypes.c_int64, ctypes.c_double, ctypes.c_int
WATCHDOG_S = 280
CHILD_TIMEOUT_S = 90
NUM_BUCKETS = 321
DTYPE = {"float16": 0, "bfloat16": 1, "float32": 2, "float64": 3, "int8": 4, "uint8": 5, "int16": 6, "int32": 7,
         "int64": 8, "bool": 9}


class CompareResult(ctypes.Structure):
    _fields_ = ([("passed", INT), ("failed_criteria", INT)] +
                [(name, I64) for name in ("n", "num_wrong", "num_dont_care", "num_special_match", "num_nan_truth",
                                          "num_nan_candidate", "num_unexpected_nan", "first_wrong_index")] +
                [("first_wrong_truth", F64), ("first_wrong_candidate", F64), ("worst_index", I64)] +
                [(name, F64) for name in ("worst_err", "worst_tol", "worst_truth", "worst_candidate", "max_ratio",
                                          "rms_ratio", "rms_limit")] +
                [("ratio_histogram", I64 * 10)])


class Profile(ctypes.Structure):
    _fields_ = [("count", U64 * NUM_BUCKETS), ("max_err", F64 * NUM_BUCKETS), ("sum_sq_err", F64 * NUM_BUCKETS),
                ("num_special", U64), ("num_dont_care", U64)]


class Library:
    """The C functions; those returning a status raise with the library's message."""

    def __init__(self, path):
        lib = ctypes.CDLL(path)
        self.raw = lib
        lib.dv_cuda_last_error.restype = ctypes.c_char_p
        lib.dv_last_error.restype = ctypes.c_char_p
        lib.dv_sizeof.restype = ctypes.c_size_t
        lib.dv_checksum.restype = U64
        lib.dv_checksum.argtypes = [ctypes.c_void_p, ctypes.c_size_t, U64, INT]
        lib.dv_cuda_sample_position.restype = U64
        lib.dv_cuda_sample_position.argtypes = [U64, U64, U64]
        lib.dv_cuda_poison_pattern.restype = U64
        lib.dv_cuda_poison_pattern.argtypes = [INT, U64, U64]
        p, s, z = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
        signatures = {
            "init": [INT, s, s], "prepare": [], "driver_info": [s, z, p], "sync": [], "stream_sync": [U64],
            "set_limit": [INT, U64], "get_limit": [INT, p], "ipc_export": [U64, p, p, p], "ipc_open": [p, p, p],
            "ipc_close": [U64], "flush_l2": [U64, INT, U64], "persisting_reset": [], "poison": [U64, U64, INT, U64, U64],
            "poison_count": [U64, U64, INT, U64, U64, p, p], "checksum": [U64, U64, U64, U64, p],
            "sample": [U64, U64, INT, U64, U64, U64, p],
            "profile_accumulate": [U64, U64, INT, INT, U64, p, U64, U64],
            "compare": [U64, U64, INT, U64, p, U64, F64, U64, p],
            "compare_direct": [U64, U64, INT, U64, p, F64, U64, p],
            "compare_integers": [U64, INT, p, INT, U64, INT, U64, F64, U64, p],
            "activity_prepare": [], "activity_start": [], "activity_stop": [s, z, p], "activity_result": [s, z, p],
            "peaks": [U64, INT, U64, s, z, p],
        }
        for name, arguments in signatures.items():
            function = getattr(lib, "dv_cuda_" + name)
            function.argtypes = arguments
            setattr(self, name, self._checked(function, name))
        host = {
            "dv_profile_accumulate": [p, p, INT, INT, I64, p, p, INT],
            "dv_tolerance_build": [p, INT, p, p],
            "dv_compare": [p, p, INT, I64, p, p, F64, INT, p],
            "dv_compare_direct": [p, p, INT, I64, p, F64, INT, p],
            "dv_compare_integers": [p, p, INT, p, INT, I64, F64, INT, p],
        }
        for name, arguments in host.items():
            function = getattr(lib, name)
            function.argtypes = arguments
            setattr(self, "host_" + name[3:], self._checked_host(function, name))

    def _checked(self, function, name):
        def call(*arguments):
            code = function(*arguments)
            if code != 0:
                raise RuntimeError(f"dv_cuda_{name}: {code}: {self.raw.dv_cuda_last_error().decode()}")
        return call

    def _checked_host(self, function, name):
        def call(*arguments):
            if function(*arguments) != 0:
                raise RuntimeError(f"{name}: {self.raw.dv_last_error().decode()}")
        return call

    def json(self, function, *arguments):
        buffer = ctypes.create_string_buffer(1 << 22)
        function(*arguments, buffer, len(buffer), None)
        return json.loads(buffer.value)

    def checksum_of(self, pointer, num_bytes, key=5):
        value = U64()
        self.checksum(pointer, num_bytes, key, 0, ctypes.byref(value))
        return value.value


class Report:
    """Counts of checks, and what every test needs (set by main): torch, lib, library, cache, big_bytes."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, condition, text):
        if condition:
            self.passed += 1
        else:
            self.failed += 1
            print(f"  FAILED {text}", flush=True)
        return condition

    def note(self, text):
        print(f"  {text}", flush=True)


def library_directories(torch):
    site = os.path.dirname(os.path.dirname(torch.__file__))
    found = glob.glob(site + "/nvidia/cu1*/lib") + glob.glob(site + "/nvidia/*/lib")
    return ":".join(found + ["/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64"])


def timed_ms(torch, body, repeats=5):
    """Best device time between two events on the legacy default stream."""
    best = float("inf")
    for _ in range(repeats + 1):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        body()
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end))
    return best


def test_info(t):
    info = t.lib.json(t.lib.driver_info)
    t.note(json.dumps(info))
    properties = t.torch.cuda.get_device_properties(0)
    t.check(info["multiprocessors"] == properties.multi_processor_count, "multiprocessors")
    t.check(info["l2_bytes"] == properties.L2_cache_size, "l2_bytes")
    t.check(info["compute_capability"] == [properties.major, properties.minor], "compute capability")
    t.check(info["name"] == properties.name, "name")
    value = U64()
    t.lib.get_limit(2, ctypes.byref(value))
    t.lib.set_limit(2, value.value)
    t.lib.persisting_reset()
    started = time.perf_counter()
    for _ in range(20):
        t.lib.persisting_reset()
    t.note(f"persisting reset {(time.perf_counter() - started) * 5e4:.1f} us each")
    t.check(t.torch.cuda.current_device() == 0 and t.torch.ones(3, device="cuda").sum().item() == 3,
            "torch still works after our calls")


def test_checksum(t):
    torch = t.torch
    data = torch.randint(0, 256, (1 << 20,), dtype=torch.uint8, device="cuda")
    host = data.cpu()
    for begin, size in [(0, 0), (0, 1), (0, 15), (0, 16), (0, 17), (0, 1000003), (1, 33), (2, 4096), (8, 100001),
                        (3, 999), (16, 1 << 19)]:
        ours = t.lib.checksum_of(data.data_ptr() + begin, size)
        theirs = t.lib.raw.dv_checksum(host.data_ptr() + begin, size, 5, 1)
        t.check(ours == theirs, f"checksum of {size} bytes at {begin}: device {ours:#x}, host {theirs:#x}")
    before = t.lib.checksum_of(data.data_ptr(), data.numel())
    t.check(before == t.lib.checksum_of(data.data_ptr(), data.numel()), "repeatable")
    t.check(before != t.lib.checksum_of(data.data_ptr(), data.numel(), key=6), "depends on the key")
    data[123457] ^= 1
    t.check(before != t.lib.checksum_of(data.data_ptr(), data.numel()), "sees one bit")
    data[123457] ^= 1
    words = data.view(torch.int64)
    words[[10, 5000]] = words[[5000, 10]]
    t.check(before != t.lib.checksum_of(data.data_ptr(), data.numel()), "sees an exchange")
    big = torch.empty(t.big_bytes, dtype=torch.uint8, device="cuda").random_(0, 256)
    ms = timed_ms(torch, lambda: t.lib.checksum_of(big.data_ptr(), big.numel()))
    t.note(f"checksum {big.numel() / ms / 1e6:.0f} GB/s on {big.numel() / 2**30:.1f} GiB ({ms:.2f} ms)")


def test_poison(t):
    torch = t.torch
    key = 0x1234567
    for name, code in DTYPE.items():
        dtype = getattr(torch, name)
        for n, skip in [(100003, 0), (100003, 1), (1, 0)]:
            storage = torch.zeros(n + skip, dtype=dtype, device="cuda")
            data = storage[skip:]
            t.lib.poison(data.data_ptr(), n, code, key, 0)
            torch.cuda.synchronize()
            if dtype.is_floating_point:
                t.check(bool(torch.isnan(data).all()), f"{name}: all NaN")
            bits = data.view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[data.element_size()]).cpu()
            mask = (1 << (8 * data.element_size())) - 1
            for i in sorted({0, n // 3, n - 1}):
                want = t.lib.raw.dv_cuda_poison_pattern(code, key, i)
                t.check((int(bits[i]) & mask) == want, f"{name}: pattern at {i} (offset {skip})")
            t.check(skip == 0 or storage.view(torch.uint8)[:data.element_size()].any().item() == 0, f"{name}: before begin")
            left, first = U64(), U64()
            t.lib.poison_count(data.data_ptr(), n, code, key, 0, ctypes.byref(left), ctypes.byref(first))
            t.check(left.value == n and first.value == 0, f"{name}: {left.value} of {n} poisoned")
            if n > 1:
                data[:7] = 1
                data[500:600] = 1
                t.lib.poison_count(data.data_ptr(), n, code, key, 0, ctypes.byref(left), ctypes.byref(first))
                # 8-bit patterns may equal the written value by chance; for the others that is next to impossible.
                slack = 12 if data.element_size() == 1 else 0
                t.check(abs(left.value - (n - 107)) <= slack, f"{name}: {left.value} left of {n - 107}")
                t.check(first.value == 7 or slack, f"{name}: first {first.value}")
    big = torch.empty(t.big_bytes // 4, dtype=torch.float32, device="cuda")
    ms = timed_ms(torch, lambda: t.lib.poison(big.data_ptr(), big.numel(), 2, key, 0))
    t.note(f"poison f32 {big.numel() * 4 / ms / 1e6:.0f} GB/s")
    left, first = U64(), U64()
    ms = timed_ms(torch, lambda: t.lib.poison_count(big.data_ptr(), big.numel(), 2, key, 0, ctypes.byref(left),
                                                    ctypes.byref(first)))
    t.check(left.value == big.numel(), "poison count of a big buffer")
    t.note(f"poison count f32 {big.numel() * 4 / ms / 1e6:.0f} GB/s")
    half = big.view(torch.bfloat16)
    ms = timed_ms(torch, lambda: t.lib.poison(half.data_ptr(), half.numel(), 1, key, 0))
    t.note(f"poison bf16 {half.numel() * 2 / ms / 1e6:.0f} GB/s")


def test_flush(t):
    torch = t.torch
    small = torch.randn(16 << 18, device="cuda")  # 16 MiB: fits in the L2
    out = torch.empty((), device="cuda")

    def once(before):
        times = []
        for _ in range(15):
            before()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            torch.sum(small, dim=0, out=out)
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end))
        return sorted(times)[7] * 1e3

    warm = once(lambda: None)
    dirty = once(lambda: t.lib.flush_l2(int.from_bytes(os.urandom(8), "little"), 0, 0))
    clean = once(lambda: t.lib.flush_l2(int.from_bytes(os.urandom(8), "little"), 1, 0))
    t.note(f"sum of 16 MiB: warm L2 {warm:.1f} us, after flush {dirty:.1f} us, after flush leaving it clean {clean:.1f} us")
    t.check(dirty > 1.05 * warm and clean > 1.05 * warm, "a flushed L2 is colder than a warm one")
    ms = timed_ms(torch, lambda: t.lib.flush_l2(1, 0, 0))
    ms_clean = timed_ms(torch, lambda: t.lib.flush_l2(1, 1, 0))
    t.note(f"flush {ms * 1e3:.1f} us, leaving it clean {ms_clean * 1e3:.1f} us")


def test_sample(t):
    torch = t.torch
    for dtype, view in [(torch.float32, torch.int32), (torch.bfloat16, torch.int16), (torch.float64, torch.int64),
                        (torch.uint8, torch.uint8)]:
        data = torch.randn(1000003, device="cuda").mul(50).to(dtype)
        count, key = 4096, 77
        bits = (U64 * count)()
        t.lib.sample(data.data_ptr(), data.numel(), data.element_size(), key, count, 0, bits)
        positions = [t.lib.raw.dv_cuda_sample_position(key, j, data.numel()) for j in range(count)]
        want = data.view(view).cpu()[torch.tensor(positions)].tolist()
        mask = (1 << (8 * data.element_size())) - 1
        t.check([w & mask for w in want] == list(bits), f"samples of {dtype}")
    started = time.perf_counter()
    for _ in range(20):
        t.lib.sample(data.data_ptr(), data.numel(), 1, 78, count, 0, bits)
    t.note(f"sample of {count}: {(time.perf_counter() - started) * 5e4:.0f} us per call, result read back")


def make_truth(torch, n, output):
    truth = torch.randn(n, dtype=torch.float64, device="cuda") * torch.exp2(
        torch.randint(-12, 8, (n,), device="cuda").double())
    limit = {"float16": 6e4, "bfloat16": 1e38, "float32": 1e38, "float64": 1e300}[output]
    truth.clamp_(-limit, limit)
    truth[:: max(n // 50, 1)] = 0
    if n > 1000:
        truth[11] = float("nan")
        truth[12] = float("inf")
        truth[13] = -float("inf")
        truth[14] = 1e-300
        truth[15] = limit * 1.2
    return truth


def make_honest(torch, truth, dtype):
    noise = 1 + torch.randn_like(truth) * (1e-7 if dtype == torch.float32 else 1e-15 if dtype == torch.float64 else 1e-4)
    return (truth * noise).to(dtype)


def same_float(a, b):
    return a == b or (a != a and b != b) or abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def compare_results(t, ours, theirs, what):
    for name, kind in CompareResult._fields_:
        a, b = getattr(ours, name), getattr(theirs, name)
        if name == "ratio_histogram":
            t.check(list(a) == list(b), f"{what}: histogram {list(a)} / host {list(b)}")
        elif kind is F64:
            t.check(same_float(a, b), f"{what}: {name} {a!r} / host {b!r}")
        else:
            t.check(a == b, f"{what}: {name} {a} / host {b}")


def build_profile(t, truth, honest, output, dont_care=None):
    profile = Profile()
    t.lib.profile_accumulate(truth.data_ptr(), honest.data_ptr(), DTYPE[str(honest.dtype)[6:]], DTYPE[output],
                             truth.numel(), ctypes.byref(profile), dont_care.data_ptr() if dont_care is not None else 0, 0)
    return profile


def build_tolerance(t, profile, output):
    tolerance = ctypes.create_string_buffer(t.lib.raw.dv_sizeof(1))
    t.lib.host_tolerance_build(ctypes.byref(profile), DTYPE[output], None, tolerance)
    return tolerance


def test_profile(t):
    torch = t.torch
    t.check(ctypes.sizeof(Profile) == t.lib.raw.dv_sizeof(0), "size of the profile")
    for output in ("float16", "bfloat16", "float32", "float64"):
        for n in (1, 31, 1000003):
            truth = make_truth(torch, n, output)
            honest = make_honest(torch, truth, getattr(torch, output))
            if n > 1000:
                honest[100] = float("inf")
                honest[101] = float("nan")
            care = torch.zeros(n, dtype=torch.uint8, device="cuda")
            ours = build_profile(t, truth, honest, output, care)
            theirs = Profile()
            host_truth, host_honest = truth.cpu(), honest.cpu()
            host_care = torch.zeros(n, dtype=torch.uint8)
            t.lib.host_profile_accumulate(host_truth.data_ptr(), host_honest.data_ptr(), DTYPE[output], DTYPE[output], n,
                                          ctypes.byref(theirs), host_care.data_ptr(), 1)
            what = f"profile {output} n={n}"
            t.check(list(ours.count) == list(theirs.count), f"{what}: counts")
            t.check(list(ours.max_err) == list(theirs.max_err), f"{what}: maxima")
            t.check(all(same_float(a, b) for a, b in zip(ours.sum_sq_err, theirs.sum_sq_err)), f"{what}: sums")
            t.check((ours.num_special, ours.num_dont_care) == (theirs.num_special, theirs.num_dont_care),
                    f"{what}: specials {ours.num_special, ours.num_dont_care}/{theirs.num_special, theirs.num_dont_care}")
            t.check(bool((care.cpu() == host_care).all()), f"{what}: don't care mask")
            again = build_profile(t, truth, honest, output, care)
            t.check(bytes(again) == bytes(ours), f"{what}: repeatable to the bit")
    n = t.big_bytes // 16
    for output in ("float32", "bfloat16"):
        truth = torch.randn(n, dtype=torch.float64, device="cuda")
        honest = truth.to(getattr(torch, output))
        ms = timed_ms(torch, lambda: build_profile(t, truth, honest, output), 3)
        moved = n * (8 + honest.element_size())
        t.note(f"profile {output}: {n / ms / 1e6:.1f} G elements/s, {moved / ms / 1e6:.0f} GB/s")


def test_compare(t):
    torch = t.torch
    t.check(ctypes.sizeof(CompareResult) == t.lib.raw.dv_sizeof(3), "size of the result")
    for output in ("float16", "bfloat16", "float32", "float64"):
        dtype = getattr(torch, output)
        for n in (1, 257, 1000003):
            truth = make_truth(torch, n, output)
            honest = make_honest(torch, truth, dtype)
            care = torch.zeros(n, dtype=torch.uint8, device="cuda")
            tolerance = build_tolerance(t, build_profile(t, truth, honest, output, care), output)
            right = make_honest(torch, truth, dtype)
            candidates = {"honest": right}
            if n > 1000:
                wrong = right.clone()
                wrong[777] += 1
                wrong[500000] = float("nan")
                wrong[11] = 0
                wrong[12] = 5
                candidates["few wrong"] = wrong
                candidates["scaled"] = (right.double() * 1.05).to(dtype)
                candidates["zeros"] = torch.zeros_like(right)
                care[600:700] = 1
            host_truth, host_care = truth.cpu(), care.cpu()
            for name, candidate in candidates.items():
                host_candidate = candidate.cpu()
                for mask in (False, True):
                    ours, theirs = CompareResult(), CompareResult()
                    t.lib.compare(truth.data_ptr(), candidate.data_ptr(), DTYPE[output], n, tolerance,
                                  care.data_ptr() if mask else 0, 0.5, 0, ctypes.byref(ours))
                    t.lib.host_compare(host_truth.data_ptr(), host_candidate.data_ptr(), DTYPE[output], n, tolerance,
                                       host_care.data_ptr() if mask else None, 0.5, 1, ctypes.byref(theirs))
                    compare_results(t, ours, theirs, f"{output} n={n} {name} mask={mask}")
                if n > 1000:
                    t.check(bool(ours.passed) == (name == "honest"), f"{output} {name}: passed={ours.passed}")
                ours, theirs = CompareResult(), CompareResult()
                host_right = right.cpu()
                t.lib.compare_direct(right.data_ptr(), candidate.data_ptr(), DTYPE[output], n, tolerance, 0.5, 0,
                                     ctypes.byref(ours))
                t.lib.host_compare_direct(host_right.data_ptr(), host_candidate.data_ptr(), DTYPE[output], n, tolerance, 0.5,
                                          1, ctypes.byref(theirs))
                compare_results(t, ours, theirs, f"direct {output} n={n} {name}")
    try:
        t.lib.compare(truth.data_ptr(), right.data_ptr(), DTYPE["float32"], 1, tolerance, 0, 0.5, 0, ctypes.byref(ours))
        t.check(False, "a tolerance of another dtype is refused")
    except RuntimeError:
        pass
    n = t.big_bytes // 16
    for output in ("float32", "bfloat16"):
        truth = torch.randn(n, dtype=torch.float64, device="cuda")
        right = truth.to(getattr(torch, output))
        tolerance = build_tolerance(t, build_profile(t, truth, right, output), output)
        ms = timed_ms(torch, lambda: t.lib.compare(truth.data_ptr(), right.data_ptr(), DTYPE[output], n, tolerance, 0, 0.5,
                                                   0, ctypes.byref(ours)), 3)
        t.check(ours.passed == 1 and ours.n == n, "a big honest output passes")
        moved = n * (8 + right.element_size())
        t.note(f"compare {output}: {n / ms / 1e6:.1f} G elements/s, {moved / ms / 1e6:.0f} GB/s")
        ms = timed_ms(torch, lambda: t.lib.compare_direct(right.data_ptr(), right.data_ptr(), DTYPE[output], n, tolerance,
                                                          0.5, 0, ctypes.byref(ours)), 3)
        t.note(f"compare direct {output}: {n / ms / 1e6:.1f} G elements/s (one buffer read twice)")


def test_integers(t):
    torch = t.torch
    n = 1000003
    for name in ("int8", "uint8", "int16", "int32", "int64", "bool"):
        dtype = getattr(torch, name)
        truth = torch.randint(0, 2 if name == "bool" else 100, (n,), device="cuda")
        if name == "int64":
            truth[5] = 2**62 + 1
        right = truth.to(dtype)
        wrong = right.clone()
        wrong[[5, 77, n - 1]] = (truth[[5, 77, n - 1]] != 1).to(dtype) if name == "bool" else (
            right[[5, 77, n - 1]] + torch.tensor([1, 3, 2], device="cuda").to(dtype))
        if name == "bool":
            wrong.view(torch.uint8)[9] = 7
        for candidate, variants in [(right, []), (wrong, []), (wrong, [wrong])]:
            ours, theirs = CompareResult(), CompareResult()
            pointers = (U64 * max(len(variants), 1))(*[v.data_ptr() for v in variants])
            t.lib.compare_integers(truth.data_ptr(), 8, pointers if variants else None, len(variants), candidate.data_ptr(),
                                   DTYPE[name], n, 0.0, 0, ctypes.byref(ours))
            host_truth, host_candidate = truth.cpu(), candidate.cpu()
            host_variants = [v.cpu() for v in variants]
            host_pointers = (ctypes.c_void_p * max(len(variants), 1))(*[v.data_ptr() for v in host_variants])
            t.lib.host_compare_integers(host_truth.data_ptr(), host_pointers if variants else None, len(variants),
                                        host_candidate.data_ptr(), DTYPE[name], n, 0.0, 1, ctypes.byref(theirs))
            compare_results(t, ours, theirs, f"{name}, {len(variants)} variants")


def start_child(t, mode):
    return subprocess.Popen([sys.executable, os.path.abspath(__file__), "--library", t.library, "--cache", t.cache,
                             "--child", mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def child_line(t, child):
    """One line of the child, or an exception when it takes too long."""
    import select
    ready, _, _ = select.select([child.stdout], [], [], CHILD_TIMEOUT_S)
    if not ready:
        raise RuntimeError("the child does not answer")
    return json.loads(child.stdout.readline())


def test_ipc(t):
    """The child plays the runner: it exports, is frozen, and its memory is read and written from here meanwhile."""
    torch = t.torch
    child = start_child(t, "ipc")
    try:
        told = child_line(t, child)
        t.note(f"child: {told['prepare_ms']:.0f} ms to load the kernels (from cache: {told['from_cache']})")
        t.check(told["from_cache"], "the second process finds the compiled kernels in the cache")
        os.kill(child.pid, signal.SIGSTOP)
        handle = (ctypes.c_ubyte * 64)(*bytes.fromhex(told["handle"]))
        base, size, again = U64(), U64(), U64()
        started = time.perf_counter()
        t.lib.ipc_open(handle, ctypes.byref(base), ctypes.byref(size))
        t.note(f"ipc open of a frozen process {1e3 * (time.perf_counter() - started):.2f} ms")
        t.check(size.value == told["allocation_bytes"], "size of the allocation")
        t.lib.ipc_open(handle, ctypes.byref(again), None)
        t.check(again.value == base.value, "opening twice gives the same address")
        pointer = base.value + told["offset"]
        started = time.perf_counter()
        checksum = t.lib.checksum_of(pointer, told["bytes"])
        t.note(f"checksum through the mapping {1e3 * (time.perf_counter() - started):.2f} ms")
        t.check(checksum == told["checksum"], "the same bytes on both sides")
        t.lib.poison(pointer, told["bytes"] // 4, 2, 99, 0)
        torch.cuda.synchronize()
        os.kill(child.pid, signal.SIGCONT)
        child.stdin.write("go\n")
        child.stdin.flush()
        seen = child_line(t, child)
        t.check(seen["poisoned"] == told["bytes"] // 4, f"the child sees what was written: {seen}")
        t.lib.ipc_close(base.value)
        t.lib.ipc_close(base.value)
        try:
            t.lib.ipc_close(base.value)
            t.check(False, "closing once too often is an error")
        except RuntimeError:
            pass
        try:
            t.lib.ipc_open((ctypes.c_ubyte * 64)(*([0x5a] * 64)), ctypes.byref(base), None)
            t.check(False, "a forged handle is refused")
        except RuntimeError as error:
            t.note(f"forged handle: {error}")
        t.check(torch.ones(3, device="cuda").sum().item() == 3, "the context survives a forged handle")
    finally:
        os.kill(child.pid, signal.SIGCONT)
        child.kill()
        child.wait()


def test_crash(t):
    child = start_child(t, "crash")
    try:
        told = child_line(t, child)
        t.note(f"an illegal address reads as: {told['first']}; then {told['second']}")
        t.check(told["first_code"] == -3 and told["second_code"] == -3, "a lost context is -3, now and later")
    finally:
        child.kill()
        child.wait()


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
    kernels = [item for item in result["activities"] if item["kind"] == "kernel"]
    t.check(result["dropped"] == 0, "nothing dropped")
    t.check(len(kernels) == 2, f"two kernels, seen {len(kernels)}")
    t.check(len({item["stream"] for item in kernels}) == 2, "on two streams")
    t.check(any(item["kind"] == "memcpy" and item["bytes"] == 4096 for item in result["activities"]), "the copy is seen")
    if kernels:
        kernel_ms = (kernels[0]["end_ns"] - kernels[0]["start_ns"]) * 1e-6
        event_ms = begin.elapsed_time(end)
        t.note(f"relu of 256 MiB: CUPTI {kernel_ms * 1e3:.1f} us, events {event_ms * 1e3:.1f} us")
        t.check(abs(kernel_ms - event_ms) <= 0.05 * event_ms + 0.02, "CUPTI and events agree")
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


def child_main(mode, lib, torch):
    if mode == "crash":
        value = U64()
        codes, texts = [], []
        for call in (lambda: lib.raw.dv_cuda_checksum(0x10000, 1 << 20, 1, 0, ctypes.byref(value)), lib.raw.dv_cuda_sync):
            codes.append(call())
            texts.append(lib.raw.dv_cuda_last_error().decode())
        print(json.dumps({"first_code": codes[0], "second_code": codes[1], "first": texts[0], "second": texts[1]}),
              flush=True)
        return
    data = torch.randn(3000000, device="cuda")
    part = data[1000:]
    torch.cuda.synchronize()
    started = time.perf_counter()
    lib.prepare()
    prepare_ms = 1e3 * (time.perf_counter() - started)
    handle, offset, size = (ctypes.c_ubyte * 64)(), U64(), U64()
    lib.ipc_export(part.data_ptr(), handle, ctypes.byref(offset), ctypes.byref(size))
    num_bytes = part.numel() * 4
    print(json.dumps({"handle": bytes(handle).hex(), "offset": offset.value, "allocation_bytes": size.value,
                      "bytes": num_bytes, "checksum": lib.checksum_of(part.data_ptr(), num_bytes),
                      "prepare_ms": prepare_ms, "from_cache": lib.json(lib.driver_info)["kernels"]["from_cache"]}),
          flush=True)
    sys.stdin.readline()
    left, first = U64(), U64()
    lib.poison_count(part.data_ptr(), part.numel(), 2, 99, 0, ctypes.byref(left), ctypes.byref(first))
    print(json.dumps({"poisoned": left.value, "nan": int(torch.isnan(part).sum())}), flush=True)
    sys.stdin.readline()  # stay alive until the parent closed its mapping


TESTS = {"info": test_info, "checksum": test_checksum, "poison": test_poison, "sample": test_sample, "flush": test_flush,
         "profile": test_profile, "compare": test_compare, "integers": test_integers, "ipc": test_ipc,
         "activity": test_activity, "triton": test_triton, "peaks": test_peaks, "crash": test_crash}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--only", default="", help="comma-separated: " + ",".join(TESTS))
    parser.add_argument("--big-gib", type=float, default=4)
    parser.add_argument("--cache", default="")
    parser.add_argument("--child", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    faulthandler.dump_traceback_later(CHILD_TIMEOUT_S if options.child else WATCHDOG_S, exit=True)
    try:
        import torch
    except ImportError:
        print("skipped: no torch")
        return 77
    if not torch.cuda.is_available():
        print("skipped: no CUDA device")
        return 77

    t = Report()
    t.torch, t.library = torch, os.path.abspath(options.library)
    t.lib = Library(t.library)
    t.cache = options.cache or tempfile.mkdtemp(prefix="gpu-selftest-")
    t.big_bytes = int(options.big_gib * 2**30)
    directories = library_directories(torch)
    started = time.perf_counter()
    t.lib.init(0, directories.encode(), t.cache.encode())
    init_ms = 1e3 * (time.perf_counter() - started)
    if options.child:
        torch.cuda.init()
        child_main(options.child, t.lib, torch)
        return 0
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name(0)}; dv_cuda_init {init_ms:.0f} ms (context included)")
    started = time.perf_counter()
    t.lib.prepare()
    print(f"kernels compiled and loaded in {1e3 * (time.perf_counter() - started):.0f} ms", flush=True)
    for name in options.only.split(",") if options.only else TESTS:
        print(f"[{name}]", flush=True)
        started = time.perf_counter()
        try:
            TESTS[name](t)
        except Exception:  # one broken function must not hide the others
            t.check(False, f"{name}: {traceback.format_exc()}")
        torch.cuda.empty_cache()
        print(f"  {time.perf_counter() - started:.2f} s", flush=True)
    print(f"{t.passed} checks passed, {t.failed} failed")
    return 1 if t.failed else 0


if __name__ == "__main__":
    sys.exit(main())
