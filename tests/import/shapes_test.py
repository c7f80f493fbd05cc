"""Kernels of the expert serve every shape that a task names: ``optimize --shapes`` on the cpu target, and its export called at each shape.

    shapes_test.py DAVINCI
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

try:
    import torch
except ModuleNotFoundError:
    sys.exit(77)

from loading import load  # noqa: E402

DAVINCI = os.path.abspath(sys.argv.pop(1))
NET = '''import torch
import torch.nn as nn

ROWS = 2048
WIDTH = 512


class Model(nn.Module):
    """Many passes over memory, which a kernel makes one."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x, shift):
        y = torch.sigmoid(x * self.scale + shift) * x
        y = torch.clamp(y * 1.5 - 0.25, -4.0, 4.0) + torch.abs(x) * 0.125
        y = torch.where(y > 0, y, y * 0.01) + shift
        return self.norm(y) * y + x


def get_inputs():
    return [torch.randn(ROWS, WIDTH), torch.randn(ROWS, 1)]


def get_init_inputs():
    return [WIDTH]
'''
SHAPES = ({}, {"ROWS": 33}, {"ROWS": 5, "WIDTH": 48})
FURTHER = [",".join(f"{name}={value}" for name, value in sizes.items()) for sizes in SHAPES[1:]]


class ShapesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="shapes")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "net.py").write_text(NET)

    def davinci(self, *arguments):
        environment = {**os.environ, "DAVINCI_CACHE_DIR": str(self.folder / "cache"), "DAVINCI_LIBRARY": str(self.folder / "none.db")}
        return subprocess.run([DAVINCI, *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=False)

    def export(self):
        """The file that optimize writes. Where a busy machine decides nothing, judge writes the same one for the same kernel."""
        shapes = [part for shape in FURTHER for part in ("--shapes", shape)]
        screening = [part for name in ("judge.turn_protocol", "judge.final_protocol") for part in ("--set", f"{name}=screening")]
        done = self.davinci("optimize", "net.py", "-t", "cpu", "--llm", "expert", "--rollouts", "1", *shapes, *screening, "--set",
                            "certify.also_against=[]", "--run", "run", "--json")
        self.assertIn(done.returncode, (0, 4), done.stdout[-2000:] + done.stderr[-2000:])
        winner = json.loads(done.stdout)["tasks"][0]["winner"]
        if winner is not None:
            return self.folder / winner["file"]
        turn = self.davinci("runs", "show", "run", "--turn", "s0r0t1").stdout
        (self.folder / "kernel.py").write_text(turn.split("```python\n")[1].split("\n```")[0] + "\n")
        done = self.davinci("judge", "-r", "net.py", "-c", "kernel.py", "-t", "cpu", "-p", "screening", *shapes, "--export", "export.py")
        self.assertTrue((self.folder / "export.py").exists(), done.stdout + done.stderr)
        return self.folder / "export.py"

    def test_an_export_runs_its_own_kernel_at_each_shape(self):
        exported = load(self.export(), "exported")

        def own_forward(*_):
            raise AssertionError("the candidate fell back to the module's own forward")

        exported.Model.forward = own_forward
        task = load(self.folder / "net.py", "net")
        own = {name: getattr(task, name) for name in ("ROWS", "WIDTH")}
        for sizes in SHAPES:
            with self.subTest(sizes=sizes), torch.no_grad():
                vars(task).update(own | sizes)
                model, inputs = exported.ModelNew(*task.get_init_inputs()), task.get_inputs()
                model.on_unverified = "raise"
                torch.nn.init.normal_(model.scale)
                torch.testing.assert_close(model(*inputs), exported._guard.reference_of(model)(*inputs), rtol=1e-4, atol=1e-4)
        vars(task).update(own | {"ROWS": 34})
        model = exported.ModelNew(*task.get_init_inputs())
        model.on_unverified = "raise"
        with torch.no_grad(), self.assertRaises(exported.NotVerified):
            model(*task.get_inputs())

    def test_a_transposed_input_is_reduced_as_it_lies(self):
        (self.folder / "turned.py").write_text(NET.replace("self.norm(y) * y + x", "(y * shift).sum(dim=0)").replace(
            "torch.randn(ROWS, WIDTH),", "torch.randn(WIDTH, ROWS).t(),"))
        self.davinci("coverage", "turned.py", "-t", "cpu", "--out", "out")
        self.assertIn("x_in_memory = x.permute(1, 0).contiguous()", (self.folder / "out/candidates/turned.cpp.best.py").read_text())
        sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
        module = load(self.folder / "out/candidates/turned.cpp.best.py", "turned")
        task = load(self.folder / "turned.py", "net")
        with torch.no_grad():
            model, own = module.ModelNew(512), task.Model(512)
            x, shift = task.get_inputs()
            for given in (x, x.contiguous()):  # whatever its strides
                torch.testing.assert_close(model(given, shift), own(given, shift), rtol=1e-4, atol=1e-3)

    def test_a_kept_trace_needs_no_python(self):
        first = self.davinci("coverage", "net.py", "-t", "cpu", "--json")
        self.assertEqual(first.returncode, 0, first.stderr)
        # The interpreter keeps its name and place but no longer runs.
        python = self.folder / "python"
        python.symlink_to("/bin/false")
        with unittest.mock.patch.dict(os.environ, DAVINCI_PYTHON=str(python)):
            self.assertEqual(json.loads(self.davinci("coverage", "net.py", "-t", "cpu", "--json").stdout)["tasks"][0]["status"], "broken")
        python.unlink()
        python.write_text(f"#!/bin/sh\nexec {os.environ['DAVINCI_PYTHON']} \"$@\"\n")
        python.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, DAVINCI_PYTHON=str(python)):
            own = json.loads(self.davinci("coverage", "net.py", "-t", "cpu", "--json").stdout)["tasks"][0]
            python.write_text("#!/bin/false\n")
            again = json.loads(self.davinci("coverage", "net.py", "-t", "cpu", "--json").stdout)["tasks"][0]
        self.assertEqual(own["status"], "whole")
        for task in (own, again):
            task.update(trace_seconds=0, write_seconds=0)
        self.assertEqual(again, own)

    def test_coverage_says_which_shapes_have_kernels(self):
        (self.folder / "net.toml").write_text("".join(
            "[[variants]]\n" + "".join(f"{name} = {value}\n" for name, value in sizes.items()) for sizes in SHAPES[1:]))
        found = json.loads(self.davinci("coverage", "net.py", "-t", "cpu", "--json").stdout)["tasks"][0]
        self.assertEqual({key: found["shapes"][key] for key in ("named", "own_kernels", "without")}, {"named": 2, "own_kernels": 2, "without": []})
        self.assertEqual([size["size"] for size in found["shapes"]["symbols"]], ["x.shape[0]"])


if __name__ == "__main__":
    unittest.main()
