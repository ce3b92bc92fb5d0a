"""PTX read and printed: what compilers emit for our kernels comes back equal, and each construct means what it says."""

from __future__ import annotations

import pytest

from gpu_runner.compile import CompileError, CompileOptions, compile_source
from gpu_runner.ptx import model
from gpu_runner.ptx.lexer import PtxSyntaxError
from gpu_runner.ptx.parse import parse
from gpu_runner.ptx.render import render

KERNELS = """
struct P { int x; float y; };
struct Base { virtual __device__ int value(int) = 0; };
struct Derived : Base { __device__ int value(int x) override { return x + 1; } };
__constant__ float coefficient[4] = {1.f, 2.f, 3.f, 4.f};
__device__ int counter;
__device__ int twice(int x) { return x * 2; }
__device__ int thrice(int x) { return x * 3; }
typedef int (*Function)(int);
__device__ Function table[2] = {twice, thrice};
__device__ const char *names[2] = {"one", "two"};
__device__ __noinline__ float scaled(float a, const P &p) { return a * p.y + p.x; }
__device__ float pair(float *s, int i) { return s[i] + s[i + 1]; }
extern "C" __global__ void __launch_bounds__(128, 2) k(const float *a, float *b, int n, P p) {
  __shared__ float s[64];
  extern __shared__ int dyn[];
  int t = threadIdx.x;
  s[t] = a[t];
  dyn[t] = t;
  __syncthreads();
  float v = 0;
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v + s[t], o);
  float4 q = *(const float4 *)(a + 4 * t);
  switch (n) {
    case 0: v += 1; break;  case 1: b[3] = 1; break;  case 2: b[5] = v; break;  case 3: v *= v; break;
    case 4: v = sqrtf(v); break;  case 5: b[9] = t; break;  case 6: v = sinf(v); break;  default: v = 0;
  }
  if (t < n) b[t] = scaled(v, p) + pair(s, t) + coefficient[t & 3] + q.x * q.w;
  if (n < 0) asm volatile("{ .reg .pred q; setp.eq.s32 q, %0, 3; @!q add.s32 %0, %0, 1; }" : "+r"(t));
  Derived d; Base *base = &d;
  int old = atomicAdd(&counter, base->value(table[n & 1](t)));
  __threadfence();
  if (old == 7) printf("last %d %f %s\\n", t, v, names[n & 1]);
  assert(n > 0);
}
"""


@pytest.mark.parametrize("build", ["confirm", "shipped"])
def test_what_the_compiler_emits_is_read_and_printed(build: str) -> None:
    options = CompileOptions(build=build, compiler="nvrtc")  # pyright: ignore[reportArgumentType]
    module = parse(compile_source(KERNELS, "/k.cu", options).ptx)
    assert parse(render(module)) == module
    entry = module.definition("k")
    assert entry is not None
    assert entry.directives == (("maxntid", (128, 1, 1)), ("minnctapersm", (2,)))
    assert [parameter.type for parameter in entry.parameters] == ["u64", "u64", "u32", "b8"]
    assert module.files[0].name == "/k.cu"


def test_a_rejected_source_gives_the_log() -> None:
    with pytest.raises(CompileError, match=r"k\.cu\(1\): error: identifier \"undefined\" is undefined"):
        compile_source("__global__ void k() { undefined = 1; }", "/k.cu", CompileOptions(compiler="nvrtc"))


def test_nvrtc_takes_the_register_class_that_nvcc_takes() -> None:
    source = "__global__ void k(float *a) { register float x[2] = {a[0], a[1]}; a[2] = x[a[3] > 0]; }"
    assert ".entry" in compile_source(source, "/k.cu", CompileOptions(compiler="nvrtc")).ptx


def test_headers_that_nvrtc_lacks_are_there() -> None:
    source = """
    #include <cassert>
    #include <cfloat>
    #include <climits>
    #include <cmath>
    #include <cstdint>
    #include <cstdio>
    #include <cuda_runtime.h>
    #include <stdint.h>
    extern "C" __global__ void k(uint32_t *a, std::int64_t *b, float4 *v) {
      assert(a);
      printf("%d", INT_MAX);
      a[threadIdx.x] = sqrtf(v[0].x) < FLT_MAX ? *b : 0;
    }
    """
    module = parse(compile_source(source, "/k.cu", CompileOptions(compiler="nvrtc")).ptx)
    assert module.definition("k") is not None


HEAD = ".version 8.0\n.target sm_80, debug\n.address_size 64\n"


def body(text: str) -> tuple[model.Statement, ...]:
    module = parse(f"{HEAD}.visible .entry k() {{ {text} }}")
    assert parse(render(module)) == module
    return module.functions[0].body or ()


