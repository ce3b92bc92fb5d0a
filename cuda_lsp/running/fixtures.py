"""Real inputs for a run: ``// cuda-lsp: run …`` above a kernel, or a TOML file.

    // cuda-lsp: run grid=(4) block=(128) n=512 a=512:iota index=0,2,1 shared=1024 seeds=8
    // cuda-lsp: run inputs=shift.toml

A value is what ``--arg`` takes. In a TOML file each ``[[run]]`` is one run; ``kernel`` says whose, where there are
several:

    [[run]]
    kernel = "shift"
    grid = 4
    block = [128, 1]
    [run.arguments]
    n = 512
    a = "512:iota"
    index = [0, 2, 1]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from analyzers.ir.names import is_called
from cuda_lsp.running.arguments import ArgumentError, dimensions
from gpu_runner.request import Dim3

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ITEM: Final = re.compile(r"[\s;]*([A-Za-z_]\w*)\s*=\s*(\([^()]*\)|[^\s;()]+)")
_SIZES: Final = {"grid": "grid", "griddim": "grid", "block": "block", "blockdim": "block"}
_MOST_BYTES: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Fixture:
    """One run. What is None or not among the arguments is left to whoever runs it."""

    grid: Dim3 | None = None
    block: Dim3 | None = None
    arguments: tuple[str, ...] = ()
    """``name=value``."""
    shared: int | None = None
    seeds: int | None = None
    title: str = field(default="", compare=False)


def parse_fixture(text: str, folder: str, kernel: str) -> tuple[Fixture, ...]:
    """What a ``run`` comment says, its words without ``cuda-lsp: run``. Files are looked for in `folder`. Raises
    `ArgumentError`."""
    given: dict[str, str] = {}
    at = 0
    while text[at:].strip(" \t;"):
        item = _ITEM.match(text, at)
        if item is None:
            rest = text[at:].strip(" \t;")
            raise ArgumentError(f"cuda-lsp: run {text}: expected name=value at '{rest}'")
        name = _SIZES.get(item[1].lower(), item[1])
        if name in given:
            raise ArgumentError(f"cuda-lsp: run {text}: {name} is given twice")
        given[name] = item[2]
        at = item.end()
    file = given.pop("inputs", None)
    if file is not None:
        if given:
            raise ArgumentError(f"cuda-lsp: run {text}: inputs={file} is given together with {', '.join(given)}")
        return tuple(fixtures_of(Path(folder) / file, kernel))
    try:
        sizes = {name: dimensions(given.pop(name), name) for name in ("grid", "block") if name in given}
        numbers = {name: _count(name, given.pop(name)) for name in ("shared", "seeds") if name in given}
    except ArgumentError as error:
        raise ArgumentError(f"cuda-lsp: run {text}: {error}") from None
    arguments = tuple(f"{name}={value}" for name, value in given.items())
    fixture = Fixture(
        sizes.get("grid"),
        sizes.get("block"),
        arguments,
        numbers.get("shared"),
        numbers.get("seeds"),
        f"run {text}".rstrip(),
    )
    return (fixture,)


def fixtures_of(path: Path, kernel: str) -> Iterator[Fixture]:
    """The runs of a TOML file that are for a kernel; what is wrong in those for others does not matter. Raises
    `ArgumentError`."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ArgumentError(f"{path}: longer than {_MOST_BYTES >> 20} MiB")
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ArgumentError(f"{path} cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ArgumentError(f"{path}: not a TOML file: {error}") from None
    runs: Any = document.get("run")
    if not isinstance(runs, list) or not runs:
        raise ArgumentError(f"{path}: there is no [[run]] in it")
    unknown = sorted(set(document) - {"run"})
    if unknown:
        raise ArgumentError(f"{path}: nothing is called {', '.join(unknown)} outside of a [[run]]")
    for number, run in enumerate(cast("list[Any]", runs), 1):
        if not isinstance(run, dict):
            raise ArgumentError(f"{path}: run {number} is no table")
        table = cast("dict[str, Any]", run)
        meant: Any = table.get("kernel", kernel)
        if not isinstance(meant, str) or not meant:
            raise ArgumentError(f"{path}: run {number}: kernel = {meant!r} is no name of a kernel")
        if is_called(meant, kernel):
            yield _fixture(table, f"{path.name}, run {number}")


def _fixture(table: Mapping[str, Any], title: str) -> Fixture:
    unknown = set(table) - {"kernel", "grid", "block", "arguments", "shared", "seeds"}
    if unknown:
        raise ArgumentError(f"{title}: nothing is called {', '.join(sorted(unknown))} here")
    arguments: Any = table.get("arguments", {})
    if not isinstance(arguments, dict):
        raise ArgumentError(f"{title}: arguments is no table")
    values = tuple(f"{name}={_value(value, title)}" for name, value in cast("dict[str, Any]", arguments).items())
    try:
        sizes = {name: dimensions(_value(table[name], title), name) for name in ("grid", "block") if name in table}
        numbers = {name: _count(name, str(table[name])) for name in ("shared", "seeds") if name in table}
    except ArgumentError as error:
        text = str(error)
        raise ArgumentError(text if text.startswith(title) else f"{title}: {text}") from None
    return Fixture(sizes.get("grid"), sizes.get("block"), values, numbers.get("shared"), numbers.get("seeds"), title)


def _value(value: Any, title: str) -> str:
    if isinstance(value, list):
        return ",".join(_value(item, title) for item in cast("list[Any]", value))
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float | str):
        return str(value)
    raise ArgumentError(f"{title}: {value!r} is neither a number, a text nor a list")


def _count(name: str, text: str) -> int:
    try:
        number = int(text, 0)
    except ValueError:
        number = -1
    if number < 0 or (name == "seeds" and not 1 <= number <= 1000):
        raise ArgumentError(f"{name}={text}: expected a positive number")
    return number
