// <ratio>, <chrono>.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_functional.h>

#pragma clang force_cuda_host_device begin
namespace std {
template <long N, long D = 1> struct ratio { static constexpr long num = N, den = D; };
using nano = ratio<1, 1000000000>;
using micro = ratio<1, 1000000>;
using milli = ratio<1, 1000>;
using centi = ratio<1, 100>;
using kilo = ratio<1000>;
using mega = ratio<1000000>;
using giga = ratio<1000000000>;
namespace chrono {
template <class R, class P = ratio<1>> class duration {
public:
  using rep = R;
  using period = P;
  constexpr duration() {}
  template <class T, class = enable_if_t<is_arithmetic_v<T>>> constexpr explicit duration(const T &) {}
  template <class R2, class P2> constexpr duration(const duration<R2, P2> &) {}
  R count() const;
  duration operator-() const;
  duration &operator+=(const duration &other);
  duration &operator-=(const duration &other);
  duration &operator*=(const R &by);
  duration &operator/=(const R &by);
  static duration zero();
  static duration max();
  static duration min();
};
template <class R, class P, class R2, class P2> duration<R, P> operator+(const duration<R, P> &a, const duration<R2, P2> &b);
template <class R, class P, class R2, class P2> duration<R, P> operator-(const duration<R, P> &a, const duration<R2, P2> &b);
template <class R, class P, class T, class = enable_if_t<is_arithmetic_v<T>>> duration<R, P> operator*(const duration<R, P> &a, T b);
template <class R, class P, class T, class = enable_if_t<is_arithmetic_v<T>>> duration<R, P> operator/(const duration<R, P> &a, T b);
template <class R, class P, class R2, class P2> bool operator<(const duration<R, P> &a, const duration<R2, P2> &b);
template <class R, class P, class R2, class P2> bool operator>(const duration<R, P> &a, const duration<R2, P2> &b);
template <class R, class P, class R2, class P2> bool operator<=(const duration<R, P> &a, const duration<R2, P2> &b);
template <class R, class P, class R2, class P2> bool operator>=(const duration<R, P> &a, const duration<R2, P2> &b);
template <class R, class P, class R2, class P2> bool operator==(const duration<R, P> &a, const duration<R2, P2> &b);
template <class R, class P, class R2, class P2> double operator/(const duration<R, P> &a, const duration<R2, P2> &b);
using nanoseconds = duration<long, nano>;
using microseconds = duration<long, micro>;
using milliseconds = duration<long, milli>;
using seconds = duration<long>;
using minutes = duration<long, ratio<60>>;
using hours = duration<long, ratio<3600>>;
template <class To, class R, class P> To duration_cast(const duration<R, P> &d);
template <class Clock, class D = nanoseconds> class time_point {
public:
  using duration = D;
  using clock = Clock;
  time_point();
  template <class E> explicit time_point(const E &since);
  D time_since_epoch() const;
  template <class E> time_point &operator+=(const E &d);
  template <class E> time_point &operator-=(const E &d);
};
template <class C, class D> D operator-(const time_point<C, D> &a, const time_point<C, D> &b);
template <class C, class D, class R, class P> time_point<C, D> operator+(const time_point<C, D> &a, const duration<R, P> &b);
template <class C, class D, class R, class P> time_point<C, D> operator-(const time_point<C, D> &a, const duration<R, P> &b);
template <class C, class D> bool operator<(const time_point<C, D> &a, const time_point<C, D> &b);
template <class C, class D> bool operator>(const time_point<C, D> &a, const time_point<C, D> &b);
template <class C, class D> bool operator<=(const time_point<C, D> &a, const time_point<C, D> &b);
template <class C, class D> bool operator>=(const time_point<C, D> &a, const time_point<C, D> &b);
template <class To, class C, class D> time_point<C, To> time_point_cast(const time_point<C, D> &t);
struct steady_clock { using duration = nanoseconds; using rep = long; using period = nano; using time_point = chrono::time_point<steady_clock>; static time_point now(); };
struct system_clock {
  using duration = nanoseconds; using rep = long; using period = nano;
  using time_point = chrono::time_point<system_clock>;
  static time_point now();
  static time_t to_time_t(const time_point &t);
  static time_point from_time_t(time_t t);
};
using high_resolution_clock = steady_clock;
}  // namespace chrono
inline namespace literals {
inline namespace chrono_literals {
chrono::nanoseconds operator""ns(unsigned long long n);
chrono::microseconds operator""us(unsigned long long n);
chrono::milliseconds operator""ms(unsigned long long n);
chrono::seconds operator""s(unsigned long long n);
chrono::minutes operator""min(unsigned long long n);
}  // namespace chrono_literals
}  // namespace literals
namespace chrono { using namespace literals::chrono_literals; }
}  // namespace std
#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
