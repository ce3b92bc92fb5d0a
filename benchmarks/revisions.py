"""Which text of the project a figure was measured at."""

from __future__ import annotations

import subprocess
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
