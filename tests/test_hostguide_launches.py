"""Launches found in host code: dimensions, arguments, kernels reached, launches listed as not seen."""

from __future__ import annotations

import hostguide_cases as hg
import pytest

from analyzers.ir.context import DISTINCT


def test_dimensions_default_to_one_and_fold_constants() -> None:
    context = hg.only(
        """
        enum { WARPS = 4 };
        #define PER_WARP 32
        constexpr int extra = 2;
        __global__ void k(float *p) {}
        void run(float *p) { k<<<3 * extra, WARPS * PER_WARP, sizeof(float) * 8>>>(p); }
        """
    )
    assert hg.dims(context) == ("6", "1", "1", "128", "1", "1")
    assert hg.bound(context, "smem.dynamic") == "32"
    assert context.summary.source == "launch"
    assert context.summary.grid == ("6", "1", "1")


def test_dim3_members_assigned_one_by_one() -> None:
    context = hg.only(
        """
        __global__ void k(float *p) {}
        void run(float *p, int w, int h) {
          dim3 block, grid;
          block.x = 16; block.y = 8;
          grid.x = (w + 15) / 16;
          grid = dim3(grid.x, h);
          k<<<grid, block>>>(p);
        }
        """
    )
    assert hg.dims(context) == ("u32(((host:1:w + 15) / 16))", "u32(host:2:h)", "1", "16", "8", "1")


def test_dimensions_read_as_the_source_does() -> None:
    context = hg.only(
        """
        #include <cstdlib>
        #include <string>
        __global__ void k(float *p) {}
        int main(int argc, char **argv) {
          int n = argc > 2 ? atoi(argv[2]) : 100, m = 8 == argc ? 1 : std::stoi(argv[1]);
          k<<<dim3(n, m + 1, argc >= 3), 64>>>(nullptr);
        }
        """
    )
    assert context.summary.grid == (
        "argc > 2 ? atoi(argv[2]) : 100",
        "(argc == 8 ? 1 : std::stoi(argv[1])) + 1",
        "argc >= 3",
    )


def test_a_call_too_long_for_a_message_is_shortened() -> None:
    context = hg.only(
        """
        int number_of_blocks(const char *name, int first, int second);
        __global__ void k(float *p) {}
        void run(int rows) { k<<<number_of_blocks("the name of a configuration", rows, rows), 64>>>(nullptr); }
        """
    )
    assert context.summary.grid == ("number_of_blocks(…)", "1", "1")


def test_one_host_variable_relates_grid_and_parameter() -> None:
    context = hg.only(
        """
        __global__ void tone(float *o, int w, int c) {}
        void compress(float *o, int hw, int hh) {
          dim3 grid(hw / 16, hh / 16);
          dim3 block(16, 16);
          tone<<<grid, block>>>(o, hw, 4);
        }
        """
    )
    assert hg.bound(context, "gdim.x") == "u32((host:1:hw / 16))"
    assert hg.bound(context, "param:w") == "host:1:hw"
    assert hg.bound(context, "param:c") == "4"
    notes = {str(symbol.value): note for symbol, note in context.binding_notes}
    assert notes["gdim.x"].text == "grid(hw / 16, hh / 16)" or "dim3 grid" in notes["gdim.x"].text
    assert notes["param:w"].kind == "relation"


def test_template_instances_keep_apart() -> None:
    facts = hg.guide(
        """
        template <class T, int N> __global__ void k(T *p, int n) {}
        template <class T, int N> void run(T *p, int n) { k<T, N><<<n / N, N>>>(p, n); }
        void all(float *a, double *b, int n) { run<float, 64>(a, n); run<double, 128>(b, n); }
        """
    )
    assert sorted(facts.contexts) == ["_Z1kIdLi128EEvPT_i", "_Z1kIfLi64EEvPT_i"]
    assert hg.bound(facts.contexts["_Z1kIdLi128EEvPT_i"][0], "bdim.x") == "128"
    assert not facts.skipped


