"""What a check without a device keeps between calls."""


class State:
    arch = 90
    seconds = 10.0      # of the interpreter in one call
    redirected = False
    blocked = None      # {"reason", "detail"} of the last call or load
    any_size = False    # the last call or load failed in a way that no size of the inputs leads to
    kernels = {}        # (name, constants) -> report
    builds = []
    last_request = None
    deadline = 0.0
    outside_since = 0.0  # begin of the call, or the end of its last launch; time of this thread, as deadline
    calls = 0           # of the model
    capture = None      # the graph that is being captured (compile_only_graphs.py)
    installed = False   # what stands in for the device

    def begin(self, arch, seconds):
        """Before a candidate: nothing is known of it."""
        self.arch, self.seconds = arch, seconds
        self.redirected, self.blocked, self.any_size, self.last_request = False, None, False, None
        self.kernels, self.builds, self.calls = {}, [], 0


state = State()


def is_on_host(tensor):
    """Would a device not hold it? The redirection of torch's functions marks such tensors (compile_only.py)."""
    return getattr(tensor, "_davinci_on_host", False)


MOST_LISTED = 64
# Of a block, by architecture.
LEAST_SHARED_LIMIT_BYTES = 101376
SHARED_LIMIT_BYTES = {80: 166912, 86: 101376, 89: 101376, 90: 232448, 100: 232448, 103: 232448, 120: 101376}
