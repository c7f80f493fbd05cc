#!/usr/bin/env python3
"""Proves that arrows between modules point down.

    check_layers.py [repository root]

For every file of src/davinci/<module>/ and apps/: an #include "davinci/<other>/…" must name the own module or one of a
lower layer, and <other> must be listed in the DEPS of the module's CMakeLists.txt. Every listed dependency must be used
by some file that is not a test. Exit status 1 and one line per violation otherwise.
"""
import re
import sys
from pathlib import Path

LAYER = {
    "base": 0,
    "config": 1, "data": 1, "sandbox": 1, "gpu": 1,
    "store": 2, "worker": 2, "worker_lib": 2, "rl": 2, "llm": 2,
    "build": 3, "skill": 3, "trainer": 3,
    "judge": 4, "agent": 4,
    "rollout": 5,
    "orchestrator": 6, "server": 6,
    "apps": 7,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]davinci/([^/">]+)/([^">]+)[">]', re.M)
MODULE = re.compile(r"davinci_module\(\s*(\w+)\s*([^)]*)\)")
KEYWORDS = {"DEPS", "LIBS"}


def declared_deps(cmake_file):
    """The DEPS of the davinci_module() call, or None when there is no such call."""
    call = MODULE.search(re.sub(r"#[^\n]*", "", cmake_file.read_text()))
    if not call:
        return None
    deps, keyword = set(), None
    for word in call.group(2).split():
        if word in KEYWORDS:
            keyword = word
        elif keyword == "DEPS":
            deps.add(word)
    return deps


def check(root):
    problems = []
    folders = sorted(p for p in (root / "src/davinci").iterdir() if p.is_dir())
    for folder in folders + ([root / "apps"] if (root / "apps").is_dir() else []):
        module = folder.name
        if module not in LAYER:
            problems.append(f"{folder.relative_to(root)}: no layer; give it a number in tools/check_layers.py")
            continue
        used, used_by_tests = {}, {}
        for file in sorted(f for f in folder.rglob("*") if f.suffix in (".h", ".cc")):
            name = file.relative_to(root)
            text = file.read_text()
            for found in INCLUDE.finditer(text):
                other, header = found.groups()
                line = text.count("\n", 0, found.start(1)) + 1
                if other not in LAYER:
                    problems.append(f"{name}:{line}: unknown module {other}")
                elif other != module and LAYER[other] >= LAYER[module]:
                    problems.append(f"{name}:{line}: {module} [{LAYER[module]}] must not include "
                                    f"{other} [{LAYER[other]}]")
                elif not (root / "src/davinci" / other / header).is_file():
                    problems.append(f"{name}:{line}: there is no davinci/{other}/{header}")
                if other != module:
                    (used_by_tests if file.stem.endswith("_test") else used).setdefault(other, f"{name}:{line}")
        cmake_file = folder / "CMakeLists.txt"
        deps = declared_deps(cmake_file) if cmake_file.is_file() else None
        if deps is None:
            continue  # apps/: an executable links what it needs, a missing library is a link error
        for dep in sorted(deps):
            if dep not in LAYER or LAYER[dep] >= LAYER[module]:
                problems.append(f"{cmake_file.relative_to(root)}: DEPS names {dep}, which is not of a lower layer")
            elif dep not in used:
                problems.append(f"{cmake_file.relative_to(root)}: DEPS names {dep}, but no file includes it")
        for other, where in sorted(used.items()):
            if other not in deps:
                problems.append(f"{where}: includes {other}, which is not in the DEPS of {module}")
    return problems


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    problems = check(root)
    print("\n".join(problems) if problems else "all arrows point down")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
