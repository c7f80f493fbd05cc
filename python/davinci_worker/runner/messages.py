"""What the supervisor asks a runner (judge/roles/runner_requests.h), and its replies."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from davinci_worker.messages import Done as Done, Forgot as Forgot, Message, Nothing as Nothing

Descriptor = dict[str, Any]  # of a tensor in an arena (arena.plan)


class Window(TypedDict):
    """Several calls on one GO (window.py)."""

    calls: int
    shifts: list[int]
    args: list[str]
    flush: bool  # fills a buffer before each call
    idle: bool  # waits for the device before and after each call
    empty: bool  # all but the calls
    seeded: bool  # sets the seed that comes with GO


# --- requests -------------------------------------------------------------------------------------------------


@dataclass
class Load:
    path: str
    module: str = "candidate"
    entry: str | None = None
    function: str | None = None
    op_path: str | None = None
    globals: Message | None = None
    imports: Message | None = None
    source: str | None = None  # of a reference; a candidate is read from its file
    accelerate: bool = True
    compile_only: Message | None = None
    shared: bool = False  # this process may serve another candidate later


@dataclass
class Construct:
    variant: int
    init: str
    seed: int
    padding: int = 0  # bytes that lie below all that is allocated from here on
    cast: str | None = None
    mode: str | None = None
    compile: str | None = None


@dataclass
class TakeState:
    variant: int
    tensors: list[Descriptor]
    bytes: int
    fds: Sequence[int]
    again: bool = False  # fewer are wanted, and nothing was copied


@dataclass
class Bind:
    variant: int
    inputs: list[Descriptor]
    contiguous: list[int | None]  # of each output: its elements, where the reference returns it so
    bytes: int
    kept: list[str] = field(default_factory=list)
    handle: Any = None
    fds: Sequence[int] = ()


@dataclass
class MapBuffers:
    handle: Any
    bytes: int
    count: int


@dataclass
class Arm:
    args: str
    shift: int
    gate: bool = False
    seeded: bool = False


@dataclass
class ArmWindow:
    window: Window


@dataclass
class Profile:
    args: str
    shift: int
    warmup_seconds: float


@dataclass
class Hot:
    args: str
    shift: int
    seconds: float


@dataclass
class Sleepers:
    count: int


class ExportAlways(TypedDict):
    """What a request to call an export always holds."""

    path: str
    task: str
    source: str
    globals: Message
    imports: Message
    package: str
    variants: list[Message]
    seed: int


class Export(ExportAlways, total=False):
    """An exported file and the task behind it, read as it is sent."""

    cast: str


# --- replies --------------------------------------------------------------------------------------------------


@dataclass
class Loaded:
    seconds: float


@dataclass
class Constructed:
    state: list[Message]


@dataclass
class TookState:
    matched: str
    pairs: list[Any]
    copied: int
    wanted: int
    own: int


@dataclass
class Exported:
    why: Any


@dataclass
class HotTime:
    ms: float
    calls: int
