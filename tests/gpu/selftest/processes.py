"""Memory shared between processes, and a process whose device context broke."""
import ctypes
import json
import os
import signal
import subprocess
import sys
import time

from selftest.library import CHILD_TIMEOUT_S, U64


def start_child(t, mode):
    return subprocess.Popen([sys.executable, os.path.abspath(sys.argv[0]), "--library", t.library, "--cache", t.cache,
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
