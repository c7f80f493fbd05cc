"""How much of a folder of tasks the grammar's operators can express.

    coverage.py SYNTH_FOLDER TASKS_FOLDER [--least SHARE]

A task counts as expressible when every PyTorch call of its classes and functions (nn.X, F.x, torch.x, .method()) is a
spelling of some operator of the grammar. What is only construction, shape query or bookkeeping is ignored.
"""
import argparse
import ast
import collections
import pathlib
import re
import sys
import tomllib

IGNORED = {"nn.Module", "nn.Parameter", "torch.Tensor", "torch.bool", "torch.float16", "torch.bfloat16", "torch.float32", "torch.float64", "torch.int8",
           "torch.int64", "torch.no_grad", "torch.nn", ".register_buffer", ".__init__", ".size", ".dim", ".numel", ".float", ".to", ".contiguous", ".device",
           ".items", ".append", ".super", "torch.randn", "torch.rand", "torch.ones", "torch.zeros", "torch.tensor", "torch.full", "torch.empty", "torch.arange",
           "torch.randint", "nn.ModuleList", "nn.Sequential", ".half", ".bfloat16", ".type_as", "torch.eye", ".new_zeros"}
# Different names of one operator.
SAME = {".t": "torch.transpose", ".T": "torch.transpose", ".transpose": "torch.transpose", ".permute": "torch.permute", ".view": ".reshape", ".split": ".chunk"}


def names_of(text):
    found = set(re.findall(r"\b(?:nn|F)\.[A-Za-z_0-9]+", text))
    found |= {name for name in re.findall(r"\btorch\.[a-z_0-9.]+", text)}
    found |= {"." + name for name in re.findall(r"\.([a-z_0-9]+)\(", text)}
    return {SAME.get(name, name) for name in found}


def base(name):
    return name.split(".")[-1].rstrip("_")


def grammar_names(folder):
    names, families = set(), {}
    for file in sorted((folder / "operators").glob("*.toml")):
        data = tomllib.loads(file.read_text())
        for op in data["op"]:
            texts = []
            for key in ("module", "functional", "torch", "method", "operator", "hand", "einsum", "call", "buffers"):
                value = op.get(key, [])
                value = [value] if isinstance(value, str) else value
                texts += value
                for text in value:  # the outermost call names the operator
                    if head := re.match(r"(?:nn|F|torch)\.([A-Za-z_0-9]+)\(", text):
                        families.setdefault(head[1], op.get("family", data.get("family", file.stem)))
            for name in names_of(" ".join(texts)):
                names.add(name)
    return names, families


def task_calls(path):
    """Calls outside get_inputs and get_init_inputs."""
    text = path.read_text()
    tree = ast.parse(text)
    parts = [ast.get_source_segment(text, node) for node in tree.body
             if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and node.name not in ("get_inputs", "get_init_inputs")]
    own = {"." + node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    code = re.sub(r'""".*?"""', "", "\n".join(parts), flags=re.S)
    members = {"." + name for name in re.findall(r"self\.(\w+)", code)}
    return {name for name in names_of(code) if name not in IGNORED and name not in own and name not in members and not name.startswith(".math")}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("synth", type=pathlib.Path)
    parser.add_argument("tasks", type=pathlib.Path)
    parser.add_argument("--least", type=float, default=0.0)
    options = parser.parse_args()
    names, families = grammar_names(options.synth)
    bases = {base(name) for name in names}
    # A module's function and method forms are one operator: nn.ReLU, F.relu, torch.relu, .relu().
    bases |= {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in bases}
    ignored = {base(name) for name in IGNORED}
    used, missing, count = collections.Counter(), {}, 0
    for path in sorted(options.tasks.rglob("*.py")):
        count += 1
        calls = {name for name in task_calls(path) if base(name) not in ignored}
        lacking = sorted(name for name in calls if base(name) not in bases and base(name).lower() not in bases)
        for name in calls:
            used[families.get(base(name), "other")] += 1
        if lacking:
            missing[path] = lacking
            print(f"{path}: {', '.join(lacking)}")
    share = 1 - len(missing) / max(count, 1)
    print(f"{count - len(missing)} of {count} tasks expressible ({100 * share:.1f} %); calls by family: {dict(used.most_common())}")
    return 0 if count and share >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
