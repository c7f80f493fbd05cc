"""Length-prefixed JSON frames over a stream socket, with optional file descriptors (protocol.h)."""

import errno
import json
import os
import socket
import struct
import time

_HEADER = struct.Struct("<I")
_GO = b"\xff\xff\xff\xff"  # instead of a length: run the call that was armed
MAX_FRAME_BYTES = 64 << 20
MAX_FDS = 8
_PATIENCE_SECONDS = 10


class Channel:
    """One end of a control socket. Owns the descriptor."""

    def __init__(self, fd):
        self._sock = socket.socket(fileno=fd)
        self._sock.setblocking(True)

    def fileno(self):
        return self._sock.fileno()

    def _read(self, count):
        data = self._sock.recv(count)
        while len(data) < count:
            more = self._sock.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def recv(self):
        """Returns (message, fds). Raises EOFError when the peer is gone."""
        header, fds, _, _ = socket.recv_fds(self._sock, _HEADER.size, MAX_FDS)
        if not header:
            raise EOFError
        if len(header) < _HEADER.size:
            header += self._read(_HEADER.size - len(header))
        (length,) = _HEADER.unpack(header)
        if length > MAX_FRAME_BYTES:
            raise ValueError(f"frame of {length} bytes exceeds {MAX_FRAME_BYTES}")
        return json.loads(self._read(length)), fds

    def wait_go(self):
        """Blocks for the GO mark in as few steps as possible: this is on the judge's clock."""
        return self._sock.recv(4) == _GO

    def recv_seed(self):
        """What comes with GO when the call was armed as seeded (CallOptions::seed)."""
        return struct.unpack("<Q", self._sock.recv(8, socket.MSG_WAITALL))[0]

    def send_raw(self, payload):
        """One frame that is not JSON (protocol.h, DONE)."""
        self._sock.sendall(_HEADER.pack(len(payload)) + payload)

    def send(self, message, fds=()):
        payload = json.dumps(message, separators=(",", ":")).encode()
        frame = _HEADER.pack(len(payload)) + payload
        if fds:
            frame = frame[self._send_fds(frame, list(fds)):]
        if frame:
            self._sock.sendall(frame)

    def _send_fds(self, frame, fds):
        """Descriptors under way are counted for each user: a neighbour may use them up until it is ended."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return socket.send_fds(self._sock, [frame], fds)
            except OSError as error:
                if error.errno != errno.ETOOMANYREFS or time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def close(self):
        self._sock.close()


def close_all(fds):
    for fd in fds:
        os.close(fd)
