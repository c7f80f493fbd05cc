#!/usr/bin/env python3
"""The judge's A/A test while a model generates on the same device: does generation give way?

    python bench/aa_beside_generation.py --davinci BIN [--target cpu|cuda] [--shape 25M] [--comparisons 20] [--json FILE]

Starts `davinci llm serve` with a model of random weights (transformers makes it) and keeps its batch full with requests,
then judges a kernel against itself (`judge_numbers.py aa`, protocol screening), alone and with the model at work. Prints
how many comparisons were significant (none should be), the longest time the model held the device's lease in one go
(at most 50 ms) and its tokens per second during the test. Exit status: 0 both hold, 1 one does not, 77 no transformers.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/model"), str(ROOT / "bench")]
from backbone_bench import config_of  # noqa: E402
from chat_models import chat, make_tokenizer  # noqa: E402
from models import torch, transformers  # noqa: E402

MOST_HELD_MS = 50


def make_model(shape, folder):
    make_tokenizer([chat("ping", "pong")], folder)
    (pathlib.Path(folder) / "config.json").write_text(json.dumps(config_of(shape)))
    torch.manual_seed(0)
    config = transformers.AutoConfig.from_pretrained(folder)
    transformers.AutoModelForCausalLM.from_config(config).to(torch.bfloat16).save_pretrained(folder)


class Load:
    """A server and as many clients as fill its batch, each asking again and again."""

    def __init__(self, davinci, folder, device, clients):
        self.process = subprocess.Popen([davinci, "llm", "serve", "--model", folder, "--name", "load", "--port", "0",
                                         "--device", device, "--batch", str(clients), "--context", "1024"],
                                        stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "127.0.0.1:" not in line:
            sys.exit(f"davinci llm serve: {line}")
        self.port = int(line.split("127.0.0.1:")[1].split("/")[0])
        self.stop = False
        self.threads = [threading.Thread(target=self.ask, args=(number,), daemon=True) for number in range(clients)]
        for thread in self.threads:
            thread.start()

    def request(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        connection.request(method, path, None if body is None else json.dumps(body))
        return json.loads(connection.getresponse().read())

    def ask(self, number):
        rng = random.Random(number)
        while not self.stop:
            try:
                self.request("POST", "/v1/completions", {"prompt": [rng.randrange(3, 250) for _ in range(128)],
                                                         "max_tokens": 256, "temperature": 1.0})
            except OSError:
                time.sleep(0.05)

    def health(self):
        return self.request("GET", "/health")

    def close(self):
        self.stop = True
        self.process.terminate()
        self.process.wait(timeout=60)


def aa(options, folder, name):
    out = pathlib.Path(folder) / f"{name}.json"
    subprocess.run([sys.executable, str(ROOT / "bench/judge_numbers.py"), "--davinci", options.davinci, "--target",
                    options.target, "--protocol", "screening", "-j", "1", "--out", str(out), "aa", "--comparisons",
                    str(options.comparisons), "--task", str(ROOT / "bench/aa_task.py")], check=True)
    result = json.loads(out.read_text())
    return {key: result[key] for key in ("comparisons", "significant_over_2_percent", "median_of_medians", "log_sd",
                                         "other_statuses", "seconds")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--target", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--shape", default="25M")
    parser.add_argument("--comparisons", type=int, default=20)
    parser.add_argument("--clients", type=int, default=0, help="requests at once (default: 2 on cpu, 64 on cuda)")
    parser.add_argument("--json")
    options = parser.parse_args()
    clients = options.clients or (64 if options.target == "cuda" else 2)
    with tempfile.TemporaryDirectory(prefix="aa-beside") as folder:
        make_model(options.shape, folder)
        alone = aa(options, folder, "alone")
        load = Load(options.davinci, folder, options.target, clients)
        try:
            time.sleep(1)
            before, begun = load.health(), time.monotonic()
            beside = aa(options, folder, "beside")
            after, seconds = load.health(), time.monotonic() - begun
        finally:
            load.close()
    done = after["generated_tokens"] - before["generated_tokens"]
    result = {"target": options.target, "shape": options.shape, "clients": clients, "cores": os.cpu_count(),
              "alone": alone, "beside": beside, "longest_hold_ms": after["longest_hold_ms"],
              "finished_tokens_s": done / seconds, "finished_requests": after["requests"] - before["requests"]}
    print(json.dumps(result, indent=1))
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    held = after["longest_hold_ms"] <= MOST_HELD_MS
    quiet = beside["significant_over_2_percent"] == 0
    print(f"A/A beside generation: {beside['significant_over_2_percent']} of {beside['comparisons']} significant; the lease "
          f"was held for {after['longest_hold_ms']:.1f} ms at most; {result['finished_tokens_s']:.0f} tokens/s of finished answers")
    return 0 if held and quiet and done > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
