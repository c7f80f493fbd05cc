"""The checks of tools/ can fail: each is shown a small tree with one planted fault."""
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent.parent / "tools"
sys.path.insert(0, str(TOOLS))
import check_results as results  # noqa: E402
import tidy_changed as tidy  # noqa: E402


def run(tool, files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, TOOLS / tool, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


GOOD = {
    "src/davinci/base/a.h": "",
    "src/davinci/base/CMakeLists.txt": "davinci_module(base)",
    "src/davinci/store/b.h": '#include "davinci/base/a.h"\n',
    "src/davinci/store/CMakeLists.txt": "davinci_module(store DEPS base LIBS sqlite)",
    "apps/davinci/main.cc": '#include "davinci/store/b.h"\n',
}


class Layers(unittest.TestCase):
    def expect(self, changes, message):
        status, output = run("check_layers.py", {**GOOD, **changes})
        self.assertEqual(status, 1, output)
        self.assertIn(message, output)

    def test_good_tree_passes(self):
        self.assertEqual(run("check_layers.py", GOOD)[0], 0)

    def test_upward_include_is_found(self):
        self.expect({"src/davinci/base/a.h": '#pragma once\n#  include "davinci/store/b.h"\n'},
                    "src/davinci/base/a.h:2: base [0] must not include store [2]")

    def test_sideways_include_is_found(self):
        self.expect({"src/davinci/worker/c.cc": '#include <davinci/store/b.h>\n'}, "worker [2] must not include store [2]")

    def test_undeclared_dependency_is_found(self):
        self.expect({"src/davinci/store/CMakeLists.txt": "davinci_module(store LIBS base)"}, "not in the DEPS of store")

    def test_unused_dependency_is_found(self):
        self.expect({"src/davinci/store/b.h": ""}, "DEPS names base, but no file includes it")

    def test_upward_dependency_in_cmake_is_found(self):
        self.expect({"src/davinci/base/CMakeLists.txt": "davinci_module(base\n  DEPS store)"}, "not of a lower layer")

    def test_unknown_module_is_found(self):
        self.expect({"src/davinci/misc/x.h": ""}, "src/davinci/misc: no layer")

    def test_lower_folder_that_includes_a_higher_one_is_found(self):
        folders = {"src/davinci/store/CMakeLists.txt": "davinci_module(store FOLDERS low high DEPS base LIBS sqlite)",
                   "src/davinci/store/high/d.h": '#include "davinci/store/low/c.h"\n', "src/davinci/store/low/c.h": ""}
        self.assertEqual(run("check_layers.py", {**GOOD, **folders})[0], 0)
        self.expect({**folders, "src/davinci/store/low/e.h": '#include "davinci/store/high/d.h"\n'},
                    "src/davinci/store/low/e.h:1: low must not include davinci/store/high/d.h")
        self.expect({**folders, "src/davinci/store/low/e.h": '#include "davinci/store/b.h"\n'}, "low must not include")

    def test_nested_module_is_a_module_of_its_own(self):
        nested = {
            "src/davinci/numerics/c.h": '#include "davinci/base/a.h"\n',
            "src/davinci/numerics/CMakeLists.txt": "davinci_module(numerics DEPS base)",
            "src/davinci/gpu/g.cc": '#include "davinci/numerics/c.h"\n',
            "src/davinci/gpu/CMakeLists.txt": "davinci_module(gpu DEPS numerics)",
        }
        status, output = run("check_layers.py", {**GOOD, **nested})
        self.assertEqual(status, 0, output)
        self.expect({**nested, "src/davinci/judge/j.h": "", "src/davinci/numerics/c.h":
                     '#include "davinci/base/a.h"\n#include "davinci/judge/j.h"\n'},
                    "numerics [1] must not include judge [4]")

    def test_missing_header_is_found(self):
        self.expect({"apps/davinci/main.cc": '#include "davinci/store/none.h"\n'}, "no davinci/store/none.h")


class Repository(unittest.TestCase):
    def expect(self, files, message):
        status, output = run("check_repository.py", files)
        self.assertEqual(status, 1, output)
        self.assertIn(message, output)

    def test_good_tree_passes(self):
        self.assertEqual(run("check_repository.py", {"a.md": "see /usr/include and $HOME/.cache\n"})[0], 0)

    def test_registry_is_found(self):
        self.expect({"a.sh": "x\npip install --index-url https://py" + "pi.org/simple torch\n"}, "a.sh:2: names a package")

    def test_home_folder_is_found(self):
        self.expect({"notes.md": "cd /ho" + "me/anna/code\n"}, "notes.md:1: names a user's home")

    def test_a_lock_that_clang_cannot_see_is_found(self):
        self.expect({"src/davinci/store/a.h": "  std::mutex mutex_;\n"}, "src/davinci/store/a.h:1: std::mutex is not analysed")
        self.assertEqual(run("check_repository.py", {"src/davinci/base/mutex.h": "  std::mutex mutex_;\n"})[0], 0)

    def test_a_file_without_its_own_fmt_is_found(self):
        self.expect({"src/davinci/store/a.cc": "auto x = fmt::format(1);\n"}, "src/davinci/store/a.cc: uses fmt::")

    def test_a_file_that_docs_name_and_is_gone_is_found(self):
        self.expect({"docs/a.md": "as\n`store/b.h` says\n", "src/davinci/store/a.h": ""}, "docs/a.md:2: there is no store/b.h")
        self.assertEqual(run("check_repository.py", {"docs/a.md": "`store/b.h`", "src/davinci/store/b.h": ""})[0], 0)

    def test_broken_script_is_found(self):
        self.expect({"a.sh": "if true; then\n"}, "a.sh")


def class_of(methods):
    return "class Large {\n public:\n" + "".join(f"  int Method{i}(\n      int x) const;\n" for i in range(methods)) + "\n private:\n  int x_ = F(3);\n};\n"


def function_of(lines):
    return "int F(int x) {\n" + "  ++x;\n" * (lines - 3) + "  return x;\n}\n"


class Numbers(unittest.TestCase):
    STORED = {"tools/house_numbers.toml": "large_classes = 0\nlong_functions = 0\ncycles_of_files = 0\nlong_lines_cpp = 0\n"}

    def expect(self, changes, message, code=1):
        status, output = run("check_numbers.py", {**self.STORED, **changes})
        self.assertEqual(status, code, output)
        self.assertIn(message, output)

    def test_small_things_pass(self):
        self.expect({"src/davinci/base/a.h": class_of(20), "src/davinci/base/a.cc": function_of(100) + "x" * 100}, "large_classes 0", 0)

    def test_a_class_of_many_methods_is_counted(self):
        self.expect({"src/davinci/base/a.h": class_of(21)}, "large_classes rose from 0 to 1")

    def test_classes_of_the_judge_are_smaller(self):
        self.expect({"src/davinci/judge/a.h": class_of(12)}, "large_classes 0", 0)
        self.expect({"src/davinci/judge/a.h": class_of(13)}, "large_classes rose from 0 to 1")

    def test_methods_that_override_are_not(self):
        self.expect({"src/davinci/base/a.h": class_of(30).replace("const;", "const override;")}, "large_classes 0", 0)

    def test_guarded_members_are_no_methods(self):
        self.expect({"src/davinci/base/a.h": class_of(20).replace(" private:\n", " private:\n  Mutex mutex_;\n  int y_ DAVINCI_GUARDED_BY(mutex_) = 0;\n")},
                    "large_classes 0", 0)

    def test_a_long_function_is_counted_in_both_languages(self):
        self.expect({"src/davinci/base/a.cc": function_of(101)}, "long_functions rose from 0 to 1")
        self.expect({"python/p/a.py": "def f():\n" + "    x = 1\n" * 100}, "long_functions rose from 0 to 1")

    def test_a_call_with_a_lambda_is_no_function(self):
        call = '  Visit("weights", [&, at = 0](int x) -> int {\n    return x;\n  });\n'
        self.expect({"src/davinci/base/a.cc": function_of(90).replace("  return x;\n", call + "  return x;\n") + function_of(90)},
                    "long_functions 0", 0)
        self.expect({"src/davinci/base/a.cc": function_of(101).replace("F(int x)", "A::operator[](int x)")}, "long_functions rose from 0 to 1")

    def test_a_cycle_of_files_is_counted_once(self):
        pair = {"src/davinci/base/a.cc": '#include "davinci/base/b.h"\n', "src/davinci/base/b.h": '#include "davinci/base/a.h"\n'}
        self.expect(pair, "cycles_of_files rose from 0 to 1")
        self.expect({"python/p/a.py": "from . import b\n", "python/p/b.py": "import p.a\n"}, "cycles_of_files rose from 0 to 1")

    def test_a_long_line_is_counted(self):
        self.expect({"apps/davinci/a.cc": "x" * 101}, "long_lines_cpp rose from 0 to 1")

    def test_a_number_that_fell_is_said(self):
        self.expect({"tools/house_numbers.toml": "long_functions = 2\n"}, "long_functions fell from 2 to 0", 0)


class Results(unittest.TestCase):
    LISTED = results.expected(["# why", "gpu_.*  no-gpu", "Old\\..*  always"])

    def unexpected(self, *names, lacking=("gpu",)):
        return results.unexpected(names, self.LISTED, lambda what: what in lacking)

    def test_skips_of_the_list_are_expected_where_their_reason_holds(self):
        self.assertEqual(self.unexpected("gpu_selftest", "Old.Kernel"), [])
        self.assertEqual(self.unexpected("gpu_selftest", lacking=()), ["gpu_selftest"])

    def check(self, cases):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "tests.xml")
            path.write_text(f"<testsuite>{cases}</testsuite>")
            return subprocess.run([sys.executable, TOOLS / "check_results.py", path], capture_output=True, text=True, check=False)

    def test_other_skips_fail_a_run_and_so_does_none_that_ran(self):
        for cases, code in (('<testcase name="a"/>', 0), ('<testcase name="a"><skipped message="77"/></testcase>', 1), ("", 1)):
            done = self.check(cases)
            self.assertEqual(done.returncode, code, done.stdout)

    def test_the_end_of_what_a_failed_test_printed_is_shown_last(self):
        lines = "\n".join(f"line {number}" for number in range(100))
        done = self.check(f'<testcase name="a"><failure message=""/><system-out>{lines}</system-out></testcase><testcase name="b"/>')
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.endswith("  line 98\n  line 99\n"), done.stdout)
        self.assertNotIn("line 50", done.stdout)

    def test_of_a_failure_further_up_its_first_lines_are_shown(self):
        lines = "\n".join(["/a/some_test.cc:7: Failure", "Expected: 1"] + [f"line {number}" for number in range(100)])
        shown = self.check(f'<testcase name="a"><failure message=""/><system-out>{lines}</system-out></testcase>').stdout
        self.assertIn("failed: a\n  /a/some_test.cc:7: Failure\n  Expected: 1\n", shown)
        self.assertNotIn("line 50", shown)

    def test_every_line_of_the_list_can_be_read(self):
        self.assertTrue(results.expected((TOOLS / "expected_skips.txt").read_text().splitlines()))


