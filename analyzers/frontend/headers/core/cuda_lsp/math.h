// The C and C++ mathematical functions. Those that an index may pass through have bodies; the rest are opaque values.
#pragma once
#include <cuda_lsp/cpp_core.h>

#pragma clang force_cuda_host_device begin

extern "C" {
#define CUDA_LSP_MATH1(name) double name(double x); float name##f(float x); long double name##l(long double x);
#define CUDA_LSP_MATH2(name) double name(double x, double y); float name##f(float x, float y); long double name##l(long double x, long double y);
CUDA_LSP_MATH1(acos) CUDA_LSP_MATH1(acosh) CUDA_LSP_MATH1(asin) CUDA_LSP_MATH1(asinh) CUDA_LSP_MATH1(atan) CUDA_LSP_MATH1(atanh)
CUDA_LSP_MATH1(cbrt) CUDA_LSP_MATH1(ceil) CUDA_LSP_MATH1(cos) CUDA_LSP_MATH1(cosh) CUDA_LSP_MATH1(erf) CUDA_LSP_MATH1(erfc)
CUDA_LSP_MATH1(exp) CUDA_LSP_MATH1(exp2) CUDA_LSP_MATH1(expm1) CUDA_LSP_MATH1(fabs) CUDA_LSP_MATH1(floor) CUDA_LSP_MATH1(lgamma)
CUDA_LSP_MATH1(log) CUDA_LSP_MATH1(log10) CUDA_LSP_MATH1(log1p) CUDA_LSP_MATH1(log2) CUDA_LSP_MATH1(logb) CUDA_LSP_MATH1(nearbyint)
CUDA_LSP_MATH1(rint) CUDA_LSP_MATH1(round) CUDA_LSP_MATH1(sin) CUDA_LSP_MATH1(sinh) CUDA_LSP_MATH1(sqrt) CUDA_LSP_MATH1(tan)
CUDA_LSP_MATH1(tanh) CUDA_LSP_MATH1(tgamma) CUDA_LSP_MATH1(trunc)
CUDA_LSP_MATH2(atan2) CUDA_LSP_MATH2(copysign) CUDA_LSP_MATH2(fdim) CUDA_LSP_MATH2(fmax) CUDA_LSP_MATH2(fmin) CUDA_LSP_MATH2(fmod)
CUDA_LSP_MATH2(hypot) CUDA_LSP_MATH2(nextafter) CUDA_LSP_MATH2(pow) CUDA_LSP_MATH2(remainder)
// CUDA's own, on both sides of the machine.
double exp10(double x); float exp10f(float x);
double rsqrt(double x); float rsqrtf(float x);
double rcbrt(double x); float rcbrtf(float x);
double sinpi(double x); float sinpif(float x);
double cospi(double x); float cospif(float x);
double tanpi(double x); float tanpif(float x);
double erfinv(double x); float erfinvf(float x);
double erfcinv(double x); float erfcinvf(float x);
double erfcx(double x); float erfcxf(float x);
double normcdf(double x); float normcdff(float x);
double normcdfinv(double x); float normcdfinvf(float x);
double j0(double x); float j0f(float x);
double j1(double x); float j1f(float x);
double jn(int n, double x); float jnf(int n, float x);
double y0(double x); float y0f(float x);
double y1(double x); float y1f(float x);
double yn(int n, double x); float ynf(int n, float x);
double cyl_bessel_i0(double x); float cyl_bessel_i0f(float x);
double cyl_bessel_i1(double x); float cyl_bessel_i1f(float x);
double rhypot(double x, double y); float rhypotf(float x, float y);
double norm3d(double x, double y, double z); float norm3df(float x, float y, float z);
double rnorm3d(double x, double y, double z); float rnorm3df(float x, float y, float z);
double norm4d(double x, double y, double z, double w); float norm4df(float x, float y, float z, float w);
double rnorm4d(double x, double y, double z, double w); float rnorm4df(float x, float y, float z, float w);
double norm(int n, const double *values); float normf(int n, const float *values);
double rnorm(int n, const double *values); float rnormf(int n, const float *values);
void sincos(double x, double *sine, double *cosine); void sincosf(float x, float *sine, float *cosine);
void sincospi(double x, double *sine, double *cosine); void sincospif(float x, float *sine, float *cosine);
double fma(double x, double y, double z); float fmaf(float x, float y, float z);
float fdividef(float x, float y); double fdivide(double x, double y);
double ldexp(double x, int exponent); float ldexpf(float x, int exponent);
double scalbn(double x, int exponent); float scalbnf(float x, int exponent);
double scalbln(double x, long exponent); float scalblnf(float x, long exponent);
double frexp(double x, int *exponent); float frexpf(float x, int *exponent);
double modf(double x, double *whole); float modff(float x, float *whole);
double remquo(double x, double y, int *quotient); float remquof(float x, float y, int *quotient);
double nan(const char *tag); float nanf(const char *tag);
int ilogb(double x); int ilogbf(float x);
long lround(double x); long lroundf(float x);
long lrint(double x); long lrintf(float x);
long long llround(double x); long long llroundf(float x);
long long llrint(double x); long long llrintf(float x);
constexpr int abs(int x) { return x < 0 ? -x : x; }
constexpr long labs(long x) { return x < 0 ? -x : x; }
constexpr long long llabs(long long x) { return x < 0 ? -x : x; }
}