def test_instructions_keep_guards_modifiers_and_operands() -> None:
    assert body("@!%p1 ld.volatile.global.v2.f32 {%f1, _}, [%rd1+-8];") == (
        model.Instruction(
            "ld",
            ("volatile", "global", "v2", "f32"),
            (model.Vector((model.Register("%f1"), model.Symbol("_"))), model.Address(model.Register("%rd1"), -8)),
            model.Guard("%p1", True),
        ),
    )
    assert body("setp.lt.and.s32 %p1|%p2, %tid.x, -0x10, !%p3;") == (
        model.Instruction(
            "setp",
            ("lt", "and", "s32"),
            (
                model.Pair(model.Register("%p1"), model.Register("%p2")),
                model.Register("%tid.x"),
                model.Integer(-16),
                model.Negated(model.Register("%p3")),
            ),
        ),
    )
    assert body("cp.async.ca.shared.global.L2::128B [%r1], [%rd1], 16;") == (
        model.Instruction(
            "cp",
            ("async", "ca", "shared", "global", "L2::128B"),
            (model.Address(model.Register("%r1")), model.Address(model.Register("%rd1")), model.Integer(16)),
        ),
    )


def test_constants_keep_their_bits() -> None:
    texts = "0f3F800000, -0f3F800000, 0d3FF0000000000000, 1.5, 017, 0b101, 4294967295U"
    (found,) = body(f"foo {texts};")
    assert isinstance(found, model.Instruction)
    assert found.operands == (
        model.Float(0x3F800000, 32),
        model.Float(0xBF800000, 32),
        model.Float(0x3FF0000000000000, 64),
        model.Float(0x3FF8000000000000, 64),
        model.Integer(15),
        model.Integer(5),
        model.Integer(4294967295),
    )


def test_tables_prototypes_and_scopes() -> None:
    found = body(
        """
        { .reg .pred p; $L1: .branchtargets $L2, $L3;  brx.idx %r1, $L1; }
        $P: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 8 .b8 _[16]) .noreturn;
        call (%r1), %rd1, (%r2, 5), $P;
        call.uni trap_here;
        """
    )
    scope, prototype, indirect, direct = found
    assert isinstance(scope, model.Scope)
    assert scope.body[1] == model.Targets("branchtargets", "$L1", ("$L2", "$L3"))
    assert isinstance(prototype, model.Prototype)
    assert [p.dimensions for p in prototype.parameters] == [(), (16,)]
    assert prototype.attributes == ("noreturn",)
    assert indirect == model.Call(
        model.Register("%rd1"), (model.Register("%r1"),), (model.Register("%r2"), model.Integer(5)), (), "$P"
    )
    assert direct == model.Call(model.Symbol("trap_here"), modifiers=("uni",))


def test_variables_keep_initialisers() -> None:
    module = parse(
        HEAD
        + """
        .visible .global .attribute(.managed) .align 8 .v2 .f32 a[2][2] = {{0f00000000, 1.0}, {2.0, 3.0}};
        .extern .shared .align 16 .b8 s[];
        .global .u64 p[2] = {generic(a)+8, a};
        .global .u32 one = 1;
        .global .b8 byte[2] = {0xFF(a), 0xFF00(generic(a)+4)};
        """
    )
    assert parse(render(module)) == module
    a, s, p, one, byte = module.variables
    assert a.dimensions == (2, 2)
    assert a.attributes == (".managed",)
    assert s.dimensions == (None,)
    assert p.initialiser == model.Braces((model.Generic("a", 8), model.Symbol("a")))
    assert one.initialiser == model.Integer(1)
    assert byte.initialiser == model.Braces(
        (model.Mask(255, model.Symbol("a")), model.Mask(65280, model.Generic("a", 4)))
    )


def test_locations_name_the_call_that_was_inlined() -> None:
    module = parse(
        HEAD
        + """
        .entry k() {
        .loc 1 7 3
        ret;
        .loc 1 2 5, function_name $L__info_string0, inlined_at 1 7 3
        ret;
        }
        .file 1 "a.cu"
        .section .debug_str
        {
        $L__info_string0:
        .b8 102,111,111,0
        }
        .section .debug_info { .b32 7 .b8 1 }
        """.replace("{ .b32 7 .b8 1 }", "\n{\n.b32 7\n.b8 1\n}")
    )
    assert parse(render(module)) == module
    found = module.functions[0].body
    assert found is not None
    first, second = found
    assert isinstance(first, model.Instruction)
    assert isinstance(second, model.Instruction)
    assert first.location == model.Location(model.Position(1, 7, 3))
    assert second.location == model.Location(model.Position(1, 2, 5), "$L__info_string0", model.Position(1, 7, 3))
    assert module.strings == (("$L__info_string0", "foo"),)


@pytest.mark.parametrize("text", ["ld.u32 %r1, [%rd1", "add.s32 %r1, %r2 %r3;", "?;", ".unknown 3;"])
def test_what_is_not_ptx_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(PtxSyntaxError, match="line 4"):
        parse(f"{HEAD}.entry k() {{ {text} }}")
