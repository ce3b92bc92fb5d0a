"""What a finding tells of its witness: only what matters, in the words of the source, and only what was executed."""

from __future__ import annotations

from analyzers.engine import Engine
from analyzers.model import Finding, Witness
from analyzers.requests import CheckRequest, UnitFinished


def only_finding(text: str, memory: str | None = None) -> Finding:
    """The one mistake in a text, of those on an object."""
    for event in Engine().check(CheckRequest("/nowhere/a.cu", text)):
        if isinstance(event, UnitFinished):
            (found,) = {
                f.group: f
                for k in event.result.kernels
                for c in k.contexts
                for f in c.findings
                if memory in (None, f.object)
            }.values()
            return found
    raise AssertionError("no result")


def witness(text: str) -> Witness:
    found = only_finding(text, "s").witness
    assert found is not None
    return found


def turns(text: str) -> list[list[tuple[int, int, str | None, int | None]]]:
    return [[(t.span.line, t.iteration, t.variable, t.value) for t in a.turns] for a in only_finding(text).accesses]


REVERSE = """
__global__ void reverse(float *out, int n, int unused) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = out[t];
  if (CONDITION) out[t] = s[63 - t];
}
void go(float *p, int n, int argc) {
  reverse<<<argc, 64>>>(p, n, argc + 1);
}
"""


def test_values_that_the_race_does_not_depend_on_are_left_out() -> None:
    assert witness(REVERSE.replace("CONDITION", "true")).parameters == ()


def test_values_that_the_race_depends_on_are_told() -> None:
    assert dict(witness(REVERSE.replace("CONDITION", "t < n - 10")).parameters)["n"] > 10
    assert "unused" not in dict(witness(REVERSE.replace("CONDITION", "t < n - 10")).parameters)


MISSED = """
__global__ void skip(int *out, int n, int m, int unused) {
  __shared__ int s[8];
  int t = threadIdx.x;
  if (t < 6) {
    if (n != m) __syncthreads();
    s[5] = t;
  } else {
    s[5] = t;
  }
  out[t] = unused;
}
void go(float *p, int n, int m, int argc) { skip<<<1, 8>>>((int *)p, n, m, argc); }
"""


def test_values_that_let_threads_miss_a_barrier_between_the_accesses_are_told() -> None:
    """Where `n` and `m` differ, the barrier lets the others pass when those that miss it have ended, behind them."""
    (between,) = (
        f
        for event in Engine().check(CheckRequest("/nowhere/a.cu", MISSED))
        if isinstance(event, UnitFinished)
        for k in event.result.kernels
        for c in k.contexts
        for f in c.findings
        if f.scope and f.accesses[0].span.line != f.accesses[1].span.line
    )
    assert between.witness is not None
    assert between.witness.replayed
    values = dict(between.witness.parameters)
    assert values.keys() == {"n", "m"}
    assert values["n"] == values["m"]


OVERLAP = """
__global__ void shift(const float *in, float *out) {
  int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = in[i + 1];
}
void go(float *p, int rows) {
  if (rows < 10) return;
  shift<<<2, 64>>>(p, p + rows);
}
"""


def test_two_pointers_into_one_allocation_are_told_and_cells_count_from_where_they_point() -> None:
    found = only_finding(OVERLAP)
    assert found.witness is not None
    rows = dict(found.witness.parameters)["rows"]
    one, two = (a.block[0] * 64 + a.thread[0] for a in found.accesses if a.block is not None and a.thread is not None)
    assert rows + one == two + 1
    assert found.witness.address == f"out[{one}]"
    told = " ".join(text for remark in found.explanation for text in remark.texts)
    assert "The launch passes `p + rows` for `out` and `p` for `in`: both point into one allocation." in told


PICK = """
// cuda-lsp: launch grid=(1) block=(64)
__global__ void pick(const int *__restrict__ keys, int *out) {
  int t = threadIdx.x;
  if (t > 0 && keys[t - 1] < 5 && keys[t] >= 5) out[0] = t;
}
"""


