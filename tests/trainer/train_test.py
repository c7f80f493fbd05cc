"""The chain of training from the outside, on the cpu target with the real judge: a teacher's recorded replies are
collected and judged (davinci collect), become rows (davinci sft-data), teach a tiny model a fast, a slow and a wrong
answer to each of two tasks, the choice of skills and the writing of one (davinci sft); then all three agents are
trained for two steps while the library grows (davinci train).

    train_test.py DAVINCI

Shown: a skill is learned from a winning trajectory and stands in later prompts; rows have the prompts that were sent;
filters count what they drop; in training skills are selected, a skill is proposed, verified and flushed; replies of
policy, selection and summary are trained with advantages that are not zero; a summary's reward is that of its
verification's interval; log-probabilities of sampler and trainer agree; each process may be killed at any time; what
is recorded is not done again; where a reply is sampled decides nothing about it: without its checkpoints the run makes the same ones, bit for bit, from its journal.
"""
import importlib.util
import json
import math
import os
import random
import signal
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../model"))
from models import transformers  # noqa: E402
from run_folder import content  # noqa: E402
from chat_models import make_tokenizer  # noqa: E402
from taught_world import ANSWER, PROMPTS, ROOT, TASK, TEMPLATE, read_rows, requests, units, write_prompts, written  # noqa: E402

TASKS = {
    "clip": ("torch.relu(x) * 2.0", "y[i] = x[i] > 0 ? 2 * x[i] : 0;", "y[i] = x[i];"),
    "square": ("x * x + 1.0", "y[i] = x[i] * x[i] + 1;", "y[i] = x[i] + 1;"),
}


def answers(name):
    _, right, wrong = TASKS[name]
    loop = "for (int64_t i = 0; i < n; ++i) "
    slow = "volatile float w = 0; for (int r = 0; r < 9; ++r) for (int64_t i = 0; i < n; ++i) w = w + x[i];\n  "
    return [ANSWER % (loop + right), ANSWER % (slow + loop + right), ANSWER % (loop + wrong)]


def tool(name, arguments):
    return {"text": "", "tool_calls": [{"id": "1", "name": name, "arguments": json.dumps(arguments)}]}


def choice(skill):
    return tool("select_skills", {"think": "fits", "selected_skills": [{"name": skill, "reason": "pointwise"}]})


# Published trigger: it asks medians, and a busy machine widens intervals. The slow answer takes ten times as long and more; what
# identical kernels differ by on a busy machine is no gain.
VERIFYING = ("verification.protocol=screening", "verification.second_task=false", "verification.repetitions=0",
             "trigger.min_speedup=0", "trigger.min_gain=3", "trigger.as_published=true")
LEARNING = (*VERIFYING, "learn.enabled=true", "selection.schemes=1", "rollout.rollouts=4", "rollout.turns=2", "summary.summaries=2",
            "selection.max_tokens=120", "policy.max_tokens=300", "summary.max_tokens=400", "advantage.selection_value=mean",
            "optimizer.learning_rate=1e-4")


def write_recording(path, known):
    with open(path, "w") as file:
        for label, reply in known.items():
            reply = {"finish_reason": "stop", "model": "teacher", "cost_usd": 0.01,
                     "usage": {"prompt_tokens": 900, "completion_tokens": 300}, **reply}
            file.write(json.dumps({"davinci_recording": 1, "label": label, "reply": reply}) + "\n")


def recording(path):
    """Of pass 1 each task has fast, slow and wrong first turns; that of `clip` goes from slow to fast and becomes a skill,
    with which first turns are fast."""
    known = {}
    for name in TASKS:
        fast, slow, wrong = ({"text": text} for text in answers(name))
        second = fast if name == "clip" else wrong
        for scheme in (0, 1):
            rollouts = [(slow, second), (fast, fast), (wrong, {"text": "I give up."})]
            if name == "clip" and scheme == 1:
                rollouts = [(fast, slow), (fast, fast), (fast, wrong)]
            for rollout, turns in enumerate(rollouts):
                for turn, reply in enumerate(turns):
                    known[f"{name}@1#s{scheme}r{rollout}t{turn + 1}"] = reply
        known[f"{name}@1/selection/1"] = choice("one-plain-loop" if name == "clip" else "no-such-skill")
        for i in range(12):
            known[f"{name}@1/verify/without/{i}"] = slow
            known[f"{name}@1/verify/with/0.0/{i}"] = fast
    content = ("## Motivation\n\nEvery further pass costs.\n\n## Key Idea\n\nOne plain loop without volatile sums."
               "\n\n## Example\n\n```cpp\nfor (int64_t i = 0; i < n; ++i) y[i] = x[i];\n```\n")
    known["clip@1/summary/0"] = tool("update_skill_library", {"think": "compare", "new_skills": [{
        "name": "one-plain-loop", "description": "For pointwise work: write one plain loop", "scope": "general",
        "tags": ["cpp", "pointwise", "loops"], "content": content}]})
    write_recording(path, known)


