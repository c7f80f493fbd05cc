"""davinci completion: what the scripts offer for a half-written command.

    completion_test.py <davinci>
"""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DAVINCI = sys.argv.pop(1)


def script(shell):
    return subprocess.run([DAVINCI, "completion", shell], capture_output=True, text=True, check=True).stdout


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.file = Path(cls.scratch.name) / "davinci.bash"
        cls.file.write_text(script("bash"))

    def offered(self, *words):
        ask = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _davinci; echo "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "-c", ask, str(self.file), "davinci", *words], capture_output=True, text=True, check=True)
        return done.stdout.split()

    def test_commands_and_their_commands(self):
        self.assertEqual(self.offered("ju"), ["judge"])
        self.assertLessEqual({"list", "search", "verify"}, set(self.offered("skills", "")))

    def test_options_are_those_of_the_command_and_of_a_parent_that_shares_its_own(self):
        self.assertEqual(self.offered("skills", "list", "--mi"), ["--mine"])
        self.assertEqual(self.offered("skills", "list", "--lib"), ["--library"])
        self.assertEqual(self.offered("judge", "--mi"), [])

    def test_values_that_are_one_of_a_few(self):
        self.assertEqual(self.offered("judge", "-t", ""), ["cpu", "cuda"])
        self.assertEqual(self.offered("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.offered("judge", "--reference", ""), [])  # a file: the shell's own completion

    def test_every_option_of_the_help_is_offered(self):
        text = subprocess.run([DAVINCI, "optimize", "--help"], capture_output=True, text=True, check=True).stdout
        named = set(re.findall(r"^\s+(?:-\w,)?(--[a-z-]+)", text, re.MULTILINE))
        self.assertGreater(len(named), 20)
        self.assertEqual(named - set(self.offered("optimize", "--")), set())

    def test_the_other_shells_can_read_their_scripts(self):
        for shell in ("zsh", "fish"):
            text = script(shell)
            self.assertIn("skills list", text)
            if shutil.which(shell):
                file = Path(self.scratch.name) / shell
                file.write_text(text)
                subprocess.run([shell, "-n", str(file)], check=True)


if __name__ == "__main__":
    unittest.main()
