#!/usr/bin/env python3
"""`davinci bench` without a model: existing generations in both layouts, and --skills with recorded replies. The real
judge on the cpu target.

    bench_test.py --davinci BINARY [--python PYTHON]
"""
import argparse
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TASK = '''import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1.0


def get_inputs():
    return [torch.randn(64, 64)]


def get_init_inputs():
    return []
'''
RIGHT = '''import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1.0
'''
WRONG = RIGHT.replace("1.0", "2.0")
DAVINCI = []


class Bench(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="bench")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.put("set/level1/3_Shifted.py", TASK)
        self.put("set/level1/4_Other.py", TASK.replace("1.0", "0.5"))

    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def bench(self, *options):
        done = subprocess.run(
            [*DAVINCI, "bench", "--tasks", "set", "-t", "cpu", "--json", "--set", "judge.turn_protocol=screening",
             "--set", "judge.final_protocol=screening", *options], cwd=self.folder, capture_output=True, text=True,
            timeout=300, env={**os.environ, "DAVINCI_CACHE_DIR": str(self.folder / "cache"),
                              "DAVINCI_LIBRARY": str(self.folder / "none.db")})
        return done

    def value(self, document, key):
        return document["sections"][0]["metrics"][key]["value"]

    def test_generations_are_scored_without_a_model(self):
        self.put("runs/mine/level_1_problem_3_sample_0_kernel.py", RIGHT)
        self.put("runs/mine/level_1_problem_3_sample_1_kernel.py", WRONG)
        self.put("runs/mine/eval_results.json", "{}")
        self.put("plain/3_Shifted.py", WRONG)
        done = self.bench("--generations", "runs/mine")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 of 2 tasks have no generation", done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["sections"][0]["tasks"], 1)
        self.assertEqual(document["sections"][0]["samples"], 2)
        self.assertEqual(self.value(document, "correct/last turn"), 0.5)
        self.assertEqual(document["run"]["cost"]["prompt_tokens"] + document["run"]["cost"]["completion_tokens"], 0)
        plain = self.bench("--generations", "plain")
        self.assertEqual(plain.returncode, 0, plain.stderr)
        self.assertEqual(self.value(json.loads(plain.stdout), "correct/last turn"), 0)
        self.put("nothing/x.py", RIGHT)
        refused = self.bench("--generations", "nothing")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("fits a task", refused.stderr)

    def test_greedy_skills_are_one_flag(self):
        skill = {"name": "one-loop", "description": "relu in one loop", "scope": "general", "tags": ["cpp"],
                 "content": "## Motivation\nrelu.\n\n## Key Idea\nThe idea of one loop.\n\n## Example\nLoop.\n"}
        self.put("skills.jsonl", json.dumps(skill) + "\n")
        replies = {"level1/3_Shifted@1/selection/1": {"text": "", "tool_calls": [{
            "id": "1", "name": "select_skills", "arguments": json.dumps(
                {"think": "", "selected_skills": [{"name": "one-loop", "reason": "fits"}]})}]},
            "level1/3_Shifted@1#s1r0t1": {"text": f"```python\n{RIGHT}```\n"}}
        self.put("replies.jsonl", "".join(json.dumps(
            {"davinci_recording": 1, "label": label,
             "reply": {"finish_reason": "stop", "model": "test", "usage": {"prompt_tokens": 1, "completion_tokens": 1},
                       **reply}}) + "\n" for label, reply in replies.items()))
        done = self.bench("--skills", "greedy", "--library", "skills.jsonl", "--llm", "recorded:replies.jsonl",
                          "--only", "level1/3_Shifted", "--samples", "1", "--turns", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["run"]["tasks"][0]["rollouts"], 1, "no null scheme")
        run = Path(self.folder, document["run"]["run"])
        recipe = (run / "recipe.toml").read_text(encoding="utf-8")
        self.assertIn("null_scheme = false", recipe)
        self.assertIn("shared = false", recipe)
        self.assertEqual(document["run"]["costs"]["selection"]["calls"], 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--python", default=os.environ.get("DAVINCI_PYTHON"))
    known, rest = parser.parse_known_args()
    DAVINCI = [known.davinci, *(["--python", known.python] if known.python else [])]
    unittest.main(argv=[__file__, *rest])
