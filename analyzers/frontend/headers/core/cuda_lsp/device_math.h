// Integer, conversion, SIMD-in-a-word and fast-math intrinsics. Integer ones that an index may pass through have bodies.
#pragma once
#include <cuda_lsp/math.h>
#include <cuda_lsp/vectors.h>

#pragma clang force_cuda_host_device begin

constexpr int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
constexpr unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
constexpr int __mulhi(int a, int b) { return int((static_cast<long long>(a) * b) >> 32); }
constexpr unsigned __umulhi(unsigned a, unsigned b) { return unsigned((static_cast<unsigned long long>(a) * b) >> 32); }
long long __mul64hi(long long a, long long b);
unsigned long long __umul64hi(unsigned long long a, unsigned long long b);
constexpr int __hadd(int a, int b) { return int((static_cast<long long>(a) + b) >> 1); }
constexpr int __rhadd(int a, int b) { return int((static_cast<long long>(a) + b + 1) >> 1); }
constexpr unsigned __uhadd(unsigned a, unsigned b) { return unsigned((static_cast<unsigned long long>(a) + b) >> 1); }
constexpr unsigned __urhadd(unsigned a, unsigned b) { return unsigned((static_cast<unsigned long long>(a) + b + 1) >> 1); }
constexpr unsigned __sad(int a, int b, unsigned c) { return (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a)) + c; }
constexpr unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
int __clz(int x);
int __clzll(long long x);
int __ffs(int x);
int __ffsll(long long x);
int __popc(unsigned x);
int __popcll(unsigned long long x);
unsigned __brev(unsigned x);
unsigned long long __brevll(unsigned long long x);
unsigned __byte_perm(unsigned low, unsigned high, unsigned selector);
constexpr unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return unsigned((((static_cast<unsigned long long>(high) << 32) | low) << (shift & 31u)) >> 32);
}
constexpr unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return unsigned(((static_cast<unsigned long long>(high) << 32) | low) >> (shift & 31u));
}
unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift);
unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift);
int __dp4a(int a, int b, int c);
unsigned __dp4a(unsigned a, unsigned b, unsigned c);
int __dp4a(char4 a, char4 b, int c);
unsigned __dp4a(uchar4 a, uchar4 b, unsigned c);
int __dp2a_lo(int a, int b, int c);
unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c);
int __dp2a_hi(int a, int b, int c);
unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c);
int mulhi(int a, int b);
unsigned umulhi(unsigned a, unsigned b);
float saturate(float x);
float __saturatef(float x);
float __cosf(float x);
float __sinf(float x);
float __tanf(float x);
float __tanhf(float x);
void __sincosf(float x, float *sine, float *cosine);
float __expf(float x);
float __exp10f(float x);
float __logf(float x);
float __log2f(float x);
float __log10f(float x);
float __powf(float x, float y);
float __fdividef(float x, float y);
float __frsqrt_rn(float x);

#define CUDA_LSP_ROUNDINGS(X) X(rn) X(rz) X(ru) X(rd)
#define CUDA_LSP_ROUNDED(r)                                     \
  float __fadd_##r(float a, float b);                           \
  float __fsub_##r(float a, float b);                           \
  float __fmul_##r(float a, float b);                           \
  float __fdiv_##r(float a, float b);                           \
  float __fmaf_##r(float a, float b, float c);                  \
  float __fmaf_ieee_##r(float a, float b, float c);             \
  float __frcp_##r(float a);                                    \
  float __fsqrt_##r(float a);                                   \
  double __dadd_##r(double a, double b);                        \
  double __dsub_##r(double a, double b);                        \
  double __dmul_##r(double a, double b);                        \
  double __ddiv_##r(double a, double b);                        \
  double __fma_##r(double a, double b, double c);               \
  double __drcp_##r(double a);                                  \
  double __dsqrt_##r(double a);                                 \
  float __double2float_##r(double a);                           \
  int __double2int_##r(double a);                               \
  unsigned __double2uint_##r(double a);                         \
  long long __double2ll_##r(double a);                          \
  unsigned long long __double2ull_##r(double a);                \
  int __float2int_##r(float a);                                 \
  unsigned __float2uint_##r(float a);                           \
  long long __float2ll_##r(float a);                            \
  unsigned long long __float2ull_##r(float a);                  \
  float __int2float_##r(int a);                                 \
  float __uint2float_##r(unsigned a);                           \
  float __ll2float_##r(long long a);                            \
  float __ull2float_##r(unsigned long long a);                  \
  double __ll2double_##r(long long a);                          \
  double __ull2double_##r(unsigned long long a);
CUDA_LSP_ROUNDINGS(CUDA_LSP_ROUNDED)
#undef CUDA_LSP_ROUNDED
double __int2double_rn(int a);
double __uint2double_rn(unsigned a);
int __float_as_int(float x);
unsigned __float_as_uint(float x);
float __int_as_float(int x);
float __uint_as_float(unsigned x);
long long __double_as_longlong(double x);
double __longlong_as_double(long long x);
double __hiloint2double(int high, int low);
int __double2hiint(double x);
int __double2loint(double x);
int __finitef(float x);
int __isinff(float x);
int __isnanf(float x);
int __finite(double x);
int __isinf(double x);
int __isnan(double x);
int __signbit(double x);
int __signbitf(float x);
int __isnand(double x);
int __isinfd(double x);

