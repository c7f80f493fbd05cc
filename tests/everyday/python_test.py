"""The Python package on live modules: reproduced from their source, optimised with recorded replies, judged for real.

    python tests/everyday/python_test.py --davinci build/dev/apps/davinci/davinci     (a Python with torch)
"""
import argparse
import importlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest

try:
    import torch
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import davinci  # noqa: E402
from davinci import _live  # noqa: E402

SCALE = 0.5
TABLE = torch.linspace(0, 1, 1024)


def halve(x):
    return x * SCALE


class Gate(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim))
        self.register_buffer("shift", torch.randn(dim))

    def forward(self, x: "torch.Tensor") -> "torch.Tensor":
        return halve(torch.relu(x * self.weight + self.shift)) + TABLE


class Gated(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gate = Gate(dim)
        self.act = torch.relu
        self.bias = 1.0

    def forward(self, x):
        return self.act(x + self.bias) * self.gate(x)


def gated(x, *, power):
    return halve(x) ** power


KERNEL = r'''
import torch
from torch import nn
import davinci_runtime as dv

SOURCE = r"""
#include <algorithm>
#include <cstdint>

extern "C" void gated(const float* x, const float* w, const float* s, const float* t, float* out, int64_t rows, int64_t cols) {
  #pragma omp parallel for
  for (int64_t r = 0; r < rows; ++r)
    #pragma omp simd
    for (int64_t c = 0; c < cols; ++c) {
      const float v = x[r * cols + c];
      out[r * cols + c] = std::max(v + 1.0f, 0.0f) * (0.5f * std::max(v * w[c] + s[c], 0.0f) + t[c]);
    }
}
"""
kernel = dv.cpp_module(SOURCE).get("gated", "ptr ptr ptr ptr ptr i64 i64")


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1024))
        self.register_buffer("shift", torch.zeros(1024))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.register_buffer("table", torch.linspace(0, 1, 1024), persistent=False)

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, self.gate.weight, self.gate.shift, self.table, out, x.shape[0], x.shape[1])
        return out
'''


class Python(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.here = pathlib.Path(folder.name)
        cls.replies = cls.here / "replies.jsonl"
        cls.replies.write_text(json.dumps({"davinci_recording": 1, "label": "Gated@1#s0r0t1", "reply": {
            "text": f"One loop.\n\n```python\n{KERNEL}```\n", "finish_reason": "stop", "model": "written by hand",
            "usage": {"prompt_tokens": 0, "cached_prompt_tokens": 0, "completion_tokens": 0, "estimated": True}, "cost_usd": 0.0}}) + "\n")
        torch.manual_seed(1)
        cls.options = {"llm": f"recorded:{cls.replies}", "target": "cpu", "turns": 1, "rollouts": 1, "task_folder": cls.here / "tasks",
                       "set": {"selection.schemes": 0, "judge.verdict_cache": False, "certify.also_against": []}}

    def rebuilt(self, model, inputs):
        """The module that the reference's processes make of a live one."""
        _live.live()
        task = _live.write(model, inputs, self.here / "tasks")
        spec = importlib.util.spec_from_file_location("rebuilt_task", task.path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["rebuilt_task"] = module
        spec.loader.exec_module(module)
        return module, task

    def test_optimises_a_live_module_and_shares_its_parameters(self):
        model, x = Gated(1024).eval(), torch.randn(512, 1024)
        lines = []
        result = davinci.optimize(model, x, run=self.here / "run", progress=lines.append, **self.options)
        if not result.found:  # on a busy machine a speedup may not be significant; once more
            result = davinci.optimize(model, x, run=self.here / "once_more", progress=lines.append, **self.options)
        self.assertTrue(result.found, result.remark)
        self.assertGreater(result.speedup.low, 1, result)
        self.assertIn("class ModelNew", result.source)
        self.assertTrue(any("ok" in line for line in lines), lines)
        self.assertIn("<iframe", result.report._repr_html_())
        self.assertIn("<table>", result._repr_html_())
        self.assertTrue(pathlib.Path(result.report).is_file())
        made = result.module
        self.assertIs(made.gate.weight, model.gate.weight)
        self.assertIs(made.gate.shift, model.gate.shift)
        self.assertFalse(made.training)
        with torch.no_grad():
            torch.testing.assert_close(made(x), model(x), rtol=1e-4, atol=1e-5)
            model.gate.weight.mul_(2)
            torch.testing.assert_close(made(x), model(x), rtol=1e-4, atol=1e-5)

    def test_judges_a_candidate_and_says_what_the_program_says(self):
        model, x = Gated(1024), torch.randn(64, 1024)
        right = davinci.judge(model, KERNEL, x, protocol="screening")
        self.assertEqual((right.status, right.correct), ("ok", True), right)
        wrong = davinci.judge(model, KERNEL.replace("v + 1.0f", "v + 1.1f"), x, protocol="screening")
        self.assertEqual((wrong.status, wrong.correct), ("mismatch", False), wrong)
        for call, part in ((lambda: davinci.judge(self.here / "nothing.py", KERNEL), "nothing.py"),
                           (lambda: davinci.judge(model, KERNEL, x, protocol="davinchi"), "davinchi"),
                           (lambda: davinci.optimize(model, x, progress=False, target="cpu", task_folder=self.here), "no language model; say which"),
                           (lambda: davinci.benchmark(self.here / "no_tasks", llm="recorded:x"), "no_tasks")):
            with self.assertRaises(davinci.BadInput) as caught:
                call()
            self.assertIn(part, str(caught.exception))

    def test_a_module_is_reproduced_with_all_its_state(self):
        dim = 6

        class Local(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(dim, dim).half()
                self.tied = nn.Linear(dim, dim)
                self.tied.weight = nn.Parameter(torch.randn(dim, dim), requires_grad=False)
                self.again = self.tied
                self.other = nn.Linear(dim, dim)
                self.other.weight = self.tied.weight
                self.norm = nn.BatchNorm1d(dim)
                self.kinds = nn.ModuleList([nn.GELU(), nn.Dropout(0.5)])
                self.sizes, self.config = (1, [2.5, None]), {"act": torch.relu, "dtype": torch.float16}
                self.register_buffer("mask", torch.ones(dim, dtype=torch.bool), persistent=False)
                self.plain = torch.arange(dim)

            def forward(self, x):
                return self.norm(self.other(self.kinds[0](x))) + self.plain + dim

        model = Local()
        model.kinds[1].eval()
        model.norm.running_mean.fill_(3)
        module, _ = self.rebuilt(model, (torch.randn(4, 6),))
        made = module.Model()
        self.assertEqual([n for n, _ in made.named_parameters()], [n for n, _ in model.named_parameters()])
        for (name, a), (_, b) in zip([*made.named_parameters(), *made.named_buffers()], [*model.named_parameters(), *model.named_buffers()]):
            self.assertTrue(torch.equal(a, b) and a.dtype == b.dtype and a.requires_grad == b.requires_grad, name)
        self.assertIs(made.other.weight, made.tied.weight)
        self.assertIs(made.again, made.tied)
        self.assertEqual([m.training for m in made.modules()], [m.training for m in model.modules()])
        self.assertEqual((made.sizes, made.config), (model.sizes, model.config))
        self.assertNotIn("mask", made.state_dict())
        x = torch.randn(4, 6)
        torch.testing.assert_close(made(x), model(x))

    def test_inputs_are_drawn_like_the_example_or_are_the_example(self):
        ids, mask = torch.randint(0, 50, (8, 16)), torch.tril(torch.ones(16, 16)).bool()
        module, task = self.rebuilt(gated, {"x": torch.randn(16, 8).t(), "power": 2})
        one, two = module.get_inputs(), module.get_inputs()
        self.assertEqual((one["x"].stride(), one["power"]), ((1, 8), 2))
        self.assertFalse(torch.equal(one["x"], two["x"]))
        self.assertIn('function = "gated"', task.path.with_suffix(".toml").read_text())
        module, _ = self.rebuilt(gated, (ids, mask, torch.rand(32, 8, dtype=torch.float64), [None, 1.5]))
        drawn = module.get_inputs()
        self.assertEqual((drawn[0].dtype, drawn[0].shape, drawn[3]), (ids.dtype, ids.shape, [None, 1.5]))
        self.assertTrue(0 <= drawn[0].min() and drawn[0].max() < 50 and not torch.equal(drawn[0], ids))
        self.assertTrue(torch.equal(drawn[1], mask))
        self.assertTrue(drawn[2].dtype is torch.float64 and 0 <= drawn[2].min() and drawn[2].max() <= 1)

    def test_what_cannot_be_reproduced_is_said(self):
        hooked = nn.Linear(2, 2)
        hooked.register_forward_hook(lambda *unused: None)
        replaced = nn.Linear(2, 2)
        replaced.forward = lambda x: x
        hidden = nn.Linear(2, 2)
        hidden.file = open(os.devnull)  # noqa: SIM115
        self.addCleanup(hidden.file.close)
        scope = {"nn": nn, "__name__": "nowhere"}
        exec("class NoSource(nn.Module):\n    def forward(self, x):\n        return x\n", scope)
        for value, part in ((lambda x: x, "a lambda has no source"), (torch.relu, "neither a torch.nn.Module nor a Python function"),
                            (torch.jit.script(nn.ReLU()), "scripted"), (hooked, "has hooks"), (replaced, "replaced on the instance"),
                            (hidden, "the module.file is a"), (scope["NoSource"](), "no source of class nowhere.NoSource"),
                            (nn.ReLU, "is a class; pass an instance")):
            with self.assertRaises(davinci.BadInput) as caught:
                _live.write(value, torch.randn(2, 2), self.here / "tasks")
            self.assertIn(part, str(caught.exception))

    def test_an_interrupt_ends_the_program(self):
        silent = socket.create_server(("127.0.0.1", 0))  # an endpoint that never answers
        silent.settimeout(60)
        self.addCleanup(silent.close)
        script = self.here / "script.py"
        script.write_text(textwrap.dedent(f"""
            import sys
            sys.path.insert(0, {str(ROOT / "python")!r})
            import torch, davinci
            from torch import nn
            class Softmax(nn.Module):
                def forward(self, x):
                    return torch.softmax(x, -1)
            try:
                davinci.optimize(Softmax(), torch.randn(64, 64), llm="http://127.0.0.1:{silent.getsockname()[1]}/v1", model="silent", target="cpu")
            except KeyboardInterrupt:
                print("interrupted")
            """))
        process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.here)
        asked, _ = silent.accept()
        self.addCleanup(asked.close)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual(out, "interrupted\n", err)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    known, rest = parser.parse_known_args()
    os.environ["DAVINCI_PROGRAM"] = str(pathlib.Path(known.davinci).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
