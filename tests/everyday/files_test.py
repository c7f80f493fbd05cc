"""Modules of a project, as they lie there: neighbouring files, packages on PYTHONPATH, editable installs, no get_inputs().

    python tests/everyday/files_test.py --davinci build/dev/apps/davinci/davinci     (a Python with torch)
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

try:
    import torch
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)

FILES = {
    "lib/scales.py": "SCALE = 2.0\n",
    "project/helpers.py": "from scales import SCALE\n\ndef double(x):\n    return x * SCALE\n",
    "project/unrelated.py": "SECRET = 1\n",
    "project/net.py": """
        import torch
        from torch import nn
        from helpers import double

        class Net(nn.Module):
            def __init__(self, dim, bias=True):
                super().__init__()
                self.weight = nn.Parameter(torch.randn(dim))
                self.bias = nn.Parameter(torch.randn(dim)) if bias else None

            def forward(self, x, *, shift):
                return double(x) * self.weight + self.bias + shift["by"]
        """,
    # A candidate that looks for what it may not see, and tries to write to what it may.
    "project/candidate.py": """
        import importlib, os
        import torch
        from torch import nn
        from helpers import double

        HERE = {here!r}
        for name in ("net", "unrelated"):
            try:
                importlib.import_module(name)
            except ImportError:
                continue
            raise RuntimeError(name + " can be imported")
        for file in ("net.py", "net.toml", "net.weights.pt", "unrelated.py"):
            if os.path.exists(os.path.join(HERE, "project", file)):
                raise RuntimeError(file + " can be seen")
        try:
            open(os.path.join(HERE, "project", "helpers.py"), "a")
        except OSError:
            pass
        else:
            raise RuntimeError("helpers.py can be written to")

        class NetNew(nn.Module):
            def __init__(self, dim, bias=True):
                super().__init__()
                self.weight, self.bias = nn.Parameter(torch.randn(dim)), nn.Parameter(torch.randn(dim))

            def forward(self, x, *, shift):
                return torch.addcmul(self.bias + shift["by"], double(x), self.weight)
        """,
    "editable/src/plain_editable/__init__.py": "def one(x):\n    return x + 1\n",
    "editable/hooked.py": "import plain_editable\n\ndef two(x):\n    return plain_editable.one(x) + 1\n",
    "app/__init__.py": "",
    "app/parts/__init__.py": "",
    "app/parts/acts.py": "import torch\n\ndef act(x):\n    return torch.relu(x)\n",
    "app/net.py": """
        import hooked
        from .parts.acts import act

        def net(x):
            return hooked.two(act(x))
        """,
    "candidate_of_app.py": """
        import os
        import hooked
        from app.parts.acts import act

        if os.path.exists(os.path.join({here!r}, "app", "net.py")):
            raise RuntimeError("the reference can be seen")

        def net_new(x):
            return hooked.two(act(x))
        """,
}


class Files(unittest.TestCase):
    davinci = None

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.here = pathlib.Path(folder.name)
        for name, text in FILES.items():
            path = cls.here / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text).replace("{here!r}", repr(str(cls.here))))

    def judge(self, *arguments, python=sys.executable):
        done = subprocess.run([self.davinci, "--python", python, "judge", "-t", "cpu", "-p", "screening", "--json", *arguments], text=True,
                              env=dict(os.environ, PYTHONPATH=str(self.here / "lib")), cwd=self.here, capture_output=True, timeout=90)
        self.assertTrue(done.stdout, done.stderr)
        return json.loads(done.stdout)

    def test_a_module_that_imports_a_neighbour_and_takes_keywords(self):
        (self.here / "project/net.weights.pt").write_bytes(b"weights")
        verdict = self.judge("-r", "project/net.py:Net", "--init", "dim=64",
                             "--inputs", "x=torch.randn(256, 64), shift={'by': torch.randn(64)}", "-c", "project/candidate.py")
        self.assertEqual((verdict["status"], verdict["correct"]), ("ok", True), verdict.get("message"))

    def test_editable_installs_and_relative_imports(self):
        venv = self.here / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=60)
        site = next(venv.glob("lib/python*/site-packages"))
        # Packages of another environment, an editable install by path, and one by import hook.
        (site / "torch.pth").write_text(str(pathlib.Path(torch.__file__).parent.parent) + "\n")
        (site / "plain.pth").write_text(str(self.here / "editable/src") + "\n")
        (site / "hook.pth").write_text("import hook_of_build_tool\n")
        (site / "hook_of_build_tool.py").write_text(textwrap.dedent(f"""
            import importlib.util, sys
            class Finder:
                @staticmethod
                def find_spec(name, path=None, target=None):
                    if name == "hooked":
                        return importlib.util.spec_from_file_location(name, {str(self.here / "editable/hooked.py")!r})
            sys.meta_path.append(Finder)
            """))
        verdict = self.judge("-r", "app/net.py", "--entry", "net", "--inputs", "torch.randn(256, 64)", "-c", "candidate_of_app.py",
                             python=str(venv / "bin/python"))
        self.assertEqual((verdict["status"], verdict["correct"]), ("ok", True), verdict.get("message"))

    def test_says_what_is_missing(self):
        for arguments, part in ((["-r", "app/net.py:nett", "--inputs", "1"], "defines no class or function nett (did you mean \"net\"?)"),
                                (["-r", "app/net.py:net"], "say what net is called with: --inputs"),
                                (["-r", "app", "--inputs", "1"], "go with one Python file")):
            verdict = subprocess.run([self.davinci, "judge", "-t", "cpu", "-c", "candidate_of_app.py", *arguments], cwd=self.here, text=True,
                                     capture_output=True, timeout=30)
            self.assertEqual(verdict.returncode, 2)
            self.assertIn(part, verdict.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    known, rest = parser.parse_known_args()
    Files.davinci = str(pathlib.Path(known.davinci).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
