#!/usr/bin/env python3
"""Exported kernels of the suite of honest ones, called with what they were not verified with: each call gives the reference's answer or
raises, and none ends its process.

    soundness_test.py --davinci BINARY [--only NAME | --all] [--cost]

The judge verifies the kernels and writes the exports (cpu target, real compilers). ``attack.py`` then loads one export per process and makes
each call in a child of its own, so that a crash is seen.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Two kinds of state: parameters of the task alone, and a normalisation. --all: every honest kernel of the target cpu (minutes).
KERNELS = ["gelu_scale_bias", "layer_norm"]
OPTIONS = argparse.Namespace()


def python():
    return os.environ.get("DAVINCI_PYTHON") or sys.executable


class Soundness(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="exports")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = Path(scratch.name)
        rows = {row["name"]: row for row in tomllib.loads((ROOT / "tests/honest/manifest.toml").read_text())["kernel"]}
        chosen = [name for name, row in rows.items() if row["target"] == "cpu"] if OPTIONS.all else [OPTIONS.only] if OPTIONS.only else KERNELS
        names = [name for name in chosen if name in rows]
        cls.rows = {name: rows[name] for name in names}
        jobs = [{"id": name, "reference": str(ROOT / "tasks" / (rows[name]["task"] + ".py")),
                 "candidate": str(ROOT / "tests/honest" / rows[name]["file"]), "target": "cpu", "protocol": "screening"} for name in names]
        (cls.folder / "jobs.jsonl").write_text("".join(json.dumps(job) + "\n" for job in jobs))
        done = subprocess.run([OPTIONS.davinci, "judge", "--batch", "jobs.jsonl", "-j", "2", "-o", "out.jsonl", "--export", "exports"],
                              cwd=cls.folder, capture_output=True, text=True, timeout=240,
                              env={**os.environ, "DAVINCI_CACHE_DIR": str(cls.folder / "cache")})
        assert done.returncode == 0, done.stderr
        cls.said = done.stderr

    def test_every_export_withstands_every_wrong_call(self):
        self.assertGreaterEqual(len(self.rows), 1 if OPTIONS.only else len(KERNELS))
        for name in self.rows:
            with self.subTest(name):
                export = self.folder / "exports" / f"{name}.py"
                self.assertTrue(export.exists(), self.said)
                done = subprocess.run([python(), str(HERE / "attack.py"), str(export)], capture_output=True, text=True, timeout=120,
                                      env={**os.environ, "OMP_NUM_THREADS": "1", "DAVINCI_RUNTIME_CACHE": str(self.folder / "runtime")})
                self.assertEqual(done.returncode, 0, done.stdout[-3000:] + done.stderr[-3000:])
                report = json.loads(done.stdout.splitlines()[-1])
                self.assertEqual(report["crashed"], [], name)
                self.assertEqual(report["wrong"], [], name)
                # Not by always running the reference: the verified call runs the kernel, and gives the reference's answer.
                self.assertEqual(report["kernel"], ["as verified"], report)
                self.assertGreaterEqual(report["calls"], 15)
                if OPTIONS.cost:
                    print(f"{name}: {report['calls']} wrong calls: {report['reference']} reference, {report['raised']} raised; guard "
                          f"{report['guard_us']:.1f} µs per call")
                self.assertLess(report["guard_us"], 200)  # tens at most on a quiet machine


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--cost", action="store_true")
    options, rest = parser.parse_known_args()
    options.davinci = str(Path(options.davinci).resolve())
    OPTIONS.__dict__.update(vars(options))
    unittest.main(argv=[__file__, *rest])
