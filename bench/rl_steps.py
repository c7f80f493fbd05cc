#!/usr/bin/env python3
"""Whole steps of davinci train, phase by phase: a model is taught three answers to each of some tasks, a fast, a slow and
a wrong one, and then trained by reinforcement with the real judge.

    rl_steps.py --davinci build/release/apps/davinci/davinci --device cuda --out FOLDER [--ranks 2] [--budget 600]
        [--shape 25M] [--steps 10] [--tasks 16] [--rollouts 12] [--teach-seconds 60] [--set KEY=VALUE …]
    rl_steps.py --davinci build/dev/apps/davinci/davinci --device cpu --shape tiny --steps 2 --tasks 3 --rollouts 4 --out FOLDER

Answers are Triton on cuda and C++ on the CPU. Each begins with a number of four digits that the model draws itself, so
that hardly two candidates are the same text and nearly every reply is judged. One turn a rollout, no skills, verdict cache
off, screening protocol; mismatch band as published.

A run that was cut continues when the same command is given again: what it needs lies in FOLDER/work until it ends.

FOLDER/rl_steps.json is written after every step. Per step: rewards, judgements, seconds of each phase and the share of
each in which a device was idle (utilisation by nvidia-smi, which averages over up to a second), tokens/s, parity of
log-probabilities, accept rates. Sampling and judging overlap within the rollout phase: their seconds are those in which at
least one reply was sampled or one candidate judged. --ranks 2: two processes as torchrun starts them, on the CPU by mpirun.
"""
import argparse
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("../tests/model", "../tests/trainer"):
    sys.path.insert(0, os.path.join(HERE, folder))
from tokenizers import Tokenizer  # noqa: E402

from backbone_bench import config_of  # noqa: E402
from chat_models import make_tokenizer  # noqa: E402
from ranks import environments, mpirun  # noqa: E402
from taught_world import ANSWER, PROMPTS, TASK, TEMPLATE, read_rows, requests, units, write_prompts  # noqa: E402

# name: PyTorch, C++, Triton
STAGES = {
    "relu": ("torch.relu({})", "v = v > 0 ? v : 0;", "x = tl.maximum(x, 0.0)"),
    "double": ("({} * 2.0)", "v = v * 2;", "x = x * 2.0"),
    "shift": ("({} + 1.0)", "v = v + 1;", "x = x + 1.0"),
    "square": ("torch.square({})", "v = v * v;", "x = x * x"),
    "abs": ("torch.abs({})", "v = v < 0 ? -v : v;", "x = tl.abs(x)"),
    "negate": ("torch.neg({})", "v = -v;", "x = -x"),
    "least": ("torch.clamp({}, max=1.5)", "v = v > 1.5f ? 1.5f : v;", "x = tl.minimum(x, 1.5)"),
}
TRITON = """```python
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    %s
    tl.store(y_ptr + i, x, mask=i < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        n = x.numel()
        for _ in range(%d):
            kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
        return y
```"""
PASSES = {"fast": 1, "slow": 12, "wrong": 1}
# Replies above 512 tokens: the published mismatch band is meant for them.
VOCABULARY = {"25M": 360, "tiny": 700}
ELEMENTS = {"cuda": 20, "cpu": 18}  # as a power of 2
NUMBERS = {"cuda": 32, "cpu": 4}    # rows of each answer, with numbers of their own
UTILISATION_MS = 100
IDLE_BELOW = 5  # per cent of utilisation


def make_tasks(count):
    """{name: stages}, the same ones every time."""
    rng, chosen = random.Random(7), {}
    while len(chosen) < count:
        stages = rng.sample(sorted(STAGES), 4)
        chosen.setdefault("_".join(stages), stages)
    return chosen


def reference(stages, device):
    expression = "x"
    for stage in stages:
        expression = STAGES[stage][0].format(expression)
    return (TASK % expression).replace("1 << 18", f"1 << {ELEMENTS[device]}")


def answer(stages, kind, device, number):
    cuda = device == "cuda"
    lines = [STAGES[stage][2 if cuda else 1] for stage in stages]
    if kind == "wrong":
        lines.append("x = x + 0.5" if cuda else "v = v + 0.5f;")
    if cuda:
        text = TRITON % ("\n    ".join(lines), PASSES[kind])
    else:
        text = ANSWER % (f"for (int r = 0; r < {PASSES[kind]}; ++r)\n  for (int64_t i = 0; i < n; ++i) {{ float v = "
                         f"((volatile const float*)x)[i]; {' '.join(lines)} y[i] = v; }}")
    return text.replace("```python\n", f"```python\n# {number:04}\n", 1)


