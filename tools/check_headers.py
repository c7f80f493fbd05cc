#!/usr/bin/env python3
"""Proves that every header of src/davinci/ and apps/ compiles alone, and more than once in a file.

    check_headers.py --compiler g++ [--jobs N] [--cache FOLDER] [--every N] [-- extra compiler flags]

A header that the .cc of the same name includes before anything else compiles alone wherever that .cc is an object of its
own or the first of its unity object: of such headers every N-th by the hash of its name is compiled here (N = 1: all), and
all others always.
torch_compat/ is left out: it is not ours to include, candidates do, with torch's headers around it.
test_support.h is left out too: the test target's CMake tells it where its helpers lie.
A header that was fine is checked again only when it, or a project header that it includes, has changed.

A header that another one includes is compiled in one file with it, before it. What several headers include is compiled once, into a
precompiled header. Either stands before a header only if the header itself includes all of it, directly or through headers of the
project: so it gives no name that the header does not ask for.
"""
import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Internal to libdavinci_model.so; they need LibTorch, which a build may be without.
WITH_TORCH = [ROOT / "src/davinci" / folder / "torch" for folder in ("model", "trainer")]
INCLUDE = re.compile(r'^\s*#\s*include\s*"(davinci/[^"]+)"', re.M)
FIRST_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)', re.M)
ANY_INCLUDE = re.compile(r"""\s*include\s*(<[^>]+>|"[^"]+")""")
# Seconds that a compiler needs for one, about; for any other of the standard library, and for one of the project without its includes.
SECONDS = {"<nlohmann/json.hpp>": 1.2, "<filesystem>": 0.4, "<fmt/format.h>": 0.4, "<gtest/gtest.h>": 0.7, "<chrono>": 0.3,
           "<functional>": 0.2, "<memory>": 0.2, "<mutex>": 0.2, "<condition_variable>": 0.3, "<random>": 0.3, "<CLI/CLI.hpp>": 1.5}
SECONDS_STANDARD, SECONDS_OURS = 0.06, 0.03
LOAD_SECONDS, STORE_FACTOR = 0.25, 2  # a precompiled header is read, and written, for this


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


def direct_includes(file):
    """What a file includes in any case: lines between #if and #endif do not count."""
    found, depth = [], 0
    for line in file.read_text().splitlines():
        directive = line.lstrip()
        if not directive.startswith("#"):
            continue
        directive = directive[1:].lstrip()
        if directive.startswith("if"):
            depth += 1
        elif directive.startswith("endif"):
            depth -= 1
        elif depth == 0 and (match := ANY_INCLUDE.match(directive)):
            found.append(match[1])
    return found


def all_includes(header):
    """What a header includes, directly or through headers of src/davinci."""
    found, pending = set(), [header]
    while pending:
        for name in direct_includes(pending.pop()):
            ours = ROOT / "src" / name[1:-1] if name.startswith('"davinci/') else None
            if name in found or not (name.startswith("<") or ours and ours.is_file()):
                continue
            found.add(name)
            if ours:
                pending.append(ours)
    return found


def chains(includes):
    """The headers in as few lists as can be, in each of which a header is included by the next."""
    named = {f'"{header.relative_to(ROOT / "src")}"': header for header in includes if header.is_relative_to(ROOT / "src")}
    users = {header: [] for header in includes}
    for user in sorted(includes):
        for name in sorted(includes[user] & named.keys()):
            if named[name] != user:
                users[named[name]].append(user)
    before = {}  # what stands before a header: a maximum matching

    def place(header, seen):
        for user in users[header]:
            if user not in seen:
                seen.add(user)
                if user not in before or place(before[user], seen):
                    before[user] = header
                    return True
        return False

    for header in sorted(includes, key=lambda h: (-len(includes[h]), h)):
        place(header, set())
    lists = []
    for last in sorted(includes.keys() - set(before.values())):
        found = [last]
        while found[0] in before:
            found.insert(0, before[found[0]])
        lists.append(tuple(found))
    return lists


def share(includes):
    """For {file: its includes}: the set to precompile for each (empty: none), so that all take the least time."""
    names = sorted(set().union(*includes.values()))
    place = {name: 1 << i for i, name in enumerate(names)}
    cost = {place[name]: SECONDS.get(name, SECONDS_STANDARD if name.startswith("<") else SECONDS_OURS) for name in names}
    masks = {file: sum(place[name] for name in found) for file, found in includes.items()}
    worth = {mask: sum(value for bit, value in cost.items() if mask & bit)
             for mask in {a & b for a in masks.values() for b in masks.values()}}
    chosen, saved = dict.fromkeys(masks, 0), dict.fromkeys(masks, 0.0)
    while worth:
        gain = {mask: sum(max(0, value - LOAD_SECONDS - saved[file]) for file, whole in masks.items() if mask & whole == mask)
                - STORE_FACTOR * value for mask, value in worth.items()}
        best = max(gain, key=lambda mask: (gain[mask], mask))
        if gain[best] <= 0:
            break
        for file, whole in masks.items():
            if best & whole == best and worth[best] - LOAD_SECONDS > saved[file]:
                chosen[file], saved[file] = best, worth[best] - LOAD_SECONDS
        del worth[best]
    return {file: frozenset(name for name in names if mask & place[name]) for file, mask in chosen.items()}


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

    def stamp(header):
        return args.cache / fingerprint(header, flags)

    def precompile(names, file):
        lines = [f"#include {name}\n" for name in sorted(names)]
        file.write_text("".join(lines))
        run = subprocess.run([flag for flag in flags[:-1] if flag not in ("-fsyntax-only", "-x", "c++")] +
                             ["-x", "c++-header", str(file), "-o", f"{file}.gch"], capture_output=True)
        return run.returncode == 0

    def check(group, shared):
        """What is wrong with the headers of a list in which each includes those before it."""
        before = ["-include", str(shared), "-Winvalid-pch"] if shared else []
        text = "".join(f'#include "{header}"\n' for header in group)
        run = subprocess.run(flags[:-1] + before + ["-"], input=2 * text, text=True, capture_output=True)
        if run.returncode != 0 and (shared or len(group) > 1):
            return [problem for header in group for problem in check([header], None)]
        if run.returncode != 0:
            return [f"{group[0].relative_to(ROOT)} does not compile alone:\n{run.stderr}"]
        for header in group if args.cache else []:
            stamp(header).parent.mkdir(parents=True, exist_ok=True)
            stamp(header).touch()
        return []

    includes = {header: all_includes(header) for header in compiled if not (args.cache and stamp(header).exists())}
    groups = chains(includes)
    with tempfile.TemporaryDirectory(prefix="davinci-headers") as folder, ThreadPoolExecutor(args.jobs) as pool:
        sets = share({group: includes[group[0]] for group in groups}) if groups else {}
        files = {names: Path(folder) / f"shared{i}.h" for i, names in enumerate(sorted({s for s in sets.values() if s}, key=sorted))}
        ready = dict(zip(files, pool.map(precompile, files, files.values())))
        found = pool.map(lambda group: check(group, files[sets[group]] if ready.get(sets[group]) else None), groups)
        problems = [problem for part in found for problem in part]
    print("\n".join(problems) if problems else f"{len(compiled)} of {len(headers)} headers compile alone")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
