"""`cuda-lsp doctor`: what is installed and found, and what to do about what is not as it should be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TextIO

from cuda_lsp import __version__
from cuda_lsp.cli import examination, exit_codes, terminal
from cuda_lsp.cli.examination import Entry
from cuda_lsp.cli.terminal import ColorChoice, Style, printable

SCHEMA: Final = 1
_WIDTH = 14


@dataclass(frozen=True, slots=True)
class DoctorArguments:
    """The arguments of `doctor`, already read."""

    file: str | None = None
    format: Literal["text", "json"] = "text"
    color: ColorChoice = "auto"


def doctor(arguments: DoctorArguments, backend: str, out: TextIO) -> int:
    """Run the command; the exit code is 1 when there is a problem."""
    entries = _entries(arguments.file, backend)
    if arguments.format == "json":
        found = list(entries)
        out.write(json.dumps(_document(found), indent=2, ensure_ascii=False) + "\n")
    else:
        found = _print(entries, terminal.style_for(arguments.color, out), out)
    return exit_codes.FINDINGS if any(entry.is_problem for entry in found) else exit_codes.CLEAN


def _entries(file: str | None, backend: str) -> Iterator[Entry]:
    yield from examination.program(backend)
    yield from examination.cuda()
    yield from examination.disk_cache()
    if file is not None:
        yield from examination.file(Path(file))


def _print(entries: Iterator[Entry], style: Style, out: TextIO) -> list[Entry]:
    """Each entry as soon as it is known."""
    found: list[Entry] = []
    for entry in entries:
        if not found or found[-1].section != entry.section:
            out.write(("\n" if found else "") + style.paint("strong", entry.section) + "\n")
        found.append(entry)
        mark = style.paint("error", "!") if entry.is_problem else " "
        out.write(f"{mark} {entry.name:<{_WIDTH}} {printable(entry.value)}\n")
        if entry.advice:
            out.write(f"  {'':<{_WIDTH}} {style.paint('information', '→')} {printable(entry.advice)}\n")
        out.flush()
    number = sum(entry.is_problem for entry in found)
    told = f"{number} {'problem' if number == 1 else 'problems'}, marked with !" if number else "no problem found"
    out.write(f"\n{style.paint('error' if number else 'good', told)}\n")
    return found


def _document(entries: list[Entry]) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "tool": {"name": "cuda-lsp", "version": __version__},
        "problems": sum(entry.is_problem for entry in entries),
        "entries": [
            {
                "section": entry.section,
                "name": entry.name,
                "value": entry.value,
                "problem": entry.is_problem,
                "advice": entry.advice or None,
            }
            for entry in entries
        ],
    }
