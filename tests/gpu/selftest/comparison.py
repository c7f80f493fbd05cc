"""Profiles, tolerances and comparisons: the device and the host must report the same."""
import ctypes
import pathlib
import sys

from selftest.library import DTYPE, F64, INT, U64, CompareResult, Profile, timed_ms


def make_truth(torch, n, output):
    truth = torch.randn(n, dtype=torch.float64, device="cuda") * torch.exp2(
        torch.randint(-12, 8, (n,), device="cuda").double())
    limit = {"float16": 6e4, "bfloat16": 1e38, "float32": 1e38, "float64": 1e45}[output]
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
    noise = 1 + torch.randn_like(truth) * (1e-7 if dtype == torch.float32 else 2e-16 if dtype == torch.float64 else 1e-4)
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
    n = (1 << 27) - 1  # all of these are samples, of one more an eighth
    truth = torch.randn(n + 1, dtype=torch.float64, device="cuda")
    honest = truth.to(torch.float32)
    honest[12345::1000000] = float("nan")
    all_care, care = torch.zeros(2, n + 1, dtype=torch.uint8, device="cuda")
    whole = build_profile(t, truth[:n], honest[:n], "float32", all_care)
    sampled = build_profile(t, truth, honest, "float32", care)
    rows = [(a, b, c, d) for a, b, c, d in zip(whole.count, sampled.count, whole.max_err, sampled.max_err) if a > 100000]
    t.check(sum(whole.count) + whole.num_dont_care == n, "profile of 2^27 - 1: every element counts")
    t.check(len(rows) > 10 and all(abs(b / a - 1 / 8) < 0.005 for a, b, _, _ in rows), "profile of 2^27: an eighth of every binade")
    t.check(all(0.9 * c <= d <= c for _, _, c, d in rows), "profile of 2^27: the same largest errors")
    t.check(whole.num_dont_care == sampled.num_dont_care > 100 and torch.equal(all_care, care), "profile of 2^27: every contradiction is found")
    n = t.big_bytes // 16
    for output in ("float32", "bfloat16"):
        truth = torch.randn(n, dtype=torch.float64, device="cuda")
        honest = truth.to(getattr(torch, output))
        ms = timed_ms(torch, lambda: build_profile(t, truth, honest, output), 3)
        moved = n * (8 + honest.element_size())
        t.note(f"profile {output}: {n / ms / 1e6:.1f} G elements/s, {moved / ms / 1e6:.0f} GB/s")