def test_kernel_chosen_by_a_condition_gives_both() -> None:
    facts = hg.guide(
        """
        template <int N> __global__ void k(float *p, int n) {}
        void run(float *p, int n) {
          auto chosen = n > 100 ? k<1> : k<2>;
          chosen<<<1, 32>>>(p, n);
        }
        """
    )
    assert hg.conditions(facts.contexts["_Z1kILi1EEvPfi"][0]) == ["(100 < host:1:n)"]
    assert hg.conditions(facts.contexts["_Z1kILi2EEvPfi"][0]) == ["(host:1:n <= 100)"]


def test_kernel_picked_by_a_function() -> None:
    facts = hg.guide(
        """
        template <int N> __global__ void k(float *p) {}
        typedef void (*kernel)(float *);
        kernel pick(int bits) {
          if (bits == 2) return k<2>;
          if (bits == 4) return k<4>;
          return nullptr;
        }
        void run(float *p, int bits) {
          kernel f = pick(bits);
          if (!f) return;
          f<<<1, 32>>>(p);
        }
        """
    )
    assert sorted(facts.contexts) == ["_Z1kILi2EEvPf", "_Z1kILi4EEvPf"]
    assert not facts.skipped


def test_kernel_picked_among_many() -> None:
    cases = " ".join(f"case {i}: return k<W, {i}>;" for i in range(30))
    facts = hg.guide(
        f"""
        template <int W, int N> __global__ void k(float *p) {{}}
        typedef void (*kernel)(float *);
        template <int W> kernel of_width(int which) {{ switch (which) {{ {cases} }} return nullptr; }}
        void run(float *p, int which, bool wide) {{
          int width;
          kernel f;
          if (wide) {{ width = 64; f = of_width<64>(which); }}
          else {{ width = 32; f = of_width<32>(which); }}
          if (f) f<<<1, width>>>(p);
        }}
        """
    )
    assert not facts.skipped
    assert len(facts.contexts) == 60
    for name, (context,) in facts.contexts.items():
        assert hg.dims(context)[3] == ("64" if "ILi64E" in name else "32")


def test_kernel_table() -> None:
    text = """
        namespace n {
        template <int N> __global__ void k(float *p, int i) {}
        typedef void (*kernel)(float *, int);
        const kernel table[] = {k<1>, k< 2>, n::k<3>};
        }
        void run(float *p, int i) { n::table[i]<<<1, 32>>>(p, i); }
        """
    first = hg.guide(text)
    assert [s.what for s in first.skipped] == ["launch n::table[i]<<<1, 32>>>(p, i): its kernel is not known"]
    facts = hg.guide(text, probes=first.probes)
    assert len(facts.contexts) == 3
    assert not facts.skipped
    assert hg.conditions(facts.contexts["_ZN1n1kILi1EEEvPfi"][0]) == ["(host:1:i == 0)"]


def test_explicit_instantiations_of_a_launching_template() -> None:
    text = """
        namespace a { namespace {
        template <int N> __global__ void k(float *p) {}
        template <int N, class T> void run(T *p) { k<N><<<N, 32>>>(p); }
        #define EACH(n, type)   \\
          template void run<n, type>( \\
              type *p);
        EACH(3, float)
        EACH( 5 , float )
        #undef EACH
        template void run<7, float>(float *);
        } }
        """
    first = hg.guide(text)
    assert first.probes
    assert [s.what for s in first.skipped] == ["launch of k<N> is in a template that nothing here instantiates"]
    facts = hg.guide(text, probes=first.probes)
    assert sorted(hg.dims(c)[0] for (c,) in facts.contexts.values()) == ["3", "5", "7"]
    assert not facts.skipped
    assert not facts.probes


def test_table_of_plain_kernels() -> None:
    facts = hg.guide(
        """
        __global__ void a(float *p) {}
        __global__ void b(float *p) {}
        void run(float *p, int i) {
          void (*const table[2])(float *) = {a, b};
          table[i]<<<1, 32>>>(p);
        }
        """
    )
    assert sorted(facts.contexts) == ["_Z1aPf", "_Z1bPf"]


def test_launch_in_a_dispatch_lambda() -> None:
    facts = hg.guide(
        """
        #include <torch/extension.h>
        template <class T> __global__ void k(T *a, int n) {}
        void f(torch::Tensor x) {
          int n = x.size(0);
          AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "k", [&] {
            k<scalar_t><<<(n + 31) / 32, 32>>>(x.data_ptr<scalar_t>(), n);
          });
        }
        """
    )
    assert sorted(facts.contexts) == ["_Z1kIdEvPT_i", "_Z1kIfEvPT_i"]
    (context,) = facts.contexts["_Z1kIfEvPT_i"]
    assert hg.bound(context, "param:n") == "i32(host:1:x.size(0))"
    assert hg.bound(context, "gdim.x") == "u32(((i32(host:1:x.size(0)) + 31) / 32))"


