"""The shipped model, models/davinci-nano: asked by optimize, by bench and from Python, without a GPU, so that what it writes is compiled and interpreted.

    python tests/everyday/own_model_test.py --davinci build/dev/apps/davinci/davinci     (a Python with torch and Triton)
"""
import argparse
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
    import triton  # noqa: F401
except ImportError:
    print("skipped: this Python has no torch, or no Triton")
    sys.exit(77)
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import davinci  # noqa: E402

# As small as it is, a busy machine interprets it in time.
TASK = """import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return torch.relu(self.norm(x)) * 2.0


def get_inputs():
    return [torch.randn(16, 128)]


def get_init_inputs():
    return [128]
"""
GREEDY = {"policy.temperature": 0}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(128)

    def forward(self, x):
        return torch.sigmoid(self.norm(x))


class OwnModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="own-model")
        cls.addClassCleanup(folder.cleanup)
        cls.here = pathlib.Path(folder.name)
        (cls.here / "net.py").write_text(TASK)

    def davinci(self, *arguments):
        return subprocess.run([os.environ["DAVINCI_PROGRAM"], *map(str, arguments), "--llm", "embedded", *(f"--set={k}={v}" for k, v in GREEDY.items())],
                              capture_output=True, text=True, cwd=self.here)

    def test_bench_judges_its_answers(self):
        done = self.davinci("bench", "--tasks", "net.py", "--samples", 1, "--turns", 1, "--skills", "none", "--run", "bench")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.here / "bench/results/samples.csv", newline="") as file:
            answers = list(csv.DictReader(file))
        self.assertEqual([row["status"] for row in answers], ["compile_only"], answers)
        self.assertRegex(answers[0]["message"], "compiled and interpreted")
        self.assertEqual(answers[0]["only_pytorch"], "false")

    def test_optimize_says_that_its_kernel_is_right_and_was_not_timed(self):
        done = self.davinci("optimize", "net.py", "--turns", 1, "--schemes", 0, "--set=rollout.rollouts=1", "--run", "optimize")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("1 of 1 reply is compile_only, 1 of them with correct answers in the interpreter", done.stdout + done.stderr)

    def test_python_asks_it_about_a_live_module(self):
        result = davinci.optimize(Net().eval(), (torch.randn(16, 128),), llm="embedded", target="cuda", turns=1, rollouts=1, progress=False,
                                  task_folder=self.here / "tasks", run=self.here / "python", set={**GREEDY, "selection.schemes": 0})
        self.assertFalse(result.found)
        self.assertIn("1 of them with correct answers in the interpreter", result.remark)

    def test_a_language_that_it_has_not_learned_is_refused(self):
        done = self.davinci("optimize", "net.py", "--target", "cpu")
        self.assertEqual(done.returncode, 2)
        self.assertIn('writes "triton" for the target "cuda" alone', done.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    options, rest = parser.parse_known_args()
    os.environ["DAVINCI_PROGRAM"] = str(pathlib.Path(options.davinci).resolve())
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    unittest.main(argv=[__file__, *rest])
