"""The settings: one schema, and how layers of values become a `Settings`.

Layers, later ones winning: the defaults here, the client's `initializationOptions`, the client's settings (section
`cuda-lsp`), the project's `.cuda-lsp.toml`. The project file wins because its settings decide verdicts, and a project
should get the same verdicts in every editor and on the command line; also, editors send their defaults as if the user
had chosen them. Names are in kebab case; `camelCase` and `snake_case` are taken for the same. A value that does not fit
is reported once and counts as absent; of a table only the entry.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

from analyzers.model import CheckOptions, Severity, Verdict
from cuda_lsp.adoption.comments import CODES, CommentCode

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_DECLARATIONS: Final = frozenset({"clientCommands", "diagnosticsInHover"})
SECTION: Final = "cuda-lsp"
PROJECT_FILE: Final = ".cuda-lsp.toml"

SeverityChoice = Literal["error", "warning", "information", "hint", "off"]
RunOn = Literal["cpu", "gpu", "auto"]
LOG_LEVELS: Final = ("error", "warning", "info", "debug")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings with their defaults. The descriptions are those of `OPTIONS`."""

    check_on: Literal["save", "change"] = "save"
    debounce_ms: int = 400
    arch: int | None = None
    extra_args: tuple[str, ...] = ()
    compile_commands: str | None = None
    use_host: bool = True
    warp_lockstep: bool = False
    wrap_around: bool = False
    redundant_barriers: bool = True
    kernel_effort: int = CheckOptions().kernel_effort
    smt_budget: int = CheckOptions().smt_budget
    baseline: str | None = None
    severity: Mapping[str, SeverityChoice] = field(default_factory=dict[str, SeverityChoice])
    workers: int = 2
    hang_seconds: int = 60
    disk_cache: bool = True
    code_lens: bool = True
    inlay_hints: bool = False
    documentation_url: str | None = None
    trusted: bool = False
    run_on: RunOn = "cpu"
    log_level: str = "warning"

    def check_options(self) -> CheckOptions:
        """The part that steers the analysis."""
        return CheckOptions(
            use_host=self.use_host,
            warp_lockstep=self.warp_lockstep,
            wrap_around=self.wrap_around,
            kernel_effort=self.kernel_effort,
            smt_budget=self.smt_budget,
            redundancy=self.redundant_barriers,
        )

    def severity_of(self, code: Verdict | CommentCode, own: Severity) -> Severity | None:
        """How loudly a finding speaks, `own` unless the user chose otherwise; None: not at all."""
        chosen = self.severity.get(code.value)
        if chosen is None:
            return own
        return None if chosen == "off" else Severity(chosen)


class _BadValueError(ValueError):
    """What was expected, as the end of the sentence "expected …"."""


