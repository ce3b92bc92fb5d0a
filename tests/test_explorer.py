"""The race explorer: what is drawn of each kind of finding, escaped, well-formed and readable without eyes."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
from explorer_pages import PATH, Element, Page, TextPlaces, kernels_of, page_of

from analyzers.model import (
    ContextResult,
    FactNote,
    Finding,
    KernelResult,
    LaunchSummary,
    Reason,
    SourceSpan,
    Verdict,
    Witness,
)
from cuda_lsp.explorer.cells import cells_drawing
from cuda_lsp.explorer.lattice import Mark, block_drawing, grid_drawing
from cuda_lsp.explorer.markup import tag, words
from cuda_lsp.explorer.page import render
from cuda_lsp.explorer.scenes import MAXIMAL_SCENES, KernelView, Repair, scenes_of
from cuda_lsp.explorer.windows import around

HEAT = """// cuda-lsp: launch grid=(3) block=(64)
__global__ void heat(const float *in, float *out) {
  __shared__ float tile[66];
  int t = threadIdx.x;
  tile[t + 1] = in[t];
  __syncthreads();
  for (int i = 0; i < 4; ++i) {
    float v = tile[t] + tile[t + 2];
    __syncthreads();
    tile[t + 1] = v;
  }
  __syncthreads();
  out[blockIdx.x * 64 + t] = tile[t + 1];
}
"""

BETWEEN_BLOCKS = """// cuda-lsp: launch grid=(1000) block=(16,16)
__global__ void total(float *out) {
  __shared__ float s[256];
  s[threadIdx.y * 16 + threadIdx.x] = 1.f;
  __syncthreads();
  if (threadIdx.x == 3 && threadIdx.y == 5) *out = s[255];
}
"""

DIVERGENT = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void half(int *out) {
  if (threadIdx.x < 40) {
    __syncthreads();
  }
  out[threadIdx.x] = 1;
}
"""

NEEDLESS = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void copy(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
  __syncthreads();
}
"""


ONE_CELL = """// cuda-lsp: launch grid=(1) block=(64)
__global__ void thrice(int *out) {
  __shared__ int s;
  if (threadIdx.x == 1) {
    s = 1;
  } else if (threadIdx.x == 34) {
    s = 2;
  } else {
    out[threadIdx.x] = s;
  }
}
"""


def texts(elements: list[Element]) -> list[str]:
    return [element.text for element in elements]


def test_a_race_is_drawn_between_the_barriers_that_both_threads_passed() -> None:
    page = page_of(HEAT)
    scene = page.scenes[0]
    assert scene.all("h2")[0].text.startswith("Two warps of one block collide on tile[")
    rows = page.parts(scene, "time").all("li", "row")
    told = [re.sub(r"\s+", " ", row.text) for row in rows]
    assert told[1] == "the kernel starts"
    assert told[2] == "both threads meet at __syncthreads()line 6"
    assert told[3] == "both threads meet at __syncthreads()line 9 · iteration 0"
    assert "One barrier interval: either may come first" in told[4]
    assert "i = 1 in the loop at line 7" in told[4]
    assert told[5] == "both threads meet at __syncthreads()line 9 · iteration 1"
    assert "no order" in told[4]


def test_the_lines_of_both_accesses_are_marked_for_each_thread() -> None:
    page = page_of(HEAT)
    marks = page.parts(page.scenes[0], "source").all("mark")
    assert {mark.classes[0]: mark.text for mark in marks} == {
        "s1": "tile[t] (thread 1 reads)",
        "s2": "tile[t + 1] (thread 2 writes)",
    }


def test_threads_and_cell_are_told_in_words_too() -> None:
    page = page_of(HEAT)
    scene = page.scenes[0]
    drawings = {e.all("title")[0].text: e.all("desc")[0].text for e in scene.all("svg")}
    assert set(drawings) == {"The grid", "The block", "The cells of tile"}
    assert "A block of 64 threads in 2 warps." in drawings["The block"]
    assert re.search(r"Thread 1 is \(32, 0, 0\), lane 0 of warp 1", drawings["The block"])
    assert re.search(r"Both touch tile\[\d+\]\.", drawings["The cells of tile"])
    assert [e.text for e in page.parts(scene, "cell").all("text", "hit")] == ["[32]"]


def test_barriers_of_each_block_are_drawn_apart() -> None:
    page = page_of(BETWEEN_BLOCKS)
    scene = page.scenes[0]
    time = page.parts(scene, "time")
    assert scene.all("h2")[0].text == "Threads of two blocks collide on out[0]"
    assert "Different blocks: either may come first" in time.text
    assert len(time.all("div", "own")) == 2
    assert "orders its own block only" in time.text
    captions = texts(page.parts(scene, "threads").all("figcaption"))
    assert captions == [
        "Grid of 1000 blocks",
        "Block (0, 0, 0), 16 × 16 threads; coloured: the warp of the thread",
        "Block (1, 0, 0), 16 × 16 threads; coloured: the warp of the thread",
    ]


def test_a_missed_barrier_shows_where_each_thread_is() -> None:
    page = page_of(DIVERGENT)
    time = page.parts(page.scenes[0], "time")
    waits, misses = time.all("div", "waits"), time.all("div", "misses")
    assert "waits at__syncthreads()line 4" in waits[0].text
    assert "passes by and ends" in misses[0].text
    marks = page.parts(page.scenes[0], "source").all("mark")
    assert [mark.classes for mark in marks] == [["s1"]]
    assert not page.scenes[0].all("section", "cell")


def test_a_redundant_barrier_stands_among_the_others() -> None:
    page = page_of(NEEDLESS)
    (scene,) = page.scenes
    time = page.parts(scene, "time")
    assert [bar.text for bar in time.all("div", "bar")] == [
        "__syncthreads()line 5",
        "__syncthreads()line 7 · orders nothing",
    ]
    assert "needless" in time.all("div", "bar")[1].classes
    assert not scene.all("section", "threads")


def test_an_unknown_kernel_gets_no_picture() -> None:
    page = page_of("""extern __device__ void elsewhere(int *);
