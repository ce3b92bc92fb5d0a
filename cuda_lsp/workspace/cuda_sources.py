"""The CUDA sources below a folder, as a person means it: without hidden, build and vendored folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from cuda_lsp.workspace.suffixes import CUDA_SUFFIXES

_SKIPPED_FOLDERS = frozenset(
    {
        "__pycache__", "_build", "_deps", "build", "builddir", "cmakefiles", "dist", "external", "extern",
        "node_modules", "out", "site-packages", "target", "third-party", "third_party", "thirdparty", "vendor",
        "vendored", "venv",
    }
)  # fmt: skip


def walk(folder: Path) -> Iterator[Path]:
    """The CUDA sources below a folder, sorted, symbolic links to folders not followed."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_skipped(Path(parent) / name))
        for name in sorted(names):
            if Path(name).suffix.lower() in CUDA_SUFFIXES and not name.startswith("."):
                yield Path(parent) / name


def _is_skipped(folder: Path) -> bool:
    # A CMake build folder may have any name.
    return (
        folder.name.startswith(".")
        or folder.name.lower() in _SKIPPED_FOLDERS
        or folder.name.lower().startswith("cmake-build-")
        or (folder / "CMakeCache.txt").exists()
    )
