"""ScoR's micro benchmarks (Kamath et al., ISCA 2020): scoped synchronization, 18 programs with a race and 14 without.

Fetches them at a pinned commit into ``benchmarks/.cache``, checks each with the flags of its makefile, and writes
``benchmarks/scor.md``. What is true of a program, its name says: ``race_…`` or ``norace_…``.

    python -m benchmarks scor [PROGRAM ...]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analyzers.model import UnitResult, Verdict
from benchmarks.hgrd import unit_of
from benchmarks.hgrd_programs import Program
from benchmarks.repositories import Repository

HERE = Path(__file__).resolve().parent

_SCOR: Final = Repository("csl-iisc/ScoR", "6dc3507ecc419aac6ea3a49ec746b610d5029219")
_FOLDER: Final = "microbenchmarks/src"
_FLAGS: Final = ("-arch=compute_60",)

NAMES: Final = (
    "norace_interblock_atom", "norace_interblock_fence_raw", "norace_interblock_lock_waw",
    "norace_interwarp-block_fence-atom_hrd-indirect", "norace_interwarp-block_fence_hrf-indirect",
    "norace_interwarp_blkatom", "norace_interwarp_blkfence_raw", "norace_interwarp_blklock_waw",
    "norace_interwarp_dev-blkatom", "norace_interwarp_dev-blklock_waw", "norace_interwarp_fence_raw",
    "norace_intrawarp_none-blkatom", "norace_intrawarp_none-blklock-no-tf_waw", "norace_intrawarp_none-blklock_waw",
    "race_interblock_blkatom", "race_interblock_blkfence_raw", "race_interblock_blklock_waw",
    "race_interblock_fence_rtraw", "race_interblock_lock-blkfence_waw", "race_interblock_lock-no-stf_waw",
    "race_interblock_lock-no-tf_waw", "race_interblock_none-atom_waw", "race_interblock_none-lock_rtraw",
    "race_interblock_none-lock_waw", "race_interwarp_blklock-no-stf_waw", "race_interwarp_blklock-no-tf_waw",
    "race_interwarp_dev-blklock-no-stf_waw", "race_interwarp_dev-blklock-no-tf_waw", "race_interwarp_none-atom_waw",
    "race_interwarp_none-blkatom_waw", "race_interwarp_none-blklock_waw", "race_interwarp_none-lock_waw",
)  # fmt: skip

_ORDERING: Final = ("flags and counters", "volatile and atomic")
"""How the assumptions begin that order by locks and signals rests on."""

_INTRODUCTION = """# ScoR's micro benchmarks

`python -m benchmarks scor`; the sources are fetched from their repository at a pinned commit, none is in this
repository, and are checked with the flag of their makefile (`-arch=compute_60`). What is true of a program, its name
says. A program with a race is right when one is reported (`data-race` or `possible-data-race`), one without when it is
`race-free`. *Why*: what the finding says is missing; for a proof, which assumptions on signals it lists (S: flags
are zero at the start, A: volatile and atomic accesses behind a wait need no fence). Milliseconds: the check alone,
parsing included."""


@dataclass(frozen=True, slots=True)
class Row:
    """One program and what was found in it."""

    name: str
    verdict: str
    right: bool
    why: str
    milliseconds: float


def check(name: str) -> Row:
    """Check one program in this process."""
    program = Program(name, f"{_FOLDER}/{name}.cu", _SCOR, flags=_FLAGS)
    unit, _, milliseconds = unit_of(program, use_host=True)
    return Row(name, _verdict(unit).value, is_right(name, unit), _why(unit), milliseconds)


def is_right(name: str, unit: UnitResult) -> bool:
    """Whether the verdict is what the name says, with nothing left open."""
    if not unit.kernels or any(c.reasons for k in unit.kernels for c in k.contexts):
        return False
    if name.startswith("race_"):
        return _verdict(unit) in (Verdict.DATA_RACE, Verdict.POSSIBLE_DATA_RACE)
    return _verdict(unit) is Verdict.RACE_FREE


def _verdict(unit: UnitResult) -> Verdict:
    return min((k.verdict for k in unit.kernels), key=lambda v: v.rank, default=Verdict.UNKNOWN)


def _why(unit: UnitResult) -> str:
    contexts = [c for k in unit.kernels for c in k.contexts]
    findings = [f for c in contexts for f in c.findings]
    if findings:
        return next((line.text for f in findings for line in f.explanation), findings[0].message)
    assumed = {a for c in contexts for a in c.assumptions}
    return " ".join(
        letter for letter, start in zip("SA", _ORDERING, strict=True) if any(a.startswith(start) for a in assumed)
    )


def table(rows: Sequence[Row]) -> str:
    """The results as Markdown."""
    right = sum(r.right for r in rows)
    seconds = sum(r.milliseconds for r in rows) / 1000
    out = [_INTRODUCTION, "", f"**{right} of {len(rows)} programs right, {seconds:.1f} s in all.**", ""]
    out += ["| program | verdict | right | why | ms |", "|---|---|---|---|---|"]
    out += [
        f"| {r.name} | {r.verdict} | {'yes' if r.right else '**no**'} | {r.why} | {r.milliseconds:.0f} |" for r in rows
    ]
    return "\n".join(out) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Run and write the table; with program names, print their rows only."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks scor", description=__doc__)
    parser.add_argument("programs", nargs="*", help="only these rows")
    chosen = parser.parse_args(arguments).programs
    text = table([check(name) for name in NAMES if not chosen or name in chosen])
    print(text)
    if not chosen:
        (HERE / "scor.md").write_text(text)


if __name__ == "__main__":
    main()