def test_runtime_api_launches() -> None:
    facts = hg.guide(
        """
        #include <cuda_runtime.h>
        __global__ void k(float *p, int n) {}
        void run(float *p, int n) {
          void *args[] = {&p, (void *)&n};
          cudaLaunchKernel((void *)k, dim3(n), dim3(32, 2), args, 16, 0);
          cudaLaunchCooperativeKernel((const void *)k, 4, 64, args, 0, 0);
        }
        """
    )
    first, second = facts.contexts["_Z1kPfi"]
    assert hg.bound(first, "param:n") == "host:1:n"
    assert hg.bound(first, "bdim.y") == "2"
    assert hg.bound(first, "smem.dynamic") == "16"
    assert dict(first.pointers)["p"].allocation == "p"
    assert second.cooperative
    assert not first.cooperative


@pytest.mark.parametrize(
    "call",
    [
        "own::cudaLaunchKernel(a, 32)",
        "Queue q; q.cudaLaunchKernel(a, 32)",
        "own::cudaLaunchKernel(k, a, 32)",
    ],
)
def test_a_function_of_the_program_that_is_called_like_a_launch_is_followed(call: str) -> None:
    facts = hg.guide(f"""
        #include <cuda_runtime.h>
        __global__ void k(int *a, int n) {{ a[threadIdx.x] = n; }}
        struct Queue {{ void cudaLaunchKernel(int *a, int n) {{ k<<<1, n>>>(a, n); }} }};
        namespace own {{
        void cudaLaunchKernel(int *a, int n) {{ k<<<1, n>>>(a, n); }}
        void cudaLaunchKernel(void (*)(int *, int), int *a, int n) {{ k<<<1, n>>>(a, n); }}
        }}
        void run(int *a) {{ {call}; }}
    """)
    assert "32" in [hg.bound(context, "bdim.x") for context in facts.contexts["_Z1kPii"]]


def test_extensible_launch() -> None:
    context = hg.only(
        """
        #include <cuda_runtime.h>
        __global__ void k(float *p, int n) {}
        void run(float *p, int n) {
          cudaLaunchConfig_t config = {};
          config.gridDim = dim3(n / 8);
          config.blockDim = dim3(64);
          config.dynamicSmemBytes = 128;
          cudaLaunchKernelEx(&config, k, p, n);
        }
        """
    )
    assert hg.bound(context, "gdim.x") == "u32((host:1:n / 8))"
    assert hg.bound(context, "bdim.x") == "64"
    assert hg.bound(context, "smem.dynamic") == "128"
    assert hg.bound(context, "param:n") == "host:1:n"


def test_same_pointer_twice_and_with_an_offset() -> None:
    context = hg.only(
        """
        __global__ void k(float *a, float *b, float *c, const float *d) {}
        void run(float *p, float *q, int n) { k<<<1, 32>>>(p, p + n, q, nullptr); }
        """
    )
    pointers = dict(context.pointers)
    assert pointers["a"].allocation == pointers["b"].allocation != pointers["c"].allocation
    assert pointers["a"].offset is None
    assert str(pointers["b"].offset) == "(i64(host:1:n) * 4)"
    assert pointers["d"].allocation is None
    assert pointers["d"].text == "nullptr"


def test_wrapper_called_from_main_uses_its_callers_and_says_so() -> None:
    facts = hg.guide(
        """
        __global__ void k(float *p, int n) {}
        void wrap(float *p, int n) { k<<<n / 32, 32>>>(p, n); }
        int main() { float *p; wrap(p, 64); wrap(p, 128); wrap(p, 64); }
        """
    )
    found = facts.contexts["_Z1kPfi"]
    assert [hg.bound(c, "param:n") for c in found] == ["64", "128"]
    assert found[0].assumptions == ("`wrap` is called from this file only",)


