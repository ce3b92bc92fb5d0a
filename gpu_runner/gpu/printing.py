"""What a kernel on the GPU prints.

The driver keeps it, and writes it to the standard output of the process when somebody waits for the device: so that is
a file of ours for as long as a kernel runs that prints.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from typing import Final

PRINTED: Final = 1 << 16
"""Bytes that are kept."""


@dataclass(slots=True)
class Printed:
    text: str = ""
    """There once the redirection has ended."""


@contextlib.contextmanager
def redirected(wanted: bool) -> Generator[Printed]:
    """Keep what is written to standard output meanwhile, by C as by us. Nothing is kept where it is not `wanted`, and
    on systems whose C library cannot be told to write what it holds back."""
    printed = Printed()
    if not wanted or sys.platform == "win32":
        yield printed
        return
    try:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed below
    except OSError:  # a disk without room is no reason not to run
        yield printed
        return
    flush = ctypes.CDLL(None).fflush
    sys.stdout.flush()
    flush(None)
    before = os.dup(1)
    os.dup2(file.fileno(), 1)
    try:
        yield printed
    finally:
        flush(None)
        os.dup2(before, 1)
        os.close(before)
        file.seek(0)
        printed.text = file.read(PRINTED).decode("utf-8", "replace")
        file.close()
