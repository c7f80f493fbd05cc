"""Kernels of the expert serve sizes that no shape of a task names, where the module's calls are the same there, in C++ and in Triton's interpreter.

    symbols_test.py DAVINCI
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

try:
    import torch
    from torch.utils._pytree import tree_leaves
except ModuleNotFoundError:
    sys.exit(77)

from loading import failure_in_child, load  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent

# name: (globals, __init__, forward, get_inputs, further shapes, sizes that are symbols, [(sizes that no shape has, are they the kernels'?)])
MODULES = {
    "batch_in_arithmetic": ("B, C = 8, 24", "", """
        n = x.size(0)
        y = (x - x.mean(dim=0, keepdim=True)) * n / (n + 3)
        return torch.sigmoid(y) + x.sum(dim=1, keepdim=True) / x.shape[0]
        """, "torch.randn(B, C)", [{"B": 5}], ["x.shape[0]"], [({"B": 2}, True), ({"B": 37}, True), ({"B": 1}, False), ({"C": 25}, False)]),
    "rows_of_a_sequence": ("B, T, C = 4, 16, 32", "self.norm, self.fc = nn.LayerNorm(32), nn.Linear(32, 16)", """
        b, t, c = x.shape
        y = F.gelu(self.fc(self.norm(x).reshape(b * t, c)))
        return y.view(b, t, -1) * 2 + t
        """, "torch.randn(B, T, C)", [{"B": 3}, {"B": 2, "T": 9}], ["x.shape[0]", "x.shape[1]"],
        [({"B": 7, "T": 13}, True), ({"B": 2, "T": 2}, True), ({"C": 33}, None)]),
    "causal_attention": ("B, T, C = 2, 16, 32", "self.qkv = nn.Linear(32, 96)", """
        b, t, c = x.shape
        q, k, v = self.qkv(x).split(c, dim=2)
        place = torch.arange(t, device=x.device)
        scores = q @ k.transpose(1, 2) * c ** -0.5
        scores = scores.masked_fill(place[None, :, None] < place[None, None, :], float("-inf"))
        return torch.softmax(scores, dim=-1) @ v
        """, "torch.randn(B, T, C)", [{"T": 24}, {"B": 3, "T": 7}], ["x.shape[0]", "x.shape[1]"],
        [({"B": 5, "T": 11}, True), ({"B": 2, "T": 23}, True)]),
    "a_table_of_places": ("B, T, C = 4, 16, 32", "self.table = nn.Parameter(torch.randn(40, 32))", """
        return torch.tanh(x + self.table[:x.shape[1]]) * x
        """, "torch.randn(B, T, C)", [{"T": 20}, {"T": 31}], ["x.shape[1]"],
        [({"T": 37}, True), ({"T": 40}, True), ({"T": 6}, True), ({"B": 3}, False)]),
    "padded": ("B, T, C = 4, 16, 32", "", """
        before = F.pad(x, (0, 0, 1, 0))[:, :-1]
        tail = x.new_zeros(x.size(0), 2, x.size(2))
        return torch.cat([x - before, tail], dim=1).relu() + x.shape[1]
        """, "torch.randn(B, T, C)", [{"B": 3, "T": 20}], ["x.shape[0]", "x.shape[1]"], [({"B": 5, "T": 20}, True), ({"B": 3, "T": 19}, True)]),
    "half_of_it": ("B, C = 8, 24", "", """
        half = x.size(0) // 2
        return torch.sigmoid(x[:half]) * x[:half]
        """, "torch.randn(B, C)", [{"B": 12}], [], [({"B": 10}, False)]),
    "a_branch": ("B, C = 8, 24", "", """
        y = torch.sigmoid(x) * x
        return y * 2 if x.shape[0] > 20 else y - 1
        """, "torch.randn(B, C)", [{"B": 12}], ["x.shape[0]"], [({"B": 20}, True), ({"B": 21}, False)]),
    "a_branch_on_parity": ("B, C = 8, 24", "", """
        y = torch.sigmoid(x) * x
        return y * 2 if x.shape[0] % 2 else y - 1
        """, "torch.randn(B, C)", [{"B": 12}], ["x.shape[0]"], [({"B": 10}, True), ({"B": 11}, False)]),
    "a_loop": ("B, T, C = 4, 5, 16", "", """
        total = x[:, 0]
        for i in range(1, x.shape[1]):
            total = torch.tanh(total) + x[:, i]
        return total / x.shape[0]
        """, "torch.randn(B, T, C)", [{"B": 6}, {"B": 6, "T": 4}], ["x.shape[0]"],
        [({"B": 9}, True), ({"B": 9, "T": 6}, False), ({"B": 6, "T": 4}, True)]),
    "a_number_of_a_size": ("B, C = 8, 24", "", """
        return torch.sigmoid(x) * (1.0 / x.size(0)) + x
        """, "torch.randn(B, C)", [{"B": 12}], [], [({"B": 10}, False)]),
    "a_global": ("B, C = 8, 24", "", """
        return torch.sigmoid(x.reshape(B, 2, -1)).sum(dim=1) + B
        """, "torch.randn(B, C)", [{"B": 12}], [], []),
    "the_width_of_another_size": ("B, C = 24, 24", "", """
        return torch.sigmoid(x).sum(dim=1) + torch.arange(x.shape[0], device=x.device) * x.mean()
        """, "torch.randn(B, C)", [{"B": 6}], ["x.shape[0]"], [({"B": 25}, True)]),
    "several_inputs": ("B, T, C = 6, 10, 16", "self.fc = nn.Linear(16, 16)", """
        y = torch.relu(self.fc(x)) + bias
        return torch.where(mask[:, :, None], y, torch.zeros_like(y)), y.amax(dim=1)
        """, "torch.randn(B, T, C), torch.randn(C), torch.rand(B, T) < 0.5", [{"B": 3, "T": 12}], ["x.shape[0]", "x.shape[1]"],
        [({"B": 9, "T": 11}, True)]),
    "images": ("B, C = 2, 4", "self.conv, self.norm = nn.Conv2d(4, 8, 3, padding=1), nn.BatchNorm2d(8).eval()", """
        return F.relu(self.norm(self.conv(x))).mean(dim=(2, 3)) * x.shape[0]
        """, "torch.randn(B, C, 12, 12)", [{"B": 24}], ["x.shape[0]"], [({"B": 5}, True), ({"B": 33}, True)]),
    "a_table_by_index": ("B, T = 4, 16", "self.words, self.places = nn.Embedding(50, 16), nn.Embedding(40, 16)", """
        words = (x.abs() * 20).long().clamp(0, 49)
        return torch.tanh(self.words(words) + self.places(torch.arange(x.shape[1], device=x.device)))
        """, "torch.randn(B, T)", [{"T": 20}, {"T": 31}], ["x.shape[1]"], [({"T": 23}, True), ({"T": 37}, False), ({"T": 41}, False)]),
    "along_the_batch": ("B, C = 8, 24", "", """
        y = torch.cumsum(x, dim=0) + torch.flip(x, [0])
        return torch.softmax(y, dim=0) * y.std(dim=0)
        """, "torch.randn(B, C)", [{"B": 5}], ["x.shape[0]"], [({"B": 7}, True), ({"B": 3}, True)]),
}
TASK = '''import torch
import torch.nn as nn
import torch.nn.functional as F

{names}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, {inputs}):
{forward}

def get_inputs():
    return [{drawn}]


def get_init_inputs():
    return []
'''


def task_of(names, init, forward, drawn):
    inputs = "x, bias, mask" if "mask[" in forward else "x"
    lines = textwrap.indent(textwrap.dedent(forward.strip("\n")), "        ")
    return TASK.format(names=names, init=init or "pass", inputs=inputs, drawn=drawn, forward=lines)


def serves(candidate, path, shapes):
    """Raises where a candidate gives another result than the module, or has other kernels than it should.

    ``shapes``: [(globals, with kernels of its own?)].
    """
    sys.path.append(str(HERE.parents[1] / "python"))
    torch.set_num_threads(2)
    made, task = load(candidate, "candidate"), load(path, "task")
    own, plain, called = {name: value for name, value in vars(task).items() if name.isupper()}, made.Model.forward, []
    made.Model.forward = lambda *arguments: (called.append(True), plain(*arguments))[1]
    torch.manual_seed(3)
    module, new = task.Model(), made.ModelNew()
    new.load_state_dict(module.state_dict())
    for sizes, own_kernels in [*shapes, *shapes]:  # one object, and back again
        vars(task).update(own | sizes)
        inputs = task.get_inputs()
        called.clear()
        with torch.no_grad():
            try:
                want = tree_leaves(module(*inputs))
            except (RuntimeError, IndexError):
                want = None
            try:
                found = tree_leaves(new(*inputs))
            except (RuntimeError, IndexError):
                found = None
        assert own_kernels is None or bool(called) is not own_kernels, f"{sizes}: {'the own forward is called' if called else 'kernels answer'}"
        assert (want is None) == (found is None), sizes
        for one, other in zip(want or (), found or ()):
            torch.testing.assert_close(other, one, rtol=1e-3, atol=1e-4, msg=lambda text: f"{sizes}: {text}")


class SymbolsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="symbols")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.environment = {**os.environ, "DAVINCI_CACHE_DIR": str(cls.folder / "cache")}
        (cls.folder / "tasks").mkdir()
        for name, (names, init, forward, drawn, shapes, *_) in MODULES.items():
            (cls.folder / f"tasks/{name}.py").write_text(task_of(names, init, forward, drawn))
            (cls.folder / f"tasks/{name}.toml").write_text("".join(
                "[[variants]]\n" + "".join(f"{size} = {value}\n" for size, value in sizes.items()) for sizes in shapes))

    def check(self, language, target, **environment):
        done = subprocess.run([DAVINCI, "coverage", str(self.folder / "tasks"), "-t", target, "-l", language, "--json", "--out",
                               str(self.folder / language)], env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        found = {task["task"]: task for task in json.loads(done.stdout)["tasks"]}
        for name, (*_, shapes, symbols, further) in MODULES.items():
            with self.subTest(module=name):
                told = found[name].get("shapes", found[name])
                self.assertEqual(sorted(size["size"] for size in told["symbols"]), symbols, told)
                self.assertEqual(told["without"], [])
                self.assertEqual(bool(told.get("no_symbols")), not symbols)
                candidate = self.folder / language / found[name]["candidates"][0]["file"]
                if name == "rows_of_a_sequence" and language == "cpp":
                    self.assertEqual(candidate.read_text().count("class ModelNew"), 1)
                every = [[{}, True], *([sizes, True] for sizes in shapes), *further]
                task = str(self.folder / f"tasks/{name}.py")
                self.assertEqual(failure_in_child(serves, candidate, task, every, **self.environment, **environment), "")

    def test_kernels_in_cpp(self):
        self.check("cpp", "cpu")

    def test_kernels_in_triton(self):
        if importlib.util.find_spec("triton") is None:
            self.skipTest("this Python has no triton")
        self.check("triton", "cuda", TRITON_INTERPRET="1")


if __name__ == "__main__":
    DAVINCI = os.path.abspath(sys.argv.pop(1))
    unittest.main()
