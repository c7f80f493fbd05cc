"""Kernels of the expert serve the further shapes of the corpus' modules (varied.toml), in C++ and in Triton's interpreter: right, and without a
call of the module's own forward.

    varied_test.py DAVINCI
"""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib
import unittest

try:
    import torch
    from torch.utils._pytree import tree_leaves
except ModuleNotFoundError:
    sys.exit(77)

from loading import failure_in_child, load  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
VARIED = tomllib.loads((HERE / "varied.toml").read_text())


def own_forward(*_, **__):
    raise AssertionError("the candidate fell back to the module's own forward")


def serves(candidate, path, shapes):
    """Raises where a candidate's kernels give another result than the module at one of ``shapes``, which are globals."""
    sys.path.append(str(HERE.parents[1] / "python"))
    torch.set_num_threads(1)
    made, task = load(candidate, "candidate"), load(path, "task")
    made.Model.forward = own_forward
    own = {name: value for name, value in vars(task).items() if name.isupper()}
    for sizes in shapes:
        vars(task).update(own | sizes)
        torch.manual_seed(3)
        module = task.Model(*task.get_init_inputs())
        new = made.ModelNew(*task.get_init_inputs())
        new.load_state_dict(module.state_dict())
        inputs = task.get_inputs()
        with torch.no_grad():
            want, found = tree_leaves(module(*inputs)), tree_leaves(new(*inputs))
        assert len(want) == len(found), sizes
        for one, other in zip(want, found):
            torch.testing.assert_close(other, one, rtol=1e-3, atol=1e-4, msg=lambda text: f"{sizes}: {text}")


class VariedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="varied")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.environment = {**os.environ, "DAVINCI_CACHE_DIR": str(cls.folder / "cache")}
        cls.modules = cls.folder / "modules"
        cls.modules.mkdir()
        for name, varied in VARIED.items():
            shutil.copy(HERE / "modules" / f"{name}.py", cls.modules)
            (cls.modules / f"{name}.toml").write_text("".join(
                "[[variants]]\n" + "".join(f"{size} = {value}\n" for size, value in sizes.items()) for sizes in varied["shapes"]))

    def candidates(self, language):
        """{module: the file of its candidate}, each with kernels for every shape."""
        done = subprocess.run([DAVINCI, "coverage", str(self.modules), "-t", "cpu", "-l", language, "--json", "--out", str(self.folder / language)],
                              env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        found = {task["task"]: task for task in json.loads(done.stdout)["tasks"]}
        self.assertEqual({name: {key: task["shapes"][key] for key in ("named", "own_kernels", "without")} for name, task in found.items()},
                         {name: {"named": len(v["shapes"]), "own_kernels": len(v["shapes"]), "without": []} for name, v in VARIED.items()})
        return {name: self.folder / language / task["candidates"][0]["file"] for name, task in found.items()}

    def serve(self, candidate, name, shapes, **environment):
        failure = failure_in_child(serves, candidate, HERE / "modules" / f"{name}.py", shapes, **self.environment, **environment)
        self.assertEqual(failure, "")

    def test_kernels_in_cpp_answer_at_every_shape(self):
        for name, candidate in self.candidates("cpp").items():
            with self.subTest(module=name):
                self.serve(candidate, name, [{}, *VARIED[name]["shapes"]])

    def test_kernels_in_triton_answer_at_every_further_shape(self):
        if importlib.util.find_spec("triton") is None:
            self.skipTest("this Python has no triton")
        candidates = self.candidates("triton")
        for name in [name for name, varied in VARIED.items() if varied.get("triton")]:
            with self.subTest(module=name):
                self.serve(candidates[name], name, VARIED[name]["shapes"], TRITON_INTERPRET="1")

    def test_a_shape_at_which_the_constructor_makes_another_module_is_named(self):
        """A candidate cannot know it."""
        (self.folder / "refused").mkdir()
        (self.folder / "refused/net.py").write_text(
            "import torch\n\nROWS, WIDTH = 8, 16\n\n\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.scale = torch.nn.Parameter(torch.ones(WIDTH))\n\n    def forward(self, x):\n        return torch.sigmoid(x * self.scale) + ROWS\n"
            "\n\ndef get_inputs():\n    return [torch.randn(ROWS, WIDTH)]\n")
        for sizes, why in (("ROWS = 9\nWIDTH = 17\n", "further shape ROWS=9, WIDTH=17: the constructor reads WIDTH, "), ("ROWS = 9\n", None)):
            (self.folder / "refused/net.toml").write_text("[[variants]]\n" + sizes)
            done = subprocess.run([DAVINCI, "coverage", str(self.folder / "refused/net.py"), "-t", "cpu", "--json"], env=self.environment,
                                  capture_output=True, text=True, check=False)
            found = json.loads(done.stdout)["tasks"][0]
            self.assertEqual(found["status"], "refused" if why else "whole", found)
            self.assertIn(why or "", found.get("why", ""))


if __name__ == "__main__":
    DAVINCI = os.path.abspath(sys.argv.pop(1))
    unittest.main()