#define CUDA_LSP_SIMD1(name) unsigned name##2(unsigned a); unsigned name##4(unsigned a);
#define CUDA_LSP_SIMD2(name) unsigned name##2(unsigned a, unsigned b); unsigned name##4(unsigned a, unsigned b);
CUDA_LSP_SIMD1(__vabs) CUDA_LSP_SIMD1(__vabsss) CUDA_LSP_SIMD1(__vneg) CUDA_LSP_SIMD1(__vnegss)
CUDA_LSP_SIMD2(__vabsdiffs) CUDA_LSP_SIMD2(__vabsdiffu) CUDA_LSP_SIMD2(__vadd) CUDA_LSP_SIMD2(__vaddss) CUDA_LSP_SIMD2(__vaddus)
CUDA_LSP_SIMD2(__vavgs) CUDA_LSP_SIMD2(__vavgu) CUDA_LSP_SIMD2(__vcmpeq) CUDA_LSP_SIMD2(__vcmpges) CUDA_LSP_SIMD2(__vcmpgeu)
CUDA_LSP_SIMD2(__vcmpgts) CUDA_LSP_SIMD2(__vcmpgtu) CUDA_LSP_SIMD2(__vcmples) CUDA_LSP_SIMD2(__vcmpleu) CUDA_LSP_SIMD2(__vcmplts)
CUDA_LSP_SIMD2(__vcmpltu) CUDA_LSP_SIMD2(__vcmpne) CUDA_LSP_SIMD2(__vhaddu) CUDA_LSP_SIMD2(__vmaxs) CUDA_LSP_SIMD2(__vmaxu)
CUDA_LSP_SIMD2(__vmins) CUDA_LSP_SIMD2(__vminu) CUDA_LSP_SIMD2(__vsads) CUDA_LSP_SIMD2(__vsadu) CUDA_LSP_SIMD2(__vseteq)
CUDA_LSP_SIMD2(__vsetges) CUDA_LSP_SIMD2(__vsetgeu) CUDA_LSP_SIMD2(__vsetgts) CUDA_LSP_SIMD2(__vsetgtu) CUDA_LSP_SIMD2(__vsetles)
CUDA_LSP_SIMD2(__vsetleu) CUDA_LSP_SIMD2(__vsetlts) CUDA_LSP_SIMD2(__vsetltu) CUDA_LSP_SIMD2(__vsetne) CUDA_LSP_SIMD2(__vsub)
CUDA_LSP_SIMD2(__vsubss) CUDA_LSP_SIMD2(__vsubus)
#undef CUDA_LSP_SIMD1
#undef CUDA_LSP_SIMD2
#define CUDA_LSP_DPX(T, suffix)                                     \
  T __vimax3_##suffix(T a, T b, T c);                               \
  T __vimin3_##suffix(T a, T b, T c);                               \
  T __vimax_##suffix##_relu(T a, T b);                              \
  T __vimin_##suffix##_relu(T a, T b);                              \
  T __viaddmax_##suffix(T a, T b, T c);                             \
  T __viaddmax_##suffix##_relu(T a, T b, T c);                      \
  T __viaddmin_##suffix##_relu(T a, T b, T c);                      \
  T __vimax3_##suffix##_relu(T a, T b, T c);                        \
  T __vimin3_##suffix##_relu(T a, T b, T c);                        \
  T __viaddmin_##suffix(T a, T b, T c);                             \
  T __vibmax_##suffix(T a, T b, bool *which);                       \
  T __vibmin_##suffix(T a, T b, bool *which);
CUDA_LSP_DPX(int, s32)
CUDA_LSP_DPX(unsigned, u32)
CUDA_LSP_DPX(unsigned, s16x2)
CUDA_LSP_DPX(unsigned, u16x2)
#undef CUDA_LSP_DPX
unsigned __vibmax_s16x2(unsigned a, unsigned b, bool *high, bool *low);
unsigned __vibmax_u16x2(unsigned a, unsigned b, bool *high, bool *low);
unsigned __vibmin_s16x2(unsigned a, unsigned b, bool *high, bool *low);
unsigned __vibmin_u16x2(unsigned a, unsigned b, bool *high, bool *low);

#pragma clang force_cuda_host_device end

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_MAX_NORMAL_F 3.402823466e+38f
#define CUDART_MIN_DENORM_F 1.401298464e-45f
#define CUDART_PI_F 3.141592654f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_PIO4_F 0.785398163f
#define CUDART_2_OVER_PI_F 0.636619772f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_SQRT_2OVERPI_F 0.797884561f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LN2_F 0.693147181f
#define CUDART_LNT_F 2.302585093f
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_TWO_TO_23_F 8388608.0f
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_PIO2 1.5707963267948966e+0
#define CUDART_PIO4 7.8539816339744828e-1
#define CUDART_SQRT_TWO 1.4142135623730951e+0
#define CUDART_SQRT_HALF 7.0710678118654757e-1
#define CUDART_SQRT_2OVERPI 7.9788456080286536e-1
#define CUDART_ZERO 0.0
#define CUDART_ONE 1.0
