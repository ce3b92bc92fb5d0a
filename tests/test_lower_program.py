"""The program that comes out of the lowering, statement by statement, for what the analysis cares about."""

# ruff: noqa: E501 (CUDA text and printed programs keep their lines)

import pytest
from lowering import PATH, each, expected, kernel, program, unsupported

from analyzers.ir.kernel import Atomic, Barrier, Collective, Fence, Load, Loop, Store


def test_accesses_of_shared_and_global_memory():
    assert program("""
        __global__ void k(float *a, const int *__restrict__ idx, int n) {
          __shared__ float s[16][17];
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i >= n) return;
          s[threadIdx.y][threadIdx.x] = a[i];
          __syncthreads();
          a[idx[i]] += s[threadIdx.x][threadIdx.y];
        }
    """) == expected("""
          i := i32(((bdim.x * bid.x) + tid.x))
          if (param:n <= i):
            exit kernel (return)
          #1 % := load f32 4B ptradd(&a, (i64(i) * 4))
          #2 store 4B ptradd(&s, ((i64(tid.x) * 4) + (i64(tid.y) * 68))) := % [i64(tid.y) < 16] [i64(tid.x) < 17]
          #3 barrier block
          #4 %$2 := load f32 4B ptradd(&s, ((i64(tid.x) * 68) + (i64(tid.y) * 4))) [i64(tid.x) < 16] [i64(tid.y) < 17]
          #5 %$3 := load i32 4B ptradd(&idx, (i64(i) * 4))
          #6 %$4 := load f32 4B ptradd(&a, (i64(%$3) * 4))
          #7 store 4B ptradd(&a, (i64(%$3) * 4)) := (%$2 + %$4)
    """)


def test_objects_and_parameters():
    k = kernel("""
        struct P { int n; float *data; int dims[3]; struct { short lo, hi; } range; };
        __constant__ float weights[8];
        __device__ int counter;
        __global__ void __launch_bounds__(128, 2) k(float *out, const float *__restrict__ in, P p, unsigned char c) {
          __shared__ int tile[4][8];
          extern __shared__ char bytes[];
          extern __shared__ float floats[];
          tile[0][1] = bytes[2] + p.n + p.range.hi; floats[p.dims[1]] = c; p.data[0] = in[0] + weights[2];
          atomicAdd(&counter, 1); out[0] = 1;
        }
    """)
    objects = {o.name: (o.space, o.kind, o.size, o.element, o.extents, o.read_only) for o in k.objects}
    assert objects == {
        "out": ("global", "pointee", None, 4, (), False),
        "in": ("global", "pointee", None, 4, (), True),
        "tile": ("shared", "declared", 128, 4, (4, 8), False),
        "bytes": ("shared", "dynamic", None, 1, (), False),
        "p.dims": ("param", "declared", 12, 4, (3,), True),
        "p.data": ("global", "pointee", None, 4, (), False),
        "weights": ("constant", "declared", 32, 4, (8,), True),
        "counter": ("global", "declared", 4, 4, (), False),
    }
    parameters = {p.name: (str(p.ty), p.restrict, p.object) for p in k.parameters}
    assert parameters == {
        "out": ("ptr", False, "out"),
        "in": ("ptr", True, "in"),
        "c": ("u8", False, None),
        "p.n": ("i32", False, None),
        "p.range.hi": ("i16", False, None),
        "p.data": ("ptr", False, "p.data"),
    }
    assert k.bounds.max_threads == 128
    assert {s.pointer.value for s in each(k, Load) if s.pointer.op == "addr"} <= set(objects)


def test_launch_bounds_of_a_template_argument_and_a_constant():
    text = """
        constexpr int kThreads = 96;
        template <int N> __global__ void __launch_bounds__(N * 2) a(int *p) { *p = N; }
        __global__ void __launch_bounds__(kThreads + 32) b(int *p) { *p = 1; }
        void host(int *p) { a<64><<<1, 1>>>(p); }
    """
    assert kernel(text, "a<64>").bounds.max_threads == 128
    assert kernel(text, "b").bounds.max_threads == 128


