"""`cuda-lsp completion SHELL`: a script that completes commands and arguments, made by shtab from the parser itself."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, Final, cast

import shtab

from cuda_lsp import documentation
from cuda_lsp.cli import fail_on

_FILES: Final = frozenset({"FILE", "PATH", "FILE:KERNEL"})
_FOLDERS: Final = frozenset({"DIR"})


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script for `bash`, `zsh` or `fish`. What is a file or a folder is known by the names of the values."""
    for action in _actions(parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE
        elif action.metavar in _FOLDERS:
            action.complete = shtab.DIRECTORY
        elif action.metavar == "PAGE":
            action.choices = list(documentation.pages())
        elif "--fail-on" in action.option_strings:
            action.choices = ["never", *fail_on.CODES]
    text: str = shtab.complete(parser, shell)
    return text + "\n"


def _actions(parser: argparse.ArgumentParser) -> Iterator[Any]:
    """The arguments of a parser and of its subcommands, to which argparse has no public way."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
        yield action
        if action.nargs == argparse.PARSER:
            for inner in cast("dict[str, argparse.ArgumentParser]", action.choices).values():
                yield from _actions(inner)
