"""Kernels of the expert answer only while the module is as it was when it was traced: changes of submodules behind the first call are noticed.

    configuration_test.py DAVINCI
"""

import copy
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
except ModuleNotFoundError:
    sys.exit(77)

from loading import load  # noqa: E402

DAVINCI = os.path.abspath(sys.argv.pop(1))
NET = '''import types

import torch
import torch.nn as nn


class Block(nn.Module):
    offset = 0.25

    def __init__(self, width):
        super().__init__()
        self.scale = 1.5
        self._bounds = [-1.0, 4.0]
        self.options = types.SimpleNamespace(leak=types.SimpleNamespace(slope=0.125))
        self.act = torch.sigmoid
        self.gate = nn.Tanh()
        self.norm = nn.LayerNorm(width)
        self.drop = nn.Dropout(0.0)

    def forward(self, x):
        y = self.act(x * self.scale + self.offset) * self.gate(x)
        y = torch.clamp(y, *self._bounds)
        y = torch.where(y > 0, y, y * self.options.leak.slope)
        if getattr(self, "flipped", False):
            y = -y
        if not self.training:
            y = y + 1
        return self.drop(self.norm(y)) + x


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = Block(width)
        self.title = "a net"

    def forward(self, x):
        return self.block(x) * 2 + x.abs()


def get_inputs():
    return [torch.randn(8, 16, generator=torch.Generator().manual_seed(3))]


def get_init_inputs():
    return [16]
'''


def replace_gate(net):
    net.block.gate = torch.nn.ReLU()


def set_offset(net):
    net.block.offset = 1.0


def delete_offset(net):
    del net.block.offset


def set_scale(net):
    net.block.scale = 2.0


def set_private(net):
    net.block._bounds[1] = 0.5


def set_option(net):
    net.block.options.leak.slope = 0.5


def set_function(net):
    net.block.act = torch.tanh


def set_absent(net):
    net.block.flipped = True


def set_dropout(net):
    net.block.drop.p = 0.5


def set_mode(net):
    net.block.eval()


def set_eps(net):
    net.block.norm.eps = 0.5


def add_hook(net):
    net.block.gate.register_forward_hook(lambda module, args, result: result + 1)


def double_weights(net):
    net.block.norm.double()


def turn_weights(net):
    net.block.norm.weight.data = torch.arange(32.0)[::2]


CHANGES = (replace_gate, set_offset, set_scale, set_private, set_option, set_function, set_absent, set_dropout, set_mode,
           set_eps, add_hook, turn_weights)


class ConfigurationTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="configuration")
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        (folder / "net.py").write_text(NET)
        done = subprocess.run([DAVINCI, "coverage", "net.py", "-t", "cpu", "--out", "out"], cwd=folder, capture_output=True, text=True,
                              env={**os.environ, "DAVINCI_CACHE_DIR": str(folder / "cache")}, check=False)
        (candidate,) = sorted((folder / "out/candidates").glob("net.cpp.best.py")) or [done.stdout + done.stderr]
        sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python"))
        cls.task, cls.candidate = load(folder / "net.py", "net"), load(candidate, "candidate")

    def setUp(self):
        self.enterContext(torch.no_grad())
        self.own_calls = 0
        forward = self.candidate.Model.forward

        def counted(*args):
            self.own_calls += 1
            return forward(*args)

        self.candidate.Model.forward = counted
        self.addCleanup(setattr, self.candidate.Model, "forward", forward)
        self.inputs = self.task.get_inputs()

    def pair(self):
        made = self.candidate.ModelNew(16), self.task.Model(16)
        self.same(*made)
        self.assertEqual(self.own_calls, 0)
        return made

    def same(self, net, own):
        torch.manual_seed(5)
        expected = own(*self.inputs)
        torch.manual_seed(5)
        torch.testing.assert_close(net(*self.inputs), expected)

    def test_a_change_of_a_submodule_gives_the_modules_own_values(self):
        for change in CHANGES:
            with self.subTest(change=change.__name__):
                self.own_calls = 0
                net, own = self.pair()
                for model in (net, own):
                    change(model)
                for calls in (1, 2):
                    self.same(net, own)
                    self.assertEqual(self.own_calls, calls)

    def test_weights_of_another_type_go_to_the_modules_own_forward(self):
        net, _ = self.pair()
        double_weights(net)
        with self.assertRaises(RuntimeError):  # as the module itself
            net(*self.inputs)

    def test_what_is_changed_back_is_computed_by_kernels_again(self):
        net, own = self.pair()
        set_scale(net)
        net(*self.inputs)
        net.block.scale = 1.5
        self.own_calls = 0
        self.same(net, own)
        set_offset(net)
        net(*self.inputs)
        delete_offset(net)
        self.own_calls = 0
        self.same(net, own)
        self.assertEqual(self.own_calls, 0)

    def test_what_forward_does_not_read_is_no_configuration(self):
        net, own = self.pair()
        net.title, net.block.remark = "another", 7
        net.block.norm.weight.mul_(2.0)
        own.block.norm.weight.mul_(2.0)
        self.same(net, own)
        self.assertEqual(self.own_calls, 0)

    def test_copies_notice_their_own_changes(self):
        net, own = self.pair()
        for made in (copy.deepcopy(net), copy.copy(net), pickle.loads(pickle.dumps(net))):
            self.own_calls = 0
            self.same(made, own)
            self.assertEqual(self.own_calls, 0)
        copied, changed = copy.deepcopy(net), copy.deepcopy(own)
        set_scale(copied)
        set_scale(changed)
        self.same(copied, changed)
        self.assertEqual(self.own_calls, 1)
        self.same(net, own)
        self.assertEqual(self.own_calls, 1)


if __name__ == "__main__":
    unittest.main()
