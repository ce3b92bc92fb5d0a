"""What the system tells about a running process: its memory and its processor time.

Read from `/proc`; elsewhere there is no answer, and who asks goes without."""

from __future__ import annotations

import os
from pathlib import Path


def resident_bytes() -> int:
    """Memory of this process that is in RAM now; 0 where the system does not tell."""
    try:
        with Path("/proc/self/statm").open() as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


class SilentWork:
    """Tells a process that is stuck from one that is slow, by the processor time it takes while it says nothing: on a
    busy machine a minute may be a second's work."""

    def __init__(self) -> None:
        self._seen: float | None = None
        self._silent = 0.0

    def heard(self, pid: int | None) -> None:
        """The process has said something."""
        self._seen = _processor_seconds(pid) if pid is not None else None
        self._silent = 0.0

    def goes_on(self, pid: int | None, seconds: float) -> bool:
        """Asked after `seconds` of silence: whether to wait as long again. Not so when the process hardly ran, or has
        had `seconds` of processor time by now."""
        used = _processor_seconds(pid) if pid is not None else None
        if used is None:
            return False
        since, self._seen = used - (self._seen or 0.0), used
        self._silent += since
        return since > _IDLE_SHARE * seconds and self._silent < seconds


_IDLE_SHARE = 0.02


def _processor_seconds(pid: int) -> float | None:
    """What a process has used so far; None where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None
