"""Texts with the edits of a repair made."""

from __future__ import annotations

from collections.abc import Iterable

from analyzers.model import TextEdit


def applied(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with all edits, whose offsets are bytes of it in UTF-8."""
    data = text.encode()
    for edit in sorted(edits, key=lambda e: e.span.start_offset, reverse=True):
        data = data[: edit.span.start_offset] + edit.new_text.encode() + data[edit.span.end_offset :]
    return data.decode()
