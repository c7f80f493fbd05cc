"""Compiles the golden load_inline sources through davinci-build and compares results with torch.

    python tests/build/test_golden.py --builder build/dev/src/davinci/build/davinci-build [--only NAME] [--slow] [--stage slim]
        [--make-support DIR | --support DIR]

Prints a table: case, stage, seconds. Exit code 1 when a case fails, needs a later stage than it should, or is wrong.
"""

import argparse
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

try:
    import torch
    import support
    from golden_cases import CASES  # noqa: E402
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

STAGES = ["compat", "slim", "full"]


def request_of(case):
    request = {"kind": "extension", "name": "golden_" + case["name"], "cpp_sources": [case["cpp"]],
               "cuda_sources": [case["cuda"]] if case["cuda"] else [], "extra_cflags": case["cflags"],
               "extra_cuda_cflags": case["cuda_cflags"], "with_cuda": bool(case["cuda"])}
    if case["functions"] is not None:
        request["functions"] = case["functions"]
    return request


def load(outcome):
    loader = importlib.machinery.ExtensionFileLoader(outcome["module"], outcome["path"])
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(outcome["module"], outcome["path"], loader=loader))
    loader.exec_module(module)
    return module


def judge(case, outcome, first_stage):
    """None when all is well, else what is wrong."""
    allowed = max(STAGES.index(case["stage"]), STAGES.index(first_stage))
    if case.get("error"):
        if outcome["ok"]:
            return "compiled although it is wrong"
        error = outcome["error"]
        if error["kind"] != "compile_error" or case["text"] not in error["message"]:
            return f"unexpected error: {error}"
        if case["line"] and error["line"] != case["line"]:
            return f"line {error['line']} instead of {case['line']}: {error['message']}"
        if len(error["message"].encode()) > 4096 or "/tmp/davinci" in error["message"].split("\n")[0]:
            return f"message too long or with scratch paths: {error['message']}"
        return None
    if not outcome["ok"]:
        return outcome["error"]["message"]
    if outcome["stage"] in STAGES and STAGES.index(outcome["stage"]) > allowed:
        return f"needed stage {outcome['stage']}"
    if case["stage"] == "slim" and first_stage == outcome["stage"] == "compat":
        return "compat serves it: another case has to test the way from there to slim, and the headers of slim"
    if case["check"]:
        try:
            case["check"](load(outcome))
        except Exception:
            return traceback.format_exc()
    return None


def identity(arguments):
    """Of everything a result depends on."""
    digest = hashlib.sha256()
    folder = os.path.dirname(os.path.abspath(__file__))
    for path in (arguments.builder, __file__, os.path.join(folder, "golden_cases.py")):
        with open(path, "rb") as file:
            digest.update(file.read())
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True).stdout
    digest.update(repr((torch.__version__, sys.version, compiler, shutil.which("nvcc"), arguments.only, arguments.slow,
                        arguments.stage)).encode())
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--builder", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--slow", action="store_true", help="also cases that need torch's own headers")
    parser.add_argument("--stage", default="compat", choices=STAGES)
    parser.add_argument("--cache", default="")
    support.add_arguments(parser)
    parser.add_argument("--keep", help="file that remembers a pass: an unchanged builder does not repeat it")
    arguments = parser.parse_args()
    mark = identity(arguments)
    if arguments.keep and os.path.exists(arguments.keep) and open(arguments.keep).read() == mark:
        print("passed before, and neither builder, torch, compiler nor cases have changed since")
        return 0
    cases = [c for c in CASES if arguments.only in c["name"] and (arguments.slow or not c.get("slow"))]
    has_nvcc = bool(shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"))
    if not has_nvcc:
        cases = [c for c in cases if not c["cuda"]]
    if arguments.stage != "compat":
        # A CPU build of torch lacks headers that the real CUDA ones include.
        cases = [c for c in cases if not c["cuda"]]
    if arguments.stage == "slim":
        # Several seconds each: the bindings and the dispatch macros. What needs this step comes to it in a run from the first one, too.
        cases = [c for c in cases if c["name"] in ("own_module_block", "half_bfloat16")]
    failures = 0
    with tempfile.TemporaryDirectory(prefix="davinci-golden") as folder:
        cache = arguments.cache or folder
        support.take(arguments, cache)
        command = [arguments.builder, "--python", sys.executable, "--cache", cache, "--stage", arguments.stage]
        builder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        print(f"{'case':34} {'stage':8} {'seconds':>8}  steps")
        for case in cases:
            builder.stdin.write(json.dumps(request_of(case)) + "\n")
            builder.stdin.flush()
            outcome = json.loads(builder.stdout.readline())
            problem = judge(case, outcome, arguments.stage)
            steps = ", ".join(f"{s['name']} {s['seconds']:.2f}" for s in outcome.get("steps", []))
            print(f"{case['name']:34} {outcome.get('stage', ''):8} {outcome.get('seconds', 0):8.2f}  {steps}", flush=True)
            if problem:
                failures += 1
                print("  FAILED:", problem.replace("\n", "\n    "), flush=True)
        builder.stdin.close()
        builder.wait()
        support.give(arguments, cache)
    print(f"{len(cases) - failures} of {len(cases)} cases passed" + ("" if has_nvcc else "; CUDA cases skipped: no nvcc"))
    if arguments.keep and not failures:
        with open(arguments.keep, "w") as kept:
            kept.write(mark)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
