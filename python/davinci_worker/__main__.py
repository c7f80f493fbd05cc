"""Fork server: imports torch (and Triton) once, then forks a fresh child per request.

CUDA stays untouched here (PYTORCH_NVML_BASED_CUDA_CHECK=1), so that a child can use it. Each request is

    server -> intermediate (unshares namespaces) -> child (pid 1 of its own pid namespace)

The intermediate outlives the child only to write its raw wait status into the status pipe of the request.

Requests with "symbols" go to a second server as soon as it is ready: it has imported what graphs with symbols need, which takes a second
and which no candidate is to find in its process. It is forked by the second of them, since one alone is served sooner without.
"""

import ctypes
import gc
import importlib.util
import json
import os
import select
import signal
import socket
import struct
import sys
import traceback

from davinci_worker import PROTOCOL_VERSION, channel


def _keep_bytecode(folder):
    """Where torch was installed without bytecode and its folder takes none, as in many containers, every interpreter compiles it anew:
    two seconds for torch alone. Then what is compiled here is kept in ``folder``. Children read it and write nothing."""
    torch = importlib.util.find_spec("torch")
    if folder and torch and torch.cached and not os.path.exists(torch.cached):
        sys.pycache_prefix, sys.dont_write_bytecode = folder, False


def _prefork_imports(with_triton):
    import torch
    import torch.utils._pytree  # noqa: F401  used by outputs and inputs of every call

    versions = {"torch": torch.__version__, "triton": None, "torch_dir": os.path.dirname(torch.__file__),
                "prefix": sys.prefix, "base_prefix": sys.base_prefix, "executable": sys.executable,
                "cuda": torch.version.cuda}
    if with_triton:
        try:
            import triton
            import triton.language  # noqa: F401

            versions["triton"] = triton.__version__
        except ImportError:
            pass
    return versions


def _die_with_parent():
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def _become_child(request, fds, servers):
    """Runs in the intermediate; never returns. ``servers``: channels of the server, which the child must not have."""
    control_fd, status_fd, output_fd = fds[:3]
    policy = request.get("policy")
    try:
        _die_with_parent()
        for server in servers:
            server.close()
        os.setsid()
        if policy:
            from davinci_worker import installed

            policy["read_only_paths"] += installed.readable(request.get("imports") or ())
            from davinci_worker import native

            native.sandbox_unshare(policy)
        child = os.fork()
    except BaseException:  # noqa: BLE001  the supervisor must learn why, whatever it was
        os.write(status_fd, struct.pack("<iI", -1, 0))
        channel.Channel(control_fd).send({"error": {"kind": "judge_error", "message": traceback.format_exc(limit=3)}})
        os._exit(70)
    if child == 0:
        os.close(status_fd)
        _run_role(request, control_fd, output_fd)
        os._exit(0)
    os.close(control_fd)
    os.close(output_fd)
    os.write(status_fd, struct.pack("<iI", 1, child))
    while True:
        try:
            _, status = os.waitpid(child, 0)
            break
        except InterruptedError:
            continue
    os.write(status_fd, struct.pack("<iI", 2, status & 0xFFFFFFFF))
    os._exit(0)


def _run_role(request, control_fd, output_fd):
    _die_with_parent()
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    os.close(null)
    os.close(output_fd)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.environ.update(request.get("env", {}))
    sys.dont_write_bytecode = True
    peer = channel.Channel(control_fd)
    try:
        report = {}
        scratch = request.get("scratch")
        if scratch:
            os.chdir(scratch)
        if request.get("policy"):
            from davinci_worker import native

            report = native.sandbox_enter(request["policy"])
        import torch

        from davinci_worker import memory

        if request["role"] != "oracle" or request.get("target") != "cuda":
            memory.keep_freed()

        torch.set_num_threads(int(request.get("threads", 1)))
        peer.send({"ready": {"sandbox": report}})
        if request["role"] == "oracle":
            from davinci_worker.oracle import Oracle as Role
        else:
            from davinci_worker.runner import Runner as Role
        Role(peer, request).serve()
    except EOFError:
        os._exit(0)
    except BaseException:  # noqa: BLE001
        try:
            peer.send({"error": {"kind": "judge_error", "message": traceback.format_exc(limit=8)}})
        finally:
            os._exit(71)


def _prewarm(options):
    """A head start, never a condition: what fails here is met again where it can be explained."""
    from davinci_worker import prewarm

    try:
        prewarm.triton_compiler(options["cache"], options["arch"])
    except Exception:  # noqa: BLE001
        pass
    gc.collect()
    gc.freeze()


def main():
    server = channel.Channel(int(os.environ.pop("DAVINCI_CONTROL_FD")))
    with_triton = os.environ.pop("DAVINCI_WORKER_TRITON", "0") == "1"
    _keep_bytecode(os.environ.pop("DAVINCI_BYTECODE_CACHE", ""))
    gc.disable()  # a tenth of the time of importing torch
    versions = _prefork_imports(with_triton)
    from davinci_worker import installed, native, oracle, prewarm, runner  # noqa: F401  shared pages for every child

    native.lib()
    prewarm.vector_functions()
    gc.freeze()  # the little garbage of the imports too: finding it takes as long as an eighth of them
    gc.enable()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # intermediates report through their status pipe
    server.send({"hello": {"protocol": PROTOCOL_VERSION, "python": sys.version.split()[0], "pid": os.getpid(), **versions}})
    _serve(server)


class _SecondServer:
    """Its children find the imports of symbolic_graph.py done. ``fds`` belong to a request and are not its own."""

    def __init__(self, server, fds):
        ours, theirs = socket.socketpair()
        self._is_ready = False
        if os.fork() == 0:
            _die_with_parent()
            server.close()
            ours.close()
            channel.close_all(fds)
            self._become(channel.Channel(theirs.detach()))
        theirs.close()
        self._channel = channel.Channel(ours.detach())

    @staticmethod
    def _become(first):
        from davinci_worker import symbolic_graph

        symbolic_graph.load()
        gc.freeze()
        first.send({"ready": {}})
        _serve(first, is_second=True)

    def serves(self, request, fds):
        """Whether it forks the child: not before its imports are done, nor where they failed."""
        try:
            if not self._is_ready:
                if not select.select([self._channel], [], [], 0)[0]:
                    return False
                self._channel.recv()
                self._is_ready = True
            self._channel.send(request, fds)
        except (EOFError, OSError):
            return False
        return True

    def close(self):
        self._channel.close()


def _serve(server, is_second=False):
    """Forks a child for each request; never returns."""
    second, with_symbols = [], 0
    while True:
        try:
            request, fds = server.recv()
        except EOFError:
            os._exit(0)  # nothing to tidy up, and taking torch apart takes a tenth of a second
        if "prewarm" in request:
            _prewarm(request["prewarm"])
            continue
        if request.get("symbols") and not is_second:
            with_symbols += 1
            if with_symbols == 2:
                second = [_SecondServer(server, fds)]
        if not (request.get("symbols") and second and second[0].serves(request, fds)) and os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _become_child(request, fds, [server, *second])
        channel.close_all(fds)


if __name__ == "__main__":
    try:
        main()
    except Exception:  # noqa: BLE001
        print(json.dumps({"fatal": traceback.format_exc()}), file=sys.stderr)
        sys.exit(70)
