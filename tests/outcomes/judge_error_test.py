"""What `davinci judge` says when the failure is its own: never a verdict about the candidate, never a reward.

    python tests/outcomes/judge_error_test.py --davinci build/dev/apps/davinci/davinci

The oracle dies because the reference kills its process: for the judge that is the same as any other death of an oracle.
"""
import argparse
import json
import os
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
COMPILED = """
import torch
from torch.utils.cpp_extension import load_inline

module = load_inline("doubled", cpp_sources="torch::Tensor f(torch::Tensor x) { return x * 2 + 1; }", functions=["f"])

class ModelNew(torch.nn.Module):
    def forward(self, x):
        return module.f(x)
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

    def judge(self, *arguments, stdout=subprocess.PIPE, env=None):
        done = subprocess.run([self.davinci, "judge", "--target", "cpu", "--protocol", "screening", *map(str, arguments)],
                              stdout=stdout, stderr=subprocess.PIPE, text=True, env=env)
        return done.returncode, done.stdout, done.stderr

    def check(self, document):
        self.assertEqual(document["status"], "judge_error")
        self.assertIsNone(document["correct"])
        self.assertIsNone(document.get("speedup"))
        self.assertEqual(document["evidence"]["kind"], "internal")
        self.assertIn("oracle", document["message"])

    def test_a_compiler_that_is_not_there_is_nobodys_fault_but_the_machines(self):
        self.candidate.write_text(COMPILED)
        root = pathlib.Path(self.folder.name)
        (root / "bin").mkdir()
        environment = dict(os.environ, PATH=str(root / "bin"), HOME=str(root), XDG_CACHE_HOME=str(root / "cache"))
        code, out, err = self.judge("-r", self.good, "-c", self.candidate, "--json", env=environment)
        self.assertEqual(code, 3, err)
        document = json.loads(out)
        self.assertEqual((document["status"], document["correct"]), ("judge_error", None))
        self.assertRegex(document["message"], "no C.. compiler on this machine; .*install")

    def test_an_answer_that_nobody_takes_ends_with_3(self):
        jobs = pathlib.Path(self.folder.name) / "jobs.jsonl"
        jobs.write_text(json.dumps({"reference": str(self.good), "candidate": str(self.candidate)}) + "\n")
        for arguments in (("-r", self.good, "-c", self.candidate, "--json"), ("-r", self.good, "-c", self.candidate), ("--batch", jobs)):
            with open("/dev/full", "w") as full:
                code, _, err = self.judge(*arguments, stdout=full)
            self.assertEqual(code, 3, err)
            self.assertIn("could not write to standard output", err)

    def test_a_batch_says_once_what_it_cannot_judge(self):
        root = pathlib.Path(self.folder.name)
        jobs, results = root / "jobs.jsonl", root / "results.jsonl"
        jobs.write_text('{"reference": "nowhere.py", "candidate": "nowhere.py"}\nnot a job\n')
        for _ in range(2):
            self.judge("--batch", jobs, "--out", results)
            self.assertEqual(len(results.read_text().splitlines()), 2)
        foreign = root / "letter.txt"
        foreign.write_text("hello")
        code, _, err = self.judge("--batch", jobs, "--out", foreign)
        self.assertEqual((code, foreign.read_text()), (2, "hello"), err)

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
