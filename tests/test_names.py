"""Names of kernels as people write them on a command line."""

from __future__ import annotations

import pytest

from analyzers.ir.names import base_word, is_called


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("k", "k"),
        ("k", "ns::k"),
        ("k", "ns::k<float, 4>"),
        ("ns::k", "ns::k<float, 4>"),
        ("inner::k", "outer::inner::k"),
        ("::outer::inner::k", "outer::inner::k"),
        ("k<float,4>", "k<float, 4>"),
        (" ns :: k < float , 4 > ", "ns::k<float, 4>"),
        ("k<unsigned  int>", "k<unsigned int>"),
        ("k<Pair<int,float*>>", "k<Pair<int, float *> >"),
        ("k<ns::T>", "k<ns::T>"),
    ],
)
def test_blanks_and_what_is_left_out_do_not_count(wanted: str, name: str) -> None:
    assert is_called(wanted, name)


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("k", "kk"),
        ("k", "not_k"),
        ("ns::k", "k"),
        ("ns::k", "other::k"),
        ("s::k", "ns::k"),
        ("::inner::k", "outer::inner::k"),
        ("k<float, 8>", "k<float, 4>"),
        ("k<unsigned>", "k<unsigned int>"),
        ("k<unsignedint>", "k<unsigned int>"),
        ("T>", "k<ns::T>"),
    ],
)
def test_other_kernels_are_not_meant(wanted: str, name: str) -> None:
    assert not is_called(wanted, name)


def test_parameters_tell_overloads_apart() -> None:
    assert is_called("k(int*, unsigned int)", "ns::k", "int *, unsigned int")
    assert is_called("ns::k<4>(int*)", "ns::k<4>", "int *")
    assert not is_called("k(float *)", "ns::k", "int *")
    assert is_called("k()", "k", "")


def test_the_word_that_a_text_has() -> None:
    assert [base_word(name) for name in ("k", "a::b::k<c::d>", "k (int *)", "::k")] == ["k"] * 4


def test_the_word_in_a_name_of_the_linker() -> None:
    mangled = ("_Z1kPfi", "_ZL1kv", "_ZN4left1kEPi", "_ZN2ns1kIfLi4EEEvPT_", "_ZN12_GLOBAL__N_11kEv", "_Z1kI5OtherEvv")
    assert [base_word(name) for name in mangled] == ["k"] * 6
    assert [base_word(name) for name in ("_Z", "_Zk", "_Z0k")] == ["_Z", "_Zk", "_Z0k"]
