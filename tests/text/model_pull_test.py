#!/usr/bin/env python3
"""davinci model pull against a small server that speaks the hub's protocol: fetches, goes on after an interruption and a lost connection, finds
a file that is not what the hub lists, names a model that does not exist, and says at once when it is offline.

    model_pull_test.py <davinci>

Exit status 77 where huggingface_hub is missing.
"""
import hashlib
import http.server
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

try:
    import huggingface_hub
except ImportError as error:
    print(f"skipped: {error}; tools/setup.sh installs it")
    sys.exit(77)

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CONFIG = {"model_type": "qwen3", "vocab_size": 4, "hidden_size": 4, "intermediate_size": 4, "num_hidden_layers": 1,
          "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 4, "max_position_embeddings": 8}
WEIGHTS = os.urandom(1 << 20) * 12  # more than one of the 10 MB pieces in which the package reads


class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    files = {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": WEIGHTS, "pytorch_model.bin": b"not fetched"}
    cut = None  # bytes after which the connection is lost, once
    stall = None  # bytes after which nothing comes any more, once
    gone = False  # weights are listed, but cannot be had
    bad = False  # weights that are not those listed
    ranges = []
    fetched = []

    def log_message(self, *unused):
        pass

    def reply(self, status, body, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return body if self.command == "GET" else b""

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = self.path.split("?")[0]
        if path.startswith("/api/models/org/tiny"):
            siblings = [{"rfilename": n, "size": len(d)} for n, d in self.files.items()]
            for entry in siblings:
                if entry["rfilename"].endswith(".safetensors"):
                    digest = hashlib.sha256(WEIGHTS).hexdigest()
                    entry["lfs"] = {"sha256": digest, "size": len(WEIGHTS), "pointerSize": 134}
            if "/tree/" in path:
                body = json.dumps([{"type": "file", "path": n, "size": len(d), "oid": "0" * 40} for n, d in self.files.items()])
            else:
                body = json.dumps({"_id": "1", "id": "org/tiny", "modelId": "org/tiny", "sha": COMMIT, "siblings": siblings, "private": False, "tags": [], "downloads": 0})
            self.wfile.write(self.reply(200, body.encode(), Content_Type="application/json"))
            return
        name = path.rsplit("/", 1)[-1]
        if self.gone and name == "model.safetensors":
            self.wfile.write(self.reply(404, b"{}", X_Error_Code="EntryNotFound", Content_Type="application/json"))
            return
        if not path.startswith("/org/tiny/resolve/") or name not in self.files:
            self.wfile.write(self.reply(404, b"{}", X_Error_Code="RepoNotFound", Content_Type="application/json"))
            return
        data = self.files[name]
        if self.bad and name == "model.safetensors":
            data = b"x" + data[1:]
        begin = 0
        if self.command == "GET":
            Hub.fetched.append(name)
        if self.headers.get("Range", "").startswith("bytes=") and self.command == "GET":
            begin = int(self.headers["Range"][6:].split("-")[0])
            Hub.ranges.append((name, begin))
        etag = '"%s"' % hashlib.sha256(self.files[name]).hexdigest()
        extra = {"Content_Range": f"bytes {begin}-{len(data) - 1}/{len(data)}"} if begin else {}
        body = self.reply(206 if begin else 200, data[begin:], ETag=etag, X_Repo_Commit=COMMIT, Accept_Ranges="bytes", **extra)
        if Hub.stall is not None and name == "model.safetensors" and body:
            self.wfile.write(body[:Hub.stall])
            self.wfile.flush()
            Hub.stall = None
            time.sleep(20)
            return
        if Hub.cut is not None and name == "model.safetensors" and body:
            self.wfile.write(body[:Hub.cut])
            self.wfile.flush()
            Hub.cut = None
            self.close_connection = True
            self.connection.close()
            return
        self.wfile.write(body)


class Pull(unittest.TestCase):
    def setUp(self):
        Hub.cut, Hub.stall, Hub.bad, Hub.gone, Hub.ranges, Hub.fetched = None, None, False, False, [], []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
        self.server.handle_error = lambda *unused: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.home = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.server.shutdown()
        self.server.server_close()
        self.home.cleanup()

    def environment(self, port=None, **environment):
        keep = {k: v for k, v in os.environ.items() if not k.startswith("HF_") and "proxy" not in k.lower()}
        keep |= {"HF_ENDPOINT": f"http://127.0.0.1:{port or self.server.server_address[1]}", "HF_HOME": self.home.name,
                 "DAVINCI_PYTHON": sys.executable, **environment}
        return keep

    def pull(self, name="org/tiny", *more, port=None, **environment):
        start = time.monotonic()
        done = subprocess.run([DAVINCI, "model", "pull", name, *more], capture_output=True, text=True,
                              env=self.environment(port, **environment))
        return done, time.monotonic() - start

    def test_fetches_what_is_needed_and_nothing_else(self):
        done, _ = self.pull()
        self.assertEqual(done.returncode, 0, done.stderr)
        folder = Path(done.stdout.strip())
        self.assertEqual((folder / "model.safetensors").read_bytes(), WEIGHTS)
        self.assertEqual(sorted(set(Hub.fetched)), ["config.json", "model.safetensors"])
        Hub.fetched = []
        again, _ = self.pull()
        self.assertEqual((again.returncode, again.stdout), (0, done.stdout))
        self.assertEqual(Hub.fetched, [])
        offline, seconds = self.pull(HF_HUB_OFFLINE="1")
        self.assertEqual((offline.returncode, offline.stdout), (0, done.stdout), offline.stderr)

    def test_into_a_folder(self):
        done, _ = self.pull("org/tiny", "--into", f"{self.home.name}/here")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(Path(f"{self.home.name}/here/model.safetensors").read_bytes(), WEIGHTS)

    def test_a_lost_connection_is_continued_where_it_ended(self):
        Hub.cut = 11 << 20
        done, _ = self.pull()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(any(name == "model.safetensors" and begin > 0 for name, begin in Hub.ranges), Hub.ranges)
        self.assertEqual((Path(done.stdout.strip()) / "model.safetensors").read_bytes(), WEIGHTS)

    def test_a_new_process_continues_a_file_that_was_half_fetched(self):
        for more in ([], ["--into", f"{self.home.name}/here"]):
            Hub.stall, Hub.ranges = 11 << 20, []
            process = subprocess.Popen([DAVINCI, "model", "pull", "org/tiny", *more], stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env=self.environment(), start_new_session=True)
            digest = hashlib.sha256(WEIGHTS).hexdigest()
            while process.poll() is None and not any(
                    part.stat().st_size for part in Path(self.home.name).rglob(f"davinci-parts/{digest}")):
                time.sleep(0.05)
            self.assertIsNone(process.poll(), "it ended before a part was there")
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            done, _ = self.pull("org/tiny", *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue(any(name == "model.safetensors" and begin > 0 for name, begin in Hub.ranges), Hub.ranges)
            self.assertEqual((Path(done.stdout.strip()) / "model.safetensors").read_bytes(), WEIGHTS)

    def test_a_second_pull_fetches_only_what_is_missing(self):
        Hub.gone = True
        done, _ = self.pull()
        self.assertEqual(done.returncode, 3, done.stdout)
        Hub.gone, Hub.fetched = False, []
        done, _ = self.pull()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(Hub.fetched), ["config.json", "model.safetensors"])
        Hub.fetched = []
        weights = Path(done.stdout.strip()) / "model.safetensors"
        weights.resolve().unlink()
        weights.unlink(missing_ok=True)
        done, _ = self.pull()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(Hub.fetched, ["model.safetensors"])

    def test_a_file_that_is_not_the_listed_one_is_refused_and_removed(self):
        Hub.bad = True
        done, _ = self.pull()
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn("model.safetensors: wrong SHA-256", done.stderr)
        Hub.bad = False
        done, _ = self.pull()
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_unknown_models_and_names(self):
        for name in ("org/other", "not a name", "a/b/c"):
            done, _ = self.pull(name)
            self.assertEqual(done.returncode, 2, (name, done.stderr))
            self.assertIn("davinci model pull: ", done.stderr)

    def test_offline_is_said_at_once(self):
        done, _ = self.pull(HF_HUB_OFFLINE="1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("HF_HUB_OFFLINE is set and org/tiny is not on this machine", done.stderr)
        done, _ = self.pull(port=9)  # nothing listens there
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot be reached", done.stderr)
        self.assertEqual(Hub.fetched, [])


if __name__ == "__main__":
    DAVINCI = sys.argv.pop(1)
    print(f"huggingface_hub {huggingface_hub.__version__}")
    unittest.main(verbosity=2)