// cuda-lsp: launch grid=(1) block=(64)
__global__ void calls(int *out) { elsewhere(out); }
""")
    (scene,) = page.scenes
    assert not scene.all("svg")
    assert "neither a race nor its absence" in scene.text
    assert page.parts(scene, "source").all("mark")[0].text == "elsewhere(out)"


def test_a_race_free_kernel_shows_what_the_proof_rests_on() -> None:
    page = page_of("""__global__ void own(int *out) { out[threadIdx.x] = 1; }
void go(int *out) { own<<<1, 64>>>(out); own<<<1, 32>>>(out); }
""")
    (scene,) = page.scenes
    assert scene.all("h2")[0].text == "Race-free for 2 launches"
    assert "no two threads collide" in scene.text


def test_a_finding_that_was_not_executed_says_so() -> None:
    (kernel,) = kernels_of(HEAT)
    context = kernel.contexts[0]
    finding = context.findings[0]
    assert finding.witness is not None
    doubtful = replace(
        finding,
        code=Verdict.POSSIBLE_DATA_RACE,
        accesses=tuple(replace(access, route=None, offset=None) for access in finding.accesses),
        witness=replace(finding.witness, replayed=False),
    )
    view = KernelView(with_findings(kernel, [doubtful]), TextPlaces({PATH: HEAT}))
    page = Page(render("x", [view]))
    scene = page.scenes[0]
    assert "may collide" in scene.all("h2")[0].text
    assert "Possible: solved for, but not executed to the end." in scene.text
    assert "The barriers on the ways of the two threads are not drawn" in scene.text
    assert not page.parts(scene, "time").all("div", "bar")
    assert not page.parts(scene, "cell").all("svg")
    without = replace(doubtful, witness=None)
    page = Page(render("x", [KernelView(with_findings(kernel, [without]), TextPlaces({PATH: HEAT}))]))
    assert "Possible: no example of two threads was found." in page.scenes[0].text
    assert not page.scenes[0].all("svg")


def with_findings(kernel: KernelResult, findings: list[Finding]) -> KernelResult:
    context = replace(kernel.contexts[0], findings=tuple(findings))
    return replace(kernel, contexts=(context,), verdict=findings[0].code)


HOSTILE = "<img src=x onerror=alert(1)>\"'&</script><!--\x00\x1b[31m"


def test_hostile_names_comments_and_messages_stay_text() -> None:
    text = HEAT.replace("float v =", "/* </script><b onclick=x> \" ' & */ float v =")
    (kernel,) = kernels_of(text)
    finding = kernel.contexts[0].findings[0]
    assert finding.witness is not None
    hostile = replace(
        finding,
        message=HOSTILE + " `" + HOSTILE,
        object=HOSTILE,
        accesses=tuple(replace(access, text=HOSTILE) for access in finding.accesses),
        witness=replace(finding.witness, address=HOSTILE, parameters=((HOSTILE, 1),), data=((HOSTILE, 2),)),
    )
    context = ContextResult(
        LaunchSummary("launch", finding.span, (HOSTILE, "1", "1"), ("1", "1", "1")),
        Verdict.DATA_RACE,
        (hostile,),
        (Reason("kind", HOSTILE, finding.span),),
        (HOSTILE,),
        (FactNote(HOSTILE, finding.span, "assert"),),
    )
    result = replace(kernel, name=HOSTILE, contexts=(context,))
    repairs = {finding.group: Repair(HOSTILE, HOSTILE)}
    html = render(
        HOSTILE, [KernelView(result, TextPlaces({PATH: text}, {PATH: HOSTILE}), repairs=repairs)] * 2, [HOSTILE]
    )
    page = Page(html)
    assert not page.root.all("img")
    assert len(page.root.all("script")) == 1
    for element in page.root.walk():
        assert not [name for name in element.attributes if name.startswith("on")], element
        assert "style" not in element.attributes
    assert not [e for e in page.root.all("b") if "onclick" in e.attributes]
    assert "\x00" not in html
    assert "\x1b" not in html
    assert "</script><b onclick=x>" in page.parts(page.scenes[0], "source").text


def test_the_page_fetches_nothing_and_its_policy_names_what_it_runs() -> None:
    page = page_of(HEAT)
    (policy,) = [
        e.attributes["content"] or "" for e in page.root.all("meta") if e.attributes.get("http-equiv") is not None
    ]
    for name, directive in (("style", "style-src"), ("script", "script-src")):
        (element,) = page.root.all(name)
        digest = base64.b64encode(hashlib.sha256("".join(element.pieces).encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for element in page.root.walk():
        assert not {"src", "srcset", "action"} & element.attributes.keys()
        assert (element.attributes.get("href") or "#").startswith("#")
    style = "".join(page.root.all("style")[0].pieces)
    assert "url(" not in style
    assert "@import" not in style


def test_everything_has_a_name_for_those_who_do_not_see() -> None:
    page = page_of(HEAT + DIVERGENT + NEEDLESS)
    ids = [e.attributes["id"] for e in page.root.walk() if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    for element in page.root.walk():
        for attribute in ("aria-labelledby", "aria-describedby"):
            for target in (element.attributes.get(attribute) or "").split():
                assert target in ids
        if element.name == "svg" and element.attributes.get("aria-hidden") != "true":
            assert element.attributes["role"] == "img"
            assert all(part.text for part in element.all("title") + element.all("desc"))
        if element.name == "a":
            assert (element.attributes["href"] or "")[1:] in ids
        if element.name in ("button", "a"):
            assert element.text
        if "tabindex" in element.attributes:
            assert element.attributes["tabindex"] in ("0", "-1")
    assert page.root.all("html")[0].attributes["lang"] == "en"
    assert page.root.all("nav")[0].attributes["aria-label"]
    assert [e for e in page.root.walk() if e.attributes.get("aria-live") == "polite"]
    assert len(page.root.all("main")) == 1


def test_a_page_of_one_kernel_has_no_index_and_steps_through_its_findings() -> None:
    page = page_of(HEAT)
    assert not page.root.all("nav")
    assert len(page.scenes) == 2
    assert [link.attributes["href"] for link in page.root.all("ol", "steps")[0].all("a")] == ["#k1-1", "#k1-2"]
    assert [b.attributes["data-step"] for b in page.root.all("button") if "data-step" in b.attributes] == ["-1", "1"]


def test_findings_on_one_cell_are_told_apart_by_their_lines() -> None:
    steps = page_of(ONE_CELL).root.all("ol", "steps")[0]
    assert texts(steps.all("span", "at")) == ["lines 5, 7", "lines 5, 9", "lines 7, 9"]


def test_findings_on_one_cell_and_line_are_told_apart_by_what_the_threads_do() -> None:
    page = page_of("""// cuda-lsp: launch grid=(1) block=(64)
