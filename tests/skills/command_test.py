"""davinci skills: a library from files and back, its history, and bad input.

    command_test.py <davinci>
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DAVINCI = sys.argv.pop(1)

# As a published library writes its lines: Python's separators, unknown fields.
PUBLISHED = "".join(json.dumps(skill) + "\n" for skill in [
    {"name": "fuse_bias", "description": "Fuse the bias — one write.", "scope": "general", "tags": ["fusion"],
     "content": "Add the bias while the tile of the matmul is in registers.", "verify_speedup": 1.5},
    {"name": "online_softmax", "description": "Softmax in one pass.", "scope": "task_specific/softmax", "tags": [],
     "content": "Keep a running maximum and rescale the running sum.", "source_uuid": 17}])

SKILL_MD = """---
name: walk-rows
description: Walk rows of a convolution.
license: MIT
metadata:
  tags: conv2d, cpu   # for conv2d
---

## Motivation

Slow.

## Key Idea

Rows.

## Example

None needed.
"""


class Skills(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = Path(self.scratch.name)
        self.library = str(self.folder / "skills.db")
        self.put("published.jsonl", PUBLISHED)
        self.put("walk-rows/SKILL.md", SKILL_MD)

    def put(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def run_skills(self, *options, library=None, **environment):
        command = [DAVINCI, "skills", *options]
        if library != "":
            command += ["--library", library or self.library]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, **environment})

    def skills(self, *options, **keywords):
        done = self.run_skills(*options, **keywords)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, status, message, *options, **keywords):
        done = self.run_skills(*options, **keywords)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertIn(message, done.stdout + done.stderr)

    def names(self, *options):
        return [skill["name"] for skill in json.loads(self.skills(*options, "--json"))]

    def fill(self):
        self.skills("import", "published.jsonl")
        self.skills("add", "walk-rows")

    def test_what_is_imported_is_exported_byte_by_byte(self):
        self.fill()
        self.skills("export", "out.jsonl")
        self.assertTrue((self.folder / "out.jsonl").read_text().startswith(PUBLISHED))
        self.skills("export", "out")
        self.assertEqual((self.folder / "out/walk-rows/SKILL.md").read_text(), SKILL_MD)
        # Through the other format and back, nothing is lost.
        self.skills("import", "out", library="second.db")
        self.skills("import", "published.jsonl", library="second.db")  # all known already
        self.assertEqual(self.skills("diff", self.library, "second.db"), "no difference\n")

    def test_importing_again_changes_nothing(self):
        self.fill()
        before = self.skills("history", "--json")
        self.assertIn("0 added, 0 merged, 2 unchanged, 0 refused", self.skills("import", "published.jsonl"))
        self.assertEqual(self.skills("history", "--json"), before)

    def test_search_by_words_and_by_reference(self):
        self.fill()
        self.assertEqual(self.names("search", "softmax"), ["online_softmax"])
        task = self.put("task.py", "import torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
                                   "        return torch.conv2d(x, x)\ndef get_inputs():\n    return [softmax]\n")
        self.assertEqual(self.names("search", "-r", task), ["walk-rows"])
        self.refused(2, "nothing to search for", "search")

    def test_history_diff_and_rollback(self):
        self.fill()
        self.skills("retire", "fuse_bias", "--reason", "no use")
        self.assertEqual(self.names("list"), ["online_softmax", "walk-rows"])
        self.assertEqual(self.names("list", "--all"), ["fuse_bias", "online_softmax", "walk-rows"])
        self.assertIn("state: active -> retired", self.skills("diff", "event:3", "now"))
        self.skills("rollback", "event:2", "--reason", "start over")
        self.assertEqual(self.names("list"), ["fuse_bias", "online_softmax"])
        events = json.loads(self.skills("history", "fuse_bias", "--json"))
        self.assertEqual([event["kind"] for event in events], ["add", "retire", "rollback"])
        self.assertIn("start over", events[-1]["reason"])

    def test_replacing_is_asked_for(self):
        self.fill()
        self.put("walk-rows/SKILL.md", SKILL_MD.replace("Slow.", "Entirely other words about this matter, many of them.")
                 .replace("Rows.", "And yet another idea, new as of today."))
        self.refused(1, "name is taken by a different skill", "add", "walk-rows")
        self.skills("add", "walk-rows", "--replace", "--reason", "rewritten")
        self.assertIn("Entirely other words", self.skills("show", "walk-rows"))

    def test_without_a_library_the_shipped_skills_are_shown(self):
        shown = self.run_skills("list", "--json", library="", HOME=str(self.folder), XDG_DATA_HOME="", DAVINCI_LIBRARY="")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertGreaterEqual(len(json.loads(shown.stdout)), 2)

    def own(self, *options):
        """As a user without --library: HOME is empty at first."""
        return self.skills(*options, library="", HOME=str(self.folder), XDG_DATA_HOME="", DAVINCI_LIBRARY="")

    def test_shipped_skills_stay_when_a_library_of_ones_own_begins(self):
        shipped = {skill["name"]: skill for skill in json.loads(self.own("list", "--json"))}
        self.own("add", "walk-rows")
        both = {skill["name"]: skill for skill in json.loads(self.own("list", "--json"))}
        self.assertEqual(set(both), set(shipped) | {"walk-rows"})
        name = "online-logsumexp"
        self.assertEqual(both[name]["evidence"], shipped[name]["evidence"])
        self.assertTrue(both[name]["evidence"])
        # --library stands for itself.
        alone = json.loads(self.skills("list", "--json", library=".local/share/davinci/skills.db"))
        self.assertEqual([skill["name"] for skill in alone], ["walk-rows"])
        # A shipped skill can be taken out of use; the others stay.
        self.own("retire", name, "--reason", "not here")
        left = {skill["name"] for skill in json.loads(self.own("list", "--json"))}
        self.assertEqual(left, set(both) - {name})

    def test_an_export_that_comes_back_hides_nothing(self):
        shipped = {skill["name"]: skill for skill in json.loads(self.own("list", "--json"))}
        self.own("export", "all.jsonl")
        self.assertIn(f"0 added, 0 merged, {len(shipped)} unchanged", self.own("import", "all.jsonl"))
        self.assertIn(f"0 added, {len(shipped)} unchanged", self.own("import", "all.jsonl", "--exact"))
        # Lines without evidence, as others publish them, do not take the place of a shipped skill.
        lines = [json.loads(line) for line in (self.folder / "all.jsonl").read_text().splitlines()]
        for line in lines:
            line.pop("davinci_evidence", None)
        self.put("bare.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        self.run_skills("import", "bare.jsonl", library="", HOME=str(self.folder), XDG_DATA_HOME="", DAVINCI_LIBRARY="")
        self.run_skills("import", "bare.jsonl", "--exact", library="", HOME=str(self.folder), XDG_DATA_HOME="", DAVINCI_LIBRARY="")
        again = {skill["name"]: skill["evidence"] for skill in json.loads(self.own("list", "--json"))}
        self.assertEqual(again, {name: skill["evidence"] for name, skill in shipped.items()})
        self.assertEqual(json.loads(self.own("list", "--mine", "--json")), [])
        # Into another library, evidence comes along.
        self.skills("import", "all.jsonl", "--exact", library="second.db")
        second = {skill["name"]: skill["evidence"] for skill in json.loads(self.skills("list", "--json", library="second.db"))}
        self.assertEqual(second, again)

    def test_mine_are_those_that_do_not_ship(self):
        self.own("add", "walk-rows")
        self.assertEqual([skill["name"] for skill in json.loads(self.own("list", "--mine", "--json"))], ["walk-rows"])

    def test_the_first_change_can_be_taken_back(self):
        name = "online-logsumexp"
        said = self.own("retire", name, "--reason", "not here")
        self.assertIn("rollback event:0", said)
        self.own("rollback", "event:0")
        self.assertIn(name, {skill["name"] for skill in json.loads(self.own("list", "--json"))})

    def test_search_asks_for_target_and_language_first(self):
        def found(*options):
            return json.loads(self.own("search", "row", "softmax", "matmul", "reduction", "--json", "-k", "20", *options))
        for language, target in ("triton", "cuda"), ("cuda", "cuda"), ("cpp", "cpu"):
            skills = found("-l", language)
            self.assertGreaterEqual(len(skills), 11, language)
            for skill in skills:
                # Measured for it, or an example for it that waits for its measurement.
                measured = target in {one["target"] for one in skill["evidence"]}
                languages = ("### cpp",) if target == "cpu" else ("### triton", "### cuda")
                shown = any(heading in skill["content"] for heading in languages)
                self.assertTrue(measured or shown or not skill["evidence"], skill["name"])

    def test_exact_import_round_trips_near_duplicates_byte_for_byte(self):
        twin = json.loads(PUBLISHED.splitlines()[0])
        twin["name"] = "fuse_bias_1"
        text = PUBLISHED + json.dumps(twin) + "\n"
        path = self.put("twins.jsonl", text)
        self.refused(1, "near-duplicate", "import", path, library="plain.db")
        self.assertIn("3 added", self.skills("import", path, "--exact"))
        self.skills("export", "back.jsonl")
        self.assertEqual((self.folder / "back.jsonl").read_text(), text)
        self.assertIn("0 added, 3 unchanged", self.skills("import", path, "--exact"))
        self.put("other.jsonl", json.dumps({**twin, "content": "Something else."}) + "\n")
        self.refused(2, "other skills of the same name: fuse_bias_1", "import", "other.jsonl", "--exact")

    def test_bad_input_is_named(self):
        self.fill()
        self.refused(2, "did you mean \"walk-rows\"", "show", "walk-row")
        self.refused(2, "no such skill library", "list", library="nowhere.db")
        self.refused(2, "no such file or folder", "import", "nowhere.jsonl")
        self.refused(2, "is no library that can be changed", "retire", "x", "--reason", "y", library="published.jsonl")
        self.refused(2, "no snapshot of step 7", "diff", "step:7", "now")
        self.refused(2, "is neither a moment", "diff", "yesterday", "now")
        self.refused(2, "is no moment", "rollback", "yesterday")
        self.refused(2, "the front matter lacks \"description\"", "add",
                     self.put("bad/SKILL.md", "---\nname: bad\n---\nx\n"))
        self.refused(2, "no line \"## Example\"", "add", self.put(
            "short/SKILL.md", SKILL_MD.replace("walk-rows", "short").replace("## Example", "## Other")))
        self.refused(2, "no skill \"nope\"", "verify", "nope", library="")
        self.refused(2, "nothing to verify", "verify", library="")
        self.put("text.db", "not a database, but long enough to be looked at " * 100)
        self.refused(2, "file is not a database", "list", library="text.db")

    def test_an_import_with_bad_lines_changes_nothing_unless_told(self):
        mixed = self.put("mixed.jsonl", PUBLISHED + "{oops\n")
        self.refused(2, "mixed.jsonl:3: not valid JSON", "import", mixed)
        self.assertFalse(os.path.exists(self.library))
        self.skills("import", mixed, "--skip-invalid")
        self.assertEqual(len(self.names("list")), 2)

    def test_two_writers_are_told_apart(self):
        self.fill()
        import fcntl
        with open(self.library + ".writer", "r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refused(3, "is being written by another davinci (process", "retire", "fuse_bias", "--reason", "x")
            self.assertEqual(len(self.names("list")), 3)  # readers are not disturbed

    def test_a_seed_skill_that_is_broken_is_bad_input(self):
        self.put("seeds/walk-rows/SKILL.md", SKILL_MD)
        self.put("seeds/walk-rows/example.toml", "targets = \"cpu\"\n")
        self.refused(2, "example.toml:1: targets is not a key", "verify", "--all", "--skills", "seeds", library="")


if __name__ == "__main__":
    unittest.main()
