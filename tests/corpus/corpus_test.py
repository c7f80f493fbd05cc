"""Tables are compared on both sides, and relatives are what their names say."""
import argparse
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
try:
    import torch
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)

import corpus  # noqa: E402
import laws  # noqa: E402
import modules  # noqa: E402
import relatives  # noqa: E402


def row(status, objection="", worst=0.01):
    return {"status": status, "objection": objection, "message": "", "worst_error_over_tolerance": worst, "speedup": None, "seconds": 1.0, "labels": []}


class CompareTest(unittest.TestCase):
    def compare(self, before, after):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, rows in (("before", before), ("after", after)):
                paths.append(pathlib.Path(folder) / name)
                paths[-1].write_text(json.dumps({"rows": rows}))
            with contextlib.redirect_stdout(io.StringIO()) as out:
                code = corpus.compare(argparse.Namespace(before=paths[0], after=paths[1]))
        return code, out.getvalue()

    def test_a_believed_attack_and_a_refused_kernel_are_both_worse(self):
        good = {"attacks/E01": row("mismatch"), "self/a": row("ok")}
        self.assertEqual(self.compare(good, good)[0], 0)
        for key, bad in (("attacks/E01", row("ok", "expected mismatch")), ("self/a", row("mismatch", "expected ok")), ("self/a", row("ok", worst=0.9))):
            code, text = self.compare(good, {**good, key: bad})
            self.assertEqual((code, key in text), (1, True))
            self.assertEqual(self.compare({**good, key: bad}, good)[0], 0)

    def test_rows_of_one_table_only_are_counted(self):
        self.assertIn("1 only after", self.compare({}, {"self/a": row("ok")})[1])


class RelativesTest(unittest.TestCase):
    def test_there_are_enough_modules_for_both_targets(self):
        self.assertGreaterEqual(len(modules.MODULES), 150)
        for module in modules.MODULES.values():
            self.assertEqual(set(module.sizes), {"cpu", "cuda"})
            self.assertEqual(set(module.sizes["cpu"]), set(module.sizes["cuda"]), module.name)
            compile(module.text("cuda"), module.name, "exec")

    def test_relatives_answer_nearly_the_same_and_not_by_the_same_way(self):
        text, config, sizes = laws.cases("cpu", "^modules/causal_block$")["modules/causal_block"]
        answers = {}
        for kind in relatives.kinds(text, "cpu"):
            made = {}
            exec(compile(relatives.text_of(text, config, sizes, kind), kind, "exec"), made)  # noqa: S102
            torch.manual_seed(1)
            model = made["ModelNew"]()
            torch.manual_seed(2)
            with torch.no_grad():
                answers[kind] = model(*made["get_inputs"]())
        for kind, answer in answers.items():
            self.assertTrue(torch.allclose(answer, answers["same"], rtol=1e-3, atol=1e-4), kind)
        self.assertEqual(set(answers), {"same", "memory", "pieces", "order", "library", "math_attention"})
        for kind in ("order", "math_attention"):
            self.assertFalse(torch.equal(answers[kind], answers["same"]), kind)

    def test_tasks_that_name_a_function_have_relatives(self):
        for name, (text, config, sizes) in laws.cases("cpu", "softplus_op|softmax_temperature").items():
            made = {}
            exec(compile(relatives.text_of(text, config, sizes, "same"), name, "exec"), made)  # noqa: S102
            self.assertTrue(torch.isfinite(made["ModelNew"]()(*made["get_inputs"]())).all())


if __name__ == "__main__":
    unittest.main()
