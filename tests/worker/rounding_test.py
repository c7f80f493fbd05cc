"""How inputs are drawn, moved and varied, how a float64 twin draws the same, and how rounding is sampled."""

import math
import os
import pathlib
import sys
import unittest

os.environ["DAVINCI_WORKER_LIB"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import torch
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)

from davinci_worker import distributions, keyed_draws, rounding, twin_draws  # noqa: E402


class KeyedDrawsTest(unittest.TestCase):
    def draw(self, seed, function, *args, **kwargs):
        torch.manual_seed(0)
        with keyed_draws.KeyedDraws(seed):
            return function(*args, **kwargs)

    def test_large_single_precision_draws_are_keyed(self):
        for function in (torch.rand, torch.randn):
            torch.manual_seed(0)
            torchs = function(256, 256)
            for args, kwargs in (((256, 256), {}), (((256, 256),), {}), ((256, 256), {"dtype": torch.float32, "device": "cpu"})):
                drawn = self.draw(5, function, *args, **kwargs)
                self.assertEqual((drawn.shape, drawn.dtype), (torchs.shape, torch.float32))
                self.assertFalse(torch.equal(drawn, torchs))
                self.assertTrue(torch.equal(drawn, self.draw(5, function, *args, **kwargs)))
                self.assertFalse(torch.equal(drawn, self.draw(6, function, *args, **kwargs)))
                self.assertAlmostEqual(drawn.mean().item(), torchs.mean().item(), delta=0.05)
                self.assertAlmostEqual(drawn.std().item(), torchs.std().item(), delta=0.05)

    def test_infinities_are_not_moved(self):
        values = torch.tensor([-math.inf, math.inf, 1.0]).repeat(100)
        for widen in (False, True):
            moved = distributions.nudge(values, 3, widen).float()
            self.assertTrue(torch.equal(moved.isinf(), values.isinf()))
            self.assertFalse(moved.isnan().any())

    def test_all_others_are_torchs(self):
        for args, kwargs in (((16, 16), {}), ((256, 256), {"dtype": torch.float64}), ((256, 256), {"requires_grad": True})):
            torch.manual_seed(0)
            own = torch.randn(*args, **kwargs)
            self.assertTrue(torch.equal(self.draw(5, torch.randn, *args, **kwargs), own))

    def test_other_distributions_follow_their_generator(self):
        own = torch.randn(300, 300)
        for name in ("heavy_tailed", "positive", "log_uniform", "log_uniform_mild"):
            def styled(seed):
                return distributions.restyle(own, name, torch.Generator().manual_seed(seed))  # noqa: B023

            first = styled(1)
            self.assertTrue(torch.isfinite(first).all())
            self.assertTrue(torch.equal(first, styled(1)))
            self.assertFalse(torch.equal(first, styled(2)))
        outliers = distributions.restyle(own.t(), "outliers", torch.Generator().manual_seed(3))
        others = (outliers - own.t()).abs() > own.t().abs() / 64
        self.assertEqual(outliers.stride(), own.t().stride())
        high, low = others & (outliers.abs() >= 1), others & (outliers.abs() < 1)
        self.assertTrue(1 <= high.sum().item() <= 5)
        self.assertGreaterEqual(outliers[high].abs().min().item(), 10)
        self.assertLess(outliers[low].abs().max().item(), 1e-3)
        self.assertTrue((outliers.abs() < 1e-3).sum(1).max() >= 296 and (outliers.abs() < 1e-3).sum(0).max() >= 296)
        large = distributions.restyle(own, "log_uniform", torch.Generator().manual_seed(3)).abs()
        self.assertGreater(large.max().item(), 5e3)
        self.assertLess(large.min().item(), 1e-3)


class NudgeTest(unittest.TestCase):
    def test_leaves_its_argument_alone(self):
        for dtype in (torch.float64, torch.float32, torch.bfloat16):
            x = torch.rand(1000).to(dtype)
            before = x.clone()
            moved = distributions.nudge(x, 1, True)
            self.assertTrue(torch.equal(x, before), dtype)
            self.assertFalse(torch.equal(moved, before.double()), dtype)

    def test_whole_numbers_stay(self):
        for dtype in (torch.float64, torch.float32):
            x = torch.tensor([0.0, 57.0, 2.5, -3.0], dtype=dtype).repeat(50)
            moved = distributions.nudge(x, 1, True)
            whole = x == x.round()
            self.assertTrue(torch.equal(moved[whole], x[whole].double()))
            self.assertTrue(dtype is torch.float64 or (moved[~whole] != x[~whole]).any())

    def test_moves_by_at_most_half_a_unit_in_the_last_place(self):
        x = torch.rand(1000, dtype=torch.float64) + 1
        error = (distributions.nudge(x, 1, True) / x - 1).abs()
        self.assertLessEqual(error.max().item(), torch.finfo(torch.float64).eps)