def test_external_function_may_be_called_with_anything() -> None:
    facts = hg.guide(
        """
        __global__ void k(float *p, int n) {}
        void wrap(float *p, int n) { k<<<n / 32, 32>>>(p, n); }
        void other(float *p) { wrap(p, 64); }
        """
    )
    assert "host:1:n" in [hg.bound(c, "param:n") for c in facts.contexts["_Z1kPfi"]]


def test_static_function_whose_address_is_taken_may_be_called_with_anything() -> None:
    facts = hg.guide(
        """
        __global__ void k(float *p, int n) {}
        static void wrap(float *p, int n) { k<<<1, 32>>>(p, n); }
        void (*hook)(float *, int) = wrap;
        void other(float *p) { wrap(p, 64); }
        """
    )
    assert "host:1:n" in [hg.bound(c, "param:n") for c in facts.contexts["_Z1kPfi"]]


def test_launch_that_clang_lost_is_listed() -> None:
    facts = hg.guide(
        """
        __global__ void k(float *p, int n) {}
        void run(float *p) { k<<<1, missing::blocks(3)>>>(p, 3); }
        """
    )
    assert [s.what for s in facts.skipped] == [
        "launch of k not visible to the parser (line 3: use of undeclared identifier 'missing')"
    ]
    assert not facts.contexts


def test_launch_in_a_template_nobody_instantiates_is_listed() -> None:
    facts = hg.guide(
        """
        template <class T> __global__ void k(T *p) {}
        template <class T> void run(T *p) { k<T><<<1, 32>>>(p); }
        """
    )
    assert [s.what for s in facts.skipped] == ["launch of k<T> is in a template that nothing here instantiates"]


def test_launch_through_a_macro() -> None:
    facts = hg.guide(
        """
        #define LAUNCH(kernel, n) kernel<<<(n + 31) / 32, 32>>>(n)
        __global__ void k(int n) {}
        void run(int n) { LAUNCH(k, n); }
        """
    )
    assert hg.bound(facts.contexts["_Z1ki"][0], "param:n") == "host:1:n"
    assert not facts.skipped


def test_block_size_chosen_among_constants_splits_the_context() -> None:
    facts = hg.guide(
        """
        __global__ void k(float *p, int n) {}
        void run(float *p, int n) { int b = n > 1000 ? 256 : 64; k<<<(n + b - 1) / b, b>>>(p, n); }
        """
    )
    found = facts.contexts["_Z1kPfi"]
    assert [hg.bound(c, "bdim.x") for c in found] == ["256", "64"]
    assert [hg.conditions(c) for c in found] == [["(1000 < host:1:n)"], ["(host:1:n <= 1000)"]]


def test_struct_passed_by_value() -> None:
    context = hg.only(
        """
        struct Params { int n; float *out; struct { int w; } inner; };
        __global__ void k(Params p) {}
        void run(float *o, int n) {
          Params p;
          p.n = n; p.out = o; p.inner.w = 3;
          k<<<p.n / 4, 32>>>(p);
        }
        """
    )
    assert hg.bound(context, "param:p.n") == "host:1:n"
    assert hg.bound(context, "param:p.inner.w") == "3"
    assert dict(context.pointers)["p.out"].allocation == "o"


def test_a_pointer_that_may_be_null_is_the_pointer() -> None:
    context = hg.only(
        """
        __global__ void k(float *a, float *b, float *c) {}
        void run(float *p, float *q, bool x) { k<<<1, 32>>>(x ? p : nullptr, x ? nullptr : p, q); }
        """
    )
    pointers = dict(context.pointers)
    assert pointers["a"].allocation == pointers["b"].allocation == "p"
    assert pointers["c"].allocation == "q"


def test_pointers_chosen_at_run_time_that_may_meet_are_told_apart_by_context() -> None:
    facts = hg.guide(
        """
        __global__ void k(float *a, float *b) {}
        void run(float *p, float *q, int n) { k<<<1, 32>>>(n > 3 ? p : n > 2 ? q : nullptr, q); }
        """
    )
    found = [tuple(a.allocation for _, a in c.pointers) for c in facts.contexts["_Z1kPfS_"]]
    assert found == [("p", "q"), ("q", "q"), (None, "q")]


