"""Functions that modules call with other options than the usual ones: a kernel for each call, with PyTorch's values.

    functions_test.py DAVINCI

The kernels are Triton's, in its interpreter.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ["TRITON_INTERPRET"] = "1"
try:
    import torch
    import triton  # noqa: F401
    from torch.utils._pytree import tree_leaves
except ModuleNotFoundError:
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
DAVINCI = sys.argv.pop(1)


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class FunctionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        done = subprocess.run([DAVINCI, "coverage", HERE / "functions", "-t", "cuda", "-l", "triton", "--json", "--out", cls.folder.name],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(done.stderr[-2000:])
        cls.found = {task["task"]: task for task in json.loads(done.stdout)["tasks"]}

    def test_every_call_has_a_kernel(self):
        for name, task in self.found.items():
            self.assertEqual(task["status"], "whole", task)
            # Of a product the library may be as fast.
            left = [call for call in task["candidates"][0].get("left", []) if call["call"] not in ("linear", "matmul")]
            self.assertEqual(left, [], name)

    def test_kernels_give_the_module_s_values(self):
        for name in self.found:
            with self.subTest(name), torch.no_grad():
                module = load(HERE / "functions" / f"{name}.py", f"module_{name}")
                kernels = load(next((pathlib.Path(self.folder.name) / "candidates").glob(f"{name}.*.py")), f"kernels_{name}")
                torch.manual_seed(1)
                model = module.Model(*module.get_init_inputs())
                candidate = kernels.ModelNew(*module.get_init_inputs())
                candidate.load_state_dict(model.state_dict())
                inputs = module.get_inputs()
                expected, given = tree_leaves(model(*inputs)), tree_leaves(candidate(*inputs))
                self.assertEqual(len(expected), len(given))
                for i, (theirs, ours) in enumerate(zip(expected, given)):
                    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5, equal_nan=True, msg=lambda text, i=i: f"output {i}: {text}")


if __name__ == "__main__":
    unittest.main()
