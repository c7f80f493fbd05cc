"""The part of davinci that runs inside the user's Python.

Loads a reference or a candidate module, runs it on request, nothing else. Three roles, one process each:
``server`` (forks the others), ``oracle`` (reference, inputs, truth) and ``runner`` (candidate or baseline).
The protocol is documented in src/davinci/worker/protocol.h.
"""

PROTOCOL_VERSION = 1
