"""A stand-in for a model behind an OpenAI-compatible endpoint, on a port of this machine.

    with Endpoint(answer) as endpoint: …endpoint.url…

``answer(request, number)`` gets the decoded body and how many calls came before; it returns the reply's text, a pair
(status, document), a triple (status, document, headers), or None for a call that is never answered.
"""
import contextlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Endpoint:
    def __init__(self, answer):
        self.answer = answer
        self.requests = []
        self.closing = threading.Event()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def send(self, status, document, headers=None):
                body = json.dumps(document).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}.items():
                    self.send_header(name, value)
                self.end_headers()
                with contextlib.suppress(BrokenPipeError):  # the client was interrupted
                    self.wfile.write(body)

            def do_GET(self):
                self.send(200, {"data": [{"id": "stand-in"}]})

            def do_POST(self):
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                endpoint.requests.append(request)
                answered = endpoint.answer(request, len(endpoint.requests) - 1)
                if answered is None:
                    endpoint.closing.wait()
                    self.close_connection = True
                elif isinstance(answered, tuple):
                    self.send(*answered)
                else:
                    self.send(200, {"model": "stand-in", "usage": {"prompt_tokens": 100, "completion_tokens": 20}, "choices": [
                        {"message": {"role": "assistant", "content": answered}, "finish_reason": "stop"}]})

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
