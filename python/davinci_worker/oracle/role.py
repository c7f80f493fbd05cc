"""The dispatcher: takes requests from the supervisor, hands each to the part that it belongs to, and replies."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from davinci_worker import channel, eager
from davinci_worker.compare import Comparator
from davinci_worker.messages import Message, read, wire
from davinci_worker.oracle import failures
from davinci_worker.oracle import messages as m
from davinci_worker.oracle.answers import Answers
from davinci_worker.oracle.arenas import Arenas
from davinci_worker.oracle.comparison import Comparison
from davinci_worker.oracle.draws import Draws
from davinci_worker.oracle.evidence import Evidence
from davinci_worker.oracle.facts import Facts
from davinci_worker.oracle.truth import Truth
from davinci_worker.oracle.windows import Windows
from davinci_worker.reference import Reference

_PASSED_ON = ("state", "reweigh")  # requests whose reply's descriptors are not kept here


class Oracle:
    """Holds the parts, each of which is told at the start which others it asks."""

    def __init__(self, peer: Any, request: Message) -> None:
        self._peer = peer
        self._device = "cuda" if request.get("target") == "cuda" else "cpu"
        self.reference = Reference(self._device)
        self.comparator = Comparator(self._device, int(request.get("threads", 1)))
        self.draws = Draws(self.reference, self._device)
        self.arenas = Arenas(self._device, self.draws, self.comparator)
        self.answers = Answers(self._device, self.reference, self.arenas, self.comparator)
        self.truth = Truth(self._device, self.reference, self.draws, self.arenas, self.answers, self.comparator)
        self.comparison = Comparison(self.reference, self.draws, self.truth, self.arenas, self.answers, self.comparator)
        self.windows = Windows(self.reference, self.draws, self.arenas, self.answers, self.comparison, self.comparator)
        self.facts = Facts(self.reference, self.draws, self.truth, self.comparator)
        self.evidence = Evidence(self.reference, self.draws, self.truth, self.answers)
        self._handlers = self._table()
        torch.set_grad_enabled(False)
        eager.install()
        if self._device == "cpu":
            _let_threads_sleep()

    def _table(self) -> dict[str, tuple[type, Callable[[Any], Any]]]:
        """By request: what it is read as, and who answers it."""
        return {
            "load": (m.Load, self.facts.load),
            "describe": (m.Seeded, self.facts.describe),
            "graph": (m.Seeded, self.facts.graph),
            "symbolic_graph": (m.Seeded, self.facts.symbolic_graph),
            "reweigh": (m.Reweigh, self.facts.reweigh),
            "state": (m.State, self.facts.state),
            "unread": (m.Seeded, self.facts.unread),
            "unrandomise": (m.Nothing, self.facts.unrandomise),
            "mutates": (m.Seeded, self.facts.mutates),
            "arena": (m.MakeArena, self.arenas.create),
            "publish": (m.Publish, self.arenas.publish),
            "outputs": (m.MapOutputs, self.answers.map),
            "settle": (m.Settle, self.answers.settle),
            "prepare": (m.Prepare, self.truth.prepare),
            "verify": (m.Verify, self.comparison.verify),
            "compare": (m.Compare, self.comparison.compare),
            "published_compare": (m.PublishedCompare, self.comparison.second_opinion),
            "admit": (m.Admit, self.evidence.admit),
            "nonfinite": (m.Seeded, self.evidence.nonfinite),
            "nonfinite_compare": (m.NonfiniteCompare, self.evidence.compare_nonfinite),
            "profile": (m.Profile, self.evidence.profile),
            "peaks": (m.Nothing, self.evidence.peaks),
            "calibrate": (m.Nothing, self.evidence.calibrate),
            "turn": (m.Nothing, self.evidence.turn),
            "buffers": (m.MakeBuffers, self.windows.make_buffers),
            "draw_ahead": (m.Draw, self.windows.draw_ahead),
            "draw": (m.Draw, self.windows.draw),
            "publish_several": (m.PublishSeveral, self.windows.publish),
            "hold": (m.Nothing, self.windows.hold),
            "release": (m.Release, self.windows.release),
            "filled": (m.Filled, self.windows.filled),
            "verify_several": (m.VerifySeveral, self.windows.verify),
            "several": (m.Several, self._several),
            "rest": (m.Nothing, self._rest),
            "forget": (m.Nothing, self._forget),
        }

    def serve(self) -> None:
        while True:
            message, fds = self._peer.recv()
            try:
                reply, out_fds = self.answer(message, fds)
                self._peer.send({"ok": reply}, out_fds)
                if message["op"] in _PASSED_ON:
                    channel.close_all(out_fds)
            except (Exception, SystemExit) as error:  # noqa: BLE001  the reference is user code too
                self._peer.send({"error": self.explain(error, message["op"])})
            if message["op"] != "outputs":
                channel.close_all(fds)

    def answer(self, message: Message, fds: Sequence[int] = ()) -> tuple[Message, Sequence[int]]:
        """(the reply, its descriptors)"""
        started = time.monotonic()
        kind, handler = self._handlers[message["op"]]
        reply, out_fds = wire(handler(read(kind, message, fds)))
        reply["seconds"] = time.monotonic() - started
        return reply, out_fds

    def explain(self, error: BaseException, op: str) -> Message:
        return failures.explain(error, op, self.reference, self._device)

    def _several(self, asked: m.Several) -> m.Answers:
        """Requests without descriptors, one after the other; the first that fails is the last."""
        answers: list[Message] = []
        for request in asked.requests:
            try:
                answers.append(self.answer(request)[0])
            except Exception as error:  # noqa: BLE001
                return m.Answers(answers, self.explain(error, request["op"]))
        return m.Answers(answers)

    def _rest(self, asked: m.Nothing) -> m.Done:
        """Between two candidates: lets go of all that belonged to the last one."""
        self.draws.current = None
        for part in (self.answers, self.evidence, self.windows, self.arenas):
            part.rest()
        return m.Done()

    def _forget(self, asked: m.Nothing) -> m.Forgot:
        """Between two tasks: lets go of all that belonged to the last one. ``clean``: nothing of it is left."""
        self._rest(asked)
        for part in (self.answers, self.windows, self.truth, self.arenas, self.comparator):
            part.forget()
        return m.Forgot(self.reference.forget())


def _let_threads_sleep() -> None:
    """After a parallel loop the threads of libgomp look for the next one for milliseconds, on cores that the comparators and the
    runners need, unless there are more of them than cores: then they sleep. A second team, which never does anything again, sees
    to that."""
    if torch.get_num_threads() == 1:
        return
    ready = threading.Event()

    def team() -> None:
        torch.zeros(1 << 20).add_(1)
        ready.set()
        threading.Event().wait()

    threading.Thread(target=team, daemon=True).start()
    ready.wait()
