"""Processes that mpirun starts."""
import os
import time

MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"]


def mpirun(ranks, command):
    return [*MPIRUN, "-n", str(ranks), *command]


def ranks_of(launcher):
    """{rank: pid} of the processes that an mpirun started."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{pid}/environ", "rb") as file:
                rank = next((e for e in file.read().split(b"\0") if e.startswith(b"OMPI_COMM_WORLD_RANK=")), None)
        except OSError:
            continue
        if parent == launcher and rank:
            found[int(rank.split(b"=")[1])] = int(pid)
    return found


def ended(pid, seconds):
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