def test_pointers_swapped_in_a_loop() -> None:
    context = hg.only(
        """
        #include <utility>
        __global__ void k(float *a, float *b) {}
        void run(float *p, float *q, int n) {
          for (int i = 0; i < n; i++) { k<<<1, 32>>>(p, q); std::swap(p, q); }
        }
        """
    )
    first, second = (a.allocation for _, a in context.pointers)
    assert first != second
    assert context.assumptions == (DISTINCT,)
    assert not context.uncertain


def test_too_many_callers_become_one_that_may_pass_anything() -> None:
    calls = " ".join(f"wrap(p, {n});" for n in range(20))
    facts = hg.guide(
        f"""
        __global__ void k(float *p, int n) {{}}
        static void wrap(float *p, int n) {{ if (n >= 0) k<<<1, 32>>>(p, n); }}
        void run(float *p) {{ {calls} }}
        """
    )
    (context,) = facts.contexts["_Z1kPfi"]
    assert hg.bound(context, "param:n") == "host:1:n"
    assert hg.conditions(context) == ["(0 <= host:1:n)"]


def test_an_instance_that_no_call_in_sight_reaches_has_its_launch_with_anything() -> None:
    """The program passes one of the types that its library takes: the launch of the others is known all the same."""
    facts = hg.guide(
        """
        template <class T> __global__ void k(T *p, int n) {}
        static void chosen(void *p, int type, int n) {
          if (n <= 0) return;
          switch (type) {
            case 0: k<<<n, 256>>>((float *)p, n); break;
            case 1: k<<<n, 256>>>((double *)p, n); break;
          }
        }
        static void run(void *p, int type, int n) { if (n != 7) chosen(p, type, n); }
        int main() { run(nullptr, 0, 5); return 0; }
        """,
        defined={"_Z1kIfEvPT_i", "_Z1kIdEvPT_i"},
    )
    (reached,) = facts.contexts["_Z1kIfEvPT_i"]
    (other,) = facts.contexts["_Z1kIdEvPT_i"]
    assert hg.allows(reached, n=5, gdim_x=5)
    assert not hg.allows(reached, n=6)
    assert hg.allows(other, n=6, gdim_x=6, bdim_x=256)
    assert not hg.allows(other, n=6, bdim_x=128)
    # What the functions on the way say holds as well.
    assert not hg.allows(other, n=0)
    assert not hg.allows(other, n=7)


def test_dimensions_made_by_make_uint3() -> None:
    context = hg.only(
        """
        __global__ void k() {}
        void run(int n) {
          dim3 grid(n), block = make_uint3(64, 2, 1);
          grid = make_uint3(n, 3, 1);
          k<<<grid, block>>>();
        }
        """
    )
    assert hg.allows(context, gdim_x=9, gdim_y=3, gdim_z=1, bdim_x=64, bdim_y=2)
    assert not hg.allows(context, gdim_y=1)
    assert not hg.allows(context, bdim_y=1)


@pytest.mark.parametrize(
    ("loop", "heights"),
    [
        ("while (grid.x) { k<<<grid, 32>>>(); grid.x /= 2; grid.y = 1; }", {1}),
        ("for (int i = 0; i < n; i++) { grid.y = rows; while (grid.x) { k<<<grid, 32>>>(); grid.y = 1; } }", {1}),
        ("do { k<<<grid, 32>>>(); grid.y = 1; if (n & 1) continue; grid.y = 1; } while (n--);", {1}),
        ("while (n--) { k<<<grid, 32>>>(); grid.y = 2; }", {1, 2}),
        ("while (n--) { k<<<grid, 32>>>(); grid.y = 1; if (n & 1) { grid.y = 2; continue; } }", {1, 2}),
        ("while (n--) { k<<<grid, 32>>>(); grid.y = rows; rows = 2; }", {1, 2}),
        ("while (n--) { k<<<grid, 32>>>(); grid.y = 1; change(&grid); }", {1, 2}),
        ("unsigned &y = grid.y; while (n--) { k<<<grid, 32>>>(); grid.y = 1; y = 2; }", {1, 2}),
        ("again: k<<<grid, 32>>>(); while (n--) { grid.y = 2; goto again; }", {1, 2}),
    ],
)
def test_what_a_loop_sets_to_what_it_was_stays_so(loop: str, heights: set[int]) -> None:
    facts = hg.guide(
        f"""
        __global__ void k() {{}}
        void change(dim3 *);
        void run(int n) {{ unsigned rows = 1; dim3 grid; grid.x = n; grid.y = 1; {loop} }}
        """
    )
    contexts = facts.contexts["_Z1kv"]
    assert {h for h in (1, 2) if any(hg.allows(c, gdim_y=h) for c in contexts)} == heights


