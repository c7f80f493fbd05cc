"""What a person is told whose task cannot be judged."""

import os
import pathlib
import sys
import unittest

os.environ["DAVINCI_WORKER_LIB"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import torch  # noqa: F401
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)

from davinci_worker import oracle  # noqa: E402

MESSAGES_TASK = '''
import numpy, torch, torch.nn as nn
N = 8
TWICE = 2 * N
past = []
class Model(nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs(): return [torch.rand(N)]
def get_init_inputs(): return []
'''


class BadInputTest(unittest.TestCase):
    def told(self, old="", new="", **spec):
        made = oracle.Oracle(None, {"threads": 1})
        op = "load"
        try:
            made.answer({"op": op, "path": "/nowhere/task.py", "source": MESSAGES_TASK.replace(old, new), "entry": "Model", "init_seed": 1,
                         "state_seed": 2, "precision": "fp32", **spec})
            for variant in range(1 + len(spec.get("variants", ()))):
                op = "describe"
                made.answer({"op": "describe", "seed": 3, "variant": variant})
            op = "prepare"
            made.answer({"op": "prepare", "seed": 4, "truth": True})
        except Exception as error:  # noqa: BLE001
            return made.explain(error, op)["message"]
        return "nothing"

    def test_a_fault_of_our_own_is_not_the_tasks(self):
        made = oracle.Oracle(None, {"threads": 1})
        self.assertIn("a fault of davinci's own", made.explain(NameError("nothing"), "load")["message"])
        theirs = self.told("return x * 2", "return nothing_of_that_name")
        self.assertIn("/nowhere/task.py:", theirs)
        self.assertNotIn("a fault of davinci's own", theirs)

    def test_names_the_toml_and_what_it_sets(self):
        toml = "/nowhere/task.toml"
        for spec, parts in (
                ({"globals": {"TWICF": 3}}, (f"{toml}: TWICF is set", "did you mean TWICE?")),
                ({"globals": {"K": 3}}, (f"{toml}: K is set", "it has N, TWICE")),
                ({"globals": {"N": "17"}}, ("/nowhere/task.py:9: TypeError", f"with N = '17' ([sizes.cpu] of {toml})")),
                ({"variants": [{"N": 9}, {"N": -4}]}, ("negative", f"with N = -4 ([[variants]] number 2 of {toml})")),
                ({"variants": [{"N": 9}, {"TWICE": 9}]}, (f"{toml}: [[variants]] number 2 changes nothing",)),
                ({"variants": [{"N": 0}]}, ("nothing to compare", f"with N = 0 ([[variants]] number 1 of {toml})")),
                ({"op_path": "torch.nn.functional.geluu"}, (f"geluu\" in {toml}", "did you mean gelu?")),
                ({"op_path": "torch.float32"}, (f"float32\" in {toml}", "no function")),
                ({"entry": "", "function": "gelu"}, ("/nowhere/task.py: def gelu is missing", toml))):
            message = self.told(**spec)
            for part in parts:
                self.assertIn(part, message)

    def test_a_variant_may_change_values_only(self):
        self.assertEqual(self.told("torch.rand(N)", "torch.rand(8) * N", variants=[{"N": 9}]), "nothing")
        self.assertEqual(self.told("return x * 2", "return x[:N]", variants=[{"N": 7}]), "nothing")

    def test_names_what_no_candidate_could_match(self):
        for new, part in (("return (x * 2).numpy()", "forward returns a numpy.ndarray"), ("return x[:0]", "is empty, so there is nothing to compare"),
                          ("assert x.dtype == torch.float32; return x", "AssertionError: ; forward was called again, with inputs and weights in float64"),
                          ("past.append(x); return x * len(past)", "keeps state from call to call")):
            self.assertIn(part, self.told("return x * 2", new))
        self.assertIn("get_inputs() returns a numpy.ndarray", self.told("torch.rand(N)", "numpy.random.rand(N)"))

    def test_an_exception_without_a_text_is_told(self):
        self.assertIn("whose __str__ raises", self.told("return x * 2", "raise type('Odd', (Exception,), {'__str__': lambda self: 1})"))


if __name__ == "__main__":
    unittest.main()
