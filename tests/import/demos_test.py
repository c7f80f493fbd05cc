"""Demonstrations of users' modules: ``davinci synth demos --tasks`` writes what ``davinci synth rows`` reads.

    demos_test.py DAVINCI
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
MODULES = [HERE / "modules" / f"{name}.py" for name in ("swiglu_feed_forward", "rms_norm_variants", "focal_loss")]
REFUSED = HERE / "refused" / "item_loop_iterations.py"
DAVINCI = sys.argv.pop(1)


def davinci(*arguments):
    done = subprocess.run([DAVINCI, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"davinci {arguments}: {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


# As the judge says it: right, three times as fast.
VERDICT = {"schema": "davinci.evaluation/1", "status": "ok", "correct": True,
           "speedup": {"median": 3.0, "low": 2.9, "high": 3.1, "significant": True, "baseline": "eager"}}


class DemosTest(unittest.TestCase):
    def test_modules_of_users_become_demonstrations(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "demos"
            row = {"id": "row", "source": MODULES[1].read_text()}
            (pathlib.Path(folder) / "rows.jsonl").write_text(json.dumps(row) + "\n")
            said = davinci("synth", "demos", "--tasks", *MODULES, REFUSED, pathlib.Path(folder) / "rows.jsonl", "--language", "cpp", "triton", "cuda",
                           "--level", "naive", "best", "--skills", 2, "--out", out)
            self.assertIn("5 tasks", said)
            self.assertIn("no candidate: 1 cpp: ", said)
            demos = {demo["id"]: demo for demo in lines(out / "demos.jsonl")}
            for module in MODULES:
                demo = demos[module.stem]
                self.assertEqual(demo["source"], module.read_text())
                made = {(candidate["language"], candidate["level"]) for candidate in demo["candidates"]}
                self.assertEqual(made, {(language, level) for language in ("cpp", "triton", "cuda") for level in ("naive", "best")})
                for candidate in demo["candidates"]:
                    self.assertEqual((out / "candidates" / f"{candidate['id']}.py").read_text(), candidate["source"])
                    self.assertIn("class ModelNew(Model):", candidate["source"])
                    self.assertTrue(candidate["level"] == "naive" or candidate["skills"])
            self.assertEqual(demos[REFUSED.stem]["candidates"], [])
            for job in lines(out / "jobs.jsonl"):
                self.assertTrue((out / job["reference"]).is_file(), job)  # absolute, or below the folder
            self.assertTrue((out / "tasks" / "row.py").is_file())
            (out / "results.jsonl").write_text("".join(json.dumps({"id": candidate["id"], "evaluation": VERDICT}) + "\n"
                                                       for demo in demos.values() for candidate in demo["candidates"]))
            davinci("synth", "rows", out, "--policy-tokens", 20000)
            rows = lines(out / "rows.jsonl")
            self.assertIn("rms_norm_variants", {row["id"].partition(".")[0] for row in rows})


if __name__ == "__main__":
    unittest.main()