def second_recording(path):
    """Two turns each, without a summary; the library's own skill is chosen. Only `clip` goes from slow to fast."""
    known = {}
    for name in TASKS:
        fast, slow, wrong = ({"text": text} for text in answers(name))
        rollouts = {0: [(slow, fast if name == "clip" else wrong), (fast, slow), (wrong, fast)],
                    1: [(fast, wrong), (fast, slow), (wrong, fast)]}
        for scheme in (0, 1):
            for rollout, turns in enumerate(rollouts[scheme]):
                for turn, reply in enumerate(turns):
                    known[f"{name}@1#s{scheme}r{rollout}t{turn + 1}"] = reply
        known[f"{name}@1/selection/1"] = choice("read-once")
    write_recording(path, known)


def run(arguments, code=0):
    done = subprocess.run(arguments, capture_output=True, text=True)
    assert done.returncode == code, (done.returncode, done.stdout[-1500:], done.stderr[-1500:])
    return done.stdout


def killed(command, count, target):
    """Runs it until `count` says `target`, then kill -9; whether it was killed before its end."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and count() < target:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    err = process.communicate()[1]
    assert process.returncode in (0, -signal.SIGKILL), err[-1500:]
    return process.returncode != 0


def check_agents(out, log):
    """Selection, policy and summary were all trained, and the library heard of what was learned."""
    for line in log:
        assert line["parity"]["max"] < 1e-3 and line["updates"] == 1 and line["gradient_norm"] > 0, line
        assert all(share == 1 for share in line["accepted"].values()), line
    first = log[0]
    for agent in ("policy", "selection", "summary"):
        assert any(agent in line["loss"] and line["advantage"][agent]["largest"] > 0 for line in log), (agent, log)
    assert first["advantage"]["policy"]["replies"] >= 8 and first["advantage"]["selection"]["replies"] == 2, first["advantage"]
    assert 0 < first["turns"]["correct"] < 1 and first["reward"]["policy"] > 0, first
    verified = []
    for line in log:
        decisions = [u["body"] for u in units(out, line["step"]) if u["kind"] == "verification"]
        names = [dict(part.split("=") for part in u["unit"].split()[1:]) for u in units(out, line["step"]) if u["kind"] == "summary"]
        calls = {(name["task"], int(name["summary"])): None for name in names}
        for decision in decisions:
            assert decision["reason"], decision
            calls[decision["task"], decision["summary"]] = \
                min(max(math.log(max(decision["uplift"]["low"], 1e-9)), 0), math.log(6)) if decision["uplift"] else 0
        verified += decisions
        skills = line["skills"]
        assert skills["verified"] == len(decisions) == skills["admitted"] + skills["refused"], (skills, decisions)
        assert skills["admitted"] == sum(decision["admitted"] for decision in decisions) == skills["added"] + skills["merged"], skills
        if calls:  # the others were refused, could not be read or proposed nothing
            least = sum(-0.2 if value is None else value for value in calls.values()) / len(calls)
            most = sum(value or 0 for value in calls.values()) / len(calls)
            assert least - 1e-9 <= line["reward"]["summary"] <= most + 1e-9, (line["reward"], calls)
    assert any(decision["uplift"] for decision in verified), ([line["skills"] for line in log], verified)
    assert log[1]["library"] == 1 + sum(line["skills"]["added"] for line in log), log
    figures = "; ".join(f"{agent} {line['advantage'][agent]['replies']} replies of magnitude {line['advantage'][agent]['magnitude']:.2f}"
                        for line in log[:1] for agent in line["advantage"])  # of step 1
    return figures + "; " + ", ".join(f"{'admitted' if d['admitted'] else 'refused'}: {d['reason']}" for d in verified)


def main():
    davinci = sys.argv[1]
    os.environ.setdefault("DAVINCI_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DAVINCI_CACHE_DIR"] = os.path.join(folder, "cache")
        tasks, model, prompts = (os.path.join(folder, name) for name in ("tasks", "model", "prompts"))
        os.makedirs(tasks)
        for name, (expression, _, _) in TASKS.items():
            with open(os.path.join(tasks, name + ".py"), "w") as file:
                file.write(TASK % expression)
        with open(os.path.join(tasks, "clip.toml"), "w") as file:
            file.write('split = "train"\n')
        write_prompts(prompts)
        library, replies, others = (os.path.join(folder, name) for name in ("skills.jsonl", "replies.jsonl", "others.jsonl"))
        recording(replies)
        second_recording(others)
        with open(library, "w") as file:
            file.write(json.dumps({
                "name": "read-once", "description": "Read each relu input once", "scope": "general",
                "tags": ["cpp", "fusion", "relu"],
                "content": "## Motivation\nPasses cost.\n\n## Key Idea\nRead once.\n\n## Example\nA loop.\n"}) + "\n")
        texts = [text for name in TASKS for text in answers(name)] + [TASK % task[0] for task in TASKS.values()]
        for path in (replies, library):
            with open(path) as file:
                texts += [line for line in file if "summary" in line or "selection" in line or "read-once" in line]
        tokenizer = make_tokenizer((texts + list(PROMPTS.values())) * 3, model, vocab=1400, template=TEMPLATE)
        transformers.Qwen3Config(
            vocab_size=tokenizer.get_vocab_size(), hidden_size=96, intermediate_size=192, num_hidden_layers=2,
            num_attention_heads=6, num_key_value_heads=2, head_dim=16, max_position_embeddings=4096,
            tie_word_embeddings=True, bos_token_id=0, eos_token_id=2, pad_token_id=0,
            architectures=["Qwen3ForCausalLM"]).save_pretrained(model)

        def train(out, path, *sets):
            arguments = [davinci, "train", os.path.join(ROOT, "recipes/train/ci/train.toml"), "--out", out]
            for value in (f"model.path={path}", f'train.tasks=["{tasks}"]', f"agents.prompts={prompts}",
                          f"skills.library={library}", *LEARNING, *sets):
                arguments += ["--set", value]
            return arguments

        def collect(out, recorded, *sets):
            arguments = [davinci, "collect", tasks, "-t", "cpu", "--llm", "recorded:" + recorded, "--library", library,
                         "--rollouts", "3", "--turns", "2", "--schemes", "1", "--out", out]
            for value in ("summary.summaries=1", "judge.final_protocol=screening", "judge.threads=1", f"agents.prompts={prompts}",
                          *VERIFYING, *sets):
                arguments += ["--set", value]
            return arguments

        # Collected in two passes, killed in each.
        collected = os.path.join(folder, "collected")
        passes = [os.path.join(collected, name) for name in ("pass-1", "pass-2")]
        command = collect(collected, replies)
        begun = time.time()
        before = {}
        for path in passes:
            assert killed(command, lambda path=path: written(path, 1), random.randint(3, 10)), path
            before[path] = {u["unit"]: u["finished_unix_s"] for u in units(path, 1)}
        said = run(command)
        for path in passes:
            done = {u["unit"]: u["finished_unix_s"] for u in units(path, 1)}
            assert len(done) == len(units(path, 1)) and before[path].items() <= done.items(), path
            before[path] = done
        assert run(command).splitlines()[-1] == said.splitlines()[-1]
        assert all(before[path].keys() == {u["unit"] for u in units(path, 1)} for path in passes)
        with open(os.path.join(collected, "collect.json")) as file:
            facts = json.load(file)
        assert facts["pass-1"]["skills_admitted"] == ["one-plain-loop"], facts
        assert facts["pass-1"]["trajectories"] == facts["pass-2"]["trajectories"] == 6, facts
        collect_seconds = time.time() - begun

        # Rows: every prompt is one that was sent, and of pass 2 the skill stands in it.
        begun = time.time()
        every = os.path.join(folder, "every")
        # Where pip found no pyarrow the rows go through JSONL alone, as davinci sft-data does.
        parquet = ["--parquet"] if importlib.util.find_spec("pyarrow") else []
        run([davinci, "sft-data", collected, "--out", every, *parquet, "--per-reference", "3", "--eval-share", "0.5",
             "--min-selection-uplift", "0.2"])
        with open(os.path.join(every, "manifest.json")) as file:
            manifest = json.load(file)
        left_out = manifest["left_out"]
        assert left_out["selection/bad_schema"] == 1 and left_out["policy/no_code"] == 3, left_out
        assert left_out["policy/repeated_code"] == 4 and left_out["policy/not_chosen"] == 6, left_out
        assert manifest["agents"]["summary"]["kept"] == manifest["agents"]["selection"]["kept"] == 1, manifest["agents"]
        assert manifest["dropped"] == {"duplicate": 3, "reference_cap": 1}, manifest["dropped"]
        rows = read_rows(os.path.join(every, "train.jsonl")) + read_rows(os.path.join(every, "eval.jsonl"))
        assert len(rows) == 7 and len({row["task"] for row in read_rows(os.path.join(every, "eval.jsonl"))}) == 1
        sent = [request for path in passes for request in requests(path)]
        for row in rows:
            messages = [{"role": m["role"], "content": m["content"]} for m in row["messages"][:-1]]
            tools = [tool["function"] for tool in row.get("tools", [])]
            assert any([{"role": m["role"], "content": m["content"]} for m in request["messages"]] == messages
                       and request.get("tools", []) == tools for request in sent), row["id"]
            assert row.get("split") == ("train" if row["task"] == "clip" else None) and ("rules" in row) == ("split" in row), row["id"]
            with_skill = "one-plain-loop" in row["messages"][1]["content"]
            assert with_skill == (row["id"].startswith("pass-2") and row["task"] == "clip") or row["agent"] != "policy", row["id"]
        assert any("one-plain-loop" in row["messages"][1]["content"] for row in rows if row["agent"] == "policy")
        # Published columns and back: the same training.
        merged, again = os.path.join(folder, "merged"), os.path.join(folder, "again")
        run([davinci, "sft-data", os.path.join(every, "train.jsonl"), "--out", merged, "--format", "merged", *parquet])
        run([davinci, "sft-data", os.path.join(merged, "train.parquet" if parquet else "train.jsonl"), "--out", again])
        strip = [{k: row[k] for k in ("messages", "tools", "agent") if k in row}
                 for row in read_rows(os.path.join(every, "train.jsonl"))]
        assert [{k: row[k] for k in ("messages", "tools", "agent") if k in row}
                for row in read_rows(os.path.join(again, "train.jsonl"))] == strip
        clean = os.path.join(folder, "clean")
        run([davinci, "sft-data", collected, "--out", clean, "--decontaminate", os.path.join(tasks, "clip.py")])
        assert {row["task"] for row in read_rows(os.path.join(clean, "train.jsonl"))} == {"square"}
        # What is taught: of the first collection what speaks of skills, and a second one without a summary.
        begun_second = time.time()
        second = os.path.join(folder, "second")
        run(collect(second, others, "trigger.min_gain=1000"))
        collect_seconds += time.time() - begun_second
        begun += time.time() - begun_second
        files = []
        for path in (collected, second):
            dataset = os.path.join(folder, "dataset-" + os.path.basename(path))
            run([davinci, "sft-data", path, "--out", dataset, "--turns", "all", "--per-reference", "0", "--min-selection-uplift", "0"])
            files.append(os.path.join(dataset, "train.jsonl"))
        rows = [row for row in read_rows(files[0]) if row["agent"] != "policy" or "one-plain-loop" in row["messages"][1]["content"]]
        rows += read_rows(files[1])
        # Half the first turns of `clip` go from slow to fast. The one summary is the longest reply and has to be sampled without a
        # mistake to be paid, on every processor: it is shown four times as often as the others of its collection.
        improving = [answers("clip")[1], answers("clip")[0]]
        rows += 2 * [row for row in rows if row["task"] == "clip" and
                     [m["content"] for m in row["messages"] if m["role"] == "assistant"] == improving]
        rows += 8 * [row for row in rows if row["agent"] == "summary"]
        agents = [row["agent"] for row in rows]
        print({agent: agents.count(agent) for agent in set(agents)}, flush=True)
        data = os.path.join(folder, "taught.jsonl")
        with open(data, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        data_seconds = time.time() - begun
        print(f"collected in {collect_seconds:.0f} s, rows in {data_seconds:.0f} s", flush=True)
        taught = os.path.join(folder, "taught")
        begun = time.time()
        said = run([davinci, "sft", os.path.join(ROOT, "recipes/train/ci/sft.toml"), "--out", taught,
                    "--set", f"model.path={model}", "--set", f'data.train=["{data}"]', "--set", "data.epochs=28",
                    "--set", "data.examples_per_update=8", "--set", "model.tokens_per_pass=4096",
                    "--set", "checkpoint.every=1000"])
        taught = os.path.join(taught, "checkpoints", sorted(os.listdir(os.path.join(taught, "checkpoints")))[-1])
        sft_seconds = time.time() - begun
        print(said.strip().splitlines()[-1], f"{sft_seconds:.0f} s", flush=True)

        # Where a reply is sampled decides nothing about it.
        sampled = []
        for devices in (["cpu"], ["cpu", "cpu"]):
            spread = os.path.join(folder, f"spread-{len(devices)}")
            run(train(spread, taught, f"train.sample_devices={json.dumps(devices)}", "train.steps=1", "learn.enabled=false",
                      "selection.schemes=0", "rollout.rollouts=12", "rollout.turns=1"))
            sampled.append({u["unit"]: (u["body"]["reply"]["text"], u["body"]["trace"]["blob"])
                            for u in units(spread, 1) if u["kind"] == "generation"})
        assert len(sampled[0]) == 24 and sampled[0] == sampled[1], sampled
        assert len({text for text, _ in sampled[0].values()}) > 3, sampled[0]

        # Two steps, killed at random points, with rows that are learned along.
        out, rows = os.path.join(folder, "run"), os.path.join(folder, "replayed.jsonl")
        shutil.copyfile(data, rows)
        command = train(out, taught, "checkpoint.keep_last=3", f'replay.rows=["{rows}"]', "replay.examples=4")
        begun = time.time()
        before, kills = {}, 0
        for target in sorted(random.sample(range(3, 120), 3)):  # how many units there are depends on the replies: about 150
            kills += killed(command, lambda target=target: sum(written(out, step) for step in (1, 2)), target)
            before |= {u["unit"]: u["finished_unix_s"] for step in (1, 2) for u in units(out, step)}
        assert kills > 0
        said = run(command)
        done = {u["unit"]: u["finished_unix_s"] for step in (1, 2) for u in units(out, step)}
        assert len(done) == sum(len(units(out, step)) for step in (1, 2)) and before.items() <= done.items()
        train_seconds = time.time() - begun
        print(said.strip(), f"{train_seconds:.0f} s", flush=True)
        log = read_rows(os.path.join(out, "log.jsonl"))
        assert [line["step"] for line in log] == [1, 2]
        assert all(("replay" in line) == (line["updates"] > 0) for line in log) and any("replay" in line for line in log), log
        assert all(0 < line["replay"]["loss"] < 1 and line["replay"]["tokens"] > 50 for line in log if "replay" in line), log
        trained = check_agents(out, log)

        # Both updates once more, from the journal alone and killed again: nothing is sampled or judged.
        kept = {n: content(os.path.join(out, "checkpoints", f"step-{n:08}")) for n in (0, 1, 2)}
        for n in kept:
            shutil.rmtree(os.path.join(out, "checkpoints", f"step-{n:08}"))
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(random.uniform(0.5, 6))
        process.kill()
        process.wait()
        run(command)
        assert done == {u["unit"]: u["finished_unix_s"] for step in (1, 2) for u in units(out, step)}
        for n, files in kept.items():
            again = content(os.path.join(out, "checkpoints", f"step-{n:08}"))
            assert files.keys() == again.keys() and all(files[k] == again[k] for k in files), \
                (n, [k for k in files if files[k] != again.get(k)])
        # Other rows than those that the steps have learned are refused.
        with open(data) as known, open(rows, "a") as file:
            file.write(known.readline())
        refused = subprocess.run(command, capture_output=True, text=True)
        assert refused.returncode == 2 and "replay.rows: not the rows of the steps before" in refused.stderr, refused
        # What was sampled while training is data, too; units of held-out tasks are not.
        shutil.copyfile(os.path.join(out, "steps/00000001.jsonl"), os.path.join(out, "steps/50000001.jsonl"))
        run([davinci, "sft-data", out, "--out", os.path.join(folder, "sampled"), "--turns", "all", "--per-reference", "0"])
        with open(os.path.join(folder, "sampled", "manifest.json")) as file:
            counts = json.load(file)["inputs"][0]["counts"]
        assert counts["tasks"] == 4 and counts["trajectories"] == sum(u["kind"] == "trajectory" for step in (1, 2) for u in units(out, step)), counts
    print(f"collected in {collect_seconds:.0f} s, taught in {sft_seconds:.0f} s, two steps with kills in {train_seconds:.0f} s; {trained}; "
          f"parity at most {max(line['parity']['max'] for line in log):.1e}; the same checkpoints from the journal")


main()
