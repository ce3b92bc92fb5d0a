"""What a benchmark found out about single seeds, kept from run to run.

One line of JSON for each seed, written as soon as it is known: a run that is stopped loses nothing, and the next one
goes on behind it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from benchmarks.revisions import revision


class Outcome(Protocol):
    """Of one seed: a dataclass of what JSON can hold."""

    @property
    def seed(self) -> int: ...


T = TypeVar("T", bound=Outcome)


class Notes(Generic[T]):
    """The outcomes in one file, and the revision of the project that each is of."""

    def __init__(self, path: Path, made: Callable[..., T], kind: Mapping[str, Any] | None = None) -> None:
        """Reads the file where there is one. `made` takes the fields of an outcome; `kind`: what tells the notes that
        count here from others of the file. A line that was not written to its end is left out."""
        self._path = path
        self._kind = dict(kind or {})
        self._revision = revision()
        self.known: dict[int, tuple[T, str]] = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                note = json.loads(line)
            except ValueError:
                continue
            if all(note.get(key) == value for key, value in self._kind.items()):
                self.known[note["outcome"]["seed"]] = made(**note["outcome"]), note["revision"]

    def forget(self) -> None:
        """Begin anew."""
        self._path.unlink(missing_ok=True)
        self.known.clear()

    def missing(self, seeds: Iterable[int]) -> list[int]:
        """Those that nothing is known of."""
        return [seed for seed in seeds if seed not in self.known]

    def add(self, outcome: T) -> None:
        """Note an outcome, in a line of its own whatever the last one was cut to."""
        self.known[outcome.seed] = outcome, self._revision
        note = {**self._kind, "revision": self._revision, "outcome": asdict(outcome)}  # pyright: ignore[reportArgumentType]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a+b") as file:
            file.seek(max(0, file.seek(0, 2) - 1))
            cut = file.read(1) not in (b"", b"\n")
            file.write((b"\n" if cut else b"") + json.dumps(note).encode() + b"\n")

    def outcomes(self) -> list[T]:
        """By seed."""
        return [self.known[seed][0] for seed in sorted(self.known)]

    def revisions(self) -> dict[int, str]:
        """Which each outcome is of, by seed."""
        return {seed: at for seed, (_, at) in sorted(self.known.items())}
