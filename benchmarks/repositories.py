"""Files of public repositories at pinned commits: fetched into the cache on first use, never committed."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sources import CACHE

_RAW = "https://raw.githubusercontent.com"


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository on GitHub at one commit."""

    name: str
    """``owner/name``."""
    commit: str
    """40 hexadecimal digits."""

    @property
    def folder(self) -> Path:
        """Where its files lie in the cache, by their paths in the repository."""
        return CACHE / "repositories" / f"{self.name.replace('/', '+')}@{self.commit[:12]}"


def fetched(repository: Repository, paths: Iterable[str]) -> Path:
    """The repository's folder with at least these files in it; raises `OSError` for one that cannot be had."""
    for path in paths:
        target = repository.folder / path
        if target.is_file():
            continue
        with urllib.request.urlopen(f"{_RAW}/{repository.name}/{repository.commit}/{path}", timeout=60) as answer:
            content = answer.read()
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".partial")
        partial.write_bytes(content)
        partial.replace(target)
    return repository.folder
