"""The Python package on live modules: reproduced from their source, optimised with recorded replies, judged for real.

    python tests/everyday/python_test.py --davinci build/dev/apps/davinci/davinci     (a Python with torch)
"""
import argparse
import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import importlib
import json
import linecache
import os
import pathlib
import pickle
import re
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import tomllib
import unittest

try:
    import torch
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
import davinci  # noqa: E402
from davinci import _live  # noqa: E402
from until_found import until_found  # noqa: E402

SCALE = 0.5
Pair = collections.namedtuple("Pair", "a b")
TABLE = torch.linspace(0, 1, 1024)


def halve(x):
    return x * SCALE


class Gate(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(dim))
        self.register_buffer("shift", torch.randn(dim))

    def forward(self, x: "torch.Tensor") -> "torch.Tensor":
        return halve(torch.relu(x * self.weight + self.shift)) + TABLE


class Gated(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gate = Gate(dim)
        self.act = torch.relu
        self.bias = 1.0

    def forward(self, x):
        return self.act(x + self.bias) * self.gate(x)


def gated(x, *, power):
    return halve(x) ** power


def momentum(p, m, g, rate):
    m.mul_(0.9).add_(g)
    return p.sub_(m, alpha=rate)


class Steps(nn.Module):
    """Many small operators."""

    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(dim))
        self.number = next(Steps.numbers)  # which forward does not read

    numbers = iter(range(1000))

    def forward(self, x):
        for _ in range(30):
            x = torch.relu(x) * 0.875 + self.weight
        return x


STEPS = r'''
import torch
from torch import nn
import davinci_runtime as dv

SOURCE = r"""
#include <algorithm>
#include <cstdint>

extern "C" void steps(const float* x, const float* w, float* out, int64_t rows, int64_t cols) {
  #pragma omp parallel for
  for (int64_t r = 0; r < rows; ++r)
    #pragma omp simd
    for (int64_t c = 0; c < cols; ++c) {
      float v = x[r * cols + c];
      for (int i = 0; i < 30; ++i) v = std::max(v, 0.0f) * 0.875f + w[c];
      out[r * cols + c] = v;
    }
}
"""
kernel = dv.cpp_module(SOURCE).get("steps", "ptr ptr ptr i64 i64")


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1024))

    def forward(self, x):
        out = torch.empty_like(x)
        kernel(x, self.weight, out, x.shape[0], x.shape[1])
        return out
'''

KERNEL = r'''
import torch
from torch import nn
import davinci_runtime as dv

SOURCE = r"""
#include <algorithm>
#include <cstdint>

extern "C" void gated(const float* x, const float* w, const float* s, const float* t, float* out, int64_t rows, int64_t cols) {
  #pragma omp parallel for
  for (int64_t r = 0; r < rows; ++r)
    #pragma omp simd
    for (int64_t c = 0; c < cols; ++c) {
      const float v = x[r * cols + c];
      out[r * cols + c] = std::max(v + 1.0f, 0.0f) * (0.5f * std::max(v * w[c] + s[c], 0.0f) + t[c]);
    }
}
"""
kernel = dv.cpp_module(SOURCE).get("gated", "ptr ptr ptr ptr ptr i64 i64")


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1024))
        self.register_buffer("shift", torch.zeros(1024))


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.register_buffer("table", torch.linspace(0, 1, 1024), persistent=False)

    def forward(self, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        kernel(x, self.gate.weight, self.gate.shift, self.table, out, x.shape[0], x.shape[1])
        return out
'''


