"""``davinci judge --target cuda --devices none``: what every kind of candidate comes to.

    python tests/compile_only/judge_test.py --davinci build/dev/apps/davinci/davinci

It judges without a device, also where there is one. Rows that need nvcc or NVRTC say so where the toolchain is missing.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CHECKED = "compile_only"
# candidate: status, correct, text that the message has to hold
EXPECTED = {
    "triton_right": (CHECKED, True, "compiled and interpreted, never timed"),
    "triton_wrong": ("mismatch", False, "outside the tolerance"),
    "triton_compile_error": ("compile_error", None, "colz"),
    "triton_autotuned": (CHECKED, True, "compiled and interpreted, never timed"),
    "triton_ordered": (CHECKED, None, "correctness not decided: programs depend on each other"),
    "triton_grid": ("launch_error", None, "a device takes at most 65535 in y"),
    "product_tf32": ("mismatch", False, "tl.dot of fp32 blocks is TF32"),
    "product_ieee": (CHECKED, True, "compiled and interpreted, never timed"),
    "product_bf16": (CHECKED, True, "compiled and interpreted, never timed"),
    "inline_right": (CHECKED, None, "compiled, never run or timed"),
    "inline_compile_error": ("compile_error", None, "rows"),
    "inline_wrong_arity": ("runtime_error", None, "takes 2, 1 were given"),
    "nvrtc_right": (CHECKED, None, "compiled, never run or timed"),
    "nvrtc_wrong_signature": ("load_error", None, "parameters of [8, 8, 8, 4] bytes"),
    "inline_guard": (CHECKED, None, "compiled, never run or timed"),
    "inline_library": (CHECKED, None, ""),
    "cpp_extension": (CHECKED, None, "needs device: centre() is C++ that runs on the host"),
    "cpp_runtime": (CHECKED, None, "needs device: centre() is C++ that runs on the host"),
    "torch_right": (CHECKED, None, "correctness not decided: no kernel of its own"),
    "torch_wrong": ("mismatch", False, "outside the tolerance"),
    "torch_runtime_error": ("runtime_error", None, "gian"),
    "needs_clock": (CHECKED, None, "needs device: the candidate takes times of its own"),
    "graph_right": (CHECKED, True, "compiled and interpreted, never timed"),
    "graph_never_replayed": ("mismatch", False, "outside the tolerance"),
    "graph_of_state": (CHECKED, True, "compiled and interpreted, never timed"),
    "graph_of_norm": (CHECKED, True, "compiled and interpreted, never timed"),
    "graph_waits": (CHECKED, True, "compiled and interpreted, never timed"),
    "large_right": (CHECKED, True, "at smaller sizes than the task's own: batch_size = "),
    "large_fixed": (CHECKED, None, "it fails at sizes that are not the task's own: mismatch"),
    "large_undefined": ("compile_error", None, "zero is not defined"),
    "large_literal": (CHECKED, None, "imported); correctness not decided: the reference does not run here"),
    "large_variant": (CHECKED, None, "at smaller sizes than the task's own: batch_size = "),
    "sized_for_device": (CHECKED, None, "it fails at sizes that are not the task's own: "),
    "sized_wrong": ("mismatch", False, "outside the tolerance"),
    "medium_slow": (CHECKED, True, "at smaller sizes than the task's own: batch_size = "),
}
# Task and candidate of others than task.py and a candidate of that name.
OTHERS = {"large_right": ("large", "relu_right"), "large_fixed": ("large", "large_fixed"), "large_undefined": ("large", "large_undefined"),
          "large_literal": ("large_literal", "relu_right"), "large_variant": ("large_variant", "relu_library"),
          "sized_for_device": ("sized", "sized_for_device"), "sized_wrong": ("sized", "sized_wrong"),
          "medium_slow": ("medium", "relu_right"), "product_tf32": ("product", "product_tf32"), "product_ieee": ("product", "product_ieee"),
          "product_bf16": ("product_bf16", "product_bf16")}

# Candidates that are another one with other lines.
REPLAY = "        self.graph.replay()\n"
DERIVED = {
    "sized_wrong": {"WIDTH = 64": "WIDTH = 32", "cols) * tl": "cols) + tl"},
    "graph_never_replayed": {REPLAY: ""},  # nothing else computes
    "graph_of_state": {  # a count of replays: one in each call
        "        self.compiled = None\n": '        self.compiled = None\n        self.register_buffer("ticks", torch.zeros(1), persistent=False)\n',
        "return out + 0.0": "return out * self.ticks.add_(1)",
        "            graph = ": "            self.ticks.zero_()\n            graph = ",
        REPLAY: REPLAY + "        self.ticks.zero_()\n"},
    "graph_of_norm": {  # statistics of a batch norm: one update in each call
        "        self.compiled = None\n": "        self.compiled = None\n"
        '        self.register_buffer("moved", torch.zeros(cols), persistent=False)\n'
        '        self.register_buffer("spread", torch.ones(cols), persistent=False)\n',
        "return out + 0.0": "nn.functional.batch_norm(x, self.moved, self.spread, training=True, momentum=0.5)\n"
        "        return out + ((0.5 * x.mean(0) - self.moved).abs() > 0.01 * x.abs().mean(0)).float()",
        "            graph = ": "            self.moved.zero_()\n            graph = ",
        REPLAY: REPLAY + "        self.moved.zero_()\n"},
    "graph_waits": {"return out + 0.0": 'return out if float(x.sum()) < float("inf") else -out'},  # no graph holds that: it runs without one
}


def candidate(name, folder):
    """Where it lies; one of DERIVED is written into ``folder``."""
    if name not in DERIVED:
        return HERE / "candidates" / f"{name}.py"
    base = "sized_for_device" if name.startswith("sized") else "graph_right"
    text = (HERE / f"candidates/{base}.py").read_text()
    for old, new in DERIVED[name].items():
        assert text.count(old) == 1, (name, old)
        text = text.replace(old, new)
    path = pathlib.Path(folder, f"{name}.py")
    path.write_text(text)
    return path


def toolchain_missing(document):
    blocked = document.get("evidence", {}).get("compile_only", {}).get("blocked") or {}
    return blocked.get("detail") if blocked.get("reason") == "toolchain" else None


def problem(name, document):
    status, correct, text = EXPECTED[name]
    if name == "inline_library" and (missing := toolchain_missing(document)) and "this machine lacks cusparse.h" not in missing:
        return "the message does not name the header"
    if document["status"] != status:
        return f"expected {status}"
    if document["correct"] is not correct:
        return f"correct is {document['correct']}, expected {correct}"
    if text not in document["message"]:
        return f"the message does not say \"{text}\""
    if document["speedup"] is not None or document["times"]["candidate"] or document["times"]["baseline"]:
        return "it carries a time"
    if "compile_only" not in document["labels"]:
        return "it is not labelled"
    shrunk = document["evidence"]["compile_only"].get("shrunk")
    if "smaller sizes" in text and (shrunk["own"]["batch_size"] != 4096 or shrunk["set"]["batch_size"] >= 4096):
        return f"the evidence does not name the sizes: {shrunk}"
    kernels = document["evidence"]["compile_only"]["report"].get("kernels", [])
    if name.startswith("triton") and correct is not None and not all(k["cubin_bytes"] and k["ptx_bytes"] for k in kernels):
        return "a kernel without PTX or cubin"
    if name == "triton_autotuned" and {k["constants"]["PAD"] for k in kernels} != {16}:
        return "not the configuration that fits"
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--protocol", default="davinci")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="davinci-compile-only") as folder:
        jobs, out = pathlib.Path(folder) / "jobs.jsonl", pathlib.Path(folder) / "out.jsonl"
        jobs.write_text("".join(
            json.dumps({"id": name, "reference": str(HERE / f"{task}.py"), "candidate": str(candidate(code, folder))}) + "\n"
            for name in EXPECTED for task, code in [OTHERS.get(name, ("task", name))]))
        done = subprocess.run([options.davinci, "judge", "--batch", str(jobs), "--out", str(out), "-t", "cuda", "-p", options.protocol,
                               "--devices", "none", "-j", "2",
                               "--call-timeout", "300"],  # a busy machine interprets slowly
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        documents = {d["id"]: d for d in map(json.loads, out.read_text().splitlines())} if out.exists() else {}
    assert all("no_device" in d["provenance"] for d in documents.values()), "a device judged"
    faults = 0
    for name in EXPECTED:
        document = documents.get(name)
        why = problem(name, document) if document else "no verdict: " + done.stderr[-500:]
        missing = document and toolchain_missing(document)
        if missing and name != "inline_library":
            print(f"skip    {name}: {missing}")
            continue
        faults += bool(why)
        print(f"{'NOT OK' if why else 'ok':7} {name}: {document['status'] if document else ''} {why}"
              f"{' | ' + document['message'][:300] if why and document else ''}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
