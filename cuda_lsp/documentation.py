"""The pages of documentation that come with the program, by name: `data-race`, `cli`, `configuration`, …"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

_PLACES: Final = (Path(__file__).parent / "docs", Path(__file__).parent.parent / "docs")
"""In an installed package, and in a checkout."""

_NOT_FOR_USERS: Final = frozenset({"README", "architecture"})


@cache
def pages() -> Mapping[str, Path]:
    """Name → file: those of the diagnostics first, in alphabetical order; empty where nothing was installed."""
    folder = next((place for place in _PLACES if (place / "diagnostics").is_dir()), None)
    if folder is None:
        return {}
    found = [*sorted((folder / "diagnostics").glob("*.md")), *sorted(folder.glob("*.md"))]
    return {page.stem: page for page in found if page.stem not in _NOT_FOR_USERS}


def diagnostic_page(code: str, base: str | None = None) -> str | None:
    """The address of the page that explains a diagnostic: below `base`, or of the file that was installed; None where
    there is none."""
    if base is not None:
        return f"{base}/diagnostics/{code}.md"
    page = pages().get(code)
    return page.as_uri() if page is not None and page.parent.name == "diagnostics" else None
