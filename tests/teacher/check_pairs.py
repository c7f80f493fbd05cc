"""Rows of davinci synth pairs: what the answer computes is what the prompt asks for.

    check_pairs.py PAIRS_FOLDER [--modules] [--most ROWS] [--least SHARE]
    check_pairs.py DEMOS.jsonl [--most ROWS] [--least SHARE]

Of rows with composite operators the definition on the card is given to PyTorch under the invented name and the task runs with it; with --modules
of rows of modules that people wrote. The reply runs in Triton's interpreter. Tasks above some hundred thousand elements (--modules: 400,000)
are skipped. Of davinci synth demos --reply delta the files that the replies stand for run; batch norms are skipped there, whose mode these
rows do not say, and a task that makes millions of elements of few runs at the sizes of the cpu target. Exit status 1 below the share of right
rows.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import sys
import tempfile
import tomllib

os.environ["TRITON_INTERPRET"] = "1"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import torch  # noqa: E402
from candidates import load, tensors  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
import quick_interpreter  # noqa: E402

quick_interpreter.install()

SIGNATURE = r"(?:F|nn|torch)\..*?\)(?:\([^()]*\))?(?=, (?:F|nn|torch)\.|$)"
CALL = re.compile(r"((\w+)\.(\w+))\(")
MOST_ELEMENTS = {True: 4e5, False: 3e5}
MOST_BETWEEN = 4e6  # elements of one result on the way: the interpreter needs minutes for ten times as many
NAMES = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
PRELUDE = NAMES + "from davinci_runtime import prelude\nfor _name in dir(prelude):\n    globals().setdefault(_name, getattr(prelude, _name))\n"
SPACES = {"F": torch.nn.functional, "nn": torch.nn, "torch": torch}
OF_PYTORCH = {space: set(dir(module)) for space, module in SPACES.items()}


def parts_of(place, index, sizes):
    """The parts of an index: those of 5 in an axis "c*2 + i" are c = 2 and i = 1. The first part has any size, a further one ends where the
    one before begins."""
    names = re.findall(r"\b[a-z]\b", place)
    steps = [eval(place, sizes | {other: int(other == name) for other in names}) for name in names]  # noqa: S307 - our own text
    parts = {name: index // step for name, step in zip(names, steps, strict=True)}
    for name, step, above in zip(names[1:], steps[1:], steps, strict=False):
        parts[name] = parts[name] % (above // step)
    return parts


def placed(x, shape, place, indices):
    """The elements of x (N, C, H, W) at places that formulas of the position in the result give; 0 outside of x. `place` names the parts of
    the position: "n, c*2 + i, p"."""
    sizes = dict(zip("NCHW", x.shape, strict=True))
    axes = [torch.arange(size) for size in eval(f"({shape},)", sizes)]  # noqa: S307 - our own text
    at = {}
    for axis, index in zip(place.split(", "), torch.meshgrid(*axes, indexing="ij"), strict=True):
        at |= parts_of(axis, index, sizes)
    places = [torch.as_tensor(place) for place in eval(f"({indices},)", dict(zip("NCHW", x.shape, strict=True)), at)]  # noqa: S307
    inside = torch.stack([(place >= 0) & (place < size) for place, size in zip(places, x.shape, strict=True)]).all(0)
    return torch.where(inside, x[tuple(place.clamp(0, size - 1) for place, size in zip(places, x.shape, strict=True))], 0.0)


def define(signature, body):
    """The operator of a signature as an attribute of PyTorch's module; returns it as it is called."""
    call, space, name = CALL.match(signature).groups()
    made = {"placed": placed}
    if space == "nn":
        arguments, inputs = re.match(r"[\w.]+\((.*?)\)\((.*)\)$", signature).groups()
        exec(f"{NAMES}def make({arguments}):\n    return lambda {inputs}: {body}\n", made)  # noqa: S102 - our own text

        class Module(torch.nn.Module):
            def __init__(self, *args, **kwargs):
                super().__init__()
                self.compute = made["make"](*args, **kwargs)

            def forward(self, *inputs):
                return self.compute(*inputs)

        setattr(torch.nn, name, Module)
    else:
        exec(f"{NAMES}def {name}{signature[len(call):]}:\n    return {body}\n", made)  # noqa: S102 - our own text
        setattr(SPACES[space], name, made[name])
    return call + "("


def copied(value):
    """Inputs of a call that may change them."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    return type(value)(map(copied, value)) if isinstance(value, list | tuple) else value


def known_operators(prompt, task):
    """Gives PyTorch what the prompt's cards define; says whether the task calls one of them."""
    called = False
    for card in re.findall(r"\n---\nname: .*?(?=\n---\nname:|\n# Task)", prompt, re.DOTALL):
        signatures = re.search(r"description: (.*): [^:\n]+\n", card)
        body = re.search(r"## Key Idea\n\n`(.*?)`", card)
        if not signatures or not body:
            continue
        body = body.group(1)
        if body.startswith("o["):  # "o[n, c] = relu(x[c, n])"
            shape = re.search(r"-> \((.*)\)\n", card).group(1)
            place, body = re.match(r"o\[(.*?)\] = (.*)", body).groups()
            body = re.sub(r"\bx\[(.*?)\]", lambda found: f'placed(x, "{shape}", "{place}", "{found.group(1)}")', body)  # noqa: B023
        for signature in re.findall(SIGNATURE, signatures.group(1)):
            if (call := CALL.match(signature)) is None:  # one of PyTorch's in a space of its own: torch.special.logit
                continue
            _, space, name = call.groups()
            called = called or (name not in OF_PYTORCH[space] and define(signature, body) in task)
    return called


