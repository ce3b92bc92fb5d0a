"""The baseline of a run: which entries no longer occur, and the file that `--write-baseline` makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from cuda_lsp.adoption import baseline
from cuda_lsp.adoption.baseline import Baseline, BaselineError
from cuda_lsp.adoption.fingerprints import Identity, base_name
from cuda_lsp.adoption.muting import findings_of
from cuda_lsp.cli.exit_codes import UsageError
from cuda_lsp.cli.judging import JudgedUnit
from cuda_lsp.workspace.spelling import one_spelling


def named(path: str) -> Baseline:
    """The one that the command line names. Raises `UsageError`."""
    try:
        return baseline.load(one_spelling(Path.cwd() / path))
    except BaselineError as error:
        raise UsageError(f"--baseline {path}: {error}") from None


def gone(units: Sequence[JudgedUnit], folders: Iterable[str]) -> list[Identity]:
    """Entries without a finding. Only files count that were analysed in full: main files of units, and headers below
    folders that were checked as a whole; and of these no kernel that is unknown now."""
    checked = _checked(units, tuple(folders))
    found = {(each.path, each.fingerprint) for each in _identities(units)}
    undecided = _undecided(units)
    entries = {judged.baseline.path: judged.baseline for judged in units if judged.baseline is not None}
    return [
        entry
        for known in entries.values()
        for key, entry in known.entries.items()
        if key not in found
        and (entry.path in checked or not Path(entry.path).exists())
        and entry.kernel not in undecided
    ]


def write(path: str, units: Sequence[JudgedUnit], folders: Iterable[str]) -> int:
    """Write what was found and is neither suppressed nor switched off; gives how many entries there are. What a file
    that is there says of files that this run has not looked at, and of kernels that are unknown now, is kept."""
    target = one_spelling(Path.cwd() / path)
    checked = _checked(units, tuple(folders))
    undecided = _undecided(units)
    found = {(each.path, each.fingerprint) for each in _identities(units)}
    kept: list[Identity] = []
    if Path(target).exists():
        try:
            old = baseline.load(target)
        except BaselineError as error:
            raise UsageError(f"--write-baseline {path}: {error}") from None
        kept = [
            entry
            for key, entry in old.entries.items()
            if Path(entry.path).exists()
            and (entry.path not in checked or (entry.kernel in undecided and key not in found))
        ]
    return baseline.write(target, [*kept, *_identities(units, but=("suppressed", "off"))])


def require_writable(path: str) -> None:
    """Raises `UsageError` before the analysis rather than after it."""
    target = Path(path)
    if target.is_dir():
        raise UsageError(f"--write-baseline {path}: this is a folder, not a file")
    if not target.parent.is_dir():
        raise UsageError(f"--write-baseline {path}: there is no folder {target.parent}")


def _undecided(units: Iterable[JudgedUnit]) -> set[str]:
    """Names of the kernels of which something is unknown: what was known of them may still be there."""
    return {
        base_name(kernel.name)
        for judged in units
        for kernel in judged.unit.kernels
        if any(context.reasons for context in kernel.contexts)
    }


def _checked(units: Iterable[JudgedUnit], folders: tuple[str, ...]) -> set[str]:
    """Files of which every finding is known now."""
    found: set[str] = set()
    for judged in units:
        unit = judged.unit
        if unit.failure is None and not unit.syntax:
            found.add(unit.path)
            headers = {*unit.dependencies} - {*unit.linked}
            found.update(path for path in headers if any(Path(path).is_relative_to(top) for top in folders))
    return found


def _identities(units: Iterable[JudgedUnit], but: Sequence[str] = ()) -> Iterator[Identity]:
    for judged in units:
        for kernel in judged.unit.kernels:
            for finding in findings_of(kernel):
                muted = judged.muted(kernel, finding)
                if muted is None or muted.how not in but:
                    yield judged.identity(kernel, finding)
