"""The baseline: findings that were there when a project adopted the check, in a file beside the code.

Each entry has a finding's fingerprint and, for whoever reads the file, its kernel, code and accesses. Paths are
relative to the file. The order is fixed, so that a change of the file is a small difference.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from cuda_lsp.adoption.fingerprints import Identity
from cuda_lsp.workspace.spelling import one_spelling
from cuda_lsp.writing import replace_file

SCHEMA: Final = 1
USUAL_NAME: Final = ".cuda-lsp-baseline.json"


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of one file, by the file they are about and their fingerprint."""

    path: str
    entries: Mapping[tuple[str, str], Identity] = field(default_factory=dict[tuple[str, str], Identity])

    def knows(self, identity: Identity) -> bool:
        return (identity.path, identity.fingerprint) in self.entries


class BaselineError(ValueError):
    """A sentence on what is wrong with a file."""


def load(path: str) -> Baseline:
    """Read a baseline. Raises `BaselineError` where there is none."""
    try:
        document: Any = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BaselineError(f"cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise BaselineError(f"not a JSON file: {error}") from None
    if not isinstance(document, dict) or "findings" not in document:
        raise BaselineError("not a baseline of cuda-lsp")
    table = cast("dict[str, Any]", document)
    if table.get("schema") != SCHEMA:
        raise BaselineError(f"a baseline of schema {table.get('schema')}, not {SCHEMA}: write a new one")
    folder = Path(path).parent
    try:
        found = [_read(folder, entry) for entry in table["findings"]]
    except (KeyError, TypeError, AttributeError):
        raise BaselineError("an entry lacks fingerprint, path, kernel, code or accesses") from None
    return Baseline(path, {(each.path, each.fingerprint): each for each in found})


def _read(folder: Path, entry: Mapping[str, Any]) -> Identity:
    accesses = tuple(str(access) for access in entry["accesses"])
    path = one_spelling(folder / str(entry["path"]))
    return Identity(str(entry["fingerprint"]), path, str(entry["kernel"]), str(entry["code"]), accesses)


def write(path: str, found: Iterable[Identity]) -> int:
    """Write a baseline of some findings; gives how many there are. Raises `OSError`."""
    folder = Path(path).parent
    entries = {
        (each.path, each.fingerprint): {
            "path": _relative(each.path, folder),
            "kernel": each.kernel,
            "code": each.code,
            "accesses": list(each.accesses),
            "fingerprint": each.fingerprint,
        }
        for each in found
    }
    ordered = sorted(entries.values(), key=lambda entry: [str(value) for value in entry.values()])
    text = json.dumps({"schema": SCHEMA, "tool": "cuda-lsp", "findings": ordered}, indent=2, ensure_ascii=False)
    replace_file(path, f"{text}\n".encode())
    return len(ordered)


def _relative(path: str, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        # Another drive.
        return Path(path).as_posix()
