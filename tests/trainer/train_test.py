"""The chain of training from the outside, on the cpu target with the real judge: a teacher's recorded replies are
collected and judged (davinci collect), become rows (davinci sft-data), teach a tiny model a fast, a slow and a wrong
answer to each of two tasks (davinci sft), which is then trained for two steps (davinci train).

    train_test.py DAVINCI

Shown: a skill is learned from a winning trajectory and stands in later prompts; rows have the prompts that were sent;
filters count what they drop; rewards differ and there is a gradient; log-probabilities of sampler and trainer agree;
each process may be killed at any time; what is recorded is not done again: without its checkpoints the run makes the
same ones, bit for bit, from its journal.
"""
import importlib.util
import json
import os
import random
import signal
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
sys.path.insert(0, os.path.join(HERE, "../model"))
from models import transformers  # noqa: E402
from chat_models import make_tokenizer  # noqa: E402

TASK = """import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return %s


def get_inputs():
    return [torch.randn(1 << 18)]


def get_init_inputs():
    return []
"""
ANSWER = '''```python
import torch, davinci_runtime as dv
k = dv.cpp_module(r"""#include <cstdint>
extern "C" void f(const float* x, float* y, int64_t n) {
  %s
}
""").get("f", "ptr ptr i64")
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        k(x, y, x.numel())
        return y
```'''
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


def recording(path):
    """Of pass 1 each task has fast, slow and wrong first turns; that of `clip` goes from slow to fast and becomes a skill."""
    known = {}
    for name in TASKS:
        fast, slow, wrong = ({"text": text} for text in answers(name))
        second = fast if name == "clip" else wrong
        for scheme in (0, 1):
            for rollout, turns in enumerate([(slow, second), (fast, fast), (wrong, {"text": "I give up."})]):
                for turn, reply in enumerate(turns):
                    known[f"{name}@1#s{scheme}r{rollout}t{turn + 1}"] = reply
        known[f"{name}@1/selection/1"] = tool("select_skills", {"think": "fits", "selected_skills": [
            {"name": "one-plain-loop" if name == "clip" else "no-such-skill", "reason": "pointwise"}]})
        for i in range(12):
            known[f"{name}@1/verify/without/{i}"] = slow
            known[f"{name}@1/verify/with/0.0/{i}"] = fast
    content = ("## Motivation\n\nEvery further pass costs.\n\n## Key Idea\n\nOne plain loop without volatile sums."
               "\n\n## Example\n\n```cpp\nfor (int64_t i = 0; i < n; ++i) y[i] = x[i];\n```\n")
    known["clip@1/summary/0"] = tool("update_skill_library", {"think": "compare", "new_skills": [{
        "name": "one-plain-loop", "description": "For pointwise work: write one plain loop", "scope": "general",
        "tags": ["cpp", "pointwise", "loops"], "content": content}]})
    with open(path, "w") as file:
        for label, reply in known.items():
            reply = {"finish_reason": "stop", "model": "teacher", "cost_usd": 0.01,
                     "usage": {"prompt_tokens": 900, "completion_tokens": 300}, **reply}
            file.write(json.dumps({"davinci_recording": 1, "label": label, "reply": reply}) + "\n")


def run(arguments, code=0, timeout=400):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == code, (done.returncode, done.stdout[-1500:], done.stderr[-1500:])
    return done.stdout


