#!/usr/bin/env python3
"""Nothing in the repository ties it to one machine or one package registry, its scripts parse, no C++ writes JSON by a
call that throws where a text is no UTF-8, none takes a lock that clang cannot see, and none counts on another file's fmt.
Files of C++ that docs name exist.

    check_repository.py [repository root]

Package indexes and mirrors are the business of pip's and apt's own configuration; a path of one user's home or
workspace in a file works for that user only. One line per violation, exit status 1.
"""
import re
import subprocess
import sys
from pathlib import Path

# Written in pieces, so that this file does not match itself.
FORBIDDEN = [
    (re.compile("|".join(map(re.escape, [
        "py" + "pi.org", "python" + "hosted.org", "download.py" + "torch.org", "conda." + "anaconda.org",
        "deb." + "debian.org", "archive." + "ubuntu.com", "registry." + "npmjs.org", "docker" + ".io/", "ghcr" + ".io",
    ]))), "names a package registry; leave that to the user's pip and apt configuration"),
    (re.compile(r"(?<![\w./-])/(?:(?:home|Users)/[a-z][\w.-]*|ro" + r"ot)/"), "names a user's home folder"),
    (re.compile(r"(?<![\w.-])/wo" + r"rk/(?:main|shared|\.)"), "names a path of one machine"),
    (re.compile(r"/opt/wh" + "eels"), "names a path of one machine"),
]
LARGEST_BYTES = 8 << 20
STRICT_JSON = re.compile(r"\.dump\((?![^;]*error_handler)")  # base/json_text.h
NAMED_IN_DOCS = re.compile(r"`(?:\./)?([\w/]+\.(?:cc|h|cu))`")
UNSEEN_LOCK = re.compile(r"\bstd::(mutex|lock_guard|condition_variable)\b(?=[ <])")  # base/mutex.h


def files_of(root):
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, check=False)
    if listed.returncode == 0:
        return [root / name for name in listed.stdout.decode().split("\0") if name]
    skip = {".git", ".venv", "build", ".deps", "__pycache__"}
    return [p for p in root.rglob("*") if not skip & set(p.relative_to(root).parts)]


def skills_in_readme(root):
    """README's number of skills is the number of SKILL.md."""
    readme = root / "README.md"
    stated = re.search(r"\[skills/\]\(skills\) starts with (\d+)", readme.read_text(encoding="utf-8")) if readme.is_file() else None
    there = len(list((root / "skills").glob("*/SKILL.md")))
    if stated and int(stated[1]) != there:
        return [f"README.md: says {stated[1]} skills; ls skills/*/SKILL.md | wc -l says {there}"]
    return []


def check(root):
    problems = skills_in_readme(root)
    files = sorted(files_of(root))
    ends = {"/".join(file.parts[i:]) for file in files for i in range(len(file.parts))}
    for file in files:
        if not file.is_file() or file.is_symlink():
            continue
        name = file.relative_to(root)
        if file.stat().st_size > LARGEST_BYTES:
            problems.append(f"{name}: larger than {LARGEST_BYTES >> 20} MiB")
            continue
        data = file.read_bytes()
        if b"\0" in data[:4096]:
            continue
        text = data.decode("utf-8", "replace")
        for pattern, why in FORBIDDEN:
            for found in pattern.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                problems.append(f"{name}:{line}: {why}: {found.group(0)}")
        if file.suffix in (".cc", ".h") and name.parts[0] in ("src", "apps") and "test" not in file.stem:
            for found in STRICT_JSON.finditer(text):
                problems.append(f"{name}:{text.count(chr(10), 0, found.start()) + 1}: dump() throws on what is no UTF-8; use JsonText()")
            seen = name.as_posix() == "src/davinci/base/mutex.h" or "testing" in name.parts
            for found in () if seen else UNSEEN_LOCK.finditer(text):
                problems.append(f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {found[0]} is not analysed; use base/mutex.h")
        if file.suffix == ".md" and name.parts[0] not in ("prompts", "skills"):  # which name headers of CUDA
            for found in NAMED_IN_DOCS.finditer(text):
                if found[1] not in ends:
                    problems.append(f"{name}:{text.count(chr(10), 0, found.start()) + 1}: there is no {found[1]}")
        # Builds group files in other ways, so that a file may lose its neighbour's include.
        if file.suffix in (".cc", ".h") and re.search(r"\bfmt::", text) and "#include <fmt/" not in text:
            problems.append(f"{name}: uses fmt:: without including <fmt/format.h>")
        if file.suffix == ".sh" or text.startswith("#!/usr/bin/env bash"):
            parsed = subprocess.run(["bash", "-n", str(file)], capture_output=True, text=True, check=False)
            if parsed.returncode != 0:
                problems.append(f"{name}: {parsed.stderr.strip()}")
        if file.suffix == ".py" and name.parts[0] in ("tools", "python"):
            try:
                compile(text, str(name), "exec")
            except SyntaxError as error:
                problems.append(f"{name}:{error.lineno}: {error.msg}")
    return problems


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent)
    problems = check(root)
    print("\n".join(problems) if problems else "nothing ties the repository to a machine")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
