// Half precision (cuda_fp16.h): storage is a real member, arithmetic is declared only, because its values are opaque to the analysis.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/atomics.h>
#include <cuda_lsp/device_math.h>
#include <cuda_lsp/warp.h>

#pragma clang force_cuda_host_device begin

struct __half_raw { unsigned short x; };
struct __half_raw2;
struct __half {
  unsigned short __x;
  __half() = default;
  constexpr __half(const __half_raw &raw) : __x(raw.x) {}
  __half(float value);
  __half(double value);
  __half(long double value);
  __half(short value);
  __half(unsigned short value);
  __half(int value);
  __half(unsigned value);
  __half(long value);
  __half(unsigned long value);
  __half(long long value);
  __half(unsigned long long value);

  operator float() const;
  operator __half_raw() const;
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
  __half &operator=(const __half_raw &raw) { __x = raw.x; return *this; }
  __half &operator=(float value) { *this = __half(value); return *this; }
  __half &operator=(double value) { *this = __half(value); return *this; }
  __half &operator=(short value) { *this = __half(value); return *this; }
  __half &operator=(unsigned short value) { *this = __half(value); return *this; }
  __half &operator=(int value) { *this = __half(value); return *this; }
  __half &operator=(unsigned value) { *this = __half(value); return *this; }
  __half &operator=(long long value) { *this = __half(value); return *this; }
  __half &operator=(unsigned long long value) { *this = __half(value); return *this; }
};
struct __align__(4) __half_raw2 { unsigned short x, y; };
struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  constexpr __half2(const __half &a, const __half &b) : x(a), y(b) {}
  __half2(const __half_raw2 &raw);
  template <class R, class = std::enable_if_t<std::is_same_v<R, __half_raw2>>> __half2 &operator=(const R &raw) { *this = __half2(raw); return *this; }
  operator __half_raw2() const;
};
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half_raw2 __half2_raw;

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
CUDA_LSP_OPERATORS(__half)
CUDA_LSP_OPERATORS(__half2)
#undef CUDA_LSP_OPERATORS

#define CUDA_LSP_ARITHMETIC(T, n)                                         \
  T __hadd##n(T a, T b); T __hsub##n(T a, T b); T __hmul##n(T a, T b); \
  T __hadd##n##_sat(T a, T b); T __hsub##n##_sat(T a, T b); T __hmul##n##_sat(T a, T b);  \
  T __hadd##n##_rn(T a, T b); T __hsub##n##_rn(T a, T b); T __hmul##n##_rn(T a, T b);     \
  T __hfma##n(T a, T b, T c); T __hfma##n##_sat(T a, T b, T c); T __hfma##n##_relu(T a, T b, T c); \
  T __hneg##n(T a); T __habs##n(T a); T __hmax##n(T a, T b); T __hmin##n(T a, T b);       \
  T __hmax##n##_nan(T a, T b); T __hmin##n##_nan(T a, T b);
CUDA_LSP_ARITHMETIC(__half, )
CUDA_LSP_ARITHMETIC(__half2, 2)
#undef CUDA_LSP_ARITHMETIC
__half __hdiv(__half a, __half b);
__half2 __h2div(__half2 a, __half2 b);
__half2 __hcmadd(__half2 a, __half2 b, __half2 c);
#define CUDA_LSP_COMPARISON(name)                                                              \
  bool __h##name(__half a, __half b); bool __h##name##u(__half a, __half b);                               \
  __half2 __h##name##2(__half2 a, __half2 b); __half2 __h##name##u2(__half2 a, __half2 b);                       \
  unsigned __h##name##2_mask(__half2 a, __half2 b); bool __hb##name##2(__half2 a, __half2 b); bool __hb##name##u2(__half2 a, __half2 b);
CUDA_LSP_COMPARISON(eq) CUDA_LSP_COMPARISON(ne) CUDA_LSP_COMPARISON(lt) CUDA_LSP_COMPARISON(le) CUDA_LSP_COMPARISON(gt) CUDA_LSP_COMPARISON(ge)
#undef CUDA_LSP_COMPARISON
bool __hisnan(__half a);
int __hisinf(__half a);
__half2 __hisnan2(__half2 a);
#define CUDA_LSP_FUNCTION(name) __half h##name(__half a); __half2 h2##name(__half2 a);
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
CUDA_LSP_MEMORY(__half)
CUDA_LSP_MEMORY(__half2)
#undef CUDA_LSP_MEMORY

__half __float2half(float a);
__half __float2half_rn(float a);
__half __float2half_rz(float a);
__half __float2half_rd(float a);
__half __float2half_ru(float a);
__half __double2half(double a);
float __half2float(__half a);
__half2 __float2half2_rn(float a);
__half2 __floats2half2_rn(float a, float b);
__half2 __float22half2_rn(float2 a);
float2 __half22float2(__half2 a);
float __low2float(__half2 a);
float __high2float(__half2 a);
inline __half2 __half2half2(__half a) { return __half2(a, a); }
inline __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
inline __half2 make_half2(__half a, __half b) { return __half2(a, b); }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
inline __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
inline __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
inline __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
inline __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
short __half_as_short(__half a);
unsigned short __half_as_ushort(__half a);
__half __short_as_half(short a);
__half __ushort_as_half(unsigned short a);
#define CUDA_LSP_CONVERSIONS(r)                                                    \
  int __half2int_##r(__half a); unsigned __half2uint_##r(__half a);                \
  short __half2short_##r(__half a); unsigned short __half2ushort_##r(__half a);    \
  long long __half2ll_##r(__half a); unsigned long long __half2ull_##r(__half a);  \
  __half __int2half_##r(int a); __half __uint2half_##r(unsigned a);                \
  __half __short2half_##r(short a); __half __ushort2half_##r(unsigned short a);    \
  __half __ll2half_##r(long long a); __half __ull2half_##r(unsigned long long a);
CUDA_LSP_ROUNDINGS(CUDA_LSP_CONVERSIONS)
#undef CUDA_LSP_CONVERSIONS
signed char __half2char_rz(__half a);
unsigned char __half2uchar_rz(__half a);

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)

#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
