// <functional>, <tuple>, <array>, <optional>, <variant>, <any>, <complex>, <ratio>, <chrono>: types that device code may use too,
// with bodies where a value matters.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_containers.h>

#pragma clang force_cuda_host_device begin
namespace std {
#define CUDA_LSP_BINARY(name, R, op)                                                                                     \
  template <class T = void> struct name {                                                                                \
    using first_argument_type = T;                                                                                       \
    using second_argument_type = T;                                                                                      \
    using result_type = R;                                                                                               \
    constexpr R operator()(const T &a, const T &b) const { return a op b; }                                              \
  };                                                                                                                     \
  template <> struct name<void> {                                                                                        \
    using is_transparent = int;                                                                                          \
    template <class A, class B> constexpr auto operator()(A &&a, B &&b) const -> decltype(a op b) { return a op b; }     \
  };
template <class T> struct less;
#define CUDA_LSP_LESS(name, R, op)                                                              \
  template <class T> struct name {                                                              \
    using first_argument_type = T;                                                              \
    using second_argument_type = T;                                                             \
    using result_type = R;                                                                      \
    constexpr R operator()(const T &a, const T &b) const { return a op b; }                     \
  };
CUDA_LSP_BINARY(plus, T, +)
CUDA_LSP_BINARY(minus, T, -)
CUDA_LSP_BINARY(multiplies, T, *)
CUDA_LSP_BINARY(divides, T, /)
CUDA_LSP_BINARY(modulus, T, %)
CUDA_LSP_BINARY(greater, bool, >)
CUDA_LSP_BINARY(less_equal, bool, <=)
CUDA_LSP_BINARY(greater_equal, bool, >=)
CUDA_LSP_BINARY(not_equal_to, bool, !=)
CUDA_LSP_BINARY(logical_and, bool, &&)
CUDA_LSP_BINARY(logical_or, bool, ||)
CUDA_LSP_BINARY(bit_and, T, &)
CUDA_LSP_BINARY(bit_or, T, |)
CUDA_LSP_BINARY(bit_xor, T, ^)
CUDA_LSP_LESS(less, bool, <)
CUDA_LSP_LESS(equal_to, bool, ==)
#undef CUDA_LSP_BINARY
#undef CUDA_LSP_LESS
template <> struct less<void> {
  template <class A, class B> constexpr bool operator()(A &&a, B &&b) const { return a < b; }
};
template <> struct equal_to<void> {
  template <class A, class B> constexpr bool operator()(A &&a, B &&b) const { return a == b; }
};
template <class T = void> struct negate { constexpr T operator()(const T &a) const { return -a; } };
template <class T = void> struct logical_not { constexpr bool operator()(const T &a) const { return !a; } };
struct identity { template <class T> constexpr T &&operator()(T &&value) const { return static_cast<T &&>(value); } };
template <class A, class R> struct unary_function { using argument_type = A; using result_type = R; };
template <class A, class B, class R> struct binary_function { using first_argument_type = A; using second_argument_type = B; using result_type = R; };
template <class T> struct hash { size_t operator()(const T &value) const; };
template <class T> struct reference_wrapper {
  T *at_;
  reference_wrapper(T &object) : at_(&object) {}
  operator T &() const { return *at_; }
  T &get() const { return *at_; }
  template <class... A> auto operator()(A &&...arguments) const -> decltype((*at_)(static_cast<A &&>(arguments)...)) { return (*at_)(static_cast<A &&>(arguments)...); }
};
template <class T> reference_wrapper<T> ref(T &object) { return reference_wrapper<T>(object); }
template <class T> reference_wrapper<const T> cref(const T &object) { return reference_wrapper<const T>(object); }

template <class R, class... A> class function<R(A...)> {
public:
  using result_type = R;
  function() noexcept;
  function(nullptr_t) noexcept;
  function(const function &other);
  template <class F, class = enable_if_t<is_invocable_v<F &, A...>>> function(F f);
  function &operator=(const function &other);
  function &operator=(nullptr_t) noexcept;
  template <class F> function &operator=(F &&f);
  R operator()(A... arguments) const;
  explicit operator bool() const noexcept;
};
template <class F> struct cuda_lsp_bound { template <class... A> auto operator()(A &&...arguments) const; operator bool() const; template <class R, class... A> operator function<R(A...)>() const; };
template <class F, class... A> cuda_lsp_bound<F> bind(F &&f, A &&...arguments);
template <class M> cuda_lsp_bound<M> mem_fn(M member);
template <class F> cuda_lsp_bound<F> not_fn(F &&f);
namespace placeholders {
struct cuda_lsp_placeholder {};
extern cuda_lsp_placeholder _1, _2, _3, _4, _5, _6;
}  // namespace placeholders

template <class T, size_t N> struct array {
  using value_type = T;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using reference = T &;
  using const_reference = const T &;
  using iterator = T *;
  using const_iterator = const T *;
  T elements_[N == 0 ? 1 : N];
  constexpr T &operator[](size_t i) { return elements_[i]; }
  constexpr const T &operator[](size_t i) const { return elements_[i]; }
  constexpr T &at(size_t i) { return elements_[i]; }
  constexpr const T &at(size_t i) const { return elements_[i]; }
  constexpr T &front() { return elements_[0]; }
  constexpr const T &front() const { return elements_[0]; }
  constexpr T &back() { return elements_[N - 1]; }
  constexpr const T &back() const { return elements_[N - 1]; }
  constexpr T *data() { return elements_; }
  constexpr const T *data() const { return elements_; }
  constexpr T *begin() { return elements_; }
  constexpr const T *begin() const { return elements_; }
  constexpr T *end() { return elements_ + N; }
  constexpr const T *end() const { return elements_ + N; }
  constexpr const T *cbegin() const { return elements_; }
  constexpr const T *cend() const { return elements_ + N; }
  constexpr std::reverse_iterator<T *> rbegin() { return std::reverse_iterator<T *>(end()); }
  constexpr std::reverse_iterator<T *> rend() { return std::reverse_iterator<T *>(begin()); }
  constexpr std::reverse_iterator<const T *> rbegin() const { return std::reverse_iterator<const T *>(end()); }
  constexpr std::reverse_iterator<const T *> rend() const { return std::reverse_iterator<const T *>(begin()); }
  constexpr size_t size() const { return N; }
  constexpr size_t max_size() const { return N; }
  constexpr bool empty() const { return N == 0; }
  constexpr void fill(const T &value) { for (size_t i = 0; i < N; ++i) elements_[i] = value; }
  constexpr void swap(array &other) {
    for (size_t i = 0; i < N; ++i) {
      T kept = elements_[i];
      elements_[i] = other.elements_[i];
      other.elements_[i] = kept;
    }
  }
};
template <class T, class... U> array(T, U...) -> array<T, 1 + sizeof...(U)>;
template <size_t I, class T, size_t N> constexpr T &get(array<T, N> &a) { return a.elements_[I]; }
template <size_t I, class T, size_t N> constexpr const T &get(const array<T, N> &a) { return a.elements_[I]; }
template <class T, size_t N> struct tuple_size<array<T, N>> : integral_constant<size_t, N> {};
template <size_t I, class T, size_t N> struct tuple_element<I, array<T, N>> { using type = T; };
template <class T, size_t N> constexpr bool operator==(const array<T, N> &a, const array<T, N> &b);
template <class T, size_t N> constexpr bool operator!=(const array<T, N> &a, const array<T, N> &b);
template <class T, size_t N> constexpr bool operator<(const array<T, N> &a, const array<T, N> &b);

// The elements of a tuple, nested as data members: the offsets of several bases are not to be had from libclang.
template <class... T> struct cuda_lsp_row {};
template <class Last> struct cuda_lsp_row<Last> {
  Last value;
  constexpr cuda_lsp_row() : value() {}
  template <class U> constexpr cuda_lsp_row(int, U &&last) : value(static_cast<U &&>(last)) {}
  template <class U> constexpr cuda_lsp_row(const cuda_lsp_row<U> &other) : value(other.value) {}
  template <class R> constexpr void assign(const R &other) { value = other.value; }
};
template <class First, class Second, class... Rest> struct cuda_lsp_row<First, Second, Rest...> {
  First value;
  cuda_lsp_row<Second, Rest...> rest;
  constexpr cuda_lsp_row() : value(), rest() {}
  template <class U, class V, class... W> constexpr cuda_lsp_row(int, U &&first, V &&second, W &&...more)
      : value(static_cast<U &&>(first)), rest(0, static_cast<V &&>(second), static_cast<W &&>(more)...) {}
  template <class U, class V, class... W> constexpr cuda_lsp_row(const cuda_lsp_row<U, V, W...> &other)
      : value(other.value), rest(other.rest) {}
  template <class R> constexpr void assign(const R &other) {
    value = other.value;
    rest.assign(other.rest);
  }
};
template <size_t I> struct cuda_lsp_nth {
  template <class R> static constexpr auto &of(R &row) { return cuda_lsp_nth<I - 1>::of(row.rest); }
};
template <> struct cuda_lsp_nth<0> {
  template <class R> static constexpr auto &of(R &row) { return row.value; }
};
template <class... T> class tuple {
public:
  cuda_lsp_row<T...> cuda_lsp_elements;
  constexpr tuple() : cuda_lsp_elements() {}
  constexpr tuple(const tuple &) = default;
  constexpr tuple(tuple &&) = default;
  template <class... U, class = enable_if_t<sizeof...(U) == sizeof...(T) && (sizeof...(T) > 0) && conjunction_v<is_constructible<T, U &&>...>>>
  constexpr tuple(U &&...values) : cuda_lsp_elements(0, static_cast<U &&>(values)...) {}
  template <class First = __type_pack_element<0, T..., void>, class = enable_if_t<!is_void_v<First>>>
  constexpr tuple(const T &...values) : cuda_lsp_elements(0, values...) {}
  template <class... U, class = enable_if_t<sizeof...(U) == sizeof...(T) && !conjunction_v<is_same<T, U>...>>>
  constexpr tuple(const tuple<U...> &other) : cuda_lsp_elements(other.cuda_lsp_elements) {}
  template <class A, class B> constexpr tuple(const pair<A, B> &other) : cuda_lsp_elements(0, other.first, other.second) {}
  constexpr tuple &operator=(const tuple &other) {
    cuda_lsp_elements.assign(other.cuda_lsp_elements);
    return *this;
  }
  template <class... U> constexpr tuple &operator=(const tuple<U...> &other) {
    cuda_lsp_elements.assign(other.cuda_lsp_elements);
    return *this;
  }
  template <class A, class B> constexpr tuple &operator=(const pair<A, B> &other) {
    cuda_lsp_nth<0>::of(cuda_lsp_elements) = other.first;
    cuda_lsp_nth<1>::of(cuda_lsp_elements) = other.second;
    return *this;
  }
};
template <class... T> tuple(T...) -> tuple<T...>;
template <class... T> struct tuple_size<tuple<T...>> : integral_constant<size_t, sizeof...(T)> {};
template <size_t I, class... T> struct tuple_element<I, tuple<T...>> { using type = __type_pack_element<I, T...>; };
template <size_t I, class... T> constexpr auto &get(tuple<T...> &t) { return cuda_lsp_nth<I>::of(t.cuda_lsp_elements); }
template <size_t I, class... T> constexpr const auto &get(const tuple<T...> &t) { return cuda_lsp_nth<I>::of(t.cuda_lsp_elements); }
template <size_t I, class... T> constexpr auto &&get(tuple<T...> &&t) { return static_cast<__type_pack_element<I, T...> &&>(cuda_lsp_nth<I>::of(t.cuda_lsp_elements)); }
template <class V, class... T> constexpr V &get(tuple<T...> &t);
template <class V, class... T> constexpr const V &get(const tuple<T...> &t);
template <class... T> constexpr tuple<decay_t<T>...> make_tuple(T &&...values) { return tuple<decay_t<T>...>(static_cast<T &&>(values)...); }
template <class... T> constexpr tuple<T &...> tie(T &...values) { return tuple<T &...>(values...); }
template <class... T> constexpr tuple<T &&...> forward_as_tuple(T &&...values) { return tuple<T &&...>(static_cast<T &&>(values)...); }
template <class... A, class... B> tuple<A..., B...> tuple_cat(const tuple<A...> &a, const tuple<B...> &b);
template <class F, class T, size_t... I> constexpr decltype(auto) cuda_lsp_apply(F &&f, T &&t, index_sequence<I...>) { return f(std::get<I>(static_cast<T &&>(t))...); }
template <class F, class T> constexpr decltype(auto) apply(F &&f, T &&t) {
  return cuda_lsp_apply(static_cast<F &&>(f), static_cast<T &&>(t), make_index_sequence<tuple_size_v<remove_cvref_t<T>>>{});
}
CUDA_LSP_COMPARED(class... T, tuple<T...>)
struct cuda_lsp_ignore { template <class T> constexpr const cuda_lsp_ignore &operator=(const T &) const { return *this; } };
inline constexpr cuda_lsp_ignore ignore{};

struct nullopt_t { constexpr explicit nullopt_t(int) {} };
inline constexpr nullopt_t nullopt{0};
class bad_optional_access : public exception {};
template <class T> class optional {
  T value_{};
  bool has_ = false;

public:
  using value_type = T;
  constexpr optional() noexcept {}
  constexpr optional(nullopt_t) noexcept {}
  template <class U = T, class = enable_if_t<is_constructible_v<T, U &&> && !is_same_v<remove_cvref_t<U>, optional>>> constexpr optional(U &&value) : value_(static_cast<U &&>(value)), has_(true) {}
  template <class... A> explicit optional(in_place_t, A &&...arguments);
  optional &operator=(nullopt_t) noexcept { has_ = false; return *this; }
  constexpr bool has_value() const noexcept { return has_; }
  constexpr explicit operator bool() const noexcept { return has_; }
  constexpr T &value() { return value_; }
  constexpr const T &value() const { return value_; }
  constexpr T &operator*() { return value_; }
  constexpr const T &operator*() const { return value_; }
  constexpr T *operator->() { return &value_; }
  constexpr const T *operator->() const { return &value_; }
  template <class U> constexpr T value_or(U &&other) const { return has_ ? value_ : static_cast<T>(static_cast<U &&>(other)); }
  template <class... A> T &emplace(A &&...arguments);
  void reset() noexcept { has_ = false; }
  void swap(optional &other) {
    optional kept = *this;
    *this = other;
    other = kept;
  }
};
template <class T> optional(T) -> optional<T>;
template <class T> optional<decay_t<T>> make_optional(T &&value);
template <class T> bool operator==(const optional<T> &a, nullopt_t) { return !a.has_value(); }
template <class T> bool operator!=(const optional<T> &a, nullopt_t) { return a.has_value(); }
template <class T, class U> bool operator==(const optional<T> &a, const U &b);
template <class T, class U> bool operator!=(const optional<T> &a, const U &b);

struct monostate {};
template <class... T> class variant {
public:
  variant();
  template <class U> variant(U &&value);
  template <class U> variant &operator=(U &&value);
  size_t index() const;
  template <class U, class... A> U &emplace(A &&...arguments);
};
template <class U, class... T> bool holds_alternative(const variant<T...> &v);
template <class U, class... T> U &get(variant<T...> &v);
template <class U, class... T> const U &get(const variant<T...> &v);
template <size_t I, class... T> __type_pack_element<I, T...> &get(variant<T...> &v);
template <class U, class... T> U *get_if(variant<T...> *v);
template <class F, class V, class... T> auto cuda_lsp_visit(F &&f, const variant<V, T...> &v) -> decltype(f(declval<V &>()));
template <class F, class V> decltype(auto) visit(F &&f, V &&v) { return cuda_lsp_visit(static_cast<F &&>(f), v); }
class any {
public:
  any();
  template <class T> any(T &&value);
  bool has_value() const;
};
template <class T> T any_cast(const any &value);

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
inline namespace complex_literals {
complex<double> operator""i(long double value);
}
}  // namespace literals
namespace chrono { using namespace literals::chrono_literals; }
}  // namespace std
#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
