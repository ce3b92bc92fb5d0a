"""Positions: every encoding, line end and kind of character, against a slow and obvious conversion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from analyzers.model import SourceSpan
from cuda_lsp.positions import Encoding, LineIndex, negotiated, unchecked_range, well_formed

ALPHABET = "ab\t\n\rä€𝄞́"
TEXTS = st.text(alphabet=ALPHABET, max_size=40)
ENCODINGS = st.sampled_from(list(Encoding))


def units(text: str, encoding: Encoding) -> int:
    if encoding is Encoding.UTF8:
        return len(text.encode())
    return len(text) if encoding is Encoding.UTF32 else sum(2 if ord(char) > 0xFFFF else 1 for char in text)


def slow_position(text: str, offset: int, encoding: Encoding) -> types.Position:
    """Walk over the text, character by character, to a byte offset that starts a character."""
    line, line_start, at, used = 0, 0, 0, 0
    while used < offset:
        used += len(text[at].encode())
        at += 1
        ended = text[at - 1] == "\n" or (text[at - 1] == "\r" and text[at : at + 1] != "\n")
        if ended:
            line, line_start = line + 1, at
    return types.Position(line, units(text[line_start:at], encoding))


@given(TEXTS, ENCODINGS, st.data())
def test_offsets_become_the_positions_of_the_slow_conversion_and_back(
    text: str, encoding: Encoding, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(text)))
    if text[at - 1 : at + 1] == "\r\n":
        at -= 1  # no position lies between CR and LF
    offset = len(text[:at].encode())
    index = LineIndex(text)
    position = index.position(offset, encoding)
    assert position == slow_position(text, offset, encoding)
    assert index.byte_offset(position, encoding) == offset
    assert index.text_offset(position, encoding) == at


@given(TEXTS, ENCODINGS, st.integers(0, 9), st.integers(0, 30))
def test_any_position_of_a_client_gives_a_character_boundary(
    text: str, encoding: Encoding, line: int, character: int
) -> None:
    index = LineIndex(text)
    position = types.Position(line, character)
    offset = index.byte_offset(position, encoding)
    assert text.encode()[:offset].decode() == text[: index.text_offset(position, encoding)]


def test_positions_beyond_line_and_text_are_clamped() -> None:
    index = LineIndex("ab\r\ncd")
    assert index.byte_offset(types.Position(0, 99), Encoding.UTF16) == 2
    assert index.byte_offset(types.Position(7, 0), Encoding.UTF16) == 6
    assert index.position(99, Encoding.UTF16) == types.Position(1, 2)
    assert index.line(5) == ""


@pytest.mark.parametrize(
    ("encoding", "start", "end"), [(Encoding.UTF8, 8, 10), (Encoding.UTF16, 5, 7), (Encoding.UTF32, 4, 6)]
)
def test_a_span_counts_bytes_and_a_range_the_clients_units(encoding: Encoding, start: int, end: int) -> None:
    text = 'x\n"𝄞ä"s[i]\n'
    line = text.splitlines()[1]
    first = len(line[: line.index("s[")].encode()) + 1
    # The span starts at `s`, which is byte column 9 of its line.
    span = SourceSpan("f.cu", 2, first, 2, first + 2, 0, 0)
    assert first == 9
    expected = types.Range(types.Position(1, start), types.Position(1, end))
    assert LineIndex(text).span_range(span, encoding) == expected


def test_a_tab_is_one_unit() -> None:
    assert LineIndex("\t\tx").position(2, Encoding.UTF16) == types.Position(0, 2)


def test_without_the_text_columns_are_taken_as_they_are() -> None:
    span = SourceSpan("f.cuh", 3, 5, 3, 9, 0, 0)
    assert unchecked_range(span) == types.Range(types.Position(2, 4), types.Position(2, 8))


def test_the_clients_first_known_encoding_is_taken() -> None:
    assert negotiated(["utf-7", "utf-8", "utf-16"]) is Encoding.UTF8
    assert negotiated(["utf-32"]) is Encoding.UTF32
    assert negotiated([]) is negotiated(None) is negotiated(["utf-7"]) is Encoding.UTF16


def test_lone_surrogates_keep_their_width() -> None:
    text = "a\ud800b"
    assert well_formed(text) == "a\ufffdb"
    assert LineIndex(well_formed(text)).position(4, Encoding.UTF16) == types.Position(0, 2)
