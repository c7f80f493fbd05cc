"""Tables of tools/learn_nano.sh: text and JSON in OUT/tables.

    learn_tables.py wins DAVINCI OUT TARGET        the largest wins over the expert, judged against its kernels
    learn_tables.py cheats OUT                     refused answers of a training, by reason
    learn_tables.py library DAVINCI OUT SKILL...   skills that a training learned, and which of SKILL... they resemble
    learn_tables.py ablations OUT NAME...          held-out figures of the variants, and their difference from the start
"""
import collections
import glob
import json
import os
import re
import sqlite3
import subprocess
import sys

MOST_WINS = 10
SHOWN = ("correct/greedy", "fast_1/greedy", "correct/best of", "fast_1/best of", "geomean/greedy")


def lines_of(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def text_of(run, name):
    """A text of a run's store."""
    with sqlite3.connect(f"file:{run}/blobs.sqlite?mode=ro", uri=True) as store:
        found = store.execute("SELECT CAST(bytes AS TEXT) FROM blobs WHERE name = ?", (name,)).fetchone()
    return found[0] if found else ""


def write(out, name, rows, head):
    """rows: lists of texts and numbers, as wide as head."""
    table = [head] + [[f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(head))]
    text = "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table) + "\n"
    with open(os.path.join(out, "tables", name + ".txt"), "w") as file:
        file.write(text)
    with open(os.path.join(out, "tables", name + ".json"), "w") as file:
        json.dump([dict(zip(head, row)) for row in rows], file, indent=1)


def units(run):
    for path in sorted(glob.glob(os.path.join(run, "steps", "*.jsonl"))):
        yield from lines_of(path)


def expert_kernels(out):
    """{task: (speedup, kernel)} of the expert's best correct answers."""
    best = {}
    for run in sorted(glob.glob(os.path.join(out, "expert", "*"))):
        for unit in units(run):
            if unit["kind"] == "task" and unit["body"].get("code") and unit["body"].get("speedup"):
                task = re.search(r" task=(.*)", unit["unit"]).group(1)
                best[task] = (unit["body"]["speedup"], text_of(run, unit["body"]["code"]))
    return best


def wins(davinci, out, target):
    run = os.path.join(out, "evaluated", "rl")
    best = {}
    for line in lines_of(os.path.join(run, "evaluations", "step-00000000.jsonl")):
        for turn in line["trajectory"]["turns"]:
            speedup = turn["evaluation"].get("speedup") or {}
            task = line["trajectory"]["id"].split("@")[0]
            if turn["evaluation"].get("correct") and speedup.get("median", 0) > best.get(task, (0,))[0]:
                best[task] = (speedup["median"], turn["code_hash"], line["split"])
    expert = expert_kernels(out)
    both = sorted((task for task in best if task in expert), key=lambda task: expert[task][0] / best[task][0])
    rows, folder = [], os.path.join(out, "wins")
    os.makedirs(folder, exist_ok=True)
    for number, task in enumerate(both[:MOST_WINS]):
        speedup, name, split = best[task]
        own, other = (os.path.join(folder, f"{number + 1:02}-{side}.py") for side in ("model", "expert"))
        for path, text in ((own, text_of(run, name)), (other, expert[task][1])):
            with open(path, "w") as file:
                file.write(text)
        reference = next(iter(glob.glob(os.path.join(out, "tasks", split, "**", os.path.basename(task) + ".py"), recursive=True)), "")
        said = subprocess.run([davinci, "judge", "-r", reference, "-c", own, "--against", other, "-t", target, "--json"],
                              capture_output=True, text=True)
        judged = json.loads(said.stdout).get("summary", {}) if said.returncode == 0 else {"verdict": said.stderr[-80:].strip()}
        direct = judged.get("candidate_over_against", {})
        bounds = "{median:.3g} ({low:.3g} – {high:.3g})".format(**direct) if direct else "-"
        rows.append([task, split, speedup, expert[task][0], speedup / expert[task][0], bounds, judged.get("verdict", ""), own])
    write(out, "wins", rows, ["task", "split", "model", "expert", "ratio", "judged against it", "verdict", "kernel"])
    print(f"{len(both)} tasks with correct kernels of both, {sum(best[t][0] > expert[t][0] for t in both)} with a faster one of the model")


def cheats(out):
    counts, examples = collections.Counter(), {}
    for run in sorted(glob.glob(os.path.join(out, "rl")) + glob.glob(os.path.join(out, "ablations", "*", ""))):
        for unit in units(run):
            if unit["kind"] != "judgement":
                continue
            evaluation = unit["body"]["evaluation"]
            outcome = evaluation["status"]
            message = re.sub(r"[\d.]+", "N", evaluation.get("message", "").split("\n")[0])[:100]
            key = (outcome, message if outcome == "violation" else "")
            counts[key] += 1
            examples.setdefault(key, f"{run.rstrip('/')}: {unit['unit']}")
    rows = [[outcome, message, count, examples[outcome, message]] for (outcome, message), count in counts.most_common()]
    write(out, "cheats", rows, ["outcome", "reason", "judgements", "first"])


def library(davinci, out, *left_out):
    def skills(path):
        said = subprocess.run([davinci, "skills", "--library", path, "--json", "list", "--all"], capture_output=True, text=True, check=True)
        return json.loads(said.stdout)

    before = {skill["name"]: skill for skill in skills(os.path.join(out, "library-without.db"))}
    run = os.path.join(out, "library")
    after = skills(os.path.join(run, "library.sqlite"))
    steps = {}
    for event in json.loads(subprocess.run([davinci, "skills", "--library", os.path.join(run, "library.sqlite"), "--json", "history", "-n", "0"],
                                           capture_output=True, text=True, check=True).stdout):
        if event.get("kind") in ("add", "update"):
            steps.setdefault(event["name"], event.get("step"))

    def words(skill):
        text = " ".join([skill["description"], skill["content"]]).lower()
        return set(re.findall(r"[a-z_]{4,}", text))

    rows = []
    for skill in after:
        if skill["name"] in before and words(skill) == words(before[skill["name"]]):
            continue
        shares = {name: len(words(skill) & words(before[name])) / max(1, len(words(skill) | words(before[name]))) for name in left_out}
        nearest = max(shares, key=shares.get)
        evidence = (skill.get("evidence") or [{}])[0]
        rows.append([skill["name"], steps.get(skill["name"], ""), json.dumps(evidence.get("uplift", "")), evidence.get("protocol", ""), nearest,
                     shares[nearest], skill["description"][:80]])
    write(out, "library", rows, ["learned", "step", "uplift", "protocol", "nearest technique that was left out", "common words", "description"])
    proposed = collections.Counter()
    for line in lines_of(os.path.join(run, "log.jsonl")):
        proposed.update(line.get("skills", {}))
    with open(os.path.join(out, "tables", "library.txt"), "a") as file:
        file.write(f"{len(left_out)} techniques left out; {dict(proposed)}\n")


def ablations(out, *names):
    rows = []
    for name in names:
        with open(os.path.join(out, "tables", f"ablation-{name}.json")) as file:
            report = json.load(file)
        log = [line for line in lines_of(os.path.join(out, "ablations", name, "log.jsonl")) if "reward" in line]
        seconds = sum(sum(value for key, value in line["seconds"].items() if key in ("rollout", "update")) for line in log)
        rewards = [line["reward"].get("policy", 0.0) for line in log]
        third = max(1, len(rewards) // 3)
        row = [name, len(log), seconds, sum(rewards[:third]) / third, sum(rewards[-third:]) / third]
        metrics = report["comparisons"]["all tasks"]["metrics"]
        for shown in SHOWN:
            metric = next((metrics[key] for key in metrics if key.startswith(shown)), None)
            row.append("-" if metric is None else
                       f"{metric['second']:.3g} ({metric['difference']:+.3g}, p {metric['permutation_p']:.2g})" if not metric["is_ratio"] else
                       f"{metric['second']:.3g} (x{metric['difference']:.3g}, p {metric['permutation_p']:.2g})")
        rows.append(row)
    write(out, "ablations", rows, ["variant", "steps", "seconds", "reward first third", "last third", *SHOWN])


if __name__ == "__main__":
    {"wins": wins, "cheats": cheats, "library": library, "ablations": ablations}[sys.argv[1]](*sys.argv[2:])
