// <functional>, <tuple>, <array>: types that device code may use too, with bodies where a value matters.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_algobase.h>

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

}  // namespace std
#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
