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
            [*DAVINCI, "bench", *(() if "--tasks" in options else ("--tasks", "set")), "-t", "cpu", "--json", "--set", "judge.turn_protocol=screening",
             "--set", "judge.final_protocol=screening", *options], cwd=self.folder, capture_output=True, text=True,
            env={**os.environ, "DAVINCI_CACHE_DIR": str(self.folder / "cache"),
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

    def test_tasks_that_are_too_large_are_scaled_down_and_say_so(self):
        self.put("large/1_Rows.py", TASK.replace("class Model", "rows = 4096\nshape = (8192,)\n\n\nclass Model").replace(
            "torch.randn(64, 64)", "torch.randn(rows, *shape)"))
        self.put("mine/1_Rows.py", RIGHT)
        done = self.bench("--tasks", "large", "--generations", "mine", "--shrink", "1", "--only", "*Rows")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1_Rows: scaled down: rows 4096 -> 32", done.stderr)
        task = json.loads(done.stdout)["tasks"][0]
        self.assertEqual((task["scaled"], task["correct"], task["only_pytorch"]), ("rows 4096 -> 32", 1, 1))
        missing = self.bench("--tasks", "large", "--generations", "mine", "--only", "1_Rowz")
        self.assertIn('did you mean \"1_Rows\"?', missing.stderr)

    def test_a_task_whose_minutes_are_over_gets_no_further_turn(self):
        for sample in range(3):
            self.put(f"mine/3_Shifted/{sample}.py", RIGHT + f"# {sample}\n")
        done = self.bench("--generations", "mine", "--task-minutes", "0.0001", "--set", "rollout.in_flight=1")
        document = json.loads(done.stdout)
        self.assertEqual(done.returncode, 3, done.stderr)
        ends = [one["end"] for one in document["tasks"][0]["results"]]
        self.assertEqual(sorted(ends), ["budget", "budget", "turns"], document["tasks"])
        self.assertIn("minutes of this task are over", done.stdout)

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

    def test_skills_are_chosen_without_a_model_or_not_at_all(self):
        names = ["loops-in-one", "lanes-in-order", "rows-in-cache"]
        self.put("skills.jsonl", "".join(json.dumps(
            {"name": name, "description": "relu in one loop", "scope": "general", "tags": ["cpp"],
             "content": f"## Motivation\nrelu.\n\n## Key Idea\n{name}.\n\n## Example\nLoop.\n"}) + "\n" for name in names))
        replies = [f"level1/3_Shifted@1#s{scheme}r0t1" for scheme in (0, 1)]
        self.put("replies.jsonl", "".join(json.dumps(
            {"davinci_recording": 1, "label": label, "reply": {"finish_reason": "stop", "model": "test", "text": "No code."}})
            + "\n" for label in replies))
        for way, scheme in (("bm25", 1), ("random", 1), ("none", 0)):
            done = self.bench("--skills", way, "--library", "skills.jsonl", "--llm", "recorded:replies.jsonl", "--only",
                              "level1/3_Shifted", "--samples", "1", "--turns", "1", "--run", f"run-{way}")
            document = json.loads(done.stdout)
            self.assertEqual(document["run"]["tasks"][0]["rollouts"], 1, way)
            self.assertEqual(document["run"]["costs"].get("selection", {"calls": 0})["calls"], 0, "no Selection call")
            recipe = (self.folder / f"run-{way}" / "recipe.toml").read_text(encoding="utf-8")
            self.assertIn(f"schemes = {scheme}", recipe)
            units = [json.loads(line) for path in (self.folder / f"run-{way}").rglob("*.jsonl")
                     for line in path.read_text(encoding="utf-8").splitlines()]
            rollouts = next(unit for unit in units if unit.get("kind") == "schemes")["body"]["rollouts"]
            self.assertEqual([bool(one["skills"]) for one in rollouts], [scheme == 1], f"{way}: {rollouts}")
            self.assertLessEqual(set(rollouts[0]["skills"]), set(names))
            if scheme:
                self.assertIn(f'method = "{way}"', recipe)

    def test_a_winner_that_is_not_faster_has_a_status_of_its_own(self):
        slow = RIGHT.replace("return torch.relu(x) + 1.0", "for _ in range(20):\n            y = torch.relu(x) + 1.0\n        return y")
        self.put("replies.jsonl", json.dumps({"davinci_recording": 1, "label": "3_Shifted@1#s0r0t1", "reply": {
            "finish_reason": "stop", "model": "test", "text": f"```python\n{slow}```\n"}}) + "\n")
        done = subprocess.run(
            [*DAVINCI, "optimize", "set/level1/3_Shifted.py", "-t", "cpu", "--json", "--schemes", "0", "--rollouts", "1",
             "--turns", "1", "--llm", "recorded:replies.jsonl", "--set", "judge.final_protocol=screening", "--set",
             "certify.also_against=[]", "--run", "run"], cwd=self.folder, capture_output=True, text=True,
            env={**os.environ, "DAVINCI_CACHE_DIR": str(self.folder / "cache"),
                 "DAVINCI_LIBRARY": str(self.folder / "none.db")})
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)
        task = json.loads(done.stdout)["tasks"][0]
        self.assertIsNone(task["winner"])
        # A busy machine may leave it open; it never says yes.
        found = task.get("not_faster") or task["not_decided"]
        self.assertLess(found["certified"]["speedup"]["median"], 1.5)
        self.assertRegex(task["remark"], "not significantly faster|not decided")

    def test_two_baselines_in_one_evaluation(self):
        self.put("right.py", RIGHT)
        done = subprocess.run([*DAVINCI, "judge", "-r", "set/level1/3_Shifted.py", "-c", "right.py", "-t", "cpu", "-p", "screening",
                               "-b", "eager,compile", "--json"], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "DAVINCI_CACHE_DIR": str(self.folder / "cache")})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        document = json.loads(done.stdout)
        self.assertEqual(document["speedup"]["baseline"], "eager")
        both = document["evidence"]["speedups"]
        self.assertEqual([one["baseline"] for one in both], ["eager", "compile"])
        self.assertEqual(both[0]["median"], document["speedup"]["median"])
        self.assertTrue(both[1]["low"] <= both[1]["median"], both)
        self.assertTrue(any((self.folder / "cache" / "inductor").rglob("*")), "what torch.compile made is kept")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--python", default=os.environ.get("DAVINCI_PYTHON"))
    known, rest = parser.parse_known_args()
    DAVINCI = [known.davinci, *(["--python", known.python] if known.python else [])]
    unittest.main(argv=[__file__, *rest])