namespace std {
constexpr int abs(int x) { return x < 0 ? -x : x; }
constexpr long abs(long x) { return x < 0 ? -x : x; }
constexpr long long abs(long long x) { return x < 0 ? -x : x; }
float abs(float x);
double abs(double x);
long double abs(long double x);
template <class T> using cuda_lsp_number = enable_if_t<is_arithmetic_v<T>>;
#undef CUDA_LSP_MATH1
#undef CUDA_LSP_MATH2
#define CUDA_LSP_MATH1(name) \
  float name(float x); double name(double x); long double name(long double x); \
  template <class T, class = enable_if_t<is_integral_v<T>>> double name(T x);
#define CUDA_LSP_MATH2(name) \
  float name(float x, float y); double name(double x, double y); long double name(long double x, long double y); \
  template <class T, class U, class = enable_if_t<is_arithmetic_v<T> && is_arithmetic_v<U> && !(is_same_v<T, U> && is_floating_point_v<T>)>> \
  conditional_t<is_same_v<T, long double> || is_same_v<U, long double>, long double, double> name(T x, U y);
CUDA_LSP_MATH1(acos) CUDA_LSP_MATH1(acosh) CUDA_LSP_MATH1(asin) CUDA_LSP_MATH1(asinh) CUDA_LSP_MATH1(atan) CUDA_LSP_MATH1(atanh)
CUDA_LSP_MATH1(cbrt) CUDA_LSP_MATH1(ceil) CUDA_LSP_MATH1(cos) CUDA_LSP_MATH1(cosh) CUDA_LSP_MATH1(erf) CUDA_LSP_MATH1(erfc)
CUDA_LSP_MATH1(exp) CUDA_LSP_MATH1(exp2) CUDA_LSP_MATH1(expm1) CUDA_LSP_MATH1(fabs) CUDA_LSP_MATH1(floor) CUDA_LSP_MATH1(lgamma)
CUDA_LSP_MATH1(log) CUDA_LSP_MATH1(log10) CUDA_LSP_MATH1(log1p) CUDA_LSP_MATH1(log2) CUDA_LSP_MATH1(logb) CUDA_LSP_MATH1(nearbyint)
CUDA_LSP_MATH1(rint) CUDA_LSP_MATH1(round) CUDA_LSP_MATH1(sin) CUDA_LSP_MATH1(sinh) CUDA_LSP_MATH1(sqrt) CUDA_LSP_MATH1(tan)
CUDA_LSP_MATH1(tanh) CUDA_LSP_MATH1(tgamma) CUDA_LSP_MATH1(trunc)
CUDA_LSP_MATH2(atan2) CUDA_LSP_MATH2(copysign) CUDA_LSP_MATH2(fdim) CUDA_LSP_MATH2(fmax) CUDA_LSP_MATH2(fmin) CUDA_LSP_MATH2(fmod)
CUDA_LSP_MATH2(hypot) CUDA_LSP_MATH2(nextafter) CUDA_LSP_MATH2(pow) CUDA_LSP_MATH2(remainder)
float fma(float x, float y, float z);
double fma(double x, double y, double z);
float ldexp(float x, int exponent);
double ldexp(double x, int exponent);
float scalbn(float x, int exponent);
double scalbn(double x, int exponent);
float frexp(float x, int *exponent);
double frexp(double x, int *exponent);
float modf(float x, float *whole);
double modf(double x, double *whole);
float lerp(float a, float b, float t);
double lerp(double a, double b, double t);
float hypot(float x, float y, float z);
double hypot(double x, double y, double z);
template <class T, class = cuda_lsp_number<T>> int ilogb(T x);
template <class T, class = cuda_lsp_number<T>> long lround(T x);
template <class T, class = cuda_lsp_number<T>> long lrint(T x);
template <class T, class = cuda_lsp_number<T>> long long llround(T x);
template <class T, class = cuda_lsp_number<T>> long long llrint(T x);
template <class T, class = cuda_lsp_number<T>> bool isnan(T x);
template <class T, class = cuda_lsp_number<T>> bool isinf(T x);
template <class T, class = cuda_lsp_number<T>> bool isfinite(T x);
template <class T, class = cuda_lsp_number<T>> bool isnormal(T x);
template <class T, class = cuda_lsp_number<T>> bool signbit(T x);
template <class T, class = cuda_lsp_number<T>> int fpclassify(T x);
template <class T, class U> bool isless(T x, U y);
template <class T, class U> bool isgreater(T x, U y);
using ::nan; using ::nanf; using ::labs; using ::llabs; using ::remquo; using ::double_t; using ::float_t;
using ::sqrtf; using ::fabsf; using ::expf; using ::logf; using ::powf; using ::sinf; using ::cosf; using ::floorf; using ::ceilf;
using ::fmaxf; using ::fminf; using ::roundf; using ::tanhf; using ::fmodf; using ::atan2f; using ::truncf; using ::rintf; using ::fmaf;
}  // namespace std

