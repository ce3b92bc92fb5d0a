"""What parts the width from the row distance of a pitched allocation: code that may set one of them alone.

Nothing of what the cases add is called: the analysis has to see that it could be.
"""

from __future__ import annotations

import pytest

from analyzers.engine import CheckRequest, Engine, UnitFinished
from analyzers.hostguide import launches
from analyzers.hostguide.pitched import RowPitch, row_pitches
from analyzers.hostguide.source import SourceTexts
from analyzers.hostguide.written import Code
from analyzers.model import Verdict
from analyzers.requests import KernelFinished

CLASS = """
#include <cassert>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>
__global__ void fill(float *p, int w, int h, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < w && y < h) p[y * step + x] = x - y;
}
BEFORE
class Image {
 public:
  Image() : p_(nullptr), w_(0), h_(0), step_(0) {}
  void Reserve(int w, int h) {
    size_t pitch;
    cudaMallocPitch(&p_, &pitch, w * sizeof(float), h);
    MEANWHILE
    w_ = w;
    h_ = h;
    step_ = pitch / sizeof(float);
  }
  void Fill() { fill<<<dim3((w_ + 15) / 16, (h_ + 15) / 16), dim3(16, 16)>>>(p_, w_, h_, step_); }
  MEMBER
 HIDDEN
  float *p_;
  DECLARED
};
AFTER
"""
PARTS = "Image(float *p, int w, int h, int step) : p_(p), w_(w), h_(h), step_(step) {}"


def verdict(
    before: str = "",
    meanwhile: str = "",
    member: str = "",
    after: str = "",
    declared: str = "int w_, h_, step_;",
    hidden: str = "private:",
    alloc: tuple[str, str] = ("", ""),
) -> Verdict:
    text = CLASS.replace(*alloc) if alloc[0] else CLASS
    for name, value in (("BEFORE", before), ("MEANWHILE", meanwhile), ("MEMBER", member), ("AFTER", after),
                        ("DECLARED", declared), ("HIDDEN", hidden)):  # fmt: skip
        text = text.replace(name, value)
    events = Engine().check(CheckRequest("/image.cu", text))
    unit = next(e.result for e in events if isinstance(e, UnitFinished))
    return next(k.verdict for k in unit.kernels if k.name == "fill")


@pytest.mark.parametrize(
    "member",
    [
        "",
        "int Area() const { return w_ * h_ + (step_ - w_); }",
        "int Step() const { return step_; }",
        'void Print() const { printf("%d %d", w_, step_); }',
        "bool Wide() const { return step_ > 100 ? w_ : step_; }",
        "std::vector<int> Sizes() const { int n(w_); return {n, step_}; }",
        f"{PARTS} static Image Of(float *p, int n) {{ return Image(p, n, n, n); }}",
        "Image(const Image &o, int w) { assert(w <= o.w_); p_ = o.p_; w_ = w; h_ = o.h_; step_ = o.step_; }",
    ],
)
def test_reads_keep_the_relation(member: str) -> None:
    assert verdict(member=member) is Verdict.RACE_FREE


@pytest.mark.parametrize(
    "member",
    [
        "void Load(FILE *f) { fread((char *)&step_, 4, 1, f); }",
        'void Scan() { scanf("%d", &(step_)); }',
        "void Set() { auto set = [](int &x) { x = 5; }; set(step_); }",
        "void Set(const std::function<void(int &)> &f) { f(step_); }",
        "void Set() { (step_) = 3; }",
        "void Set() const { const_cast<int &>(step_) = 3; }",
        "void Set(bool b) { int &r = b ? step_ : w_; r = 4; }",
        "template <class A> void serialize(A &ar) { ar & w_; ar & step_; }",
        "template <class A> void serialize(A &ar) { ar(w_, step_); }",
        "struct Ref { int &r; }; void Set() { Ref r{step_}; r.r = 3; }",
        "struct Ref { int &r; Ref(int &x) : r(x) {} }; void Set() { Ref r(step_); r.r = 3; }",
        "decltype(auto) Step() { return (step_); }",
        "int &Step(bool b) { return b ? step_ : w_; }",
        "void Set() { auto at = [this]() -> int & { return step_; }; at() = 3; }",
        "void Set(int a) { do step_ = a; while (a-- > 3); }",
        "void Set(int a) { auto f = [](int step_, int b) { return step_ + b; }; step_ = f(a, a); }",
        "void Set(int n) { w_ = n; n = n / 2; step_ = n; }",
        "static int Next(); void Set() { w_ = Next(); step_ = Next(); }",
        "void Set(int n) { step_ = n; if (n > 3) w_ = n; }",
        "Image(const Image &o, int w) { assert(w <= o.w_); w *= 2; p_ = o.p_; w_ = w; h_ = o.h_; step_ = o.step_; }",
        "Image(const Image &o, int w, bool b) { if (b) assert(w <= o.w_); w_ = w; h_ = o.h_; step_ = o.step_; }",
    ],
)
def test_a_member_may_set_one_of_the_two(member: str) -> None:
    assert verdict(member=member) is Verdict.DATA_RACE


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("using std::swap;", Verdict.RACE_FREE),
        ("struct Other { float f; }; void swap(Other &a, Other &b); using std::swap;", Verdict.RACE_FREE),
        ("void swap(int &a, int b) { a = 2 * b; }", Verdict.DATA_RACE),
        ("template <class T> void swap(T &a, T &b) { a += b; }", Verdict.DATA_RACE),
    ],
)
def test_only_the_librarys_own_swap_exchanges(before: str, expected: Verdict) -> None:
    swap = "void Swap(Image &o) { swap(w_, o.w_); swap(h_, o.h_); swap(step_, o.step_); std::swap(p_, o.p_); }"
    assert verdict(before=before, member=swap) is expected
    assert verdict(before=before, member=swap.replace(" swap(", " std::swap(")) is Verdict.RACE_FREE


