"""References as people have them: references_test.py LIBRARY."""

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

from davinci_worker import arena, arguments, oracle, packing  # noqa: E402

TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def __init__(self{parameters}):
        super().__init__()
        {made}
    def forward(self{given}):
        {body}
def get_inputs(): return {inputs}
def get_init_inputs(): return {init}
'''


def task(body, inputs="[torch.randn(32, 16)]", given=", x", parameters="", made="pass", init="[]"):
    return TASK.format(body=body, inputs=inputs, given=given, parameters=parameters, made=made, init=init)


class ReferencesTest(unittest.TestCase):
    def load(self, text, **spec):
        self.compiler = torch.compile, torch.nn.Module.compile
        self.addCleanup(lambda: (setattr(torch, "compile", self.compiler[0]), setattr(torch.nn.Module, "compile", self.compiler[1])))
        self.oracle = oracle.Oracle(None, {"threads": 1})
        self.oracle.answers.returned = lambda tensors: tensors
        self.ask("load", path="/nowhere/task.py", source=text, entry="Model", init_seed=1, state_seed=2, precision="fp32", **spec)
        return self.ask("describe", seed=3)

    def ask(self, op, **message):
        reply, _ = self.oracle.answer({"op": op, **message})
        del reply["seconds"]
        return reply

    def answers_itself(self, text, **spec):
        described = self.load(text, **spec)
        for distribution in ("task", "heavy_tailed"):
            self.ask("prepare", seed=5, truth=True, distribution=distribution)
            self.assertTrue(self.oracle.comparison.with_truth(self.oracle.draws.current, [t.clone() for t in self.oracle.draws.current.reference])["passed"])
        return described


class ArgumentsTest(ReferencesTest):
    def model(self, parameters, init):
        self.answers_itself(task("return x * self.scale", parameters=parameters, made="self.scale = float(f'{seen(locals())}' and 2)",
                                 init=init) + "\nlog = []\ndef seen(names):\n    log.append({k: v for k, v in names.items() if k[0] != '_' and k != 'self'})\n")
        return self.oracle.reference.module.log[-1]

    def test_a_constructor_gets_what_is_positional_and_what_has_a_name(self):
        self.assertEqual(self.model(", wide, deep=3", "[[4], {'deep': 5}]"), {"wide": 4, "deep": 5})
        self.assertEqual(self.model(", wide, deep", "([], {'wide': 4, 'deep': 5})"), {"wide": 4, "deep": 5})
        self.assertEqual(self.model(", wide=1, deep=2", "[[], {}]"), {"wide": 1, "deep": 2})
        self.assertEqual(self.model("", "[[], {}]"), {})
        self.assertEqual(self.model(", sizes, *, bias", "[[[3, 4]], {'bias': None}]"), {"sizes": [3, 4], "bias": None})

    def test_one_that_takes_a_list_and_a_dict_gets_them(self):
        self.assertEqual(self.model(", sizes, options", "[[3, 4, 5], {'eps': 1.0}]"), {"sizes": [3, 4, 5], "options": {"eps": 1.0}})
        self.assertEqual(self.model(", sizes, options", "[[3, 4], {'eps': 1.0}]"), {"sizes": [3, 4], "options": {"eps": 1.0}})
        # Both readings fit the signature: only one can be constructed.
        text = task("return x * self.n", parameters=", sizes, options", made="self.n = len(sizes) + len(options)", init="[[3, 4], {}]")
        self.answers_itself(text)
        self.assertEqual(self.oracle.reference.instance(0).model.n, 2)

    def test_forward_is_called_by_position_and_by_keyword(self):
        for inputs in ("[[torch.randn(8, 4)], {'scale': torch.rand(4), 'shift': 2.0}]", "((torch.randn(8, 4),), dict(shift=2.0, scale=torch.rand(4)))",
                       "[torch.randn(8, 4), torch.rand(4), 2.0]", "dict(x=torch.randn(8, 4), scale=torch.rand(4), shift=2.0)"):
            described = self.answers_itself(task("return x * scale + shift", inputs, ", x, scale, shift=0.0"))
            call = described["verified"]["inputs"]
            self.assertEqual(sorted(item["kind"] for item in (*call["positional"], *call["keywords"].values())), ["tensor", "tensor", "value"], inputs)
        pair = task("return xs[0] * options['scale'] + xs[1]", "[[torch.randn(8), torch.randn(8)], {'scale': 2.0}]", ", xs, options")
        self.answers_itself(pair)
        self.answers_itself(pair.replace("options['scale']", "options.get('scale', 2.0)").replace("{'scale': 2.0}", "{}"))

    def test_what_only_running_tells(self):
        def takes_pairs(first, second):
            return first[0] + len(second)

        runs = arguments.run_through(takes_pairs)
        self.assertEqual(arguments.of([[1, 2], {}], takes_pairs, runs), [[1, 2], {}])
        self.assertEqual(arguments.of([[[1], [2]], {}], takes_pairs, runs), packing.Arguments([[1], [2]], {}))
        blob = packing.to_blob(packing.Arguments([packing.Slot(0)], {"b": packing.Slot(1)}))
        given = packing.unflatten(packing.from_blob(blob), [torch.ones(2), torch.zeros(2)])
        self.assertTrue(packing.called(lambda a, *, b: (a > b).all(), given))


class PlacesTest(ReferencesTest):
    def test_inputs_and_tables_asked_of_a_gpu_are_on_the_target(self):
        for inputs in ("[torch.randn(32, 16, device='cuda')]", "[torch.randn(32, 16).cuda()]", "[torch.randn(32, 16).to('cuda:0')]",
                       "[torch.randn(32, 16, pin_memory=True).pin_memory().to(device=torch.device('cuda'), dtype=torch.float32)]"):
            self.answers_itself(task("return x * self.table", inputs, made="self.register_buffer('table', torch.arange(16., device='cuda'))"))
            self.assertEqual(self.oracle.draws.current.tensors[0].device.type, "cpu")

    @unittest.skipIf(torch.cuda.is_available(), "this machine has a GPU")
    def test_what_cannot_be_moved_there_is_told_what_to_write(self):
        for text in (task("return x + torch.ones(16, device='cuda')"), task("return x.cuda() * 2")):
            try:
                self.load(text)
            except (RuntimeError, AssertionError) as error:
                said = self.oracle.explain(error, "describe")
            self.assertIn("in forward device=x.device", said["message"])


class GradientsTest(ReferencesTest):
    def test_a_backward_without_grad_mode_is_told_what_to_write(self):
        for body in ("x = x.detach().requires_grad_(); (x * x).sum().backward(); return x.grad",
                     "x = x.detach().requires_grad_(); return torch.autograd.grad((x * x).sum(), x)[0]"):
            try:
                self.load(task(body))
            except RuntimeError as error:
                said = self.oracle.explain(error, "describe")
            self.assertIn("forward runs under torch.no_grad()", said["message"])
            self.assertIn("with torch.enable_grad():", said["message"])

    def test_one_under_enable_grad_is_judged(self):
        body = "\n        ".join(("with torch.enable_grad():", "    x = x.detach().requires_grad_()", "    y = (self.layer(x).tanh() ** 2).sum()",
                                  "    force, = torch.autograd.grad(y, x)", "return y, -force"))
        self.answers_itself(task(body, made="self.layer = nn.Linear(16, 8)"))


class CompiledTest(ReferencesTest):
    def test_truth_is_what_a_compiled_reference_means(self):
        plain = task("return self.net(x) * 2", made="self.net = nn.Sequential(nn.Linear(16, 16), nn.GELU())")
        self.assertFalse(self.answers_itself(plain)["compiles"])
        for old, new in (("self.net = nn.Sequential(nn.Linear(16, 16), nn.GELU())", "self.net = torch.compile(nn.Sequential(nn.Linear(16, 16), nn.GELU()))"),
                         ("    def forward", "    @torch.compile(dynamic=False)\n    def forward"), ("nn.GELU())", "nn.GELU()); self.compile()")):
            described = self.answers_itself(plain.replace(old, new))
            self.assertTrue(described["compiles"], new)
            self.assertEqual([w["name"] for w in described["state"]], ["net.0.weight", "net.0.bias"])

    def test_flex_attention_is_a_reference(self):
        self.answers_itself("from torch.nn.attention.flex_attention import flex_attention\n" + task(
            "return flex_attention(q, k, v, score_mod=lambda s, b, h, i, j: s - (i - j).abs() * 0.1)",
            "[torch.randn(1, 2, 64, 16) for _ in range(3)]", ", q, k, v"))


STEP = task("m.lerp_(g, 0.1); v.mul_(0.9).addcmul_(g, g, value=0.1); count.add_(1); return p.addcdiv_(m, v.sqrt() + 1e-3, value=-0.01)",
            "[torch.randn(40), torch.randn(40), torch.randn(40), torch.rand(40), torch.tensor([3])]", ", p, g, m, v, count")


class ChangedInputsTest(ReferencesTest):
    def step(self, forget=()):
        """Verdict on a step that leaves some inputs as they were."""
        self.ask("prepare", seed=5, truth=True)
        drawn, built = self.oracle.draws.current, self.oracle.reference.instance(0)
        output, used = self.oracle.reference.forward(built.model, drawn)
        target = self.oracle.arenas.copy_to("candidate", drawn, 4096)
        for i, (tensor, placed) in enumerate(zip(used, arena.plan(drawn.tensors)[0])):
            if i not in forget:
                target.view(placed, 4096).copy_(tensor)
        return self.ask("verify", outputs=[output], left={"outputs": {"name": "candidate", "shift": 4096}}, truth=True)["comparison"]["passed"]

    def begin(self, **spec):
        described = self.load(STEP, **spec)
        os.close(self.oracle.answer({"op": "arena", "name": "candidate", "slot_bytes": 4096, "slots": 2})[1][0])
        return described

    def test_what_a_step_leaves_in_its_inputs_is_part_of_the_answer(self):
        self.assertEqual(self.begin(inplace=True)["left_in"], [2, 3, 4])
        self.assertTrue(self.step())
        for forgotten in (2, 3, 4):
            self.assertFalse(self.step([forgotten]), forgotten)
        self.assertTrue(self.step([0]), "returned, so compared there")
        self.assertEqual(self.ask("mutates", seed=6), {"mutates": True, "hides": False})

    def test_a_task_that_does_not_say_so_is_asked_for_what_it_returns(self):
        self.assertEqual(self.begin()["left_in"], [])
        self.assertTrue(self.step([2, 3, 4]))
        self.assertEqual(self.ask("mutates", seed=6), {"mutates": True, "hides": True})


if __name__ == "__main__":
    unittest.main()
