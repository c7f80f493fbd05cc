"""Modules as people write them are imported: ``davinci coverage`` on the corpus, on tasks/, on the judge's corpus and on what must be refused.

    coverage_test.py DAVINCI
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DAVINCI = sys.argv.pop(1)
# Arguments of the constructor are objects of the task file, which no candidate can see.
NO_TASKS = {"bert_layer", "efficientnet_mbconv", "gpt_block", "latent_kv_attention"}
IMPORTED = {"whole", "parts", "kept"}
# One computation, written in two ways: in one line, and with a loop, a helper class and names.
NESTED = """
        return torch.relu(self.first(torch.relu(self.first(x)))) * 2.0
"""
DIVIDED = """
        hidden = x
        for _ in range(2):
            hidden = Step.apply(hidden, self.first)
        scaled = hidden * 2.0
        return scaled
"""
WRITTEN = """import torch
from torch import nn


class Step:
    @staticmethod
    def apply(value, layer):
        inner = layer(value)
        return torch.relu(inner)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(64, 64)

    def forward(self, x):{body}

def get_inputs():
    return [torch.randn(32, 64)]


def get_init_inputs():
    return []
"""


def coverage(*paths):
    done = subprocess.run([DAVINCI, "coverage", *map(str, paths), "-t", "cpu", "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"davinci coverage: {done.returncode}\n{done.stderr[-2000:]}")
    return {task["task"]: task for task in json.loads(done.stdout)["tasks"]}


class CoverageTest(unittest.TestCase):
    def test_modules_as_people_write_them_are_imported(self):
        found = coverage(HERE / "modules")
        tasks = {name: task for name, task in found.items() if name not in NO_TASKS}
        missing = {name: task.get("why") for name, task in tasks.items() if task["status"] not in IMPORTED}
        self.assertGreaterEqual(len(tasks) - len(missing), 0.97 * len(tasks), missing)
        self.assertFalse([name for name in missing if tasks[name]["status"] == "broken"], missing)
        own = [name for name, task in tasks.items() if task.get("candidates")]
        self.assertGreaterEqual(len(own), 0.95 * len(tasks))
        # Fusing saves bytes and launches in nearly all of them.
        gains = sorted(task["candidates"][0]["expected_gain"] for task in tasks.values() if task.get("candidates"))
        self.assertGreater(gains[0], 0)
        self.assertGreater(gains[len(gains) // 2], 1.2)
        # Calls of one batch norm change its state one after the other.
        twice = found["barlow_twins_vicreg"]
        self.assertEqual([kept["module"] for kept in twice["kept_modules"]], ["bn"])
        self.assertTrue(twice["candidates"])

    def test_what_cannot_be_traced_is_refused_with_the_place_or_kept(self):
        found = coverage(HERE / "refused")
        for name in ("boolean_mask_rows", "branch_on_sum", "item_loop_iterations", "numpy_round_trip", "input_changed_in_place",
                     "ten_thousand_nodes", "running_state_buffer"):
            self.assertEqual(found[name]["status"], "refused", found[name])
            self.assertRegex(found[name]["why"], rf"{name}\.py:\d+: ")
        self.assertEqual(found["global_call_counter"]["status"], "refused")
        for name, module in (("early_exit_submodule", "gate"), ("nonzero_submodule", "moe")):
            self.assertEqual(found[name]["status"], "parts", found[name])
            self.assertEqual(found[name]["kept_modules"][0]["module"], module)

    def test_steps_are_those_of_any_way_to_divide_and_name(self):
        with tempfile.TemporaryDirectory(prefix="steps") as folder:
            for name, body in (("nested", NESTED), ("divided", DIVIDED)):
                (pathlib.Path(folder) / f"{name}.py").write_text(WRITTEN.format(body=body))
            found = coverage(folder, "--steps")
        self.assertEqual(found["nested"]["steps"], "\n".join((
            "forward(x)", "x: [A, B]", "A = 32, B = 64", "self.first.weight: [B, B]", "t1: [A, B] = linear(x, self.first)",
            "t2: [A, B] = relu(t1)", "t3: [A, B] = linear(t2, self.first)", "t4: [A, B] = relu(t3)", "t5: [A, B] = t4 * 2.0",
            "return t5", "")))
        self.assertEqual(found["divided"]["steps"], found["nested"]["steps"])

    def test_the_suite_of_tasks_is_imported(self):
        found = coverage(ROOT / "tasks")
        missing = {name: task.get("why") for name, task in found.items() if task["status"] not in IMPORTED}
        self.assertEqual(set(missing), {"pointwise/clamp_inplace"}, missing)

    def test_the_judge_s_corpus_is_imported(self):
        with tempfile.TemporaryDirectory(prefix="corpus") as folder:
            subprocess.run([sys.executable, str(ROOT / "tests/corpus/modules.py"), folder], check=True, stdout=subprocess.DEVNULL)
            found = coverage(folder)
        missing = {name: task.get("why") for name, task in found.items() if task["status"] not in IMPORTED}
        self.assertGreaterEqual(len(found) - len(missing), 0.97 * len(found), missing)
        for name, why in missing.items():
            self.assertEqual(found[name]["status"], "refused", why)
            self.assertRegex(why, rf"{name}\.py:\d+: (the module's state is changed and read in one forward|bincount gives a shape)")


if __name__ == "__main__":
    unittest.main()
