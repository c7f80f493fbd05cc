#!/usr/bin/env python3
"""Every dv_cuda_* function of libdavinci_worker.so against PyTorch and against the host's comparator, on a real device.

    gpu_selftest.py --library build/dev/lib/libdavinci_worker.so [--only checksum,ipc] [--big-gib 4]

Prints one line per check and throughputs; exit status 0 all passed, 1 some failed, 77 no device or no torch (skipped).
Never hangs: a watchdog ends the process with a traceback, children have timeouts of their own.
"""
import argparse
import faulthandler
import os
import sys
import tempfile
import time
import traceback

from selftest import comparison, memory, processes, records
from selftest.library import CHILD_TIMEOUT_S, Library, Report, library_directories

WATCHDOG_S = 280

TESTS = {"info": memory.test_info, "checksum": memory.test_checksum, "poison": memory.test_poison, "sample": memory.test_sample, "flush": memory.test_flush, "hold": memory.test_hold,
         "profile": comparison.test_profile, "nudge": comparison.test_nudge, "stress": comparison.test_stress,
         "compare": comparison.test_compare, "accepts": comparison.test_accepts, "integers": comparison.test_integers, "ipc": processes.test_ipc,
         "activity": records.test_activity, "triton": records.test_triton, "peaks": records.test_peaks, "crash": processes.test_crash}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--only", default="", help="comma-separated: " + ",".join(TESTS))
    parser.add_argument("--big-gib", type=float, default=4)
    parser.add_argument("--cache", default="")
    parser.add_argument("--seed", type=int, default=1)
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
        processes.child_main(options.child, t.lib, torch)
        return 0
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name(0)}; dv_cuda_init {init_ms:.0f} ms (context included)")
    started = time.perf_counter()
    t.lib.prepare()
    print(f"kernels compiled and loaded in {1e3 * (time.perf_counter() - started):.0f} ms", flush=True)
    torch.manual_seed(options.seed)
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
