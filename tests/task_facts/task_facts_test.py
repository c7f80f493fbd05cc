"""What a verdict says about its task, through the davinci binary: ``task_facts_test.py path/to/davinci``."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DAVINCI = sys.argv.pop(1)

SCALE_TASK = """
    import torch

    class Model(torch.nn.Module):
        def __init__(self, n):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(n))

        def forward(self, x):
            return torch.relu(x * self.scale)

    N = 512

    def get_inputs():
        return [torch.randn(N, N)]

    def get_init_inputs():
        return [N]
"""
SCALE_CANDIDATE = """
    import torch

    class ModelNew(torch.nn.Module):
        def __init__(self, n):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(n))

        def forward(self, x):
            return {body}
"""
# The matrix product needs one row of x; the trace of the reference cannot know.
# Reading all of the input takes one thread some five times as long as one call of a candidate that reads a row,
# which other work beside the test must not close.
ONE_ROW_TASK = """
    import torch

    class Model(torch.nn.Module):
        def __init__(self, n):
            super().__init__()
            weight = torch.zeros(n)
            weight[0] = 1.0
            self.register_buffer("weight", weight)

        def forward(self, x):
            return torch.mv(x.t(), self.weight)

    def get_inputs():
        return [torch.rand(8192, 8192)]

    def get_init_inputs():
        return [8192]
"""
ONE_ROW_CANDIDATE = """
    import torch

    class ModelNew(torch.nn.Module):
        def __init__(self, n):
            super().__init__()
            self.register_buffer("weight", torch.zeros(n))

        def forward(self, x):
            return x[0].clone()
"""


STEP_TASK = """
    import torch

    class Model(torch.nn.Module):
        def forward(self, p, g, m):
            m.lerp_(g, 0.1)
            return p.sub_(m, alpha=0.01)

    def get_inputs():
        return [torch.randn(256, 256) for _ in range(3)]
"""
# Their names and values are more than a socket holds.
COUNTS_TASK = """
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            for i in range(800):
                self.register_buffer(f"count_of_calls_that_this_part_has_seen_{i}", torch.rand(2))

        def forward(self, x):
            for buffer in self.buffers():
                buffer.add_(1)
            return x * 2

    def get_inputs():
        return [torch.randn(64, 64)]