def test_written_parameters_become_variables():
    assert program("""
        __device__ int half_of(int v) { v /= 2; return v; }
        __global__ void k(int *p, int n, int m) { p += 4; while (n > 0) n -= half_of(m); *p = n; }
    """) == expected("""
          p$2 := &p
          n := param:n
          p$2 := ptradd(p$2, 16)
          loop loop.0:
            while (0 < n)
            v := param:m
            v := (v / 2)
            n := (n - v)
          #1 store 4B p$2 := n
    """)


def test_wide_accesses_of_vectors():
    assert program("""
        __global__ void k(float4 *a, const int2 *b, uint4 *c, const uint4 *d) {
          float4 v = a[threadIdx.x];
          v.x += 1.f;
          a[0] = v;
          int2 e = b[1];
          a[e.x].w = 2.f;
          c[0] = d[0];
          *reinterpret_cast<float2 *>(c) = make_float2(v.x, v.y);
        }
    """) == expected("""
          #1 % := load f64 16B ptradd(&a, (i64(tid.x) * 16))
          v.x := lane(%, 0)
          v.y := lane(%, 4)
          v.z := lane(%, 8)
          v.w := lane(%, 12)
          v.x := (v.x + 1.0)
          #2 store 16B &a := pack(v.x, v.y, v.z, v.w)
          #3 %$2 := load i32 4B ptradd(&b, 8)
          #4 %$3 := load i32 4B ptradd(&b, 12)
          e.x := %$2
          #5 store 4B ptradd(&a, ((i64(e.x) * 16) + 12)) := 2.0
          #6 %$4 := load f64 16B &d
          #7 store 16B &c := %$4
          %x := v.x
          %y := v.y
          %value.x := %x
          %value.y := %y
          #8 store 8B &c := pack(%value.x, %value.y)
    """)


def test_sites_name_the_access_and_the_calls():
    k = kernel(
        "__device__ int &at(int *p, int i) { return p[i]; }\n"
        "__device__ void inner(int *q) { at(q, 3) = 1; }\n"
        "#define PUT(i) p[i] = 2\n"
        "__global__ void k(int *p) {\n"
        "  inner(p + 1);\n"
        "  PUT(threadIdx.x);\n"
        "  __stcg(&p[2], 5);\n"
        "}\n"
    )
    first, second, third = each(k, Store)
    assert (first.site.text, first.site.span.start_line) == ("at(q, 3)", 2)
    assert [c.start_line for c in first.site.calls] == [5]
    assert second.site.span.path == PATH
    assert (second.site.span.start_line, second.site.span.start_column, second.site.span.end_column) == (6, 3, 19)
    assert second.site.text == "PUT(threadIdx.x)"
    assert (third.site.text, third.site.span.start_line, third.site.calls) == ("p[2]", 7, ())
    assert [name for name, _ in k.functions] == ["inner", "at"]


def test_barriers_and_their_statements():
    text = (
        "#define SYNC __syncthreads()\n"
        "__device__ void both() { __syncthreads(); __syncwarp(0xff); }\n"
        "__global__ void k(int n, int *out) {\n"
        "  __syncthreads() /* here */ ;\n"
        "  SYNC;\n"
        "  both();\n"
        "  if (n) __syncthreads();\n"
        "  *out = __syncthreads_count(n > 1) + __syncthreads_and(n);\n"
        "  __syncwarp();\n"
        '  asm volatile("bar.sync 0;" ::: "memory");\n'
        "}\n"
    )
    barriers = each(kernel(text), Barrier)
    assert [(b.scope, b.in_macro) for b in barriers] == [
        ("block", False), ("block", True), ("block", False), ("warp", False), ("block", False),
        ("block", False), ("block", False), ("warp", False), ("block", False),
    ]  # fmt: skip
    spans = [b.statement for b in barriers]
    shown = [text[s.start_offset : s.end_offset] if s else None for s in spans]
    assert shown == [
        "__syncthreads() /* here */ ;", "SYNC;", "__syncthreads();", "__syncwarp(0xff);", "__syncthreads();",
        None, None, "__syncwarp();", 'asm volatile("bar.sync 0;" ::: "memory");',
    ]  # fmt: skip
    assert [b.reduce[0] if b.reduce else None for b in barriers][5:7] == ["count", "and"]
    assert barriers[3].mask is not None
    assert barriers[3].mask.value == 0xFF
    assert barriers[7].mask is None


