"""The device is given up while Triton compiles."""

from typing import Any

import torch

from davinci_worker.channel import Channel


class Gate:
    """Holds whether this runner has the device. Gives it up while Triton compiles, and asks for it again right before the next of its kernels is
    launched: others may be timed on it meanwhile. Only a courtesy; who leaves it out disturbs, and gains nothing."""

    MOST_PAUSES = 8  # then it is kept: an autotuner compiles many

    def __init__(self, peer: Channel) -> None:
        self._peer = peer
        self._held = True
        self._pauses = 0
        self._hooks: Any = None
        self._jit: Any = None
        try:
            from triton import knobs
            from triton.runtime.jit import JITFunction

            compile_it = JITFunction._do_compile
        except (ImportError, AttributeError):
            return

        def do_compile(*arguments: Any, **options: Any) -> Any:
            self.give_up()
            return compile_it(*arguments, **options)

        self._jit, self._compile_it, JITFunction._do_compile = JITFunction, compile_it, do_compile
        self._hooks = knobs.runtime.launch_enter_hook
        self._hooks.add(self)

    def give_up(self) -> None:
        # A stream that is being captured must not be waited for.
        if not self._held or self._pauses == self.MOST_PAUSES or torch.cuda.is_current_stream_capturing():
            return
        torch.cuda.synchronize()
        self._pauses += 1
        self._ask(0)

    def __call__(self, metadata: Any = None) -> None:
        if not self._held:
            self._ask(1)

    def _ask(self, wanted: int) -> None:
        self._peer.send({"gate": wanted})
        self._peer.recv()
        self._held = bool(wanted)

    def close(self) -> None:
        if self._hooks is not None:
            self._hooks.remove(self)
            self._jit._do_compile = self._compile_it
