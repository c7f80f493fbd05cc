"""Rows of fine-tuning that judged demonstrations give: what made them, whose verdicts they hold, their lengths, and what the diversity filter
keeps.

    check_rows.py DAVINCI FOLDER [--demos DIR] [--report FILE]

The judge says what is right, wrong and faster: C++ on this machine's CPU, Triton as far as that goes without a GPU. Lengths are
those in ids of a byte-level BPE of 8,000 tokens that is trained on the rows, messages and tool schemas alike.
With --demos the rows are those of a folder that `davinci synth demos --judge` judged.
"""
import argparse
import collections
import json
import pathlib
import shutil
import subprocess
import sys
import tomllib

try:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
except ImportError as error:
    print(f"skipped: {error}; tools/setup.sh installs it")
    sys.exit(77)

PER_CELL = 1


def lines(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def run(*command):
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


def prompt_text(row):
    return "".join(message["role"] + "\n" + message["content"] + "\n" for message in row["messages"][:-1]) + \
        "".join(json.dumps(tool) for tool in row.get("tools", []))


def reply_text(row):
    reply = row["messages"][-1]
    return json.dumps(reply["tool_calls"]) if "tool_calls" in reply else reply["content"]


def bucket(speedup):
    if speedup is None:  # not timed
        return "wrong"
    for most, name in ((1, "<1"), (1.2, "1-1.2"), (1.5, "1.2-1.5"), (2, "1.5-2"), (3, "2-3")):
        if speedup < most:
            return name
    return ">=3"


def judged(options, language, folder, count, *flags):
    """Judged demonstrations, some with replies that a model might have given."""
    command = (options.davinci, "synth", "demos", "--count", count, "--seed", 61, "--language", language, "--out", folder, *flags)
    run(*command)
    demos = lines(folder / "demos.jsonl")
    best = next(c for demo in demos for c in demo["candidates"] if c["level"] == "best")
    answers = [{"task": demos[0]["id"], "reply": "I would fuse the two loops."},
               {"task": demos[1]["id"], "reply": f"```python\n{best.get('reply', best['source'])}```"}]  # another task's kernel
    (options.folder / "answers.jsonl").write_text("".join(json.dumps(answer) + "\n" for answer in answers))
    run(*command, "--answers", options.folder / "answers.jsonl", "--judge", "-j", 1)


def checked(options, folder):
    """Every repair's feedback is the judge's; how many rows of each kind there are."""
    made = folder / "made.jsonl"
    run(options.davinci, "synth", "rows", folder, "--out", made)
    verdicts = {row["id"]: row.get("evaluation", row) for row in lines(folder / "results.jsonl")}
    texts = {}
    for demo in lines(folder / "demos.jsonl"):
        for candidate in demo["candidates"]:
            texts[candidate.get("text") or f"```python\n{candidate.get('reply') or candidate['source']}```"] = candidate
    kinds = collections.Counter()
    for row in lines(made):
        kind = row["id"].rsplit(".", 1)[1].rstrip("0123456789")
        kinds[kind] += 1
        if kind == "kept":
            assert row["messages"][2]["content"] == reply_text(row), row["id"]
        if kind != "repair":
            continue
        attempt, feedback = row["messages"][2]["content"], row["messages"][3]["content"]
        candidate = texts[attempt]
        if "no_code" in candidate:
            assert candidate["no_code"] in feedback, feedback
            kinds["no_code"] += 1
            continue
        verdict = verdicts[candidate["id"]]
        assert verdict["status"] not in ("judge_error", "compile_only"), verdict
        if not verdict["correct"]:
            assert verdict["message"][:100] in feedback, (verdict["message"], feedback)
            kinds[verdict["status"]] += 1
        assert row.get("verdict", "") == ("compile_only" if "compile_only" in verdict["labels"] else ""), row["id"]
    print(folder.name, dict(kinds))
    return kinds


def check_mistakes(folder):
    """A mistake in a kernel that is not correct is not judged. Without a device files have the sizes of the cpu target."""
    verdicts = {row["id"]: row for row in lines(folder / "results.jsonl")}
    wrong = sized = 0
    for demo in lines(folder / "demos.jsonl"):
        best = next((c for c in demo["candidates"] if c["level"] == "best"), None)
        for candidate in demo["candidates"]:
            if candidate.get("mutation", "reply") != "reply":
                assert (candidate["id"] in verdicts) == (verdicts[best["id"]]["correct"] is True), candidate["id"]
                wrong += verdicts[best["id"]]["correct"] is not True
        sizes = tomllib.loads(demo["sidecar"]).get("sizes", {}).get("cpu", {})
        if best and "no_device" in verdicts[best["id"]]["provenance"] and sizes:
            assert all(f"\n{name} = {value}\n" in best["source"] for name, value in sizes.items()), (sizes, best["source"])
            sized += 1
    print(f"{wrong} mistakes left out, {sized} files at the sizes of the cpu target")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("davinci")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--demos", type=pathlib.Path)
    parser.add_argument("--report")
    options = parser.parse_args()
    demos = options.demos
    if demos is None:
        shutil.rmtree(options.folder, ignore_errors=True)
        # Which rows a busy CPU's times give differs; what is wrong does not.
        timed = options.folder / "timed"
        judged(options, "cpp", timed, 4, "--level", "naive", "best", "--skills", 2, "--without-each", "--mutated=2")
        checked(options, timed)
        statuses = {row.get("evaluation", row)["status"] for row in lines(timed / "results.jsonl")}
        assert len(statuses - {"ok", "judge_error"}) >= 2, statuses
        demos = options.folder / "demos"
        judged(options, "triton", demos, 8, "--level", "best", "--skills", 2, "--mutated=3", "--reply", "delta")
        check_mistakes(demos)
    options.folder.mkdir(parents=True, exist_ok=True)
    made = options.folder / "rows.jsonl"
    said = run(options.davinci, "synth", "rows", demos, "--out", made)
    if options.demos is None:
        kinds = checked(options, demos)
        assert kinds["policy"] and kinds["repair"] and kinds["kept"], kinds
    rows = lines(made)
    candidates = {c["id"]: (c, demo) for demo in lines(demos / "demos.jsonl") for c in demo["candidates"]}

    # The native output of sft-data carries what made a row.
    data = options.folder / "data"
    run(options.davinci, "sft-data", made, "--out", data, "--per-cell", PER_CELL, "--near-skill", 0.9)
    kept = lines(data / "train.jsonl")
    assert kept
    for row in rows + kept:
        candidate, demo = candidates[row["id"].rsplit(".", 1)[0]]
        assert row["split"] == demo["synth"]["split"] == "train" and row["rules"] == candidate["rules"], row["id"]
        # A selection chooses among what retrieval shows; a summary is about one skill.
        some = row["agent"] in ("selection", "summary") and set(row["skills"]) <= set(candidate["skills"])
        assert "judged" not in row
        assert row["skills"] == candidate["skills"] or some, row["id"]
    # The manifest says what was dropped, and each cell holds what was allowed.
    manifest = json.loads((data / "manifest.json").read_text())
    for agent, counts in manifest["agents"].items():
        assert counts["kept"] + sum(counts["dropped"].values()) == counts["rows"], agent
        cells = collections.Counter((row["family"], bucket(row.get("speedup"))) for row in kept if row["agent"] == agent)
        assert {(family, name): n for family, cell in counts["cells"].items() for name, n in cell.items()} == cells, agent
        assert max(cells.values(), default=0) <= PER_CELL
    dropped = manifest["dropped"]
    if options.demos is None:
        assert sum(dropped.values()) + len(kept) == len(rows), dropped

    # Lengths, in the ids of a tokenizer as a small model has it.
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator((text for row in rows for text in (prompt_text(row), reply_text(row))), trainers.BpeTrainer(
        vocab_size=8000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    tokenizer.save(str(options.folder / "tokenizer.json"))
    said = run(options.davinci, "synth", "rows", demos, "--tokenizer", options.folder / "tokenizer.json", "--out", options.folder / "fitting.jsonl")
    rows = lines(options.folder / "fitting.jsonl")
    texts, replies = [prompt_text(row) for row in rows], [reply_text(row) for row in rows]
    lengths, whole = collections.defaultdict(list), collections.defaultdict(list)
    for row, prompt, reply in zip(rows, tokenizer.encode_batch(texts), tokenizer.encode_batch(replies)):
        kind = row["id"].rsplit(".", 1)[1].rstrip("0123456789")
        lengths[kind].append(len(prompt.ids))
        whole[kind].append(len(prompt.ids) + len(reply.ids))
    report = {"rows": len(rows), "kept": len(kept), "dropped": dropped, "vocabulary": tokenizer.get_vocab_size()}
    for kind in sorted(lengths):
        numbers, full = sorted(lengths[kind]), sorted(whole[kind])
        report[kind] = {"rows": len(numbers), "prompt_median": numbers[len(numbers) // 2], "prompt_most": numbers[-1],
                        "with_reply_median": full[len(full) // 2], "with_reply_most": full[-1]}
        print(f"{kind:10}{report[kind]}")
    print(said.strip(), json.dumps({key: value for key, value in report.items() if not isinstance(value, dict) or key == "dropped"}), sep="\n")
    if options.report:
        pathlib.Path(options.report).write_text(json.dumps(report, indent=2) + "\n")
    long = sum(int(line.split()[0]) for line in said.splitlines() if line.endswith("the prompt is too long"))
    assert options.demos or long <= 0.1 * len(rows), said
    limits = {"selection": 2500, "policy": 3500, "repair": 3500, "kept": 3500, "summary": 3500}
    for kind, numbers in lengths.items():
        assert max(numbers) <= limits[kind], (kind, max(numbers))


main()