class Python(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.here = pathlib.Path(folder.name)
        cls.replies = cls.here / "replies.jsonl"
        cls.replies.write_text("".join(json.dumps({"davinci_recording": 1, "label": f"{label}@1#s0r0t1", "reply": {
            "text": f"One loop.\n\n```python\n{kernel}```\n", "finish_reason": "stop", "model": "written by hand",
            "usage": {"prompt_tokens": 0, "cached_prompt_tokens": 0, "completion_tokens": 0, "estimated": True}, "cost_usd": 0.0}}) + "\n"
            for label, kernel in (("Gated", KERNEL), ("blocks_0", STEPS))))
        torch.manual_seed(1)
        cls.options = {"llm": f"recorded:{cls.replies}", "target": "cpu", "turns": 1, "rollouts": 1, "task_folder": cls.here / "tasks",
                       "set": {"selection.schemes": 0, "judge.verdict_cache": False, "certify.also_against": []}}

    def rebuilt(self, model, inputs):
        """The module that the reference's processes make of a live one."""
        _live.live()
        task = _live.write(model, inputs, self.here / "tasks")
        spec = importlib.util.spec_from_file_location("rebuilt_task", task.path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["rebuilt_task"] = module
        spec.loader.exec_module(module)
        return module, task

    def test_optimises_a_live_module_and_shares_its_parameters(self):
        model, x = Gated(1024).eval(), torch.randn(512, 1024)
        lines = []
        result = until_found(lambda: davinci.optimize(model, x, run=self.here / "run", progress=lines.append, **self.options))
        self.assertTrue(result.found, result.remark)
        self.assertGreater(result.speedup.low, 1, result)
        self.assertEqual((result.kernel.strip(), result.by), (KERNEL.strip(), "model"))
        self.assertLess(result.source.index("class ModelNew"), result.source.index("def install("))
        self.assertTrue(any("ok" in line for line in lines), lines)
        self.assertIn("<iframe", result.report._repr_html_())
        self.assertIn("<table>", result._repr_html_())
        self.assertTrue(pathlib.Path(result.report).is_file())
        made = result.module
        self.assertIs(made.gate.weight, model.gate.weight)
        self.assertIs(made.gate.shift, model.gate.shift)
        self.assertFalse(made.training)
        with torch.no_grad():
            torch.testing.assert_close(made(x), model(x), rtol=1e-4, atol=1e-5)
            model.gate.weight.mul_(2)
            torch.testing.assert_close(made(x), model(x), rtol=1e-4, atol=1e-5)
            self.assertIsNone(made.why_reference(x))
            for again in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
                self.assertIsNone(again.why_reference(x))
                torch.testing.assert_close(again(x), made(x))

    def test_without_a_model_the_expert_writes_the_kernel(self):
        """Of a class in a notebook's cell, which holds a plain tensor and names another one."""
        cell = textwrap.dedent("""
            class Cell(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.steps, self.last = Steps(1024), nn.Sequential(nn.LayerNorm(1024), nn.ReLU())
                    self.plain, self.kinds = torch.rand(1024), {"a": (1, float("inf"))}

                def forward(self, x):
                    return self.last(self.steps(x) + self.plain + TABLE)
            """)
        linecache.cache["<cell>"] = (len(cell), None, cell.splitlines(keepends=True), "<cell>")
        exec(compile(cell, "<cell>", "exec"), globals())
        model, x = Cell().eval(), torch.randn(128, 1024)  # noqa: F821
        options = {**self.options, "llm": None, "rollouts": 2}
        further = [(torch.randn(33, 1024),)]
        result = until_found(lambda: davinci.optimize(model, (x,), further_inputs=further, run=self.here / "by_rules", progress=False, **options))
        self.assertTrue(result.found, result.remark)
        self.assertEqual(result.by, "expert")
        # One text for the sizes of both inputs, or one for each; the judge chooses.
        self.assertRegex(result.kernel, r"class ModelNew_shape1\(Model\):| <= x\.shape\[0\] <= ")
        self.assertIn("class Steps(", result.kernel)
        self.assertNotIn("davinci_worker", result.kernel)
        made = result.module
        with torch.no_grad():  # the kernel serves each shape that was given, and no other
            self.assertEqual([made.why_reference(x[:rows]) is None for rows in (33, 128, 34)], [True, True, False])
            torch.testing.assert_close(made(x[:33]), model(x[:33]), rtol=1e-4, atol=1e-4)
        self.assertIs(made.steps.weight, model.steps.weight)
        with torch.no_grad():
            self.assertIsNone(made.why_reference(x))
            torch.testing.assert_close(made(x), model(x), rtol=1e-4, atol=1e-4)
            model.steps.weight.mul_(2)
            torch.testing.assert_close(made(x), model(x), rtol=1e-4, atol=1e-4)
            again = pickle.loads(pickle.dumps(made))
            torch.testing.assert_close(again(x), made(x))

    def test_large_tensors_outside_of_parameters_and_buffers_are_named(self):
        model = Gate(1024)
        model.table = torch.rand(1 << 17)
        with self.assertRaisesRegex(davinci.BadInput, "neither parameters nor buffers"):
            davinci.optimize(model, torch.randn(64, 1024), run=self.here / "large", progress=False, **{**self.options, "llm": None})

    def test_an_argument_is_no_global_of_the_same_name(self):
        globals()["x"] = torch.rand(4, 4)
        self.addCleanup(globals().pop, "x")
        self.assertNotIn("tensor(__file__", _live.write(gated, {"x": torch.randn(4, 4), "power": 2}, self.here / "tasks").path.read_text())

    def test_judges_a_candidate_and_says_what_the_program_says(self):
        model, x = Gated(1024), torch.randn(64, 1024)
        right = davinci.judge(model, KERNEL, x, protocol="screening")
        self.assertEqual((right.status, right.correct), ("ok", True), right)
        wrong = davinci.judge(model, KERNEL.replace("v + 1.0f", "v + 1.1f"), x, protocol="screening")
        self.assertEqual((wrong.status, wrong.correct), ("mismatch", False), wrong)
        for call, part in ((lambda: davinci.judge(self.here / "nothing.py", KERNEL), "nothing.py"),
                           (lambda: davinci.judge(model, KERNEL, x, protocol="davinchi"), "davinchi"),
                           (lambda: davinci.benchmark(self.here / "no_tasks", llm="recorded:x"), "no_tasks")):
            with self.assertRaises(davinci.BadInput) as caught:
                call()
            self.assertIn(part, str(caught.exception))

    def test_a_module_is_reproduced_with_all_its_state(self):
        dim = 6

        class Local(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(dim, dim).half()
                self.tied = nn.Linear(dim, dim)
                self.tied.weight = nn.Parameter(torch.randn(dim, dim), requires_grad=False)
                self.again = self.tied
                self.other = nn.Linear(dim, dim)
                self.other.weight = self.tied.weight
                self.norm = nn.BatchNorm1d(dim)
                self.kinds = nn.ModuleList([nn.GELU(), nn.Dropout(0.5)])
                self.sizes, self.config = (1, [2.5, None]), {"act": torch.relu, "dtype": torch.float16}
                self.register_buffer("mask", torch.ones(dim, dtype=torch.bool), persistent=False)
                self.plain = torch.arange(dim)

            def forward(self, x):
                return self.norm(self.other(self.kinds[0](x))) + self.plain + dim

        model = Local()
        model.kinds[1].eval()
        model.norm.running_mean.fill_(3)
        module, _ = self.rebuilt(model, (torch.randn(4, 6),))
        made = module.Model()
        self.assertEqual([n for n, _ in made.named_parameters()], [n for n, _ in model.named_parameters()])
        for (name, a), (_, b) in zip([*made.named_parameters(), *made.named_buffers()], [*model.named_parameters(), *model.named_buffers()]):
            self.assertTrue(torch.equal(a, b) and a.dtype == b.dtype and a.requires_grad == b.requires_grad, name)
        self.assertIs(made.other.weight, made.tied.weight)
        self.assertIs(made.again, made.tied)
        self.assertEqual([m.training for m in made.modules()], [m.training for m in model.modules()])
        self.assertEqual((made.sizes, made.config), (model.sizes, model.config))
        self.assertNotIn("mask", made.state_dict())
        x = torch.randn(4, 6)
        torch.testing.assert_close(made(x), model(x))

    def test_inputs_are_drawn_like_the_example_or_are_the_example(self):
        ids, mask = torch.randint(0, 50, (8, 16)), torch.tril(torch.ones(16, 16)).bool()
        module, task = self.rebuilt(gated, {"x": torch.randn(16, 8).t(), "power": 2})
        one, two = module.get_inputs(), module.get_inputs()
        self.assertEqual((one["x"].stride(), one["power"]), ((1, 8), 2))
        self.assertFalse(torch.equal(one["x"], two["x"]))
        self.assertIn('function = "gated"', task.path.with_suffix(".toml").read_text())
        module, _ = self.rebuilt(gated, (ids, mask, torch.rand(32, 8, dtype=torch.float64), [None, 1.5]))
        drawn = module.get_inputs()
        self.assertEqual((drawn[0].dtype, drawn[0].shape, drawn[3]), (ids.dtype, ids.shape, [None, 1.5]))
        self.assertTrue(0 <= drawn[0].min() and drawn[0].max() < 50 and not torch.equal(drawn[0], ids))
        self.assertTrue(torch.equal(drawn[1], mask))
        self.assertTrue(drawn[2].dtype is torch.float64 and 0 <= drawn[2].min() and drawn[2].max() <= 1)

    def test_further_inputs_are_selected_by_a_global(self):
        mask = torch.tril(torch.ones(5, 5)).bool()
        task = _live.write(gated, (torch.randn(3, 8), 2), self.here / "tasks", further=[(torch.randn(7, 8), 2), {"x": mask, "power": 2}])
        config = tomllib.loads(task.path.with_suffix(".toml").read_text())
        self.assertEqual(config["variants"], [{"SHAPE": 1}, {"SHAPE": 2}])
        spec = importlib.util.spec_from_file_location("shapes_task", task.path)
        module = sys.modules["shapes_task"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.assertEqual(module.get_inputs()[0].shape, (3, 8))
        module.SHAPE = 1
        self.assertEqual(module.get_inputs()[0].shape, (7, 8))
        module.SHAPE = 2
        self.assertTrue(torch.equal(module.get_inputs()["x"], mask))

    def answers_the_same(self, model, inputs):
        """The module that is made again gives the answer of the original. Returns the text of its task."""
        module, task = self.rebuilt(model, inputs)
        made = (getattr(module, "Model", None) or module.LiveModel)()

        def answer(f):
            torch.manual_seed(0)
            with torch.no_grad():
                return torch.utils._pytree.tree_leaves(f(**inputs) if isinstance(inputs, dict) else f(*inputs))

        for own, theirs in zip(answer(made), answer(model)):
            torch.testing.assert_close(own, theirs)
        self.assertEqual([(n, p.requires_grad) for n, p in made.named_parameters()], [(n, p.requires_grad) for n, p in model.named_parameters()])
        return task.path.read_text()

    def test_attributes_of_many_kinds_are_reproduced(self):
        class Kind(enum.Enum):
            A, B = 1, 2

        class Slots:
            __slots__ = ("own",)

        @dataclasses.dataclass(frozen=True)
        class Config:
            width: int
            act: object = torch.relu

        class Odd(nn.Module):
            def __init__(self):
                super().__init__()
                self.kind, self.pair, self.config, self.slots, self.above = Kind.B, Pair(1, torch.ones(2)), Config(8), Slots(), [self]
                self.slots.own = [2.5]
                self.ordered, self.counted = collections.OrderedDict(a=1), collections.Counter("aab")
                self.places, self.path, self.pattern = collections.deque([1], maxlen=3), pathlib.Path("here"), re.compile("a+")
                self.layout, self.rest, self.part = torch.strided, (..., slice(1, 3), range(4)), functools.partial(torch.clamp, min=0)
                self.lin = nn.Linear(8, 8)
                self.same_weight, self.listed = self.lin.weight, nn.ParameterList([nn.Parameter(torch.rand(8))])

            def forward(self, x):
                return self.part(self.lin(x)) + self.listed[0] + self.pair.b.sum() + self.slots.own[0]

        model = Odd()
        self.answers_the_same(model, (torch.randn(2, 8),))
        made = self.rebuilt(model, (torch.randn(2, 8),))[0].Model()
        self.assertIs(made.above[0], made)
        self.assertIs(made.same_weight, made.lin.weight)
        self.assertEqual((made.kind.name, made.pair.a, made.config.act, made.places.maxlen), ("B", 1, torch.relu, 3))
        for name in ("ordered", "counted", "places", "path", "pattern", "layout", "rest"):
            self.assertEqual(getattr(made, name), getattr(model, name), name)

    def test_modules_of_torch_are_reproduced(self):
        x = torch.randn(4, 6, 8)
        norm, parametrized = nn.utils.weight_norm, nn.utils.parametrizations.weight_norm
        hooked = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
        hooked.register_forward_hook(lambda *unused: None)  # called around the kernel, too
        for model in (nn.LSTM(8, 4, 2, batch_first=True, bidirectional=True), nn.GRU(8, 4, batch_first=True), nn.TransformerEncoderLayer(8, 2).eval(),
                      nn.Sequential(norm(nn.Linear(8, 8)), parametrized(nn.Linear(8, 4))), parametrized(nn.Linear(8, 4)), hooked):
            with self.subTest(type(model).__name__):
                self.answers_the_same(model, (x,))
        inner = nn.Sequential(nn.Linear(8, 8))
        inner[0].register_forward_hook(lambda *unused: None)
        with self.assertWarnsRegex(UserWarning, "0 has forward hooks, which are not judged"):
            self.rebuilt(inner, (x,))

    def test_classes_of_installed_packages_are_imported(self):
        place = self.here / "site-packages"
        (place / "layers_of_a_package").mkdir(parents=True)
        (place / "layers_of_a_package" / "__init__.py").write_text(textwrap.dedent("""
            import functools, logging, threading, weakref
            import torch
            from torch import nn

            log = logging.getLogger("package")
            TABLE = {"double": torch.add}

            def twice(x):
                return TABLE["double"](x, x)

            class Config:
                def __init__(self, width):
                    self.width, self.kinds, self.nested = width, {0: "a"}, [torch.float32, {"x"}]

            class Layer(nn.Module):
                def __init__(self, config):
                    super().__init__()
                    self.config, self.lock, self.log = config, threading.Lock(), log
                    self.own = nn.Linear(config.width, config.width)
                    self.plain = [self.own, self.forward]
                    self.above = weakref.ref(self.own.weight)
                    self.half = functools.partial(torch.mul, other=0.5)

                def forward(self, x):
                    return twice(self.half(self.plain[0](x)))
            """))
        sys.path.insert(0, str(place))
        self.addCleanup(sys.path.remove, str(place))
        package = importlib.import_module("layers_of_a_package")
        layer = package.Layer(package.Config(8))
        text = self.answers_the_same(layer, {"x": torch.randn(2, 8)})
        self.assertIn("from layers_of_a_package import Layer", text)
        self.assertIn("#     def twice(x):", text)  # shown, not defined

        class Own(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.again = layer, nn.ModuleList([layer])

            def forward(self, x):
                return self.again[0](x) + TABLE_OF_PACKAGE["double"](x, x)

        global TABLE_OF_PACKAGE
        TABLE_OF_PACKAGE = package.TABLE
        package.TABLE_OF_PACKAGE = package.TABLE
        module, _ = self.rebuilt(Own(), (torch.randn(2, 8),))
        made = module.Model()
        self.assertIs(made.layer, made.again[0])
        self.assertIs(made.layer.plain[0], made.layer.own)
        self.assertIs(made.layer.above(), made.layer.own.weight)
        self.assertEqual((made.layer.config.width, made.layer.config.kinds, made.layer.config.nested), (8, {0: "a"}, [torch.float32, {"x"}]))
        self.answers_the_same(Own(), (torch.randn(2, 8),))

    def test_layers_of_transformers_are_reproduced_and_judged(self):
        try:
            import transformers
            from transformers.models.llama import modeling_llama
        except ImportError:
            self.skipTest("this Python has no transformers")
        config = transformers.LlamaConfig(hidden_size=64, intermediate_size=96, num_attention_heads=4, num_hidden_layers=1, vocab_size=64)
        model = transformers.LlamaForCausalLM(config).eval()
        x, places = torch.randn(2, 8, 64), torch.arange(8)[None]
        by_keyword = {"hidden_states": x, "position_embeddings": model.model.rotary_emb(x, places),
                      "attention_mask": torch.full((8, 8), -1e9).triu(1)[None, None]}
        for part, inputs in ((model.model.layers[0].mlp, (x,)), (model.model.layers[0].self_attn, by_keyword), (model.model.layers[0], by_keyword),
                             (model, {"input_ids": torch.randint(0, 64, (2, 8)), "use_cache": False})):
            self.answers_the_same(part, inputs)
        candidate = (f"from {modeling_llama.__name__} import LlamaMLP\nfrom transformers import LlamaConfig\n\n\nclass ModelNew(LlamaMLP):\n"
                     "    def __init__(self):\n        super().__init__(LlamaConfig(hidden_size=64, intermediate_size=96))\n")
        verdict = davinci.judge(model.model.layers[0].mlp, candidate, (x,), target="cpu", protocol="screening")
        self.assertEqual((verdict.status, verdict.correct), ("ok", True), verdict)

    def test_a_profile_names_what_costs_most(self):
        class Slow(nn.Module):
            def forward(self, x):
                for _ in range(50):
                    x = torch.sin(x)
                return x

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.slow, self.mix = Slow(), nn.Linear(256, 256)

            def forward(self, x):
                return self.mix(self.slow(self.slow(x)))

        model = nn.Sequential(nn.Linear(256, 256), Block())
        found = davinci.profile(model, torch.randn(256, 256))
        first = found[0]
        self.assertEqual((first.path, first.kind, first.calls), ("1.slow", "Slow", 2))
        self.assertGreater(first.share, 0.5)
        self.assertAlmostEqual(sum(row.share for row in found), 1)
        rows = {row.path: row for row in found}
        self.assertGreaterEqual(rows["1"].total_ms, rows["1.slow"].total_ms)
        self.assertLess(rows["1"].self_ms, rows["1"].total_ms)
        self.assertIn("1.slow", str(found))
        self.assertEqual(json.loads(json.dumps(found.document))["modules"][0]["path"], "1.slow")
        self.assertEqual(found.candidates[0].path, "1.slow")
        self.assertNotIn("1.mix", [row.path for row in found.candidates])  # a module of torch counts for the one that calls it
        self.assertFalse(any(part._forward_hooks or part._forward_pre_hooks for part in model.modules()))
        with self.assertRaisesRegex(davinci.BadInput, "pass the original"):
            davinci.profile(torch.compile(model), torch.randn(2, 256))

    def test_a_whole_model_gets_the_kernels_of_its_most_expensive_parts(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Steps(1024), Steps(1024)])
                self.head = nn.Linear(1024, 8)

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return self.head(x)

        net, x = Net().eval(), torch.randn(128, 1024)
        result = until_found(lambda: davinci.optimize(net, (x,), top=1, run=self.here / "whole", progress=False, **self.options))
        self.assertEqual([entry.paths for entry in result], [["blocks.0", "blocks.1"]])
        self.assertTrue(result.found, result)
        self.assertEqual(json.loads(json.dumps(result.document))["entries"][0]["paths"], ["blocks.0", "blocks.1"])
        made = result.model
        self.assertIsNot(made, net)
        self.assertIs(type(net.blocks[0]), Steps)
        self.assertIs(made.head, net.head)
        with torch.no_grad():
            for own, theirs in zip(made.blocks, net.blocks):
                self.assertIs(own.weight, theirs.weight)
                self.assertIsNone(own.why_reference(x))
            torch.testing.assert_close(made(x), net(x), rtol=1e-4, atol=1e-4)
        self.assertEqual(list(made.state_dict()), list(net.state_dict()))
        torch.save((result[0].module, x, made.blocks[0](x)), self.here / "saved.pt")
        loads = ("import sys, torch; torch.set_grad_enabled(False); module, x, answer = torch.load(sys.argv[1], weights_only=False)\n"
                 "assert module.why_reference(x) is None; torch.testing.assert_close(module(x), answer)")
        done = subprocess.run([sys.executable, "-c", loads, self.here / "saved.pt"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_a_function_leaves_in_its_arguments_is_compared(self):
        inputs = {"p": torch.randn(64, 64), "m": torch.randn(64, 64), "g": torch.randn(64, 64), "rate": 0.5}
        before = inputs["m"].clone()
        self.assertIn("inplace = true", _live.write(momentum, inputs, self.here / "tasks").path.with_suffix(".toml").read_text())
        self.assertTrue(torch.equal(inputs["m"], before))
        self.assertNotIn("inplace", _live.write(halve, inputs["p"], self.here / "tasks").path.with_suffix(".toml").read_text())
        right = "def momentum_new(p, m, g, rate):\n    m.mul_(0.9).add_(g)\n    return p.sub_(m, alpha=rate)\n"
        forgets = right.replace("m.mul_(0.9).add_(g)", "m = m * 0.9 + g")
        for candidate, correct in ((right, True), (forgets, False)):
            verdict = davinci.judge(momentum, candidate, inputs, protocol="screening")
            self.assertEqual(verdict.correct, correct, verdict)

    def test_what_cannot_be_reproduced_is_said(self):
        replaced = nn.Linear(2, 2)
        replaced.forward = lambda x: x
        hidden = nn.Linear(2, 2)
        hidden.file = open(os.devnull)  # noqa: SIM115
        self.addCleanup(hidden.file.close)
        scope = {"nn": nn, "__name__": "nowhere"}
        exec("class NoSource(nn.Module):\n    def forward(self, x):\n        return x\n", scope)
        for value, part in ((lambda x: x, "a lambda has no source"), (torch.relu, "neither a torch.nn.Module nor a Python function"),
                            (torch.jit.script(nn.ReLU()), "scripted"), (replaced, "replaced on the instance"),
                            (torch.compile(nn.ReLU()), "pass the original"), (nn.Sequential(torch.compile(nn.ReLU())), "0 is compiled"),
                            (torch.compile(halve), "pass the original"), (nn.LazyLinear(2), "call it once"),
                            (hidden, "the module.file is a"), (scope["NoSource"](), "no source of class nowhere.NoSource"),
                            (nn.ReLU, "is a class; pass an instance")):
            with self.assertRaises(davinci.BadInput) as caught:
                _live.write(value, torch.randn(2, 2), self.here / "tasks")
            self.assertIn(part, str(caught.exception))

    def test_an_interrupt_ends_the_program(self):
        silent = socket.create_server(("127.0.0.1", 0))  # an endpoint that never answers
        silent.settimeout(1)
        self.addCleanup(silent.close)
        script = self.here / "script.py"
        script.write_text(textwrap.dedent(f"""
            import sys
            sys.path.insert(0, {str(ROOT / "python")!r})
            import torch, davinci
            from torch import nn
            class Softmax(nn.Module):
                def forward(self, x):
                    return torch.softmax(x, -1)
            try:
                davinci.optimize(Softmax(), torch.randn(64, 64), llm="http://127.0.0.1:{silent.getsockname()[1]}/v1", model="silent", target="cpu")
            except KeyboardInterrupt:
                print("interrupted")
            """))
        process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.here)
        asked = None
        while asked is None:
            with contextlib.suppress(TimeoutError):
                asked, _ = silent.accept()
            self.assertIsNone(process.poll(), "it ended without a call")
        self.addCleanup(asked.close)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        self.assertEqual(out, "interrupted\n", err)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    known, rest = parser.parse_known_args()
    os.environ["DAVINCI_PROGRAM"] = str(pathlib.Path(known.davinci).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
