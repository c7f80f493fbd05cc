"""Prompts of rows are those that rollouts send, byte by byte: a run asks an endpoint that keeps what it is sent.

    check_prompts.py DAVINCI FOLDER

In every language and form of reply, for generated tasks, modules of tests/import and tasks/; the prompts of the Policy and of the Selection.
"""
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading

davinci, folder = sys.argv[1], pathlib.Path(sys.argv[2])
ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = [ROOT / "tests/import/modules" / name for name in ("adain_style_transfer.py", "cbam_attention.py")] + \
    [ROOT / "tasks" / name for name in ("pointwise/hardswish_chain.py", "norm/layer_norm.py")]
# Sizes of tasks on a GPU, and those here: tracing draws all elements on the CPU, and prompts of any size are compared alike.
SMALLER = {"COUNT = 268435456": "COUNT = 8388608", "TOKENS = 196608": "TOKENS = 2048"}
# Language, form of reply, what is shown of the task, and which of each folder's two files: each is asked about in two of the sets.
SETS = [("cpp", "file", "file", 1), ("cuda", "file", "file", 0), ("triton", "delta", "plan", 0), ("triton", "delta", "file", 1)]
PART_STEPS = 6
asked = []


class Endpoint(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked.append(request)
        message = {"role": "assistant", "content": "Nothing to say."}
        if request.get("tools"):
            message = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": {
                "name": "select_skills", "arguments": json.dumps({"think": "", "selected_skills": []})}}]}
        body = json.dumps({"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                           "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, cwd=ROOT, env={
        **os.environ, "DAVINCI_LIBRARY": str(folder / "none.db"), "OPENAI_API_KEY": "none"})
    if done.returncode not in (0, 3):  # 3: a task could not be judged, and none is
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def prompts(messages):
    return tuple((message["role"], message["content"]) for message in messages if message["role"] != "assistant")


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shutil.rmtree(folder, ignore_errors=True)
    compared = 0
    for language, reply, shown, which in SETS:
        files = FILES[which::2]
        out = folder / f"{language}-{reply}-{shown}"
        common = ("--language", language, "--reply", reply, "--seed", 5)
        run(davinci, "synth", "demos", "--count", 1, *common, "--out", out / "demos")
        for file in files:
            for part in (file, file.with_suffix(".toml")):
                if part.exists():
                    text = part.read_text()
                    for size, smaller in SMALLER.items():
                        text = text.replace(size, smaller)
                    (out / "demos/tasks" / part.name).write_text(text)
        rows = []
        users = [out / "demos/tasks" / file.name for file in files]
        for name, tasks in (("generated", ("--count", 1)), ("users", ("--count", 0, "--tasks", *users))):
            run(davinci, "synth", "pairs", *tasks, *common, "--task", shown, "--plans", 1, "--varied", 0, "--with-skills", 0,
                "--selections", 1, "--device", "here", "--part-steps", PART_STEPS,
                "--reply-tokens", 100000, "--policy-tokens", 100000, "--threads", 1, "--out", out / name)
            made = [json.loads(line) for file in sorted((out / name).glob("*.jsonl")) for line in file.read_text().splitlines()]
            assert made, f"no {name} rows in {language}"
            rows += made
        assert any(row["agent"] == "selection" for row in rows), language
        asked.clear()
        run(davinci, "bench", "--tasks", out / "demos/tasks", "-t", "cpu" if language == "cpp" else "cuda", "--language", language, "--llm",
            f"http://127.0.0.1:{server.server_port}/v1", "--model", "m", "--samples", 1, "--turns", 1, "--skills", "greedy",
            "--set", 'agents.prompts="prompts/compact"',
            "--set", f"policy.part_steps={PART_STEPS}",
            "--set", f'agents.reply="{reply}"', "--set", f'agents.task="{shown}"', "--set", "llm.stream=false", "--run", out / "run")
        sent = {prompts(request["messages"]) for request in asked}
        for row in rows:
            if prompts(row["messages"]) in sent:
                compared += 1
                continue
            # Which part differs, for people.
            near = [other for other in sent if len(other) == len(prompts(row["messages"])) and row["reference"][:200] in other[-1][1]] \
                if "reference" in row else []
            raise SystemExit(f"{language} {reply} {row['id']}: no rollout sent\n{prompts(row['messages'])}\n--- rollouts sent\n{(near or list(sent))[:1]}")
    server.shutdown()
    print(f"{compared} prompts are those of rollouts")
    assert compared > 12, compared


main()