def test_nudge(t):
    torch = t.torch
    for name in ("float16", "bfloat16", "float32", "float64"):
        for n in (1, 1000003):
            x = torch.randn(n, device="cuda").to(getattr(torch, name))
            x[0] = float("inf")
            x[x == 0] = 1.5  # once in some million draws
            x[n // 2] = 57.0 if n > 1 else x[0]
            eps, moved, again = torch.finfo(x.dtype).eps, torch.empty(2, n, dtype=torch.float64, device="cuda"), None
            for row, key in zip(moved, (7, 7)):
                t.lib.nudge(x.data_ptr(), DTYPE[name], n, eps, key, row.data_ptr(), 0)
            again = bool(torch.equal(moved[0], moved[1]))
            t.lib.nudge(x.data_ptr(), DTYPE[name], n, eps, 8, moved[1].data_ptr(), 0)
            wide = x.double()
            share = ((moved[0] - wide) / (wide * eps))[1:]  # of half a unit either way; float64 itself is rounded once more
            most, mean = (0.5, 0.2) if name != "float64" else (1.0, 0.05)
            what = f"nudge {name} n={n}"
            t.check(again, f"{what}: the same for the same key")
            t.check(bool(moved[0, 0] == float("inf")), f"{what}: infinity stays")
            t.check(n == 1 or (float(moved[0, n // 2]) == 57.0) == (name in ("float32", "float64")), f"{what}: whole numbers stay")
            t.check(n == 1 or not torch.equal(moved[0], moved[1]), f"{what}: another for another key")
            if n > 1:
                found = float(share.abs().max()), float(share.abs().mean()), float(share.mean())
                t.check(found[0] <= most + 1e-3 and found[1] > mean and abs(found[2]) < 0.02,
                        f"{what}: up to half a unit, evenly (most, mean size and mean {found})")
    n = t.big_bytes // 16
    x, moved = torch.randn(n, device="cuda"), torch.empty(n, dtype=torch.float64, device="cuda")
    ms = timed_ms(torch, lambda: t.lib.nudge(x.data_ptr(), DTYPE["float32"], n, 1e-7, 1, moved.data_ptr(), 0), 3)
    t.note(f"nudge float32: {n / ms / 1e6:.1f} G elements/s, {12 * n / ms / 1e6:.0f} GB/s")


def test_stress(t):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))
    from davinci_worker import distributions

    torch = t.torch
    n = 1000003

    def draw(kind, key):
        out = torch.full((n + 1,), 7.0, device="cuda")
        t.lib.stress(out.data_ptr(), n, kind, key, 0)
        t.check(out[n] == 7.0, f"stress {kind}: nothing behind the end")
        return out[:n].double()

    def spread(x):  # what a distribution is known by: quantiles of size, the share of negative ones
        return torch.cat([x.abs().log10().quantile(torch.linspace(0.05, 0.95, 7, device="cuda", dtype=x.dtype)), (x < 0).double().mean()[None]])

    for kind, name in enumerate(("heavy_tailed", "positive", "log_uniform", "log_uniform_mild")):
        ours, again, other = draw(kind, 7), draw(kind, 7), draw(kind, 8)
        torch.set_default_dtype(torch.float64)  # torch's own draws
        theirs = distributions.stress_values(name, (n,), torch.Generator().manual_seed(3), torch.device("cpu")).cuda()
        torch.set_default_dtype(torch.float32)
        apart = (spread(ours) - spread(theirs)).abs().max().item()
        t.check(torch.equal(ours, again) and not torch.equal(ours, other), f"stress {name}: follows from its key")
        t.check(bool(ours.isfinite().all()) and apart < 0.02, f"stress {name}: as the host draws it (apart by {apart:.4f})")
        for lag in (1, 2, 32):
            between = torch.corrcoef(torch.stack([ours[lag:].abs().log(), ours[:-lag].abs().log()]))[0, 1].abs().item()
            t.check(between < 0.01, f"stress {name}: neighbours have nothing in common ({between:.4f})")
    out = torch.empty(t.big_bytes // 16, device="cuda")
    ms = timed_ms(torch, lambda: t.lib.stress(out.data_ptr(), out.numel(), 2, 1, 0), 3)
    t.note(f"stress magnitudes: {out.numel() / ms / 1e6:.1f} G elements/s, {4 * out.numel() / ms / 1e6:.0f} GB/s")


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


def test_accepts(t):
    """Quick acceptance: what it accepts passes the exact comparison, and honest answers are accepted."""
    torch = t.torch

    def ask(baseline, candidate, output, tolerance):
        accepted, exact = INT(), CompareResult()
        arguments = (baseline.data_ptr(), candidate.data_ptr(), DTYPE[output], candidate.numel(), tolerance)
        t.lib.accepts(*arguments, 0, ctypes.byref(accepted))
        t.lib.compare_direct(*arguments, 0.5, 0, ctypes.byref(exact))
        limits = torch.frombuffer(bytearray(tolerance), dtype=torch.uint8).cuda()
        queued = torch.full((1,), 7, dtype=torch.int64, device="cuda")
        t.lib.queue_accepts(*arguments[:4], limits.data_ptr(), 0, queued.data_ptr())
        t.check(int(queued) == accepted.value, f"{output}: the answer left on the device")
        return bool(accepted.value), bool(exact.passed)

    for output in ("float16", "bfloat16", "float32"):
        dtype = getattr(torch, output)
        for n in (1, 257, 1000003):
            for start in (0, 1):  # aligned for wide loads, and not
                scale = torch.exp2(torch.randint(-9, 9, (n + 1,), device="cuda").double())
                truth = torch.randn(n + 1, dtype=torch.float64, device="cuda") * scale
                noise = 4 * torch.finfo(dtype).eps * torch.randn(n + 1, dtype=torch.float64, device="cuda")
                honest, right = (truth * (1 + noise)).to(dtype), (truth * (1 - noise)).to(dtype)
                tolerance = build_tolerance(t, build_profile(t, truth, honest, output), output)
                baseline, right = honest[start:start + n], right[start:start + n]
                what = f"accepts {output} n={n} start={start}"
                t.check(ask(baseline, right, output, tolerance) == (True, True), f"{what}: an honest answer")
                extreme = baseline.clone()
                extreme[0] = float("inf")
                t.check(ask(extreme, extreme.clone(), output, tolerance) == (True, True), f"{what}: equal infinities")
                for value in (0.0, float("nan"), float("-inf"), 1e3):
                    for at in (0, n // 2, n - 1):
                        wrong = right.clone()
                        wrong[at] = value
                        accepted, passed = ask(baseline, wrong, output, tolerance)
                        t.check(passed or not accepted, f"{what}: {value} at {at}")
                        t.check(not (accepted and value != value), f"{what}: NaN at {at}")
                if n > 1000:
                    swapped = right.roll(1)
                    t.check(ask(baseline, swapped, output, tolerance) == (False, False), f"{what}: shifted by one")
                    # Each element within its limit, all together far worse than an honest answer.
                    biased = (baseline.double() * (1 + 24 * torch.finfo(dtype).eps)).to(dtype)
                    accepted, passed = ask(baseline, biased, output, tolerance)
                    t.check(passed or not accepted, f"{what}: biased")
    n = t.big_bytes // 16
    right = torch.randn(n, device="cuda")
    tolerance = build_tolerance(t, build_profile(t, right.double(), right, "float32"), "float32")
    other, accepted = right.clone(), INT()
    ms = timed_ms(torch, lambda: t.lib.accepts(right.data_ptr(), other.data_ptr(), DTYPE["float32"], n, tolerance, 0,
                                               ctypes.byref(accepted)), 3)
    t.check(accepted.value == 1, "a big honest output is accepted")
    t.note(f"accepts float32: {n / ms / 1e6:.1f} G elements/s, {8 * n / ms / 1e6:.0f} GB/s")


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
