"""What the supervisor asks an oracle (judge/roles/oracle_requests.h), and its replies."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from davinci_worker.messages import ABSENT, Done as Done, Forgot as Forgot, Message, Nothing as Nothing

Report = dict[str, Any]  # of a comparison: "passed", and "outputs" with a report of each
Descriptor = dict[str, Any]  # of a tensor in an arena (arena.plan) or in a runner's device memory (device.share_outputs)


class Place(TypedDict):
    """Where the inputs of a call lie: in which arena, how many bytes from its beginning."""

    name: str
    shift: int


class Overwrite(TypedDict):
    """Which outputs of a call are overwritten before the next inputs are drawn, at places that follow from ``seed``."""

    which: list[int]
    seed: int


# --- requests -------------------------------------------------------------------------------------------------


class LoadAlways(TypedDict):
    """What a request to load always holds."""

    path: str
    source: str
    entry: str
    function: str
    globals: Message
    variants: list[Message]
    init_seed: int
    state_seed: int
    randomise: bool
    alone: bool
    call_seconds: float
    imports: Message
    precision: str
    inplace: bool


class Load(LoadAlways, total=False):
    """The reference, read as it is sent: Reference keeps it, and notes in it what it learns."""

    op_path: str
    mode: str
    domain_on_host: bool
    tolerance_multiple: float
    published_tolerance: float
    compile_only: Message
    window_calls: int  # of a window at most, where fewer than usual
    inputs: dict[str, dict[str, str]]  # by number: what the sidecar says (specification.py)
    specification: Message  # what was kept of them


@dataclass
class Seeded:
    seed: int
    variant: int = 0


@dataclass
class Reweigh:
    seed: int
    buffers: bool


@dataclass
class State:
    variant: int = 0


@dataclass
class Admit:
    seed: int
    budget_seconds: float | None = None


@dataclass
class Profile:
    seed: int
    warmup_seconds: float


@dataclass
class Several:
    requests: list[Message]


@dataclass
class MakeArena:
    name: str
    slot_bytes: int
    slots: int


@dataclass
class MapOutputs:
    bytes: int
    fds: Sequence[int]


@dataclass
class Prepare:
    seed: int
    distribution: str = "task"
    variant: int = 0
    truth: bool = False
    keep: bool = False  # other candidates of this session are asked the same


@dataclass
class Publish:
    name: str
    shift: int
    slot_bytes: int


@dataclass
class Settle:
    outputs: list[Descriptor]
    overwrite: Overwrite | None = None


@dataclass
class Verify:
    outputs: list[Descriptor]
    baseline: list[Descriptor] | None = None
    left: dict[str, Place] = field(default_factory=dict)  # by field: where that call's inputs lie
    truth: bool = False
    settled: bool = False
    intact: Place | None = None


@dataclass
class Compare:
    outputs: list[Descriptor]
    left: dict[str, Place] = field(default_factory=dict)
    at_a_glance: bool = False


@dataclass
class PublishedCompare:
    outputs: list[Descriptor]
    tolerance: float


@dataclass
class NonfiniteCompare:
    outputs: list[Descriptor]


@dataclass
class MakeBuffers:
    count: int


@dataclass
class Draw:
    seeds: list[int]


@dataclass
class PublishSeveral:
    name: str
    shifts: list[int]
    cool: bool


@dataclass
class Release:
    seconds: float


@dataclass
class Filled:
    seed: int
    count: int
    secret: int


@dataclass
class VerifySeveral:
    calls: list[Message]


# --- replies --------------------------------------------------------------------------------------------------


@dataclass
class Unchanged:
    changed: bool = False


@dataclass
class ExportedState:
    tensors: list[Descriptor]
    bytes: int
    fds: Sequence[int]
    changed: Any = ABSENT


@dataclass
class Described:
    """Facts about one variant of a task (judge/roles/variant_facts.h). Of each output: whether it is ``lent``, numbers of where it ``begins``
    and of the memory that it overlaps (``regions``). ``kept``, ``left_in``: buffers and inputs that a call writes to. ``work``: bytes and
    operations of a call, of variant 0."""
    init: str
    structure: str
    outputs: list[Descriptor]
    inputs: list[Descriptor]
    slot_bytes: int
    slots: int
    state: list[Descriptor]
    device_bytes: int
    footprint_bytes: int
    lent: list[bool]
    kept: list[str]
    left_in: list[int]
    begins: list[int]
    regions: list[int]
    stochastic: bool
    reseed_calls: bool
    mode: str | None
    compiles: bool
    verified: Report
    work: Report | None


@dataclass
class Unread:
    names: list[str]


@dataclass
class Mutates:
    mutates: bool
    hides: bool


@dataclass
class HostMemory:
    bytes: int
    fds: Sequence[int]


@dataclass
class DeviceMemory:
    handle: Any
    bytes: int
    count: Any = ABSENT


@dataclass
class Prepared:
    distribution: str
    args: str
    tolerance: Report | None
    call_seed: int
    peak_bytes: Any = ABSENT


@dataclass
class PreparedNonfinite:
    args: str | None
    call_seed: Any = ABSENT


@dataclass
class Drawn:
    args: list[str]
    call_seed: int


@dataclass
class Verified:
    comparison: Report | None
    late: bool
    changed: int | None


@dataclass
class VerifiedSeveral:
    calls: list[Message]


@dataclass
class Answers:
    answers: list[Message]
    error: Any = ABSENT


@dataclass
class IsFilled:
    filled: bool


@dataclass
class Released:
    at_ns: int


@dataclass
class Turn:
    turn_seconds: float


@dataclass
class Calibrated:
    between_events_seconds: float


@dataclass
class DeviceProfile:
    device: Any
