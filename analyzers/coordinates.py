"""How the coordinates of a thread or a block and the sizes of a launch are written, wherever somebody reads them."""

from __future__ import annotations

from collections.abc import Sequence

from analyzers.model import Dim3


def written(value: Dim3 | Sequence[str] | None) -> str:
    """``(64, 0, 0)``; of sizes that the host code computes ``(n / 16, 1, 1)``; of what is not known ``(?)``."""
    return "(?)" if value is None else f"({', '.join(map(str, value))})"
