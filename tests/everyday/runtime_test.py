"""Functions of davinci_runtime.cpp_module, called from Python: what they take for arguments, and what a wrong call says."""
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

try:
    import torch
except ImportError:
    sys.exit(77)

import davinci_runtime as dv

SOURCE = """
#include <cstdint>
extern "C" void scale(const float* x, float* y, int64_t n, float by) {
  for (int64_t i = 0; i < n; ++i) y[i] = x == nullptr ? by : x[i] * by;
}
extern "C" int64_t address(uint64_t at) { return (int64_t)at; }
extern "C" int64_t nothing() { return 7; }
"""


class CppFunctions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        os.environ["DAVINCI_RUNTIME_CACHE"] = cls.folder.name
        cls.module = dv.cpp_module(SOURCE)
        cls.scale = staticmethod(cls.module.get("scale", "ptr ptr i64 f32"))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_takes_tensors_addresses_and_none(self):
        x, y = torch.arange(4.0), torch.empty(4)
        self.scale(x, y, 4, 2.0)
        self.assertEqual(y.tolist(), [0.0, 2.0, 4.0, 6.0])
        self.scale(x.data_ptr(), y, y.numel(), 3)
        self.assertEqual(y.tolist(), [0.0, 3.0, 6.0, 9.0])
        self.scale(None, y, 4, 0.5)
        self.assertEqual(y.tolist(), [0.5] * 4)

    def test_takes_a_tensor_for_a_number_that_is_its_address(self):
        x = torch.empty(4)
        self.assertEqual(self.module.get("address", "u64 -> i64")(x), x.data_ptr())

    def test_returns_what_the_function_returns(self):
        self.assertEqual(self.module.get("nothing", "-> i64")(), 7)

    def test_a_wrong_number_of_arguments_names_the_function(self):
        with self.assertRaisesRegex(TypeError, r"scale\(\) takes 4 arguments by its signature, 3 were given"):
            self.scale(torch.empty(4), torch.empty(4), 4)

    def test_what_is_no_argument_at_all_is_refused(self):
        with self.assertRaises((TypeError, dv.ctypes.ArgumentError)):
            self.scale("x", torch.empty(4), 4, 1.0)


if __name__ == "__main__":
    unittest.main()
