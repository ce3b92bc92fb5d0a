"""Results and requests as JSON: what crosses the pipe to a worker and what lies in the disk cache.

Takes and gives the frozen dataclasses of `analyzers`. A class becomes the array of its fields, so both ends must be the
same version of the program. A kernel's result is split in two: a body without positions, which is a JSON text that
stays the same while the kernel only moves, and a table of its source spans.
"""

from __future__ import annotations

import dataclasses
import json
import types as python_types
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from analyzers.model import KernelResult, SourceSpan

T = TypeVar("T")

#: A span as it travels: path number, start line and column, end line and column, start and end offset.
SpanRow = tuple[int, int, int, int, int, int, int]


class SpanTable:
    """The distinct spans of one value, and the distinct paths of those."""

    __slots__ = ("_path_numbers", "_span_numbers", "paths", "rows", "spans")

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.rows: list[SpanRow] = []
        self.spans: list[SourceSpan] = []
        self._path_numbers: dict[str, int] = {}
        self._span_numbers: dict[SourceSpan, int] = {}

    def number(self, span: SourceSpan) -> int:
        number = self._span_numbers.get(span)
        if number is None:
            number = self._span_numbers[span] = len(self.rows)
            path = self._path_numbers.get(span.path)
            if path is None:
                path = self._path_numbers[span.path] = len(self.paths)
                self.paths.append(span.path)
            self.spans.append(span)
            self.rows.append(
                (
                    path,
                    span.start_line,
                    span.start_column,
                    span.end_line,
                    span.end_column,
                    span.start_offset,
                    span.end_offset,
                )
            )
        return number

    @classmethod
    def read(cls, paths: list[str], rows: list[SpanRow]) -> SpanTable:
        table = cls()
        table.paths, table.rows = paths, rows
        table.spans = [SourceSpan(paths[row[0]], *row[1:]) for row in rows]
        return table


_Encode = Callable[[Any, SpanTable], Any]
_Decode = Callable[[Any, SpanTable], Any]
_PLAIN = (str, int, float, bool, type(None), object)


def dump(value: object, declared: object = None) -> Any:
    """A value as JSON-able data with its spans in it; `declared` is its type, by default its class."""
    table = SpanTable()
    encode, _ = _codec(declared or type(value))
    return [encode(value, table) if encode else value, table.paths, table.rows]


def load(declared: type[T], data: Any) -> T:
    """The inverse of `dump`."""
    body, paths, rows = data
    _, decode = _codec(declared)
    return cast(T, decode(body, SpanTable.read(paths, rows)) if decode else body)


def dump_kernel(kernel: KernelResult) -> tuple[str, SpanTable]:
    """A kernel's result as a body without positions and the spans that the body numbers."""
    table = SpanTable()
    encode, _ = _codec(KernelResult)
    assert encode is not None
    # The order of the spans is part of the body: equal bodies have tables of the same shape.
    return json.dumps(encode(kernel, table), separators=(",", ":")), table


def load_kernel(body: str, table: SpanTable) -> KernelResult:
    """The inverse of `dump_kernel`."""
    _, decode = _codec(KernelResult)
    assert decode is not None
    return cast(KernelResult, decode(json.loads(body), table))


def _encode_span(span: Any, table: SpanTable) -> Any:
    return table.number(span)


def _decode_span(number: int, table: SpanTable) -> SourceSpan:
    return table.spans[number]


def _enum_decoder(declared: type[Enum]) -> _Decode:
    def decode_member(value: Any, _table: SpanTable) -> Any:
        return declared(value)

    return decode_member


@cache
def _codec(declared: Any) -> tuple[_Encode | None, _Decode | None]:
    """How values of a declared type become JSON and back; None where they are JSON already."""
    if declared is SourceSpan:
        return _encode_span, _decode_span
    if declared in _PLAIN:
        return None, None
    if isinstance(declared, type) and issubclass(declared, Enum):
        return (lambda member, _table: member.value), _enum_decoder(declared)
    if isinstance(declared, type) and dataclasses.is_dataclass(declared):
        return _record(declared)
    origin, arguments = get_origin(declared), get_args(declared)
    if origin is Literal:
        return None, None
    if origin in (Union, python_types.UnionType):
        return _optional(declared, arguments)
    if origin is tuple:
        return _tuple(arguments)
    if origin is list:
        return _sequence(arguments[0], list)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(arguments[1])
    raise TypeError(f"no wire form for {declared!r}")


def _record(declared: type) -> tuple[_Encode, _Decode]:
    hints = get_type_hints(declared)
    names = [field.name for field in dataclasses.fields(declared)]
    codecs = [_codec(hints[name]) for name in names]
    encoders = [(name, encode) for name, (encode, _) in zip(names, codecs, strict=True)]
    decoders = [decode for _, decode in codecs]

    def encode_record(value: Any, table: SpanTable) -> list[Any]:
        return [
            getattr(value, name) if encode is None else encode(getattr(value, name), table) for name, encode in encoders
        ]

    def decode_record(data: Any, table: SpanTable) -> Any:
        return declared(
            *(item if decode is None else decode(item, table) for item, decode in zip(data, decoders, strict=True))
        )

    return encode_record, decode_record


def _optional(declared: Any, arguments: tuple[Any, ...]) -> tuple[_Encode | None, _Decode | None]:
    codecs = [_codec(argument) for argument in arguments if argument is not type(None)]
    if all(codec == (None, None) for codec in codecs):
        return None, None
    if len(codecs) != 1:
        raise TypeError(f"no wire form for {declared!r}")
    encode, decode = codecs[0]

    def encode_optional(value: Any, table: SpanTable) -> Any:
        return None if value is None or encode is None else encode(value, table)

    def decode_optional(data: Any, table: SpanTable) -> Any:
        return None if data is None or decode is None else decode(data, table)

    return encode_optional if encode else None, decode_optional if decode else None


def _tuple(arguments: tuple[Any, ...]) -> tuple[_Encode | None, _Decode | None]:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return _sequence(arguments[0], tuple)
    codecs = [_codec(argument) for argument in arguments]
    if all(codec == (None, None) for codec in codecs):
        return None, lambda data, _table: tuple(data)
    return (
        lambda value, table: [
            encode(item, table) if encode else item for item, (encode, _) in zip(value, codecs, strict=True)
        ],
        lambda data, table: tuple(
            decode(item, table) if decode else item for item, (_, decode) in zip(data, codecs, strict=True)
        ),
    )


def _sequence(item: Any, kind: type[list[Any]] | type[tuple[Any, ...]]) -> tuple[_Encode | None, _Decode | None]:
    encode, decode = _codec(item)
    if decode is None:
        return None, lambda data, _table: kind(data)
    return (
        (lambda value, table: [encode(element, table) for element in value]) if encode else None,
        lambda data, table: kind(decode(element, table) for element in data),
    )


def _mapping(item: Any) -> tuple[_Encode | None, _Decode | None]:
    encode, decode = _codec(item)
    return (
        lambda value, table: {key: encode(element, table) if encode else element for key, element in value.items()},
        lambda data, table: {key: decode(element, table) if decode else element for key, element in data.items()},
    )
