"""The values of `check --fail-on`: codes separated by commas, or `never`."""

from __future__ import annotations

from typing import Final

from analyzers.model import Verdict
from cuda_lsp.adoption import comments
from cuda_lsp.cli.exit_codes import UsageError

CODES: Final = (*comments.CODES, Verdict.UNKNOWN.value, *(code.value for code in comments.CommentCode))


def read(text: str) -> frozenset[str]:
    """The codes that are named. Raises `UsageError`."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["never"]:
        return frozenset()
    if not names or any(name not in CODES for name in names):
        raise UsageError(f"--fail-on {text}: expected never, or some of {', '.join(CODES)}")
    return frozenset(names)
