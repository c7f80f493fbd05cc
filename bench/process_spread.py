#!/usr/bin/env python3
"""By how much processes of one program differ in speed, whatever runs beside them on the machine.

    python bench/process_spread.py [--processes 12] [--rounds 50] [--layout same|random] [--pages huge|small]

Forks processes from one parent, as the judge does, lets each in turn run a chain of pointwise operators on two 4 MB tensors on one
thread, in random order within a round, and compares CPU times of a round: load and clocks hit all of them alike. `same`: all have
the same virtual addresses; `random`: each allocated other small blocks first. Prints the standard deviation of the processes'
effects (log scale) and the noise of one effect.
"""
import argparse
import ctypes
import math
import mmap
import os
import random
import statistics
import sys
import time

PR_SET_THP_DISABLE = 41
TENSOR_BYTES = 4 << 20
WARM_ROUNDS = 5


def start():
    """glibc reads its tunables at the start of a program."""
    if "GLIBC_TUNABLES" not in os.environ:
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "OMP_NUM_THREADS": "1"})


def serve(number, options, receive, send):
    import torch

    if options.pages == "small":
        ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
    torch.manual_seed(number)
    sizes = torch.randint(1000, 200_000, (40,)).tolist() if options.layout == "random" else []
    kept = [bytearray(size) for size in sizes]
    arena = os.memfd_create("inputs")
    os.ftruncate(arena, 2 * TENSOR_BYTES)
    memory = mmap.mmap(arena, 2 * TENSOR_BYTES)
    x, y = (torch.frombuffer(memory, dtype=torch.float32, offset=k * TENSOR_BYTES, count=TENSOR_BYTES // 4) for k in (0, 1))
    x.normal_()
    y.normal_()
    out = None
    while os.read(receive, 1) == b"g":
        out = None
        x.mul_(1.0)
        y.mul_(1.0)
        begun = time.thread_time()
        out = torch.sigmoid(x * y + x) * torch.tanh(y) - x
        os.write(send, f"{time.thread_time() - begun:.9f}".encode())
    del out, kept
    os._exit(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--layout", choices=["same", "random"], default="same")
    parser.add_argument("--pages", choices=["huge", "small"], default="huge")
    options = parser.parse_args()
    start()
    import torch

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python"))
    from davinci_worker import memory

    memory.keep_freed()
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    children = []
    for number in range(options.processes):
        receive, ask = os.pipe()
        answer, send = os.pipe()
        if os.fork() == 0:
            for other in (fd for child in children for fd in child):
                os.close(other)
            os.close(ask)
            serve(number, options, receive, send)
        os.close(receive)
        os.close(send)
        children.append((ask, answer))
    seconds = [[] for _ in children]
    for _ in range(options.rounds):
        for k in random.sample(range(len(children)), len(children)):
            os.write(children[k][0], b"g")
            seconds[k].append(float(os.read(children[k][1], 100)))
    middle = [statistics.median(times) for times in zip(*seconds)]
    logs = [[math.log(t / m) for t, m in list(zip(times, middle))[WARM_ROUNDS:]] for times in seconds]
    effects = [statistics.median(one) for one in logs]
    noise = statistics.mean(1.2533 * 1.4826 * statistics.median(abs(v - e) for v in one) / math.sqrt(len(one)) for one, e in zip(logs, effects))
    print(f"layout {options.layout}, {options.pages} pages: {len(effects)} processes, {1e3 * statistics.median(middle):.2f} ms; "
          f"effects: sd {statistics.stdev(effects):.4f}, {min(effects):+.3f} to {max(effects):+.3f}; noise of one {noise:.4f}")


if __name__ == "__main__":
    main()
