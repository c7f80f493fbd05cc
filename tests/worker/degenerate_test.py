"""What shows only where an input is at the end of what its kind may hold, and who is chosen where scores are nearly alike:
degenerate_test.py LIBRARY.
"""

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

from davinci_worker import degenerate, oracle  # noqa: E402

TASK = '''
import torch, torch.nn as nn, torch.nn.functional as F
class Model(nn.Module):
    def forward(self{given}):
        {body}
def get_inputs():
    return [{inputs}]
'''


def generator(seed=3):
    return torch.Generator().manual_seed(seed)


class ValuesTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)

    def restyled(self, own, name="degenerate", sizes=(), drawn_before=None):
        before = own.clone()
        if drawn_before is None:
            drawn_before = ~own if own.dtype is torch.bool else own + 1
        other = degenerate.restyle(own, name, generator(), sizes, degenerate.Habits(own, drawn_before))
        self.assertEqual((other.shape, other.stride(), other.dtype), (own.shape, own.stride(), own.dtype))
        self.assertTrue(torch.equal(own, before))
        return other

    def test_rows_of_a_mask_hide_all_or_nothing(self):
        for own in (torch.rand(8, 40) > 0.3, (torch.rand(4, 1, 9, 40) > 0.3).float(), torch.where(torch.rand(8, 40) > 0.3, 0.0, -torch.inf),
                    (torch.rand(8, 40) > 0.3).long(), torch.arange(40) < torch.randint(1, 41, (8, 1))):
            other = self.restyled(own)
            low, high = own.min(), own.max()
            self.assertTrue((other == low).all(-1).any() and (other == high).all(-1).any(), own.dtype)
            self.assertTrue(((other == low) | (other == high)).all())
            self.assertGreater((other == own).double().mean(), 0.6)
            self.assertTrue(torch.equal(own, self.restyled(own, drawn_before=own)), "always the same: structure")
            self.assertTrue(torch.equal(own, self.restyled(own, "degenerate_values")))

    def test_structure_of_a_mask_stays(self):
        causal = (torch.rand(6, 30, 30) > 0.3).tril()
        self.assertFalse(self.restyled(causal).triu(1).any())
        own_segment = (torch.randint(0, 3, (30, 1)) == torch.randint(0, 3, (30,))) | torch.eye(30, dtype=torch.bool)
        self.assertTrue(self.restyled(own_segment).diagonal().all())
        one_hot = torch.nn.functional.one_hot(torch.randint(0, 5, (40,)), 5)
        for same in (one_hot, one_hot.bool(), one_hot.float(), torch.ones(4, 9, dtype=torch.bool), torch.ones(9, dtype=torch.bool)):
            self.assertTrue(torch.equal(same, self.restyled(same)))

    def test_some_lengths_are_zero_and_some_groups_empty(self):
        for dtype in (torch.int64, torch.int32):
            own = torch.randint(1, 51, (32,)).to(dtype)
            other = self.restyled(own, sizes={32, 50})
            self.assertTrue(0 < (other == 0).sum() <= 8)
            self.assertTrue(torch.equal(other[other > 0], own[other > 0]))
            falling = self.restyled(own.sort(descending=True).values, sizes={32, 50})
            self.assertTrue((falling[1:] <= falling[:-1]).all() and falling[-1] == 0)
            begins = torch.tensor([0, 3, 9, 30, 34, 40]).to(dtype)
            self.assertTrue(torch.equal(begins, self.restyled(begins, sizes={40})), "by chance")
            lengths = self.restyled(begins, drawn_before=begins.roll(1).sort().values).diff()
            self.assertEqual((int(lengths.sum()), int((lengths == 0).sum()), int(lengths.max())), (40, 1, 21))
            counts = self.restyled(torch.tensor([5, 9, 2, 14]).to(dtype), sizes={4, 30})
            self.assertEqual((int(counts.sum()), counts.min().item(), counts.max().item()), (30, 0, 14))
            for same in (torch.randperm(32) + 1, torch.arange(8), torch.randint(0, 50, (32,)), torch.tensor([0, 0, 1, 1, 2, 2])):
                self.assertTrue(torch.equal(same.to(dtype), self.restyled(same.to(dtype), sizes={32, 50})))

    def test_silence_and_a_constant_stretch_in_each_sample(self):
        for own in (torch.randn(3, 4000), torch.randn(5, 64, 8), torch.randn(2, 3, 40, 9), torch.randn(1000), torch.randn(400, 6).t()):
            other = self.restyled(own)
            samples = other if own.dim() > 1 else other[None]
            along = max(range(1, samples.dim()), key=lambda d: samples.shape[d])
            steps = samples.movedim(along, 1)[..., None].flatten(2)
            length = steps.shape[1]
            silent = (steps == 0).all(-1).sum(1)
            constant = ((steps[:, 1:] == steps[:, :-1]) & (steps[:, 1:] != 0)).all(-1).sum(1)
            self.assertTrue((silent >= length // 16).all() and (silent <= length // 2).all())
            self.assertTrue((constant >= min(64, length // 16) - 2).all())
            self.assertTrue(torch.equal(own, self.restyled(own, "degenerate_masks")))

    def test_a_large_mean_leaves_the_spread(self):
        for dtype, ratio in ((torch.float64, 4096), (torch.float32, 4096), (torch.float16, 32), (torch.bfloat16, 8)):
            own = (torch.randn(64, 200) * 3).to(dtype)
            other = self.restyled(own, "large_mean").double()
            self.assertTrue(0.7 * ratio < (other.mean().abs() / other.std()).item() < 1.4 * ratio, dtype)
            self.assertAlmostEqual(other.std().item() / 3, 1, delta=0.05)
        self.assertTrue((self.restyled(torch.rand(4096), "large_mean") > 0).all())
        for same in (torch.softmax(torch.randn(30, 40), -1), torch.randint(0, 90, (40, 40)).float(), torch.randn(50).sort().values, torch.tensor(0.5)):
            self.assertTrue(torch.equal(same, self.restyled(same, "large_mean")))
            self.assertTrue(torch.equal(same, self.restyled(same)))


class Judged(unittest.TestCase):
    def setUp(self):
        compiler = torch.compile, torch.nn.Module.compile
        self.addCleanup(lambda: (setattr(torch, "compile", compiler[0]), setattr(torch.nn.Module, "compile", compiler[1])))

    def verdicts(self, body, inputs, given, candidates, distribution, seed=5):
        """(the distribution it came to, the verdict on each candidate, a text like ``body`` or a function) of one check."""
        text = TASK.format(body=body, inputs=inputs, given="".join(f", {name}" for name in given))
        self.oracle = made = oracle.Oracle(None, {"threads": 1})
        made.answers.returned = lambda tensors: tensors
        made.answer({"op": "load", "path": "/nowhere/task.py", "source": text, "entry": "Model", "init_seed": 1, "state_seed": 2, "precision": "fp32"})
        made.answer({"op": "describe", "seed": 3})
        made.answer({"op": "prepare", "seed": seed, "truth": True})
        used = made.answer({"op": "prepare", "seed": seed, "truth": True, "distribution": distribution})[0]["distribution"]
        found = []
        for candidate in candidates:
            scope = {}
            exec("import torch, torch.nn as nn, torch.nn.functional as F\n" + f"def f({', '.join(given)}):\n        {candidate}", scope)  # noqa: S102
            answer = scope["f"](*(t.clone() for t in made.draws.current.tensors))
            found.append(made.comparison.with_truth(made.draws.current, list(answer) if isinstance(answer, tuple) else [answer])["passed"])
        return used, found


class VerdictTest(Judged):
    def tells(self, body, inputs, given, wrong, right, distribution="degenerate"):
        """The check refuses what is wrong, which the task's own inputs do not show, and accepts the honest twins."""
        self.assertEqual(self.verdicts(body, inputs, given, [*wrong, *right], "task"), ("task", [True] * (len(wrong) + len(right))))
        for seed in (5, 6):
            self.assertEqual(self.verdicts(body, inputs, given, [*wrong, *right], distribution, seed),
                             (distribution, [False] * len(wrong) + [True] * len(right)))

    def test_a_floor_below_the_loudest_of_the_batch(self):
        energy = "e = x.unfold(-1, 100, 40).square().mean(-1); d = 10 * torch.log10(e.clamp(min=1e-10)); "
        self.tells(energy + "return torch.maximum(d, d.amax() - 80)", "torch.randn(3, 4000)", "x",
                   [energy + "return d", energy + "return 10 * torch.log10(e)", energy + "return torch.maximum(d, d.amax(-1, keepdim=True) - 80)"],
                   [energy + "return d.clamp(min=(d.amax() - 80).item())"])

    def test_a_query_without_keys(self):
        scores = "s = q @ k.mT / 4; "
        masked = scores + "p = s.masked_fill(hidden, -torch.inf).softmax(-1); "
        twin = scores + "s = s.masked_fill(hidden, -1e30); e = torch.exp(s - s.amax(-1, keepdim=True)) * ~hidden; " \
            "return e @ v / e.sum(-1, keepdim=True).clamp(min=1e-30)"
        self.tells(masked + "return p.nan_to_num(0.0) @ v", "*(torch.randn(4, 24, 16) for _ in range(3)), torch.rand(4, 24, 24) < 0.3", ("q", "k", "v", "hidden"),
                   [masked + "return p @ v", scores + "return s.masked_fill(hidden, -1e9).softmax(-1) @ v"], [twin])
        # Where the reference itself has no number, any answer does.
        used, found = self.verdicts(masked + "return p @ v", "*(torch.randn(4, 24, 16) for _ in range(3)), torch.rand(4, 24, 24) < 0.3",
                                    ("q", "k", "v", "hidden"), [twin, masked + "return p @ v"], "degenerate")
        self.assertEqual((used, found), ("degenerate", [True, True]))

    def test_a_sequence_of_no_length(self):
        kept = "x = x * (torch.arange(30) < n[:, None])[..., None]; "
        self.tells(kept + "return x.sum(1) / n.clamp(min=1)[:, None]", "torch.randn(16, 30, 8), torch.randint(1, 31, (16,))", ("x", "n"),
                   [kept + "return x.sum(1) / n[:, None]"],
                   ["return torch.stack([t[:k].sum(0) / max(k, 1) for t, k in zip(x, n.tolist())])"])
        padded = "torch.randn(16, 30, 8), torch.arange(30) >= torch.randint(1, 31, (16, 1))"
        self.tells("return torch.nan_to_num(x.masked_fill(pad[..., None], -torch.inf).amax(1), neginf=0.0)", padded, ("x", "pad"),
                   ["return x.masked_fill(pad[..., None], -torch.inf).amax(1)"],
                   ["return torch.stack([t[~p].amax(0) if (~p).any() else torch.zeros(8) for t, p in zip(x, pad)])"])

    def test_the_last_step_of_no_steps_is_not_asked_for(self):
        """It is the last one of the padding, by an index of -1, which a kernel need not imitate."""
        inputs, given = "torch.randn(16, 30, 8), torch.randint(1, 31, (16,))", ("x", "n")
        for last in ("x[torch.arange(16), n - 1]", "torch.stack([t[k - 1] for t, k in zip(x, n.tolist())])"):
            self.assertEqual(self.verdicts("return " + last, inputs, given, ["return x[torch.arange(16), (n - 1).clamp(min=0)]"], "degenerate"),
                             ("degenerate_values", [True]))
        meant = "return x[torch.arange(16), -n]"
        self.assertEqual(self.verdicts(meant, inputs, given, [meant], "degenerate"), ("degenerate", [True]))

    def test_an_empty_group(self):
        groups = "torch.randn(60, 8), torch.cat((torch.tensor([0]), (torch.randperm(59)[:9] + 1).sort().values, torch.tensor([60])))"
        of_group = "torch.stack([x[a:b].amax(0) if b > a else torch.zeros_like(x[0]) for a, b in zip(begins[:-1].tolist(), begins[1:].tolist())])"
        scattered = "w = torch.bucketize(torch.arange(60), begins, right=True) - 1; " \
            "y = torch.full((10, 8), -torch.inf).scatter_reduce(0, w[:, None].expand(60, 8), x, 'amax'); "
        self.tells("return " + of_group, groups, ("x", "begins"), [scattered + "return y"], [scattered + "return y.nan_to_num(neginf=0.0)"])

    def test_a_variance_far_from_zero(self):
        for shape, dims in (("64, 512", (-1,)), ("16, 32, 50", (0, 2)), ("1024,", (0,))):
            mean = f"m = x.mean({dims}, keepdim=True); "
            ends = "return (x - m) * torch.rsqrt(v + 1e-5)"
            squares, loop = mean + f"v = (x * x).mean({dims}, keepdim=True) - m * m; ", mean + f"v = (x - m).square().mean({dims}, keepdim=True); "
            shifted = f"y = x - x.flatten()[0]; m = y.mean({dims}, keepdim=True); v = (y * y).mean({dims}, keepdim=True) - m * m; x = y; "
            honest = [loop + ends] + ([shifted + ends] if dims == (-1,) else [])
            self.tells(f"v, m = torch.var_mean(x, {dims}, correction=0, keepdim=True); " + ends, f"torch.randn({shape})", "x", [squares + ends], honest, "large_mean")

    def test_where_rounding_costs_the_answer_nothing_is_asked(self):
        distances = "return x.square().sum(1, keepdim=True) - 2 * x @ x.T + x.square().sum(1)"
        self.assertEqual(self.verdicts(distances, "torch.randn(64, 32)", "x", [], "large_mean")[0], "task")
        squares = "return (x * x).mean(-1) - x.mean(-1) ** 2"
        self.assertEqual(self.verdicts(squares, "torch.randn(64, 512)", "x", [], "large_mean")[0], "task", "the reference's own way")


CODES = "torch.randn(2048, 16), torch.rand(128, 16) / 64"
EXPANDED = "d = z.square().sum(1, keepdim=True) + c.square().sum(1) - 2 * z @ c.T; "
DIRECT = "d = (z[:, None] - c).square().sum(-1); "


class ChoiceTest(Judged):
    def chosen(self, ends, wrong, right=(DIRECT,), reference=EXPANDED, inputs=CODES, given=("z", "c")):
        """All honest forms are right on all seeds, and each wrong one is refused on some."""
        refused = [0] * len(wrong)
        for seed in range(4):
            _, found = self.verdicts(reference + ends, inputs, given, [*(r + ends for r in right), *wrong], "task", seed)
            self.assertEqual(found[:len(right)], [True] * len(right), (ends, seed))
            refused = [count + (not passed) for count, passed in zip(refused, found[len(right):])]
        self.assertTrue(all(refused), (ends, refused))

    def test_the_nearest_code_is_decided_by_its_distance(self):
        without_norm = "d = -(z @ c.T); "
        for ends in ("i = d.argmin(1); return F.embedding(i, c), i", "i = d.argmin(1); return i.to(torch.int32).view(32, 64)",
                     "return F.embedding(d.argmin(1), c)", "v, i = d.min(1); return v, i", "v, i = (-d).topk(2, 1); return i, c[i].sum(1)",
                     "i = d[:, :16].argsort(1); return i, c[i[:, 0]]"):
            wrong = [without_norm + ends]
            if ends.endswith(", i") and "argmin" in ends:
                wrong += [DIRECT + "i = d.argmin(1); return F.embedding(i, c), i.roll(1)", DIRECT + "i = d.argmin(1); return F.embedding(i.roll(1), c), i",
                          DIRECT + "i = torch.where(torch.arange(2048) == 99, 5, d.argmin(1)); return F.embedding(i, c), i"]
            self.chosen(ends, wrong)

    def test_experts_of_a_router(self):
        reference, inputs = "s = (x @ w).softmax(-1); ", "torch.randn(512, 64), torch.randn(64, 16) / 64"
        ends = "p, i = s.topk(2); return p / p.sum(-1, keepdim=True), i"
        in_double = "s = (x.double() @ w.double()).softmax(-1).float(); "
        coarse = "s = (x.bfloat16() @ w.bfloat16()).float().softmax(-1); "
        twice = ends.replace("return", "i = i[:, :1].expand_as(i); return")
        self.chosen(ends, [coarse + ends, reference + twice], [in_double, reference], reference, inputs, ("x", "w"))

    def test_what_is_not_rounded_has_no_near_ties(self):
        self.chosen("return x.argmax(-1)", ["return (x + 1e-6 * torch.rand(x.shape)).bfloat16().argmax(-1)"], ["x = x + 0; "], "", "torch.randn(4096, 64)", "x")


if __name__ == "__main__":
    unittest.main()
