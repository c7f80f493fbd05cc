"""The role that runs a candidate, or the baseline, on request. Everything in this process counts as hostile.

It holds inputs only while it is being timed, never an expected value, and reports nothing but where its outputs lie. ``role.Runner`` takes the
supervisor's requests (``messages``) and hands each to a part: ``Candidate`` (the user's code and its modules), ``Calls`` (checked and timed
calls), ``Answers`` (outputs and how they are told), ``Evidence`` (what is asked beside the verdict).
"""

from davinci_worker.runner.role import Runner

__all__ = ["Runner"]
