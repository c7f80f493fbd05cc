"""What is read off a trace of a forward: how many of its operators compute, and which a candidate used."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import torch
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)

from davinci_worker import trace  # noqa: E402


class TraceTest(unittest.TestCase):
    def test_only_operators_that_call_no_other_are_counted(self):
        x = torch.randn(16, 16)
        layer = torch.nn.Linear(16, 16)
        for count, forward in ((6, lambda: (x + 1) * (x - 1) * x + x.abs()), (1, lambda: x @ x), (2, lambda: torch.softmax(x * 0.5, -1)),
                               (3, lambda: layer(torch.relu(layer(x)))), (0, lambda: x[:, ::2])):
            self.assertEqual(trace.work(forward)[-1], count)

    def test_a_profile_names_what_a_candidate_used(self):
        report = trace.profile(lambda x: x @ x, [torch.randn(16, 16)])
        self.assertIn("aten::mm", [operator["op"] for operator in report["operators"] if operator["compute"]])
        self.assertGreater(report["library_share"], 0)


if __name__ == "__main__":
    unittest.main()
