"""Requests and replies as dataclasses: what a role reads is what the judge sends, as recorded trials show."""

import json
import os
import pathlib
import sys
import tarfile
import unittest
from dataclasses import MISSING, dataclass, fields

os.environ["DAVINCI_WORKER_LIB"] = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
try:
    import torch  # noqa: F401
except ImportError:
    print("skipped: this Python has no torch")
    sys.exit(77)

from davinci_worker import messages, oracle, runner  # noqa: E402
from davinci_worker.oracle.messages import Verify  # noqa: E402
from davinci_worker.runner.messages import Arm, ArmWindow, Window  # noqa: E402


@dataclass
class Asked:
    seed: int
    variant: int = 0
    fds: tuple = ()


@dataclass
class Told:
    args: str | None
    peak_bytes: object = messages.ABSENT
    fds: tuple = ()


def recorded():
    """(role, request) of every request in tests/transcripts, those within a request of several too."""
    for archive in sorted((ROOT / "tests/transcripts").glob("*.tar.xz")):
        with tarfile.open(archive) as trials:
            for trial in trials:
                for line in (trials.extractfile(trial) or ()) if trial.isfile() else ():
                    what, _, question = line.partition(b"\t")
                    if not what.endswith(b".send"):
                        continue
                    request = json.loads(question.partition(b"\t")[0])
                    request = request.get("frame", request)
                    role = what[:-len(b".send")].decode().rstrip("0123456789")
                    for one in (request, *request.get("requests", ()), *({"op": "verify", **call} for call in request.get("calls", ()))):
                        if "op" in one:
                            yield role, one


class MessagesTest(unittest.TestCase):
    def test_a_request_takes_its_fields_and_leaves_the_rest(self):
        self.assertEqual(messages.read(Asked, {"op": "describe", "seed": 3, "seconds": 1.5}, (7,)), Asked(3, 0, (7,)))
        self.assertEqual(messages.read(dict, {"op": "load", "seed": 3}), {"op": "load", "seed": 3})
        with self.assertRaises(TypeError):
            messages.read(Asked, {"op": "describe"})

    def test_a_reply_is_sent_in_the_order_of_its_fields_without_those_that_are_absent(self):
        self.assertEqual(json.dumps(messages.wire(Told(None, fds=(7,)))[0]), '{"args": null}')
        self.assertEqual(json.dumps(messages.wire(Told("x", 5))[0]), '{"args": "x", "peak_bytes": 5}')
        self.assertEqual(messages.wire(Told("x", fds=(7,)))[1], (7,))

    def test_every_recorded_request_is_read_as_a_whole(self):
        """A field without a default is always sent, and what is sent is a field."""
        handlers = {"oracle": oracle.Oracle(None, {"threads": 1})._handlers, "runner": runner.Runner(None, {})._handlers}
        known = {"seconds", "changed", "op"}  # those of an oracle's reply that goes on to a runner
        seen, absent, unknown = set(), set(), set()
        for role, request in recorded():
            op = request["op"]
            seen.add((role, op))
            if op == "arm":
                kind = ArmWindow if "window" in request else Arm
                unknown |= {("window", key) for key in request.get("window", {}).keys() - Window.__annotations__.keys()}
            else:
                kind = handlers[role][op][0]
            if kind is dict:
                continue
            names = {f.name for f in fields(kind)}
            needed = {f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING} - {"fds"}
            absent |= {(role, op, name) for name in needed - request.keys()}
            unknown |= {(role, op, name) for name in request.keys() - names - known}
        self.assertEqual((absent, unknown), (set(), set()))
        self.assertGreater(len(seen), 40)
        self.assertIn("intact", {f.name for f in fields(Verify)})


if __name__ == "__main__":
    unittest.main()
