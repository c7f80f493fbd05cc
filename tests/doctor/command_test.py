"""davinci doctor on this machine, and on the same machine with parts taken away.

    command_test.py <davinci>
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

DAVINCI = sys.argv.pop(1)


def doctor(*options, **environment):
    done = subprocess.run([DAVINCI, *options], env={**os.environ, **environment}, capture_output=True, text=True)
    return done.returncode, done.stdout


class Doctor(unittest.TestCase):
    def test_json_and_exit_status_agree(self):
        status, out = doctor("doctor", "--json")
        report = json.loads(out)
        self.assertEqual(report["schema"], "davinci.doctor/1")
        self.assertEqual(status, 0 if report["targets"]["cpu"] else 1)
        self.assertTrue({"python", "compilers", "sandbox", "gpu", "storage"} <= {c["section"] for c in report["checks"]})
        for check in report["checks"]:
            self.assertIn(check["state"], ("ok", "warn", "missing"))
            if check["state"] == "missing":
                self.assertTrue(check["remedy"], check)
            if check["state"] == "ok":
                self.assertFalse(check["remedy"], check)

    def test_tells_of_torch_what_torch_says_itself(self):
        checks = {c["name"]: c for c in json.loads(doctor("doctor", "--json")[1])["checks"]}
        if checks["torch"]["state"] != "ok":
            self.skipTest("no torch here")
        ask = "import torch; print(torch.__version__, torch.version.cuda or '')"
        said = subprocess.run([checks["interpreter"]["details"]["path"], "-c", ask], capture_output=True, text=True, check=True).stdout
        told = checks["torch"]["details"]
        self.assertEqual(said.strip(), f"{told['version']} {told['cuda']}".strip())

    def test_python_without_torch_fails_and_names_the_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = os.path.join(folder, "python3")
            with open(fake, "w") as file:
                file.write(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')  # no site-packages
            os.chmod(fake, 0o755)
            status, out = doctor("--python", fake, "doctor", "--json")
        report = json.loads(out)
        torch = [c for c in report["checks"] if c["name"] == "torch"]
        self.assertEqual((status, report["targets"]["cpu"]), (1, False))
        self.assertEqual(torch[0]["state"], "missing")
        self.assertIn("pip install", torch[0]["remedy"])

    def test_no_installation_still_says_what_to_do(self):
        status, out = doctor("--python", "/nowhere/python", "doctor")
        self.assertEqual(status, 1)
        self.assertIn("✗ interpreter", out)
        self.assertIn("cannot work", out)


if __name__ == "__main__":
    unittest.main()
