"""davinci generate and davinci llm serve, with the official client, with davinci's own, and under abuse.

    serve_test.py DAVINCI
"""
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from chat_models import chat, memorise

try:
    import openai
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

REPLY = "class ModelNew: pass # übergroß ✓"
PAIRS = [("ping", "pong"), ("code?", REPLY), ("count", "one two three four five six seven eight nine ten"),
         ("weather?", '<tool_call>\n{"name": "weather", "arguments": {"city": "Oslo"}}\n</tool_call>')]
TOOL = {"type": "function", "function": {"name": "weather", "description": "d",
                                         "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}


class Server:
    def __init__(self, davinci, folder, *flags, **environment):
        self.process = subprocess.Popen(
            [davinci, "llm", "serve", "--model", folder, "--name", "tiny", "--port", "0", "--device", "cpu", "--threads",
             "1", *flags], stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
        line = self.process.stdout.readline()
        assert "http://127.0.0.1:" in line, line
        self.port = int(line.split("127.0.0.1:")[1].split("/")[0])
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def client(self, key="none", **options):
        return openai.OpenAI(base_url=self.url, api_key=key, max_retries=0, timeout=None, **options)

    def post(self, path, body, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body), headers or {})
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response.status, text, response

    def health(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", "/health")
        return json.loads(connection.getresponse().read())

    def close(self):
        self.process.terminate()
        assert self.process.wait() == 0, self.process.returncode


def ask(question):
    return [{"role": "user", "content": question}]


def official_client(server, tokenizer):
    client = server.client()
    assert [m.id for m in client.models.list()] == ["tiny"]
    for question, answer in PAIRS[:3]:
        reply = client.chat.completions.create(model="tiny", messages=ask(question), temperature=0, logprobs=True,
                                               top_logprobs=2)
        choice = reply.choices[0]
        assert choice.message.content == answer and choice.finish_reason == "stop", choice
        assert reply.usage.prompt_tokens == len(tokenizer.encode(chat(question)).ids)
        assert reply.usage.completion_tokens == len(choice.logprobs.content)
        assert all(p.logprob > -0.7 and p.top_logprobs[0].logprob == p.logprob for p in choice.logprobs.content)
        stream = client.chat.completions.create(model="tiny", messages=ask(question), temperature=0, stream=True, logprobs=True,
                                                top_logprobs=2, stream_options={"include_usage": True})
        chunks = list(stream)
        assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == answer
        streamed = [p for c in chunks if c.choices and c.choices[0].logprobs for p in c.choices[0].logprobs.content]
        assert [(p.token, [t.logprob for t in p.top_logprobs]) for p in streamed] == [
            (p.token, [t.logprob for t in p.top_logprobs]) for p in choice.logprobs.content], streamed
        assert all(len(p.top_logprobs) == 2 for p in streamed)
        assert chunks[-1].usage.completion_tokens == reply.usage.completion_tokens
        assert chunks[-2].choices[0].finish_reason == "stop"
    many = client.chat.completions.create(model="tiny", messages=ask("count"), n=3, seed=5, temperature=1.0, max_tokens=4)
    assert [c.index for c in many.choices] == [0, 1, 2] and many.choices[0].finish_reason == "length"
    short = client.chat.completions.create(model="tiny", messages=ask("count"), temperature=0, stop=[" four"])
    assert short.choices[0].message.content == "one two three" and short.choices[0].finish_reason == "stop"
    call = client.chat.completions.create(model="tiny", messages=ask("weather?"), temperature=0, tools=[TOOL]).choices[0]
    if call.finish_reason == "tool_calls":
        assert call.message.tool_calls[0].function.name == "weather"
    text = client.completions.create(model="tiny", prompt=chat("ping"), temperature=0, max_tokens=20, logprobs=1)
    assert text.choices[0].text == "pong", text
    ids = client.completions.create(model="tiny", prompt=tokenizer.encode(chat("ping")).ids, temperature=0)
    assert ids.choices[0].text == "pong"
    several = client.completions.create(model="tiny", prompt=[chat("ping"), chat("code?")], temperature=0, max_tokens=60)
    assert [c.text for c in several.choices] == ["pong", REPLY]
    for wrong in ({"model": "other"}, {"temperature": -1}, {"max_tokens": 0}):
        try:
            client.chat.completions.create(**{"model": "tiny", "messages": ask("ping"), **wrong})
            raise AssertionError(wrong)
        except (openai.NotFoundError, openai.BadRequestError):
            pass
    return "the official client: models, chat, streams, n, stop, log-probs, text completions"


def garbage(server):
    bodies = [b"", b"{", b"null", b"[]", b"\xff\xfe{}", b'{"messages": 1}', b'{"messages": []}', b'{"messages": [1]}',
              b'{"messages": [{"role": "king"}]}', b'{"messages": [{"role": "user", "content": 5}]}', b"[" * 100000,
              b'{"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}']
    good = {"messages": ask("ping")}
    for extra in ({"n": 0}, {"n": 1e9}, {"top_p": 0}, {"top_p": "x"}, {"stop": 1}, {"seed": 1.5}, {"stream": 1},
                  {"tools": 1}, {"tools": [{}]}, {"logprobs": "a"}, {"top_logprobs": 21, "logprobs": True},
                  {"max_tokens": "9"}, {"presence_penalty": 1}, {"stream_options": []}, {"top_k": 2.5}, {"response_format": {"type": "json_object"}}, {"tool_choice": "required"},
                  {"messages": ask("x " * 5000)}):
        bodies.append(json.dumps({**good, **extra}).encode())
    for body in bodies:
        status, text, _ = server.post("/v1/chat/completions", body)
        assert status == 400 and json.loads(text)["error"]["message"], (body[:80], status, text)
    for extra in ({}, {"prompt": []}, {"prompt": [-1]}, {"prompt": [10 ** 12]}, {"prompt": [399999]}, {"prompt": {}},
                  {"prompt": "a", "echo": True}, {"prompt": "", "max_tokens": 3}):
        status, text, _ = server.post("/v1/completions", extra)
        assert status == 400, (extra, status, text)
    assert server.post("/v1/nothing", good)[0] == 404
    return f"{len(bodies) + 8} garbage requests: 400"


def overload(davinci, folder):
    server = Server(davinci, folder, "--batch", "1", "--queue", "2")
    results, together = [], threading.Barrier(40)

    def one(i):
        together.wait()
        status, _, response = server.post("/v1/chat/completions", {
            "messages": ask("count"), "max_tokens": 400, "temperature": 3.0, "seed": i})
        results.append((status, response.getheader("Retry-After")))
    threads = [threading.Thread(target=one, args=(i,)) for i in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = [status for status, _ in results]
    assert set(statuses) <= {200, 429} and statuses.count(200) >= 3 and statuses.count(429) >= 1, statuses
    assert all(after == "1" for status, after in results if status == 429)
    # A client that goes away: its answer is cancelled and its place is free again.
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("POST", "/v1/completions", json.dumps(
        {"prompt": [5], "max_tokens": 500, "temperature": 50.0, "stream": True, "seed": 1}))
    connection.getresponse().read(50)
    connection.sock.close()
    connection.close()
    while server.health()["open"] > 0:
        time.sleep(0.05)
    assert server.post("/v1/chat/completions", {"messages": ask("ping"), "temperature": 0})[0] == 200
    server.close()
    return f"overload: {statuses.count(200)} answered, {statuses.count(429)} refused with 429, the server lives"


def keys(davinci, folder):
    server = Server(davinci, folder, "--api-key-env", "TINY_KEY", TINY_KEY="secret-1")
    body = {"messages": ask("ping"), "temperature": 0}
    for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer secret-11"}):
        assert server.post("/v1/chat/completions", body, header)[0] == 401
    assert server.client(key="secret-1").chat.completions.create(model="tiny", messages=ask("ping"),
                                                                 temperature=0).choices[0].message.content == "pong"
    server.close()
    return "the key is asked for"


def generate(davinci, folder):
    flags = ["--model", folder, "--device", "cpu", "--threads", "1", "--temperature", "0"]
    run = subprocess.run([davinci, "generate", "code?", *flags], capture_output=True, text=True, check=True)
    assert run.stdout == REPLY + "\n", run.stdout
    run = subprocess.run([davinci, "generate", "code?", *flags, "--json"], capture_output=True, text=True, check=True)
    reply = json.loads(run.stdout)
    assert reply["text"] == REPLY and len(reply["logprobs"]) == len(reply["output_tokens"])
    for wrong, message in ((["--model", "/nowhere"], "no such"), (["--model", folder + "/tokenizer.json"], "")):
        run = subprocess.run([davinci, "generate", "x", *wrong], capture_output=True, text=True)
        assert run.returncode == 2 and message in run.stderr, run
    return "davinci generate"


def main():
    davinci = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        tokenizer, _, loss = memorise(PAIRS, folder)
        print(f"trained to a loss of {loss:.4f} in {time.monotonic() - begun:.1f} s", flush=True)
        print(generate(davinci, folder), flush=True)
        server = Server(davinci, folder)
        print(official_client(server, tokenizer), flush=True)
        print(garbage(server), flush=True)
        server.close()
        print(overload(davinci, folder), flush=True)
        print(keys(davinci, folder), flush=True)


main()
