"""What `davinci judge` says when the failure is its own: never a verdict about the candidate, never a reward.

    python tests/outcomes/judge_error_test.py --davinci build/dev/apps/davinci/davinci

The oracle dies because the reference kills its process: for the judge that is the same as any other death of an oracle.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GOOD = """
import torch
import torch.nn as nn

class Model{new}(nn.Module):
    def forward(self, x):
        {body}return x * 2 + 1
"""
INPUTS = """
def get_inputs():
    return [torch.rand(64, 128)]

def get_init_inputs():
    return []
"""


class JudgeError(unittest.TestCase):
    davinci = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="davinci-judge-error")
        root = pathlib.Path(self.folder.name)
        self.good, self.deadly, self.candidate = root / "good.py", root / "deadly.py", root / "candidate.py"
        self.good.write_text(GOOD.format(new="", body="") + INPUTS)
        self.deadly.write_text(GOOD.format(new="", body="import os; os._exit(9)\n        ") + INPUTS)
        self.candidate.write_text(GOOD.format(new="New", body=""))

    def tearDown(self):
        self.folder.cleanup()

    def judge(self, *arguments):
        done = subprocess.run([self.davinci, "judge", "--target", "cpu", "--protocol", "screening", *map(str, arguments)],
                              capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def check(self, document):
        self.assertEqual(document["status"], "judge_error")
        self.assertIsNone(document["correct"])
        self.assertIsNone(document.get("speedup"))
        self.assertEqual(document["evidence"]["kind"], "internal")
        self.assertIn("oracle", document["message"])

    def test_one_job_ends_with_3_and_a_document(self):
        code, out, err = self.judge("-r", self.deadly, "-c", self.candidate, "--json")
        self.assertEqual(code, 3, err)
        self.check(json.loads(out))
        self.assertIn("oracle", err)

    def test_a_batch_repeats_it_goes_on_and_judges_it_again_next_time(self):
        jobs, out = pathlib.Path(self.folder.name) / "jobs.jsonl", pathlib.Path(self.folder.name) / "out.jsonl"
        jobs.write_text("".join(json.dumps({"id": name, "reference": str(task), "candidate": str(self.candidate)}) + "\n"
                                for name, task in (("deadly", self.deadly), ("good", self.good))))
        for run in (1, 2):
            code, _, err = self.judge("--batch", jobs, "--out", out, "-j", "1")
            self.assertEqual(code, 3, err)
            documents = [json.loads(line) for line in out.read_text().splitlines()]
            deadly = [d for d in documents if d["id"] == "deadly"]
            good = [d for d in documents if d["id"] == "good"]
            self.assertEqual(len(deadly), run, "a judge_error is no result: the next run asks again")
            self.assertEqual(len(good), 1)
            self.assertEqual(good[0]["status"], "ok")
            self.check(deadly[-1])
            self.assertEqual(deadly[-1]["job"]["attempts"], 2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    known, rest = parser.parse_known_args()
    JudgeError.davinci = known.davinci
    unittest.main(argv=[sys.argv[0], *rest])
