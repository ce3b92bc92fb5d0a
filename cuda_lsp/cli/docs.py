"""`cuda-lsp docs`: print a page of the documentation that was installed, such as the one of a diagnostic."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Final, TextIO

from cuda_lsp import documentation
from cuda_lsp.cli import exit_codes
from cuda_lsp.cli.exit_codes import UsageError

_SUMMARY_WIDTH: Final = 75


def docs(name: str | None, path_only: bool, out: TextIO) -> int:
    """Run the command: print the page with a name, or which there are. Raises `UsageError` for a name that has none."""
    pages = documentation.pages()
    if name is None:
        width = max(map(len, pages), default=0)
        out.writelines(f"{each:{width}}  {page if path_only else _summary(page)}\n" for each, page in pages.items())
        return exit_codes.CLEAN
    page = pages.get(name)
    if page is None:
        raise UsageError(f"there is no page {name}; there are {', '.join(pages) or 'none'}")
    out.write(f"{page}\n" if path_only else page.read_text(encoding="utf-8"))
    return exit_codes.CLEAN


def _summary(page: Path) -> str:
    """The title; of a diagnostic, whose title is its name, the first sentence below it."""
    title, below, *_ = page.read_text(encoding="utf-8").split("\n\n")
    if page.parent.name != "diagnostics":
        return title.removeprefix("# ")
    sentence = below.replace("\n", " ").split(". ")[0].rstrip(".:")
    return textwrap.shorten(sentence, _SUMMARY_WIDTH, placeholder=" …")
