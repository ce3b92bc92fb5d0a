"""Frames of JSON on a pair of pipes: four bytes of length, most significant first, then that many bytes of UTF-8.

Both ends of the pipe to a worker speak this; neither uses the protocol's standard input and output.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

Frame = Mapping[str, Any]

_LENGTH = struct.Struct(">I")
_MAXIMAL_LENGTH = 1 << 30


class FrameError(Exception):
    """The bytes on the pipe are no frames: something else wrote to it."""


def encode(frame: Frame) -> bytes:
    body = json.dumps(frame, separators=(",", ":")).encode()
    return _LENGTH.pack(len(body)) + body


def read(stream: BinaryIO) -> Iterator[Frame]:
    """The frames of a stream until it ends; an incomplete last one, the mark of a killed writer, is dropped."""
    while True:
        head = stream.read(_LENGTH.size)
        if len(head) < _LENGTH.size:
            return
        (length,) = _LENGTH.unpack(head)
        if length > _MAXIMAL_LENGTH:
            raise FrameError(f"a frame of {length} bytes")
        body = stream.read(length)
        if len(body) < length:
            return
        try:
            yield json.loads(body)
        except ValueError as error:
            raise FrameError(str(error)) from None
