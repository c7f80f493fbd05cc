"""A runner's side of a window of several calls, and what the oracle sees of it afterwards."""

import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    import torch
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)

from davinci_worker import kept_state, packing, runner, window  # noqa: E402
from davinci_worker.runner import answers, messages  # noqa: E402

COUNT = 4


def buffers():
    return window.Buffers(torch.zeros(COUNT * 8 * 5000, dtype=torch.uint8), COUNT)


class WindowTest(unittest.TestCase):
    def test_what_a_call_returns_is_looked_at_as_it_lies_in_memory(self):
        whole = torch.arange(24.0).reshape(2, 3, 4)
        for tensor in (whole, whole.permute(2, 0, 1), whole.mT, whole[1:]):
            flat = packing.in_memory(tensor)
            self.assertEqual((flat.data_ptr(), flat.numel()), (tensor.data_ptr(), tensor.numel()))
            self.assertEqual(sorted(flat.tolist()), sorted(tensor.flatten().tolist()))
        for tensor in (whole[:, ::2], whole[..., :1].expand(2, 3, 4)):
            self.assertIsNone(packing.in_memory(tensor))

    def test_numbers_differ_by_window_and_place(self):
        numbers = {window.number(seed, i) for seed in (0, 1 << 62, (1 << 63) - 1) for i in range(COUNT)}
        self.assertGreaterEqual(len(numbers), 3 * COUNT - 2)
        self.assertTrue(all(0 < n < 1 << 63 for n in numbers))

    def test_calls_and_flushes_take_turns(self):
        log, made = [], buffers()
        flush = made.flush
        made.flush = lambda index, seed: (log.append(("flush", index)), flush(index, seed))
        asked = {"calls": 3, "flush": True, "idle": False, "empty": False}
        returned = window.run(lambda x: log.append(("call", x)) or x, [(0,), (1,), (2,)], made, 99, asked)
        self.assertEqual(returned, [0, 1, 2])
        self.assertEqual(log, [(what, i) for i in range(3) for what in ("flush", "call")])
        self.assertTrue(made.is_filled(99, 3, 1))

    def test_an_empty_window_has_all_but_the_calls(self):
        made, synchronized = buffers(), []
        with mock.patch.object(torch.cuda, "synchronize", lambda: synchronized.append(1)):
            self.assertEqual(window.run(None, (), made, 5, {"calls": 2, "flush": True, "idle": True, "empty": True}), [])
        self.assertEqual(len(synchronized), 4)
        self.assertTrue(made.is_filled(5, 2, 1))

    def test_what_was_left_out_is_seen(self):
        made = buffers()
        for index in range(COUNT):
            made.flush(index, 7)
        self.assertTrue(made.is_filled(7, COUNT, 3))
        self.assertFalse(made.is_filled(8, COUNT, 3), "another window's numbers")
        made.views[1, 100:200] = 0  # a fiftieth of one of them
        self.assertFalse(made.is_filled(7, COUNT, 3))

    def test_buffers_are_the_answer_until_the_next_calls(self):
        """A running mean that a window of calls has moved stands while an empty window follows, and is put back before the next calls."""
        peer, made, batch_norm = mock.Mock(), buffers(), torch.nn.BatchNorm1d(3)
        x = torch.randn(8, 3) + 5
        served = runner.Runner(peer, {"target": "cuda"})
        served.candidate.model, served.calls._buffers, served.calls._inputs = batch_norm, made, [0]
        served.candidate.kept = kept_state.KeptState(batch_norm, ["running_mean"])
        served.calls._arena = mock.Mock(view=lambda place, shift: x)
        skeleton = packing.flatten([x], [])
        seen = []
        asked = {"calls": 1, "shifts": [0], "args": [packing.to_blob(skeleton)], "flush": False, "idle": False, "seeded": False}
        with mock.patch.object(torch.cuda, "synchronize"), mock.patch.object(answers.Answers, "laid_out", lambda self, output: output), \
                mock.patch.object(answers.Answers, "pointers_of", lambda self, returned: seen.append(batch_norm.running_mean.clone()) or [1]):
            peer.recv_seed.return_value = 1
            for empty in (False, True, False):
                if not empty:
                    before = len(seen)
                served.calls.window(messages.ArmWindow({**asked, "empty": empty}))
                self.assertGreater(batch_norm.running_mean.abs().max(), 0.1, "put back too early")
                self.assertEqual(len(seen), before + 1)
        self.assertTrue(torch.equal(seen[0], seen[1]), "both calls began with the same buffers")


if __name__ == "__main__":
    unittest.main()
