"""Kernels in C++ read memory where it lies: views without a copy, borders and joins without clamps, windows of few channels,
parts that are written, products of which nothing is summed.

    places_test.py DAVINCI
"""

import pathlib
import re
import sys
import tempfile
import unittest

try:
    import torch
    from torch.utils._pytree import tree_leaves
except ModuleNotFoundError:
    sys.exit(77)

from loading import Written  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))
DAVINCI = sys.argv.pop(1)


class PlacesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.written = Written(DAVINCI, HERE / "places", "cpu", "cpp", cls.folder.name)

    def test_kernels_give_the_module_s_values(self):
        self.assertEqual(sorted(self.written.tasks), sorted(path.stem for path in (HERE / "places").glob("*.py")))
        for name in self.written.tasks:
            with self.subTest(name), torch.no_grad():
                model, candidate, inputs = self.written.pair(name)
                # Inputs need not lie as they were traced.
                turned = [tensor.transpose(-1, -2).contiguous().transpose(-1, -2) for tensor in inputs]
                for given in (inputs, turned):
                    expected, found = tree_leaves(model(*given)), tree_leaves(candidate(*given))
                    self.assertEqual(len(expected), len(found))
                    for i, (theirs, ours) in enumerate(zip(expected, found)):
                        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5, msg=lambda text, i=i: f"{name}, result {i}: {text}")

    def test_views_are_not_copied(self):
        text = self.written.file("views_in_place").read_text()
        self.assertEqual(re.findall(r"(t\d+) = \1\.contiguous\(\)", text), [])

    def test_nothing_is_clamped_within_a_border(self):
        kernels = self.written.file("borders").read_text()
        pads = re.findall(r'extern "C" void Pad\w*Kernel.*?\n}\n', kernels, re.S)
        self.assertEqual(len(pads), 3)
        for pad in pads:
            self.assertNotRegex(pad, r"[<>] (\d+|v\d+) \? ", pad)
            self.assertRegex(pad, r"if \(i2 < \d+\)")

    def test_what_type_as_moves_is_made_where_the_module_is(self):
        text = self.written.file("moved_by_type").read_text()
        made = re.findall(r"t\d+ = torch\.(?:eye|ones|linspace)\(.*", text)
        self.assertTrue(made)
        for call in made:
            self.assertIn("device=x.device", call)

    def test_a_join_of_many_parts_chooses_none_in_its_loops(self):
        joined = re.search(r'extern "C" void \w*Cat\w*Kernel.*?\n}\n', self.written.file("long_join").read_text(), re.S)[0]
        self.assertNotIn(" ? ", joined)

    def test_few_channels_are_no_library_s(self):
        self.assertNotRegex(self.written.file("few_channels").read_text().split("class ModelNew")[1], r"conv[12]d\(")

    def test_parts_are_written_by_the_kernel_that_makes_them(self):
        self.assertEqual(self.written.tasks["parts_written"]["candidates"][0].get("left", []), [])
        self.assertNotRegex(self.written.file("parts_written").read_text().split("class ModelNew")[1], r"changed_copy\(|_pool2d\(")

    def test_products_of_which_nothing_is_summed_are_no_library_s(self):
        self.assertNotRegex(self.written.file("thin_products").read_text().split("class ModelNew")[1], r"(matmul|linear|bmm|first)\(")


if __name__ == "__main__":
    unittest.main()
