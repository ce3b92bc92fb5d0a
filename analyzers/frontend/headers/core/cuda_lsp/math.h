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
#undef CUDA_LSP_MATH1
#undef CUDA_LSP_MATH2
// The overloads of <cmath>: a floating-point argument keeps its type, an integer counts as double.
#define CUDA_LSP_MATH1(name)                                                                      \
  using ::name;                                                                                   \
  float name(float x);                                                                            \
  long double name(long double x);                                                                \
  template <class T, class = enable_if_t<is_integral_v<T>>> double name(T x);
#define CUDA_LSP_MATH2(name)                                                                      \
  using ::name;                                                                                   \
  float name(float x, float y);                                                                   \
  long double name(long double x, long double y);                                                 \
  template <class T, class U, class = cuda_lsp_mixed<T, U>> double name(T x, U y);
template <class T, class U>
using cuda_lsp_mixed = enable_if_t<is_arithmetic_v<T> && is_arithmetic_v<U> && !(is_same_v<T, U> && is_floating_point_v<T>)>;
template <class T> using cuda_lsp_number = enable_if_t<is_arithmetic_v<T>>;
CUDA_LSP_MATH1(acos) CUDA_LSP_MATH1(acosh) CUDA_LSP_MATH1(asin) CUDA_LSP_MATH1(asinh) CUDA_LSP_MATH1(atan)
CUDA_LSP_MATH1(atanh) CUDA_LSP_MATH1(cbrt) CUDA_LSP_MATH1(ceil) CUDA_LSP_MATH1(cos) CUDA_LSP_MATH1(cosh)
CUDA_LSP_MATH1(erf) CUDA_LSP_MATH1(erfc) CUDA_LSP_MATH1(exp) CUDA_LSP_MATH1(exp2) CUDA_LSP_MATH1(expm1)
CUDA_LSP_MATH1(fabs) CUDA_LSP_MATH1(floor) CUDA_LSP_MATH1(lgamma) CUDA_LSP_MATH1(log) CUDA_LSP_MATH1(log10)
CUDA_LSP_MATH1(log1p) CUDA_LSP_MATH1(log2) CUDA_LSP_MATH1(logb) CUDA_LSP_MATH1(nearbyint) CUDA_LSP_MATH1(rint)
CUDA_LSP_MATH1(round) CUDA_LSP_MATH1(sin) CUDA_LSP_MATH1(sinh) CUDA_LSP_MATH1(sqrt) CUDA_LSP_MATH1(tan)
CUDA_LSP_MATH1(tanh) CUDA_LSP_MATH1(tgamma) CUDA_LSP_MATH1(trunc)
CUDA_LSP_MATH2(atan2) CUDA_LSP_MATH2(copysign) CUDA_LSP_MATH2(fdim) CUDA_LSP_MATH2(fmax) CUDA_LSP_MATH2(fmin)
CUDA_LSP_MATH2(fmod) CUDA_LSP_MATH2(hypot) CUDA_LSP_MATH2(nextafter) CUDA_LSP_MATH2(pow) CUDA_LSP_MATH2(remainder)
#undef CUDA_LSP_MATH1
#undef CUDA_LSP_MATH2
using ::abs; using ::fma; using ::frexp; using ::ilogb; using ::labs; using ::ldexp; using ::llabs; using ::llrint; using ::llround;
using ::lrint; using ::lround; using ::modf; using ::nan; using ::nanf; using ::remquo; using ::scalbn; using ::scalbln;
using ::double_t; using ::float_t;
constexpr long abs(long x) { return x < 0 ? -x : x; }
constexpr long long abs(long long x) { return x < 0 ? -x : x; }
float abs(float x);
double abs(double x);
long double abs(long double x);
float fma(float x, float y, float z);
float ldexp(float x, int exponent);
float scalbn(float x, int exponent);
float frexp(float x, int *exponent);
float modf(float x, float *whole);
long lround(float x);
long lrint(float x);
long long llround(float x);
long long llrint(float x);
int ilogb(float x);
template <class T, class = enable_if_t<is_integral_v<T>>> int ilogb(T x);
template <class T, class = enable_if_t<is_integral_v<T>>> long lround(T x);
float lerp(float a, float b, float t);
double lerp(double a, double b, double t);
float hypot(float x, float y, float z);
double hypot(double x, double y, double z);
template <class T, class = cuda_lsp_number<T>> bool isnan(T x);
template <class T, class = cuda_lsp_number<T>> bool isinf(T x);
template <class T, class = cuda_lsp_number<T>> bool isfinite(T x);
template <class T, class = cuda_lsp_number<T>> bool isnormal(T x);
template <class T, class = cuda_lsp_number<T>> bool signbit(T x);
template <class T, class = cuda_lsp_number<T>> int fpclassify(T x);
template <class T, class U> bool isless(T x, U y);
template <class T, class U> bool isgreater(T x, U y);
using ::acosf; using ::asinf; using ::atan2f; using ::atanf; using ::ceilf; using ::cosf; using ::coshf; using ::exp2f; using ::expf;
using ::fabsf; using ::floorf; using ::fmaf; using ::fmaxf; using ::fminf; using ::fmodf; using ::log10f; using ::log1pf; using ::log2f;
using ::logf; using ::powf; using ::rintf; using ::roundf; using ::sinf; using ::sinhf; using ::sqrtf; using ::tanf; using ::tanhf;
using ::truncf; using ::nearbyintf; using ::copysignf; using ::hypotf; using ::cbrtf; using ::expm1f; using ::erff;
}  // namespace std

// <math.h> of C++ names the same overloads globally, and so does CUDA.
using std::acos; using std::acosh; using std::asin; using std::asinh; using std::atan; using std::atanh;
using std::cbrt; using std::ceil; using std::cos; using std::cosh; using std::erf; using std::erfc; using std::exp;
using std::exp2; using std::expm1; using std::fabs; using std::floor; using std::lgamma; using std::log;
using std::log10; using std::log1p; using std::log2; using std::logb; using std::nearbyint; using std::rint;
using std::round; using std::sin; using std::sinh; using std::sqrt; using std::tan; using std::tanh;
using std::tgamma; using std::trunc; using std::atan2; using std::copysign; using std::fdim; using std::fmax;
using std::fmin; using std::fmod; using std::hypot; using std::nextafter; using std::pow; using std::remainder;
using std::abs; using std::fma; using std::frexp; using std::ilogb; using std::ldexp; using std::llrint;
using std::llround; using std::lrint; using std::lround; using std::modf; using std::scalbn; using std::isnan;
using std::isinf; using std::isfinite; using std::isnormal; using std::signbit; using std::fpclassify;
#define CUDA_LSP_OWN(name)  \
  float name(float x);      \
  template <class T, class = std::enable_if_t<std::is_integral_v<T>>> double name(T x);
CUDA_LSP_OWN(rsqrt) CUDA_LSP_OWN(rcbrt) CUDA_LSP_OWN(sinpi) CUDA_LSP_OWN(cospi) CUDA_LSP_OWN(tanpi)
CUDA_LSP_OWN(exp10) CUDA_LSP_OWN(erfinv) CUDA_LSP_OWN(erfcinv) CUDA_LSP_OWN(erfcx) CUDA_LSP_OWN(normcdf)
CUDA_LSP_OWN(normcdfinv) CUDA_LSP_OWN(j0) CUDA_LSP_OWN(j1) CUDA_LSP_OWN(y0) CUDA_LSP_OWN(y1)
#undef CUDA_LSP_OWN
void sincos(float x, float *sine, float *cosine);
void sincospi(float x, float *sine, float *cosine);
float rhypot(float x, float y);

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
