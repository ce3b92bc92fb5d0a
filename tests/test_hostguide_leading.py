"""Which functions the host side runs: only those that can come to a launch that was asked for."""

from __future__ import annotations

import hostguide_cases as hg
import pytest

from analyzers.engine import Engine
from analyzers.hostguide.execute import Executor
from analyzers.hostguide.tree import HostFunction
from analyzers.requests import CheckRequest, UnitFinished


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that were run as called with anything, in order, as classes and names."""
    found: list[str] = []
    really = Executor.run_root

    def run_root(self: Executor, function: HostFunction) -> None:
        owner = function.cursor.semantic_parent
        found.append(
            f"{owner.spelling + '::' if owner is not None and owner.kind.is_declaration() else ''}{function.name}"
        )
        really(self, function)

    monkeypatch.setattr(Executor, "run_root", run_root)
    return found


def test_namesakes_of_what_launches_are_not_run(run: list[str]) -> None:
    facts = hg.guide(
        """
        __global__ void k(float *p) {}
        struct Runner { float *p; void start(); };
        void Runner::start() { k<<<4, 32>>>(p); }
        struct Log { int n; void start(); };
        void Log::start() { n = 1; }
        void note(Log *log) { log->start(); }
        void go(Runner *r) { r->start(); }
        """
    )
    assert run == ["Runner::start", "go"]
    (context,) = facts.contexts["_Z1kPf"]
    assert hg.dims(context)[0] == "4"


def test_a_launch_behind_a_lambda_a_constructor_and_a_pointer_is_found(run: list[str]) -> None:
    hg.guide(
        """
        __global__ void k(float *p) {}
        static void launch(float *p) { k<<<4, 32>>>(p); }
        struct Made { Made(float *p) { launch(p); } };
        template <class F> void apply(F f) { f(); }
        void by_lambda(float *p) { apply([&] { launch(p); }); }
        void by_constructor(float *p) { Made made(p); }
        void by_pointer(float *p) { void (*f)(float *) = launch; f(p); }
        void by_nothing(float *p) { p[0] = 1; }
        """
    )
    assert {"by_lambda", "by_constructor", "by_pointer"} <= set(run)
    assert "by_nothing" not in run


def test_code_that_clang_does_not_resolve_leads_where_its_words_do(run: list[str]) -> None:
    hg.guide(
        """
        __global__ void k(float *p) {}
        struct Runner { void start(float *p) { k<<<4, 32>>>(p); } };
        struct Log { void start(float *p) { p[0] = 1; } };
        template <class T> struct Holder { T held; void go(float *p) { held.start(p); } };
        void plain(Log *log, float *p) { log->start(p); }
        """
    )
    assert "Runner::start" in run
    assert "plain" not in run


def test_instances_that_the_text_asks_for_are_known_before_anything_is_run(run: list[str]) -> None:
    text = """
__global__ void k(float *p, int n) { p[threadIdx.x / n] = threadIdx.x; }
template <class T> void start(T *p) { k<<<4, 32>>>(p, sizeof(T) / 4); }
template void start<float>(float *);
void before(float *p) { k<<<2, 32>>>(p, 1); }
"""
    (done,) = [e for e in Engine().check(CheckRequest("/nowhere/a.cu", text)) if isinstance(e, UnitFinished)]
    assert len(done.result.kernels[0].contexts) == 2
    assert run.count("before") == 1
