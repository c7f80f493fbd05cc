#!/usr/bin/env python3
"""Proves that arrows between modules point down.

    check_layers.py [repository root]

A module is a folder of src/davinci/. For every file of a module and of apps/: an #include "davinci/…" must name the own module or one of a
lower layer, and that one must be listed in the DEPS of the module's CMakeLists.txt. Every listed dependency must be
used by some file that is not a test. Sub-folders stand in FOLDERS, lower ones first: a file includes its own folder, those
before it, and, in the module's own folder, all ("." places that one in the list). Exit status 1 and one line per violation otherwise.
"""
import re
import sys
from pathlib import Path

LAYER = {
    "base": 0,
    # numerics and stats are pure maths: no processes, no devices, no clock.
    "config": 1, "data": 1, "sandbox": 1, "weights": 1, "numerics": 1, "stats": 1,
    "gpu": 2, "store": 2, "text": 2, "worker": 2, "worker_lib": 2, "task": 2, "rl": 2, "score": 2,
    "build": 3, "comm": 3, "skill": 3, "report": 3, "model": 3, "llm": 3,  # llm keeps recordings in a store journal
    "judge": 4, "agent": 4, "search": 4, "embedded": 4, "sftdata": 4, "synth": 4,
    "import": 5, "rollout": 5, "teacher": 5, "trainer": 5,
    "expert": 6, "runs": 6, "server": 6,
    "training": 7,  # a training run is a run
    "dataset": 8,  # reads runs of both kinds
    "apps": 9,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](davinci/[^">]+)[">]', re.M)
MODULE = re.compile(r"davinci_module\(\s*(\w+)\s*([^)]*)\)")
KEYWORDS = {"FOLDERS", "DEPS", "LIBS"}


def declaration(cmake_file):
    """(name, DEPS, FOLDERS) of the davinci_module() call in a CMakeLists.txt, or None."""
    call = MODULE.search(re.sub(r"#[^\n]*", "", cmake_file.read_text())) if cmake_file.is_file() else None
    if not call:
        return None
    deps, folders, keyword = set(), [], None
    for word in call.group(2).split():
        if word in KEYWORDS:
            keyword = word
        elif keyword == "DEPS":
            deps.add(word)
        elif keyword == "FOLDERS":
            folders.append(word)
    return call.group(1), deps, folders


def modules_of(root):
    """{folder: (name, DEPS or None, FOLDERS)}; a file belongs to the deepest folder that contains it."""
    modules = {}
    for folder in sorted(p for p in (root / "src/davinci").iterdir() if p.is_dir()):
        modules[folder] = declaration(folder / "CMakeLists.txt") or (folder.name, None, [])
    if (root / "apps").is_dir():
        modules[root / "apps"] = ("apps", None, [])  # an executable links what it needs, a missing library is a link error
    return modules


def check(root):
    problems = []
    modules = modules_of(root)

    def owner(file):
        return next((modules[folder][0] for folder in file.parents if folder in modules), None)

    used = {name: {} for name, _, _ in modules.values()}
    for folder, (module, _, folders) in modules.items():

        def height(file, folder=folder, folders=folders):
            """Place in FOLDERS; the module's own folder is the highest, where "." does not stand there."""
            part = str(file.parent.relative_to(folder))
            return folders.index(part) if part in folders else len(folders) if part == "." else -1

        if module not in LAYER:
            problems.append(f"{folder.relative_to(root)}: no layer; give {module} a number in tools/check_layers.py")
            continue
        for file in sorted(f for f in folder.rglob("*") if f.suffix in (".h", ".cc") and owner(f) == module):
            name, text = file.relative_to(root), file.read_text()
            for found in INCLUDE.finditer(text):
                line = text.count("\n", 0, found.start(1)) + 1
                header = root / "src" / found.group(1)
                other = owner(header)
                if not header.is_file():
                    problems.append(f"{name}:{line}: there is no {found.group(1)}")
                elif other not in LAYER:
                    continue  # reported where it lives
                elif other != module and LAYER[other] >= LAYER[module]:
                    problems.append(f"{name}:{line}: {module} [{LAYER[module]}] must not include "
                                    f"{other} [{LAYER[other]}]")
                elif other == module and folders and header.is_file() and height(header) > height(file) >= 0:
                    problems.append(f"{name}:{line}: {file.parent.name} must not include {found.group(1)}; "
                                    f"FOLDERS of {module} lists lower folders first")
                if other != module and not file.stem.endswith("_test"):
                    used[module].setdefault(other, f"{name}:{line}")
    for folder, (module, deps, _) in modules.items():
        if deps is None or module not in LAYER:
            continue
        cmake_file = (folder / "CMakeLists.txt").relative_to(root)
        for dep in sorted(deps):
            if dep not in LAYER or LAYER[dep] >= LAYER[module]:
                problems.append(f"{cmake_file}: DEPS names {dep}, which is not of a lower layer")
            elif dep not in used[module]:
                problems.append(f"{cmake_file}: DEPS names {dep}, but no file includes it")
        for other, where in sorted(used[module].items(), key=lambda item: str(item[0])):
            if other in LAYER and other not in deps:
                problems.append(f"{where}: includes {other}, which is not in the DEPS of {module}")
    return problems


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    problems = check(root)
    print("\n".join(problems) if problems else "all arrows point down")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
