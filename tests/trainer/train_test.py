"""davinci train from the outside: a tiny model is taught a fast, a slow and a wrong answer to each of two tasks, then
trained for two steps with the real judge on the cpu target.

    train_test.py DAVINCI

Shown: rewards differ and there is a gradient; log-probabilities of sampler and trainer agree; the process may be killed;
what is recorded is not done again: without its checkpoints the run makes the same ones, bit for bit, from its journal.
"""
import json
import os
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


def run(arguments, code=0, timeout=400):
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == code, (done.returncode, done.stdout[-1500:], done.stderr[-1500:])
    return done.stdout


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

        # What the policy is asked: from a step of the untaught model.
        probe = os.path.join(folder, "probe")
        run(train(probe, model, "train.steps=1", "rollout.rollouts=1", "policy.max_tokens=16", "model.init=random"))
        rows = []
        with sqlite3.connect(os.path.join(probe, "blobs.sqlite")) as blobs:
            for unit in units(probe, 1):
                if unit["kind"] != "generation":
                    continue
                (request,) = blobs.execute("SELECT bytes FROM blobs WHERE name = ?", (unit["body"]["prompt"],)).fetchone()
                messages = [{"role": m["role"], "content": m["content"]} for m in json.loads(request)["messages"]]
                (name,) = [n for n in TASKS if TASKS[n][0] in messages[-1]["content"]]
                rows += [{"messages": messages + [{"role": "assistant", "content": text}]} for text in answers(name)]
        assert len(rows) == 6, len(rows)
        data = os.path.join(folder, "rows.jsonl")
        with open(data, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        taught = os.path.join(folder, "taught")
        begun = time.time()
        said = run([davinci, "sft", os.path.join(ROOT, "recipes/train/ci/sft.toml"), "--out", taught,
                    "--set", f"model.path={model}", "--set", f'data.train=["{data}"]', "--set", "data.epochs=110",
                    "--set", "data.examples_per_update=6", "--set", "model.tokens_per_pass=16384",
                    "--set", "checkpoint.every=1000"])
        taught = os.path.join(taught, "checkpoints", sorted(os.listdir(os.path.join(taught, "checkpoints")))[-1])
        sft_seconds = time.time() - begun
        print(said.strip().splitlines()[-1], f"{sft_seconds:.0f} s", flush=True)

        out = os.path.join(folder, "run")
        command = train(out, taught, "checkpoint.keep_last=3")
        begun = time.time()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and sum(u["kind"] == "judgement" for u in units(out, 1)) < 2:
            time.sleep(0.02)
        assert process.poll() is None, process.stderr.read()[-1500:]
        process.send_signal(signal.SIGKILL)
        process.wait()
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
        assert kept[1]["model.safetensors"] != kept[2]["model.safetensors"]
    print(f"taught in {sft_seconds:.0f} s, two steps in {train_seconds:.0f} s; parity at most {first['parity']['max']:.1e}; "
          f"{first['trained_sequences']} sequences trained in step 1; the same checkpoints from the journal")


main()
