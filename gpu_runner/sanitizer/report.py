"""The text that ``compute-sanitizer`` prints, as findings of a run.

`parse` takes what memcheck, racecheck (``--racecheck-report all``), synccheck or initcheck print, in the forms of the
user manual of Compute Sanitizer (2026.4) and of older releases. Racecheck tells a hazard for each byte, with the two
threads, and an analysis for each pair of instructions, with how many hazards there were: both become one race. What is
not understood is kept as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Final, Literal

from gpu_runner.request import Dim3, FaultKind, Place, RunAccess, RunFault, RunRace

_WARP: Final = 32
_POINT: Final = r"\((\d{1,10}),\s*(\d{1,10}),\s*(\d{1,10})\)"
_CONTINUED: Final = re.compile(r"(and \w+ access at |\w+ Thread \(|Current Value )")
_NOISE: Final = re.compile(r"(Saved host backtrace|Host Frame|\.\.\.|COMPUTE-SANITIZER|CUDA-MEMCHECK)")
_FRAME_NEW: Final = re.compile(r"(?P<function>.*?)(?:[+:]0x[0-9a-f]+)?(?: in (?P<file>.+?):(?P<line>\d{1,9}))?$")
_FRAME_OLD: Final = re.compile(r"0x[0-9a-f]+ in (?:(?P<file>.+?):(?P<line>\d{1,9}):)?(?P<function>.*)$")
_BY: Final = re.compile(rf"by thread {_POINT} in block {_POINT}")
_HAZARD: Final = re.compile(
    r"(?:\w+)\s*:\s*(?:\([^)]*\) )?Potential (RAW|WAR|WAW) hazard detected at __shared__ (0x[0-9a-f]+) "
    rf"in block {_POINT}"
)
_SIDE: Final = re.compile(rf"(\w+) Thread {_POINT} at (.+)$")
_VALUES: Final = re.compile(r"Current Value : (\S+), Incoming Value : (\S+)")
_ANALYSIS: Final = re.compile(r"(?:\w+\s*:\s*)?(?:\([^)]*\) )?Race reported between (\w+) access at (.+)$")
_OTHER: Final = re.compile(r"and (\w+) access at (.+?)(?: \[(\d[\d,]{0,30}) hazards?\])?$")
_ACCESS: Final = re.compile(r"(?:Potential invalid|Invalid) (__\w+__) (\w+) of size (\d[\d,]{0,30})")
_UNWRITTEN: Final = re.compile(r"Uninitialized (__\w+__) memory read of size (\d[\d,]{0,30})")
_BARRIER: Final = re.compile(r"Barrier error detected\. (.*?)\.?$")
_WAITING: Final = re.compile(rf".*called by threads starting at {_POINT} in block {_POINT}.* at (.+)$")
_SUMMARY: Final = re.compile(
    r"(?:ERROR|RACECHECK) SUMMARY: (\d[\d,]{0,30}) (?:errors?|hazards? displayed)\b(?! were not)"
)
_BARRIER_KINDS: Final[tuple[tuple[str, FaultKind, str], ...]] = (
    ("Divergent thread", "divergent-barrier", "threads of one block wait at different barriers"),
    ("Invalid argument", "lane-not-in-mask", "a thread takes part in a collective whose mask it is not in"),
)
_KINDS: Final[dict[str, Literal["read", "write"]]] = {"read": "read", "write": "write"}


@dataclass(frozen=True, slots=True)
class Report:
    """What one tool found."""

    races: tuple[RunRace, ...]
    faults: tuple[RunFault, ...]
    waiting: tuple[RunAccess, ...]
    """Threads that the tool saw in a deadlock."""
    other: tuple[str, ...]
    """Sentences of the tool that are none of these: errors of the API, what it warns of, what is new."""
    errors: int | None
    """As the tool counts them in its last line; None without one: it did not come to its end."""


def parse(text: str, path: str, block: Dim3) -> Report:
    """`path`: of the source, which the report may name by its last part only. `block`: threads of one, in which a race
    inside of a warp is told from one between warps."""
    read = _Reading(path, block)
    for message in _messages(text):
        read.take(message)
    return read.done()


def _messages(text: str) -> Iterator[list[str]]:
    """The messages of the tool, each with the lines that go on with it, unindented."""
    message: list[str] = []
    for line in text.splitlines():
        if not line.strip().startswith("====="):
            continue  # what the program itself printed
        rest = line.strip().lstrip("=")
        body = rest.strip()
        goes_on = rest.startswith("    ") or _CONTINUED.match(body) is not None or body.startswith("and is ")
        if message and not goes_on:
            yield message
            message = []
        if body and not _NOISE.match(body):
            message.append(body)
    if message:
        yield message


@dataclass(slots=True)
class _Pair:
    """Two instructions between which there were hazards."""

    race: RunRace
    different: bool = False
    """Two values that were written at one place differed."""
    told: int = 0
    """Hazards by the analysis; 0 where it says nothing."""


@dataclass(slots=True)
class _Reading:
    path: str
    block: Dim3
    pairs: dict[object, _Pair] = field(default_factory=dict["object", _Pair])
    faults: dict[object, RunFault] = field(default_factory=dict["object", RunFault])
    waiting: dict[object, RunAccess] = field(default_factory=dict["object", RunAccess])
    counted: dict[object, tuple[int, str]] = field(default_factory=dict["object", "tuple[int, str]"])
    """Hazards by instructions of a pair, and the pair in words."""
    other: list[str] = field(default_factory=list[str])
    errors: int | None = None

    def take(self, message: Sequence[str]) -> None:
        head = message[0]
        if (found := _SUMMARY.match(head)) is not None:
            self.errors = (self.errors or 0) + _int(found[1])
        elif (found := _HAZARD.match(head)) is not None:
            self._hazard(found, message)
        elif (found := _ANALYSIS.match(head)) is not None:
            self._analysis(found, message)
        elif (found := _WAITING.match(head)) is not None:
            access = RunAccess("barrier", _point(found, 4), _point(found, 1), self._places([found[7]]), "")
            self.waiting.setdefault((access.places, access.block), access)
        elif not self._fault(message):
            self.other.append(head)

    def _hazard(self, found: re.Match[str], message: Sequence[str]) -> None:
        sides = [side for line in message[1:] if (side := _SIDE.match(line)) is not None]
        if len(sides) != 2:
            self.other.append(message[0])
            return
        block = _point(found, 3)
        first, second = (
            RunAccess(_kind(side[1]), block, _point(side, 2), self._places([side[5]]), "") for side in sides
        )
        written = next((_VALUES.match(line) for line in message if _VALUES.match(line)), None)
        different = found[1] != "WAW" or written is None or written[1] != written[2]
        warps = [self._linear(access.thread) // _WARP for access in (first, second)]
        scope = "intra-warp" if warps[0] == warps[1] else "intra-block"
        key = (*_sides(first, second), scope)
        if key not in self.pairs:
            address = f"memory at {found[2]}"
            self.pairs[key] = _Pair(RunRace(first, second, scope, "shared", address, False, 0, 0))
        pair = self.pairs[key]
        pair.race = replace(pair.race, count=pair.race.count + 1)
        pair.different |= different

    def _analysis(self, found: re.Match[str], message: Sequence[str]) -> None:
        first = (_kind(found[1]), self._places([found[2]]))
        for line in message[1:]:
            other = _OTHER.match(line)
            if other is not None:
                second = (_kind(other[1]), self._places([other[2]]))
                words = f"{found[1]} access at {found[2]} and {line.removeprefix('and ')}"
                self.counted[tuple(sorted((first, second), key=str))] = _int(other[3] or "1"), words

    def _fault(self, message: Sequence[str]) -> bool:
        head = message[0]
        rest = " ".join(line for line in message[1:] if line.startswith(("Address", "Access", "and is")))
        kind: FaultKind
        if (found := _ACCESS.match(head)) is not None:
            kind = "misaligned" if "misaligned" in rest else "out-of-bounds"
            text = "misaligned access" if kind == "misaligned" else "access outside of every array"
            text += f": {_int(found[3])} bytes of {found[1]} memory" + (f". {rest}" if rest else "")
            verb = _kind(found[2])
        elif (found := _UNWRITTEN.match(head)) is not None:
            kind, verb = "uninitialised", "read"
            text = f"{found[1]} memory is read before anybody has written it"
        elif (found := _BARRIER.match(head)) is not None:
            named = next((one for one in _BARRIER_KINDS if found[1].startswith(one[0])), None)
            if named is None:
                return False
            _, kind, text = named
            verb = "barrier"
        else:
            return False
        by = next((match for line in message if (match := _BY.match(line)) is not None), None)
        frames = [line.removeprefix("at ") for line in message[1:] if line.startswith("at ")]
        frames += [line.partition("Device Frame:")[2].strip() for line in message if line.startswith("Device Frame:")]
        if by is None or not frames:
            return False
        access = RunAccess(verb, _point(by, 4), _point(by, 1), self._places(frames), "")
        self.faults.setdefault((kind, access.places), RunFault(kind, text, access))
        return True

    def done(self) -> Report:
        races: list[RunRace] = []
        matched: set[object] = set()
        for pair in self.pairs.values():
            race = replace(pair.race, same_value=not pair.different)
            key = _sides(race.first, race.second)
            matched.add(key)
            alone = sum(_sides(other.race.first, other.race.second) == key for other in self.pairs.values()) == 1
            if key in self.counted and alone:
                race = replace(race, count=max(race.count, self.counted[key][0]))
            races.append(race)
        unmatched = [f"race between {words}" for key, (_, words) in self.counted.items() if key not in matched]
        return Report(
            tuple(races),
            tuple(self.faults.values()),
            tuple(self.waiting.values()),
            tuple(dict.fromkeys((*unmatched, *self.other))),
            self.errors,
        )

    def _places(self, frames: Sequence[str]) -> tuple[Place, ...]:
        """Of frames, innermost first; those without a line are left out."""
        found: list[Place] = []
        for frame in frames:
            text = frame.removeprefix("[clone ").strip()
            match = _FRAME_OLD.match(text) or _FRAME_NEW.match(text)
            if match is not None and match["file"] is not None:
                path = match["file"]
                same = PurePath(path).name == PurePath(self.path).name and (path == PurePath(path).name)
                found.append(Place(self.path if same else path, int(match["line"]), 0, match["function"] or ""))
        return tuple(found)

    def _linear(self, thread: Dim3) -> int:
        return thread[0] + self.block[0] * (thread[1] + self.block[1] * thread[2])


def _sides(first: RunAccess, second: RunAccess) -> tuple[object, ...]:
    return tuple(sorted(((access.kind, access.places) for access in (first, second)), key=str))


def _kind(word: str) -> Literal["read", "write", "atomic"]:
    return _KINDS.get(word.lower(), "atomic")


def _point(match: re.Match[str], first: int) -> Dim3:
    return int(match[first]), int(match[first + 1]), int(match[first + 2])


def _int(text: str) -> int:
    return int(text.replace(",", ""))
