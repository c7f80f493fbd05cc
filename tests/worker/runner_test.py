"""A runner that serves one reference after the other, and what it says of failures."""

import json
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

from davinci_worker import memory, packing, runner, source  # noqa: E402
from davinci_worker.runner import failures, gate  # noqa: E402

TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def forward(self, x):
        return x * 2
'''


class RunnerTest(unittest.TestCase):
    def setUp(self):
        self.runner = runner.Runner(None, {})

    def ask(self, op, **message):
        return self.runner.reply({"op": op, **message})["ok"]

    def load(self, source):
        self.ask("load", path="/nowhere/task.py", source=source, entry="Model", module="davinci_task", accelerate=False)
        self.ask("construct", variant=0, init=packing.to_blob([]), seed=1)
        return self.runner.candidate.model(torch.ones(3)).tolist()

    def test_serves_another_reference_when_the_first_is_forgotten(self):
        self.assertEqual(self.load(TASK), [2, 2, 2])
        self.assertTrue(self.ask("forget")["clean"])
        self.assertIsNone(self.runner.candidate.model)
        self.assertEqual(self.load(TASK.replace("2", "3")), [3, 3, 3])

    def test_a_reference_that_leaves_something_behind_is_the_last(self):
        self.load(TASK + "torch.backends.cudnn.deterministic = True\n")
        self.addCleanup(setattr, torch.backends.cudnn, "deterministic", False)
        self.assertFalse(self.ask("forget")["clean"])

    def test_numbers_that_json_does_not_know_are_sent_as_text(self):
        described = []
        packing.describe((math.nan, math.inf, -math.inf, 1.5, 3, True), described)
        self.assertEqual([d["value"] for d in described], ["nan", "inf", "-inf", 1.5, 3, 1])
        json.dumps(described, allow_nan=False)

    def test_gives_the_device_up_while_triton_compiles(self):
        try:
            from triton import knobs
            from triton.runtime.jit import JITFunction
        except ImportError:
            self.skipTest("this Python has no Triton")
        said = []

        class Peer:
            def send(self, message):
                said.append(message["gate"])

            def recv(self):
                said.append("open")

        before = JITFunction._do_compile
        self.addCleanup(setattr, JITFunction, "_do_compile", before)
        JITFunction._do_compile = lambda kernel, name, warmup=False: said.append((name, warmup))
        stands, launch = JITFunction._do_compile, knobs.runtime.launch_enter_hook
        capturing, synchronize = torch.cuda.is_current_stream_capturing, torch.cuda.synchronize
        self.addCleanup(lambda: (setattr(torch.cuda, "is_current_stream_capturing", capturing), setattr(torch.cuda, "synchronize", synchronize)))
        torch.cuda.is_current_stream_capturing, torch.cuda.synchronize = lambda: False, lambda: said.append("done")
        held = gate.Gate(Peer())
        launch(None)  # it has the device: nothing is asked
        JITFunction._do_compile(None, "a", warmup=True)
        JITFunction._do_compile(None, "b")  # it has given it up
        launch(None)
        launch(None)
        self.assertEqual(said, ["done", 0, "open", ("a", True), ("b", False), 1, "open"])
        del said[:]
        torch.cuda.is_current_stream_capturing = lambda: True
        JITFunction._do_compile(None, "c")
        self.assertEqual(said, [("c", False)])
        torch.cuda.is_current_stream_capturing = lambda: False
        for _ in range(20):
            JITFunction._do_compile(None, "d")
            launch(None)
        self.assertEqual(said.count(0), gate.Gate.MOST_PAUSES - 1)
        held.close()
        del said[:]
        self.assertIs(JITFunction._do_compile, stands)
        launch(None)
        self.assertEqual(said, [])

    def test_says_when_no_device_of_this_size_would_do(self):
        def refused(text):
            error = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate " + text)
            return failures.failure(error, "runtime_error")["error"]

        for text, hopeless in (("256.00 GiB. GPU 0 has a total capacity of 139.80 GiB of which 135.36 GiB is free.", True),
                               ("4.00 TiB. GPU 0 has a total capacity of 139.80 GiB of which 1 MiB is free.", True),
                               ("900.00 MiB. GPU 0 has a total capacity of 139.80 GiB of which 1 MiB is free.", False),
                               ("much", False)):
            self.assertEqual((refused(text)["kind"], refused(text)["never_fits"]), ("out_of_memory", hopeless), text)
        self.assertFalse(memory.never_fits(RuntimeError("Tried to allocate 2 GiB with a total capacity of 1 GiB")))

    def message(self, text):
        try:
            self.load(text)
        except Exception as error:  # noqa: BLE001
            return failures.failure(error, "load_error")["error"]["message"]
        return "nothing"

    def test_says_what_is_no_python_and_what_is_no_module(self):
        only = "; the file must hold Python only, no prose and no Markdown"
        for text, prose in (("Here is the kernel:\n\nimport torch\n", True), ("<think>\nfast\n</think>\n", True), ("```python\nx = 1\n```\n", True),
                            ("x = 1\n```\nThis one is fast.\n", True), ("import torch as\n", False), ("x = (1\n", False), ("x = 1\nx y z\n", False)):
            message = self.message(text)
            self.assertRegex(message, r"^/nowhere/task.py:\d+: SyntaxError: ")
            self.assertEqual(message.endswith(only), prose, text)
        self.assertEqual(self.message(TASK.replace("(nn.Module)", "")), "Model cannot be called; derive the class from torch.nn.Module")
        with self.assertRaisesRegex(source.SourceError, "class ModelNew or def scale_new is missing; define it with the reference's signature"):
            source.factory(unittest, "ModelNew", "scale_new")

    def test_says_how_functions_of_an_extension_get_their_names(self):
        for error, part in ((RuntimeError("bindings:1:1: error: redefinition of 'PyObject* PyInit_k()'"), "keep one of the two"),
                            (ImportError("dynamic module does not define module export function (PyInit_k)"), "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)"),
                            (RuntimeError("bindings:2:40: error: 'g' was not declared in this scope"), "functions that its sources define"),
                            (NotImplementedError("Could not run 'mine::f' with arguments from the 'CPU' backend. This could be because " + 99 * "Meta\n"),
                             "'CPU' backend; register a kernel for it: TORCH_LIBRARY_IMPL(mine, CPU, m)")):
            message = failures.failure(error, "load_error")["error"]["message"]
            self.assertTrue(message.endswith(part), message)

    def test_an_exception_whose_text_cannot_be_had_is_told(self):
        class Odd(Exception):
            def __str__(self):
                raise ValueError

        told = failures.failure(Odd(), "runtime_error")["error"]
        self.assertEqual((told["kind"], told["message"]), ("runtime_error", "RuntimeError: Odd, whose __str__ raises ValueError"))


if __name__ == "__main__":
    unittest.main()
