"""What the oracle asks before it calls an answer wrong, and the comparator and memory it does it with."""

import glob
import math
import os
import pathlib
import sys
import unittest

os.environ["DAVINCI_WORKER_LIB"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import numpy
    import torch
except ImportError:
    print("skipped: this Python has no torch and numpy")
    sys.exit(77)

from davinci_worker import admission, compare, memory, nearby, oracle, source  # noqa: E402

# (x - 1) (x - 1 - 1e-5): where x is near 1 the value hardly depends on x, and its summands cancel.
TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Parameter(torch.tensor([1.00001, -2.00001, 1.0], dtype=torch.float64))
    def forward(self, x):
        return (self.c[2] * x + self.c[1]) * x + self.c[0]
def get_inputs(): return [1 + 1e-3 * torch.rand(4096, dtype=torch.float64)]
def get_init_inputs(): return []
'''


LINEAR_TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)
    def forward(self, x):
        return self.layer(x)
def get_inputs(): return [torch.randn(16, 8)]
def get_init_inputs(): return []
'''


OTHER_TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs(): return [torch.rand(3)]
def get_init_inputs(): return []
'''


# Checks its inputs in a copy on the host only, as if its CUDA kernels did not report what they assert.
GUARDED_TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    insists = False
    def cpu(self):
        self.insists = True
        return self
    def forward(self, x):
        if self.insists and bool((x > 1).any()):
            raise ValueError("a number above 1")
        return x * 2
def get_inputs(): return [torch.rand(64, 64)]
def get_init_inputs(): return []
'''


class ComparatorTest(unittest.TestCase):
    def comparator(self, answer):
        made = compare.Comparator("cpu", 2)
        truth = made.truth([answer.double()], [answer], True)
        truth.settle(None, 1)
        made.remember(truth)
        return made

    def test_a_pair_that_is_well_is_accepted_at_a_glance(self):
        answer = torch.randn(1000, 50)
        made = self.comparator(answer)
        made.backend.compare_direct = lambda *unused: self.fail("looked at closely")
        self.assertEqual(made.compare_pair([answer], [answer * (1 + 2 ** -23)]), {"passed": True, "outputs": [
            {"passed": True, "dtype": "f32", "shape": [1000, 50], "elements": 50000, "wrong": 0}]})

    def test_what_is_not_is_looked_at_closely(self):
        answer = torch.randn(1000, 50)
        wrong = answer.clone()
        wrong[999, 49] += 1
        report = self.comparator(answer).compare_pair([answer], [wrong])
        self.assertFalse(report["passed"])
        self.assertEqual(report["outputs"][0]["first_wrong"]["index"], [999, 49])

    def test_a_copy_leaves_alone_what_lies_between_the_elements(self):
        made = compare.Comparator("cpu", 2)
        source = torch.arange(64.0).reshape(8, 8)
        for view in (lambda t: t, lambda t: t.t(), lambda t: t[:, ::2]):
            target = torch.zeros(8, 8)
            made.copy(view(target), view(source))
            self.assertTrue(torch.equal(view(target), view(source)))
            self.assertEqual(target.count_nonzero(), view(source).count_nonzero())
            self.assertTrue(made.same_bytes(view(target), view(source)))
            view(target)[3, 3] += 1
            self.assertFalse(made.same_bytes(view(target), view(source)))


class ArenaTest(unittest.TestCase):
    def test_the_next_candidate_gets_the_memory_of_the_last_one_as_new(self):
        made = oracle.Oracle(None, {"threads": 1})

        def create(name, slot_bytes=4096):
            reply, (fd,) = made.answer({"op": "arena", "name": name, "slot_bytes": slot_bytes, "slots": 3})
            self.assertEqual((reply["bytes"], os.fstat(fd).st_size), (3 * slot_bytes, 3 * slot_bytes))
            return made.arenas[name]

        def is_open(file):
            return any(os.path.exists(name) and os.stat(name).st_ino == file for name in glob.glob("/proc/self/fd/*"))

        first = create("candidate")
        file = os.fstat(first.fd).st_ino
        first.base.fill_(7)
        made.answer({"op": "rest"})
        create("baseline")
        again = create("candidate")
        self.assertIs(again, first)
        self.assertFalse(again.base.any())
        made.answer({"op": "rest"})
        self.assertTrue(is_open(file))
        del first, again
        create("candidate", 8192)
        self.assertFalse(is_open(file))  # of another size
        made.answer({"op": "rest"})
        file = os.fstat(made.arenas._spare._kept.fd).st_ino
        made.answer({"op": "forget"})
        self.assertFalse(is_open(file))


POSITIONS_TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def forward(self, x):
        steps = torch.arange(0, 64, 2).float() / 64
        angles = torch.arange(x.shape[0], dtype=torch.float32)[:, None] * 10000.0 ** -steps
        return x + torch.cat((angles.sin(), angles.cos()), -1)
def get_inputs(): return [torch.rand(2048, 64)]
def get_init_inputs(): return []
'''


SCRIPTED_TASK = '''
import torch, torch.nn as nn
@torch.jit.script
def twice(x):
    return x * 2
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.function = nn.Parameter(torch.rand(3)), twice
    def forward(self, x):
        return self.function(x) * self.scale
def get_inputs(): return [torch.rand(3)]
def get_init_inputs(): return []
'''


BUFFERS_TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("filter", torch.tensor([-1.0, 0.0, 1.0]))
        self.register_buffer("also", self.filter)
        self.register_buffer("table", torch.arange(3.0), persistent=False)
        self.register_buffer("random", torch.rand(3), persistent=False)
        self.register_buffer("running_scale", torch.full((3,), 2.0))
    def forward(self, x):
        return x * self.weight * self.filter + self.table * self.random * self.running_scale
def get_inputs(): return [torch.rand(3)]
def get_init_inputs(): return []
'''


LEVELS_TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def forward(self, x):
        return torch.round(x * 10).to(torch.int32)
def get_inputs(): return [torch.rand(100000) + 1]
def get_init_inputs(): return []
'''


SOFTMAX_TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.2345))
    def forward(self, x):
        return torch.softmax(x * self.scale, -1)
def get_inputs(): return [torch.randn(256, 64)]
def get_init_inputs(): return []
'''


CONVOLUTION_TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(32, 32, 3, padding=1, groups=32)
    def forward(self, x):
        return nn.functional.silu(self.conv(x))
def get_inputs(): return [torch.randn(16, 32, 40, 40)]
def get_init_inputs(): return []
'''


STATE_TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("past", torch.zeros(8))
    def forward(self, x):
        before = self.past.clone()
        self.past.copy_(x)
        return x + before
def get_inputs(): return [torch.rand(8)]
def get_init_inputs(): return []
'''


class OracleTest(unittest.TestCase):
    def setUp(self):
        self.oracle = oracle.Oracle(None, {"threads": 1})
        self.oracle.answers.returned = lambda tensors: tensors
        self.load(TASK)

    def load(self, text):
        self.ask("load", path="/nowhere/task.py", source=text, entry="Model", init_seed=1, state_seed=2, precision="fp64",
                 randomise=False)
        return self.ask("describe", seed=3)

    def test_a_module_that_cannot_be_copied_has_a_twin_with_its_weights(self):
        self.oracle = oracle.Oracle(None, {"threads": 1})
        self.load(SCRIPTED_TASK)
        built = self.oracle.reference.instance(0)
        self.assertIs(built.precise.scale.dtype, torch.float64)
        self.assertTrue(torch.equal(built.precise.scale.float(), built.model.scale))

    def test_numbers_that_a_reference_makes_in_single_precision_are_true_in_its_twin(self):
        self.oracle = oracle.Oracle(None, {"threads": 1})
        self.oracle.answers.returned = lambda tensors: tensors
        self.load(POSITIONS_TASK)

        def positions(x, number, of_angles):
            steps = torch.arange(0, 64, 2).to(number) / 64
            angles = (torch.arange(x.shape[0]).to(number)[:, None] * 10000.0 ** -steps).to(of_angles).to(number)
            return (x + torch.cat((angles.sin(), angles.cos()), -1)).float()

        self.ask("prepare", seed=3, distribution="task", truth=True)
        x = self.oracle.draws.current.tensors[0]
        model = self.oracle.reference.instance(0).model
        for honest in (model(x), positions(x, torch.float64, torch.float64)):
            self.assertTrue(self.ask("verify", outputs=[honest], truth=True)["comparison"]["passed"])
        rough = positions(x, torch.float32, torch.bfloat16)
        self.assertFalse(self.ask("verify", outputs=[rough], truth=True)["comparison"]["passed"])

    def test_the_truth_of_a_check_serves_the_next_candidate_until_weights_change(self):
        self.oracle = oracle.Oracle(None, {"threads": 1})
        self.ask("load", path="/nowhere/task.py", source=LINEAR_TASK, entry="Model", init_seed=1, state_seed=2, precision="fp32", randomise=True)
        self.ask("describe", seed=3)
        truths = []
        for weights_seed, keep in ((5, True), (6, True), (5, True), (5, False)):
            self.ask("reweigh", seed=weights_seed, buffers=True)
            reply = self.ask("prepare", seed=7, distribution="heavy_tailed", truth=True, keep=keep)
            truths.append((self.oracle.draws.current.truth, reply["call_seed"]))
        self.assertIs(truths[0][0], truths[2][0])
        self.assertIsNot(truths[0][0], truths[1][0])
        self.assertIsNot(truths[0][0], truths[3][0])
        self.assertEqual(truths[0][1], truths[2][1])

    def ask(self, op, **message):
        return self.oracle.answer({"op": op, **message})[0]

    def against_truth(self, tensors):
        return self.oracle.comparison.with_truth(self.oracle.draws.current, tensors)

    def verify(self, answer):
        x = self.oracle.draws.current.tensors[0]
        model = self.oracle.reference.instance(0).model
        return self.ask("verify", outputs=[answer(x, model.c)], baseline=[model(x)], truth=False)["comparison"]

    def forget(self):
        """As if the tolerance had been measured where nothing is ill-conditioned."""
        self.ask("prepare", seed=5, truth=True)
        exact = self.oracle.draws.current.truth.outputs[0].truth
        perfect = compare.RightAnswer(self.oracle.comparator.backend, [exact], [exact], True)
        perfect.settle(None, 1)
        self.oracle.comparator.remember(perfect)

    def test_state_in_buffers_is_put_back_before_each_call_and_part_of_the_answer(self):
        for text in (STATE_TASK, STATE_TASK.replace("self.past.copy_(x)", "self.past = x + 0")):
            text = text.replace("(8)", "(32)")
            built = self.restart(text)
            described = self.ask("describe", seed=3)
            self.assertEqual((described["kept"], described["mode"], described["lent"]), (["past"], None, [False, True]))
            self.oracle.reference.restore_state(built)
            past = built.model.past.clone()
            for distribution in ("task", "heavy_tailed"):
                self.ask("prepare", seed=5, distribution=distribution, truth=True)
                x = self.oracle.draws.current.tensors[0]
                for answer, right in (([x + past, x], True), ([x + past, past], False), ([x, x], False)):
                    self.assertEqual(self.against_truth(answer)["passed"], right)
            self.assertTrue(self.oracle.reference.reweigh(3, True))
            self.oracle.reference.outputs_for(self.oracle.draws.current)
            self.ask("state")
            self.assertFalse(torch.equal(built.model.past, self.oracle.draws.current.tensors[0]))

    def test_half_precision_shows_where_all_inputs_are_whole_numbers(self):
        task = OTHER_TASK.replace("def forward(self, x):\n        return x * 2", "def forward(self, x, y):\n        return x @ y").replace(
            "[torch.rand(3)]", "[torch.randint(0, 4, (64, 96)).float(), torch.randint(0, 4, (96, 32)).float()]")
        for text, moved in ((task, True), (task.replace("x @ y", "x.long().to(x.dtype) @ y.trunc()"), False), (task.replace("x @ y", "x.long().to(y.dtype) @ y"), True)):
            self.restart(text)
            self.ask("prepare", seed=5, distribution="heavy_tailed", truth=True)
            x, y = self.oracle.draws.current.tensors
            self.assertEqual(bool((x != x.round()).any() or (y != y.round()).any()), moved)
            model = self.oracle.reference.instance(0).model
            self.assertTrue(self.against_truth([model(x, y)])["passed"])
            if moved:
                self.assertFalse(self.against_truth([model(x.bfloat16().float(), y.bfloat16().float())])["passed"])
            self.ask("prepare", seed=5, truth=True)
            self.assertTrue(all(torch.equal(t, t.round()) for t in self.oracle.draws.current.tensors))

    def test_a_model_is_asked_on_the_host_first_where_its_kernels_assert(self):
        self.oracle = oracle.Oracle(None, {"threads": 1})
        self.load(GUARDED_TASK)
        reference = self.oracle.reference
        self.assertEqual(self.ask("prepare", seed=5, distribution="heavy_tailed", truth=True)["distribution"], "heavy_tailed")
        reference.spec["domain_on_host"] = True
        for distribution in ("task", "heavy_tailed"):
            self.assertEqual(self.ask("prepare", seed=5, distribution=distribution, truth=True)["distribution"], "task")
        drawn, model = self.oracle.draws.draw(5, "heavy_tailed", 0), reference.instance(0).model
        with self.assertRaisesRegex(RuntimeError, "outside of the reference's domain: a number above 1"):
            reference.forward(model, drawn)

    def test_state_outside_of_buffers_cannot_be_judged(self):
        self.oracle = oracle.Oracle(None, {"threads": 1})
        with self.assertRaisesRegex(source.SourceError, "outside of its buffers"):
            self.load(STATE_TASK.replace('self.register_buffer("past", torch.zeros(8))', "self.past = torch.zeros(8)"))

    def test_chance_and_state_end_in_evaluation_mode_where_neither_is(self):
        self.oracle = oracle.Oracle(None, {"threads": 1})
        described = self.load(STATE_TASK.replace("self.past.copy_(x)", "self.training and self.past.copy_(x)").replace(
            "return x + before", "return nn.functional.dropout(x + before, 0.5, self.training)"))
        self.assertEqual((described["mode"], described["kept"], described["reseed_calls"]), ("eval", [], False))

    def test_requests_in_one_message_end_with_the_first_that_fails(self):
        prepare, wrong = {"op": "prepare", "seed": 5}, {"op": "publish", "name": "unknown"}
        reply = self.ask("several", requests=[prepare, wrong, prepare])
        self.assertEqual(len(reply["answers"]), 1)
        self.assertIn("args", reply["answers"][0])
        self.assertEqual(reply["error"]["op"], "publish")
        self.assertNotIn("error", self.ask("several", requests=[prepare, prepare]))

    def test_serves_another_task_when_the_first_is_forgotten(self):
        self.ask("prepare", seed=5, truth=True)
        self.assertTrue(self.ask("forget")["clean"])
        self.assertNotIn("davinci_task", sys.modules)
        described = self.load(OTHER_TASK)
        self.assertEqual(described["outputs"][0]["shape"], [3])
        self.ask("prepare", seed=6, truth=True)
        x = self.oracle.draws.current.tensors[0]
        self.assertTrue(self.against_truth([x * 2])["passed"])
        self.assertFalse(self.against_truth([x * 3])["passed"])

    def test_a_task_that_leaves_something_behind_is_the_last_of_its_process(self):
        gelu = torch.nn.functional.gelu
        for line, undo in (
            ("torch.nn.functional.gelu = torch.relu", lambda: setattr(torch.nn.functional, "gelu", gelu)),
            ("torch.Tensor.sum = lambda self: self", lambda: delattr(torch.Tensor, "sum")),
            ("torch.backends.cudnn.benchmark = True", lambda: setattr(torch.backends.cudnn, "benchmark", False)),
            ("torch.set_default_dtype(torch.float64)", lambda: torch.set_default_dtype(torch.float32)),
            ("hook = nn.modules.module.register_module_forward_hook(lambda *a: None)",
             lambda: torch.nn.modules.module._global_forward_hooks.clear()),
        ):
            self.load(OTHER_TASK + line + "\n")
            self.assertFalse(self.ask("forget")["clean"], line)
            undo()
        self.load(OTHER_TASK)
        self.assertTrue(self.ask("forget")["clean"])

    def test_rounding_decides_where_inputs_say_nothing(self):
        self.ask("prepare", seed=5, truth=True)
        x, c = self.oracle.draws.current.tensors[0], self.oracle.reference.instance(0).model.c
        other_order = (c[2] * x) * x + (c[1] * x + c[0])
        self.assertTrue(self.against_truth([other_order])["passed"])
        x, c = x.float(), c.float()
        single = (c[2] * x) * x + (c[1] * x + c[0])
        self.assertFalse(self.against_truth([single.double()])["passed"])

    def test_a_timed_answer_unlike_the_baseline_is_held_against_truth(self):
        self.forget()
        self.ask("prepare", seed=6)
        self.assertTrue(self.verify(lambda x, c: (c[2] * x) * x + (c[1] * x + c[0]))["passed"])

    def test_truth_can_be_worked_out_after_the_call(self):
        self.ask("prepare", seed=5, truth=True)  # for the tolerances
        self.ask("prepare", seed=6)
        x, model = self.oracle.draws.current.tensors[0], self.oracle.reference.instance(0).model
        self.assertIsNone(self.oracle.draws.current.truth)
        drawn = x.clone()
        for answer, passes in ((model(x), True), (model(x) + 1, False)):
            # The baseline agrees with what is wrong: only truth can tell.
            verified = self.ask("verify", outputs=[answer], baseline=[answer], truth=True)
            self.assertEqual(verified["comparison"]["passed"], passes)
        self.assertTrue(torch.equal(x, drawn))

    def test_a_wrong_timed_answer_stays_wrong(self):
        self.forget()
        self.ask("prepare", seed=6)
        self.assertFalse(self.verify(lambda x, c: (c[2] * x + c[1]) * x + c[0] + 1e-11)["passed"])
        self.assertFalse(self.verify(lambda x, c: ((c[2].float() * x.float() + c[1].float()) * x.float() + c[0].float()).double())["passed"])

    def test_an_honest_answer_is_right_where_it_is_far_worse_than_others_of_its_size(self):
        """One row of a softmax has two scores that nearly tie: the errors of all others say nothing about it."""
        built = self.restart(SOFTMAX_TASK)
        self.ask("prepare", seed=5, truth=True)
        drawn = self.oracle.draws.current
        drawn.tensors[0][7] = -1e7
        drawn.tensors[0][7, :2] = torch.tensor([9000000.0, 8999999.0])
        exact = torch.softmax(drawn.tensors[0].double() * built.model.scale.double(), -1)
        drawn.truth.outputs[0].truth.copy_(exact)
        drawn.reference = self.oracle.reference.outputs_for(drawn)
        honest = torch.softmax(drawn.tensors[0] * built.model.scale, -1)
        self.assertGreater((honest.double() - exact).abs()[7].max().item(), 1e-3)
        self.assertFalse(self.oracle.comparator.compare(drawn.truth, [honest])["passed"])
        self.assertTrue(self.against_truth([honest])["passed"])
        for wrong in (honest.index_fill(0, torch.tensor([7]), 3.0), honest.bfloat16().float(), honest.roll(1, 0)):
            self.assertFalse(self.against_truth([wrong])["passed"])
        self.assertTrue(torch.equal(drawn.truth.outputs[0].truth, exact))

    def test_another_algorithm_of_the_library_is_right_and_half_precision_is_not(self):
        built = self.restart(CONVOLUTION_TASK)
        for seed in range(3):
            self.ask("prepare", seed=5 + seed, distribution="log_uniform", truth=True)
            x = self.oracle.draws.current.tensors[0]
            before = torch._C._get_mkldnn_enabled()
            with torch.backends.mkldnn.flags(enabled=False):
                other = built.model(x)
            self.assertTrue(self.against_truth([other])["passed"], seed)
            self.assertEqual(torch._C._get_mkldnn_enabled(), before)
            self.assertFalse(self.against_truth([built.model(x.bfloat16().float())])["passed"], seed)

    def restart(self, text, **message):
        self.oracle = oracle.Oracle(None, {"threads": 1})
        self.oracle.answers.returned = lambda tensors: tensors
        self.ask("load", path="/nowhere/task.py", source=text, entry="Model", init_seed=1, state_seed=2, precision="fp32", **message)
        self.ask("describe", seed=3)
        return self.oracle.reference.instance(0)

    def test_constants_of_a_task_keep_their_values(self):
        built = self.restart(BUFFERS_TASK)
        model, constants = built.model, built.constants
        self.assertEqual(constants, {"filter", "table"})
        kernel = torch.tensor([-1.0, 0.0, 1.0])
        random, statistic = model.random.clone(), model.running_scale.clone()
        self.assertFalse(torch.equal(statistic, torch.full((3,), 2.0)))
        self.assertFalse(torch.equal(model.weight, torch.ones(3)))
        reply, fds = self.oracle.answer({"op": "reweigh", "seed": 9, "buffers": True})
        os.close(fds[0])
        self.assertEqual({t["name"]: t["constant"] for t in reply["tensors"]},
                         {"weight": False, "filter": True, "also": True, "table": True, "random": False, "running_scale": False})
        for each in (model, built.precise):
            self.assertTrue(torch.equal(each.filter.float(), kernel))
            self.assertTrue(torch.equal(each.table.float(), torch.arange(3.0)))
        self.assertFalse(torch.equal(model.random, random))
        self.assertTrue(torch.equal(built.precise.random.float(), model.random))  # though it is not persistent
        self.assertFalse(torch.equal(model.running_scale, statistic))

    def test_a_task_of_constants_has_no_other_weights(self):
        for text, has in ((BUFFERS_TASK, True), (BUFFERS_TASK.replace("nn.Parameter(torch.ones(3))", "1").replace("torch.rand(3), p", "\
torch.full((3,), 0.5), p").replace("running_scale", "scale"), False)):
            self.restart(text)
            self.ask("prepare", seed=5, truth=True)
            self.assertEqual(admission.outputs_of_other_weights(self.oracle.reference, self.oracle.draws.current, 7) is not None, has)

    def verdict(self, text, candidate, distribution, seed=5):
        """On one check of a task in single precision, and of which distribution it was."""
        self.restart(text)
        if distribution != "task":  # as the judge does
            self.ask("prepare", seed=seed, truth=True)
        used = self.ask("prepare", seed=seed, truth=True, distribution=distribution)["distribution"]
        answer = candidate(*(t.clone() for t in self.oracle.draws.current.tensors))
        flat = [each if isinstance(each, torch.Tensor) else torch.tensor(each, dtype=torch.float64)
                for each in (answer if isinstance(answer, tuple) else (answer,))]
        return self.against_truth(flat)["passed"], used

    def test_a_sum_told_as_a_number_is_one_of_single_precision(self):
        mean = OTHER_TASK.replace("x * 2", "x.square().mean().item()").replace("torch.rand(3)", "torch.randn(65536)")
        def loop(x):
            return (numpy.cumsum(x.square().numpy(), dtype=numpy.float32)[-1] / x.numel()).item()

        for seed in range(4):
            self.assertTrue(self.verdict(mean, loop, "task", seed)[0])
        self.assertFalse(self.verdict(mean, lambda x: x.half().float().square().mean().item() * 1.0003, "task")[0])
        double = mean.replace("randn(65536)", "randn(65536, dtype=torch.float64)")
        self.assertFalse(self.verdict(double, lambda x: x.float().square().mean().item(), "task")[0])

    def test_a_recurrent_network_that_also_tells_a_number_can_be_judged(self):
        network = OTHER_TASK.replace("    def forward", "    def __init__(self):\n        super().__init__()\n        self.gru = "
                                     "nn.GRU(8, 8)\n    def forward").replace("return x * 2", "y, _ = self.gru(x); return y, y.sum().item()")
        self.restart(network.replace("torch.rand(3)", "torch.rand(5, 3, 8)"))
        for distribution in ("task", "heavy_tailed"):
            self.ask("prepare", seed=5, truth=True, distribution=distribution)
            self.assertTrue(self.against_truth(self.oracle.draws.current.reference)["passed"])

    def test_what_shows_only_where_inputs_are_small_or_zero_or_last(self):
        rows = OTHER_TASK.replace("torch.rand(3)", "torch.randn(64, 1000)")
        for forward, wrong, distribution in (
                ("x / x.norm().clamp(min=1)", lambda x: x / x.norm(), "small_scale"),
                ("torch.nn.functional.normalize(x, dim=-1)", lambda x: x / x.norm(dim=-1, keepdim=True), "outliers"),
                ("x.square().mean()", lambda x: x.reshape(-1)[:-1].square().mean(), "outliers")):
            task = rows.replace("x * 2", forward)
            right = {}
            exec(task, right)  # noqa: S102
            self.assertEqual(self.verdict(task, right["Model"](), distribution), (True, distribution))
            self.assertTrue(self.verdict(task, wrong, "task")[0])
            self.assertFalse(self.verdict(task, wrong, distribution)[0], forward)

    def test_whole_numbers_that_are_always_the_same_may_be_others(self):
        for given, use, ignored in (
                ("torch.full((6,), 9)", "(x * (torch.arange(9) < n[:, None])).sum(-1) / n", lambda x, n: x.mean(-1)),
                ("torch.arange(6)", "x[n] * 2", lambda x, n: x * 2),
                ("torch.arange(3).repeat_interleave(2)", "torch.zeros(3, 9).index_add(0, n, x)", lambda x, n: x.reshape(3, 2, 9).sum(1))):
            task = OTHER_TASK.replace("self, x", "self, x, n").replace("x * 2", use).replace("torch.rand(3)", f"torch.rand(6, 9), {given}")
            self.assertTrue(self.verdict(task, ignored, "task")[0])
            self.assertFalse(all(self.verdict(task, ignored, "heavy_tailed", seed)[0] for seed in range(3)), given)
        picky = OTHER_TASK.replace("self, x", "self, x, n").replace("x * 2", "torch.cat(x.split(n.tolist()))").replace(
            "torch.rand(3)", "torch.rand(6, 9), torch.full((3,), 2)")
        self.assertEqual(self.verdict(picky, lambda x, n: x, "heavy_tailed"), (True, "heavy_tailed"))

    def test_probabilities_reach_the_ends_of_their_range(self):
        task = OTHER_TASK.replace("x * 2", "nn.functional.binary_cross_entropy(x, (x > 0.5).float().mul(0.5).add(0.25))").replace(
            "torch.rand(3)", "torch.rand(400, 100) * 0.9999 + 0.00005")
        def unclamped(x):
            y = (x > 0.5).float() * 0.5 + 0.25
            return -(y * x.log() + (1 - y) * (1 - x).log()).mean()

        self.assertTrue(self.verdict(task, unclamped, "task")[0])
        self.assertEqual(self.verdict(task, unclamped, "outliers"), (False, "boundary"))

    def test_where_a_reference_underflows_a_stabler_form_may_know_better(self):
        task = OTHER_TASK.replace("x * 2", "(e := torch.exp(-40 * x * x)) / e.sum(-1, keepdim=True)").replace("torch.rand(3)", "torch.rand(64, 50)")
        for seed in range(3):
            self.assertTrue(self.verdict(task, lambda x: torch.softmax(-40 * x * x, -1), "outliers", seed)[0])

    def test_a_decay_stays_a_decay(self):
        """Behind a negative time step a state grows beyond all bounds, and honest answers have nothing in common."""
        def step_by_step(x, dt):
            state, states = torch.zeros(8), []
            for k in range(1024):
                state = state * torch.exp(-dt[k]) + x[k] * dt[k]
                states.append(state)
            return torch.stack(states)

        recurrent = OTHER_TASK.replace("torch.rand(3)", "torch.randn(1024, 8), 0.5 * torch.rand(1024, 8)").replace("self, x", "self, x, dt").replace(
            "        return x * 2", "        state, states = torch.zeros(8, dtype=x.dtype), []\n"
            "        for k in range(1024):\n            state = state * torch.exp(-dt[k]) + x[k] * dt[k]\n            states.append(state)\n"
            "        return torch.stack(states)")
        for seed in range(3):
            self.assertEqual(self.verdict(recurrent, step_by_step, "heavy_tailed", seed), (True, "heavy_tailed_sided"))
            self.assertTrue(self.verdict(recurrent, step_by_step, "log_uniform", seed)[0])
        self.assertEqual(self.verdict(recurrent, lambda x, dt: step_by_step(x, dt.clamp(max=0.5)), "heavy_tailed"), (False, "heavy_tailed_sided"))

    def test_who_is_chosen_is_not_decided_where_all_are_alike(self):
        """In a router that sees faint inputs rounding alone decides; arbitrary whole numbers are tested."""
        router = OTHER_TASK.replace("x * 2", "torch.softmax(x, -1).topk(2).indices").replace("torch.rand(3)", "torch.randn(256, 32)")
        self.assertEqual(self.verdict(router, lambda x: x.topk(2).indices, "small_scale"), (True, "task"))
        scaled = OTHER_TASK.replace("x * 2", "x / (m := x.abs().amax(-1, keepdim=True).clamp(min=1e-8)), m > 2").replace(
            "torch.rand(3)", "torch.randn(256, 32)")
        for least in (1e-8, 0):
            found = self.verdict(scaled, lambda x: (x / (m := x.abs().amax(-1, keepdim=True).clamp(min=least)), m > 2), "outliers")  # noqa: B023
            self.assertEqual(found, (least > 0, "outliers"))

    def test_who_is_chosen_is_not_decided_by_underflow(self):
        task = OTHER_TASK.replace("x * 2", "torch.softmax(x, -1).topk(4).indices").replace("torch.rand(3)", "torch.randn(32, 64)")
        passed, used = self.verdict(task, lambda x: x.topk(4).indices, "log_uniform")
        self.assertEqual((passed, used), (True, "log_uniform_mild"))
        passed, used = self.verdict(task, lambda x: x.topk(4).indices, "outliers")
        self.assertEqual((passed, used), (True, "outliers_small"))

    def test_what_does_not_fit_is_refused_in_words(self):
        there, memory.machine_bytes = memory.machine_bytes, lambda: 10 << 20
        try:
            with self.assertRaisesRegex(source.SourceError, r"this machine has 0 GB; use smaller sizes"):
                self.restart(OTHER_TASK.replace("torch.rand(3)", "torch.rand(1 << 20)"))
        finally:
            memory.machine_bytes = there

    def falls(self, task, answer):
        """Verdict on what the answer makes of the inputs and of the truth."""
        self.restart(task)
        self.ask("prepare", seed=5, truth=True)
        drawn = self.oracle.draws.current
        before = [output.truth.clone() for output in drawn.truth.outputs]
        passed = self.against_truth(answer(drawn.tensors[0], drawn.reference))["passed"]
        for output, value in zip(drawn.truth.outputs, before):
            self.assertTrue(torch.equal(output.truth, value))
        return passed

    @staticmethod
    def moved(level, nearest, way=1):
        """The reference's levels with one element that falls to the other side: the one nearest to a tie, or some other."""
        def answer(x, reference):
            level_of = x.double() * 10
            distance = (level_of - level_of.floor() - 0.5).abs()
            at = distance.argmin() if nearest else distance.argmax()
            wrong = [t.clone() for t in reference]
            other = torch.where(level_of[at] > reference[0][at].double() / level, way, -way)
            wrong[0][at] += (other * level).to(wrong[0].dtype)
            return wrong
        return answer

    def test_what_falls_the_other_way_by_rounding_is_right_and_nothing_else(self):
        for task, level in ((LEVELS_TASK, 1), (LEVELS_TASK.replace(".to(torch.int32)", " * 0.25"), 0.25)):
            self.assertTrue(self.falls(task, self.moved(level, True)), level)
            self.assertFalse(self.falls(task, self.moved(level, False)), level)
            self.assertFalse(self.falls(task, self.moved(level, True, -1)), level)

    def test_where_honest_answers_differ_in_many_places_a_candidate_may_in_those_and_no_others(self):
        coarse = LEVELS_TASK.replace("[torch.rand(100000) + 1]", "[(torch.rand(100000) + 1).bfloat16()]")
        def twice_rounded(x, reference):  # as a kernel in single precision would
            return [torch.round(x.float() * 10.0001).int()]

        def anything(x, reference):
            wrong = reference[0].clone()
            wrong[::250] += 1
            return [wrong]

        self.assertTrue(self.falls(coarse, twice_rounded))
        self.assertGreater(self.oracle.draws.current.truth.outputs[0].suspects, 0.004)
        self.assertFalse(self.falls(coarse, anything))

    def test_a_few_wrong_values_of_a_smooth_result_are_wrong(self):
        def answer(x, reference):
            wrong = reference[0].clone()
            wrong[7] *= 1.001
            return [wrong]

        self.assertFalse(self.falls(LEVELS_TASK.replace("torch.round(x * 10).to(torch.int32)", "torch.sin(x) * 3"), answer))

    def test_jolts_leave_whole_numbers_and_selections_alone(self):
        x = torch.tensor([0.0, 1.0, -3.0, math.inf, -math.inf, 0.3])
        moved = nearby.jolt(x, 3, True, "fp32")
        self.assertTrue(torch.equal(moved[:5].float(), x[:5]))
        self.assertNotEqual(moved[5].item(), x.double()[5].item())
        y = torch.rand(100, dtype=torch.float64)
        with nearby.Jolts(3, 1e-6):
            z = y * 3
            self.assertEqual(int((z == z.max()).sum()), 1)
            self.assertTrue(torch.equal(z.round() * 2, z.round() + z.round()))
        self.assertFalse(torch.equal(z, y * 3))
        self.assertLess((z / (y * 3) - 1).abs().max().item(), 1.01e-6)


if __name__ == "__main__":
    unittest.main()
