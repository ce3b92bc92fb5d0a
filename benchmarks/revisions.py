"""Which text of the project a figure was measured at."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).resolve().parent
_TABLES: Final = ":(exclude,top)benchmarks/*.md"
"""What benchmarks write themselves changes nothing that they measure."""


def revision(folder: Path = _HERE) -> str:
    """The short name of the commit, with `+ changes` where the tree around `folder` holds any; `unknown`
    outside of a repository."""

    def git(*arguments: str) -> str | None:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    head = git("rev-parse", "--short", "HEAD")
    if head is None:
        return "unknown"
    return f"{head} + changes" if git("status", "--porcelain", "--", ":(top)", _TABLES) else head


def spans(at: Mapping[int, str]) -> str:
    """Which seeds are of which revision: `seeds 0–409 at 59bf617, 410–1999 at a2c3d4e`."""
    runs: list[tuple[int, int, str]] = []
    for seed, of in sorted(at.items()):
        if runs and runs[-1][1] + 1 == seed and runs[-1][2] == of:
            runs[-1] = (runs[-1][0], seed, of)
        else:
            runs.append((seed, seed, of))
    return "seeds " + ", ".join(f"{first}–{last} at {of}" for first, last, of in runs)
