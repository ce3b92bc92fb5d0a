"""Bytes to messages and back: the LSP base protocol over standard input and output or a socket.

Reading and writing have threads of their own, so neither a slow client nor a long message blocks the event loop.
Standard output is taken away from everything else in the process first: a stray print goes to standard error.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_CHUNK = 1 << 16
_MAXIMAL_BODY = 1 << 28
_CLOSING_GRACE_S = 2.0

_log = logging.getLogger(__name__)


class BadHeaderError(Exception):
    """The bytes are no LSP messages; there is no way to find the next one."""


@dataclass(frozen=True, slots=True)
class Connection:
    """Where bytes come from and go to. `receive` blocks and gives no bytes at the end; `send` takes all."""

    receive: Callable[[], bytes]
    send: Callable[[bytes], None]
    close: Callable[[], None]


def standard_streams() -> Connection:
    """This process's input and output, moved to descriptors that nothing else knows."""
    source, sink = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(source, os.O_BINARY)
        msvcrt.setmode(sink, os.O_BINARY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    sys.stdout.flush()
    os.dup2(2, 1)

    def send(data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(sink, view) :]

    def close() -> None:
        # The source stays open: a thread may be reading from it, and the process ends anyway.
        with contextlib.suppress(OSError):
            os.close(sink)

    return Connection(lambda: os.read(source, _CHUNK), send, close)


def accept_one(host: str, port: int, announce: Callable[[int], None]) -> Connection:
    """Listen, say on which port, and take one client."""
    with socket.create_server((host, port)) as listening:
        announce(listening.getsockname()[1])
        client, _ = listening.accept()
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Connection(lambda: client.recv(_CHUNK), client.sendall, client.close)


def bodies(receive: Callable[[], bytes]) -> Iterator[bytes]:
    """The bodies of the messages that arrive, until the input ends. Raises `BadHeaderError`."""
    buffer = bytearray()

    def more() -> bool:
        chunk = receive()
        buffer.extend(chunk)
        return bool(chunk)

    while True:
        while (end := buffer.find(b"\r\n\r\n")) < 0:
            if len(buffer) > _CHUNK:
                raise BadHeaderError("no end of the header")
            if not more():
                return
        length = _content_length(bytes(buffer[:end]))
        while len(buffer) < end + 4 + length:
            if not more():
                return
        yield bytes(buffer[end + 4 : end + 4 + length])
        del buffer[: end + 4 + length]


def _content_length(header: bytes) -> int:
    for line in header.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            try:
                length = int(value)
            except ValueError:
                break
            if 0 <= length <= _MAXIMAL_BODY:
                return length
    raise BadHeaderError(f"no usable Content-Length in {header[:200]!r}")


class QueuedWriter:
    """The `writer` of the protocol object: queues whole messages, a thread sends them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._send, name="client output", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        self._queue.put(data)

    def close(self) -> None:
        """Send what is queued, as far as the client takes it, then close."""
        self._queue.put(None)
        self._thread.join(_CLOSING_GRACE_S)

    def _send(self) -> None:
        try:
            while (data := self._queue.get()) is not None:
                self._connection.send(data)
        except OSError as error:
            # The reading side notices the client's end and shuts down; until then, nothing can be said.
            _log.info("the client does not listen any more: %s", error)
            return
        self._connection.close()