@pytest.mark.parametrize(
    "meanwhile",
    ["pitch = 16;", "std::swap(w, h);", "twice(w);", "twice(pitch);", "int *q = &w; *q *= 2;", "w++;"],
)
def test_what_the_members_are_set_to_changes(meanwhile: str) -> None:
    assert verdict(before="template <class T> void twice(T &x) { x *= 2; }", meanwhile=meanwhile) is Verdict.DATA_RACE


def test_an_allocation_that_may_not_be_made() -> None:
    sometimes = ("cudaMallocPitch", "pitch = 8; if (h < 100) cudaMallocPitch")
    assert verdict(alloc=sometimes) is Verdict.DATA_RACE


@pytest.mark.parametrize("declared", ["int w_, h_; short step_;", "int w_, h_; unsigned char step_;"])
def test_a_distance_that_is_cut_off(declared: str) -> None:
    assert verdict(declared=declared) is Verdict.DATA_RACE


@pytest.mark.parametrize(
    "after",
    [
        "void set(Image &i) { auto &[p, w, h, s] = i; s = 3; }",
        "void set(Image &i, int v) { int Image::*m = &Image::step_; i.*m = v; }",
        "#define STEP(i) i.step_\nvoid set(Image &i) { STEP(i) = 3; }",
        "#define PUT(x) x = 5\nvoid set(Image &i) { PUT(i.step_); }",
    ],
)
def test_others_may_set_an_open_member(after: str) -> None:
    assert verdict(after=after, hidden="public:") is Verdict.DATA_RACE


@pytest.mark.parametrize(
    "after",
    [
        "void make(std::vector<Image> &v, float *p, int n) { v.emplace_back(p, n, n, n / 2); }",
        "Image make(float *p, int n) { return {p, n, n, n / 2}; }",
        "using Picture = Image; void make(float *p, int n) { Picture i(p, n, n, n / 2); }",
        "struct Derived : Image { using Image::Image; };",
        "template <class... A> Image make(A... a) { return Image(a...); }",
        "template <class T> T make(float *p, int n) { return T(p, n, n, n / 2); } auto made = make<Image>;",
    ],
)
def test_constructors_get_what_does_not_fit(after: str) -> None:
    assert verdict(member=PARTS, after=after) is Verdict.DATA_RACE


TEMPLATE = """
struct Extent { int columns, rows, step; };
__global__ void fill(float *p, Extent e) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < e.columns && y < e.rows) p[y * e.step + x] = x - y;
}
static void launch(float *p, Extent e) {
  fill<<<dim3((e.columns + 15) / 16, (e.rows + 15) / 16), dim3(16, 16)>>>(p, e);
}
template <typename T> class Image {
 public:
  Image() : p_(nullptr), w_(0), h_(0), step_(0) {}
  void Reserve(int w, int h) {
    size_t pitch;
    cudaMallocPitch(&p_, &pitch, w * sizeof(float), h);
    w_ = w;
    h_ = h;
    step_ = pitch / sizeof(float);
  }
  void Fill() {
    Extent e = {w_, h_, step_};
    launch(p_, e);
  }
 private:
  T *p_;
  int w_, h_, step_;
};
template class Image<float>;
"""


def test_pitches_are_looked_for_when_all_instances_are_seen(monkeypatch: pytest.MonkeyPatch):
    """What a first look at a program finds of launches is found again with the instances that it asks for."""
    looked = 0

    def counted(code: Code, sources: SourceTexts) -> list[RowPitch]:
        nonlocal looked
        looked += 1
        return row_pitches(code, sources)

    monkeypatch.setattr(launches, "row_pitches", counted)
    events = Engine().check(CheckRequest("/image.cu", TEMPLATE))
    (kernel,) = (e.result for e in events if isinstance(e, KernelFinished))
    assert kernel.verdict is Verdict.RACE_FREE
    assert any("pitch" in a for c in kernel.contexts for a in c.assumptions)
    assert looked == 1