def test_contents_of_memory_are_elements_and_were_executed() -> None:
    found = only_finding(PICK)
    assert found.witness is not None
    data = dict(found.witness.data)
    assert len(data) == 4
    (one, two) = (access.thread[0] for access in found.accesses if access.thread is not None)
    for thread in (one, two):
        assert data[f"keys[{thread - 1}]"] < 5 <= data[f"keys[{thread}]"]
    assert "with the values shown, it was executed" in found.explanation[0].text


def test_the_cell_is_that_of_the_contents_that_are_shown() -> None:
    found = only_finding(
        "__global__ void put(int *out, const int *in, int n) {\n"
        "  if (threadIdx.x < n) out[in[threadIdx.x]] = in[threadIdx.x + 1];\n"
        "}\n"
        "void go(int *a, int *b, int n) { put<<<4, 64>>>(a, b, n); }\n"
    )
    assert found.witness is not None
    (index,) = set(dict(found.witness.data).values())
    assert found.witness.address == f"out[{index}]"


def test_contents_of_an_allocation_that_the_kernel_knows_by_two_names() -> None:
    found = only_finding(
        "__global__ void put(int *out, const int *in, const int *v, int n) {\n"
        "  if (in[threadIdx.x] > 5) out[in[threadIdx.x] - 5] = v[threadIdx.x];\n"
        "}\n"
        "void go(int *a, int *b, int n) { put<<<4, 64>>>(a, b, b + 1000, n); }\n"
    )
    assert found.witness is not None
    data = dict(found.witness.data)
    assert all(cell.startswith("in[") for cell in data)
    (index,) = set(data.values())
    assert found.witness.address == f"out[{index - 5}]"


def test_contents_that_were_not_executed_are_not_shown() -> None:
    found = only_finding(
        """
// cuda-lsp: launch grid=(1) block=(64)
__global__ void claim(int *state, int *out) {
  int t = threadIdx.x;
  state[t] = t * 3;
  __syncthreads();
  if (state[(t + 1) % 64] == 7) out[0] = t;
}
""",
        "out",
    )
    assert found.witness is not None
    assert found.witness.data == ()
    assert not any("executed" in line.text for line in found.explanation)


LOOP = """
// cuda-lsp: launch grid=(1) block=(64)
__global__ void again(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  HEADER {
    s[t] = t;
    __syncthreads();
    sum += s[63 - t];
    BODY
  }
  out[t] = sum;
}
"""


def test_a_loop_is_named_by_its_variable_and_line() -> None:
    write, read = turns(LOOP.replace("HEADER", "for (int k = 3; k < 40; k += 2)").replace("BODY", ""))
    assert write == [(6, 1, "k", 5)]
    assert read == [(6, 0, "k", 3)]


def test_the_variable_has_no_value_where_the_header_does_not_say_it_all() -> None:
    for header, body in (
        ("for (int k = n; k < 40; k++)", ""),
        ("for (int k = 0; k < 40; k++)", "k += 1;"),
    ):
        for turn in turns(LOOP.replace("HEADER", header).replace("BODY", body)):
            assert [(line, name, value) for line, _, name, value in turn] == [(6, "k", None)], header + body


def test_a_loop_without_a_variable() -> None:
    for (turn,) in turns(LOOP.replace("HEADER", "while (n-- > 0)").replace("BODY", "")):
        assert turn[0] == 6
        assert turn[2:] == (None, None)


def test_an_access_over_several_lines_is_told_in_one() -> None:
    for end in ("\n", "\r\n", " \\\n"):
        text = REVERSE.replace("CONDITION", "true").replace("s[63 - t]", f"s[63{end}\t\t- t]")
        found = only_finding(text, "s")
        assert [a.text for a in found.accesses] == ["s[t]", "s[63 - t]"]
        assert "\n" not in found.message