"""


HONEST = "torch.relu(x * self.scale)"
SLOPPY = "torch.relu(x * self.scale) + 5e-5"


def candidate_of(task):
    return textwrap.dedent(task).replace("class Model(", "class ModelNew(")


UNIFORM_TASK = textwrap.dedent(SCALE_TASK).replace("randn", "rand").replace("x * self.scale", "x").replace("N = 512", "N = 128")
MATMUL = ROOT / "tests/exploits/_tasks/matmul.py"
# By name: the task, the candidate and the protocol. One process judges all of them.
JUDGED = {
    "honest": (SCALE_TASK, SCALE_CANDIDATE.format(body=HONEST), "davinci"),
    "sloppy": (SCALE_TASK, SCALE_CANDIDATE.format(body=SLOPPY), "davinci"),
    "without weights": (SCALE_TASK, SCALE_CANDIDATE.format(body="torch.relu(x)"), "davinci"),
    "NaN swallowed": (SCALE_TASK, SCALE_CANDIDATE.format(body="torch.fmax(x * self.scale, torch.zeros(()))"), "davinci"),
    "published, sloppy": (SCALE_TASK, SCALE_CANDIDATE.format(body=SLOPPY), "kernelbench"),
    "published, wrong": (SCALE_TASK, SCALE_CANDIDATE.format(body=SLOPPY.replace("e-5", "e-4")), "kernelbench"),
    "published, without weights": (SCALE_TASK, SCALE_CANDIDATE.format(body="torch.relu(x)"), "kernelbench"),
    "identity": (UNIFORM_TASK, candidate_of(UNIFORM_TASK), "davinci"),
    "step": (STEP_TASK, candidate_of(STEP_TASK), "screening"),
    "step forgotten": (STEP_TASK, candidate_of(STEP_TASK).replace("m.lerp_(g, 0.1)", "m = m.lerp(g, 0.1)"), "screening"),
    "counts": (COUNTS_TASK, candidate_of(COUNTS_TASK), "screening"),
    "one count less": (COUNTS_TASK, candidate_of(COUNTS_TASK).replace("self.buffers():", "list(self.buffers())[:-1]:"), "screening"),
    "numpy": (MATMUL, ROOT / "tests/exploits/D10_numpy_library/exploit.py", "davinci"),
    "thread": (MATMUL, ROOT / "tests/exploits/D11_library_on_thread/exploit.py", "davinci"),
}


class TaskFactsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.environment = {**os.environ, "DAVINCI_CACHE_DIR": str(cls.folder / "cache")}
        files, jobs = {}, []

        def file_of(content):
            if isinstance(content, pathlib.Path):
                return str(content)
            if content not in files:
                files[content] = cls.folder / f"judged{len(files)}.py"
                files[content].write_text(textwrap.dedent(content))
                if content == STEP_TASK:
                    files[content].with_suffix(".toml").write_text("inplace = true\n")
            return str(files[content])

        for name, (task, candidate, protocol) in JUDGED.items():
            jobs.append({"id": name, "reference": file_of(task), "candidate": file_of(candidate), "target": "cpu", "protocol": protocol})
        cls.judged = cls.judge_all(jobs)

    @classmethod
    def judge_all(cls, jobs, *options):
        """The documents by the jobs' ids, in their order. One process judges all of them."""
        (cls.folder / "jobs.jsonl").write_text("".join(json.dumps(job) + "\n" for job in jobs))
        done = subprocess.run([DAVINCI, "judge", "--batch", str(cls.folder / "jobs.jsonl"), "-j", "1", "--json", *options], capture_output=True,
                              text=True, env=cls.environment)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        documents = {document["id"]: document for document in map(json.loads, done.stdout.splitlines())}
        return {job["id"]: documents[job["id"]] for job in jobs}

    def run_davinci(self, *arguments, codes=(0,)):
        done = subprocess.run([DAVINCI, "judge", "--target", "cpu", "--json", *map(str, arguments)],
                              capture_output=True, text=True, env=self.environment)
        self.assertIn(done.returncode, codes, done.stderr + done.stdout[-3000:])
        return json.loads(done.stdout)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        return path

    def test_admission_tags_what_wrong_answers_pass(self):
        tasks = [ROOT / "tasks/degenerate/relu_of_uniform.py", ROOT / "tests/exploits/_tasks/always_zero.py",
                 ROOT / "tests/exploits/_tasks/dropout_train.py", self.write("scale.py", SCALE_TASK)]
        document = self.run_davinci("--admit", *tasks)
        self.assertEqual(document["schema"], "davinci.admission/1")
        relu, zero, dropout, scale = document["tasks"]
        self.assertEqual(relu["tags"], ["identity"])
        self.assertIn("heavy_tailed", relu["caught_by"]["identity"])
        self.assertEqual(zero["tags"], ["accepts-zeros", "constant-output", "cached-output", "weights-ignored", "survives-mutation"])
        self.assertEqual(zero["caught_by"]["zeros"], [])
        self.assertEqual(dropout["tags"], ["not-repeatable"])
        self.assertEqual(scale["tags"], [])
        self.assertFalse(scale["answers"]["weights"]["task"]["passes"])
        self.assertEqual(relu["mutants"]["died_on"], {"heavy_tailed": 1})  # its own draws are positive
        self.assertNotIn("mutants", dropout)
        self.assertEqual((scale["mutants"]["survive"], scale["mutants"]["died_on"]), ([], {"task": 2}))

    def test_mutants_that_no_input_tells_from_the_reference_label_the_task(self):
        body = "torch.relu((x * x).sum(-1, keepdim=True) + self.scale * self.scale) * torch.softmax(x, -1)"
        task = self.write("mutants.py", SCALE_TASK.replace("torch.relu(x * self.scale)", body))
        found = self.run_davinci("--admit", task)["tasks"][0]
        mutants = found["mutants"]
        self.assertEqual([text.partition(" (")[0] for text in mutants["survive"]], ["relu left out"])
        self.assertEqual((sum(mutants["died_on"].values()) + 1, mutants["undecided"]), (mutants["number"], 0))
        self.assertEqual(mutants["number"], 8)
        self.assertEqual(found["tags"], ["survives-mutation"])
        candidate = self.write("mutants_new.py", SCALE_CANDIDATE.format(body=body))
        self.assertIn("task: survives-mutation", self.run_davinci("-r", task, "-c", candidate)["labels"])

    def test_admission_of_a_broken_task_leaves_the_others(self):
        broken = self.write("broken.py", SCALE_TASK.replace("torch.randn(N, N)", "1 / 0"))
        document = self.run_davinci("--admit", broken, ROOT / "tasks/degenerate/relu_of_uniform.py", codes=(2,))
        self.assertRegex(document["tasks"][0]["error"], r"broken\.py:\d+")
        self.assertEqual(document["tasks"][1]["tags"], ["identity"])

    def test_what_inputs_are_like_is_inferred_once_and_overridden_in_the_sidecar(self):
        task = self.write("ordered.py", SCALE_TASK.replace("torch.randn(N, N)", "torch.randn(N, N).sort().values"))

        def specification():
            return self.run_davinci("--admit", task)["tasks"][0]["specification"]

        first = specification()
        self.assertTrue(first["inferred"])
        self.assertEqual({name: first["inputs"][0][name] for name in ("dtype", "shape", "varies", "values", "order", "sums")},
                         {"dtype": "f32", "shape": [512, 512], "varies": "drawn", "values": "free", "order": "ascending", "sums": "none"})
        again = specification()
        self.assertEqual(again, {**first, "inferred": False})
        candidate = self.write("ordered_new.py", SCALE_CANDIDATE.format(body=HONEST))
        verdict = self.run_davinci("-r", task, "-c", candidate, "--protocol", "screening")
        self.assertEqual(verdict["status"], "ok", verdict["message"])
        self.assertNotIn("specification", verdict["evidence"]["admission"])
        sidecar = self.write("ordered.toml", '[inputs.0]\norder = "none"\n')
        other = specification()
        self.assertEqual((other["inferred"], other["overrides"], other["inputs"]), (True, {"0": {"order": "none"}}, first["inputs"]))
        shown = subprocess.run([DAVINCI, "judge", "--target", "cpu", "--admit", str(task)], capture_output=True, text=True, env=self.environment)
        self.assertRegex(shown.stdout, r"\b0 +f32 \[512, 512\] +drawn +free +order: none \(sidecar; inferred: ascending\)")
        for text, message in (('order = "asc"', r'ordered.toml:2: inputs.0.order "asc" is not one of none, ascending, descending'),
                              ('symmetry = "kept"\n[inputs.4]\nvalues = "kept"', r"ordered.toml: \[inputs.4\]: get_inputs\(\) returns 1 tensors")):
            sidecar.write_text("[inputs.0]\n" + text + "\n")
            self.assertRegex(self.run_davinci("--admit", task, codes=(2,))["tasks"][0]["error"], message)

    def test_a_candidate_may_rely_on_order_unless_the_sidecar_says_that_there_is_none(self):
        task = self.write("largest.py", """
            import torch

            class Model(torch.nn.Module):
                def forward(self, x):
                    return x.amax(-1)

            def get_inputs():
                return [torch.randn(256, 256).sort().values]
        """)
        candidate = self.write("largest_new.py", """
            import torch

            class ModelNew(torch.nn.Module):
                def forward(self, x):
                    return x[:, -1].clone()
        """)
        arguments = ("-r", task, "-c", candidate, "--protocol", "screening")
        for _ in range(2):  # the second time with what the first has kept
            self.assertEqual(self.run_davinci(*arguments, codes=(0, 1))["correct"], True)
        self.write("largest.toml", '[inputs.0]\norder = "none"\n')
        for _ in range(2):
            verdict = self.run_davinci(*arguments, codes=(1,))
            self.assertEqual(verdict["status"], "mismatch", verdict["message"])
            self.assertIn("heavy_tailed", verdict["message"])

    def test_first_evaluation_finds_the_tags_by_itself(self):
        self.assertIn("task: identity", self.judged["identity"]["labels"])

    def test_published_rule_stands_beside_ours(self):
        honest = self.judged["honest"]
        self.assertEqual((honest["status"], honest["evidence"]["kernelbench"]["correct"]), ("ok", True))
        # An error of 5e-5: inside the published tolerance, far outside that of an honest fp32 kernel.
        sloppy = self.judged["sloppy"]
        self.assertEqual(sloppy["status"], "mismatch")
        self.assertIs(sloppy["evidence"]["kernelbench"]["correct"], True)
        self.assertAlmostEqual(sloppy["evidence"]["kernelbench"]["max_abs_diff"], 5e-5, delta=2e-6)

    def test_published_rule_decides_under_its_protocol(self):
        sloppy = self.judged["published, sloppy"]
        self.assertEqual((sloppy["status"], sloppy["correct"]), ("ok", True))
        self.assertIn("protocol: kernelbench", sloppy["labels"])
        self.assertEqual(sloppy["evidence"]["kernelbench"]["trials"], 5)
        self.assertEqual(sloppy["provenance"]["init_seed"], 42)
        wrong = self.judged["published, wrong"]
        self.assertEqual((wrong["status"], wrong["evidence"]["kernelbench"]["correct"]), ("mismatch", False))
        # Weights stay at their default of one, so a candidate without them passes there and nowhere else.
        self.assertEqual(self.judged["published, without weights"]["status"], "ok")
        self.assertEqual(self.judged["without weights"]["status"], "mismatch")

    def test_published_rule_refuses_a_precision_it_does_not_know(self):
        task = self.write("double.py", SCALE_TASK)
        self.write("double.toml", 'precision = "fp64"\n')
        candidate = self.write("double_new.py", SCALE_CANDIDATE.format(body="torch.relu(x * self.scale)"))
        refused = self.run_davinci("-r", task, "-c", candidate, "--protocol", "kernelbench", codes=(2,))
        self.assertIn("fp64", refused["message"])

    def test_swallowed_nan_is_a_label_and_no_failure(self):
        dropped = self.judged["NaN swallowed"]
        self.assertEqual(dropped["status"], "ok")
        self.assertIn("NaN not propagated", dropped["labels"])
        kept = self.judged["honest"]
        self.assertNotIn("NaN not propagated", kept["labels"])
        self.assertGreater(kept["evidence"]["nonfinite"]["expected"], 0)

    def test_time_below_the_roofline_is_invalid(self):
        task = self.write("row.py", ONE_ROW_TASK)
        candidates = {"row": self.write("row_new.py", ONE_ROW_CANDIDATE),
                      "honest": self.write("row_honest.py", ONE_ROW_TASK.replace("class Model(", "class ModelNew("))}
        for _ in range(4):  # beside other work two clocks may differ
            row, honest = self.judge_all([{"id": name, "reference": str(task), "candidate": str(candidate), "target": "cpu", "protocol": "screening"}
                                          for name, candidate in candidates.items()], "--threads", "1").values()
            if row["evidence"].get("rule") == "below_roofline":
                break
        self.assertEqual((row["status"], row["evidence"].get("rule")), ("invalid_timing", "below_roofline"), row["message"])
        self.assertIsNone(row["speedup"])
        self.assertEqual(honest["status"], "ok", honest["message"])
        roofline = honest["evidence"]["roofline"]
        self.assertLess(roofline["impossible_ms"], honest["times"]["candidate"]["median_ms"])
        self.assertLess(roofline["impossible_ms"], roofline["attainable_ms"])

    def test_repeated_judgements_are_of_other_inputs(self):
        task = self.write("scale.py", SCALE_TASK)
        candidate = self.write("scale_new.py", SCALE_CANDIDATE.format(body="torch.where(x > 1, x, torch.relu(x * self.scale))"))
        document = self.run_davinci("-r", task, "-c", candidate, "--repeat", "3", codes=(1,))
        self.assertEqual(len({e["message"] for e in document["evaluations"]}), 3)

    def test_a_step_in_place_is_judged_by_what_it_leaves(self):
        self.assertEqual(self.judged["step"]["status"], "ok")
        self.assertEqual(self.judged["step forgotten"]["status"], "mismatch")
        self.assertIn("input 2 after the call", self.judged["step forgotten"]["message"])

    def test_hundreds_of_buffers_are_compared(self):
        self.assertEqual(self.judged["counts"]["status"], "ok")
        self.assertEqual(self.judged["one count less"]["status"], "mismatch")
        self.assertIn("buffer count_of_calls_that_this_part_has_seen_799 after the call", self.judged["one count less"]["message"])

    def test_library_of_another_package_is_named(self):
        labels = self.judged["numpy"]["labels"]
        self.assertTrue([label for label in labels if label.startswith("vendor library: ")], labels)
        self.assertIn("vendor library: aten::mm", self.judged["thread"]["labels"])


if __name__ == "__main__":
    unittest.main()
