"""Where the threads of a runner are bound while it is stopped, and that they are free afterwards."""

import importlib.util
import os
import pathlib
import sys
import threading
import time
import unittest

FILE = pathlib.Path(__file__).resolve().parents[2] / "python" / "davinci_worker" / "placement.py"
spec = importlib.util.spec_from_file_location("placement", FILE)
placement = importlib.util.module_from_spec(spec)
spec.loader.exec_module(placement)

CORES = os.sched_getaffinity(0)
LAST = {max(CORES)}


class Worker:
    """A thread that waits."""

    def __init__(self):
        self._end, started = threading.Event(), threading.Event()

        def work():
            self.tid = threading.get_native_id()
            started.set()
            self._end.wait()

        self._thread = threading.Thread(target=work)
        self._thread.start()
        started.wait()

    def cores(self):
        return os.sched_getaffinity(self.tid)

    def end(self):
        self._end.set()
        self._thread.join()
        while os.path.exists(f"/proc/self/task/{self.tid}"):  # joined is a moment before gone
            time.sleep(0.001)


class PlacementTest(unittest.TestCase):
    def setUp(self):
        self.placement = placement.Placement()
        self.workers = []

    def tearDown(self):
        os.sched_setaffinity(0, CORES)
        for worker in self.workers:
            worker.end()

    def start(self, count=1):
        self.workers += [Worker() for _ in range(count)]
        return self.workers

    def test_main_thread_and_workers_wake_on_different_cores(self):
        worker, = self.start()
        self.placement.arrange()
        self.assertEqual(os.sched_getaffinity(0), LAST)
        self.assertEqual(worker.cores(), CORES - LAST)
        self.placement.free()
        self.assertEqual(os.sched_getaffinity(0), CORES)

    def test_what_is_bound_between_two_calls_is_decided_anew(self):
        worker, = self.start()
        for _ in range(2):
            self.placement.arrange()
            self.placement.free()
        self.start(len(CORES))
        self.placement.arrange()
        self.assertEqual(worker.cores(), CORES)
        self.assertEqual(os.sched_getaffinity(0), CORES)

    def test_more_threads_than_cores_are_left_alone(self):
        workers = self.start(len(CORES))
        self.placement.arrange()
        self.assertEqual([w.cores() for w in workers], [CORES] * len(CORES))
        self.assertEqual(os.sched_getaffinity(0), CORES)

    def test_a_thread_bound_by_somebody_stays_where_it_is(self):
        worker, = self.start()
        os.sched_setaffinity(worker.tid, LAST)
        self.placement.arrange()
        self.assertEqual(worker.cores(), LAST)
        self.assertEqual(os.sched_getaffinity(0), CORES)

    def test_a_main_thread_bound_by_somebody_stays_where_it_is(self):
        self.start()
        os.sched_setaffinity(0, LAST)
        self.placement.arrange()
        self.placement.free()
        self.assertEqual(os.sched_getaffinity(0), LAST)

    def test_threads_that_were_there_before_and_threads_that_ended_do_not_count(self):
        self.start()
        later = placement.Placement()
        later.arrange()
        self.assertEqual(os.sched_getaffinity(0), CORES)
        ends = Worker()
        later.arrange()
        self.assertEqual(os.sched_getaffinity(0), LAST)
        later.free()
        ends.end()
        later.arrange()
        self.assertEqual(os.sched_getaffinity(0), CORES)

    def test_without_proc_nothing_is_moved(self):
        self.start()
        listdir, os.listdir = os.listdir, self.refuse
        try:
            blind = placement.Placement()
            blind.arrange()
        finally:
            os.listdir = listdir
        self.assertEqual(os.sched_getaffinity(0), CORES)

    @staticmethod
    def refuse(path):
        raise PermissionError(path)


if __name__ == "__main__":
    if len(CORES) < 2:
        sys.exit(77)
    unittest.main()