class _BadEntriesError(ValueError):
    """Some entries of a table were bad: the others, and a sentence for each bad one."""

    def __init__(self, value: Any, problems: Sequence[str]) -> None:
        super().__init__(*problems)
        self.value = value
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Option:
    """One setting as a user writes it."""

    name: str
    description: str
    read: Callable[[Any], Any]
    """The value as `Settings` holds it; raises `_BadValueError`."""
    schema: Mapping[str, Any]
    """JSON schema of the value, for editors."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A value or name that was not taken, and where it came from; `text` is a sentence for the user."""

    source: str
    text: str

    def __str__(self) -> str:
        return f"{self.source}: {self.text}"


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one place; `source` names it in warnings."""

    source: str
    values: Mapping[str, Any]


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise _BadValueError("true or false")


def _integer(low: int, high: int) -> Callable[[Any], int]:
    def read(value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            # JSON has one kind of number, and some clients (Lua's) write every one as a float.
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return value
        raise _BadValueError(f"a whole number from {low} to {high}")

    return read


def _choice(*allowed: str) -> Callable[[Any], str]:
    def read(value: Any) -> str:
        if isinstance(value, str) and value.lower() in allowed:
            return value.lower()
        raise _BadValueError("one of " + ", ".join(f'"{word}"' for word in allowed))

    return read


def _architecture(value: Any) -> int | None:
    if value is None or value == "":
        return None
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    match = re.fullmatch(r"(?:sm_|compute_)?(\d{2,3})[af]?", text)
    if match is None or not 30 <= int(match[1]) <= 200:
        raise _BadValueError('an architecture such as "sm_80" or 80')
    return int(match[1])


def _strings(value: Any) -> tuple[str, ...]:
    items = cast("list[Any]", value) if isinstance(value, list) else None
    if items is None or not all(isinstance(item, str) for item in items):
        raise _BadValueError("a list of strings")
    return tuple(items)


def _path(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _BadValueError("a path")
    return value


def _url(value: Any) -> str | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str) or not re.match(r"(https?|file)://\S+$", value):
        raise _BadValueError("an address that begins with https://, http:// or file://")
    return value.rstrip("/")


def _severities(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        raise _BadValueError("a table from code to severity")
    read = _choice(*_SEVERITIES)
    table: dict[str, str] = {}
    bad: list[str] = []
    for code, severity in cast("dict[Any, Any]", value).items():
        if code not in _CODES:
            bad.append(f"“severity”: there is no code “{code}”: {_near(str(code), _CODES)}")
            continue
        try:
            table[code] = read(severity)
        except _BadValueError as error:
            bad.append(
                f"{_shown(severity)} is no value for “severity”, “{code}”, expected {error}; findings keep their own"
            )
    if bad:
        raise _BadEntriesError(table, bad)
    return table


def _near(word: str, words: Sequence[str]) -> str:
    """What may have been meant."""
    near = difflib.get_close_matches(word, words, n=1)
    return f"did you mean “{near[0]}”?" if near else f"there are {', '.join(words)}"


_SEVERITIES: Final = (*(severity.value for severity in Severity), "off")
_CODES: Final = (*CODES, *(code.value for code in CommentCode))

OPTIONS: Final[tuple[Option, ...]] = (
    Option(
        "check-on",
        "When a document is checked: “save”, or “change” to check also while you type, after a pause.",
        _choice("save", "change"),
        {"enum": ["save", "change"]},
    ),
    Option(
        "debounce-ms",
        "With check-on = change: how long the typing must pause, in milliseconds.",
        _integer(50, 10_000),
        {"type": "integer", "minimum": 50, "maximum": 10_000},
    ),
    Option(
        "arch",
        "The GPU architecture to analyse for, such as “sm_80”; by default that of the compile command, or sm_80.",
        _architecture,
        {"type": ["string", "integer", "null"]},
    ),
    Option(
        "extra-args",
        "Compiler flags added to every compile command: macros, include folders, the language standard.",
        _strings,
        {"type": "array", "items": {"type": "string"}},
    ),
    Option(
        "compile-commands",
        "The compilation database, or the folder it lies in; by default it is looked for beside and above each file.",
        _path,
        {"type": ["string", "null"]},
    ),
    Option(
        "use-host",
        "Use what the host code says about each launch; without it only the hardware's limits are known.",
        _flag,
        {"type": "boolean"},
    ),
    Option(
        "warp-lockstep",
        "Let the 32 threads of a warp run in lock-step, as they did before Volta.",
        _flag,
        {"type": "boolean"},
    ),
    Option(
        "wrap-around",
        "Report races that need unsigned index arithmetic on sizes that nothing limits to wrap around at 2^32.",
        _flag,
        {"type": "boolean"},
    ),
    Option("redundant-barriers", "Look for barriers that order nothing.", _flag, {"type": "boolean"}),
    Option(
        "kernel-effort",
        "How long a kernel under one launch may take, in units of about a millisecond; what is open then is unknown.",
        _integer(1, 10_000_000),
        {"type": "integer", "minimum": 1, "maximum": 10_000_000},
    ),
    Option(
        "smt-budget",
        "The effort for one solver query, in Z3 resource units: more decides more and takes longer.",
        _integer(1_000, 2_000_000_000),
        {"type": "integer", "minimum": 1_000, "maximum": 2_000_000_000},
    ),
    Option(
        "baseline",
        "The file with the findings that are known and not shown, as “cuda-lsp check --write-baseline” writes it.",
        _path,
        {"type": ["string", "null"]},
    ),
    Option(
        "severity",
        "How loudly findings of each code speak; “off” hides them. On the command line those that are made an error or "
        "a warning here make a check fail, the others do not.",
        _severities,
        {"type": "object", "propertyNames": {"enum": list(_CODES)}, "additionalProperties": {"enum": [*_SEVERITIES]}},
    ),
    Option(
        "workers",
        "How many analysis processes may run.",
        _integer(1, 2),
        {"type": "integer", "minimum": 1, "maximum": 2},
    ),
    Option(
        "hang-seconds",
        "How long an analysis process may say nothing before it is replaced.",
        _integer(1, 3_600),
        {"type": "integer", "minimum": 1, "maximum": 3_600},
    ),
    Option("disk-cache", "Keep results in the user's cache directory.", _flag, {"type": "boolean"}),
    Option("code-lens", "Show the verdict over each kernel and launch.", _flag, {"type": "boolean"}),
    Option(
        "inlay-hints",
        "Show what the host code says about the parameters of a kernel, beside each of them.",
        _flag,
        {"type": "boolean"},
    ),
    Option(
        "documentation-url",
        "Where the documentation is read that diagnostics link to, at diagnostics/<code>.md below this address; by "
        "default the pages that are installed with the server.",
        _url,
        {"type": ["string", "null"]},
    ),
    Option(
        "trusted",
        "Whether kernels of this workspace may be executed. Only your editor may say so: in a project file it has no "
        "effect.",
        _flag,
        {"type": "boolean"},
    ),
    Option(
        "run-on",
        "Where kernels are executed under the race detector: on the processor (“cpu”), the first NVIDIA GPU (“gpu”), "
        "or on a GPU where there is one that can run the kernel (“auto”).",
        _choice(*get_args(RunOn)),
        {"enum": [*get_args(RunOn)]},
    ),
    Option(
        "log-level",
        "What goes to standard error: " + ", ".join(f"“{level}”" for level in LOG_LEVELS) + ".",
        _choice(*LOG_LEVELS),
        {"enum": list(LOG_LEVELS)},
    ),
)

_OPTION_BY_NAME: Final = {option.name: option for option in OPTIONS}


def merge(layers: Iterable[Layer]) -> tuple[Settings, tuple[Problem, ...]]:
    """The settings that layers give, weakest first, and what was wrong with them."""
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for layer in layers:
        for written, value in layer.values.items():
            name = kebab(written)
            option = _OPTION_BY_NAME.get(name)
            if option is None:
                near = difflib.get_close_matches(name, _OPTION_BY_NAME, n=1)
                hint = f": did you mean “{near[0]}”?" if near else ""
                problems.append(Problem(layer.source, f"there is no setting “{written}”{hint}"))
                continue
            try:
                values[name.replace("-", "_")] = option.read(value)
            except _BadEntriesError as error:
                values[name.replace("-", "_")] = error.value
                problems.extend(Problem(layer.source, text) for text in error.problems)
            except _BadValueError as error:
                default = getattr(Settings(), name.replace("-", "_"))
                held = f"the default {_shown(default)}" if default is not None else "the default"
                text = (
                    f"{_shown(value)} is no value for “{written}”, expected {error}; without another value {held} holds"
                )
                problems.append(Problem(layer.source, text))
    return Settings(**values), tuple(problems)


def kebab(name: str) -> str:
    """`debounceMs` and `debounce_ms` as `debounce-ms`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda match: "-" + match[1].lower(), name).replace("_", "-").lower()


