"""The oracle's side of windows on the host, with stand-ins for what needs a device."""

import os
import pathlib
import sys
import types
import unittest
from unittest import mock

os.environ["DAVINCI_WORKER_LIB"] = sys.argv.pop(1)
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import torch
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)

from davinci_worker import oracle  # noqa: E402
from davinci_worker.oracle import description  # noqa: E402

TASK = '''
import torch, torch.nn as nn
class Model(nn.Module):
    def forward(self, x, y):
        return x * y + 1
def get_inputs(): return [torch.rand(32, 16), torch.rand(32, 16)]
def get_init_inputs(): return []
'''
SEEDS = [11, 12, 12]


class Backend:
    """A host's comparator with a device's looks at several calls at once."""

    def __init__(self, host):
        self._host = host
        self.glances = 0

    def __getattr__(self, name):
        return getattr(self._host, name)

    def forget_pinned_lines(self):
        pass

    def sample(self, tensors, key):
        return [t.clone() for t in tensors], list(tensors)

    def steady(self, samples):
        return all(map(torch.equal, *samples))

    def at_a_glance(self, outputs, samples, inputs):
        self.glances += 1
        return ([self.accepts(baseline, candidate, expected.dtype, expected.tolerance) for baseline, candidate, expected in outputs],
                samples is None or self.steady(samples), [torch.equal(seen, drawn) for seen, drawn in inputs])


class OracleWindowsTest(unittest.TestCase):
    def setUp(self):
        for name, stand_in in (("synchronize", lambda: None), ("mem_get_info", lambda: (1 << 34, 1 << 34))):
            patch = mock.patch.object(torch.cuda, name, stand_in)
            patch.start()
            self.addCleanup(patch.stop)
        self.oracle = oracle.Oracle(None, {"threads": 1})
        self.oracle.answers.returned = lambda tensors: tensors
        self.backend = self.oracle.comparator.backend = Backend(self.oracle.comparator.backend)
        self.ask("load", path="/nowhere/task.py", source=TASK, entry="Model", init_seed=1, state_seed=2, precision="fp32")
        self.slot = self.ask("describe", seed=3)["slot_bytes"]
        self.ask("prepare", seed=4, truth=True)
        _, (fd,) = self.oracle.answer({"op": "arena", "name": "candidate", "slot_bytes": self.slot, "slots": len(SEEDS)})
        self.addCleanup(os.close, fd)

    def ask(self, op, **message):
        return self.oracle.answer({"op": op, **message})[0]

    def window(self, spoil=lambda answers: None):
        """What is found of a window of honest calls, but for what ``spoil`` does once they have returned."""
        self.ask("draw", seeds=SEEDS)
        shifts = [i * self.slot for i in range(len(SEEDS))]
        self.ask("publish_several", name="candidate", shifts=shifts, cool=False)
        model = self.oracle.reference.instance(0).model
        honest = [model(*drawn.tensors) for drawn in self.oracle.windows._sets]
        answers = [answer.clone() for answer in honest]
        self.ask("settle", outputs=answers)
        spoil(answers)
        return self.ask("verify_several", calls=[
            {"outputs": [answer], "baseline": [right], "left": {}, "settled": True, "truth": False, "intact": {"name": "candidate", "shift": shift}}
            for answer, right, shift in zip(answers, honest, shifts)])["calls"]

    def test_a_window_has_room_for_the_calls_that_are_asked_for(self):
        device = types.SimpleNamespace(total_memory=128 << 30)  # inputs of a window take a gigabyte at most
        with mock.patch.object(torch.cuda, "get_device_properties", lambda _: device):
            for call_bytes, asked, calls in ((1 << 20, None, 16), (1 << 20, 6, 6), (1 << 28, None, 4), (1 << 28, 6, 4), (1 << 28, 3, 3), (1 << 31, 6, 0)):
                self.assertEqual(description._calls_of_window(call_bytes, asked), calls)

    def test_calls_that_are_right_are_told_at_a_glance(self):
        found = self.window()
        self.assertEqual([(call["comparison"]["passed"], call["late"], call["changed"]) for call in found], [(True, False, None)] * 3)
        self.assertEqual(self.backend.glances, 1)
        self.assertIsNone(self.oracle.draws.current)

    def test_what_was_drawn_ahead_is_what_the_seed_says(self):
        self.ask("draw", seeds=SEEDS)
        fresh = [drawn.tensors for drawn in self.oracle.windows._sets]
        self.ask("draw_ahead", seeds=SEEDS[:2])
        self.ask("draw", seeds=SEEDS)
        again = [drawn.tensors for drawn in self.oracle.windows._sets]
        self.assertTrue(all(torch.equal(a, b) for one, other in zip(fresh, again) for a, b in zip(one, other)))
        self.assertIs(again[1], again[2])

    def test_a_wrong_call_is_the_last_that_is_told(self):
        def in_a_copy(answers):
            answers[1] = answers[1] + torch.eye(32, 16)

        found = self.window(in_a_copy)
        self.assertEqual([call["comparison"]["passed"] for call in found], [True, False])

    def test_a_store_that_lands_late_is_seen(self):
        found = self.window(lambda answers: answers[2].view(-1)[5:6].mul_(1.0000001))
        self.assertTrue(found[0]["late"])

    def test_a_changed_input_is_named(self):
        def write(answers):
            self.oracle.arenas["candidate"].base[self.slot + 32 * 16 * 4] ^= 1  # the second input of the second call

        found = self.window(write)
        self.assertEqual([call["changed"] for call in found], [None, 1])


if __name__ == "__main__":
    unittest.main()
