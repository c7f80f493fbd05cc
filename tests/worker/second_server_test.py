"""Who forks a child: the server, or for graphs with symbols its second one (davinci_worker/__main__.py): second_server_test.py LIBRARY."""

import importlib.util
import os
import pathlib
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

if importlib.util.find_spec("torch") is None:
    print("skipped: this Python has no torch")
    sys.exit(77)
PYTHON = pathlib.Path(__file__).resolve().parents[2] / "python"
LIBRARY = sys.argv.pop(1)
sys.path.insert(0, str(PYTHON))
from davinci_worker.channel import Channel  # noqa: E402

PATIENCE_SECONDS = 120


def parent(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("PPid:"):
            return int(line.split()[1])
    raise AssertionError(pid)


class SecondServer(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="second-server")
        self.addCleanup(folder.cleanup)
        self.scratch = folder.name
        ours, theirs = socket.socketpair()
        self.server = subprocess.Popen([sys.executable, "-m", "davinci_worker"], pass_fds=[theirs.fileno()], env={
            **os.environ, "PYTHONPATH": str(PYTHON), "DAVINCI_WORKER_LIB": LIBRARY, "DAVINCI_CONTROL_FD": str(theirs.fileno())})
        theirs.close()
        self.channel = Channel(ours.detach())
        self.assertIn("hello", self.channel.recv()[0])
        self.addCleanup(self.server.wait)
        self.addCleanup(self.channel.close)

    def forked_by(self, **request):
        """The server that forked the child of this request, which has ended."""
        control, theirs = socket.socketpair()
        said, status = os.pipe()
        null = os.open(os.devnull, os.O_WRONLY)
        self.channel.send({"role": "oracle", "target": "cpu", "scratch": self.scratch, **request}, [theirs.fileno(), status, null])
        theirs.close()
        os.close(status)
        os.close(null)
        child = Channel(control.detach())
        self.assertIn("ready", child.recv()[0])
        kind, pid = struct.unpack("<iI", os.read(said, 8))
        self.assertEqual(kind, 1)
        server = parent(parent(pid))
        child.close()
        self.assertEqual(struct.unpack("<iI", os.read(said, 8)), (2, 0))  # it ends by itself
        self.assertTrue(select.select([said], [], [], PATIENCE_SECONDS)[0], "a process still holds a pipe of a finished request")
        self.assertEqual(os.read(said, 8), b"")
        os.close(said)
        return server

    def second(self):
        """The second server, once it serves."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            found = self.forked_by(symbols=True)
            if found != self.server.pid:
                return found
        raise AssertionError("no second server within two minutes")

    def await_end(self, pid):
        until = time.monotonic() + PATIENCE_SECONDS
        while pathlib.Path(f"/proc/{pid}").exists() and "Z" not in pathlib.Path(f"/proc/{pid}/stat").read_text():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.01)

    def test_the_second_server_serves_symbols_once_it_is_ready_and_nothing_else(self):
        self.assertEqual(self.forked_by(symbols=True), self.server.pid)
        second = self.second()
        self.assertEqual(parent(second), self.server.pid)
        self.assertEqual(self.forked_by(symbols=True), second)
        self.assertEqual(self.forked_by(symbols=False), self.server.pid)
        self.assertEqual(self.forked_by(), self.server.pid)

    def test_without_it_the_server_serves(self):
        second = self.second()
        os.kill(second, signal.SIGKILL)
        self.await_end(second)
        self.assertEqual(self.forked_by(symbols=True), self.server.pid)

    def test_it_ends_with_the_server(self):
        second = self.second()
        self.channel.close()
        self.server.wait()
        self.await_end(second)


if __name__ == "__main__":
    unittest.main()
