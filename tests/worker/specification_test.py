"""What is known of a task's inputs is inferred once, and not looked at again where it is known: specification_test.py LIBRARY."""

import dataclasses
import json
import os
import pathlib
import re
import sys
import unittest
from unittest import mock

os.environ["DAVINCI_WORKER_LIB"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import numpy  # noqa: F401
    import torch
except ImportError:
    print("skipped: this Python has no torch and numpy")
    sys.exit(77)

from davinci_worker import degenerate, distributions, oracle, source, specification, structure  # noqa: E402

DISTRIBUTIONS = ("task", "heavy_tailed", "heavy_tailed_sided", "positive", "log_uniform", "log_uniform_mild", "small_scale", "degenerate",
                 "degenerate_values", "degenerate_masks", "large_mean", "outliers", "outliers_small", "boundary")
TASK = """
import torch
class Model(torch.nn.Module):
    def forward(self, x, *others):
        return x * 2
def get_inputs():
    return [{inputs}]
def get_init_inputs(): return []
"""
# By name: an input, and words that are inferred of it.
INPUTS = {
    "numbers": ("torch.randn(64, 64)", {"varies": "drawn", "values": "free", "sums": "none", "order": "none", "zeros": "free", "sign": "any"}),
    "positive": ("torch.rand(64, 64)", {"values": "free", "sign": "positive"}),
    "probabilities": ("torch.rand(40, 30).softmax(0)", {"sums": "one", "axis": 0, "sign": "positive"}),
    "unit": ("torch.nn.functional.normalize(torch.randn(40, 30), dim=-1)", {"sums": "unit", "axis": -1}),
    "sorted": ("torch.randn(20, 50).sort(descending=True).values", {"order": "descending", "axis": -1}),
    "triangle": ("torch.randn(64, 64).tril()", {"zeros": "kept", "symmetry": "none"}),
    "symmetric": ("(lambda t: t + t.mT)(torch.randn(40, 40))", {"symmetry": "kept", "values": "free"}),
    "system": ("(lambda t: t @ t.mT + 40 * torch.eye(40))(torch.randn(40, 40))", {"symmetry": "kept", "values": "system"}),
    "ids": ("torch.randint(0, 900, (64, 3))", {"varies": "drawn", "values": "kept"}),
    "mask": ("torch.rand(8, 40) > 0.3", {"varies": "drawn", "values": "mask"}),
    "own mask": ("(torch.arange(400).view(10, 40) % 3 > 0).float()", {"varies": "fixed", "values": "mask"}),
    "one hot": ("torch.nn.functional.one_hot(torch.randint(0, 5, (40,)), 5).float()", {"values": "kept"}),
    "hides nothing": ("torch.ones(32, dtype=torch.bool)", {"varies": "fixed", "values": "constant"}),
    "zeros": ("torch.zeros(64, 64)", {"varies": "fixed", "values": "constant"}),
    "own numbers": ("torch.linspace(-2, 2, 90).cos()", {"varies": "never", "values": "free"}),
    "lengths": ("torch.randint(1, 65, (64,))", {"varies": "drawn", "values": "lengths"}),
    "positions": ("torch.arange(64)", {"varies": "never", "values": "kept"}),
    "groups": ("(lambda t: torch.cat([t, 64 - t]))(torch.randint(10, 50, (32,)))[torch.randperm(64)].view(-1)", {"varies": "drawn"}),
    "begins": ("torch.cat([torch.zeros(1), torch.rand(8).cumsum(0) * 100]).long()", {"values": "begins"}),
    "columns": ("torch.cat([torch.rand(64, 2), torch.randint(0, 90, (64, 1))], 1)", {"values": "free", "whole_columns": [2]}),
    "number": ("torch.tensor(0.5)", {"varies": "fixed", "values": "free"}),
    "empty": ("torch.zeros(0, 5)", {"values": "kept"}),
}


def loaded(expressions, **members):
    """An oracle with a task of these inputs, which counts its draws in ``calls``."""
    made = oracle.Oracle(None, {"threads": 1})
    made.answer({"op": "load", "path": "/nowhere/task.py", "source": TASK.format(inputs=", ".join(expressions)), "entry": "Model", "init_seed": 1,
                 "state_seed": 2, "precision": "fp32", "randomise": False, **members})
    made.calls, get_inputs = [], made.reference.module.get_inputs
    made.reference.module.get_inputs = lambda: made.calls.append(1) or get_inputs()
    return made


def kept(made):
    """The record as it comes back from the judge's store."""
    return json.loads(json.dumps(made.answer({"op": "admit", "seed": 9})[0]["specification"]))


def drawn(made):
    """(distribution, what is drawn of it)"""
    return [(name, made.draws.draw(5, name, 0).tensors) for name in DISTRIBUTIONS]


class RecordTest(unittest.TestCase):
    def test_words(self):
        record = kept(loaded([expression for expression, _ in INPUTS.values()]))
        self.assertEqual((record["version"], record["inferred"], record["overrides"]), (specification.VERSION, True, {}))
        for (name, (_, words)), found in zip(INPUTS.items(), record["inputs"]):
            self.assertEqual({entry: found[entry] for entry in words}, words, name)

    def test_words_are_those_of_the_manual(self):
        """Which the sidecar's reader is held against, too (task_config_test.cc)."""
        text = (pathlib.Path(__file__).resolve().parents[2] / "docs/tasks.md").read_text()
        table = text[text.index("| entry | words |"):].partition("\n\n")[0]
        words = {entry: set(re.findall(r"`(\w+)`", cell)) for entry, cell in re.findall(r"\| `(\w+)` \| (.*) \|", table)}
        own = {field.name for field in dataclasses.fields(specification.InputSpecification)}
        self.assertEqual(own - set(words), {"dtype", "shape", "axis", "whole_columns", "from_zero"})
        self.assertEqual(set(words) - own, set())
        for name, (_, inferred) in INPUTS.items():
            for entry, word in inferred.items():
                if entry in words:
                    self.assertIn(word, words[entry], name)
        self.assertEqual({(entry, word) for entry, word in specification._FITS if word not in words[entry]}, set())

    def test_what_is_known_is_neither_drawn_twice_nor_looked_at_and_changes_no_bit(self):
        for name, (expression, _) in INPUTS.items():
            inputs = ["torch.randn(64, 64)", expression]
            plain = loaded(inputs)
            record = kept(plain)
            expected = drawn(plain)
            known = loaded(inputs, specification=record)
            looks = [mock.patch.object(module, function, side_effect=AssertionError("looked at")) for module, function in (
                (structure.Structure, "_look"), (degenerate, "count_kind"), (distributions, "fingerprint"), (distributions, "fixed_whole"))]
            for look in looks:
                look.start()
            found, calls = drawn(known), len(known.calls)
            again = kept(known)
            for look in looks:
                look.stop()
            self.assertEqual(calls, len(DISTRIBUTIONS), name)
            self.assertEqual(again, {**record, "inferred": False})
            for (distribution, one), (_, other) in zip(expected, found):
                self.assertTrue(all(torch.equal(a, b) and a.dtype is b.dtype and a.stride() == b.stride() for a, b in zip(one, other)),
                                (name, distribution))

    def test_in_what_draws_differ_each_is_looked_at(self):
        inputs = ["torch.randn(64, 64) if torch.rand(()) < 0.5 else torch.rand(64, 64).softmax(-1)"]
        record = kept(loaded(inputs))
        self.assertIsNone(record["inputs"][0]["sums"])
        known = loaded(inputs, specification=record)
        for seed in range(8):
            own = known.reference.own_inputs(seed, None, 0)[1][0]
            other = known.draws.draw(seed, "heavy_tailed", 0).tensors[0]
            sums = bool(((own.sum(-1) - 1).abs() < 1e-3).all())
            self.assertEqual(bool(((other.sum(-1) - 1).abs() < 1e-3).all()), sums)

    def test_a_record_of_another_version_or_of_other_inputs_is_inferred_anew(self):
        inputs = [INPUTS["probabilities"][0]]
        record = kept(loaded(inputs))
        wrong = json.loads(json.dumps(record))
        wrong["inputs"][0]["sums"] = "none"
        for change in ({"version": 0}, {"inputs": [{**wrong["inputs"][0], "shape": [40, 31]}]}, {"inputs": []},
                       {"inputs": [{"dtype": "f32"}]}):
            made = loaded(inputs, specification={**wrong, **change})
            self.assertTrue(torch.allclose(made.draws.draw(5, "heavy_tailed", 0).tensors[0].sum(0), torch.ones(30)), change)
            self.assertEqual(kept(made), record)


class OverrideTest(unittest.TestCase):
    def draw(self, expression, distribution, seed=5, **words):
        made = loaded(["torch.randn(64, 64)", expression], inputs={"1": words})
        made.draws.draw(seed, "task", 0)
        return made.reference.own_inputs(seed, None, 0)[1][1], made.draws.draw(seed, distribution, 0).tensors[1]

    def test_draws_follow_what_the_sidecar_says(self):
        own, other = self.draw("torch.randn(64, 64)", "heavy_tailed", values="kept")
        self.assertTrue(torch.equal(own, other))
        own, other = self.draw("torch.randint(0, 900, (64, 64)).float()", "heavy_tailed", values="free")
        self.assertGreater((own != other).float().mean(), 0.99)
        own, other = self.draw("torch.randn(64, 64)", "heavy_tailed", sums="one")
        self.assertTrue(torch.allclose(other.sum(-1), torch.ones(64)))
        own, other = self.draw("torch.randn(64, 64)", "heavy_tailed", order="ascending")
        self.assertTrue(torch.equal(other, other.sort(-1).values))
        own, other = self.draw(INPUTS["sorted"][0], "heavy_tailed", order="none")
        self.assertFalse(torch.equal(other, other.sort(-1, descending=True).values))
        own, other = self.draw("torch.randn(64, 64).tril()", "heavy_tailed", zeros="free")
        self.assertGreater((other != 0).float().mean(), 0.99)
        own, other = self.draw("torch.randn(64, 64)", "heavy_tailed", symmetry="kept")
        self.assertTrue(torch.equal(other, other.mT))
        own, other = self.draw("torch.randn(64, 64).clamp(max=3)", "heavy_tailed_sided", sign="positive")
        self.assertTrue((other >= 0).all())
        own, other = self.draw("torch.linspace(-2, 2, 90).cos()", "task", varies="fixed")
        self.assertTrue(torch.equal(own, other))
        own, other = self.draw("torch.arange(64)", "heavy_tailed", varies="fixed")
        self.assertTrue(torch.equal(own, other))
        own, other = self.draw("torch.arange(64)", "heavy_tailed")
        self.assertFalse(torch.equal(own, other))
        own, other = self.draw(INPUTS["lengths"][0], "degenerate", values="kept")
        self.assertTrue(torch.equal(own, other))

    def test_the_record_stays_what_was_inferred(self):
        made = loaded(["torch.randn(64, 64)"], inputs={"0": {"order": "ascending"}})
        record = kept(made)
        self.assertEqual((record["inputs"][0]["order"], record["overrides"]), ("none", {"0": {"order": "ascending"}}))
        known = loaded(["torch.randn(64, 64)"], inputs={"0": {"order": "ascending"}}, specification=record)
        other = known.draws.draw(5, "heavy_tailed", 0).tensors[0]
        self.assertTrue(torch.equal(other, other.sort(-1).values))

    def test_what_an_input_cannot_be_is_named(self):
        for number, words, message in (
                ("1", {"order": "none"}, r"/nowhere/task.toml: \[inputs.1\]: get_inputs\(\) returns 1 tensors, numbered from 0"),
                ("0", {"values": "free"}, r'task.toml: \[inputs.0\] values = "free": it holds no numbers of a floating type'),
                ("0", {"symmetry": "kept"}, "it holds no square matrices"), ("0", {"values": "mask"}, "it does not hold two values")):
            made = loaded(["torch.randint(0, 900, (64, 3))"], inputs={number: words})
            with self.assertRaisesRegex(source.SourceError, message):
                made.draws.draw(5, "task", 0)


if __name__ == "__main__":
    unittest.main()
