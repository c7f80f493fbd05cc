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

KERNELS = pathlib.Path(__file__).resolve().parent / "kernels"
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
        # Outside of /tmp, which a process of the judge may list: projects lie elsewhere. A process of the last trial may still end.
        folder = tempfile.TemporaryDirectory(dir=pathlib.Path.cwd(), ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        cls.here = pathlib.Path(folder.name)
        for name, text in FILES.items():
            path = cls.here / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text).replace("{here!r}", repr(str(cls.here))))

    def judge(self, *arguments, python=sys.executable, target="cpu"):
        done = subprocess.run([self.davinci, "--python", python, "judge", "-t", target, "-p", "screening", "--json", *arguments], text=True,
                              env=dict(os.environ, PYTHONPATH=str(self.here / "lib")), cwd=self.here, capture_output=True)
        self.assertTrue(done.stdout, done.stderr)
        return json.loads(done.stdout)

    def test_a_module_that_imports_a_neighbour_and_takes_keywords(self):
        (self.here / "project/net.weights.pt").write_bytes(b"weights")
        verdict = self.judge("-r", "project/net.py:Net", "--init", "dim=64",
                             "--inputs", "x=torch.randn(256, 64), shift={'by': torch.randn(64)}", "-c", "project/candidate.py")
        self.assertEqual((verdict["status"], verdict["correct"]), ("ok", True), verdict.get("message"))

    def test_arguments_by_position_and_by_keyword(self):
        for init, inputs in (("64, bias=True", "torch.randn(256, 64), shift={'by': torch.randn(64)}"),
                             ("*[64], **{'bias': True}", "torch.randn(256, 64), **{'shift': dict(by=torch.rand(64))}")):
            verdict = self.judge("-r", "project/net.py:Net", "--init", init, "--inputs", inputs, "-c", "project/candidate.py")
            self.assertEqual((verdict["status"], verdict["correct"]), ("ok", True), verdict.get("message"))

    def test_inputs_of_several_shapes(self):
        (self.here / "project/net.toml").write_text('title = "a net"')  # the file's own sidecar counts
        self.addCleanup((self.here / "project/net.toml").unlink)
        inputs = [part for rows in (256, 7) for part in ("--inputs", f"torch.randn({rows}, 64), shift={{'by': torch.randn(64)}}")]
        done = subprocess.run([self.davinci, "--python", sys.executable, "coverage", "project/net.py:Net", "--init", "64", *inputs, "-t", "cpu", "--json"],
                              text=True, env=dict(os.environ, PYTHONPATH=str(self.here / "lib")), cwd=self.here, capture_output=True)
        shapes = json.loads(done.stdout)["tasks"][0]["shapes"]
        self.assertEqual((shapes["named"], shapes["own_kernels"], shapes["without"]), (1, 1, []), done.stdout)
        (rows,) = shapes["symbols"]  # one text serves both, and others
        self.assertEqual((rows["size"], rows["from"] <= 7, rows["to"] > 256), ("x.shape[0]", True, True), done.stdout)
        verdict = self.judge("-r", "project/net.py:Net", "--init", "64", *inputs, "-c", "project/candidate.py")
        self.assertEqual((verdict["status"], verdict["correct"]), ("ok", True), verdict.get("message"))

    def test_editable_installs_and_relative_imports(self):
        venv = self.here / "venv"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
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

    def harnessed(self, file, text, target="cpu"):
        (self.here / file).write_text(text)
        return self.judge("-r", str(KERNELS / "scaled.py"), "-c", file, target=target)

    def test_kernels_alone_are_judged_with_a_harness(self):
        kernel = (KERNELS / "scaled.cpp").read_text()
        call = "// davinci: out = torch.empty_like(x)\n// davinci: scaled(x, self.weight, out, *x.shape, self.alpha)\n"
        other = call.replace("self.alpha", "1.0")
        for text, outcome in ((kernel, ("ok", True)), (call + kernel, ("ok", True)), (other + kernel, ("mismatch", False))):
            verdict = self.harnessed("scaled.cpp", text)
            self.assertEqual((verdict["status"], verdict["correct"]), outcome, verdict.get("message"))
        twice = kernel.replace("scaled(", "a(") + kernel
        self.assertIn("say how they are called in comments", self.harnessed("scaled.cpp", twice)["message"])

    def test_gpu_kernels_alone_are_judged_with_a_harness(self):
        """Without a GPU Triton kernels are interpreted, and CUDA C++ is compiled."""
        triton = (KERNELS / "scaled_triton.py").read_text()
        for file, text, outcomes in (
                ("scaled_triton.py", triton, (("ok", True), ("compile_only", True))),
                ("scaled_triton.py", triton.replace("self.alpha, ", "1.0, "), (("mismatch", False),)),
                ("scaled.cu", (KERNELS / "scaled.cu").read_text(), (("ok", True), ("compile_only", None))),
                ("scaled.cu", (KERNELS / "scaled.cu").read_text().replace("alpha;", "alfa;"), (("compile_error", None),))):
            verdict = self.harnessed(file, text, "cuda")
            self.assertIn((verdict["status"], verdict["correct"]), outcomes, verdict.get("message"))

    def tasks(self, *arguments):
        return subprocess.run([self.davinci, "--python", sys.executable, "tasks", *arguments], cwd=self.here, text=True, capture_output=True)

    def test_tasks_are_written_and_checked(self):
        self.assertEqual(self.tasks("new", "made.py").stdout, "made.py\nmade.toml\n")
        self.assertIn("made.py is there already", self.tasks("new", "made.py").stderr)
        self.assertEqual(self.tasks("new", "of_net.py", "--from", "app/net.py:net", "--inputs", "torch.randn(8)").returncode, 0)
        self.assertIn('function = "net"', (self.here / "of_net.toml").read_text())
        (self.here / "made.toml").write_text("[sizes.cpu]\nROWS = 16\nCOLS = 32\n")
        checked = self.tasks("check", "made.py", "-t", "cpu", "--json")
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertFalse(json.loads(checked.stdout)["tasks"][0]["answers"]["zeros"]["task"]["passes"])
        (self.here / "broken.py").write_text((self.here / "made.py").read_text().replace("torch.softmax", "torch.sofmax"))
        broken = self.tasks("check", "broken.py", "-t", "cpu")
        self.assertEqual(broken.returncode, 2)
        self.assertIn("sofmax", broken.stdout)

    def test_a_published_set_is_pulled_and_goes_on_where_it_stopped(self):
        remote = self.here / "remote"
        for name in ("KernelBench/level1/1_a.py", "KernelBench/level1/2_b.py", "KernelBench/level2/1_c.py", "results/large.json"):
            (remote / name).parent.mkdir(parents=True, exist_ok=True)
            (remote / name).write_text(f"# {name}\n")

        def git(*arguments):
            done = subprocess.run(["git", "-C", remote, "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], capture_output=True, text=True,
                                  check=True)
            return done.stdout.strip()

        git("init", "-q")
        git("add", ".")
        git("commit", "-q", "-m", "tasks")
        commit = git("rev-parse", "HEAD")
        (remote / "KernelBench/level1/3_later.py").write_text("")
        git("add", ".")
        git("commit", "-q", "-m", "later")
        # As after a kill: a repository without objects, and half of a folder.
        subprocess.run(["git", "init", "-q", self.here / ".set.part"], check=True)
        (self.here / ".set.made").mkdir()
        for again in (False, True):
            if again:
                remote.rename(self.here / "moved")  # nothing is asked of it when all is there
            done = self.tasks("pull", "kernelbench", "--url", str(remote), "--commit", commit[:10], "--into", "set")
            self.assertEqual((done.returncode, done.stdout), (0, "set\n"), done.stderr)
        (self.here / "moved").rename(remote)
        self.assertEqual(sorted(str(p.relative_to(self.here / "set")) for p in (self.here / "set").rglob("*.py")),
                         ["level1/1_a.py", "level1/2_b.py", "level2/1_c.py"])
        self.assertEqual(json.loads((self.here / "set/SOURCE.json").read_text())["commit"], commit)
        for arguments, part in ((["--commit", "0" * 40, "--into", "none"], "no commit 0000"), (["--commit", "1234567", "--into", "set"], "set holds")):
            done = self.tasks("pull", "kernelbench", "--url", str(remote), *arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn(part, done.stderr)

    def test_says_what_is_missing(self):
        for arguments, part in ((["-r", "app/net.py:nett", "--inputs", "1"], "defines no class or function nett (did you mean \"net\"?)"),
                                (["-r", "app/net.py:net"], "say what net is called with: --inputs"),
                                (["-r", "app", "--inputs", "1"], "go with one Python file")):
            verdict = subprocess.run([self.davinci, "judge", "-t", "cpu", "-c", "candidate_of_app.py", *arguments], cwd=self.here, text=True,
                                     capture_output=True)
            self.assertEqual(verdict.returncode, 2)
            self.assertIn(part, verdict.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    known, rest = parser.parse_known_args()
    Files.davinci = str(pathlib.Path(known.davinci).resolve())
    unittest.main(argv=[sys.argv[0], *rest])
