"""Compiles every Triton kernel of the teacher's candidates for a GPU that this machine needs not have, at the cuda sizes.

    compile_candidates.py DEMOS.jsonl [--only TEXT] [--seconds S] [--arch 90] [--verbose] [--native [--share I/N]]

forward runs on meta tensors; a launch compiles its kernel as the driver would specialise it. A kernel fails that does not
compile, needs more shared memory than a block has, or spills more than a few registers. Exit status 1 where one does.
--native compiles for this machine's GPU, into the cache that launches read; --share takes every N-th candidate.
"""
import argparse
import contextlib
import glob
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import warnings

warnings.simplefilter("ignore")
import torch  # noqa: E402
import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from candidates import load  # noqa: E402

MOST_SHARED = 232448  # bytes of a block on sm_90
MOST_SPILLED = 64  # bytes of a thread: outside of loops, they cost nothing
TYPES = {torch.float32: "*fp32", torch.float16: "*fp16", torch.bfloat16: "*bf16", torch.int64: "*i64", torch.int32: "*i32", torch.bool: "*i1"}


class Compiler:
    def __init__(self, arch, native, folder):
        self.arch, self.native, self.folder, self.done, self.reports = arch, native, folder, set(), []
        # The assembler that knows the newest PTX comes last.
        self.ptxas = sorted(glob.glob(str(pathlib.Path(triton.__file__).parent / "backends/nvidia/bin/ptxas*")))[-1]

    def launch(self, kernel, values):
        if self.native:
            kernel.warmup(*(x.dtype if isinstance(x, torch.Tensor) else x for x in values[0]), grid=(1,), **values[1])
            return
        names, options, signature, constants, attributes = kernel.arg_names, {}, {}, {}, {}
        bound = dict(zip(names, values[0]))
        for name, value in values[1].items():
            (bound if name in names else options)[name] = value
        for i, (name, parameter) in enumerate(zip(names, kernel.params)):
            value = bound[name]
            if parameter.is_constexpr:
                signature[name], constants[name] = "constexpr", value
            elif isinstance(value, torch.Tensor):
                signature[name], attributes[(i,)] = TYPES[value.dtype], [["tt.divisibility", 16]]
            elif isinstance(value, bool):
                signature[name] = "i1"
            elif isinstance(value, int):
                if value == 1:
                    signature[name], constants[name] = "constexpr", 1
                    continue
                signature[name] = "i32" if abs(value) < 2**31 else "i64"
                if value % 16 == 0:
                    attributes[(i,)] = [["tt.divisibility", 16]]
            else:
                signature[name] = "fp32"
        key = (kernel.src, str(signature), str(constants), str(sorted(options.items())), str(attributes))
        if key in self.done:
            return
        self.done.add(key)
        source = ASTSource(kernel, signature=signature, constexprs=constants, attrs=attributes)
        compiled = triton.compile(source, target=GPUTarget("cuda", self.arch, 32), options=options)
        path = self.folder / "kernel.ptx"
        path.write_text(compiled.asm["ptx"])
        arch = f"sm_{self.arch}{'a' if self.arch == 90 else ''}"
        log = subprocess.run([self.ptxas, "-v", f"-arch={arch}", path, "-o", self.folder / "kernel.cubin"], capture_output=True, text=True).stderr
        registers = int(re.findall(r"Used (\d+) registers", log)[0])
        spilled = sum(map(int, re.findall(r"(\d+) bytes spill stores", log)))
        self.reports.append({"kernel": kernel.__name__, "registers": registers, "spilled": spilled, "shared": compiled.metadata.shared, "constants": constants})


def check(row, candidate, compiler, verbose):
    """Why the candidate is wrong, or nothing."""
    meta = tomllib.loads(row["sidecar"])
    compiler.reports = []
    triton.JITFunction.__getitem__ = lambda kernel, grid: lambda *a, **k: compiler.launch(kernel, (a, k))
    try:
        made = load(candidate["source"], compiler.folder / "made.py", meta.get("sizes", {}).get("cuda", {}))
        task = load(row["source"], compiler.folder / "task.py", meta.get("sizes", {}).get("cuda", {}))
        with torch.device("meta"), torch.no_grad():
            new = getattr(made, meta.get("entry", "Model") + "New")(*task.get_init_inputs())
            new.train(meta.get("mode") != "eval")
            inputs = [x.to("meta") if isinstance(x, torch.Tensor) else x for x in task.get_inputs()]
            # compute() is what a graph holds.
            getattr(new, "compute", new.forward)(*inputs)
    except Exception as error:  # noqa: BLE001 - any failure is a result
        return f"{type(error).__name__}: {str(error)[:300]}"
    for report in compiler.reports:
        if verbose:
            print(f"  {candidate['id']} {report}")
        if report["shared"] > MOST_SHARED:
            return f"{report['kernel']} needs {report['shared']} bytes of shared memory"
        if report["spilled"] > MOST_SPILLED:
            return f"{report['kernel']} spills {report['spilled']} bytes"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("demos")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--native", action="store_true")
    parser.add_argument("--share", default="0/1")
    options = parser.parse_args()
    begin, seen, count, wrong = time.monotonic(), 0, 0, 0
    share, shares = map(int, options.share.split("/"))
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(KeyboardInterrupt):
        compiler = Compiler(options.arch, options.native, pathlib.Path(folder))
        for line in open(options.demos):
            row = json.loads(line)
            for candidate in row["candidates"]:
                if candidate["language"] != "triton" or not candidate["own_kernels"] or options.only not in candidate["id"]:
                    continue
                if time.monotonic() - begin > options.seconds:
                    continue
                seen += 1
                if seen % shares != share:
                    continue
                count += 1
                why = check(row, candidate, compiler, options.verbose)
                if why:
                    wrong += 1
                    print(f"{candidate['id']}: {why}", flush=True)
    print(f"{count - wrong} of {count} candidates compile{'' if options.native else f' for sm_{options.arch}'}")
    sys.exit(1 if wrong or not count else 0)


if __name__ == "__main__":
    main()
