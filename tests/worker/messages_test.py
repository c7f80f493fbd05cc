"""Requests and replies as they are declared: what a role reads is what the judge sends. Golden files of requests say so, which the tests of
the judge (judge/roles/requests_test.cc) compare with what they send, and recorded trials. Golden files of replies hold what an oracle sends;
the judge's tests (replies_test.cc) read them. DAVINCI_UPDATE_GOLDEN=1 writes these anew; read the difference before you commit it."""

import json
import os
import pathlib
import sys
import tarfile
import unittest
from collections import defaultdict
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
from davinci_worker.oracle import messages as m  # noqa: E402
from davinci_worker.oracle.messages import Verify  # noqa: E402
from davinci_worker.runner.messages import Arm, ArmWindow, Window  # noqa: E402

GOLDEN = ROOT / "tests/golden/requests"
REPLIES = ROOT / "tests/golden/replies/oracle"
PASSED_ON = {"seconds", "changed", "op"}  # keys of an oracle's reply that goes on to a runner, which reads them not


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


def replies():
    """By request of an oracle: replies that a trial decides by."""
    broken = [m.Verified({"passed": True, "outputs": []}, False, 1), m.Verified(None, True, None)]
    return {
        "describe": [
            m.Described("gASVBQ==", "tuple(T,T)", [{"dtype": "f32", "shape": [2, 3], "stride": [3, 1]}, {"dtype": "i64", "shape": [], "stride": []}],
                        [{"name": "x"}], 4096, 3, [{"name": "steps", "shape": [], "dtype": "i64"}], 0, 65536, [False, True], ["steps"], [1],
                        [0, 1], [0, 1], False, True, "train", False, {"mode": "train"},
                        {"flops": 12, "operators": 2, "input_bytes": 24, "weight_bytes": 8, "output_bytes": 32, "reads_everything": True,
                         "reads_whole_operands": False}),
            m.Described("", "T", [], [], 64, 1, [], 0, 0, [], [], [], [], [], False, False, None, False, {}, None)],
        "prepare": [m.Prepared("heavy_tailed", "gASVBQ==", {"factor": 2.0}, 13, 4096), m.Prepared("task", "gASVBQ==", None, 13)],
        "nonfinite": [m.PreparedNonfinite("gASVBQ==", 13), m.PreparedNonfinite(None)],
        "draw": [m.Drawn(["gASVBQ==", "gASVCQ=="], 13)],
        "verify": broken,
        "verify_several": [m.VerifiedSeveral([messages.wire(one)[0] for one in broken])],
        "mutates": [m.Mutates(True, False), m.Mutates(False, True)],
        "unread": [m.Unread(["bias"])],
        "arena": [m.DeviceMemory("00ff", 4096), m.HostMemory(4096, [7])],
        "filled": [m.IsFilled(True)],
        "release": [m.Released(123456789)],
        "turn": [m.Turn(0.25)],
        "calibrate": [m.Calibrated(0.25)],
        "forget": [m.Forgot(True)],
    }


def handlers():
    return {"oracle": oracle.Oracle(None, {"threads": 1})._handlers, "runner": runner.Runner(None, {})._handlers}


def kind_of(table, role, request):
    """What a role reads a request as."""
    if request["op"] == "arm":
        return ArmWindow if "window" in request else Arm
    return table[role][request["op"]][0]


def declared(kind):
    """(all keys of a request of a kind, those that it must have)"""
    if hasattr(kind, "__required_keys__"):
        return {*kind.__annotations__}, {*kind.__required_keys__}
    own = [f for f in fields(kind) if f.name != "fds"]
    return {f.name for f in own}, {f.name for f in own if f.default is MISSING and f.default_factory is MISSING}


def golden():
    """(role, request) of every golden request."""
    for role in ("oracle", "runner"):
        for file in sorted((GOLDEN / role).iterdir()):
            for line in file.read_text(encoding="utf-8").splitlines():
                request = json.loads(line)
                assert request["op"] == file.stem, file
                yield role, request


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

    def expect_read_as_a_whole(self, requests):
        """A key that a request must have is always sent, and what is sent is declared."""
        table = handlers()
        absent, unknown = set(), set()
        for role, request in requests:
            op = request["op"]
            names, needed = declared(kind_of(table, role, request))
            absent |= {(role, op, name) for name in needed - request.keys()}
            unknown |= {(role, op, name) for name in request.keys() - names - PASSED_ON}
            if "window" in request:
                unknown |= {("window", name) for name in request["window"].keys() ^ Window.__annotations__.keys()}
        self.assertEqual((absent, unknown), (set(), set()))

    def test_every_golden_request_is_read_as_a_whole(self):
        self.expect_read_as_a_whole(golden())

    def test_golden_requests_are_all_that_a_role_answers_with_all_that_it_reads(self):
        table = handlers()
        sent, read = defaultdict(set), defaultdict(set)
        for role, request in golden():
            sent[role].add(request["op"])
            kind = kind_of(table, role, request)
            read[kind] |= request.keys()
            if kind is Verify:
                read["left"] |= request["left"].keys()
        self.assertEqual(sent, {"oracle": {*table["oracle"]}, "runner": {*table["runner"], "arm"}})
        self.assertEqual({kind: declared(kind)[0] - keys for kind, keys in read.items() if kind != "left" and declared(kind)[0] - keys}, {})
        self.assertEqual(read["left"], {"outputs", "baseline"})

    def test_replies_are_sent_as_their_golden_files_say(self):
        sent = {op: "".join(json.dumps(messages.wire(reply)[0]) + "\n" for reply in known) for op, known in replies().items()}
        if os.environ.get("DAVINCI_UPDATE_GOLDEN") == "1":
            for op, lines in sent.items():
                (REPLIES / f"{op}.jsonl").write_text(lines, encoding="utf-8")
        self.assertEqual(sent, {file.stem: file.read_text(encoding="utf-8") for file in REPLIES.iterdir()})

    def test_every_recorded_request_is_read_as_a_whole(self):
        requests = list(recorded())
        self.assertGreater(len({(role, request["op"]) for role, request in requests}), 40)
        self.expect_read_as_a_whole(requests)

    def test_recorded_requests_have_no_more_keys_than_golden_ones(self):
        known = defaultdict(set)
        for role, request in golden():
            known[role, request["op"]] |= request.keys()
        found = defaultdict(set)
        for role, request in recorded():
            found[role, request["op"]] |= request.keys()
        self.assertEqual({what: keys - known[what] for what, keys in found.items() if keys - known[what]}, {})


if __name__ == "__main__":
    unittest.main()
