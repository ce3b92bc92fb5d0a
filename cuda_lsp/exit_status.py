"""How processes ended, in words."""

from __future__ import annotations

import contextlib
import sys


def exit_reason(status: int) -> str:
    """An exit status in words."""
    if status >= 0:
        return f"exit status {status}"
    if sys.platform != "win32":
        import signal

        with contextlib.suppress(ValueError):
            return f"signal {-status}, {signal.Signals(-status).name}"
    return f"signal {-status}"
