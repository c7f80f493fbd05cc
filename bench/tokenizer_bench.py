#!/usr/bin/env python3
"""Encoding speed, side by side with the `tokenizers` package, one thread each.

    tokenizer_bench.py <tokenizer_bench> [--megabytes N] [--rounds N]

Trains a tokenizer with each family's pre-tokenizer on this repository's sources, writes it and a text to a folder, and lets
both encode the text in documents of about 4 KB. Medians over the rounds, which alternate; MB = 1e6 bytes of UTF-8.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/text"))
from tokenizer_parity_test import SCRIPTS, make  # noqa: E402


def documents(megabytes):
    text = [p.read_text() for pattern in ("src/**/*.cc", "src/**/*.h", "docs/**/*.md", "tests/**/*.py", "python/**/*.py")
            for p in sorted(ROOT.glob(pattern))]
    text = "\n".join(t + SCRIPTS[i % len(SCRIPTS)] for i, t in enumerate(text))
    pieces = [text[i:i + 4000] for i in range(0, len(text), 4000)]
    result, size = [], 0
    while size < megabytes * 1e6:
        for piece in pieces:
            result.append(piece)
            size += len(piece.encode())
            if size >= megabytes * 1e6:
                break
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--megabytes", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    texts = documents(arguments.megabytes)
    megabytes = sum(len(t.encode()) for t in texts) / 1e6
    print(f"{megabytes:.1f} MB in {len(texts)} documents, {arguments.rounds} rounds; MB/s of processor time, median (min – max)")
    for family in ("gpt2", "llama3", "qwen2"):
        tokenizer = make(family, 16000)
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save(f"{folder}/tokenizer.json")
            Path(f"{folder}/documents.json").write_text(json.dumps(texts))
            rates = {"davinci": [], "tokenizers": []}
            ours = subprocess.Popen([arguments.program, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            tokens = {}
            for _ in range(arguments.rounds + 1):
                ours.stdin.write("go\n")
                ours.stdin.flush()
                seconds, tokens["davinci"] = map(float, ours.stdout.readline().split())
                rates["davinci"].append(megabytes / seconds)
                start = time.thread_time()
                tokens["tokenizers"] = sum(len(tokenizer.encode(t, add_special_tokens=False)) for t in texts)
                rates["tokenizers"].append(megabytes / (time.thread_time() - start))
            ours.stdin.close()
            ours.wait()
        assert tokens["davinci"] == tokens["tokenizers"], tokens
        medians = {}
        for name, values in rates.items():
            values = values[1:]  # the first round warms up
            medians[name] = statistics.median(values)
            print(f"{family:7} {name:10} {medians[name]:7.2f} ({min(values):.2f} – {max(values):.2f})")
        print(f"{family:7} ratio      {medians['davinci'] / medians['tokenizers']:7.2f}")


if __name__ == "__main__":
    main()
