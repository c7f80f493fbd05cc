"""Keeps the threads of a parallel loop off the core of the thread that waits for them.

When a stopped process goes on, all its threads wake at once, while the supervisor still holds a core: two of them easily land
on one, and stay there for milliseconds, because a core that is idle only for moments takes no work from others. In a program
that is never stopped this hardly happens. So while a process is stopped its main thread is bound to the core from which the
supervisor wakes it (the last one), and its other threads to the rest; the main thread frees itself as soon as it runs.
"""

import os
import threading


class Placement:
    def __init__(self):
        self._cores = frozenset(os.sched_getaffinity(0))
        self._first = {max(self._cores)}
        self._rest = self._cores - self._first
        self._move = os.sched_setaffinity
        self._idle = self._threads()  # of the interpreter and its libraries: none of them computes
        self._moved = []

    @staticmethod
    def _threads():
        try:
            return {int(name) for name in os.listdir("/proc/self/task")}
        except OSError:  # a sandbox without /proc: no thread is moved
            return set()

    def arrange(self):
        """Off the clock, before the process is stopped. Threads that are bound to cores stay where they are, and so do
        all when there are more of them than cores."""
        try:
            for thread in self._moved:
                self._move(thread, self._cores)
        except OSError:
            pass  # it has ended
        self._moved = []
        try:
            own = threading.get_native_id()
            free = [t for t in self._threads() - self._idle - {own} if os.sched_getaffinity(t) == self._cores]
            if not free or len(free) > len(self._rest) or os.sched_getaffinity(0) != self._cores:
                return
            for thread in free:
                self._move(thread, self._rest)
            self._moved = free
            self._move(0, self._first)
        except OSError:
            self._move(0, self._cores)

    def free(self):
        """First of all when the main thread goes on: what it starts may run anywhere."""
        if self._moved:
            self._move(0, self._cores)
