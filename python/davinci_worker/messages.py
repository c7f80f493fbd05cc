"""Messages of the control socket (worker/protocol.h) as dataclasses.

A request's fields are the keys of its JSON object, ``fds`` the descriptors that came with it. A reply's fields are sent in their order;
``fds`` goes along as descriptors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar, cast

Message = dict[str, Any]
ABSENT: Final[Any] = object()  # value of a reply's field that is not sent

Request = TypeVar("Request")


@dataclass
class Nothing:
    """A request without fields."""


@dataclass
class Done:
    """A reply without fields."""


@dataclass
class Forgot:
    """``clean``: nothing is left of what was to be forgotten. ``full``: too much memory stays allocated for another candidate."""
    clean: bool
    full: Any = ABSENT


def read(kind: type[Request], message: Message, fds: Sequence[int] = ()) -> Request:
    """The request in ``message``, as it is where ``kind`` is a TypedDict. Keys that are no fields of a dataclass are left out."""
    fields: Any = getattr(kind, "__dataclass_fields__", None)
    if fields is None:
        return cast(Request, message)
    given = {name: message[name] for name in fields if name in message}
    if "fds" in fields:
        given["fds"] = fds
    return kind(**given)


def wire(reply: Any) -> tuple[Message, Sequence[int]]:
    """(what is sent, the descriptors that go along) of a reply: a dataclass, or the object as it is sent."""
    if isinstance(reply, dict):
        return reply, ()
    sent = {name: value for name, value in vars(reply).items() if value is not ABSENT}
    return sent, sent.pop("fds", ())
