"""What of a candidate's state takes what of the reference's: handover_test.py LIBRARY."""

import os
import pathlib
import sys
import unittest

os.environ["DAVINCI_WORKER_LIB"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import torch
    from torch import nn
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)

from davinci_worker import handover, packing, weights  # noqa: E402


class Holder(nn.Module):
    """Parameters, and tensors of the other arguments as buffers."""

    def __init__(self, **tensors):
        super().__init__()
        for name, tensor in tensors.items():
            if isinstance(tensor, nn.Parameter):
                self.register_parameter(name, tensor)
            else:
                self.register_buffer(name, tensor)


def seeded(make):
    torch.manual_seed(7)
    return make()


class HandoverTest(unittest.TestCase):
    def take_over(self, reference, candidate, constants=()):
        """Both made from one seed; the reference's values change before they are handed over."""
        reference, candidate = seeded(reference), seeded(candidate)
        offered = handover.offer(reference, [handover.fingerprint(t) for _, t in weights.state(reference)], constants)
        weights.randomise(reference, 3, constants)
        state = [t.detach() for _, t in weights.state(reference)]
        for item, tensor in zip(offered, state):
            item.update(shape=list(tensor.shape), dtype=packing.DTYPES[tensor.dtype])
        own = weights.state(candidate)
        pairs, how = handover.plan(own, offered)
        for name, index, order in pairs:
            handover.copy(dict(own)[name], state[index], order)
        return reference, candidate, how

    def test_names(self):
        reference, candidate, how = self.take_over(lambda: nn.Linear(4, 4), lambda: nn.Linear(4, 4))
        self.assertEqual(how, "names")
        self.assertTrue(torch.equal(reference.weight, candidate.weight) and torch.equal(reference.bias, candidate.bias))

    def test_single_numbers(self):
        def make():
            return Holder(scale=nn.Parameter(torch.randn(())), shift=torch.randn(()))
        reference, candidate, how = self.take_over(make, make)
        self.assertEqual(how, "names")
        self.assertTrue(torch.equal(reference.scale, candidate.scale) and torch.equal(reference.shift, candidate.shift))
        reference, candidate, how = self.take_over(make, lambda: Holder(factor=nn.Parameter(torch.randn(())), shift=torch.randn(())))
        self.assertTrue(torch.equal(reference.scale, candidate.factor))

    def test_constants_need_not_be_held(self):
        def reference():
            return Holder(b=nn.Parameter(torch.ones(2)), a=nn.Parameter(torch.zeros(2)), table=torch.arange(4.0))
        reference, candidate, how = self.take_over(
            reference, lambda: Holder(a=nn.Parameter(torch.zeros(2)), b=nn.Parameter(torch.ones(2))), {"table"})
        self.assertEqual(how, "names")
        self.assertTrue(torch.equal(reference.a, candidate.a) and torch.equal(reference.b, candidate.b))

    def test_a_square_matrix_kept_transposed_under_the_same_or_another_name(self):
        for name in ("weight", "kernel"):
            reference, candidate, how = self.take_over(
                lambda: nn.Linear(8, 8, bias=False), lambda: Holder(**{name: nn.Parameter(nn.Linear(8, 8, bias=False).weight.detach().t().contiguous())}))
            self.assertEqual(how, "names" if name == "weight" else "values")
            self.assertTrue(torch.equal(reference.weight.t(), getattr(candidate, name)))

    def test_a_convolution_kept_as_a_matrix_with_channels_last_in_half_precision(self):
        reference, candidate, how = self.take_over(
            lambda: nn.Conv2d(3, 5, 3), lambda: (lambda conv: Holder(
                packed=nn.Parameter(conv.weight.detach().permute(2, 3, 1, 0).reshape(27, 5).half()), shift=nn.Parameter(conv.bias.detach())))(nn.Conv2d(3, 5, 3)))
        self.assertEqual(how, "values")
        self.assertTrue(torch.equal(reference.weight.permute(2, 3, 1, 0).reshape(27, 5).half(), candidate.packed))
        self.assertTrue(torch.equal(reference.bias, candidate.shift))

    def test_what_is_constant_at_first_is_told_apart_by_its_value(self):
        reference, candidate, how = self.take_over(
            lambda: nn.BatchNorm1d(6), lambda: Holder(beta=nn.Parameter(torch.zeros(6)), gamma=nn.Parameter(torch.ones(6)),
                                                      mean=torch.zeros(6), var=torch.ones(6)))
        self.assertEqual(how, "values")
        for mine, its in (("gamma", "weight"), ("beta", "bias"), ("mean", "running_mean"), ("var", "running_var")):
            self.assertTrue(torch.equal(getattr(candidate, mine), getattr(reference, its)), mine)

    def test_running_statistics_need_not_be_held(self):
        reference, candidate, how = self.take_over(
            lambda: nn.BatchNorm1d(6), lambda: Holder(bias=nn.Parameter(torch.zeros(6)), scale=nn.Parameter(torch.ones(6))))
        self.assertEqual(how, "values")
        self.assertTrue(torch.equal(candidate.bias, reference.bias) and torch.equal(candidate.scale, reference.weight))

    def test_tied_weights_may_be_held_once(self):
        def tied():
            a, b = nn.Linear(4, 4), nn.Linear(4, 4)
            b.weight = a.weight
            return nn.ModuleDict({"a": a, "b": b})

        def once():
            both = tied()
            return Holder(w=both["b"].weight, p=both["a"].bias, q=both["b"].bias)

        for candidate in (once, tied):
            reference, made, how = self.take_over(tied, candidate)
            self.assertEqual(how, "names" if candidate is tied else "values")
        reference, made, _ = self.take_over(tied, once)
        self.assertTrue(torch.equal(made.w, reference["a"].weight) and torch.equal(made.q, reference["b"].bias))

    def test_order_and_shape_where_values_tell_nothing(self):
        reference, candidate, how = self.take_over(
            lambda: Holder(a=nn.Parameter(torch.randn(3, 2)), b=nn.Parameter(torch.randn(5))),
            lambda: (torch.rand(9), Holder(x=nn.Parameter(torch.randn(5)), y=nn.Parameter(torch.randn(3, 2))))[1])
        self.assertEqual(how, "shapes")
        self.assertTrue(torch.equal(candidate.y, reference.a) and torch.equal(candidate.x, reference.b))

    def test_nothing_is_handed_over_where_a_parameter_fits_nowhere(self):
        _, candidate, how = self.take_over(lambda: nn.Linear(4, 4), lambda: Holder(w=nn.Parameter(torch.zeros(3))))
        self.assertEqual(how, "reseeded")
        self.assertTrue(torch.equal(candidate.w, torch.zeros(3)))


if __name__ == "__main__":
    unittest.main()
