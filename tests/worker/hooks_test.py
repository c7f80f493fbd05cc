"""Where the C code goes with which Triton launches kernels: to the supervisor's build service, or, where that refuses, to a
compiler of this process, as without us."""

import os
import pathlib
import shutil
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
try:
    from triton import knobs
    from triton.runtime import build as triton_build
except ImportError:
    print("skipped: this Python has no Triton")
    sys.exit(77)
if shutil.which("gcc") is None and shutil.which("clang") is None:
    print("skipped: no C compiler")
    sys.exit(77)

from davinci_worker import hooks  # noqa: E402


class Supervisor:
    """The other end of the control channel."""

    def __init__(self, answer):
        self.requests, self._answer = [], answer

    def send(self, message):
        self.requests.append(message["build"])

    def recv(self):
        return {"built": self._answer}, []


class LauncherTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.source = os.path.join(folder.name, "main.c")
        pathlib.Path(self.source).write_text("int answer(void) { return 42; }\n")

    def build(self, answer):
        supervisor = Supervisor(answer)
        hooks.install(supervisor, triton=True)
        path = triton_build._build("launcher", self.source, self.folder, [], ["/usr/include"], [], ccflags=[])
        return path, supervisor.requests

    def test_the_build_service_compiles_it(self):
        path, requests = self.build({"ok": True, "path": "/cache/launcher.so"})
        self.assertEqual(path, "/cache/launcher.so")
        self.assertEqual(requests, [{"kind": "launcher", "cpp_sources": ["int answer(void) { return 42; }\n"],
                                     "extra_include_paths": ["/usr/include"]}])

    def test_where_it_refuses_triton_does_as_without_us(self):
        path, requests = self.build({"ok": False, "error": {"kind": "compile_error", "message": "no"}})
        self.assertEqual(len(requests), 1)
        self.assertTrue(os.path.exists(path))
        self.assertIsNotNone(knobs.build.impl)  # the next one is asked for again

    def test_only_the_main_thread_speaks_with_the_supervisor(self):
        found = []
        thread = threading.Thread(target=lambda: found.append(self.build({"ok": True, "path": "/cache/launcher.so"})))
        thread.start()
        thread.join()
        self.assertEqual(found[0][1], [])
        self.assertTrue(os.path.exists(found[0][0]))


if __name__ == "__main__":
    unittest.main()
