"""Steps of generated tasks, which rows show, call the functions that the steps of their files call, which rollouts show.

    check_steps.py DAVINCI FOLDER

Sizes are not compared: a file that was traced at one shape tells no two sizes apart that are alike.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

davinci, folder = sys.argv[1], pathlib.Path(sys.argv[2])
# Tasks of all patterns, and of one with many operators that have functions and layers of several names.
SETS = {"all": ("--count", 60), "pointwise": ("--count", 100, "--pattern", "pointwise_chain")}
# Calls that a trace has others of than the grammar are views, sums of a negative number, and blocks that are one operator of it.
OTHERWISE = {"reshape", "flatten", "contiguous", "transpose", "+", "-", "linear", "attention", "unbind", "stack", "lstm", "gru", "rnn", "zeros", ""}
LEAST_ALIKE = 0.85


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, env={**os.environ})
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def operations(steps):
    """What each line of the steps calls: "linear", "+"."""
    found = []
    for line in steps.splitlines():
        step = re.match(r"t\d+(?:: [^=]*)? = (.*)", line.strip())
        if step:
            call, sign = re.match(r"(?:[\w.\[\]]+\.)?(\w+)\(", step[1]), re.match(r"\S+ (\S+) \S+$", step[1])
            found.append(call[1] if call else sign[1] if sign else re.sub(r"[\w.]+", "v", step[1]))
    return found


def compare(name, flags):
    out = folder / name
    run(davinci, "synth", "pairs", *flags, "--seed", 3, "--task", "steps", "--varied", 0, "--with-skills", 0, "--out", out / "rows")
    run(davinci, "synth", "tasks", *flags, "--seed", 3, "--out", out)
    shown = run(davinci, "coverage", out / "tasks", "-t", "cpu", "--steps")
    files = dict(re.findall(r"^([\w-]+)\n(forward\(.*?)(?=\n\n|\Z)", shown, re.S | re.M))
    compared = alike = 0
    wrong = []
    for rows in sorted((out / "rows").glob("*.jsonl")):
        for row in map(json.loads, rows.read_text().splitlines()):
            task = row["task"].rpartition("/")[2]
            steps = re.search(r"# Task\n\n```\n(forward\(.*?)```", row["messages"][1]["content"], re.S)
            if row["agent"] != "policy" or not steps or task not in files:
                continue
            own, of_file = operations(steps[1]), operations(files[task])
            compared += 1
            alike += own == of_file
            first = next(((a, b) for a, b in zip([*own, ""], [*of_file, ""]) if a != b), ("", ""))
            if not OTHERWISE & set(first):
                wrong.append(f"{task}: the row has {first[0]} where its file has {first[1]}")
    print(*wrong, f"{name}: {alike} of {compared} tasks have the same calls", sep="\n")
    return not wrong and compared >= flags[1] // 2 and alike >= LEAST_ALIKE * compared


shutil.rmtree(folder, ignore_errors=True)
if not all([compare(name, flags) for name, flags in SETS.items()]):
    raise SystemExit(1)
