#!/usr/bin/env python3
"""What a user of `davinci optimize` and its sisters sees: messages, tables, exit statuses. A stand-in answers as the model;
the real judge on the cpu target.

    messages_test.py --davinci BINARY [--python PYTHON]
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from endpoint import Endpoint

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
RIGHT = '''```python
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1.0
```'''
WRONG = RIGHT.replace("1.0", "2.0")
DAVINCI = []


class Messages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # One for all tests: most of them ask about the same task and the same two kernels.
        cls.cache = tempfile.TemporaryDirectory(prefix="messages-cache")
        cls.addClassCleanup(cls.cache.cleanup)

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="messages")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.put("task.py", TASK)

    def put(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def environment(self):
        return {**os.environ, "DAVINCI_CACHE_DIR": self.cache.name, "DAVINCI_LIBRARY": str(self.folder / "none.db")}

    def davinci(self, *arguments):
        return subprocess.run([*DAVINCI, *arguments], cwd=self.folder, capture_output=True, text=True,
                              env=self.environment())

    def settings(self, url, *options):
        return ["-t", "cpu", "--llm", url, "--model", "stand-in", "--schemes", "0", "--set", "judge.turn_protocol=screening",
                "--set", "judge.final_protocol=screening", "--set", "certify.also_against=[]", "--set", "rollout.expert=off", "--run", "run",
                *options]

    def optimize(self, endpoint, *options):
        return self.davinci("optimize", "task.py", *self.settings(endpoint.url, *options))

    def test_replies_without_a_correct_kernel_are_counted_and_shown(self):
        replies = ["I cannot do that.", WRONG, RIGHT.replace("forward(self, x)", "forward(self x)"), "Sorry."]
        with Endpoint(lambda request, number: replies[number]) as endpoint:
            done = self.optimize(endpoint, "--rollouts", "1", "--turns", "4")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("no correct kernel in 4 replies: 2 without code, 1 ", done.stdout)
        self.assertIn("1 mismatch", done.stdout)
        self.assertNotIn("nothing was rolled out", done.stdout)
        # Replies without code are shown like any other, and their ids are explained.
        self.assertIn("task@1#s0r0t1", done.stderr)
        self.assertRegex(done.stderr, r"task@1#s0r0t4 +parse_error  \S")
        self.assertIn("#sSrRtT: skill set S, rollout R, turn T", done.stderr)
        # An unknown price is not zero dollars.
        self.assertIn("4 model calls, 400 prompt + 80 reply tokens, price unknown;", done.stdout)
        self.assertNotIn("$0.00", done.stdout)
        listed = self.davinci("runs", "list", "--in", ".")
        self.assertRegex(listed.stdout, r"run +optimize .* finished")

    def test_beside_a_model_the_expert_writes_the_kernel_to_beat(self):
        with Endpoint(lambda request, number: WRONG) as endpoint:
            done = self.optimize(endpoint, "--rollouts", "2", "--turns", "1", "--set", "rollout.expert=auto", "--json")
        document = json.loads(done.stdout)
        task = document["tasks"][0]
        self.assertIn(done.returncode, (0, 4), done.stderr)  # 4: a busy machine may decide nothing
        best = task["winner"] or task.get("not_decided") or task["not_faster"]
        self.assertEqual(best["by"], "expert")
        self.assertIsNone(task["best_of"]["model"])
        self.assertEqual(document["cost"]["calls"], 2)
        prompt = "".join(message["content"] for message in endpoint.requests[0]["messages"])
        self.assertIn("# The kernel to beat", prompt)
        self.assertIn("class ModelNew(Model):", prompt)

    def test_a_single_rollout_is_the_models(self):
        with Endpoint(lambda request, number: WRONG) as endpoint:
            done = self.optimize(endpoint, "--rollouts", "1", "--turns", "1", "--set", "rollout.expert=auto")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertNotIn("expert", done.stdout)

    def test_a_refused_seed_is_told_and_kept_with_the_run(self):
        def answer(request, number):
            return (400, {"error": {"message": "seed is not supported"}}) if "seed" in request else WRONG

        with Endpoint(answer) as endpoint:
            done = self.optimize(endpoint, "--rollouts", "1", "--turns", "1")
        note = "does not accept seed; it is left out: replies cannot be repeated, and the pairs"
        self.assertIn(note, done.stderr)
        self.assertIn(note, done.stdout)
        shown = self.davinci("runs", "show", "run", "--json")
        self.assertIn(note, json.loads(shown.stdout)["notices"][0])

    def test_a_rate_limit_is_no_budget_and_a_failed_run_is_not_finished(self):
        limit = (429, {"error": {"message": "come back tomorrow"}}, {"Retry-After": "86400"})
        with Endpoint(lambda request, number: limit) as endpoint:
            done = self.optimize(endpoint, "--rollouts", "1", "--turns", "1")
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("longer than the 300 s allowed", done.stdout)
        self.assertNotIn("budget", done.stdout + done.stderr)
        state = json.loads(self.davinci("runs", "list", "--in", ".", "--json").stdout)[0]
        self.assertEqual(state["state"], "not finished")
        # A run without a record was last touched when it was made, not in 1970.
        folder = self.folder / "run"
        header, *_ = (folder / "journal.jsonl").read_text().splitlines(keepends=True)
        shutil.rmtree(folder / "steps", ignore_errors=True)
        (folder / "journal.jsonl").write_text(header)
        state = json.loads(self.davinci("runs", "list", "--in", ".", "--json").stdout)[0]
        self.assertLess(abs(time.time() - state["last_unix_s"]), 600)
        self.assertIn(time.strftime("%Y-", time.gmtime()), self.davinci("runs", "list", "--in", ".").stdout)

    def test_an_account_without_credit_ends_the_run(self):
        with Endpoint(lambda request, number: (402, {"error": {"message": "pay first"}})) as endpoint:
            done = self.optimize(endpoint, "--rollouts", "2", "--turns", "1")
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertEqual((done.stdout + done.stderr).count("pay first; the account has no credit or quota left"), 1)
        self.assertNotIn("budget", done.stdout + done.stderr)

    def test_an_interrupt_ends_a_call_that_hangs(self):
        with Endpoint(lambda request, number: None) as endpoint:
            process = subprocess.Popen([*DAVINCI, "optimize", "task.py", *self.settings(endpoint.url, "--rollouts", "2")],
                                       cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while not endpoint.requests:
                self.assertIsNone(process.poll(), "it ended without a call")
                time.sleep(0.05)
            begun = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
            self.assertLess(time.monotonic() - begun, 100)  # a call that is silent ends by itself after 300 s
        self.assertEqual(process.returncode, 3, err)
        self.assertIn("not finished; the same command continues from here", out)

    def test_a_syntax_error_is_named_with_its_line(self):
        self.put("bad.py", TASK.replace("get_inputs():", "get(:"))
        for arguments in (["optimize", "bad.py", *self.settings("http://127.0.0.1:1/v1")], ["judge", "-r", "bad.py", "-c", "task.py", "-t", "cpu"]):
            done = self.davinci(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("bad.py:10: SyntaxError", done.stderr)
            self.assertNotIn("no get_inputs", done.stderr)

    def test_a_mistyped_library_is_not_an_empty_one(self):
        with Endpoint(lambda request, number: WRONG) as endpoint:
            done = self.optimize(endpoint, "--library", "skils.db")
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("skils.db: no such skill library", done.stderr)
        self.assertFalse((self.folder / "run").exists())

    def test_json_says_what_was_wrong_with_the_input(self):
        for arguments, command, part in ((["optimize", "none.py", "--json"], "optimize", "none.py"),
                                         (["optimize", "task.py", "--json", "--turns", "x"], "optimize", "--turns"),
                                         (["bench", "--tasks", "none", "--json"], "bench", "none"),
                                         (["runs", "show", "none", "--json"], "runs", "none"),
                                         (["report", "none", "--json"], "report", "none"),
                                         (["judge", "-r", "task.py", "--json"], "judge", "--candidate")):
            done = self.davinci(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            document = json.loads(done.stdout)
            self.assertEqual((document["schema"], document["command"], document["exit_status"]), ("davinci.error/1", command, 2))
            self.assertIn(part, document["error"]["message"])

    def test_a_batch_with_a_file_for_its_results_prints_a_summary_only(self):
        self.put("right.py", RIGHT.replace("```python\n", "").replace("```", ""))
        self.put("jobs.jsonl", '{"reference": "task.py", "candidate": "right.py", "protocol": "screening"}\n')
        done = self.davinci("judge", "--batch", "jobs.jsonl", "-t", "cpu", "-o", "out.jsonl")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertIn("1 job: 1 ok", done.stderr)
        self.assertIn("results: out.jsonl", done.stderr)
        self.assertEqual(len((self.folder / "out.jsonl").read_text().splitlines()), 1)

    def test_an_interrupted_batch_finishes_what_is_in_flight(self):
        self.put("right.py", RIGHT.replace("```python\n", "").replace("```", ""))
        self.put("jobs.jsonl", "".join(f'{{"reference": "task.py", "candidate": "right.py", "protocol": "{protocol}"}}\n'
                                       for protocol in ("screening", "davinci")))
        process = subprocess.Popen([*DAVINCI, "judge", "--batch", "jobs.jsonl", "-t", "cpu", "-j", "1", "-o", "out.jsonl"],
                                   cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not (self.folder / "out.jsonl").exists():
            self.assertIsNone(process.poll(), "it ended without a file for its results")
            time.sleep(0.01)
        time.sleep(0.2)  # the first evaluation takes seconds: it imports torch
        process.send_signal(signal.SIGUSR1)
        _, err = process.communicate()
        self.assertEqual(process.returncode, 3, err)
        self.assertIn("2 jobs: 1 ok", err)
        self.assertIn("1 not judged; the same command continues from here", err)

    def test_synth_demos_says_why_it_cannot_judge(self):
        (self.folder / "bin").mkdir()
        alone = shutil.copy(DAVINCI[0], self.folder / "bin")  # without its worker
        done = subprocess.run([alone, "synth", "demos", "--count", "1", "--language", "cpp", "--judge", "--out", "demos"], cwd=self.folder,
                              env=self.environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("davinci synth demos: failed precondition: libdavinci_worker.so is missing", done.stderr)

    def test_bench_has_a_line_per_task_and_its_cost(self):
        self.put("other.py", TASK.replace("1.0", "3.0"))
        self.put("prices.toml", '[stand-in]\nprompt = 1.0\ncompletion = 10.0\n')
        with Endpoint(lambda request, number: RIGHT) as endpoint:
            done = self.davinci("bench", "--tasks", ".", "-t", "cpu", "--llm", endpoint.url, "--model", "stand-in", "--samples", "2", "--turns", "1",
                                "--set", "judge.turn_protocol=screening", "--set", "judge.final_protocol=screening", "--run", "run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^task +2 +2 +2 +([0-9.]+x|at least|at most|not decided) .*price unknown")
        self.assertRegex(done.stdout, r"(?m)^other +2 +0 +0 +price unknown")
        self.assertIn("only PyTorch: 2 correct samples without a kernel", done.stdout)
        # Progress, and a line per sample.
        self.assertIn("task@1#s0r0t1", done.stderr)
        lines = (self.folder / "run" / "results" / "samples.csv").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines), 5, lines)
        self.assertTrue(lines[0].startswith("task,level,scheme,rollout,"))
        listed = self.davinci("runs", "list", "--in", ".").stdout
        self.assertRegex(listed, r"(?m)^run +bench +other and 1 more ")
        shown = self.davinci("runs", "show", "run", "--turn", "s0r1t1").stdout
        for part in ("task@1#s0r1t1: ok", "other@1#s0r1t1: mismatch", "--- prompt: user ---", "--- reply ---", "class ModelNew"):
            self.assertIn(part, shown)
        self.assertIn("did you mean", self.davinci("runs", "show", "run", "--turn", "task@1#s0r1t3").stderr)
        again = self.davinci("bench", "--replay", "run", "--json")
        self.assertEqual(again.returncode, 0, again.stderr)
        task = json.loads(again.stdout)["tasks"][1]
        self.assertEqual((task["task"], task["correct"], task["only_pytorch"], len(task["results"])), ("task", 2, 2, 2))
        self.assertIn("4 model calls, 400 prompt + 80 reply tokens, price unknown", done.stdout)

    def test_a_broken_reference_is_named_and_no_continuation_is_promised(self):
        self.put("task.py", TASK.replace("torch.relu(x)", "torch.rellu(x)"))
        with Endpoint(lambda request, number: RIGHT) as endpoint:
            done = self.optimize(endpoint, "--rollouts", "1", "--turns", "1")
            self.assertEqual(endpoint.requests, [])
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        for part in ("rellu", "task: its reference cannot be judged; mend " + str(self.folder / "task.py")):
            self.assertIn(part, done.stdout)
        self.assertNotIn("continues from here", done.stdout)

    def test_a_wait_of_ten_seconds_says_what_is_awaited(self):
        shown = threading.Event()
        with Endpoint(lambda request, number: shown.wait() and WRONG) as endpoint:
            process = subprocess.Popen([*DAVINCI, "optimize", "task.py", *self.settings(endpoint.url, "--rollouts", "1", "--turns", "1")],
                                       cwd=self.folder, env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            lines = []
            for line in process.stderr:
                lines.append(line)
                if "silent for" in line:
                    shown.set()
            shown.set()
            self.assertEqual(process.wait(), 1, lines)
        # No sooner than after ten seconds; later where the machine is busy.
        self.assertRegex("".join(lines), r"(?m)^\d+:\d\d  0 replies, .* silent for \d\d+ s, awaiting: .*first replies")

    def test_a_language_that_the_text_is_not_in_is_said(self):
        self.code("right.py", RIGHT)
        judge = ["judge", "-r", "task.py", "-c", "right.py", "-t", "cpu", "-p", "screening"]
        done = self.davinci(*judge, "-l", "triton")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--language is triton, but right.py is python", done.stderr)
        self.assertNotIn("warning", self.davinci(*judge).stderr)

    def code(self, name, text):
        self.put(name, text.replace("```python\n", "").replace("```", ""))

    def test_a_run_starts_from_a_kernel_and_goes_on_from_its_best(self):
        # Surely slower than the reference: what no clock decides would be measured three times in each run.
        self.code("start.py", RIGHT.replace(
            "return torch.relu(x) + 1.0", "for _ in range(50):\n            y = torch.relu(x) + 1.0  # by hand\n        return y"))
        self.put("hints.txt", "Prefer two passes.\n")
        with Endpoint(lambda request, number: WRONG) as endpoint:
            first = self.optimize(endpoint, "--rollouts", "1", "--turns", "1", "--start", "start.py", "--hints", "Prefer one pass.")
            more = self.davinci("optimize", "--more", "run", "--run", "again", "--hints", "@hints.txt", "--rollouts", "2")
            for arguments, part in ((["task.py", "--start", "none.py"], "none.py"), (["task.py", "--hints", "@none.txt"], "none.txt"),
                                    (["task.py", "--more", "run"], "leave out FILE and --start"), (["--more", "none"], "none holds no run")):
                done = self.davinci("optimize", *arguments, *self.settings(endpoint.url))
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(part, done.stderr)
        self.assertEqual([len(r["messages"]) for r in endpoint.requests], [2, 2, 2])
        shown = [r["messages"][1]["content"] for r in endpoint.requests]
        for done, tasks in ((first, shown[:1]), (more, shown[1:])):
            # Correct, so it wins against a wrong reply, and no faster than the reference.
            self.assertIn(done.returncode, (0, 4), done.stderr)
            self.assertRegex(done.stdout, r"(?m)^task .* start kernel$")
            self.assertRegex(done.stderr, r"task@1#s1r0t1 +ok .*\(start kernel\)")
            for text in tasks:
                self.assertIn("\n\n# The kernel to start from\n", text)
                self.assertIn("torch.relu(x) + 1.0  # by hand", text)
                self.assertIn("The judge about it: ok, ", text)
        self.assertIn("\n\n# Advice from the user\n\nPrefer one pass.\n", shown[0])
        self.assertIn("# Advice from the user\n\nPrefer two passes.\n", shown[1])
        # Said before the first call; one skill set, one rollout.
        self.assertIn("1 task: at most 1 model call (0 selection, 1 policy)", first.stderr)
        self.assertIn("task: 1 skill set, 1 rollout\n", first.stderr)
        self.assertIn("task: 1 skill set, 2 rollouts\n", more.stderr)
        # Other replies than in the first run.
        self.assertEqual(len({r["seed"] for r in endpoint.requests}), 3)

    def test_further_shapes_are_verified(self):
        self.put("sized.py", TASK.replace("randn(64", "randn(ROWS").replace("class Model", "ROWS = 64\n\n\nclass Model"))
        only_64 = RIGHT.replace("torch.relu(x)", "torch.relu(x.view(64, 64))")
        self.code("only_64.py", only_64)
        judge = ["judge", "-r", "sized.py", "-c", "only_64.py", "-t", "cpu", "-p", "screening"]
        self.assertEqual(self.davinci(*judge).returncode, 0)
        other = self.davinci(*judge, "--shapes", "ROWS=32", "--shapes", "ROWS=65")
        self.assertEqual(other.returncode, 1, other.stdout)
        self.assertRegex(other.stdout, "invalid for input of size (2048|4160)")
        for shape, part in (("COLS=65", "no global COLS to set"), ("ROWS", "write NAME=NUMBER")):
            done = self.davinci(*judge, "--shapes", shape)
            self.assertEqual(done.returncode, 2, done.stdout)
            self.assertIn(part, done.stderr)
        with Endpoint(lambda request, number: only_64) as endpoint:
            done = self.davinci("optimize", "sized.py", *self.settings(endpoint.url, "--rollouts", "1", "--turns", "1", "--shapes", "ROWS=65"))
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("1 runtime_error", done.stdout)

    def test_numericss_two_candidates_and_repeats(self):
        self.code("right.py", RIGHT)
        self.code("slow.py", RIGHT.replace("return torch.relu(x) + 1.0", "for _ in range(200):\n            y = torch.relu(x) + 1.0\n        return y"))
        self.code("wrong.py", WRONG)
        judge = ["judge", "-r", "task.py", "-t", "cpu", "-p", "screening", "-c"]
        twice = self.davinci(*judge, "right.py", "--against", "slow.py", "--repeat", "2", "--json")
        self.assertEqual(twice.returncode, 0, twice.stderr)
        document = json.loads(twice.stdout)
        self.assertEqual(document["schema"], "davinci.repeat/1")
        self.assertEqual([(e["repetition"], e["candidate"], e["correct"]) for e in document["evaluations"]],
                         [(1, "right.py", True), (1, "slow.py", True), (2, "slow.py", True), (2, "right.py", True)])
        self.assertEqual(set(document["summary"]), {"candidate", "against", "candidate_over_against", "verdict"})
        medians = [e["speedup"]["median"] for e in document["evaluations"]]
        for side, values in (("candidate", (medians[0], medians[3])), ("against", (medians[1], medians[2]))):
            combined = document["summary"][side]
            self.assertAlmostEqual(combined["median"], (values[0] * values[1]) ** 0.5, delta=1e-3 * combined["median"])
            self.assertTrue(combined["low"] <= min(values) and max(values) <= combined["high"], document["summary"])
        self.assertGreater(document["summary"]["candidate_over_against"]["median"], 5)
        alone = self.davinci(*judge, "right.py", "--repeat", "2")
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertRegex(alone.stdout, r"(?m)^right\.py: .* \(.*\) over eager, 2 judgements$")
        wrong = self.davinci(*judge, "right.py", "--against", "wrong.py")
        self.assertEqual(wrong.returncode, 1, wrong.stderr)
        self.assertRegex(wrong.stdout, r"(?m)^  1  mismatch  wrong\.py  \d+ of 4096 values")
        self.assertIn("over eager, 1 judgement\nno comparison", wrong.stdout)

    def test_a_reply_that_cannot_work_is_asked_for_again(self):
        self.put("scaled.py", TASK.replace("torch.relu(x) + 1.0", "torch.exp(x) * 0.5"))
        made = self.davinci("synth", "pairs", "--count", "0", "--tasks", "scaled.py", "--task", "plan", "--with-cards", "0", "--out", "rows")
        self.assertEqual(made.returncode, 0, made.stderr)
        row = json.loads((self.folder / "rows" / "tasks-00000.jsonl").read_text(encoding="utf-8").splitlines()[0])
        right = row["messages"][-1]["content"]
        slip = re.sub(r"(def f1\(.*\):\n)", r"\1    v9 = v8 + 1\n", right)
        self.assertNotEqual(slip, right)
        with Endpoint(lambda request, number: slip if number == 0 else right) as endpoint:
            done = self.davinci(
                "bench", "--tasks", "scaled.py", "-t", "cuda", "-l", "triton", "--llm", endpoint.url, "--model", "stand-in", "--skills", "none",
                "--samples", "1", "--turns", "1", "--set", 'agents.reply="delta"', "--set", 'agents.task="plan"', "--set", "policy.retries=2",
                "--set", "policy.temperature=0", "--set", "policy.isolate=0", "--set", "judge.turn_protocol=screening",
                "--set", "judge.final_protocol=screening", "--run", "run", "--json")
        # One call more, at a temperature; what it said is what was judged, and both are paid for.
        self.assertEqual([request["temperature"] for request in endpoint.requests], [0, 0.6], done.stderr)
        document = json.loads(done.stdout)
        cost = document["run"]["cost"]
        self.assertEqual((cost["calls"], cost["completion_tokens"]), (2, 40))
        self.assertEqual(document["sections"][0]["metrics"]["correct/best turn"]["value"], 1.0)

    def test_help_names_defaults(self):
        text = " ".join(self.davinci("optimize", "--help").stdout.split())
        for part in ("Turns per rollout (default: 3)", "Rollouts per skill set (default: 4)", "besides the empty one (default: 3)"):
            self.assertIn(part, text)
        self.assertIn("besides the empty one (default: 0)", " ".join(self.davinci("bench", "--help").stdout.split()))
        self.assertIn("=davinci", self.davinci("judge", "--help").stdout)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--python")
    options, rest = parser.parse_known_args()
    DAVINCI.append(str(Path(options.davinci).resolve()))
    if options.python:
        DAVINCI.extend(["--python", options.python])
    unittest.main(argv=[__file__, *rest])
