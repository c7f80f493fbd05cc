"""Throughput of whole rollouts: how busy model and judge are kept, and what the journal costs.

    python bench/agents_throughput.py --davinci BIN [--target cuda] [--samples 4] [--turns 3] [--latency 4]
                                      [--llm-places 16] [--judge-places 0] [--tasks 30] [--same] [--out raw.json]

Runs `davinci bench` over the project's tasks that have an honest kernel, with a model that answers after --latency
seconds (spread by a third): a server on this machine that replies with the honest kernel, made distinct by a comment so
that every candidate is judged (--same: not distinct, which measures deduplication instead). With --recorded the same
replies come from a file, without delay: the upper bound that the judge sets. Prints what `davinci runs show RUN --stages`
computes from the run's journal.
"""
import argparse
import http.server
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent


def kernels(target, limit):
    """[(task path, reference text, candidate text)] of the honest kernels, one per task."""
    manifest = tomllib.loads((ROOT / "tests/honest/manifest.toml").read_text(encoding="utf-8"))
    found = {}
    for row in manifest["kernel"]:
        task = ROOT / "tasks" / (row["task"] + ".py")
        if row.get("target") != target or task in found or not task.exists() or row.get("language") == "python":
            continue
        found[task] = (ROOT / "tests/honest" / row["file"]).read_text(encoding="utf-8")
    return [(task, task.read_text(encoding="utf-8"), text) for task, text in sorted(found.items())][:limit]


def reply_text(candidate, serial):
    mark = f"# attempt {serial}\n" if serial is not None else ""
    return f"One fused pass.\n\n```python\n{mark}{candidate}\n```\n"


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    known, latency, distinct, counter, lock = [], 0.0, True, 0, threading.Lock()

    def log_message(self, *_):
        pass

    def send(self, document):
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.send({"object": "list", "data": [{"id": "bench", "object": "model"}]})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = "\n".join(str(message.get("content")) for message in request["messages"])
        with self.lock:
            Model.counter += 1
            serial = Model.counter
        candidate = next((text for _, reference, text in self.known if reference.strip() in prompt), None)
        time.sleep(self.latency * random.uniform(2 / 3, 4 / 3))
        text = reply_text(candidate, serial if self.distinct else None) if candidate else "I do not know this task."
        self.send({"id": "1", "object": "chat.completion", "model": "bench", "created": 0,
                   "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
                   "usage": {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4}})


def serve(known, latency, distinct):
    Model.known, Model.latency, Model.distinct = known, latency, distinct
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/v1"


def record(path, known, tasks, samples, turns, distinct):
    with open(path, "w", encoding="utf-8") as file:
        for (_, _, candidate), task in zip(known, tasks):
            for sample in range(samples):
                for turn in range(1, turns + 1):
                    label = f"{task['id']}#s0r{sample}t{turn}"
                    text = reply_text(candidate, label if distinct else None)
                    file.write(json.dumps({"davinci_recording": 1, "label": label,
                                           "reply": {"text": text, "finish_reason": "stop", "model": "bench"}}) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--davinci", required=True)
    parser.add_argument("--target", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--latency", type=float, default=4.0)
    parser.add_argument("--llm-places", type=int, default=16)
    parser.add_argument("--judge-places", type=int, default=0)
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--protocol", default="screening", help="of every turn; training uses screening")
    parser.add_argument("--same", action="store_true")
    parser.add_argument("--recorded", action="store_true")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    known = kernels(arguments.target, arguments.tasks)
    if not known:
        sys.exit("no honest kernel for this target")
    with tempfile.TemporaryDirectory(prefix="agents-throughput") as folder:
        folder = pathlib.Path(folder)
        tasks = [{"id": task.stem, "path": str(task)} for task, _, _ in known]
        (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
        if arguments.recorded:
            record(folder / "replies.jsonl", known, tasks, arguments.samples, arguments.turns, not arguments.same)
            model = ["--llm", f"recorded:{folder / 'replies.jsonl'}"]
        else:
            model = ["--llm", serve(known, arguments.latency, not arguments.same), "--model", "bench"]
        command = [arguments.davinci, "bench", "--tasks", str(folder / "tasks.jsonl"), "-t", arguments.target, *model,
                   "--samples", str(arguments.samples), "--turns", str(arguments.turns), "--run", str(folder / "run"),
                   "--set", f"llm.concurrency={arguments.llm_places}", "--set", f"judge.in_flight={arguments.judge_places}",
                   "--set", f"judge.turn_protocol={arguments.protocol}", "--set", f"judge.final_protocol={arguments.protocol}",
                   "--set", "judge.verdict_cache=false", "--set", "stop.stagnant_turns=0",
                   "--set", "stop.roofline_share=0.0", "--set", "llm.stream=false", "--set", "rollout.tasks_in_flight=32",
                   "--budget-minutes", str(arguments.minutes), "--json"]
        started = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, env=dict(os.environ))
        seconds = time.monotonic() - started
        if not done.stdout:
            sys.exit(f"davinci bench ended with {done.returncode}")
        shown = subprocess.run([arguments.davinci, "runs", "show", str(folder / "run"), "--stages"],
                               stdout=subprocess.PIPE, text=True, check=True)
        raw = json.loads(subprocess.run([arguments.davinci, "runs", "show", str(folder / "run"), "--stages", "--json"],
                                        stdout=subprocess.PIPE, text=True, check=True).stdout)
    print(f"{len(known)} tasks x {arguments.samples} samples x {arguments.turns} turns in {seconds:.0f} s")
    print(shown.stdout)
    if arguments.out:
        raw["arguments"] = vars(arguments)
        raw["seconds"] = seconds
        pathlib.Path(arguments.out).write_text(json.dumps(raw, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