def killed(command, count, target):
    """Runs it until `count` says `target`, then kill -9."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and count() < target:
        time.sleep(0.01)
    assert process.poll() is None, process.stderr.read()[-1500:]
    process.send_signal(signal.SIGKILL)
    process.wait()


def units(out, step):
    path = os.path.join(out, f"steps/{step:08}.jsonl")
    if not os.path.exists(path):
        return []
    found = []
    with open(path) as file:
        for line in file:
            try:
                found.append(json.loads(line))
            except ValueError:  # being written
                pass
    return found


def read_rows(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def requests(out):
    """Every request that was sent, as the run keeps it."""
    with sqlite3.connect(os.path.join(out, "blobs.sqlite")) as blobs:
        for unit in units(out, 1):
            if unit["kind"] in ("generation", "selection", "summary"):
                (request,) = blobs.execute("SELECT bytes FROM blobs WHERE name = ?", (unit["body"]["prompt"],)).fetchone()
                yield json.loads(request)


def content(folder):
    found = {}
    for base, _, files in os.walk(folder):
        for name in files:
            with open(os.path.join(base, name), "rb") as file:
                found[os.path.relpath(os.path.join(base, name), folder)] = file.read()
    return found


def main():
    davinci = sys.argv[1]
    os.environ.setdefault("DAVINCI_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DAVINCI_CACHE_DIR"] = os.path.join(folder, "cache")
        tasks, model, prompts = (os.path.join(folder, name) for name in ("tasks", "model", "prompts"))
        os.makedirs(tasks)
        os.makedirs(prompts)
        for name, (expression, _, _) in TASKS.items():
            with open(os.path.join(tasks, name + ".py"), "w") as file:
                file.write(TASK % expression)
        with open(os.path.join(prompts, "policy_system.md"), "w") as file:
            with open(os.path.join(ROOT, "prompts/policy_system.md")) as installed:
                header = installed.read().split("---")[1]  # says which placeholders there are
            file.write(f"---{header}---\nYou write fast kernels.\n")
        texts = [text for name in TASKS for text in answers(name)] * 3
        for name in sorted(os.listdir(os.path.join(ROOT, "prompts"))):
            if name.endswith(".md"):
                with open(os.path.join(ROOT, "prompts", name)) as file:
                    texts.append(file.read())
        tokenizer = make_tokenizer(texts, model, vocab=1400)
        transformers.Qwen3Config(
            vocab_size=tokenizer.get_vocab_size(), hidden_size=96, intermediate_size=192, num_hidden_layers=2,
            num_attention_heads=6, num_key_value_heads=2, head_dim=16, max_position_embeddings=4096,
            tie_word_embeddings=True, bos_token_id=0, eos_token_id=2, pad_token_id=0,
            architectures=["Qwen3ForCausalLM"]).save_pretrained(model)

        def train(out, path, *sets):
            arguments = [davinci, "train", os.path.join(ROOT, "recipes/train/ci/train.toml"), "--out", out]
            for value in (f"model.path={path}", f'train.tasks=["{tasks}"]', f"agents.prompts={prompts}", *sets):
                arguments += ["--set", value]
            return arguments

        # Collected in two passes, killed in each.
        collected = os.path.join(folder, "collected")
        passes = [os.path.join(collected, name) for name in ("pass-1", "pass-2")]
        recording(os.path.join(folder, "replies.jsonl"))
        with open(os.path.join(folder, "skills.jsonl"), "w") as file:
            file.write(json.dumps({
                "name": "read-once", "description": "Read each relu input once", "scope": "general",
                "tags": ["cpp", "fusion", "relu"],
                "content": "## Motivation\nPasses cost.\n\n## Key Idea\nRead once.\n\n## Example\nA loop.\n"}) + "\n")
        command = [davinci, "collect", tasks, "-t", "cpu", "--llm", "recorded:" + os.path.join(folder, "replies.jsonl"),
                   "--library", os.path.join(folder, "skills.jsonl"), "--rollouts", "3", "--turns", "2", "--schemes", "1",
                   "--out", collected]
        # Published trigger: it asks medians, and a busy machine widens intervals.
        for value in ("summary.summaries=1", "judge.final_protocol=screening", "verification.protocol=screening",
                      "verification.second_task=false", "trigger.min_speedup=0", "trigger.as_published=true",
                      "verification.repetitions=0", "judge.threads=1",
                      f"agents.prompts={prompts}"):
            command += ["--set", value]
        begun = time.time()
        before = {}
        for path in passes:
            killed(command, lambda path=path: len(units(path, 1)), random.randint(3, 10))
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
        assert left_out["selection/bad_schema"] == 1 and left_out["policy/no_code"] == 4, left_out
        assert left_out["policy/repeated_code"] == 4 and left_out["policy/not_chosen"] == 6, left_out
        assert manifest["agents"]["summary"]["kept"] == manifest["agents"]["selection"]["kept"] == 1, manifest["agents"]
        assert manifest["dropped"] == {"duplicate": 2, "reference_cap": 1}, manifest["dropped"]
        rows = read_rows(os.path.join(every, "train.jsonl")) + read_rows(os.path.join(every, "eval.jsonl"))
        assert len(rows) == 7 and len({row["task"] for row in read_rows(os.path.join(every, "eval.jsonl"))}) == 1
        sent = [request for path in passes for request in requests(path)]
        for row in rows:
            messages = [{"role": m["role"], "content": m["content"]} for m in row["messages"][:-1]]
            tools = [tool["function"] for tool in row.get("tools", [])]
            assert any([{"role": m["role"], "content": m["content"]} for m in request["messages"]] == messages
                       and request.get("tools", []) == tools for request in sent), row["id"]
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
        dataset = os.path.join(folder, "dataset")
        run([davinci, "sft-data", passes[0], "--out", dataset, "--turns", "all", "--per-reference", "0"])
        data = os.path.join(dataset, "train.jsonl")
        rows = [row for row in read_rows(data) if row["agent"] == "policy"]
        assert len(rows) == 6, len(rows)
        data_seconds = time.time() - begun
        print(f"collected in {collect_seconds:.0f} s, rows in {data_seconds:.0f} s", flush=True)
        taught = os.path.join(folder, "taught")
        begun = time.time()
        said = run([davinci, "sft", os.path.join(ROOT, "recipes/train/ci/sft.toml"), "--out", taught,
                    "--set", f"model.path={model}", "--set", f'data.train=["{data}"]', "--set", "data.epochs=110",
                    "--set", "data.examples_per_update=7", "--set", "model.tokens_per_pass=16384",
                    "--set", "checkpoint.every=1000"])
        taught = os.path.join(taught, "checkpoints", sorted(os.listdir(os.path.join(taught, "checkpoints")))[-1])
        sft_seconds = time.time() - begun
        print(said.strip().splitlines()[-1], f"{sft_seconds:.0f} s", flush=True)

        out = os.path.join(folder, "run")
        command = train(out, taught, "checkpoint.keep_last=3")
        begun = time.time()
        killed(command, lambda: sum(u["kind"] == "judgement" for u in units(out, 1)), 2)
        before = {u["unit"] for u in units(out, 1)}
        said = run(command)
        names = [u["unit"] for u in units(out, 1)]
        assert len(names) == len(set(names)) and before <= set(names)
        train_seconds = time.time() - begun
        print(said.strip(), f"{train_seconds:.0f} s", flush=True)
        with open(os.path.join(out, "log.jsonl")) as file:
            log = [json.loads(line) for line in file]
        assert [line["step"] for line in log] == [1, 2]
        first = log[0]
        assert first["updates"] == 1 and first["gradient_norm"] > 0 and first["trained_sequences"] >= 4, first
        assert first["parity"]["max"] < 1e-3 and first["accepted"]["policy"] == 1, first
        assert 0 < first["turns"]["correct"] <= 1 and first["reward"]["policy"] > 0, first

        # Both updates once more, from the journal alone: nothing is sampled or judged.
        kept = {n: content(os.path.join(out, "checkpoints", f"step-{n:08}")) for n in (1, 2)}
        counts = [len(units(out, step)) for step in (1, 2)]
        for n in kept:
            shutil.rmtree(os.path.join(out, "checkpoints", f"step-{n:08}"))
        run(command)
        assert counts == [len(units(out, step)) for step in (1, 2)]
        for n, files in kept.items():
            again = content(os.path.join(out, "checkpoints", f"step-{n:08}"))
            assert files.keys() == again.keys() and all(files[k] == again[k] for k in files), \
                (n, [k for k in files if files[k] != again.get(k)])
        # A step whose groups are all alike trains nothing.
        changed = kept[1]["model.safetensors"] != kept[2]["model.safetensors"]
        assert changed == (log[1]["updates"] > 0), log[1]
        # What was sampled while training is data, too.
        run([davinci, "sft-data", out, "--out", os.path.join(folder, "sampled"), "--turns", "all", "--per-reference", "0"])
        with open(os.path.join(folder, "sampled", "manifest.json")) as file:
            counts = json.load(file)["inputs"][0]["counts"]
        assert counts["tasks"] == 4 and counts["trajectories"] == counts["turns"] == 24, counts
    print(f"taught in {sft_seconds:.0f} s, two steps in {train_seconds:.0f} s; parity at most {first['parity']['max']:.1e}; "
          f"{first['trained_sequences']} sequences trained in step 1; the same checkpoints from the journal")


main()
