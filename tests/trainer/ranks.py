"""Several ranks: started by mpirun, or, as torchrun starts them, by this file.

    ranks.py N COMMAND…     N processes that meet through TCP; SIGUSR1 goes to all; the first exit status that is not 0
"""
import os
import signal
import socket
import subprocess
import sys
import time

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]


def mpirun(ranks, command):
    return [*MPIRUN, "-n", str(ranks), *command]


def several(ranks, command, device):
    """The command as so many ranks, each with a device of its own. On the CPU they need MPI."""
    return mpirun(ranks, command) if device == "cpu" else [sys.executable, os.path.abspath(__file__), str(ranks), *command]


def environments(ranks):
    """The environment of each rank."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return [{**os.environ, "RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(ranks),
             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)} for rank in range(ranks)]


def ranks_of(launcher):
    """{rank: pid} of the processes that a launcher started."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{pid}/environ", "rb") as file:
                rank = next((e for e in file.read().split(b"\0") if e.startswith((b"OMPI_COMM_WORLD_RANK=", b"RANK="))), None)
        except OSError:
            continue
        if parent == launcher and rank:
            found[int(rank.split(b"=")[1])] = int(pid)
    return found


def ended(pid, seconds=300):
    """No longer runs within the time; a container's init may leave it a zombie."""
    deadline = time.time() + seconds
    while time.time() < deadline:
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def main():
    started = [subprocess.Popen(sys.argv[2:], env=environment) for environment in environments(int(sys.argv[1]))]
    signal.signal(signal.SIGUSR1, lambda number, frame: [process.send_signal(number) for process in started])
    statuses = [process.wait() for process in started]
    for rank, status in enumerate(statuses):
        if status < 0:
            print(f"rank {rank} ended by signal {-status}", file=sys.stderr)
    sys.exit(next((abs(status) for status in statuses if status), 0))


if __name__ == "__main__":
    main()