@pytest.mark.parametrize(
    "body",
    [
        "auto set = [&r = rows] { r = 2; }; set(); k<<<rows, 32>>>();",
        "auto set = [&r = n > 3 ? rows : other] { r = 2; }; set(); k<<<rows, 32>>>();",
        "while (n--) { k<<<rows, 32>>>(); auto set = [&r = rows] { r = 2; }; set(); }",
        "auto set = [&r(rows)] { r = 2; }; while (n--) { k<<<rows, 32>>>(); set(); }",
    ],
)
def test_a_lambda_writes_through_a_reference_it_names_anew(body: str) -> None:
    facts = hg.guide(f"__global__ void k() {{}} void run(int n) {{ int rows = 1, other = 1; {body} }}")
    assert any(hg.allows(c, gdim_x=2) for c in facts.contexts["_Z1kv"])


def test_deeply_nested_code_is_cut_off_not_followed_forever() -> None:
    chain = " << n" * 300
    branches = " else ".join(f"if (n == {i}) s = {i};" for i in range(300))
    facts = hg.guide(
        f"""
        #include <iostream>
        __global__ void k(int n, int s) {{}}
        void run(int n) {{ int s = 7; std::cout{chain}; {branches} if (n > 0) k<<<1, 32>>>(n, s); }}
        """
    )
    (context,) = facts.contexts["_Z1kii"]
    assert not hg.allows(context, n=0)
    assert hg.allows(context, n=5, s=5)
    assert hg.allows(context, n=500, s=7)


def test_recursive_functions_end() -> None:
    facts = hg.guide(
        """
        __global__ void k(int n) {}
        static void down(int n) { if (n > 0) { k<<<1, 32>>>(n); down(n - 1); } }
        void run() { down(9); }
        """
    )
    assert any(hg.allows(c, n=3) for c in facts.contexts["_Z1ki"])
    assert not any(hg.allows(c, n=0) for c in facts.contexts["_Z1ki"])


def test_an_array_in_a_braced_list_is_written_through_the_member() -> None:
    context = hg.only(
        """
        struct View { int *p; };
        __global__ void k(int *p, int m) {}
        int main() {
          int *p, a[2] = {8, 8};
          cudaMalloc(&p, 4);
          View v{a};
          v.p[1] = 7;
          k<<<1, 64>>>(p, a[1]);
        }
        """
    )
    assert hg.allows(context, m=7)


_TABLE = """
    #include <cuda_runtime.h>
    __global__ void k(int n) {{}}
    __global__ void of_another_type(float f) {{}}
    __global__ void by_name_only(int n) {{}}
    static void (*table[])(int) = {{{held}}};
    void run(int which) {{
      k<<<1, 1>>>(1);
      by_name_only<<<1, 1>>>(1);
      cudaFuncSetAttribute((const void *)by_name_only, cudaFuncAttributeMaxDynamicSharedMemorySize, 9);
      table[which]<<<1, 1>>>({given});
    }}
"""


@pytest.mark.parametrize("given", [0, 1])
def test_a_launch_through_a_pointer_may_be_of_each_kernel_whose_address_is_taken(given: int) -> None:
    facts = hg.guide(_TABLE.format(held="k", given=given))
    contexts = hg.by_name(facts)
    assert [s.what for s in facts.skipped] == [f"launch table[which]<<<1, 1>>>({given}): its kernel is not known"]
    assert any(hg.allows(c, n=0) for c in contexts["k"]) is (given == 0)
    assert any(c.uncertain for c in contexts["k"])
    assert not any(hg.allows(c, n=0) for c in contexts["by_name_only"])


def test_a_launch_through_a_pointer_is_of_no_kernel_that_is_only_named_where_it_is_launched() -> None:
    contexts = hg.by_name(hg.guide(_TABLE.format(held="nullptr", given=0)))
    assert not any(hg.allows(c, n=0) for c in contexts["k"])
