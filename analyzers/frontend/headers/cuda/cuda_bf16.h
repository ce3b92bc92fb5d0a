// bfloat16 (cuda_bf16.h): storage is a real member, arithmetic is declared only, because its values are opaque to the analysis.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/atomics.h>
#include <cuda_lsp/device_math.h>
#include <cuda_lsp/warp.h>
#include <cuda_fp16.h>

#pragma clang force_cuda_host_device begin

struct __nv_bfloat16_raw { unsigned short x; };
struct __nv_bfloat16_raw2;
struct __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  constexpr __nv_bfloat16(const __nv_bfloat16_raw &raw) : __x(raw.x) {}
  __nv_bfloat16(float value);
  __nv_bfloat16(double value);
  __nv_bfloat16(long double value);
  __nv_bfloat16(short value);
  __nv_bfloat16(unsigned short value);
  __nv_bfloat16(int value);
  __nv_bfloat16(unsigned value);
  __nv_bfloat16(long value);
  __nv_bfloat16(unsigned long value);
  __nv_bfloat16(long long value);
  __nv_bfloat16(unsigned long long value);
  __nv_bfloat16(__half value);
  operator float() const;
  operator __nv_bfloat16_raw() const;
  explicit operator bool() const;
  operator char() const;
  operator signed char() const;
  operator unsigned char() const;
  operator short() const;
  operator unsigned short() const;
  operator int() const;
  operator unsigned() const;
  operator long() const;
  operator unsigned long() const;
  operator long long() const;
  operator unsigned long long() const;
  __nv_bfloat16 &operator=(const __nv_bfloat16_raw &raw) { __x = raw.x; return *this; }
  __nv_bfloat16 &operator=(float value) { *this = __nv_bfloat16(value); return *this; }
  __nv_bfloat16 &operator=(double value) { *this = __nv_bfloat16(value); return *this; }
  __nv_bfloat16 &operator=(short value) { *this = __nv_bfloat16(value); return *this; }
  __nv_bfloat16 &operator=(unsigned short value) { *this = __nv_bfloat16(value); return *this; }
  __nv_bfloat16 &operator=(int value) { *this = __nv_bfloat16(value); return *this; }
  __nv_bfloat16 &operator=(unsigned value) { *this = __nv_bfloat16(value); return *this; }
  __nv_bfloat16 &operator=(long long value) { *this = __nv_bfloat16(value); return *this; }
  __nv_bfloat16 &operator=(unsigned long long value) { *this = __nv_bfloat16(value); return *this; }
};
struct __align__(4) __nv_bfloat16_raw2 { unsigned short x, y; };
struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  constexpr __nv_bfloat162(const __nv_bfloat16 &a, const __nv_bfloat16 &b) : x(a), y(b) {}
  __nv_bfloat162(const __nv_bfloat16_raw2 &raw);
  template <class R, class = std::enable_if_t<std::is_same_v<R, __nv_bfloat16_raw2>>> __nv_bfloat162 &operator=(const R &raw) { *this = __nv_bfloat162(raw); return *this; }
  operator __nv_bfloat16_raw2() const;
};
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
typedef __nv_bfloat16_raw2 __nv_bfloat162_raw;

#define CUDA_LSP_OPERATORS(T)                                             \
  T operator+(const T &a);                                                \
  T operator-(const T &a);                                                \
  T operator+(const T &a, const T &b);                                    \
  T operator-(const T &a, const T &b);                                    \
  T operator*(const T &a, const T &b);                                    \
  T operator/(const T &a, const T &b);                                    \
  inline T &operator+=(T &a, const T &b) { a = a + b; return a; }         \
  inline T &operator-=(T &a, const T &b) { a = a - b; return a; }         \
  inline T &operator*=(T &a, const T &b) { a = a * b; return a; }         \
  inline T &operator/=(T &a, const T &b) { a = a / b; return a; }         \
  inline T &operator++(T &a) { a = a + a; return a; }                     \
  inline T &operator--(T &a) { a = a - a; return a; }                     \
  inline T operator++(T &a, int) { T old = a; a = a + a; return old; }    \
  inline T operator--(T &a, int) { T old = a; a = a - a; return old; }    \
  bool operator==(const T &a, const T &b);                                \
  bool operator!=(const T &a, const T &b);                                \
  bool operator<(const T &a, const T &b);                                 \
  bool operator>(const T &a, const T &b);                                 \
  bool operator<=(const T &a, const T &b);                                \
  bool operator>=(const T &a, const T &b);
CUDA_LSP_OPERATORS(__nv_bfloat16)
CUDA_LSP_OPERATORS(__nv_bfloat162)
#undef CUDA_LSP_OPERATORS

#define CUDA_LSP_ARITHMETIC(T, n)                                         \
  T __hadd##n(T a, T b); T __hsub##n(T a, T b); T __hmul##n(T a, T b); \
  T __hadd##n##_sat(T a, T b); T __hsub##n##_sat(T a, T b); T __hmul##n##_sat(T a, T b);  \
  T __hadd##n##_rn(T a, T b); T __hsub##n##_rn(T a, T b); T __hmul##n##_rn(T a, T b);     \
  T __hfma##n(T a, T b, T c); T __hfma##n##_sat(T a, T b, T c); T __hfma##n##_relu(T a, T b, T c); \
  T __hneg##n(T a); T __habs##n(T a); T __hmax##n(T a, T b); T __hmin##n(T a, T b);       \
  T __hmax##n##_nan(T a, T b); T __hmin##n##_nan(T a, T b);
