"""The role that owns the reference: secret seeds, inputs, truth and comparison. Never loads candidate code.

``role.Oracle`` takes the supervisor's requests (``messages``) and hands each to a part: ``Draws`` (inputs), ``Truth`` (reference results),
``Comparison`` (answers against truth), ``Windows`` (timed windows), ``Facts`` (the reference), ``Evidence`` (what is asked beside the verdict),
``Arenas`` and ``Answers`` (the memory of inputs and outputs).
"""

from davinci_worker.oracle.role import Oracle

__all__ = ["Oracle"]