class ConstantInputsTest(unittest.TestCase):
    def restyled(self, tensor, distribution="heavy_tailed"):
        return distributions.restyle(tensor, distribution, torch.Generator().manual_seed(3))

    def test_what_never_varies_varies_once(self):
        for constant in (torch.zeros(64), torch.ones(4, 16), torch.full((100,), -2.0), torch.zeros(32, dtype=torch.bfloat16)):
            moved = self.restyled(constant)
            self.assertEqual((moved.shape, moved.stride(), moved.dtype), (constant.shape, constant.stride(), constant.dtype))
            self.assertGreater(moved.unique().numel(), 8)
            self.assertLessEqual((moved - constant).abs().max().item(), 1.0)
            self.assertTrue(torch.equal(self.restyled(constant, "log_uniform"), constant))
        self.assertTrue(((self.restyled(torch.ones(100)) >= 0.5) & (self.restyled(torch.ones(100)) <= 1)).all())

    def test_masks_and_numbers_keep_their_meaning(self):
        mask = torch.zeros(8, 8).masked_fill_(torch.ones(8, 8).triu(1).bool(), float("-inf"))
        for kept in (mask, torch.zeros(64, dtype=torch.int64), torch.eye(8), torch.full((64,), float("-inf"))):
            self.assertTrue(torch.equal(self.restyled(kept), kept))


class TwinDrawsTest(unittest.TestCase):
    DRAWS = {
        "randn_like": lambda x: x + torch.randn_like(x), "rand_like": lambda x: x * torch.rand_like(x),
        "new_empty": lambda x: x * x.new_empty(x.shape).exponential_(), "bernoulli": lambda x: torch.bernoulli(x.abs().clamp(0, 1)),
        "dropout": lambda x: torch.nn.functional.dropout(x, 0.3), "native_dropout": lambda x: torch.native_dropout(x, 0.3, True)[0],
        "randn": lambda x: x + torch.randn(x.shape, dtype=x.dtype),
    }

    def test_a_float64_twin_draws_what_the_reference_draws(self):
        x = torch.rand(1000) - 0.5
        for name, draw in self.DRAWS.items():
            torch.manual_seed(4)
            expected = draw(x)
            torch.manual_seed(4)
            with twin_draws.TwinDraws(torch.float32):
                twin = draw(x.double())
            self.assertIs(twin.dtype, torch.float64, name)
            self.assertLess((twin - expected).abs().max().item(), 1e-5, name)

    def test_leaves_everything_else_alone(self):
        x = torch.rand(1000, dtype=torch.float64)
        with twin_draws.TwinDraws(torch.float32):
            self.assertTrue(torch.equal(x * x + 1, (lambda y: y * y + 1)(x)))
            self.assertIs(torch.randn(3).dtype, torch.float32)


class LongestLoopTest(unittest.TestCase):
    def test_finds_what_is_scanned_and_what_is_summed_up(self):
        x, functional = torch.rand(3, 50, 7), torch.nn.functional
        for function, scan, total in (
                (lambda: x.cumsum(1), 50, 0), (lambda: torch.logcumsumexp(x, dim=-1), 7, 0), (lambda: x.cumprod(0).cumsum(-2), 50, 0),
                (lambda: torch.tensor(1.0).cumsum(0), 1, 0), (lambda: x.sum(1), 0, 50), (lambda: x.mean(), 0, 1050),
                (lambda: torch.var_mean(x, (0, 1)), 0, 150), (lambda: x.std(-1), 0, 7), (lambda: functional.layer_norm(x, (50, 7)), 0, 350),
                (lambda: functional.group_norm(x, 10), 0, 35), (lambda: functional.normalize(x, dim=1), 0, 50), (lambda: x * 2, 0, 0),
                (lambda: functional.batch_norm(x, torch.zeros(50), torch.ones(50), training=True), 0, 21)):
            with rounding.LongestLoop() as found:
                function()
            self.assertEqual((found.scan, found.total), (scan, total))


class RoundingNoiseTest(unittest.TestCase):
    def test_moves_float64_results_by_about_their_last_place(self):
        x = torch.rand(1000, dtype=torch.float64) + 1
        with rounding.RoundingNoise(1):
            moved = x * 2
        error = (moved / (x * 2) - 1).abs()
        self.assertGreater((error > 0).double().mean().item(), 0.5)
        self.assertLessEqual(error.max().item(), torch.finfo(torch.float64).eps)

    def test_leaves_everything_else(self):
        x = torch.rand(8, dtype=torch.float64)
        before, state = x.clone(), torch.random.get_rng_state()
        with rounding.RoundingNoise(1):
            view = x[2:].reshape(2, 3)
            single, count, zeros = x.float(), (x > 0.5).sum(), torch.zeros(4, dtype=torch.float64)
        self.assertTrue(torch.equal(x, before))
        self.assertEqual(view.data_ptr(), x[2:].data_ptr())
        self.assertTrue(torch.equal(single, before.float()))
        self.assertEqual(count.item(), int((before > 0.5).sum()))
        self.assertEqual(zeros.abs().sum().item(), 0)
        self.assertTrue(torch.equal(torch.random.get_rng_state(), state))

    def test_every_seed_is_another_sample(self):
        x = torch.rand(100, dtype=torch.float64) + 1

        def sample(seed):
            with rounding.RoundingNoise(seed):
                return x + 1

        self.assertTrue(torch.equal(sample(3), sample(3)))
        self.assertFalse(torch.equal(sample(3), sample(4)))


if __name__ == "__main__":
    unittest.main()