// CUDA declares the overloads in the global namespace as well.
#undef CUDA_LSP_MATH1
#undef CUDA_LSP_MATH2
#define CUDA_LSP_MATH1(name) \
  float name(float x); \
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>> double name(T x);
#define CUDA_LSP_MATH2(name) \
  float name(float x, float y); \
  template <class T, class U, class = std::enable_if_t<std::is_arithmetic_v<T> && std::is_arithmetic_v<U> && !(std::is_same_v<T, U> && std::is_floating_point_v<T>)>> \
  double name(T x, U y);
CUDA_LSP_MATH1(acos) CUDA_LSP_MATH1(acosh) CUDA_LSP_MATH1(asin) CUDA_LSP_MATH1(asinh) CUDA_LSP_MATH1(atan) CUDA_LSP_MATH1(atanh)
CUDA_LSP_MATH1(cbrt) CUDA_LSP_MATH1(ceil) CUDA_LSP_MATH1(cos) CUDA_LSP_MATH1(cosh) CUDA_LSP_MATH1(erf) CUDA_LSP_MATH1(erfc)
CUDA_LSP_MATH1(exp) CUDA_LSP_MATH1(exp2) CUDA_LSP_MATH1(expm1) CUDA_LSP_MATH1(fabs) CUDA_LSP_MATH1(floor) CUDA_LSP_MATH1(lgamma)
CUDA_LSP_MATH1(log) CUDA_LSP_MATH1(log10) CUDA_LSP_MATH1(log1p) CUDA_LSP_MATH1(log2) CUDA_LSP_MATH1(logb) CUDA_LSP_MATH1(nearbyint)
CUDA_LSP_MATH1(rint) CUDA_LSP_MATH1(round) CUDA_LSP_MATH1(sin) CUDA_LSP_MATH1(sinh) CUDA_LSP_MATH1(sqrt) CUDA_LSP_MATH1(tan)
CUDA_LSP_MATH1(tanh) CUDA_LSP_MATH1(tgamma) CUDA_LSP_MATH1(trunc)
CUDA_LSP_MATH1(rsqrt) CUDA_LSP_MATH1(rcbrt) CUDA_LSP_MATH1(sinpi) CUDA_LSP_MATH1(cospi) CUDA_LSP_MATH1(exp10) CUDA_LSP_MATH1(erfinv)
CUDA_LSP_MATH1(erfcinv) CUDA_LSP_MATH1(erfcx) CUDA_LSP_MATH1(normcdf) CUDA_LSP_MATH1(normcdfinv)
CUDA_LSP_MATH2(atan2) CUDA_LSP_MATH2(copysign) CUDA_LSP_MATH2(fdim) CUDA_LSP_MATH2(fmax) CUDA_LSP_MATH2(fmin) CUDA_LSP_MATH2(fmod)
CUDA_LSP_MATH2(hypot) CUDA_LSP_MATH2(nextafter) CUDA_LSP_MATH2(pow) CUDA_LSP_MATH2(remainder)
#undef CUDA_LSP_MATH1
#undef CUDA_LSP_MATH2
float fma(float x, float y, float z);
float ldexp(float x, int exponent);
float frexp(float x, int *exponent);
float modf(float x, float *whole);
void sincos(float x, float *sine, float *cosine);
void sincospi(float x, float *sine, float *cosine);
long lround(float x);
long lrint(float x);
long long llround(float x);
long long llrint(float x);
int ilogb(float x);
constexpr long abs(long x) { return x < 0 ? -x : x; }
constexpr long long abs(long long x) { return x < 0 ? -x : x; }
float abs(float x);
double abs(double x);
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> bool isnan(T x);
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> bool isinf(T x);
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> bool isfinite(T x);
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> bool signbit(T x);
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> bool isnormal(T x);

