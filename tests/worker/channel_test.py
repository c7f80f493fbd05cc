"""A neighbour who has used up the descriptors that may be under way is waited for."""

import errno
import os
import pathlib
import socket
import sys
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))

from davinci_worker import channel  # noqa: E402


class ChannelTest(unittest.TestCase):
    def setUp(self):
        ours, theirs = socket.socketpair()
        self.sender, self.receiver = channel.Channel(ours.detach()), channel.Channel(theirs.detach())
        self.addCleanup(self.sender.close)
        self.addCleanup(self.receiver.close)

    def refusing(self, error, times):
        send, left = socket.send_fds, [times]

        def refused(*arguments):
            if left[0] > 0:
                left[0] -= 1
                raise OSError(error, os.strerror(error))
            return send(*arguments)

        return unittest.mock.patch.object(socket, "send_fds", refused)

    def test_descriptors_are_sent_once_there_is_room(self):
        with self.refusing(errno.ETOOMANYREFS, 3):
            self.sender.send({"op": "state"}, [1])
        message, fds = self.receiver.recv()
        self.assertEqual((message, len(fds)), ({"op": "state"}, 1))
        channel.close_all(fds)

    def test_other_errors_are_told_at_once(self):
        with self.refusing(errno.EPIPE, 1), self.assertRaises(OSError):
            self.sender.send({"op": "state"}, [1])


if __name__ == "__main__":
    unittest.main()
