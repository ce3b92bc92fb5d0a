"""Explicit instantiations as the text writes them: plainly, through macros, of classes and of members."""

from __future__ import annotations

import pytest

from analyzers.hostguide.instantiations import explicit_class_instances, explicit_instances

TEXT = b"""
template <typename T> void run(T *a);
template <typename T> struct Holder { template <int N> void fill(); };
template void run<float>(float *);
#define RUN(T, N) template void run<T>(T *); \\
  template void fill<N>(T *);
RUN(double, 4)
RUN(int, 8)
#undef RUN
RUN(char, 2)
#define OTHER(x) (x < 3)
extern template void run<short>(short *); template void run<long>(long *);
template class Holder<float>;
template struct ns::Holder<run<int>>;
template <> void run<bool>(bool *);
void calls() { run<unsigned>(0); }
"""


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["run"], ["run<double>", "run<int>", "run<float>", "run<short>", "run<long>"]),
        (["fill"], ["fill<4>", "fill<8>"]),
        (["run", "fill"], ["run<double>", "run<int>", "run<float>", "run<short>", "run<long>"]),
        (["calls"], []),
        ([], []),
    ],
)
def test_functions(names: list[str], found: list[str]) -> None:
    assert explicit_instances(TEXT, names) == found


def test_classes() -> None:
    assert explicit_class_instances(TEXT, ["Holder"]) == ["Holder<float>", "Holder<run<int>>"]
    assert explicit_class_instances(TEXT, ["run"]) == []


def test_a_text_without_any() -> None:
    assert explicit_instances(b"template <int N> void run(); void call() { run<3>(); }", ["run"]) == []
