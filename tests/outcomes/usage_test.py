"""What `davinci judge` says to arguments it cannot use: one line with the remedy, and exit status 2.

    python tests/outcomes/usage_test.py --davinci build/dev/apps/davinci/davinci
"""
import argparse
import subprocess
import sys
import unittest


class Usage(unittest.TestCase):
    davinci = None

    def test_one_line_says_what_is_wrong(self):
        for arguments, part in ((["--refrence", "r.py"], "unknown option --refrence (did you mean \"--reference\"?)"),
                                (["--threads", "0"], "--threads: Value 0 not in range 1 to 256"),
                                (["--threads", "999"], "--threads: Value 999 not in range 1 to 256"),
                                (["--call-timeout", "nan"], "--call-timeout: nan is no number of seconds"),
                                (["--load-timeout", "0"], "--load-timeout: 0 is no number of seconds"),
                                (["--batch", "jobs.jsonl", "-o", "/"], "--out: / is a folder"),
                                (["--language", "cobol"], "cobol")):
            done = subprocess.run([self.davinci, "judge", *arguments], capture_output=True, text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(part, done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertTrue(done.stderr.endswith("; see davinci judge --help\n"), done.stderr)

    def test_a_command_is_suggested(self):
        done = subprocess.run([self.davinci, "jugde", "-r", "r.py"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (2, 'davinci: unknown command jugde (did you mean "judge"?); see davinci --help\n'))

    def test_help_is_of_the_command_it_was_asked_of(self):
        def help_of(command):
            return subprocess.run([self.davinci, command, "--help"], capture_output=True, text=True).stdout

        self.assertIn("davinci runs show", help_of("runs"))
        self.assertNotIn("davinci judge -r", help_of("runs"))
        for part in ("3 davinci failed", "4 checked without a device", "--batch: 0 every job was judged"):
            self.assertIn(part, help_of("judge"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--davinci", required=True)
    known, rest = parser.parse_known_args()
    Usage.davinci = known.davinci
    unittest.main(argv=[sys.argv[0], *rest])
