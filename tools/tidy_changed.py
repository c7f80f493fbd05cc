"""clang-tidy on the C++ lines that differ from a commit, or on whole files; each finding is an error.

    python3 tools/tidy_changed.py --base COMMIT --clang-tidy PROGRAM --database build/dev/compile_commands.json [-j N]
    python3 tools/tidy_changed.py --whole --clang-tidy PROGRAM --database … [-j N] [FILE…]
    python3 tools/tidy_changed.py --thread-safety --clang-tidy PROGRAM --database … [-j N] [FILE…]

With --whole: every line of these files, or of all sources: 5 to 60 seconds a file.
With --thread-safety: -Wthread-safety on every line of every file that takes a lock or implements a class with guarded members.
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
ONLY_GCC = re.compile(r"^(--param|-fopenmp|ggc-.*|-Wno-restrict|-Wno-subobject-linkage|-Wno-maybe-uninitialized|-Wno-error=.*|-Werror|-Winvalid-pch)$")


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


def sources_of(file, folders):
    """A source of the compile commands; files that CMake made (of a unity build, of the fuzz targets) stand for the sources they include."""
    made = pathlib.Path(file)
    if not made.exists() or not (made.parent.name == "Unity" or "build" in made.parts):
        return [file]
    found = []
    for name in re.findall(r'^#include "([^"]+\.(?:cc|cpp))"', made.read_text(), re.M):
        at = next((folder / name for folder in [made.parent, *map(pathlib.Path, folders)] if (folder / name).exists()), None)
        found += sources_of(str(at), folders) if at else []
    return found or [file]


def flags_of(database, root):
    """{file: flags} from the compile commands."""
    flags = {}
    for entry in database:
        words = re.sub(r" (-isystem|-idirafter) ", r" \1", entry.get("command", "")).split()
        kept = [w.replace('\\"', '"') for w in words if w.startswith(("-D", "-I", "-std", "-isystem", "-idirafter", "-W", "-f")) and not ONLY_GCC.match(w)]
        named = sources_of(entry["file"], [word[2:] for word in kept if word.startswith("-I")])
        precompiled = re.search(r" -include (\S+)", entry.get("command", ""))
        if precompiled and pathlib.Path(precompiled[1]).exists():  # gcc's, which clang cannot read
            for name in re.findall(r'^\s*#include [<"]([^>"]+)', pathlib.Path(precompiled[1]).read_text(), re.M):
                kept += ["-include", name]
        for name in named:
            if pathlib.Path(name).is_relative_to(root):
                flags.setdefault(pathlib.Path(name).relative_to(root).as_posix(), kept)
    return flags


def sources_for(changed, flags, root):
    """The sources among `changed`, and one for each header among them that none of these includes."""
    includes = {}  # header: files that include it; sources come first
    for name in sorted((path.relative_to(root).as_posix() for top in ("src", "apps", "tests", "bench") for path in (root / top).rglob("*.[ch]*")
                        if path.suffix in (".cc", ".h")), key=lambda name: (not name.endswith(".cc"), name)):
        for included in re.findall(r'^#include "([^"]+)"', (root / name).read_text(errors="replace"), re.M):
            for header in (f"src/{included}", f"{name.rsplit('/', 1)[0]}/{included}"):
                includes.setdefault(header, []).append(name)
    sources = [name for name in changed if name.endswith(".cc")]
    for header in (name for name in changed if name.endswith(".h")):
        reached, at = [header], 0
        while at < len(reached):
            reached += [name for name in includes.get(reached[at], []) if name not in reached]
            at += 1
        including = [name for name in reached if name.endswith(".cc") and name in flags]
        if including and not set(including) & set(sources):
            own = header[:-1] + "cc"
            sources.append(own if own in including else including[0])
    return sources


def with_locks(root):
    """Sources that take a lock, implement a class with guarded members, or include such a header that has no source."""
    found = []
    for path in sorted(path for top in ("src", "apps") for path in (root / top).rglob("*.cc")):
        text = path.read_text(errors="replace")
        headers = [path.parent / name.rsplit("/", 1)[-1] for name in re.findall(r'^#include "([^"]+)"', text, re.M)]
        own = [header for header in headers if header.exists() and (header.stem == path.stem or not header.with_suffix(".cc").exists())]
        if re.search(r"MutexLock|DAVINCI_GUARDED_BY", text + "".join(header.read_text() for header in own)):
            found.append(path.relative_to(root).as_posix())
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--base")
    what.add_argument("--whole", action="store_true")
    what.add_argument("--thread-safety", action="store_true")
    parser.add_argument("--clang-tidy", required=True)
    parser.add_argument("--database", type=pathlib.Path, required=True)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*", help="with --whole and --thread-safety: these alone")
    options = parser.parse_args()
    flags = flags_of(json.loads(options.database.read_text()), ROOT)
    command = [options.clang_tidy, "--quiet", "--warnings-as-errors=*", "--extra-arg=-Wthread-safety"]
    if options.thread_safety:
        sources = options.files or with_locks(ROOT)
        command += ["--checks=-*,clang-diagnostic-thread-safety*,bugprone-unused-raii"]
    elif options.whole:
        sources = options.files or sorted(name for name in flags if name.endswith(".cc") and not name.startswith("build/"))
    else:
        diff = subprocess.run(["git", "diff", "-U0", "--no-color", options.base, "--", "*.cc", "*.h"], cwd=ROOT, capture_output=True, text=True, check=True)
        lines = changed_lines(diff.stdout)
        sources = [name for name in sources_for(lines, flags, ROOT) if (ROOT / name).exists()]
        command.append("--line-filter=" + json.dumps([{"name": name, "lines": ranges} for name, ranges in lines.items()]))
    unknown = [name for name in sources if name not in flags]
    sources = [name for name in sources if name in flags]

    def check(name):
        done = subprocess.run(command + [str(ROOT / name), "--"] + flags[name], capture_output=True, text=True)
        return done.returncode, done.stdout

    faults = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for code, output in pool.map(check, sources):
            if code:
                faults += 1
                print(output, flush=True)
    print(f"{len(sources)} files, {faults} with findings" + (f"; not compiled here: {', '.join(unknown)}" if unknown else ""))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
