"""Smaller values of a task's globals, where its own size does not fit: smaller_test.py LIBRARY."""

import os
import pathlib
import sys
import types
import unittest

os.environ["DAVINCI_WORKER_LIB"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import numpy  # noqa: F401
    import torch
except ImportError:
    print("skipped: this Python has no torch and numpy")
    sys.exit(77)

from davinci_worker import smaller, source  # noqa: E402

LIMITS = {"own": True, "most": 64 << 20, "to": 1 << 20}


def refuse(x):
    raise RuntimeError(f"{len(x)} are too small")


TEXTS = {
    "product": ("M, K, N, SEED = 8192, 65536, 12288, 1 << 30", "torch.rand(M, K), torch.rand(K, N)", lambda a, b: a @ b),
    "tuple": ("shape = (32768, 32768)", "torch.rand(*shape)", torch.relu),
    "drawn by numpy": ("B, D = 4096, 393216", "torch.from_numpy(numpy.random.rand(B, D))", torch.relu),
    "literal": ("D = 7", "torch.rand(4096, 393216)", torch.relu),
    "refused": ("D = 1 << 28", "torch.rand(D)", lambda x: x if x.is_meta else refuse(x)),
    "small": ("B, D = 64, 64", "torch.rand(B, D)", torch.relu),
}


def fitted(name):
    text, inputs, forward = TEXTS[name]
    module = types.ModuleType(name)
    module.__file__ = name + ".py"
    exec(f"import numpy, torch\n{text}\ndef get_inputs():\n    return [{inputs}]", vars(module))  # noqa: S102

    class Model(torch.nn.Module):
        def forward(self, *args):
            return forward(*args)

    return module, smaller.fit(module, lambda init: Model(), LIMITS)


class SmallerTest(unittest.TestCase):
    def test_sizes_are_halved_until_all_fits_and_nothing_else_changes(self):
        module, found = fitted("product")
        self.assertEqual(found["shrunk"]["own"], {"M": 8192, "K": 65536, "N": 12288})
        self.assertEqual(found["shrunk"]["set"], {name: getattr(module, name) for name in "MKN"})
        self.assertEqual(found["bytes"], 4 * (8192 * 65536 + 65536 * 12288 + 8192 * 12288))
        self.assertLessEqual(found["shrunk"]["bytes"], LIMITS["to"])
        self.assertEqual({getattr(module, name) % 16 for name in "MKN"}, {0})
        self.assertEqual(module.SEED, 1 << 30)

    def test_tuples_count_and_so_does_what_is_not_drawn_by_torch(self):
        for name in ("tuple", "drawn by numpy"):
            module, found = fitted(name)
            self.assertLess(sum(t.nbytes for t in module.get_inputs()), 4 * LIMITS["to"], found)

    def test_what_fits_stays_as_it_is(self):
        module, found = fitted("small")
        self.assertEqual((found, module.B), ({"bytes": 2 * 64 * 64 * 4, "shrunk": None}, 64))

    def test_what_cannot_be_made_smaller_is_said_to_be_too_large(self):
        with self.assertRaisesRegex(source.SourceError, "literal.py: inputs, weights and outputs take 1.288e.04 MB") as raised:
            fitted("literal")
        self.assertEqual(raised.exception.kind, "too_large")

    def test_what_the_reference_says_to_smaller_values_is_passed_on(self):
        with self.assertRaisesRegex(source.SourceError, "RuntimeError: .*too small"):
            fitted("refused")


if __name__ == "__main__":
    unittest.main()