def test_cooperative_groups():
    text = """
        #include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        __global__ void k(int *p) {
          auto block = cg::this_thread_block();
          auto warp = cg::tiled_partition<32>(block);
          auto quad = cg::tiled_partition<4>(warp);
          block.sync(); cg::sync(warp); quad.sync(); cg::this_grid().sync(); block.barrier_wait(block.barrier_arrive());
          p[block.thread_rank()] = warp.shfl_down(p[0], 2) + quad.shfl(p[1], 0) + warp.ballot(p[2] > 0);
        }
    """
    k = kernel(text)
    assert [(b.scope, b.tile) for b in each(k, Barrier)] == [
        ("block", None), ("warp", None), ("tile", 4), ("grid", None), ("block", None)
    ]  # fmt: skip
    assert [(c.name, [str(o) for o in c.operands][2:]) for c in each(k, Collective)] == [
        ("__shfl_down_sync", ["2", "32"]), ("__shfl_sync", ["0", "4"]), ("__ballot_sync", [])
    ]  # fmt: skip
    assert all(b.site.span.start_line == 8 and b.site.calls == () for b in each(k, Barrier))


def test_atomics():
    text = """
        #include <cuda/atomic>
        __global__ void k(int *p, float *f, unsigned *u) {
          __shared__ int s[4];
          atomicAdd(&s[threadIdx.x], 2);
          int old = atomicCAS(p + 1, 3, 4);
          atomicMax_block(p, old); atomicExch_system(f, 1.5f); u[0] = atomicInc(u, 7u);
          cuda::atomic_ref<int, cuda::thread_scope_device> r(*p);
          r.fetch_sub(1, cuda::memory_order_acq_rel); r.store(3, cuda::memory_order_release);
          __threadfence(); __threadfence_block(); cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_system);
        }
    """
    k = kernel(text)
    assert [(a.op, a.scope, a.order, str(a.ty), a.site.text) for a in each(k, Atomic)] == [
        ("add", "grid", "relaxed", "i32", "s[threadIdx.x]"),
        ("cas", "grid", "relaxed", "i32", "p + 1"),
        ("max", "block", "relaxed", "i32", "p"),
        ("exch", "system", "relaxed", "f32", "f"),
        ("inc", "grid", "relaxed", "u32", "u"),
        ("sub", "grid", "acq_rel", "i32", "r.fetch_sub(1, cuda::memory_order_acq_rel)"),
        ("store", "grid", "release", "i32", "r.store(3, cuda::memory_order_release)"),
    ]
    assert each(k, Atomic)[0].in_bounds[0][1] == 4
    assert [(f.scope, f.order) for f in each(k, Fence)] == [
        ("grid", "seq_cst"), ("block", "seq_cst"), ("system", "acquire")
    ]  # fmt: skip


def test_warp_functions():
    assert program("""
        __global__ void k(float *p, int n) {
          float v = p[0];
          for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
          unsigned m = __ballot_sync(__activemask(), n > 3);
          p[__popc(m)] = v;
        }
    """) == expected("""
          #1 % := load f32 4B &p
          v := %
          o := 16
          loop loop.0:
            while (0 < o)
            #2 %lane := __shfl_xor_sync(4294967295, v, o, 32)
            v := (%lane + v)
           latch:
            o := (o >> 1)
          #3 %lane$2 := __activemask()
          #4 %lane$3 := __ballot_sync(%lane$2, (3 < param:n))
          m := %lane$3
          #5 store 4B ptradd(&p, (i64(__popc(m)) * 4)) := v
    """)