def check(system, prompt, reply, folder, modules):
    """Nothing, or why the row is wrong."""
    task = re.search(r"# Task\n.*?```python\n(.*?)\n?```", prompt, re.DOTALL).group(1)
    if not modules and not known_operators(prompt, task):
        return "no card of a name that the task calls"
    function = re.search(r"PyTorch function `(\w+)`", system)
    base = re.search(r"class (\w+)\(([\w.]+)\)", reply).group(2)
    own = "" if function else f"from reference_task import {base}\n"
    return disagreement(task, function and function.group(1), reply, PRELUDE + own + reply, folder, modules)


class Largest(TorchDispatchMode):
    """The elements of the largest result of a call."""

    elements = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        self.elements = max([self.elements, *(tensor.numel() for tensor in tensors(result))])
        return result


def disagreement(task, function, reply, text, folder, modules, smaller=None, sizes=None):
    """Nothing, or how the class of `reply`, which `text` holds, differs from what the task's file defines. `sizes`: other values for those of
    the file; `smaller`: such as are used where results on the way are large."""
    module = load(task, folder / "reference_task.py", sizes or {})
    sys.modules["reference_task"] = module
    if "dot_" in reply and "bfloat16" in task:  # the interpreter multiplies the bits of bfloat16 tiles as integers
        return "skipped"
    defined, base = re.search(r"class (\w+)\(([\w.]+)\)", reply).groups()
    torch.manual_seed(0)
    if function:
        model, states = getattr(module, function), False
    else:
        model, states = getattr(module, base)(*module.get_init_inputs()).eval(), True
    inputs = module.get_inputs()
    if sum(tensor.numel() for tensor in tensors(inputs)) > MOST_ELEMENTS[modules]:
        return "skipped"
    with torch.no_grad():
        with Largest() as largest:
            want = tensors(model(*copied(inputs)))
        if sum(tensor.numel() for tensor in want) > MOST_ELEMENTS[modules]:
            return "skipped"
        if smaller and largest.elements > MOST_BETWEEN:
            return disagreement(task, function, reply, text, folder, modules, sizes=smaller)
        answer = load(text, folder / "reply.py", sizes or {})
        new = getattr(answer, defined)(*(module.get_init_inputs() if states else ())).eval()
        if states:
            new.load_state_dict(model.state_dict())
        have = tensors(new(*copied(inputs)))
    half = want[0].dtype != torch.float32
    for w, h in zip(want, have, strict=True):
        if w.shape != h.shape or w.dtype != h.dtype:
            return f"{tuple(h.shape)} {h.dtype} for {tuple(w.shape)} {w.dtype}"
        scale = max(w.double().abs().mean().item(), 1e-3)
        relative, absolute = (4e-2, 4e-2 * scale) if half else (2e-3, 2e-4 * scale)
        if not torch.allclose(h.double(), w.double(), rtol=relative, atol=absolute, equal_nan=True):
            return f"values differ by {(h - w).abs().max().item():.3g} where they are about {scale:.3g}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--modules", action="store_true")
    parser.add_argument("--most", type=int, default=100)
    parser.add_argument("--least", type=float, default=1.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    demos = options.folder.is_file()
    kinds = "tasks-*" if options.modules else "pairs-*"
    files = [options.folder] if demos else sorted(options.folder.glob(f"{kinds}.jsonl"))
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for row in (json.loads(line) for file in files for line in file.open()):
            if not options.modules and not demos and row["family"] != "composite":
                continue
            if demos and (not any(c["own_kernels"] for c in row["candidates"][:1]) or re.search("BatchNorm|batch_norm", row["source"])):
                continue
            if counts["right"] + counts["wrong"] == options.most:
                break
            try:
                if demos:
                    answer = row["candidates"][0]
                    function = row["entry"] if re.search(rf"^def {row['entry']}\(", row["source"], re.MULTILINE) else None
                    why = disagreement(row["source"], function, answer["reply"], answer["source"], pathlib.Path(folder), True,
                                       smaller=tomllib.loads(row["sidecar"]).get("sizes", {}).get("cpu"))
                else:
                    system, prompt, reply = (message["content"] for message in row["messages"])
                    why = check(system, prompt, reply.removeprefix("```python\n").removesuffix("```"), pathlib.Path(folder), options.modules)
            except Exception as error:  # noqa: BLE001 - any failure is a result
                why = f"{type(error).__name__}: {str(error)[:200]}"
            counts["right" if why is None else why if why == "skipped" else "wrong"] += 1
            if why not in (None, "skipped"):
                print(f"{row['id']}: {why}")
    print(dict(counts))
    judged = counts["right"] + counts["wrong"]
    return 0 if judged > 0 and counts["right"] >= options.least * judged else 1


if __name__ == "__main__":
    sys.exit(main())
