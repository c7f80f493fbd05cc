"""The task suite and the list of honest kernels keep their contracts, checked on the CPU.

Run with the worker's Python: ``python tests/tasks_test.py``. Prints nothing but unittest's report.
"""

import importlib.util
import pathlib
import tomllib
import unittest

import torch

ROOT = pathlib.Path(__file__).resolve().parent.parent
TASKS = sorted((ROOT / "tasks").rglob("*.py"))
HONEST = ROOT / "tests" / "honest"
KEYS = {"title", "entry", "function", "op", "precision", "mode", "inplace", "tolerance_multiple",
        "tags", "sizes", "variants"}
LANGUAGES = {"cpu": {"cpp", "python"}, "cuda": {"triton", "cuda", "cuda-inline", "python"}}


def load(path, sizes):
    spec = importlib.util.spec_from_file_location("task_" + path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, value in sizes.items():
        if not hasattr(module, name):
            raise AssertionError(f"{path}: the sidecar sets {name}, which is no global of the task")
        setattr(module, name, value)
    return module


def sidecar(path):
    return tomllib.loads(path.with_suffix(".toml").read_text())


def forward(path, meta, sizes):
    """The outputs of two draws of one task instance, each flattened to a list of tensors."""
    module = load(path, sizes)
    if "function" in meta:
        function = getattr(module, meta["function"])
    else:
        function = module.Model(*module.get_init_inputs())
        function.train(meta.get("mode") != "eval")
    return [flat(function(*module.get_inputs())) for _ in range(2)]


def flat(value):
    if isinstance(value, torch.Tensor):
        return [value]
    values = value.values() if isinstance(value, dict) else value
    return [tensor for item in values for tensor in flat(item)]


class TasksTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)
        self.enterContext(torch.no_grad())

    def test_suite_covers_the_families(self):
        families = {path.parent.name for path in TASKS}
        self.assertGreaterEqual(len(TASKS), 40)
        self.assertLessEqual({"pointwise", "reduce", "softmax", "norm", "pool", "scan", "loss",
                              "matmul", "conv", "attention", "gather", "block"}, families)

    def test_sidecars_name_both_sizes_and_known_keys(self):
        for path in TASKS:
            with self.subTest(task=path.stem):
                meta = sidecar(path)
                self.assertLessEqual(set(meta), KEYS)
                self.assertEqual(set(meta["sizes"]["cpu"]), set(meta["sizes"]["cuda"]))
                module = load(path, {})
                for name, value in meta["sizes"]["cpu"].items():
                    self.assertEqual(getattr(module, name), value, name)

    def test_only_tagged_tasks_have_outputs_that_do_not_depend_on_the_draw(self):
        for path in TASKS:
            with self.subTest(task=path.stem):
                meta = sidecar(path)
                first, second = forward(path, meta, meta["sizes"]["cpu"])
                self.assertTrue(all(torch.isfinite(t.double()).all() for t in first))
                same = all(torch.allclose(a.double(), b.double(), rtol=1e-3, atol=1e-6)
                           for a, b in zip(first, second))
                self.assertEqual(same, "constant-output" in meta.get("tags", []))

    def test_variants_run_and_stay_small(self):
        for path in TASKS:
            meta = sidecar(path)
            for variant in meta.get("variants", []):
                with self.subTest(task=path.stem, variant=variant):
                    # Over the cuda sizes: a variant that left one out would be huge.
                    module = load(path, {**meta["sizes"]["cuda"], **variant})
                    inputs = [t for t in module.get_inputs() if isinstance(t, torch.Tensor)]
                    self.assertLess(sum(t.numel() for t in inputs), 2_000_000)
                    first, _ = forward(path, meta, {**meta["sizes"]["cuda"], **variant})
                    self.assertTrue(all(t.numel() and torch.isfinite(t.double()).all()
                                        for t in first))


class HonestManifestTest(unittest.TestCase):
    def setUp(self):
        self.kernels = tomllib.loads((HONEST / "manifest.toml").read_text())["kernel"]

    def test_lists_every_file_once(self):
        listed = [kernel["file"] for kernel in self.kernels]
        present = [str(path.relative_to(HONEST)) for path in HONEST.glob("*/*.py")]
        self.assertEqual(sorted(listed), sorted(present))
        self.assertEqual(len({kernel["name"] for kernel in self.kernels}), len(self.kernels))
        for target in LANGUAGES:
            self.assertGreaterEqual(sum(k["target"] == target for k in self.kernels), 32)

    def test_rows_point_at_tasks_and_known_languages(self):
        for kernel in self.kernels:
            with self.subTest(kernel=kernel["name"]):
                self.assertTrue((ROOT / "tasks" / (kernel["task"] + ".toml")).is_file())
                self.assertIn(kernel["language"], LANGUAGES[kernel["target"]])
                source = (HONEST / kernel["file"]).read_text()
                function = sidecar(ROOT / "tasks" / (kernel["task"] + ".py")).get("function")
                self.assertTrue("class ModelNew" in source or f"def {function}_new" in source)


if __name__ == "__main__":
    torch.set_num_threads(2)
    unittest.main()
