"""clang-tidy on the C++ lines that differ from a commit; whatever it finds there is an error.

    python3 tools/tidy_changed.py --base COMMIT --clang-tidy PROGRAM --database build/dev/compile_commands.json [-j N]
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
ONLY_GCC = re.compile(r"^(--param|ggc-.*|-Wno-restrict|-Wno-subobject-linkage|-Wno-maybe-uninitialized|-Wno-error=.*|-Werror|-Winvalid-pch)$")


def changed_lines(diff):
    """{file: [[first, last]]} of a diff without context, for .cc and .h files that still exist."""
    found, name = {}, None
    for line in diff.splitlines():
        if line.startswith("+++ "):
            name = line[6:] if line.startswith("+++ b/") and line.endswith((".cc", ".h")) else None
        elif name and (hunk := re.match(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            if count:
                found.setdefault(name, []).append([first, first + count - 1])
    return found


def flags_of(database):
    """{folder: flags} from the compile commands, whose files are unity files."""
    flags = {}
    for entry in database:
        words = entry.get("command", "").split()
        target = re.search(r"(\S+)/CMakeFiles/", entry.get("output", "") or next((w for w in words if w.endswith(".o")), ""))
        if not target or words[-1].endswith(".hxx.cxx"):
            continue
        kept = [w.replace('\\"', '"') for w in words if w.startswith(("-D", "-I", "-std", "-isystem", "-W", "-f")) and not ONLY_GCC.match(w)]
        flags.setdefault(target[1], kept)
    return flags


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--base", required=True)
    parser.add_argument("--clang-tidy", required=True)
    parser.add_argument("--database", type=pathlib.Path, required=True)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    diff = subprocess.run(["git", "diff", "-U0", "--no-color", options.base, "--", "*.cc", "*.h"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines, flags = changed_lines(diff), flags_of(json.loads(options.database.read_text()))
    sources = [name for name in lines if name.endswith(".cc") and (ROOT / name).exists() and name.rsplit("/", 1)[0] in flags]
    filters = json.dumps([{"name": name, "lines": ranges} for name, ranges in lines.items()])

    def check(name):
        command = [options.clang_tidy, "--quiet", "--warnings-as-errors=*", f"--line-filter={filters}", "--extra-arg=-Wthread-safety", str(ROOT / name), "--"]
        done = subprocess.run(command + flags[name.rsplit("/", 1)[0]], capture_output=True, text=True)
        return done.returncode, done.stdout

    faults = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for code, output in pool.map(check, sources):
            if code:
                faults += 1
                print(output, flush=True)
    print(f"{len(sources)} files, {faults} with findings in changed lines")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
