#!/usr/bin/env python3
"""Proves that every header of src/davinci/ and apps/ compiles alone, and more than once in a file.

    check_headers.py --compiler g++ [--jobs N] [--cache FOLDER] [--every N] [-- extra compiler flags]

A header that the .cc of the same name includes before anything else compiles alone wherever that .cc is an object of its
own or the first of its unity object: of such headers every N-th by the hash of its name is compiled here (N = 1: all), and
all others always.
torch_compat/ is left out: it is not ours to include, candidates do, with torch's headers around it.
test_support.h is left out too: the test target's CMake tells it where its helpers lie.
A header that was fine is checked again only when it, or a project header that it includes, has changed.
"""
import argparse
import hashlib
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Internal to libdavinci_model.so; they need LibTorch, which a build may be without.
WITH_TORCH = [ROOT / "src/davinci" / folder / "torch" for folder in ("model", "trainer")]
INCLUDE = re.compile(r'^\s*#\s*include\s*"(davinci/[^"]+)"', re.M)
FIRST_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)', re.M)


def first_of_its_source(header):
    """Whether a .cc of the same name includes this header before anything else."""
    if "#pragma once" not in header.read_text():
        return False
    for source in (header.with_suffix(".cc"), header.with_name(header.stem + "_test.cc")):
        first = FIRST_INCLUDE.search(source.read_text()) if source.is_file() else None
        if first and header in (ROOT / "src" / first[1], ROOT / first[1], header.parent / first[1]):
            return True
    return False


def fingerprint(header, flags):
    """Hash of the flags, the header and everything of the project that it includes."""
    digest, seen, pending = hashlib.sha256("\0".join(flags).encode()), set(), [header]
    while pending:
        file = pending.pop()
        if file in seen or not file.is_file():
            continue
        seen.add(file)
        text = file.read_text()
        digest.update(f"{file}\0{len(text)}\0{text}".encode())
        pending += sorted(ROOT / "src" / name for name in INCLUDE.findall(text))
    return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("flags", nargs="*")
    args = parser.parse_args()
    flags = [args.compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c++",
             f"-I{ROOT / 'src'}", f"-I{ROOT}"] + args.flags + ["-"]
    headers = sorted(p for top in ("src/davinci", "apps") for p in (ROOT / top).rglob("*.h")
                     if "torch_compat" not in p.parts and p.parent not in WITH_TORCH and p.name != "test_support.h")
    if not headers:
        sys.exit("no headers found")

    def chosen(header):
        name = str(header.relative_to(ROOT)).encode()
        return not first_of_its_source(header) or int(hashlib.sha256(name).hexdigest(), 16) % args.every == 0

    compiled = [header for header in headers if chosen(header)]

    def check(header):
        stamp = args.cache / fingerprint(header, flags) if args.cache else None
        if stamp and stamp.exists():
            return None
        run = subprocess.run(flags, input=f'#include "{header}"\n#include "{header}"\n', text=True,
                             capture_output=True)
        if run.returncode != 0:
            return f"{header.relative_to(ROOT)} does not compile alone:\n{run.stderr}"
        if stamp:
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.touch()
        return None

    with ThreadPoolExecutor(args.jobs) as pool:
        problems = [p for p in pool.map(check, compiled) if p]
    print("\n".join(problems) if problems else f"{len(compiled)} of {len(headers)} headers compile alone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