def _shown(value: object) -> str:
    """A value as users write it, in JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        text = str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def from_client(value: object) -> Mapping[str, Any]:
    """The values of a client's answer or `initializationOptions`: a table, perhaps in its section; null is empty."""
    if not isinstance(value, dict):
        return {}
    table = cast("dict[str, Any]", value)
    inner = table.get(SECTION)
    if isinstance(inner, dict):
        return cast("dict[str, Any]", inner)
    # A key set to null means "not set" in every client; what the client says of itself is no setting.
    return {name: item for name, item in table.items() if item is not None and name not in _DECLARATIONS}


EDITOR_ONLY: Final = frozenset({"trusted"})
"""Settings that a project cannot give itself."""


def parse_project_file(text: str, path: str) -> tuple[Layer, tuple[Problem, ...]]:
    """The layer of a `.cuda-lsp.toml`; one that is no TOML gives no values and a problem."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Layer(path, {}), (Problem(path, f"not a TOML file: {error}"),)
    kept = {name: value for name, value in values.items() if kebab(name) not in EDITOR_ONLY}
    problems = (
        Problem(path, f"“{name}” is for the editor to say, not for a project") for name in values if name not in kept
    )
    return Layer(path, kept), tuple(problems)


def load_project_file(path: Path) -> tuple[Layer, tuple[Problem, ...]]:
    """Read and parse a `.cuda-lsp.toml`; one that cannot be read gives no values and a problem."""
    try:
        return parse_project_file(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        return Layer(str(path), {}), (Problem(str(path), f"cannot be read: {error.strerror or error}"),)
    except UnicodeDecodeError as error:
        return Layer(str(path), {}), (Problem(str(path), f"cannot be read: {error}"),)


def find_project_file(start: Path, top: Path | None) -> Path | None:
    """The nearest `.cuda-lsp.toml` in `start` or above it, not above `top` when that contains `start`."""
    for folder in (start, *start.parents):
        candidate = folder / PROJECT_FILE
        if candidate.is_file():
            return candidate
        if folder == top:
            return None
    return None


def json_schema() -> Mapping[str, Any]:
    """The schema of a settings table, for editors and documentation."""
    properties: dict[str, Any] = {}
    for option in OPTIONS:
        default = getattr(Settings(), option.name.replace("-", "_"))
        properties[option.name] = {
            **option.schema,
            "default": list(cast("Sequence[Any]", default)) if isinstance(default, tuple) else default,
            "description": option.description,
        }
    return {"type": "object", "properties": properties, "additionalProperties": False}


assert {option.name.replace("-", "_") for option in OPTIONS} == {field.name for field in fields(Settings)}