// min and max take part in index arithmetic, so they have bodies; the mixed overloads are those of CUDA.
#define CUDA_LSP_MIN_MAX(R, A, B)                                            \
  constexpr R min(A a, B b) { return static_cast<R>(b) < static_cast<R>(a) ? b : a; }            \
  constexpr R max(A a, B b) { return static_cast<R>(a) < static_cast<R>(b) ? b : a; }
CUDA_LSP_MIN_MAX(int, int, int)
CUDA_LSP_MIN_MAX(unsigned, unsigned, unsigned)
CUDA_LSP_MIN_MAX(unsigned, int, unsigned)
CUDA_LSP_MIN_MAX(unsigned, unsigned, int)
CUDA_LSP_MIN_MAX(long, long, long)
CUDA_LSP_MIN_MAX(unsigned long, unsigned long, unsigned long)
CUDA_LSP_MIN_MAX(unsigned long, long, unsigned long)
CUDA_LSP_MIN_MAX(unsigned long, unsigned long, long)
CUDA_LSP_MIN_MAX(long long, long long, long long)
CUDA_LSP_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CUDA_LSP_MIN_MAX(unsigned long long, long long, unsigned long long)
CUDA_LSP_MIN_MAX(unsigned long long, unsigned long long, long long)
CUDA_LSP_MIN_MAX(float, float, float)
CUDA_LSP_MIN_MAX(double, double, double)
CUDA_LSP_MIN_MAX(double, float, double)
CUDA_LSP_MIN_MAX(double, double, float)
#undef CUDA_LSP_MIN_MAX
constexpr unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
constexpr unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
constexpr long long llmin(long long a, long long b) { return b < a ? b : a; }
constexpr long long llmax(long long a, long long b) { return a < b ? b : a; }
constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }

#pragma clang force_cuda_host_device end
