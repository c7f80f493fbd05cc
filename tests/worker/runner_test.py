"""A runner that serves one reference after the other."""

import os
import pathlib
import sys
import unittest

os.environ["DAVINCI_WORKER_LIB"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import torch
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)

from davinci_worker import packing, runner  # noqa: E402

TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def forward(self, x):
        return x * 2
'''


class RunnerTest(unittest.TestCase):
    def setUp(self):
        self.runner = runner.Runner(None, {})

    def ask(self, op, **message):
        return getattr(self.runner, "_op_" + op)(message, ())["ok"]

    def load(self, source):
        self.ask("load", path="/nowhere/task.py", source=source, entry="Model", module="davinci_task", accelerate=False)
        self.ask("construct", variant=0, init=packing.to_blob([]), seed=1)
        return self.runner._model(torch.ones(3)).tolist()

    def test_serves_another_reference_when_the_first_is_forgotten(self):
        self.assertEqual(self.load(TASK), [2, 2, 2])
        self.assertTrue(self.ask("forget")["clean"])
        self.assertIsNone(self.runner._model)
        self.assertEqual(self.load(TASK.replace("2", "3")), [3, 3, 3])

    def test_a_reference_that_leaves_something_behind_is_the_last(self):
        self.load(TASK + "torch.backends.cudnn.deterministic = True\n")
        self.addCleanup(setattr, torch.backends.cudnn, "deterministic", False)
        self.assertFalse(self.ask("forget")["clean"])


if __name__ == "__main__":
    unittest.main()
