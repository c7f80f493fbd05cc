#!/usr/bin/env python3
"""What reinforcement costs of what no reward asks for: updates by advantages that are noise, and rows that the model knows before and after.

    forgetting.py --probe build/release/tests/trainer/trainer_probe --model FOLDER --rows ROWS --known ROWS --replay ROWS [--steps 13]

--rows: rows of the policy in whose place sampled replies would stand (`davinci synth pairs --split reinforcement …`). Each step takes --batch of
them, gives each reply an advantage of 1 or -1 at random, and updates the weights as `davinci train` does by its default loss. Whatever changes
then is the noise of few samples, which is most of a step's gradient when rollouts of a task differ little. --known: rows that are asked before and
after, as those with cards of held-out families. --replay: rows of supervised training that are learned along in some variants ([replay] of a
recipe). A variant is OPTIMIZER:RATE[:REPLAY WEIGHT]; its line has the mean negative log-likelihood of a token of the known replies, and the mean
probability of a whole reply.
"""
import argparse
import json
import math
import pathlib
import random
import subprocess

import jinja2
import tokenizers

DIVISOR = 1000  # loss.divisor


class Encoder:
    """Rows as `davinci sft` encodes them: tokens, and the places of the reply's."""

    def __init__(self, model):
        self._tokenizer = tokenizers.Tokenizer.from_file(str(pathlib.Path(model) / "tokenizer.json"))
        text = json.loads((pathlib.Path(model) / "tokenizer_config.json").read_text())["chat_template"]
        self._template = jinja2.Template(text)

    def __call__(self, row):
        messages = row["messages"]
        prompt = self._ids(self._template.render(messages=messages[:-1], add_generation_prompt=True))
        whole = self._ids(self._template.render(messages=messages, add_generation_prompt=False).rstrip("\n"))
        assert whole[:len(prompt)] == prompt
        return {"tokens": whole, "targets": list(range(len(prompt), len(whole)))}

    def _ids(self, text):
        return self._tokenizer.encode(text, add_special_tokens=False).ids


class Probe:
    def __init__(self, program, model, optimizer, threads):
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask({"op": "open", "model": model, "device": "cpu", "compute": "fp32", "recomputed_layers": 0, "deterministic": False,
                  "threads": threads, "muon": optimizer == "muon"})

    def ask(self, request):
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        reply = json.loads(self._process.stdout.readline())
        if "error" in reply:
            raise SystemExit(reply["error"])
        return reply

    def learn(self, sequences, derivatives):
        """Sequence by sequence; derivatives: of a token of each."""
        for sequence, derivative in zip(sequences, derivatives):
            self.ask({"op": "sft", "passes": [{"sequences": [sequence], "derivatives": [derivative] * len(sequence["targets"])}]})

    def known(self, sequences):
        loss, tokens, whole = 0.0, 0, 0.0
        for sequence in sequences:
            outputs = self.ask({"op": "evaluate", "sequences": [sequence]})["outputs"]
            loss, tokens, whole = loss - sum(outputs), tokens + len(outputs), whole + math.exp(sum(outputs))
        return {"loss": loss / tokens, "whole": whole / len(sequences)}

    def close(self):
        self._process.stdin.close()
        self._process.wait()


def rows_of(path, encoder, count, longest):
    found = []
    for file in sorted(pathlib.Path(path).glob("*.jsonl")):
        for line in file.read_text().splitlines():
            sequence = encoder(json.loads(line))
            if len(sequence["tokens"]) <= longest:
                found.append(sequence)
            if len(found) == count:
                return found
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--probe", "--model", "--rows", "--known", "--replay"):
        parser.add_argument(name, required=True)
    parser.add_argument("--steps", type=int, default=13)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--asked", type=int, default=48, help="known rows")
    parser.add_argument("--longest", type=int, default=1400, help="tokens of a row")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--variant", action="append", default=[])
    parser.add_argument("--out")
    options = parser.parse_args()
    encoder = Encoder(options.model)
    rows = rows_of(options.rows, encoder, options.steps * options.batch, options.longest)
    known = rows_of(options.known, encoder, options.asked, options.longest)
    replay = rows_of(options.replay, encoder, options.steps * options.batch, options.longest)
    lines = []
    for variant in options.variant or ["adamw:1e-4", "adamw:2e-5", "adamw:1e-4:1", "adamw:2e-5:1"]:
        optimizer, rate, weight = (variant.split(":") + ["0"])[:3]
        probe, draw = Probe(options.probe, options.model, optimizer, options.threads), random.Random(options.seed)
        found = [probe.known(known)]
        for step in range(options.steps):
            part = slice(step * options.batch, (step + 1) * options.batch)
            probe.learn(rows[part], [draw.choice((-1, 1)) / (options.batch * DIVISOR) for _ in rows[part]])
            if float(weight) > 0:
                tokens = sum(len(s["targets"]) for s in replay[part])
                probe.learn(replay[part], [-float(weight) / tokens] * len(replay[part]))
            probe.ask({"op": "step", "lr": float(rate)})
            if step + 1 in (options.steps // 2, options.steps):
                found.append(probe.known(known))
        probe.close()
        lines.append({"variant": variant, "steps": [0, options.steps // 2, options.steps], "known": found})
        print(f"{variant:16}", "  ".join(f"{k['loss']:.4f} nats, {k['whole']:.3f} whole" for k in found), flush=True)
        if options.out:
            pathlib.Path(options.out).write_text(json.dumps({"arguments": vars(options), "rows": len(rows), "variants": lines}, indent=1))


if __name__ == "__main__":
    main()