__global__ void tally(int *count) { count[0] += 1; }
""")
    assert [place.text for place in page.root.all("span", "at")] == [
        "line 2 · reads, writes",
        "line 2 · writes, writes",
    ]


def test_places_in_other_files_are_told_with_their_file(tmp_path: Path) -> None:
    (tmp_path / "shift.cuh").write_text("__device__ void shift(int *s, int t) {\n  s[t] = s[t + 1];\n}\n")
    path = str(tmp_path / "a.cu")
    text = """#include "shift.cuh"
// cuda-lsp: launch grid=(1) block=(64)
__global__ void moved(int *s) { shift(s, threadIdx.x); }
"""
    places = TextPlaces({path: text, str(tmp_path / "shift.cuh"): (tmp_path / "shift.cuh").read_text()})
    page = Page(render("Findings", [KernelView(kernel, places) for kernel in kernels_of(text, path)]))
    accesses = page.parts(page.scenes[0], "time").all("div", "access")
    assert [[place.text for place in access.all("span", "place")] for access in accesses] == [
        ["shift.cuh:2", "line 3"]
    ] * 2


def test_an_index_leads_to_every_kernel() -> None:
    page = page_of(HEAT + DIVERGENT + NEEDLESS)
    (index,) = page.root.all("nav")
    assert texts(index.all("code")) == ["heat", "half", "copy"]
    assert "1 kernel: data race" in index.text


def test_places_are_for_an_editor_only_where_there_is_one() -> None:
    assert not [e for e in page_of(HEAT).root.walk() if "data-uri" in e.attributes]
    page = page_of(HEAT, uri="file:///work/a.cu")
    lines = [e for e in page.scenes[0].all("span", "ln") if "data-uri" in e.attributes]
    assert {(e.attributes["data-uri"], e.attributes["data-line"]) for e in lines} >= {("file:///work/a.cu", "7")}
    assert [e.attributes["data-run"] for e in page.root.walk() if "data-run" in e.attributes] == ["heat"]


def test_repairs_are_told() -> None:
    (kernel,) = kernels_of(HEAT)
    group = kernel.contexts[0].findings[0].group
    assert (
        "Insert `__syncthreads()`".replace("`", "")
        in page_of(HEAT, {group: Repair("Insert `__syncthreads()`", "+1 barrier")}).scenes[0].text
    )
    assert "nothing is between" in page_of(HEAT, {group: Repair(refusal="nothing is between")}).scenes[0].text


def test_an_ordinary_file_makes_a_small_page() -> None:
    views = [KernelView(kernel, TextPlaces({PATH: HEAT})) for kernel in kernels_of(HEAT)]
    assert len(render("x", views * 6)) < 200_000


def test_very_many_findings_are_counted_not_drawn() -> None:
    (kernel,) = kernels_of(HEAT)
    finding = kernel.contexts[0].findings[0]
    many = [replace(finding, group=f"g{number}") for number in range(MAXIMAL_SCENES + 7)]
    assert scenes_of(with_findings(kernel, many))[1] == 7
    page = Page(render("x", [KernelView(with_findings(kernel, many), TextPlaces({PATH: HEAT}))]))
    assert "7 more findings of this kernel not drawn" in page.root.text


def test_a_place_that_was_overwritten_is_not_shown_as_if_it_stood_there() -> None:
    class Overwritten(TextPlaces):
        def now(self, span: SourceSpan) -> SourceSpan | None:
            return None

    view = KernelView(kernels_of(HEAT)[0], Overwritten({PATH: HEAT}), stale=True)
    page = Page(render("x", [view]))
    scene = page.scenes[0]
    assert not scene.all("mark")
    assert "a line that was edited since" in scene.text
    assert "from an earlier text" in scene.text


# Drawings


@pytest.mark.parametrize("block", [(1024, 1, 1), (32, 32, 1), (8, 8, 16), (1, 1, 64), (33, 5, 1), (1, 1, 1)])
def test_a_block_is_a_few_elements_whatever_its_size(block: tuple[int, int, int]) -> None:
    last = (block[0] - 1, block[1] - 1, block[2] - 1)
    page = Page(block_drawing("x", block, [Mark((1,), (0, 0, 0)), Mark((2,), last)]))
    assert len(list(page.root.walk())) < 150
    numbers = [e.text for e in page.root.all("text", "number")]
    assert sorted(numbers) == ["1", "2"]


def test_a_huge_grid_is_drawn_around_its_two_blocks() -> None:
    grid = (2_000_000_000, 65_535, 4)
    page = Page(grid_drawing("x", grid, [Mark((1,), (1_000_000_000, 3, 0)), Mark((2,), (7, 60_000, 3))]))
    assert len(list(page.root.walk())) < 300
    assert sorted(e.text for e in page.root.all("text", "number")) == ["1", "2"]
    assert {"1000000000", "7"} <= {e.text for e in page.root.all("text", "strong")}


def test_the_warps_of_the_two_threads_are_coloured() -> None:
    page = Page(block_drawing("x", (16, 16, 1), [Mark((1,), (3, 5, 0)), Mark((2,), (3, 6, 0))]))
    bands = page.root.all("rect", "band")
    # A warp of 32 takes two rows of 16.
    assert [band.classes[1] for band in bands] == ["s1", "s1", "s2", "s2"]
    assert {band.attributes["width"] for band in bands} == {str(16 * 15)}


@pytest.mark.parametrize(
    ("extent", "marks", "limit"),
    [
        (10, [3], 20),
        (1000, [0, 999], 20),
        (1000, [500], 20),
        (1000, [500, 502], 20),
        (5, [], 3),
        (22, [1], 20),
        (1, [0], 4),
    ],
)
def test_a_window_shows_all_marks_and_keeps_to_its_limit(extent: int, marks: list[int], limit: int) -> None:
    window = around(extent, marks, limit)
    assert window.slots() <= limit + 4
    drawn = [i for start, end in window.ranges for i in range(start, end)]
    assert set(marks) <= set(drawn)
    assert all(0 <= i < extent for i in drawn)
    assert drawn == sorted(set(drawn))
    slots = [window.slot(i) for i in drawn] + window.gap_slots()
    assert sorted(slot for slot in slots if slot is not None) == list(range(window.slots()))


def test_cells_are_bytes_where_accesses_split_elements() -> None:
    (kernel,) = kernels_of(HEAT)
    finding = kernel.contexts[0].findings[0]
    one, two = finding.accesses
    wide = replace(finding, accesses=(replace(one, offset=0, width=16), replace(two, offset=14, width=1)))
    drawing = cells_drawing("x", wide)
    assert drawing is not None
    page = Page(drawing)
    assert "byte 14" in texts(page.root.all("text", "hit"))
    assert len(page.root.all("text", "hit")) == 1


def test_cells_of_arrays_with_several_subscripts_are_named_by_them() -> None:
    (kernel,) = kernels_of(HEAT)
    finding = kernel.contexts[0].findings[0]
    shaped = replace(
        finding,
        accesses=tuple(replace(access, offset=4 * 37, width=4) for access in finding.accesses),
        witness=Witness((1, 1, 1), (64, 1, 1), address="tile[1][4]", element=4, extents=(2, 33)),
    )
    drawing = cells_drawing("x", shaped)
    assert drawing is not None
    assert texts(Page(drawing).root.all("text", "hit")) == ["[1][4]"]


def test_markup_escapes_whatever_is_not_markup() -> None:
    assert tag("p", "<b>", cls='"', data_x=None, hidden=True) == '<p class="&quot;" hidden>&lt;b&gt;</p>'
    assert words("a `b<c` d") == "a <code>b&lt;c</code> d"
    assert words("one ` alone") == "one ` alone"
