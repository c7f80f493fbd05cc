"""Functions that modules call with other options than the usual ones: a kernel for each call, with PyTorch's values.

    functions_test.py DAVINCI

The kernels are Triton's, in its interpreter.
"""

import os
import pathlib
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

from loading import Written  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))
import quick_interpreter  # noqa: E402

quick_interpreter.install()
DAVINCI = sys.argv.pop(1)


class FunctionsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.written = Written(DAVINCI, HERE / "functions", "cuda", "triton", cls.folder.name)

    def test_every_call_has_a_kernel(self):
        for name, task in self.written.tasks.items():
            self.assertEqual(task["status"], "whole", task)
            # Of a product the library may be as fast.
            left = [call for call in task["candidates"][0].get("left", []) if call["call"] not in ("linear", "matmul")]
            self.assertEqual(left, [], name)

    def test_kernels_give_the_module_s_values(self):
        for name in self.written.tasks:
            with self.subTest(name), torch.no_grad():
                model, candidate, inputs = self.written.pair(name)
                expected, given = tree_leaves(model(*inputs)), tree_leaves(candidate(*inputs))
                self.assertEqual(len(expected), len(given))
                for i, (theirs, ours) in enumerate(zip(expected, given)):
                    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5, equal_nan=True, msg=lambda text, i=i: f"output {i}: {text}")


if __name__ == "__main__":
    unittest.main()
