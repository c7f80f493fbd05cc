"""Reasons why a check without a device ends before it has an answer. None of them is the candidate's fault."""


class Undecided(Exception):
    reason = "needs device"


class NeedsDevice(Undecided):
    """The check cannot go further without a GPU."""


class NeedsToolchain(Undecided):
    """A compiler or a header is missing; the text holds the remedy."""

    reason = "toolchain"


class NotInterpretable(Undecided):
    """The kernel compiled, but Triton's interpreter cannot run it."""

    reason = "not interpretable"


class TooSlow(Undecided):
    """The kernel compiled, but interpreting this launch would take too long."""

    reason = "too slow to interpret"


class OrderMatters(Undecided):
    """Programs of one launch read, overwrite or wait for what other programs write. They are interpreted one after another; a device runs
    them at the same time."""

    reason = "programs depend on each other"