class Tidy(unittest.TestCase):
    def checked(self, *arguments):
        """The arguments of each clang-tidy that --whole starts for two sources of the repository."""
        sources = [str(TOOLS.parent / "src/davinci/base" / name) for name in ("duration.cc", "file_lock.cc")]
        with tempfile.TemporaryDirectory() as folder:
            program, database = Path(folder, "clang-tidy"), Path(folder, "compile_commands.json")
            program.write_text(f'#!/bin/sh\necho "$@" >>{folder}/calls\n')
            program.chmod(0o755)
            database.write_text(json.dumps([{"file": source, "command": "g++ -std=c++20"} for source in sources]))
            done = subprocess.run([sys.executable, TOOLS / "tidy_changed.py", "--whole", "--clang-tidy", program, "--database", database,
                                   *arguments], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return Path(folder, "calls").read_text().splitlines()

    def test_whole_files_are_checked(self):
        calls = self.checked()
        self.assertEqual(len(calls), 2)
        self.assertFalse([call for call in calls if "--line-filter" in call])
        self.assertEqual(len(self.checked("src/davinci/base/duration.cc")), 1)


    def test_files_that_cmake_made_stand_for_the_sources_they_include(self):
        with tempfile.TemporaryDirectory() as folder:
            root, build = Path(folder).resolve(), Path(folder).resolve() / "build/dev/tests"
            (build / "Unity").mkdir(parents=True)
            (root / "tests").mkdir()
            for name in ("fuzz_a.cc", "fuzz_b.cc"):
                (root / "tests" / name).write_text("")
            (build / "targets.cc").write_text('#define F Fuzz_a\n#include "fuzz_a.cc"\n#include "fuzz_b.cc"\n#include "smoke.h"\n')
            (build / "Unity/unity_0_cxx.cxx").write_text(f'#include "{build}/targets.cc"\n')
            entry = {"file": str(build / "Unity/unity_0_cxx.cxx"), "command": f"g++ -I{root}/tests -std=c++20"}
            self.assertEqual(sorted(tidy.flags_of([entry], root)), ["tests/fuzz_a.cc", "tests/fuzz_b.cc"])

    def test_a_header_that_changed_alone_is_checked_in_a_source_that_includes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in {"src/m/a.h": "", "src/m/a.cc": '#include "m/a.h"\n', "src/m/b.h": '#include "m/a.h"\n',
                               "src/m/z.h": "", "src/m/b.cc": '#include "m/b.h"\n'}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            flags = {"src/m/a.cc": [], "src/m/b.cc": []}
            self.assertEqual(tidy.sources_for(["src/m/a.h", "src/m/z.h"], flags, root), ["src/m/a.cc"])
            self.assertEqual(tidy.sources_for(["src/m/a.h", "src/m/b.cc"], flags, root), ["src/m/b.cc"])
            self.assertEqual(tidy.sources_for(["src/m/b.h"], flags, root), ["src/m/b.cc"])


class Workflows(unittest.TestCase):
    def test_each_check_of_lint_runs_in_a_workflow(self):
        root = TOOLS.parent
        lint = (root / "tools/lint.sh").read_text()
        every = set(re.findall(r"^#   tools/lint.sh (.*?)  +default", lint, re.M)[0].replace("[", "").replace("]", "").split())
        default = set(re.search(r"\|\| set -- (.*)", lint)[1].split())
        run = set()
        for workflow in (root / ".github/workflows").glob("*.yml"):
            text = workflow.read_text()
            for arguments in re.findall(r"(?:\.ci/lint|tools/lint\.sh)\b(.*)", "\n".join(line for line in text.splitlines() if "run:" in line)):
                presets = re.search(r"preset: \[(.*)\]", text)
                run |= set(arguments.replace("${{ matrix.preset }}", presets[1].replace(",", " ") if presets else "").split()) or default
        self.assertEqual(run, every)


class Presets(unittest.TestCase):
    def test_undefined_behaviour_fails_a_sanitized_test(self):
        presets = json.loads((TOOLS.parent / "CMakePresets.json").read_text())["testPresets"]
        asan = next(preset for preset in presets if preset["name"] == "asan")
        self.assertIn("halt_on_error=1", asan["environment"]["UBSAN_OPTIONS"])

    def test_sanitized_presets_run_the_threads_of_a_run(self):
        presets = json.loads((TOOLS.parent / "CMakePresets.json").read_text())["testPresets"]
        for preset in presets:
            if preset["name"] in ("asan", "tsan"):
                self.assertTrue(re.match(preset["filter"]["include"]["label"], "integration_scripted"))
        self.assertIn("PROPERTIES LABELS integration_scripted ", (TOOLS.parent / "tests/integration/CMakeLists.txt").read_text())


if __name__ == "__main__":
    unittest.main()
