"""What threads did that were still there when a run ended, for every reader."""

from __future__ import annotations

from typing import Final

from analyzers.coordinates import written
from gpu_runner.request import RunAccess

_COLLECTIVES: Final = frozenset({"shfl", "vote", "match", "redux", "activemask", "elect"})
_AT: Final = {
    "ld": "a read", "ldu": "a read", "st": "a write", "atom": "an atomic access", "red": "an atomic access",
    "bra": "the end of a loop", "brx": "the end of a loop",
}  # fmt: skip


def stuck(access: RunAccess) -> str:
    """A thread, how many more were where it was, and what they waited for or did last: ``thread (1, 0, 0) of block
    (0, 0, 0) and 30 others wait at a barrier``."""
    others = f" and {access.others} other{'s' * (access.others != 1)}" if access.others else ""
    return f"thread {written(access.thread)} of block {written(access.block)}{others} {_did(access)}"


def _did(access: RunAccess) -> str:
    waits, were, its = ("wait", "were", "their") if access.others else ("waits", "was", "its")
    opcode, *modifiers = access.instruction.split(".")
    if opcode in _COLLECTIVES or "warp" in modifiers:
        return f"{waits} for other lanes of {its} warp"
    if access.kind == "barrier":
        return f"{waits} at a barrier"
    return f"{were} at {_AT[opcode]}" if opcode in _AT else f"{were} here"
