// <optional>, <variant>, <any>.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_functional.h>

#pragma clang force_cuda_host_device begin
namespace std {
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
}  // namespace std
#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
