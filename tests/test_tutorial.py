"""The tutorial is executed: its source file is written, its commands are run one after the other, and what they
print is compared with the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from lsp.client import ROOT

PAGE = ROOT / "docs" / "tutorial.md"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ELLIPSIS = "…"


def matches(shown: str, printed: str) -> bool:
    """A line of only an ellipsis stands for any number of lines, an ellipsis in a line for any part of it."""
    pattern = ""
    for line in shown.splitlines():
        parts = [re.escape(part) for part in line.split(_ELLIPSIS)]
        pattern += "(?:.*\n)*" if line == _ELLIPSIS else ".*".join(parts) + "\n"
    return re.fullmatch(pattern, printed) is not None


def test_an_ellipsis_stands_for_what_is_cut_and_for_nothing_else() -> None:
    assert matches("a …\n…\nz\n", "a b\nc\nd\nz\n")
    assert not matches("a …\nz\n", "a b\nc\nz\n")
    assert not matches("a.\n", "ab\n")
    assert not matches("a\n", "a\nb\n")


def test_what_the_tutorial_shows_is_what_happens(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "CUDA_LSP_CACHE_DIR": str(tmp_path / "cache"),
        "NO_COLOR": "1",
    }
    folder = tmp_path / "work"
    folder.mkdir()
    ran: list[str] = []
    for kind, text in _BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind == "cuda":
            (folder / "sum.cu").write_text(text, encoding="utf-8")
            continue
        assert kind == "console"
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            program, *words = command.split()
            assert program == "cuda-lsp"
            done = subprocess.run(
                [sys.executable, "-m", "cuda_lsp", *words],
                cwd=folder,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert matches(shown, done.stdout), f"$ {command}\n{done.stdout}\nis not what the page shows:\n{shown}"
            ran.append(words[0])
    assert ran == ["check", "check", "run", "fix", "fix", "check", "run"]
    assert (folder / "races.html").stat().st_size > 10_000
