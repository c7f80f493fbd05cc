"""Other weights than those a module is made with, which tell who relies on how it is initialised: weights_test.py LIBRARY."""

import os
import pathlib
import sys
import unittest

os.environ["DAVINCI_WORKER_LIB"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import numpy  # noqa: F401
    import torch
    from torch import nn
except ImportError:
    print("skipped: this Python has no torch and numpy")
    sys.exit(77)

from davinci_worker import weights  # noqa: E402


class Holder(nn.Module):
    def __init__(self, tensor, buffer=False, trained=True):
        super().__init__()
        if buffer:
            self.register_buffer("t", tensor.clone())
        else:
            self.t = nn.Parameter(tensor.clone(), requires_grad=trained)


class WeightsTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)

    def moved(self, tensor, buffer=False, trained=True, precision=None):
        """Its values after both, the second one from the first."""
        model = Holder(tensor, buffer, trained)
        weights.randomise(model, 3, (), precision)
        first = model.t.detach().clone()
        self.assertTrue(weights.reweigh(model, {}, 4, True, (), precision))
        self.assertFalse(torch.equal(first, model.t) or torch.equal(first, tensor))
        return first, model.t.detach()

    def test_what_starts_at_nothing_counts(self):
        for value in (torch.zeros(50), torch.full((50,), 1e-6), torch.tensor([1e-6]), torch.randn(400) * 1e-6):
            for after in self.moved(value):
                self.assertGreater(after.abs().max().item(), 0.01)
        for value in (torch.ones(50), torch.full((50,), 1e-6)):
            for after in self.moved(value):
                self.assertTrue((after > 0).all())

    def test_neither_signs_nor_zeros_of_what_is_trained_stay(self):
        value = torch.randn(64, 64)
        first, second = self.moved(value)
        self.assertGreater((first.sign() != value.sign()).double().mean().item(), 0.3)
        self.assertGreater((second.sign() != first.sign()).double().mean().item(), 0.3)
        for after in self.moved(torch.eye(64)):
            self.assertGreater((after != 0).double().mean().item(), 0.99)
            self.assertGreater(after.diagonal().abs().min().item(), 2 * (after - after.diag().diag()).abs().max().item())

    def test_those_of_a_mask_stay(self):
        for buffer, trained in ((True, True), (False, False)):
            value = torch.tril(torch.rand(20, 20) + 0.5)
            for after in self.moved(value, buffer, trained):
                self.assertTrue(torch.equal(after == 0, value == 0) and (after >= 0).all())

    def test_zeros_ones_and_signs_of_what_is_not_trained_stay(self):
        for value in (torch.randn(20, 20) > 0, torch.randn(9).sign(), torch.randint(-3, 4, (64,)) * 0.25,
                      2.0 ** torch.randint(-9, 9, (64,))):
            for buffer in (True, False):
                model = Holder(value.float(), buffer, False)
                weights.randomise(model, 3)
                weights.reweigh(model, {}, 4, True)
                self.assertTrue(torch.equal(model.t, value.float()))

    def test_a_state_or_a_cache_that_starts_as_zeros_is_filled(self):
        model = Holder(torch.zeros(4, 8), True)
        self.assertEqual(weights.constant_tables(model, lambda: Holder(torch.zeros(4, 8), True), 1), frozenset())
        self.assertEqual(weights.constant_tables(model, lambda: Holder(torch.ones(4, 8), True), 1), frozenset())
        for after in self.moved(torch.zeros(4, 8), True):
            self.assertTrue((after > 0).float().mean() > 0.9 and (after <= 0.5).all())
        filters = Holder(torch.ones(4, 8), True)
        self.assertEqual(weights.constant_tables(filters, lambda: Holder(torch.ones(4, 8), True), 1), frozenset({"t"}))

    def test_a_scale_that_starts_as_one_moves(self):
        for scale in (torch.ones(1), torch.tensor(1.0), torch.ones(50)):
            self.assertEqual(weights.constant_tables(Holder(scale, True), lambda: Holder(scale, True), 1), frozenset())  # noqa: B023
            for after in self.moved(scale, True):
                self.assertTrue(((0.5 < after) & (after < 1.2) & (after != 1)).all(), after)
        epsilon = Holder(torch.tensor(0.5), True)
        self.assertEqual(weights.constant_tables(epsilon, lambda: Holder(torch.tensor(0.5), True), 1), frozenset({"t"}))

    def test_a_few_scales_of_a_norm_are_negative(self):
        for norm in (nn.BatchNorm2d(400), nn.LayerNorm(400), nn.GroupNorm(4, 400), nn.RMSNorm(400)):
            weights.randomise(norm, 3)
            share = (norm.weight < 0).double().mean()
            self.assertTrue(0.01 < share < 0.15, norm)
            signs = norm.weight.detach().sign()
            weights.reweigh(norm, {}, 4, True)
            self.assertTrue(torch.equal(norm.weight.sign(), signs))
        weights.randomise(nn.LayerNorm(8, elementwise_affine=False), 3)

    def test_the_padding_of_an_embedding_stays_zero(self):
        for module in (nn.Embedding(9, 4, padding_idx=2), nn.EmbeddingBag(9, 4, padding_idx=2)):
            weights.randomise(module, 3)
            weights.reweigh(module, {}, 4, True)
            self.assertEqual((module.weight == 0).all(1).nonzero().flatten().tolist(), [2])

    def test_gates_are_open_in_some_units(self):
        lstm = nn.LSTM(8, 128)
        weights.randomise(lstm, 3)
        for name, parameter in lstm.named_parameters():
            share = (parameter.abs() > 2.9).float().mean()
            self.assertTrue(0.02 < share < 0.12 if "bias" in name else share == 0, name)

    def test_knots_stay_in_order(self):
        for buffer in (True, False):
            for value in (torch.linspace(-2, 2, 33), torch.randn(33).sort().values):
                for after in self.moved(value, buffer):
                    self.assertTrue((after[1:] >= after[:-1]).all())

    def test_tables_of_a_kind_stay_of_that_kind(self):
        root = torch.randn(16, 16)
        for after in self.moved(root + root.T, True):
            self.assertTrue(torch.equal(after, after.T))
        for value in (root @ root.T / 16 + 0.5 * torch.eye(16), torch.linalg.qr(root).Q):
            model = Holder(value, True)
            weights.randomise(model, 3)
            weights.reweigh(model, {}, 4, True)
            self.assertTrue(torch.equal(model.t, value))

    def test_nothing_grows(self):
        value = torch.linalg.qr(torch.randn(64, 64)).Q
        for after in self.moved(value):
            self.assertLessEqual(after.abs().max().item(), value.abs().max().item() + 1e-6)
            self.assertLess(torch.linalg.eigvals(after).abs().max().item(), 1.1)

    def test_bfloat16_rounds_matrices_towards_zero_unless_the_task_is_as_coarse(self):
        for precision, down in ((None, True), ("tf32", False)):
            for after in self.moved(torch.randn(64, 64), precision=precision):
                self.assertEqual(bool((after.bfloat16().float().abs() <= after.abs()).all()), down)


if __name__ == "__main__":
    unittest.main()
