"""Other values than a task's own must still be what the task means by them, and must differ where the task lets them:
distributions_test.py LIBRARY.
"""

import math
import os
import pathlib
import sys
import unittest

os.environ["DAVINCI_WORKER_LIB"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import numpy  # noqa: F401
    import torch
except ImportError:
    print("skipped: this Python has no torch and numpy")
    sys.exit(77)

from davinci_worker import distributions, oracle, packing, structure  # noqa: E402

STRESS = ("heavy_tailed", "positive", "log_uniform", "log_uniform_mild", "outliers")
DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
TASK = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    {draw}
    return [torch.tril(torch.randn(64, 64{generator})), torch.tensor(0.5), torch.eye(8)]
def get_init_inputs(): return []
"""


def generator(seed=3):
    return torch.Generator().manual_seed(seed)


class DistributionsTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)

    def others(self, own, names=STRESS):
        """(name, another tensor like ``own``) for every distribution, and for inputs that never vary."""
        for name in (*names, "scaled"):
            before = own.clone()
            other = distributions.scaled(own, 7) if name == "scaled" else distributions.restyle(own, name, generator())
            self.assertEqual((other.shape, other.stride(), other.dtype), (own.shape, own.stride(), own.dtype), name)
            self.assertTrue(torch.equal(own, before), name)
            self.assertTrue(other.isfinite().all(), name)
            with self.subTest(distribution=name, dtype=own.dtype):
                yield name, other

    def changed(self, own, other):
        return (own != other).double().mean().item()


class WholeTest(DistributionsTest):
    def test_other_lengths_positions_and_segments_mean_the_same(self):
        for dtype in (torch.int64, torch.int32):
            lengths = distributions.other_whole(torch.full((40,), 9, dtype=dtype), generator())
            self.assertTrue(1 <= lengths.min() < lengths.max() <= 9)
            positions = distributions.other_whole(torch.arange(3, 43, dtype=dtype).expand(2, 40), generator())
            self.assertTrue(torch.equal(positions.sort(-1).values, torch.arange(3, 43, dtype=dtype).expand(2, 40)))
            own = torch.arange(5, dtype=dtype).repeat_interleave(8)
            segments = distributions.other_whole(own, generator())
            self.assertTrue((segments[1:] >= segments[:-1]).all())
            self.assertTrue(torch.equal(segments.unique(), own.unique()))
            for other, before in ((lengths, torch.full((40,), 9)), (positions, torch.arange(3, 43)), (segments, own)):
                self.assertIs(other.dtype, dtype)
                self.assertFalse(torch.equal(other, before.to(dtype).expand_as(other)))
        groups = distributions.other_whole(torch.full((5,), 9), generator(), {45})
        self.assertEqual((int(groups.sum()), bool((groups >= 1).all()), int(groups.max()) > 9), (45, True, True))
        for fixed in (torch.zeros(8, dtype=torch.int64), torch.tensor([0, 3, 9, 12]), torch.tensor([5, 1, 4])):
            self.assertTrue(torch.equal(distributions.other_whole(fixed, generator()), fixed))


class UntouchedTest(DistributionsTest):
    def test_random_numbers_are_all_others(self):
        for own in (torch.randn(300, 200), torch.rand(64, 64), torch.randn(20, 30, 4), torch.randn(5000), torch.rand(40, 40).t(), torch.randn(7)):
            for name, other in self.others(own):
                if name != "outliers":
                    self.assertGreater(self.changed(own, other), 0.99)
                else:
                    self.assertTrue(1 <= (other.abs() >= 10).sum() <= 5)
                    self.assertEqual(other.reshape(-1)[-1].abs(), other.abs().max())
                    if own.dim() > 1:
                        self.assertTrue((other == 0).flatten(1).all(1).any())
                    faint = (other.abs() < 1e-3).flatten(1) if own.dim() > 1 else torch.zeros(1, 1)
                    self.assertEqual(bool(faint.double().mean(1).max() > 0.9), own.dim() > 1)
                    self.assertTrue(own.numel() < 10 or ((own - other).abs() > own.abs() / 64).double().mean() < 0.2)
        for dtype in (torch.float16, torch.bfloat16):
            for own in (torch.randn(300, 200).to(dtype), torch.rand(300, 200).to(dtype), (torch.randn(300, 200) * 1e4).to(dtype)):
                self.assertGreater(self.changed(own, distributions.restyle(own, "heavy_tailed", generator())), 0.9)

    def test_what_has_one_sign_keeps_it_on_the_milder_rungs(self):
        for own, side in ((torch.rand(4096), 1), (-0.1 * torch.rand(4096), -1), (torch.randn(4096), 0)):
            for name in ("heavy_tailed_sided", "outliers", "outliers_small"):
                other = distributions.restyle(own, name, generator())
                self.assertGreater(other.abs().max(), 3 * own.abs().max())
                self.assertTrue((other * side >= 0).all() if side else other.min() < 0 < other.max(), (name, side))
            self.assertTrue((distributions.restyle(own, "heavy_tailed", generator()) < 0).any())

    def test_bfloat16_and_tf32_can_be_made_to_round_towards_zero(self):
        for own in (torch.randn(64, 64), torch.randn(64, 64, dtype=torch.float64), torch.randn(64, 64).half()):
            for coarse in (True, False):
                other = distributions.restyle(own, "heavy_tailed", generator(), coarse)
                down = other.to(torch.bfloat16).double().abs() <= other.double().abs()
                self.assertEqual(bool(down.all()), coarse, own.dtype)
                if own.dtype is torch.float32:
                    tf32 = ((other.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)
                    self.assertEqual(bool((tf32.abs() <= other.abs()).all()), coarse)
        whole = torch.arange(-200.0, 200.0).view(20, 20)
        self.assertTrue(torch.equal(distributions.round_down(whole.clone()), whole))

    def test_strides_stay(self):
        for own in (torch.randn(40, 60).t(), torch.randn(40, 60)[:, ::2], torch.randn(40, 60, 3).permute(2, 0, 1),
                    torch.tril(torch.randn(40, 40)).t()):
            for _ in self.others(own):
                pass

    def test_a_number_alone(self):
        for own in (torch.tensor(0.75), torch.tensor(-0.3, dtype=torch.bfloat16)):
            for name, other in self.others(own):
                self.assertEqual(name == "outliers", torch.equal(own, other))
        for _, other in self.others(torch.tensor(3.0)):
            self.assertEqual(other.item(), 3.0)

    def test_what_has_no_elements(self):
        for _ in self.others(torch.zeros(0, 5)):
            pass


class StructureTest(DistributionsTest):
    def test_whole_numbers(self):
        for dtype in DTYPES:
            for own in (torch.randint(1, 51, (64,)).to(dtype), torch.randint(0, 100, (300, 200)).to(dtype), torch.arange(100).to(dtype)):
                for _, other in self.others(own):
                    self.assertTrue(torch.equal(own, other))

    def test_a_column_of_whole_numbers(self):
        own = torch.rand(200, 6)
        own[:, 5] = torch.randint(0, 20, (200,)).float()
        for name, other in self.others(own):
            self.assertTrue(torch.equal(own[:, 5], other[:, 5]))
            self.assertTrue(name == "outliers" or self.changed(own[:, :5], other[:, :5]) > 0.99)

    def test_zeros(self):
        wide = torch.randn(128, 64, 4)
        for dtype in DTYPES:
            for own in (torch.tril(torch.rand(256, 256)), torch.triu(torch.randn(3, 90, 90)), torch.relu(torch.randn(50, 70)),
                        torch.diag(torch.rand(200)), torch.zeros_like(wide).scatter(-1, wide.abs().topk(2, -1).indices, 1.5) * wide):
                own = own.to(dtype)
                diagonal = own.count_nonzero() <= 200
                for name, other in self.others(own):
                    self.assertTrue((other[own == 0] == 0).all())
                    self.assertTrue(name == "outliers" or diagonal or self.changed(own[own != 0], other[own != 0]) > 0.9)

    def test_definite_matrices_and_orthonormal_rows(self):
        factor = torch.randn(20, 3, 3)
        rows = torch.linalg.qr(torch.randn(6, 40, 40)).Q[:, :12]
        for own in (factor @ factor.mT + torch.eye(3), rows, rows.mT.contiguous()):
            for name, other in self.others(own):
                if own is rows or own.shape[-1] == 12:
                    self.assertTrue(torch.equal(own, other), name)
                else:
                    self.assertFalse(torch.linalg.cholesky_ex(other).info.any(), name)
        plain = torch.randn(20, 3, 3)
        self.assertGreater(self.changed(plain + plain.mT, distributions.restyle(plain + plain.mT, "heavy_tailed", generator())), 0.9)

    def test_what_holds_along_another_dimension(self):
        for own, holds in ((torch.softmax(torch.randn(4, 20, 8, 8), 1), lambda t: ((t.sum(1) - 1).abs() < 1e-5).all() and (t >= 0).all()),
                           (torch.nn.functional.normalize(torch.randn(4, 20, 50), dim=1), lambda t: ((t.norm(dim=1) - 1).abs() < 1e-5).all()),
                           (torch.rand(40, 6, 7).sort(0).values, lambda t: (t[1:] >= t[:-1]).all())):
            for name, other in self.others(own):
                self.assertTrue(holds(other), name)
                self.assertTrue(name == "outliers" or self.changed(own, other) > 0.9, name)

    def test_symmetry(self):
        square = torch.randn(300, 300)
        wide = torch.randn(5, 40, 30)
        for own in (square + square.T, torch.cdist(square[:90], square[:90]), wide @ wide.mT - 30 * torch.eye(40)):
            for name, other in self.others(own):
                self.assertTrue(torch.equal(other, other.mT))
                self.assertTrue(name == "outliers" or self.changed(own, other) > 0.9)

    def test_numbers_that_are_passed_beside_tensors(self):
        value = [packing.Slot(0), 2.0, 0.0, 3, True, "same", {"eps": 1e-5}, (math.inf, [0.5])]
        _, scale, shift, count, flag, name, named, (infinite, (nested,)) = distributions.other_numbers(value, generator())
        self.assertTrue(1 <= scale < 2 and 0 < shift < 0.5 and 5e-6 <= named["eps"] < 1e-5 and 0.25 <= nested < 0.5)
        self.assertEqual((count, flag, name, infinite), (3, True, "same", math.inf))

    def test_a_mask_that_hides_nothing(self):
        for own in (torch.ones(8, 100, dtype=torch.bool), torch.zeros(8, 100, dtype=torch.bool)):
            for name, share in (("heavy_tailed", 0.125), ("outliers", 0.005), ("log_uniform", 0)):
                self.assertAlmostEqual(self.changed(own, distributions.restyle(own, name, generator())), share, delta=0.03 if share > 0.1 else share)
        own = torch.ones(30, 30, dtype=torch.bool).tril()
        self.assertTrue(torch.equal(own, distributions.restyle(own, "heavy_tailed", generator())))

    def test_a_random_walk_may_mix_slowly(self):
        for own, dimension in ((torch.softmax(torch.randn(3, 40, 40), -1), -1), (torch.softmax(torch.randn(40, 40), 0), 0)):
            other = distributions.restyle(own, "log_uniform", generator())
            self.assertTrue(((other.sum(dimension) - 1).abs() < 1e-5).all() and (other >= 0).all())
            self.assertTrue((other.diagonal(dim1=-2, dim2=-1) >= 0.98).all())
            self.assertLess(distributions.restyle(own, "heavy_tailed", generator()).diagonal(dim1=-2, dim2=-1).mean(), 0.2)

    def test_what_can_be_solved(self):
        square = torch.randn(4, 96, 96)
        definite = square @ square.mT / 96 + torch.eye(96)
        dominated = torch.randn(4, 96, 96) + 96 * torch.eye(96)
        for own in (definite, dominated, torch.tril(torch.rand(4, 64, 64)) + 8 * torch.eye(64)):
            has_zeros = bool((own == 0).any())
            for name, other in self.others(own):
                self.assertEqual(name == "scaled" or name == "heavy_tailed" and not has_zeros, not torch.equal(own, other), name)
        other = distributions.restyle(dominated, "heavy_tailed", generator())
        self.assertTrue(torch.allclose(torch.linalg.svdvals(other), torch.linalg.svdvals(dominated), rtol=1e-4))
        self.assertLess((other.diagonal(dim1=1, dim2=2) > 48).float().mean(), 0.1)
        other = distributions.restyle(definite, "heavy_tailed", generator())
        self.assertTrue(torch.equal(other, other.mT))
        torch.linalg.cholesky(other)
        self.assertGreater((other.abs().sum(-1) / other.diagonal(dim1=1, dim2=2)).min(), 10)
        scaled = distributions.scaled(definite, 7)
        self.assertTrue(torch.equal(scaled, scaled.mT))
        torch.linalg.cholesky(scaled)

    def test_order(self):
        for own, descending in ((torch.sort(torch.randn(63)).values, False), (torch.sort(torch.randn(20, 100), descending=True).values, True),
                                (torch.relu(torch.sort(torch.randn(20, 100)).values), False), (torch.linspace(-2, 3, 1000), False)):
            for _, other in self.others(own):
                self.assertTrue(torch.equal(other, other.sort(-1, descending=descending).values))
                self.assertFalse(torch.equal(own, other))
        constant_rows = torch.randn(50, 1).repeat(1, 20)
        other = distributions.restyle(constant_rows, "heavy_tailed", generator())
        self.assertFalse(torch.equal(other, other.sort(-1).values))

    def test_probabilities(self):
        for dtype in DTYPES:
            for own in (torch.softmax(torch.randn(256, 100), -1), torch.softmax(torch.randn(64), -1), torch.nn.functional.normalize(
                    torch.relu(torch.randn(60, 80)), p=1, dim=-1)):
                own = own.to(dtype)
                for _, other in self.others(own):
                    self.assertGreaterEqual(other.min(), 0)
                    self.assertLessEqual((other.double().sum(-1) - 1).abs().max(), max(1e-5, torch.finfo(dtype).eps))
                    self.assertTrue((other[own == 0] == 0).all())
                    self.assertFalse(torch.equal(own, other))
        other = distributions.restyle(torch.full((64, 100), 0.01), "heavy_tailed", generator())
        self.assertLessEqual((other.sum(-1) - 1).abs().max(), 1e-5)

    def test_unit_vectors(self):
        for dtype in DTYPES:
            for own in (torch.nn.functional.normalize(torch.randn(5000, 4), dim=-1), torch.nn.functional.normalize(torch.randn(3, 40, 128), dim=-1)):
                for _, other in self.others(own.to(dtype)):
                    self.assertLessEqual((other.double().norm(dim=-1) - 1).abs().max(), max(1e-5, torch.finfo(dtype).eps))
                    self.assertFalse(torch.equal(own, other))

    def test_piece_by_piece(self):
        """As if they were too large to be looked at in one go."""
        square, whole = torch.randn(3, 70, 70), structure.CHUNK
        for own in (torch.tril(torch.randn(90, 90)), square + square.mT, torch.softmax(torch.randn(9, 90), -1),
                    torch.sort(torch.randn(5, 400)).values, torch.randint(0, 100, (3, 900)).float(), torch.randn(70, 70, 3).permute(2, 1, 0)):
            for name in STRESS:
                other = distributions.restyle(own, name, generator())
                structure.CHUNK = 100
                try:
                    self.assertTrue(torch.equal(other, distributions.restyle(own, name, generator())), name)
                finally:
                    structure.CHUNK = whole


class ConstantTest(DistributionsTest):
    def test_a_few_differ(self):
        for own in (torch.zeros(64, 256), torch.ones(5000), torch.full((100, 200), -2.5).t()):
            everywhere = distributions.restyle(own, "heavy_tailed", generator())
            few = distributions.restyle(own, "outliers", generator())
            self.assertGreater(self.changed(own, everywhere), 0.99)
            self.assertTrue(1 <= (few != own).sum() <= 4 + own.numel() // 1000)
            self.assertLessEqual((few - own).abs().max(), 0.5 * max(1.0, own.abs().max().item()))
            self.assertEqual(few.stride(), own.stride())


class NeverVaryTest(unittest.TestCase):
    def oracle(self, draw, generator=""):
        made = oracle.Oracle(None, {"threads": 1})
        made.answer({"op": "load", "path": "/nowhere/task.py", "source": TASK.format(draw=draw, generator=generator), "entry": "Model", "init_seed": 1,
                     "state_seed": 2, "precision": "fp32", "randomise": False})
        calls, get_inputs = [], made.reference.module.get_inputs
        made.reference.module.get_inputs = lambda: calls.append(1) or get_inputs()
        return made, calls

    def test_a_task_with_its_own_seed(self):
        for draw, generator in (("torch.manual_seed(3)", ""), ("g = torch.Generator().manual_seed(3)", ", generator=g")):
            made, calls = self.oracle(draw, generator)
            first, again, other = (made.draws.draw(seed, "task", 0).tensors for seed in (11, 11, 12))
            self.assertEqual(len(calls), 4)
            self.assertTrue(torch.equal(first[0], again[0]))
            self.assertFalse(torch.equal(first[0], other[0]))
            ratio = (first[0] / made.reference.own_inputs(11, None, 0)[1][0]).tril()
            ratio = ratio[torch.ones(64, 64).tril().bool()]
            self.assertTrue(0.74 <= ratio.min() < 0.8 and 1.2 < ratio.max() <= 1.26)
            self.assertEqual(first[0].triu(1).count_nonzero(), 0)
            self.assertTrue(torch.equal(first[2], torch.eye(8)))

    def test_any_other_task_is_asked_once(self):
        made, calls = self.oracle("pass")
        for seed in range(5):
            drawn = made.draws.draw(seed, "task", 0).tensors
            torch.manual_seed(seed)
            self.assertTrue(torch.equal(drawn[0], torch.tril(torch.randn(64, 64))))
            self.assertEqual(drawn[1].item(), 0.5)
        self.assertEqual(len(calls), 6)

    def test_fingerprints(self):
        one, two, mask = torch.randn(100, 100), torch.randn(100, 100), torch.eye(100)
        number, infinite = torch.tensor(0.5), torch.full((9,), math.inf)
        for some, others, same in (([one, mask], [one, mask], {0}), ([one, two], [one, one], {0}), ([mask], [mask], set()), ([], [], set()),
                                   ([two, one], [one, one], {1}), ([one], [one[:50]], set()), ([infinite], [one], set()),
                                   ([one, number], [one, number], {0, 1}), ([one, number], [two, number], set())):
            self.assertEqual(distributions.never_vary(distributions.fingerprint(some), distributions.fingerprint(others)), same)


if __name__ == "__main__":
    unittest.main()
