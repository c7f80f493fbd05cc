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


def row(status, objection="", worst=0.01, **more):
    return {"status": status, "rule": None, "objection": objection, "message": "", "worst_error_over_tolerance": worst, "speedup": None,
            "seconds": 1.0, "labels": []} | more


def timed(median, low, high, **more):
    return row("ok", candidate_ms=[0.9, 1.0, 1.2], candidate_speedup=[low, median, high], **more)


class CompareTest(unittest.TestCase):
    def compare(self, before, after, part=False, noisy=False):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, rows in (("before", before), ("after", after)):
                paths.append(pathlib.Path(folder) / name)
                paths[-1].write_text(json.dumps({"rows": rows}))
            with contextlib.redirect_stdout(io.StringIO()) as out:
                code = corpus.compare(argparse.Namespace(before=paths[0], after=paths[1], part=part, noisy=noisy))
        return code, out.getvalue()

    def differs(self, before, after, **how):
        code, text = self.compare({"self/a": before}, {"self/a": after}, **how)
        self.assertEqual(code == 1, "self/a" in text, text)
        return code == 1

    def test_a_believed_attack_and_a_refused_kernel_are_both_worse(self):
        good = {"attacks/E01": row("mismatch"), "self/a": row("ok")}
        self.assertEqual(self.compare(good, good)[0], 0)
        for key, bad in (("attacks/E01", row("ok", "expected mismatch")), ("self/a", row("mismatch", "expected ok")), ("self/a", row("ok", worst=0.9))):
            code, text = self.compare(good, {**good, key: bad})
            self.assertEqual((code, key in text), (1, True))
        self.assertEqual(self.compare({**good, "self/a": row("mismatch", "expected ok")}, good)[0], 0)

    def test_status_rule_and_labels_are_compared_strictly(self):
        refused = row("policy_violation", rule="control_channel")
        self.assertTrue(self.differs(refused, row("timeout", rule="control_channel")))
        self.assertTrue(self.differs(refused, row("policy_violation", rule="helper_process")))
        self.assertTrue(self.differs(row("ok"), row("ok", labels=["vendor library: aten::mm"])))
        self.assertTrue(self.differs(row("ok", labels=["task: accepts-zeros"]), row("ok"), noisy=True))

    def test_another_machine_may_refuse_an_attack_for_another_reason_but_not_believe_it(self):
        refused = row("policy_violation", rule="control_channel", labels=["low coverage"])
        for key, other, code in (("attacks/a", row("nondeterministic"), 0), ("attacks/a", row("ok"), 1), ("self/a", row("nondeterministic"), 1)):
            self.assertEqual(self.compare({key: refused}, {key: other}, noisy=True)[0], code, key)
        self.assertEqual(self.compare({"attacks/a": row("ok")}, {"attacks/a": row("invalid_timing", rule="clock_agreement")}, noisy=True)[0], 0)
        self.assertEqual(self.compare({"attacks/a": refused}, {"attacks/a": row("nondeterministic")})[0], 1)

    def test_numbers_in_labels_may_differ_and_a_busy_machine_may_set_those_of_the_clock(self):
        noisy = row("ok", labels=["unsteady timing: 1.3 x"])
        self.assertFalse(self.differs(noisy, row("ok", labels=["unsteady timing: 1.8 x"])))
        self.assertTrue(self.differs(row("ok"), noisy))
        self.assertFalse(self.differs(row("ok"), noisy, noisy=True))

    def test_speedups_and_times_differ_where_their_intervals_do_not_meet(self):
        before = timed(2.0, 1.9, 2.1)
        self.assertFalse(self.differs(before, timed(2.2, 2.05, 2.3)))
        self.assertTrue(self.differs(before, timed(2.5, 2.4, 2.6)))
        self.assertFalse(self.differs(before, timed(2.5, 2.4, 2.6), noisy=True))
        self.assertFalse(self.differs(before, timed(9.0, 0.1, None)))  # nothing is known of it
        self.assertTrue(self.differs(before, {**before, "candidate_ms": [1.3, 1.4, 1.5]}))
        on_device = {**before, "device_ms": [1.0, 1.1, 1.2]}
        self.assertTrue(self.differs(on_device, before))

    def test_rows_that_vanish_differ_unless_a_part_is_compared(self):
        self.assertEqual(self.compare({"self/a": row("ok")}, {})[0], 1)
        self.assertEqual(self.compare({"self/a": row("ok")}, {}, part=True)[0], 0)
        code, text = self.compare({}, {"self/a": row("ok")})
        self.assertEqual((code, "1 are new" in text), (0, True))

    def test_a_golden_table_holds_what_was_seen_and_no_times(self):
        with tempfile.TemporaryDirectory() as folder:
            tables = []
            for status, labels in (("mismatch", ["task: x"]), ("nondeterministic", ["task: x", "low coverage", "unsteady timing: 2 x"])):
                tables.append(pathlib.Path(folder) / status)
                tables[-1].write_text(json.dumps({"rows": {"attacks/a": row(status, labels=labels, speedup=2.0)}}))
            out = pathlib.Path(folder) / "golden.json"
            with contextlib.redirect_stdout(io.StringIO()):
                corpus.golden(argparse.Namespace(tables=tables, out=out))
            kept = json.loads(out.read_text())["rows"]
        self.assertEqual(kept, {"attacks/a": {"status": ["mismatch", "nondeterministic"], "rule": [None], "labels": ["task: x"],
                                              "labels_at_times": ["low coverage"]}})
        self.assertEqual(self.compare(kept, {"attacks/a": row("mismatch", labels=["task: x", "inconclusive: 1 to 9 x, busy machine"])})[0], 0)
        self.assertEqual(self.compare(kept, {"attacks/a": row("timeout", labels=["task: x"])})[0], 1)
        self.assertEqual(self.compare(kept, {"attacks/a": row("mismatch")})[0], 1)