def make_model(folder, shape, texts):
    tokenizer = make_tokenizer(texts, folder, vocab=VOCABULARY[shape], template=TEMPLATE)
    config = config_of("25M")
    if shape == "tiny":
        config.update(hidden_size=96, intermediate_size=192, num_hidden_layers=2, num_attention_heads=6,
                      num_key_value_heads=2, head_dim=16, vocab_size=tokenizer.get_vocab_size())
    config.update(bos_token_id=0, eos_token_id=2, pad_token_id=0)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)
    return tokenizer


def prompt_of(text):
    return [{"role": "system", "content": PROMPTS["policy_system"]}, {"role": "user", "content": text.rstrip("\n")}]


class Utilisation:
    """[(unix time, device, per cent)] as long as it runs; nothing without nvidia-smi."""

    def __init__(self):
        self.samples, self.process = [], None
        if shutil.which("nvidia-smi"):
            self.process = subprocess.Popen(
                ["nvidia-smi", "--query-gpu=index,utilization.gpu", "--format=csv,noheader,nounits", "-lms", str(UTILISATION_MS)],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            try:
                device, busy = (int(field) for field in line.split(","))
            except ValueError:
                continue
            self.samples.append((time.time(), device, busy))

    def over(self, spans):
        """{device: idle share, mean utilisation, samples} within the spans of time."""
        found = {}
        for at, device, busy in list(self.samples):
            if any(begin <= at <= end for begin, end in spans):
                found.setdefault(device, []).append(busy)
        return {str(device): {"idle": sum(b < IDLE_BELOW for b in busy) / len(busy), "utilisation": statistics.mean(busy) / 100,
                              "samples": len(busy)} for device, busy in sorted(found.items())}

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()


def union(spans):
    merged = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def length(spans):
    return sum(end - begin for begin, end in spans)


def step_row(out, line, first_segment, utilisation):
    """One step from its log line and the units of its segments. The checkpoint's time is in the next step's line."""
    sampled, judged, tokens, judgements = [], [], 0, 0
    for segment in range(first_segment, first_segment + line["batches"]):
        for unit in units(out, segment):
            end, body = unit["finished_unix_s"], unit["body"]
            if unit["kind"] == "generation":
                sampled.append((end - body["llm_seconds"], end))
                tokens += body["reply"]["usage"]["completion_tokens"]
            if unit["kind"] in ("judgement", "confirmation") and not body.get("judged_before", True):
                judged.append((end - body["judge_seconds"], end))
                judgements += 1
    sampled, judged = union(sampled), union(judged)
    seconds, at = line["seconds"], line["began_unix_s"]
    spans = {"opening": [(at, at + seconds["opening"])], "sampling": sampled, "judging": judged,
             "rollout": [(at, at + seconds["rollout"])]}
    at = line["training_began_unix_s"]
    for phase in ("parity", "update"):
        spans[phase] = [(at, at + seconds[phase])]
        at += seconds[phase]
    row = {"step": line["step"], "reward": line["reward"]["policy"], "correct": line["turns"]["correct"],
           "faster": line["turns"]["faster"], "judgements": judgements, "sampled_tokens": tokens,
           "sampled_tokens_per_s": tokens / max(length(sampled), 1e-9), "trained_tokens_per_s": line.get("tokens_per_second"),
           "phases": {phase: {"seconds": length(found), "devices": utilisation.over(found)} for phase, found in spans.items()},
           "lanes_idle": line["idle"], "parity": line["parity"], "accepted": line.get("accepted", {}),
           "mean_reply_tokens": line["replies"]["length"], "gradient_norm": line.get("gradient_norm"), "log": line}
    return row


def cell(phase):
    devices = "/".join(f"{100 * facts['idle']:.0f}" for facts in phase["devices"].values())
    return f"{phase['seconds']:6.1f}" + (f" ({devices} %)" if devices else "")


def start(command, ranks, device):
    """The processes of one run."""
    if ranks == 1 or device == "cpu":
        return [subprocess.Popen(mpirun(ranks, command) if ranks > 1 else command, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)]
    return [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
            for environment in environments(ranks)]


def wait(processes, deadline, each, ask):
    """Calls `each` until the processes end; at the deadline sends the first one `ask`, and later kills. Returns their output
    and whether they finished."""
    texts = [[] for _ in processes]
    readers = [threading.Thread(target=lambda p=p, t=t: t.extend(p.stdout), daemon=True) for p, t in zip(processes, texts)]
    for reader in readers:
        reader.start()
    asked = False
    while any(process.poll() is None for process in processes):
        each()
        time.sleep(0.1)
        if time.time() > deadline and not asked:
            asked = True
            processes[0].send_signal(ask)
        if time.time() > deadline + 20:
            for process in processes:
                process.kill()
    for reader in readers:
        reader.join(5)
    each()
    return ["".join(text) for text in texts], not asked and all(process.returncode == 0 for process in processes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--shape", default="25M", choices=sorted(VOCABULARY))
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--tasks", type=int, default=16)
    parser.add_argument("--rollouts", type=int, default=12, help="of each task in a step")
    parser.add_argument("--epochs", type=int, default=12, help="of the teaching")
    parser.add_argument("--teach-seconds", type=float, default=60)
    parser.add_argument("--budget", type=float, default=600, help="seconds for all; what is done by then is kept")
    parser.add_argument("--learning-rate", type=float, default=3e-5)
    parser.add_argument("--in-flight", type=int, default=8, help="judgements at once")
    parser.add_argument("--set", action="append", default=[], help="further settings of davinci train")
    parser.add_argument("--keep", action="store_true", help="FOLDER/work stays")
    arguments = parser.parse_args()
    begun = time.time()
    os.environ.setdefault("DAVINCI_PYTHON", sys.executable)
    os.makedirs(arguments.out, exist_ok=True)
    cuda = arguments.device == "cuda"
    result = {"arguments": vars(arguments), "device": arguments.device, "teaching": {}, "steps": []}
    # Of a run that was cut.
    folder, report = os.path.join(arguments.out, "work"), os.path.join(arguments.out, "rl_steps.json")
    same = {key: value for key, value in vars(arguments).items() if key not in ("budget", "keep", "teach_seconds")}
    earlier = {}
    if os.path.exists(folder) and os.path.exists(report):
        with open(report) as file:
            earlier = json.load(file)
        if any(earlier["arguments"].get(key) != value for key, value in same.items()):
            earlier = {}
    if not earlier:
        shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder, exist_ok=True)
    known_steps = {row["step"]: row for row in earlier.get("steps", [])}
    if cuda:
        import torch
        result["device"] = torch.cuda.get_device_name()
        result["torch"] = torch.__version__

    def save():
        result["seconds"] = earlier.get("seconds", 0) + time.time() - begun
        with open(report + ".part", "w") as file:
            json.dump(result, file, indent=1)
        os.replace(report + ".part", report)

    os.environ["DAVINCI_CACHE_DIR"] = os.path.join(folder, "cache")
    tasks, model, prompts, data = (os.path.join(folder, name) for name in ("tasks", "model", "prompts", "rows.jsonl"))
    os.makedirs(tasks, exist_ok=True)
    write_prompts(prompts)
    chosen, rng, rows, texts = make_tasks(arguments.tasks), random.Random(11), [], list(PROMPTS.values())
    for name, stages in chosen.items():
        text = reference(stages, arguments.device)
        with open(os.path.join(tasks, name + ".py"), "w") as file:
            file.write(text)
        texts.append(text)
        for kind in PASSES:
            texts.append(answer(stages, kind, arguments.device, 0))
            for number in rng.sample(range(10000), NUMBERS[arguments.device]):
                rows.append({"messages": [*prompt_of(text), {"role": "assistant", "content": answer(
                    stages, kind, arguments.device, number)}], "agent": "policy"})
    rng.shuffle(rows)
    with open(data, "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    made = os.path.join(model, "config.json")  # written last
    tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json")) if os.path.exists(made) else make_model(
        model, arguments.shape, texts)
    sizes = [len(tokenizer.encode(row["messages"][-1]["content"]).ids) for row in rows]
    result["reply_tokens"] = [min(sizes), max(sizes)]
    placed = [f"model.device={arguments.device}", f"model.tokens_per_pass={65536 if cuda else 4096}",
              f"model.recomputed_layers={0 if cuda else -1}", f"model.threads={0 if cuda else 1}"]

    def davinci(verb, out, sets):
        recipe = os.path.join(folder, "empty.toml")
        open(recipe, "w").close()
        return [arguments.davinci, verb, recipe, "--out", out] + [part for value in sets for part in ("--set", value)]

    # Teach.
    taught = os.path.join(folder, "taught")
    result["teaching"] = earlier.get("teaching", {})
    if not result["teaching"]:
        at = time.time()
        texts, finished = wait(start(davinci("sft", taught, [
            *placed, f"model.path={model}", "model.init=random", f'data.train=["{data}"]', f"data.epochs={arguments.epochs}",
            f"data.examples_per_update={64 if cuda else 8}", f"optimizer.learning_rate={1e-3 if cuda else 1e-2}",
            "checkpoint.every=100"]), 1, arguments.device), at + arguments.teach_seconds, lambda: None, signal.SIGINT)
        log = read_rows(os.path.join(taught, "log.jsonl")) if os.path.exists(os.path.join(taught, "log.jsonl")) else []
        if not log:
            sys.exit(f"davinci sft made no update:\n{texts[0][-3000:]}")
        result["teaching"] = {"seconds": time.time() - at, "rows": len(rows), "updates": log[-1]["step"], "loss": log[-1]["loss"],
                              "finished": finished, "tokens_per_second": log[-1].get("tokens_per_second")}
        print(f"taught {len(rows)} rows of up to {max(sizes)} tokens in {time.time() - at:.0f} s: {log[-1]['step']} updates, loss "
              f"{log[-1]['loss']:.4f}{'' if finished else ' (stopped by its time limit)'}", flush=True)
        save()
    newest = os.path.join(taught, "checkpoints", max(os.listdir(os.path.join(taught, "checkpoints"))))

    # Train.
    out = os.path.join(folder, "run")
    utilisation, read, segment = Utilisation(), 0, 1
    command = davinci("train", out, [
        *placed, f"task.target={arguments.device}", f"task.language={'triton' if cuda else 'cpp'}", f"model.path={newest}",
        f'train.tasks=["{tasks}"]', f"train.steps={arguments.steps}", f"train.tasks_per_step={arguments.tasks}",
        f"agents.prompts={prompts}", "selection.schemes=0", "learn.enabled=false", f"rollout.rollouts={arguments.rollouts}",
        "rollout.turns=1", f"rollout.in_flight={arguments.tasks * arguments.rollouts}", f"rollout.tasks_in_flight={arguments.tasks}",
        f"policy.max_tokens={max(sizes) + 64}", f"llm.concurrency={128 if cuda else 8}", "judge.verdict_cache=false",
        "judge.turn_protocol=screening", f"judge.in_flight={arguments.in_flight if cuda else 2}",
        f"judge.threads={0 if cuda else 1}", f"optimizer.learning_rate={arguments.learning_rate}",
        "optimizer.warmup_fraction=0.3", *arguments.set])
    print("step  reward correct faster judged  rollout s (idle)  sampling          judging           parity           update"
          "           ckpt s  sampled/s  trained/s  parity mean/max  in band accepted", flush=True)

    def each():
        nonlocal read, segment
        path = os.path.join(out, "log.jsonl")
        if not os.path.exists(path):
            return
        with open(path) as file:
            lines = [line for line in file if line.endswith("\n")]
        for text in lines[read:]:
            line = json.loads(text)
            if result["steps"]:
                result["steps"][-1]["phases"]["checkpoint"] = {"seconds": line["seconds"]["former_checkpoint"], "devices": {}}
                result["steps"][-1]["wall_seconds"] = line["began_unix_s"] - result["steps"][-1]["log"]["began_unix_s"]
            row = known_steps.get(line["step"]) or step_row(out, line, segment, utilisation)
            segment += line["batches"]
            read += 1
            result["steps"].append(row)
            save()
            phases = row["phases"]
            print(f"{row['step']:4}  {row['reward']:6.3f} {row['correct']:6.1%} {row['faster']:6.1%} {row['judgements']:6}  "
                  + "  ".join(f"{cell(phases[phase]):16}" for phase in ("rollout", "sampling", "judging", "parity", "update"))
                  + f" {line['seconds']['former_checkpoint']:6.1f} {row['sampled_tokens_per_s']:10.0f} "
                  f"{row['trained_tokens_per_s'] or 0:10.0f}  {row['parity']['mean']:.1e}/{row['parity']['max']:.1e}  "
                  f"{row['parity']['in_band']:6.1%} {row['accepted'].get('policy', 0):6.1%}", flush=True)

    texts, finished = wait(start(command, arguments.ranks, arguments.device), begun + arguments.budget - 15, each, signal.SIGUSR1)
    utilisation.stop()
    result["finished"] = finished
    if not finished:
        result["said"] = [text[-4000:] for text in texts]
    # The prompts of training are the ones that were taught.
    known = {json.dumps(row["messages"][:-1]) for row in rows}
    if os.path.exists(os.path.join(out, "blobs.sqlite")):
        sent = [json.dumps([{"role": m["role"], "content": m["content"]} for m in request["messages"]]) for request in requests(out)]
        result["taught_prompts"] = sum(prompt in known for prompt in sent) / max(len(sent), 1)
    save()
    rows = result["steps"]
    if rows:
        print(f"{len(rows)} of {arguments.steps} steps in {result['seconds']:.0f} s; reward {rows[0]['reward']:.3f} -> "
              f"{rows[-1]['reward']:.3f}; correct {rows[0]['correct']:.1%} -> {rows[-1]['correct']:.1%}; least judgements of a step "
              f"{min(row['judgements'] for row in rows)}; prompts that were taught {result.get('taught_prompts', 0):.0%}")
    if not finished:
        print(*(text[-1500:] for text in texts), sep="\n---\n")
        sys.exit(1)
    if not arguments.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
