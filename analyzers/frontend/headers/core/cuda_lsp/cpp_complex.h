// <complex>.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_functional.h>

#pragma clang force_cuda_host_device begin
namespace std {
template <class T> class complex {
  T re_, im_;

public:
  using value_type = T;
  constexpr complex(T re = T(), T im = T()) : re_(re), im_(im) {}
  template <class U> constexpr complex(const complex<U> &other) : re_(T(other.real())), im_(T(other.imag())) {}
  constexpr T real() const { return re_; }
  constexpr T imag() const { return im_; }
  void real(T value) { re_ = value; }
  void imag(T value) { im_ = value; }
  complex &operator=(T value) { re_ = value; im_ = T(); return *this; }
  complex &operator+=(const complex &b) { re_ += b.re_; im_ += b.im_; return *this; }
  complex &operator-=(const complex &b) { re_ -= b.re_; im_ -= b.im_; return *this; }
  complex &operator*=(const complex &b) { *this = complex(re_ * b.re_ - im_ * b.im_, re_ * b.im_ + im_ * b.re_); return *this; }
  complex &operator/=(const complex &b) { *this = *this / b; return *this; }
  complex &operator*=(T b) { re_ *= b; im_ *= b; return *this; }
  complex &operator/=(T b) { re_ /= b; im_ /= b; return *this; }
};
template <class T> complex<T> operator+(const complex<T> &a, const complex<T> &b) { return complex<T>(a.real() + b.real(), a.imag() + b.imag()); }
template <class T> complex<T> operator-(const complex<T> &a, const complex<T> &b) { return complex<T>(a.real() - b.real(), a.imag() - b.imag()); }
template <class T> complex<T> operator*(const complex<T> &a, const complex<T> &b);
template <class T> complex<T> operator/(const complex<T> &a, const complex<T> &b);
template <class T> complex<T> operator+(const complex<T> &a, const T &b);
template <class T> complex<T> operator-(const complex<T> &a, const T &b);
template <class T> complex<T> operator*(const complex<T> &a, const T &b);
template <class T> complex<T> operator/(const complex<T> &a, const T &b);
template <class T> complex<T> operator*(const T &a, const complex<T> &b);
template <class T> complex<T> operator+(const T &a, const complex<T> &b);
template <class T> complex<T> operator-(const T &a, const complex<T> &b);
template <class T> complex<T> operator-(const complex<T> &a) { return complex<T>(-a.real(), -a.imag()); }
template <class T> bool operator==(const complex<T> &a, const complex<T> &b);
template <class T> bool operator!=(const complex<T> &a, const complex<T> &b);
template <class T> T real(const complex<T> &z) { return z.real(); }
template <class T> T imag(const complex<T> &z) { return z.imag(); }
template <class T> T abs(const complex<T> &z);
template <class T> T arg(const complex<T> &z);
template <class T> T norm(const complex<T> &z);
template <class T> complex<T> conj(const complex<T> &z) { return complex<T>(z.real(), -z.imag()); }
template <class T> complex<T> exp(const complex<T> &z);
template <class T> complex<T> log(const complex<T> &z);
template <class T> complex<T> sqrt(const complex<T> &z);
template <class T> complex<T> pow(const complex<T> &z, const T &e);
template <class T> complex<T> sin(const complex<T> &z);
template <class T> complex<T> cos(const complex<T> &z);
template <class T> complex<T> polar(const T &rho, const T &theta);
inline namespace literals {
inline namespace complex_literals {
complex<double> operator""i(long double value);
}
}  // namespace literals
}  // namespace std
#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