def test_assumptions_of_the_code():
    assert program("""
        #include <cassert>
        __global__ void k(int *p, int n) {
          assert(n > 1); __builtin_assume(n < 9);
          if (n == 5) __trap();
          p[n] = min(n, 3) + max(threadIdx.x, 2u) + abs(n);
        }
    """) == expected("""
          assume (1 < param:n) (assert)
          assume (param:n < 9) (assume)
          if (param:n == 5):
            observe signal
            assume false (trap)
          #1 store 4B ptradd(&p, (i64(param:n) * 4)) := i32(((max(tid.x, 2) + u32(min(param:n, 3))) + u32(((param:n < 0) ? neg(param:n) : param:n))))
    """)


def test_what_begins_in_an_argument_of_a_macro_and_ends_behind_it_is_the_whole_use_and_lies_at_the_argument():
    text = """
        #define STEP(p, i) p[i] = p[(i + 1) % 64]
        __global__ void k(int *a, int t) { STEP(a, t); STEP(
            a
            , t); }
    """
    stores = each(kernel(text), Store)
    assert [" ".join(s.site.text.split()) for s in stores] == ["STEP(a, t)", "STEP( a , t)"]
    spans = [s.site.span for s in stores]
    assert [text[s.start_offset : s.end_offset] for s in spans] == ["a", "a"]
    assert [(s.end_line - s.start_line, s.end_column - s.start_column) for s in spans] == [(0, 1), (0, 1)]


def test_loops_say_what_they_are():
    k = kernel("""
        __global__ void k(int *p, int n) {
          for (int s = n / 2;   s > 0; s >>= 1) { p[s] = 1; }
          while (p[0] < n) p[1] = 2;
          do p[2] = 3; while (p[3]);
        }
    """)
    assert [loop.site.text for loop in each(k, Loop)] == [
        "for (int s = n / 2; s > 0; s >>= 1)", "while (p[0] < n)", "do … while (p[3])"
    ]  # fmt: skip


def test_short_circuits_guard_loads():
    assert program(
        "__global__ void k(int *p, int n) { if (n > 3 && p[n] > 0 || p[0]) p[1] = n ? p[2] : 0; }"
    ) == expected("""
          %both := (3 < param:n)
          if %both:
            #1 % := load i32 4B ptradd(&p, (i64(param:n) * 4))
            %both := (0 < %)
          %either := %both
          if !%either:
            #2 %$2 := load i32 4B &p
            %either := (%$2 != 0)
          if %either:
            if (param:n != 0):
              #3 %$3 := load i32 4B ptradd(&p, 8)
              %choice := %$3
            else:
              %choice := 0
            #4 store 4B ptradd(&p, 4) := %choice
    """)


def test_pointers_loaded_from_memory():
    assert program("""
        struct List { float *rows[4]; int count; };
        __global__ void k(float **table, List list, int i) {
          table[i][2] = list.rows[i][3];
        }
    """) == expected("""
          #1 % := load ptr 8B ptradd(&list.rows, (i64(param:i) * 8)) [i64(param:i) < 4]
          #2 %$2 := load f32 4B ptradd(%, 12)
          #3 %$3 := load ptr 8B ptradd(&table, (i64(param:i) * 8))
          #4 store 4B ptradd(%$3, 8) := %$2
    """)