CUDA_LSP_ARITHMETIC(__nv_bfloat16, )
CUDA_LSP_ARITHMETIC(__nv_bfloat162, 2)
#undef CUDA_LSP_ARITHMETIC
__nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b);
__nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b);
__nv_bfloat162 __hcmadd(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c);
#define CUDA_LSP_COMPARISON(name)                                                              \
  bool __h##name(__nv_bfloat16 a, __nv_bfloat16 b); bool __h##name##u(__nv_bfloat16 a, __nv_bfloat16 b);                               \
  __nv_bfloat162 __h##name##2(__nv_bfloat162 a, __nv_bfloat162 b); __nv_bfloat162 __h##name##u2(__nv_bfloat162 a, __nv_bfloat162 b);                       \
  unsigned __h##name##2_mask(__nv_bfloat162 a, __nv_bfloat162 b); bool __hb##name##2(__nv_bfloat162 a, __nv_bfloat162 b); bool __hb##name##u2(__nv_bfloat162 a, __nv_bfloat162 b);
CUDA_LSP_COMPARISON(eq) CUDA_LSP_COMPARISON(ne) CUDA_LSP_COMPARISON(lt) CUDA_LSP_COMPARISON(le) CUDA_LSP_COMPARISON(gt) CUDA_LSP_COMPARISON(ge)
#undef CUDA_LSP_COMPARISON
bool __hisnan(__nv_bfloat16 a);
int __hisinf(__nv_bfloat16 a);
__nv_bfloat162 __hisnan2(__nv_bfloat162 a);
#define CUDA_LSP_FUNCTION(name) __nv_bfloat16 h##name(__nv_bfloat16 a); __nv_bfloat162 h2##name(__nv_bfloat162 a);
CUDA_LSP_FUNCTION(ceil) CUDA_LSP_FUNCTION(cos) CUDA_LSP_FUNCTION(exp) CUDA_LSP_FUNCTION(exp10) CUDA_LSP_FUNCTION(exp2) CUDA_LSP_FUNCTION(floor)
CUDA_LSP_FUNCTION(log) CUDA_LSP_FUNCTION(log10) CUDA_LSP_FUNCTION(log2) CUDA_LSP_FUNCTION(rcp) CUDA_LSP_FUNCTION(rint) CUDA_LSP_FUNCTION(rsqrt)
CUDA_LSP_FUNCTION(sin) CUDA_LSP_FUNCTION(sqrt) CUDA_LSP_FUNCTION(trunc) CUDA_LSP_FUNCTION(tanh)
#undef CUDA_LSP_FUNCTION
#define CUDA_LSP_MEMORY(T)                                                                               \
  T __shfl_sync(unsigned mask, T value, int lane, int width = 32);                                       \
  T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32);                              \
  T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32);                            \
  T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32);                                  \
  CUDA_LSP_SCOPES(T, atomicAdd, T *address, T value)
CUDA_LSP_MEMORY(__nv_bfloat16)
CUDA_LSP_MEMORY(__nv_bfloat162)
#undef CUDA_LSP_MEMORY

__nv_bfloat16 __float2bfloat16(float a);
__nv_bfloat16 __float2bfloat16_rn(float a);
__nv_bfloat16 __float2bfloat16_rz(float a);
__nv_bfloat16 __float2bfloat16_rd(float a);
__nv_bfloat16 __float2bfloat16_ru(float a);
__nv_bfloat16 __double2bfloat16(double a);
float __bfloat162float(__nv_bfloat16 a);
__nv_bfloat162 __float2bfloat162_rn(float a);
__nv_bfloat162 __floats2bfloat162_rn(float a, float b);
__nv_bfloat162 __float22bfloat162_rn(float2 a);
float2 __bfloat1622float2(__nv_bfloat162 a);
float __low2float(__nv_bfloat162 a);
float __high2float(__nv_bfloat162 a);
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __nv_bfloat162(a, a); }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.x, a.x); }
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.y); }
inline __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return __nv_bfloat162(a.y, a.x); }
short __bfloat16_as_short(__nv_bfloat16 a);
unsigned short __bfloat16_as_ushort(__nv_bfloat16 a);
__nv_bfloat16 __short_as_bfloat16(short a);
__nv_bfloat16 __ushort_as_bfloat16(unsigned short a);
#define CUDA_LSP_CONVERSIONS(r)                                                                      \
  int __bfloat162int_##r(__nv_bfloat16 a); unsigned __bfloat162uint_##r(__nv_bfloat16 a);            \
  short __bfloat162short_##r(__nv_bfloat16 a); unsigned short __bfloat162ushort_##r(__nv_bfloat16 a); \
  long long __bfloat162ll_##r(__nv_bfloat16 a); unsigned long long __bfloat162ull_##r(__nv_bfloat16 a); \
  __nv_bfloat16 __int2bfloat16_##r(int a); __nv_bfloat16 __uint2bfloat16_##r(unsigned a);            \
  __nv_bfloat16 __short2bfloat16_##r(short a); __nv_bfloat16 __ushort2bfloat16_##r(unsigned short a); \
  __nv_bfloat16 __ll2bfloat16_##r(long long a); __nv_bfloat16 __ull2bfloat16_##r(unsigned long long a);
CUDA_LSP_ROUNDINGS(CUDA_LSP_CONVERSIONS)
#undef CUDA_LSP_CONVERSIONS

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)

#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
