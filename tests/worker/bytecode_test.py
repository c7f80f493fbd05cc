"""Where torch was installed without bytecode, what is imported is compiled once and kept; elsewhere nothing is written."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2] / "python"
SCRIPT = """
import sys
sys.dont_write_bytecode = True
sys.path[:0] = [{site!r}, {root!r}]
from davinci_worker import __main__ as server
server._keep_bytecode({cache!r})
import torch
print(sys.pycache_prefix)
"""


class BytecodeTest(unittest.TestCase):
    def imported(self, site, cache):
        """sys.pycache_prefix after an import of the torch that lies in ``site``."""
        script = SCRIPT.format(site=str(site), root=str(ROOT), cache=str(cache) if cache else "")
        done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def test_keeps_what_the_installation_does_not(self):
        with tempfile.TemporaryDirectory() as folder:
            site, cache = pathlib.Path(folder) / "site", pathlib.Path(folder) / "cache"
            (site / "torch").mkdir(parents=True)
            (site / "torch" / "__init__.py").write_text("name = 'torch'\n")
            self.assertEqual(self.imported(site, None), "None")
            self.assertEqual(self.imported(site, cache), str(cache))
            self.assertEqual(len(list(cache.rglob("torch/__init__*.pyc"))), 1)
            self.assertFalse((site / "torch" / "__pycache__").exists())

    def test_leaves_an_installation_with_bytecode_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            site, cache = pathlib.Path(folder) / "site", pathlib.Path(folder) / "cache"
            (site / "torch").mkdir(parents=True)
            (site / "torch" / "__init__.py").write_text("name = 'torch'\n")
            subprocess.run([sys.executable, "-m", "compileall", "-q", str(site)], check=True, capture_output=True)
            self.assertEqual(self.imported(site, cache), "None")
            self.assertFalse(cache.exists())


if __name__ == "__main__":
    unittest.main()
