"""The dispatcher: takes requests from the supervisor, hands each to the part that it belongs to, and replies."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from davinci_worker import channel
from davinci_worker.messages import Message, read, wire
from davinci_worker.runner import messages as m
from davinci_worker.runner.answers import Answers
from davinci_worker.runner.calls import Calls
from davinci_worker.runner.candidate import Candidate
from davinci_worker.runner.evidence import Evidence
from davinci_worker.runner.failures import failure

_LOADING = ("load", "construct", "state", "bind")  # requests whose failure is a load error


class Runner:
    """Holds the parts, each of which is told at the start which others it asks."""

    def __init__(self, peer: channel.Channel, request: Message) -> None:
        self._peer = peer
        self._cuda = request.get("target") == "cuda"
        self.candidate = Candidate(peer, self._cuda)
        self.answers = Answers(self._cuda)
        self.calls = Calls(peer, self._cuda, self.candidate, self.answers)
        self.evidence = Evidence(peer, self._cuda, self.candidate, self.calls)
        self._handlers = self._table()
        torch.set_grad_enabled(False)

    def _table(self) -> dict[str, tuple[type, Callable[[Any], Any]]]:
        """By request: what it is read as, and who answers it."""
        return {
            "load": (m.Load, self.candidate.load),
            "construct": (m.Construct, self.candidate.construct),
            "state": (m.TakeState, self.candidate.take_state),
            "bind": (m.Bind, self.calls.bind),
            "buffers": (m.MapBuffers, self.calls.map_buffers),
            "warm": (m.Nothing, self.evidence.warm),
            "lock": (m.Nothing, self.evidence.lock),
            "warm_profiler": (m.Nothing, self.evidence.warm_profiler),
            "profile": (m.Profile, self.evidence.profile),
            "hot": (m.Hot, self.evidence.hot),
            "compile_only": (m.Nothing, self.evidence.compile_only),
            "export": (m.Export, self.evidence.export),
            "sleepers": (m.Sleepers, self.evidence.sleepers),
            "forget": (m.Nothing, self._forget),
        }

    def serve(self) -> None:
        receive, respond, calls = self._peer.recv, self._peer.send, self.calls
        while True:
            message, fds = receive()
            if message["op"] == "arm":
                if "window" in message:
                    calls.window(read(m.ArmWindow, message))
                else:
                    calls.call(read(m.Arm, message))
                continue
            try:
                reply = self.reply(message, fds)
            except BaseException as error:  # noqa: BLE001  every failure of user code is a reply, sys.exit() too
                reply = failure(error, "load_error" if message["op"] in _LOADING else "runtime_error")
            channel.close_all(fds if message["op"] != "bind" else [])
            respond(reply)

    def reply(self, message: Message, fds: Sequence[int] = ()) -> Message:
        kind, handler = self._handlers[message["op"]]
        return {"ok": wire(handler(read(kind, message, fds)))[0]}

    def _forget(self, asked: m.Nothing) -> m.Forgot:
        """Between two references, or candidates: lets go of all that belonged to the last one."""
        self.candidate.drop()
        self.answers.forget()
        self.calls.forget()
        if self._cuda:
            from davinci_worker import device

            torch.cuda.synchronize()
            device.close_handles()
        return self.candidate.forgotten()
