"""Offsets followed through edits: checked against a text whose every byte knows where it came from."""

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from cuda_lsp.documents import Change, Document
from cuda_lsp.positions import Encoding
from cuda_lsp.tracking import Edit, OffsetMap, edits_between

SPLICES = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 8), st.text("xyz", max_size=5)), max_size=12)


def document(text: str) -> Document:
    return Document("file:///a.cu", "/a.cu", "cuda", 1, text)


def replace(start: tuple[int, int], end: tuple[int, int], text: str) -> Change:
    return types.TextDocumentContentChangePartial(
        range=types.Range(types.Position(*start), types.Position(*end)), text=text
    )


@given(SPLICES)
def test_a_byte_that_survives_all_edits_is_found_where_it_is(splices: list[tuple[int, int, str]]) -> None:
    # Each original byte is its own number; inserted ones are -1.
    cells = list(range(50))
    offsets = OffsetMap()
    for at, removed, inserted in splices:
        start = min(at, len(cells))
        end = min(start + removed, len(cells))
        cells[start:end] = [-1] * len(inserted)
        offsets = offsets.then(Edit(start, end, start + len(inserted)))
    olds = [edit[:2] for edit in offsets.edits]
    assert olds == sorted(olds)
    for number in range(50):
        if number in cells:
            inside = any(start <= number < end for start, end in olds)
            assert inside or offsets.map(number, number + 1) == (cells.index(number), cells.index(number) + 1)
        else:
            assert offsets.map(number, number + 1) is None


def test_what_an_edit_does_to_a_range() -> None:
    def after(edit: Edit) -> tuple[int, int] | None:
        return OffsetMap().then(edit).map(10, 20)

    assert after(Edit(0, 2, 5)) == (13, 23)
    assert after(Edit(10, 10, 12)) == (12, 22), "inserted before"
    assert after(Edit(20, 20, 25)) == (10, 20), "inserted behind"
    assert after(Edit(12, 13, 18)) == (10, 25), "inside"
    assert after(Edit(8, 12, 9)) == (9, 17), "over the start"
    assert after(Edit(10, 12, 14)) == (10, 22), "the start, replaced"
    assert after(Edit(18, 22, 19)) == (10, 18), "over the end"
    assert after(Edit(18, 20, 25)) == (10, 25), "the end, replaced"
    assert after(Edit(9, 21, 30)) is None, "all of it"


@given(st.text("ab\n ", max_size=60), st.text("ab\n ", max_size=60))
def test_edits_between_two_texts_turn_one_into_the_other(old: str, new: str) -> None:
    text = bytearray(old.encode())
    target = new.encode()
    for edit in edits_between(old, new, 0):
        text[edit.start : edit.old_end] = target[edit.start : edit.new_end]
    assert bytes(text) == target


def test_a_reformatted_document_keeps_what_it_keeps() -> None:
    lines = [f"int v{number} = {number};" for number in range(40)]
    opened = document("\n".join(lines))
    anchor = opened.anchor()
    start = opened.text.index("v20")
    formatted = "\n".join(("    " + line if number % 2 else line) for number, line in enumerate(lines)) + "\n\n"
    opened.change(2, [types.TextDocumentContentChangeWholeDocument(text=formatted)], Encoding.UTF16)
    assert anchor.map.map(start, start + 3) == (formatted.index("v20"), formatted.index("v20") + 3)


def test_typing_moves_ranges_and_undoing_it_all_brings_back_what_was_overwritten() -> None:
    opened = document("aä\nfoo(s[i]);\n")
    anchor = opened.anchor()
    start = len(b"a\xc3\xa4\nfoo(")
    opened.change(2, [replace((0, 0), (0, 0), "// ö\n")], Encoding.UTF16)
    assert anchor.map.map(start, start + 4) == (start + 6, start + 10)
    opened.change(3, [replace((2, 0), (3, 0), "")], Encoding.UTF16)
    assert anchor.map.map(start, start + 4) is None
    opened.change(4, [replace((2, 0), (2, 0), "foo(s[i]);\n"), replace((0, 0), (1, 0), "")], Encoding.UTF16)
    assert opened.text == "aä\nfoo(s[i]);\n"
    assert anchor.map.is_identity


def test_an_anchor_starts_at_the_text_it_was_taken_from() -> None:
    opened = document("x\n")
    opened.change(2, [replace((0, 0), (0, 0), "yy")], Encoding.UTF16)
    late = opened.anchor()
    assert late.map.is_identity
    assert late.version == 2
    opened.change(3, [replace((0, 0), (0, 1), "")], Encoding.UTF16)
    assert late.map.map(1, 3) == (0, 2)
