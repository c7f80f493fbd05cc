"""Kernels that go through a long sum in one fp32 loop are honest, those that add up in half precision are not. Prints, for each
kernel, the largest error over tolerance in each distribution: loops_test.py LIBRARY [DRAWS].
"""

import os
import pathlib
import sys
import unittest

os.environ["DAVINCI_WORKER_LIB"] = sys.argv.pop(1)
DRAWS = int(sys.argv.pop(1)) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 2
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import numpy
    import torch
except ImportError:
    print("skipped: this Python has no torch and numpy")
    sys.exit(77)

from davinci_worker import oracle, rounding  # noqa: E402

DISTRIBUTIONS = ("task", "heavy_tailed", "log_uniform", "outliers")
TASK = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return {forward}
def get_inputs(): return [torch.{inputs}]
def get_init_inputs(): return []
"""


def scan(x):
    """Every step in fp32, one after the other (torch's own goes in double)."""
    return torch.from_numpy(numpy.cumsum(x.numpy(), axis=-1, dtype=numpy.float32))


def loop(x):
    return scan(x)[..., -1]


def variance(x):
    centred = x - loop(x)[:, None] / x.shape[-1]
    return loop(centred * centred) / x.shape[-1]


def half(x):
    """In 1,024 fp16 accumulators."""
    sums = torch.zeros(x.shape[0], 1024, dtype=torch.float16)
    for part in x.reshape(x.shape[0], -1, 1024).unbind(1):
        sums = (sums.float() + part).half()
    return sums.float().sum(-1)


def half_scan(x):
    """In fp32 within a block, with an fp16 carry."""
    blocks = x.reshape(x.shape[0], -1, 256)
    carry, done = torch.zeros(x.shape[0], 1), []
    for block in blocks.unbind(1):
        done.append(scan(block) + carry)
        carry = done[-1][:, -1:].half().float()
    return torch.cat(done, 1)


HONEST = {
    "sum": ("x.sum(-1)", loop),
    "mean of squares": ("(x * x).mean(-1)", lambda x: loop(x * x) / x.shape[-1]),
    "mse_loss": ("torch.nn.functional.mse_loss(x, torch.zeros_like(x))", lambda x: loop((x * x).reshape(1, -1))[0] / x.numel()),
    "var": ("x.var(-1, correction=0)", variance),
    "layer_norm": ("torch.nn.functional.layer_norm(x, x.shape[-1:])",
                   lambda x: (x - loop(x)[:, None] / x.shape[-1]) * torch.rsqrt(variance(x)[:, None] + 1e-5)),
    "normalize": ("torch.nn.functional.normalize(x, dim=-1)", lambda x: x / loop(x * x)[:, None].sqrt().clamp(min=1e-12)),
    "cumsum": ("x.cumsum(-1)", scan),
}
SLOPPY = {"sum": ("x.sum(-1)", half), "cumsum": ("x.cumsum(-1)", half_scan)}


class LoopsTest(unittest.TestCase):
    def judged(self, forward, inputs, kernel):
        """{distribution: (all passed, largest error over tolerance)}"""
        made = oracle.Oracle(None, {"threads": 1})
        source = TASK.format(forward=forward, inputs=inputs)
        made.answer({"op": "load", "path": "/nowhere/task.py", "source": source, "entry": "Model", "init_seed": 1, "state_seed": 2,
                     "precision": "fp32", "randomise": False})
        made.answer({"op": "describe", "seed": 3})
        found = {}
        for distribution in DISTRIBUTIONS:
            reports = []
            for seed in range(DRAWS):
                made.answer({"op": "prepare", "seed": 1000 + seed, "distribution": distribution, "truth": True})
                reports.append(made.comparison.with_truth(made.draws.current, [kernel(made.draws.current.tensors[0])])["outputs"][0])
            ratios = [r["max_ratio"] if isinstance(r["max_ratio"], float) else float("inf") for r in reports]
            found[distribution] = (all(r["passed"] for r in reports), max(ratios))
        print(f"{forward:58} {inputs:20}", " ".join(f"{d} {ratio:.2g}" for d, (_, ratio) in found.items()), file=sys.stderr, flush=True)
        return found

    def test_products_of_a_part_that_fp32_does_not_hold(self):
        def overflows(exponents, forward=lambda x: x.cumprod(-1)):
            with rounding.PartialProducts() as products:
                forward(torch.exp2(torch.tensor(exponents, dtype=torch.float64)))
            return products.overflow

        self.assertFalse(overflows([50.0, 50, -50, 50]))
        self.assertTrue(overflows([-90.0, -90, 70, 70, 10]))  # from the first on all are below 1, the last three are 2^150
        self.assertTrue(overflows([60.0, -70, -70, 50], lambda x: x.prod()))
        self.assertTrue(overflows([[0.0, -100, 0], [0, 100, 0], [0, 100, 0]], lambda x: x.prod(0)))
        self.assertFalse(overflows([[0.0, -100, 0], [0, 100, 0], [0, 20, 0]], lambda x: x.prod(1)))

    def test_the_parts_of_a_long_product_stay_inside_fp32(self):
        judge = oracle.Oracle(None, {"threads": 1})
        judge.answer({"op": "load", "path": "/task/products.py", "entry": "Model", "init_seed": 11, "state_seed": 12, "precision": "fp32",
                      "source": TASK.format(forward="torch.cumprod(x, 0)", inputs="rand(512, 64) + 0.5")})
        judge.answer({"op": "describe", "seed": 3})
        drawn, used, _ = judge.truth.draw_judged(5, "log_uniform", 0)
        self.assertNotEqual(used, "log_uniform")
        with rounding.PartialProducts() as products:
            torch.cumprod(drawn.tensors[0], 0)
        self.assertFalse(products.overflow)

    def test_one_fp32_loop_is_honest(self):
        for terms, rows in ((4096, 16), (16384, 8), (65536, 4)):
            for draw in ("rand", "randn"):
                for name, (forward, kernel) in HONEST.items():
                    if name == "mse_loss":
                        inputs = f"{draw}({terms})"
                    else:
                        inputs = f"{draw}({rows}, {terms})"
                    with self.subTest(kernel=name, terms=terms, draw=draw):
                        for distribution, (passed, ratio) in self.judged(forward, inputs, kernel).items():
                            self.assertTrue(passed, f"{distribution}: {ratio} of the tolerance")

    def test_half_precision_is_not(self):
        for terms in (4096, 65536):
            for name, (forward, kernel) in SLOPPY.items():
                with self.subTest(kernel=name, terms=terms):
                    passed, ratio = self.judged(forward, f"rand(8, {terms})", kernel)["heavy_tailed"]
                    self.assertFalse(passed)
                    self.assertGreater(ratio, 4)


if __name__ == "__main__":
    unittest.main()