class RowsTest(unittest.TestCase):
    """What a row shows is where documents have it, and a cross-section holds rows."""

    def in_schema(self, path):
        schema = json.loads((corpus.ROOT / "docs/evaluation.schema.json").read_text())
        node = schema
        for key in path.split("."):
            options = [node] + node.get("anyOf", []) + node.get("oneOf", [])
            options = [schema["$defs"][one["$ref"].rsplit("/", 1)[1]] if "$ref" in one else one for one in options]
            options += [inner for one in options for inner in one.get("anyOf", []) + one.get("oneOf", [])]
            options = [schema["$defs"][one["$ref"].rsplit("/", 1)[1]] if "$ref" in one else one for one in options]
            node = next((one["properties"][key] for one in options if key in one.get("properties", {})), None)
            if node is None:
                return False
        return True

    def test_every_column_is_read_from_a_field_of_the_schema(self):
        self.assertFalse(self.in_schema("provenance.device.busy_ms"))
        for times, speedup in corpus.CLOCKS.values():
            for path in [f"{times}.{key}" for key in corpus.CALLS] + [f"{speedup}.{key}" for key in corpus.INTERVAL]:
                self.assertTrue(self.in_schema(path), path)

    def test_a_document_of_a_device_fills_every_column(self):
        calls = {"min_ms": 1, "median_ms": 2, "max_ms": 3, "calls": 9}
        speedup = {"median": 2, "decided_low": 1.5, "decided_high": 3, "significant": True}
        reading = {"candidate": calls, "speedup": speedup}
        document = {"status": "ok", "times": {"candidate": calls}, "speedup": speedup, "device": reading, "latency": reading, "evidence": {"rule": "r"}}
        shown = corpus.numbers(document)
        self.assertEqual([shown["rule"], shown["significant"]], ["r", True])
        for clock in corpus.CLOCKS:
            self.assertEqual((shown[clock + "_ms"], shown[clock + "_speedup"]), ([1, 2, 3], [1.5, 2, 3]))

    def test_the_cross_section_has_rows_of_every_group_that_it_names(self):
        options = argparse.Namespace(fast=True, match="")
        with tempfile.TemporaryDirectory() as folder:
            for group, pattern in corpus.FAST.items():
                of_exploits = group in ("attacks", "controls", "twins")
                work = corpus.red_team_work("cpu", group) if of_exploits else corpus.benign_work("cpu", group, 1, pathlib.Path(folder))
                found = [item[0] for item in work if corpus.wanted(item[0], group, options)]
                self.assertEqual(bool(found), pattern != "^$", group)
                if group == "attacks":
                    self.assertEqual({key.split("/")[1][0] for key in found}, set("ABCDEF"))


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
