"""The modules of the importer's corpus keep their contract, checked on the CPU with plain PyTorch.

Run with the worker's Python: ``python tests/import/modules_test.py``. Prints nothing but unittest's report.
"""

import importlib.util
import pathlib
import sys
import time
import tomllib
import unittest

try:
    import torch
    from torch.overrides import TorchFunctionMode
    from torch.utils._pytree import tree_leaves, tree_map
except ModuleNotFoundError:
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
MODULES = sorted((HERE / "modules").glob("*.py"))
REFUSED = sorted((HERE / "refused").glob("*.py"))
STATE_BYTES = 20 << 20
INPUT_BYTES = 20 << 20
# Processor time of one forward, seconds: 30 ms on an idle machine, and room for slower or busy ones.
FORWARD_CPU_S = 0.3


def load(path):
    spec = importlib.util.spec_from_file_location("import_corpus_" + path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def build(path):
    torch.manual_seed(7)
    module = load(path)
    return module.Model(*module.get_init_inputs()), module.get_inputs()


def flat(value):
    """The tensors of nested lists, tuples, dicts and data classes; numbers become tensors."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (int, float)):
        return [torch.tensor(value)]
    if value is None or isinstance(value, str):
        return []
    if hasattr(value, "__dataclass_fields__"):
        value = list(vars(value).values())
    values = value.values() if isinstance(value, dict) else value
    return [tensor for item in values for tensor in flat(item)]


def num_bytes(tensors):
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def same(first, second):
    first, second = flat(first), flat(second)
    return len(first) == len(second) and all(
        a.dtype == b.dtype and torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in zip(first, second))


class OneDevice(TorchFunctionMode):
    """Refuses a call of tensors on two devices, where a GPU would."""

    MAY_MIX = {"type_as", "to", "__getitem__", "expand_as", "view_as", "reshape_as", "broadcast_tensors"}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        devices = {t.device.type for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor) and t.dim() > 0}
        name = getattr(func, "__name__", "")
        if len(devices) > 1 and name not in self.MAY_MIX:
            raise AssertionError(f"{name} of tensors on {sorted(devices)}")
        return func(*args, **kwargs)


class ModulesTest(unittest.TestCase):
    def setUp(self):
        self.enterContext(torch.no_grad())

    def test_repeat_their_result_quickly_in_both_modes_and_keep_their_inputs(self):
        for path in MODULES:
            for training in (True, False):
                with self.subTest(module=path.stem, training=training):
                    model, inputs = build(path)
                    model.train(training)
                    kept = [tensor.clone() for tensor in flat(inputs)]
                    first = model(*inputs)
                    self.assertTrue(flat(first))
                    self.assertTrue(all(t.numel() and torch.isfinite(t.double()).all() for t in flat(first)))
                    start = time.process_time()
                    second = model(*inputs)
                    self.assertLess(time.process_time() - start, FORWARD_CPU_S)
                    self.assertTrue(same(first, second))
                    self.assertTrue(same(kept, inputs))

    def test_make_their_tensors_on_the_device_of_their_inputs(self):
        ran = 0
        for path in MODULES:
            model, inputs = build(path)
            with self.subTest(module=path.stem):
                inputs = tree_map(lambda t: t.to("meta") if isinstance(t, torch.Tensor) else t, inputs)
                model = model.to("meta")
                try:
                    with OneDevice():
                        result = model(*inputs)
                except (NotImplementedError, RuntimeError) as error:  # functions without a meta kernel
                    self.assertRegex(str(error), "[Mm]eta")
                    continue
                self.assertEqual({t.device.type for t in flat(result)}, {"meta"})
                ran += 1
        self.assertGreaterEqual(ran, 0.95 * len(MODULES))

    def test_are_small_and_have_a_size_to_scale(self):
        for path in MODULES:
            with self.subTest(module=path.stem):
                model, inputs = build(path)
                self.assertLess(num_bytes([*model.parameters(), *model.buffers()]), STATE_BYTES)
                self.assertLess(num_bytes(flat(inputs)), INPUT_BYTES)
                self.assertTrue([name for name in vars(sys.modules["import_corpus_" + path.stem]) if name.isupper()])


class RefusedTest(unittest.TestCase):
    def test_run_in_plain_pytorch(self):
        for path in REFUSED:
            with self.subTest(module=path.stem), torch.no_grad():
                model, inputs = build(path)
                self.assertTrue(flat(model(*inputs)))


class FamiliesTest(unittest.TestCase):
    def setUp(self):
        self.families = tomllib.loads((HERE / "families.toml").read_text())

    def test_every_file_has_one_family(self):
        for folder, paths in (("modules", MODULES), ("refused", REFUSED)):
            self.assertEqual(sorted(self.families[folder]), [path.stem for path in paths])
        self.assertEqual({path.stem for path in MODULES} & {path.stem for path in REFUSED}, set())


if __name__ == "__main__":
    torch.set_num_threads(1)  # threads of one process wait for each other on a busy machine
    unittest.main(warnings="ignore")