def test_library_functions_without_a_body_are_data():
    assert program(
        """
        __global__ void k(float *p, int *q) {
          float s, c; sincosf(p[0], &s, &c);
          q[(int)(sqrtf(s) + c)] = clock64() > 3;
          __half h = __float2half(p[1]); h = h + __half(2.f); p[2] = (float)h;
        }
    """.replace("__global__", "#include <cuda_fp16.h>\n__global__", 1)
    ) == expected("""
          #1 % := load f32 4B &p
          s := sincosf:1+0(%)
          c := sincosf:2+0(%)
          observe time
          %any := any i64 (time)
          #2 store 4B ptradd(&q, (i64(i32((c + sqrtf(s)))) * 4)) := i32((3 < %any))
          #3 %$2 := load f32 4B ptradd(&p, 4)
          h := __float2half(%$2)
          h := operator+(h, 2.0)
          #4 store 4B ptradd(&p, 8) := f32(h)
    """)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("p[0] = fact(3);", "recursion"),
        ("p[0] = table[n](3);", "indirect-call"),
        ("elsewhere(p);", "call-to-unknown-function"),
        ("notify();", "call-to-unknown-function"),
        ('asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "l"(p));', "asm"),
        ('asm volatile("bar.sync 1, 64;");', "partial-barrier"),
        ("if (n) goto inside; while (n) { inside: p[0] = 1; }", "goto"),
        ("int v[n]; v[0] = 1; p[0] = v[0];", "variable-length-array"),
        ("Guard g{p}; p[0] = 1;", "destructor"),
        ("Shape *s = (Shape *)p; p[0] = s->area();", "virtual-call"),
        ("switch (n) { case 1: while (n) { case 2: p[0] = 1; } }", "switch"),
        ("__barrier_sync_count(1, 64);", "partial-barrier"),
        ("p[0] = undeclared_name;", "parse-error"),
    ],
)
def test_what_is_not_taken_in_says_so(body: str, kind: str):
    text = f"""
        struct Guard {{ int *p; __device__ ~Guard() {{ *p = 0; }} }};
        struct Shape {{ __device__ virtual int area() {{ return 0; }} }};
        __device__ int fact(int v) {{ return v < 2 ? 1 : v * fact(v - 1); }}
        typedef int (*Function)(int);
        __device__ Function table[4];
        __device__ void elsewhere(int *p);
        __device__ void notify();
        __global__ void k(int *p, int n) {{ {body} }}
    """
    assert kind in unsupported(text)


def test_a_function_from_elsewhere_may_do_more_than_give_a_value():
    text = "__device__ {} int lookup(int i); __global__ void k(int *p, int n) {{ p[lookup(n)] = 1; }}"
    assert unsupported(text.format("")) == ["call-to-unknown-function"]
    assert unsupported(text.format("__attribute__((pure))")) == ["call-to-unknown-function"]
    assert program(text.format("__attribute__((const))")) == expected("""
          %any := any i32 (result of lookup)
          #1 store 4B ptradd(&p, (i64(%any) * 4)) := 1
    """)


@pytest.mark.parametrize(
    "call",
    ["pool.free(a)", "own::free(a)", "own::abort(3)", "*own::addressof(a) = 1", "own::clock(a)", "umin(pool, pool)"],
)
def test_only_the_librarys_own_functions_have_the_meaning_of_their_names(call: str):
    text = f"""
        struct Pool {{ __device__ void free(int *p); }};
        namespace own {{
        __device__ void free(int *p);
        __device__ int *addressof(int *p);
        __device__ int clock(int *p);
        __device__ void abort(int);
        }}
        __device__ int umin(Pool, Pool);
        __global__ void k(Pool pool, int *a) {{ {call}; }}
    """
    assert unsupported(text) == ["call-to-unknown-function"]


def test_a_function_of_the_library_may_be_declared_once_more():
    assert not unsupported("""
        extern "C" __device__ void __trap(void);
        extern "C" __device__ int printf(const char *, ...);
        __device__ int max(int, int);
        __global__ void k(int *a) { if (a[0]) printf("%d", max(a[1], 2)); else __trap(); }
    """)
