"""Triton kernels as they are interpreted where there is no device (python/davinci_worker/compile_only_triton.py).

    python tests/compile_only/interpreter_test.py

Exit status 77 (skipped) without Triton or a working ptxas.
"""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "python")]

try:
    import torch
    import triton  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from davinci_worker import compile_only, compile_only_triton  # noqa: E402
from davinci_worker.undecided import OrderMatters, TooSlow  # noqa: E402

compile_only.install({"arch": 90, "seconds": 60})
import kernels  # noqa: E402
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402

BF16, HALF, FLOAT = torch.bfloat16, torch.float16, torch.float32


def run(kernel, grid, *args, **constants):
    """Three calls of a model: programs in three orders. ``args`` are copied for each; returns the copies of all."""
    results = []

    def model():
        copies = [a.clone() if isinstance(a, torch.Tensor) else a for a in args]
        kernel[grid](*copies, **constants)
        results.append(copies)

    for _ in range(3):
        compile_only.guarded(model)()
    return results


class Interpreter(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(7)

    def same(self, kernel, grid, want, *args, at=-1, tolerance=0.0, **constants):
        for copies in run(kernel, grid, *args, **constants):
            got = copies[at].reshape(want.shape)
            self.assertTrue(torch.allclose(got.double(), want.double(), rtol=tolerance, atol=tolerance),
                            f"{(got.double() - want.double()).abs().max()} off")

    # ---- numbers

    def test_operations_round_as_torch_does(self):
        for dtype in (BF16, HALF, FLOAT):
            a, b = torch.randn(1000).to(dtype), torch.randn(1000).to(dtype)
            a[:2], b[:3] = float("inf"), -0.0
            wanted = {"add": a + b, "sub": a - b, "mul": a * b, "maximum": torch.maximum(a, b), "where_less": torch.where(a < b, a, b),
                      "less": (a < b).to(dtype), "neg_abs": -a.abs()}
            for what, want in wanted.items():
                with self.subTest(what=what, dtype=dtype):
                    for copies in run(kernels.binary, (4,), a, b, torch.empty_like(a), 1000, WHAT=what, BLOCK=256):
                        self.assertTrue(torch.equal(copies[2].nan_to_num(7), want.nan_to_num(7)))

    def test_conversions_round_to_nearest_even(self):
        x = torch.randn(1024) * torch.exp(3 * torch.randn(1024))
        for dtype in (BF16, HALF, torch.float8_e4m3fn, torch.float8_e5m2):
            most = torch.finfo(dtype).max
            with self.subTest(dtype=dtype):
                want = x.clamp(-most, most).to(dtype)
                self.same(kernels.convert, (1,), want.float(), x, torch.empty(1024, dtype=dtype), BLOCK=1024)
        self.same(kernels.convert, (1,), torch.arange(1024).to(BF16), torch.arange(1024), torch.empty(1024, dtype=BF16), BLOCK=1024)
        self.same(kernels.convert, (1,), torch.arange(1024) // 4, (torch.arange(1024) // 4).to(BF16), torch.empty(1024, dtype=torch.int32), BLOCK=1024)

    def test_product_of_half_precision(self):
        for dtype in (BF16, HALF):
            a, b = torch.randn(64, 64).to(dtype), torch.randn(64, 64).to(dtype)
            want = (a.float() @ b.float()).to(dtype)
            self.same(kernels.matmul, (1,), want, a, b, torch.empty_like(want), tolerance=0.02, SIZE=64, PRECISION="")

    def test_product_of_fp32_is_tf32_unless_the_kernel_says_otherwise(self):
        a, b = torch.randn(64, 64), torch.randn(64, 64)
        want = a.double() @ b.double()
        for precision, least, most in (("", 1e-3, 0.1), ("tf32", 1e-3, 0.1), ("tf32x3", 0, 1e-4), ("ieee", 0, 2e-5)):
            for copies in run(kernels.matmul, (1,), a, b, torch.empty(64, 64), SIZE=64, PRECISION=precision):
                off = (copies[2].double() - want).abs().max().item()
                self.assertTrue(least <= off <= most, f"{precision}: {off}")

    def test_rows_of_bf16(self):
        x = torch.randn(16, 200).to(BF16)
        self.same(kernels.rows, (16,), x.softmax(-1), x, torch.empty_like(x), 200, at=1, tolerance=0.01, WHAT="softmax", BLOCK=256)
        self.same(kernels.rows, (16,), x.amax(-1), x, torch.empty(16, dtype=BF16), 200, at=1, WHAT="max", BLOCK=256)
        self.same(kernels.rows, (16,), x.argmax(-1), x, torch.empty(16, dtype=torch.int32), 200, at=1, WHAT="argmax", BLOCK=256)
        self.same(kernels.rows, (16,), x.double().sum(-1), x, torch.empty(16, dtype=BF16), 200, at=1, tolerance=0.5, WHAT="sum", BLOCK=256)
        self.same(kernels.rows, (16,), x.double().cumsum(-1), x, torch.empty_like(x), 200, at=1, tolerance=0.5, WHAT="cumsum", BLOCK=256)

    def test_partial_sums_of_half_precision_overflow(self):
        x = torch.full((1, 256), 300.0, dtype=HALF)
        self.same(kernels.rows, (1,), torch.tensor([float("inf")]), x, torch.empty(1, dtype=HALF), 256, at=1, WHAT="sum", BLOCK=256)

    def test_combinations_of_the_kernels_own(self):
        x, a, b = torch.randn(4, 256), torch.rand(256), torch.randn(256)
        self.same(kernels.variance, (4,), x.var(-1, unbiased=False), x, torch.empty(4), tolerance=1e-5, BLOCK=256)
        for reverse in (False, True):
            h, want = 0.0, []
            for s, t in reversed(list(zip(a.tolist(), b.tolist()))) if reverse else zip(a.tolist(), b.tolist()):
                h = h * s + t
                want.append(h)
            want = torch.tensor(want[::-1] if reverse else want)
            self.same(kernels.recurrence, (1,), want, a, b, torch.empty(256), tolerance=1e-4, BLOCK=256, REVERSE=reverse)

    def test_constants_that_the_text_does_not_declare(self):
        x = torch.randn(4, 100)
        for constants in ({"BLOCK": 128}, {}):
            self.same(kernels.row_sums, (4,), x.sum(-1), x, torch.empty(4), 100, *([] if constants else [128]), at=1, tolerance=1e-4, **constants)

    def test_mask_of_a_scalar_condition_and_a_block_condition(self):
        x = torch.randn(9, 100)
        want = torch.cat([x[1:], torch.zeros(1, 100)])
        self.same(kernels.next_row, (9,), want, x, torch.empty_like(x), 9, 100, at=1, BLOCK=128)
        want[-1] = x[-1]
        self.same(kernels.next_row_in_words, (9,), want, x, torch.empty_like(x), 9, 100, at=1, BLOCK=128)

    def test_tensor_descriptors(self):
        for dtype in (BF16, FLOAT):
            for padding, past in (("zero", 0.0), ("nan", float("nan"))):
                x, out = torch.randn(24, 32).to(dtype), torch.empty(32, 32, dtype=dtype)
                tiles = [TensorDescriptor(t, list(t.shape), list(t.stride()), [16, 32], padding) for t in (x, out)]
                compile_only.guarded(lambda: kernels.doubled_tiles[(2,)](*tiles, BLOCK=16))()
                want = torch.cat([x * 2, torch.full((8, 32), past, dtype=dtype)])
                self.assertTrue(torch.equal(out.nan_to_num(7), want.nan_to_num(7)), f"{dtype}, {padding}")

    def test_atomic_additions(self):
        for dtype in (BF16, HALF, FLOAT):
            x = torch.ones(4, 128, dtype=dtype)
            self.same(kernels.add_rows, (4,), torch.full((32,), 16.0), x, torch.zeros(32, dtype=dtype), 32, at=1, BLOCK=128)

    # ---- programs

    def depends(self, kernel, grid, *args, **constants):
        with self.assertRaises(OrderMatters):
            run(kernel, grid, *args, **constants)
        self.assertEqual(compile_only.report()["blocked"]["reason"], "programs depend on each other")

    def test_programs_that_read_what_others_write(self):
        x = torch.randn(1024)
        self.depends(kernels.after_the_left_one, (8,), x, torch.empty(1024), BLOCK=128)
        self.depends(kernels.blur_in_place, (8,), x, 1024, BLOCK=128)

    def test_programs_that_overwrite_what_others_write(self):
        self.depends(kernels.last_writes_win, (8,), torch.empty(64), BLOCK=64)
        self.depends(kernels.first_one_clears, (8,), torch.randn(1024), torch.ones(1), BLOCK=128)

    def test_programs_that_wait_for_others(self):
        x, zero = torch.rand(1024), torch.zeros(1)
        self.depends(kernels.waits_for_its_turn, (8,), x, zero, torch.zeros(1, dtype=torch.int32), BLOCK=128)
        self.depends(kernels.meets_all_others, (8,), x, torch.empty(1024), zero, torch.zeros(1, dtype=torch.int32), BLOCK=128)

    def test_atomic_operations_order_programs(self):
        x, count = torch.randn(1024), torch.zeros(1, dtype=torch.int32)
        self.same(kernels.under_a_lock, (8,), x.view(8, 128).sum(0), x, torch.zeros(128), count, at=1, tolerance=1e-5, BLOCK=128)
        self.same(kernels.first_under_a_lock_sets, (8,), x.view(8, 128).sum(0), x, torch.empty(128), count, count.clone(), at=1, tolerance=1e-5, BLOCK=128)
        self.same(kernels.last_one_adds_up, (8,), x.sum().reshape(1), x, torch.empty(8), count, torch.empty(1), at=3, tolerance=1e-4, PARTS=8, BLOCK=128)

    def test_sums_whose_order_is_free(self):
        a, b = torch.randn(32, 256), torch.randn(256, 32)
        self.same(kernels.split_k, (4,), a @ b, a, b, torch.zeros(32, 32), 256, at=2, tolerance=1e-4, SIZE=32, BK=64)

    def test_programs_that_write_the_same_values(self):
        x = torch.randn(300)
        self.same(kernels.all_write_the_same, (4,), x * 2, x, torch.empty(300), 300, at=1, BLOCK=128)

    def test_grids(self):
        for grid in ((1, 65536), (1, 1, 65536)):
            with self.assertRaisesRegex(compile_only_triton.LaunchError, "at most 65535 in [yz]"):
                run(kernels.mark, grid, torch.zeros(70000))
        self.same(kernels.mark, (3, 4, 5), torch.ones(10), torch.zeros(10))

    def test_launch_that_takes_too_long(self):
        compile_only.state.seconds, usual = 0.5, compile_only.state.seconds
        try:
            with self.assertRaises(TooSlow):
                run(kernels.mark, (1000, 1000), torch.zeros(2000))
        finally:
            compile_only.state.seconds = usual
        self.assertEqual(compile_only.report()["blocked"]["reason"], "too slow to interpret")

    # ---- tensors

    def test_tensors_of_the_host(self):
        x = torch.ones(8)
        on_host = {"made without a device": lambda: torch.zeros(8), "derived from such": lambda: torch.zeros(4, 2).view(8) + 1,
                   "copied to the host": lambda: x.cpu(), "made of numbers": lambda: torch.tensor([1.0] * 8)}
        on_device = {"like an input": lambda: torch.empty_like(x), "on its device": lambda: torch.zeros(8, device=x.device),
                     "moved": lambda: torch.zeros(8).cuda(), "moved by name": lambda: torch.zeros(8).to("cuda"),
                     "moved to an input": lambda: torch.zeros(8).to(x), "typed as an input": lambda: torch.zeros(8).type_as(x),
                     "on the current device": lambda: torch.zeros(8, device=torch.cuda.current_device()), "with an input": lambda: x + torch.tensor(1.0)}
        for name, make in (on_host | on_device).items():
            with self.subTest(name):
                call = compile_only.guarded(lambda: kernels.mark[(8,)](make()))
                if name in on_device:
                    call()
                else:
                    with self.assertRaisesRegex(ValueError, "cpu tensor"):
                        call()


if __name__ == "__main__":
    unittest.main()
