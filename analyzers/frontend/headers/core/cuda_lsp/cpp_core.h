// The C++ library's foundation: <type_traits>, <utility>, <limits>, <initializer_list>, <new>, <cmath>'s names in std,
// and the parts of <algorithm> that <utility> and <cmath> bring along. Real definitions, because clang evaluates them.
#pragma once
#include <cuda_lsp/c_library.h>

#pragma clang force_cuda_host_device begin

inline void *operator new(size_t, void *place) noexcept { return place; }
inline void *operator new[](size_t, void *place) noexcept { return place; }
inline void operator delete(void *, void *) noexcept {}
inline void operator delete[](void *, void *) noexcept {}

#pragma clang force_cuda_host_device end
// clang declares the host's allocation functions itself; the device has its own heap.
__device__ void *operator new(size_t size);
__device__ void *operator new[](size_t size);
__device__ void operator delete(void *pointer) noexcept;
__device__ void operator delete[](void *pointer) noexcept;
__device__ void operator delete(void *pointer, size_t size) noexcept;
__device__ void operator delete[](void *pointer, size_t size) noexcept;
#pragma clang force_cuda_host_device begin

namespace std {
using ::size_t;
using ::ptrdiff_t;
using ::max_align_t;
using nullptr_t = decltype(nullptr);
enum class byte : unsigned char {};

template <class T, T V> struct integral_constant {
  static constexpr T value = V;
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const noexcept { return V; }
  constexpr T operator()() const noexcept { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = bool_constant<true>;
using false_type = bool_constant<false>;

template <bool B, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool B, class T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, class T, class F> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
template <class...> using void_t = void;
template <class T> struct type_identity { using type = T; };
template <class T> using type_identity_t = typename type_identity<T>::type;

template <class T> struct remove_const { using type = T; };
template <class T> struct remove_const<const T> { using type = T; };
template <class T> struct remove_volatile { using type = T; };
template <class T> struct remove_volatile<volatile T> { using type = T; };
template <class T> using remove_const_t = typename remove_const<T>::type;
template <class T> using remove_volatile_t = typename remove_volatile<T>::type;
template <class T> struct remove_cv { using type = remove_const_t<remove_volatile_t<T>>; };
template <class T> using remove_cv_t = typename remove_cv<T>::type;
template <class T> struct remove_reference { using type = T; };
template <class T> struct remove_reference<T &> { using type = T; };
template <class T> struct remove_reference<T &&> { using type = T; };
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> struct remove_cvref { using type = remove_cv_t<remove_reference_t<T>>; };
template <class T> using remove_cvref_t = typename remove_cvref<T>::type;
template <class T> struct remove_pointer { using type = T; };
template <class T> struct remove_pointer<T *> { using type = T; };
template <class T> struct remove_pointer<T *const> { using type = T; };
template <class T> using remove_pointer_t = typename remove_pointer<T>::type;
template <class T> struct remove_extent { using type = T; };
template <class T> struct remove_extent<T[]> { using type = T; };
template <class T, size_t N> struct remove_extent<T[N]> { using type = T; };
template <class T> using remove_extent_t = typename remove_extent<T>::type;
template <class T> struct remove_all_extents { using type = T; };
template <class T> struct remove_all_extents<T[]> : remove_all_extents<T> {};
template <class T, size_t N> struct remove_all_extents<T[N]> : remove_all_extents<T> {};
template <class T> using remove_all_extents_t = typename remove_all_extents<T>::type;
template <class T> struct add_const { using type = const T; };
template <class T> using add_const_t = const T;
template <class T> struct add_volatile { using type = volatile T; };
template <class T> struct add_cv { using type = const volatile T; };
template <class T> using add_cv_t = const volatile T;
template <class T> struct add_pointer { using type = __add_pointer(T); };
template <class T> using add_pointer_t = __add_pointer(T);
template <class T> struct add_lvalue_reference { using type = __add_lvalue_reference(T); };
template <class T> using add_lvalue_reference_t = __add_lvalue_reference(T);
template <class T> struct add_rvalue_reference { using type = __add_rvalue_reference(T); };
template <class T> using add_rvalue_reference_t = __add_rvalue_reference(T);
template <class T> struct decay { using type = __decay(T); };
template <class T> using decay_t = __decay(T);
template <class T> struct make_signed { using type = __make_signed(T); };
template <class T> using make_signed_t = __make_signed(T);
template <class T> struct make_unsigned { using type = __make_unsigned(T); };
template <class T> using make_unsigned_t = __make_unsigned(T);
template <class T> struct underlying_type { using type = __underlying_type(T); };
template <class T> using underlying_type_t = __underlying_type(T);

template <class T> add_rvalue_reference_t<T> declval() noexcept;

template <class A, class B> struct is_same : false_type {};
template <class A> struct is_same<A, A> : true_type {};
template <class A, class B> inline constexpr bool is_same_v = is_same<A, B>::value;

#define CUDA_LSP_TRAIT(name, ...)                                        \
  template <class T> struct name : bool_constant<bool(__VA_ARGS__)> {}; \
  template <class T> inline constexpr bool name##_v = name<T>::value
#define CUDA_LSP_TRAIT2(name, ...)                                                \
  template <class A, class B> struct name : bool_constant<bool(__VA_ARGS__)> {}; \
  template <class A, class B> inline constexpr bool name##_v = name<A, B>::value
#define CUDA_LSP_TRAIT_N(name, ...)                                                        \
  template <class T, class... A> struct name : bool_constant<bool(__VA_ARGS__)> {};       \
  template <class T, class... A> inline constexpr bool name##_v = name<T, A...>::value
CUDA_LSP_TRAIT(is_void, __is_void(T));
CUDA_LSP_TRAIT(is_null_pointer, __is_same(remove_cv_t<T>, nullptr_t));
CUDA_LSP_TRAIT(is_integral, __is_integral(T));
CUDA_LSP_TRAIT(is_floating_point, __is_floating_point(T));
CUDA_LSP_TRAIT(is_array, __is_array(T));
CUDA_LSP_TRAIT(is_enum, __is_enum(T));
CUDA_LSP_TRAIT(is_union, __is_union(T));
CUDA_LSP_TRAIT(is_class, __is_class(T));
CUDA_LSP_TRAIT(is_function, __is_function(T));
CUDA_LSP_TRAIT(is_pointer, __is_pointer(T));
CUDA_LSP_TRAIT(is_lvalue_reference, __is_lvalue_reference(T));
CUDA_LSP_TRAIT(is_rvalue_reference, __is_rvalue_reference(T));
CUDA_LSP_TRAIT(is_member_pointer, __is_member_pointer(T));
CUDA_LSP_TRAIT(is_member_object_pointer, __is_member_object_pointer(T));
CUDA_LSP_TRAIT(is_member_function_pointer, __is_member_function_pointer(T));
CUDA_LSP_TRAIT(is_fundamental, __is_fundamental(T));
CUDA_LSP_TRAIT(is_arithmetic, __is_arithmetic(T));
CUDA_LSP_TRAIT(is_scalar, __is_scalar(T));
CUDA_LSP_TRAIT(is_object, __is_object(T));
CUDA_LSP_TRAIT(is_compound, __is_compound(T));
CUDA_LSP_TRAIT(is_reference, __is_reference(T));
CUDA_LSP_TRAIT(is_const, __is_const(T));
CUDA_LSP_TRAIT(is_volatile, __is_volatile(T));
CUDA_LSP_TRAIT(is_trivial, __is_trivial(T));
CUDA_LSP_TRAIT(is_trivially_copyable, __is_trivially_copyable(T));
CUDA_LSP_TRAIT(is_trivially_destructible, __is_trivially_destructible(T));
CUDA_LSP_TRAIT(is_trivially_default_constructible, __is_trivially_constructible(T));
CUDA_LSP_TRAIT(is_trivially_copy_constructible, __is_trivially_constructible(T, const T &));
CUDA_LSP_TRAIT(is_trivially_move_constructible, __is_trivially_constructible(T, T &&));
CUDA_LSP_TRAIT(is_trivially_copy_assignable, __is_trivially_assignable(T &, const T &));
CUDA_LSP_TRAIT(is_standard_layout, __is_standard_layout(T));
CUDA_LSP_TRAIT(is_pod, __is_pod(T));
CUDA_LSP_TRAIT(is_empty, __is_empty(T));
CUDA_LSP_TRAIT(is_polymorphic, __is_polymorphic(T));
CUDA_LSP_TRAIT(is_abstract, __is_abstract(T));
CUDA_LSP_TRAIT(is_final, __is_final(T));
CUDA_LSP_TRAIT(is_aggregate, __is_aggregate(T));
CUDA_LSP_TRAIT(is_signed, __is_signed(T));
CUDA_LSP_TRAIT(is_unsigned, __is_unsigned(T));
CUDA_LSP_TRAIT(is_destructible, __is_destructible(T));
CUDA_LSP_TRAIT(is_nothrow_destructible, __is_nothrow_destructible(T));
CUDA_LSP_TRAIT(is_default_constructible, __is_constructible(T));
CUDA_LSP_TRAIT(is_copy_constructible, __is_constructible(T, __add_lvalue_reference(const T)));
CUDA_LSP_TRAIT(is_move_constructible, __is_constructible(T, __add_rvalue_reference(T)));
CUDA_LSP_TRAIT(is_nothrow_default_constructible, __is_nothrow_constructible(T));
CUDA_LSP_TRAIT(is_nothrow_move_constructible, __is_nothrow_constructible(T, __add_rvalue_reference(T)));
CUDA_LSP_TRAIT(is_nothrow_copy_constructible, __is_nothrow_constructible(T, __add_lvalue_reference(const T)));
CUDA_LSP_TRAIT(is_copy_assignable, __is_assignable(__add_lvalue_reference(T), __add_lvalue_reference(const T)));
CUDA_LSP_TRAIT(is_move_assignable, __is_assignable(__add_lvalue_reference(T), __add_rvalue_reference(T)));
CUDA_LSP_TRAIT(is_nothrow_move_assignable, __is_nothrow_assignable(__add_lvalue_reference(T), __add_rvalue_reference(T)));
CUDA_LSP_TRAIT(has_virtual_destructor, __has_virtual_destructor(T));
CUDA_LSP_TRAIT2(is_base_of, __is_base_of(A, B));
CUDA_LSP_TRAIT2(is_convertible, __is_convertible_to(A, B));
CUDA_LSP_TRAIT2(is_assignable, __is_assignable(A, B));
CUDA_LSP_TRAIT2(is_trivially_assignable, __is_trivially_assignable(A, B));
CUDA_LSP_TRAIT_N(is_constructible, __is_constructible(T, A...));
CUDA_LSP_TRAIT_N(is_nothrow_constructible, __is_nothrow_constructible(T, A...));
CUDA_LSP_TRAIT_N(is_trivially_constructible, __is_trivially_constructible(T, A...));

template <class T> struct rank : integral_constant<size_t, __array_rank(T)> {};
template <class T> inline constexpr size_t rank_v = rank<T>::value;
template <class T, unsigned N = 0> struct extent : integral_constant<size_t, __array_extent(T, N)> {};
template <class T, unsigned N = 0> inline constexpr size_t extent_v = extent<T, N>::value;
template <class T> struct alignment_of : integral_constant<size_t, alignof(T)> {};
template <class T> inline constexpr size_t alignment_of_v = alignof(T);
template <size_t Size, size_t Align = 16> struct aligned_storage { struct type { alignas(Align) unsigned char data[Size]; }; };
template <size_t Size, size_t Align = 16> using aligned_storage_t = typename aligned_storage<Size, Align>::type;

template <class... B> struct conjunction : bool_constant<(bool(B::value) && ...)> {};
template <class... B> struct disjunction : bool_constant<(bool(B::value) || ...)> {};
template <class B> struct negation : bool_constant<!bool(B::value)> {};
template <class... B> inline constexpr bool conjunction_v = (bool(B::value) && ...);
template <class... B> inline constexpr bool disjunction_v = (bool(B::value) || ...);
template <class B> inline constexpr bool negation_v = !bool(B::value);

template <class... T> struct common_type {};
template <class T> struct common_type<T> { using type = decay_t<T>; };
template <class A, class B> struct common_type<A, B> { using type = decay_t<decltype(true ? declval<A>() : declval<B>())>; };
template <class A, class B, class C, class... R> struct common_type<A, B, C, R...>
    : common_type<typename common_type<A, B>::type, C, R...> {};
template <class... T> using common_type_t = typename common_type<T...>::type;

template <class T> constexpr remove_reference_t<T> &&move(T &&value) noexcept { return static_cast<remove_reference_t<T> &&>(value); }
template <class T> constexpr T &&forward(remove_reference_t<T> &value) noexcept { return static_cast<T &&>(value); }
template <class T> constexpr T &&forward(remove_reference_t<T> &&value) noexcept { return static_cast<T &&>(value); }
template <class T> constexpr T &&move_if_noexcept(T &value) noexcept { return static_cast<T &&>(value); }
template <class T> constexpr T *addressof(T &value) noexcept { return __builtin_addressof(value); }
template <class T> constexpr T *launder(T *pointer) noexcept { return pointer; }
template <class T> constexpr const T &as_const(T &value) noexcept { return value; }
template <class T> void as_const(const T &&) = delete;
template <class T, class U = T> constexpr T exchange(T &object, U &&value) {
  T old = static_cast<T &&>(object);
  object = static_cast<U &&>(value);
  return old;
}
template <class T> constexpr void swap(T &a, T &b) {
  T kept = static_cast<T &&>(a);
  a = static_cast<T &&>(b);
  b = static_cast<T &&>(kept);
}
template <class T, size_t N> constexpr void swap(T (&a)[N], T (&b)[N]) {
  for (size_t i = 0; i < N; ++i) swap(a[i], b[i]);
}

template <class A, class B, class = void> struct is_swappable_with : false_type {};
template <class A, class B> struct is_swappable_with<A, B, void_t<decltype(swap(declval<A>(), declval<B>()))>> : true_type {};
template <class T> struct is_swappable : is_swappable_with<T &, T &> {};
template <class T> struct is_nothrow_swappable : is_swappable_with<T &, T &> {};
template <class T> inline constexpr bool is_swappable_v = is_swappable<T>::value;
template <class T> inline constexpr bool is_nothrow_swappable_v = is_nothrow_swappable<T>::value;

template <class F, class... A> constexpr auto invoke(F &&function, A &&...arguments)
    -> decltype(static_cast<F &&>(function)(static_cast<A &&>(arguments)...)) {
  return static_cast<F &&>(function)(static_cast<A &&>(arguments)...);
}
template <class F, class... A> struct invoke_result { using type = decltype(declval<F>()(declval<A>()...)); };
template <class F, class... A> using invoke_result_t = typename invoke_result<F, A...>::type;
template <class> struct result_of;
template <class F, class... A> struct result_of<F(A...)> : invoke_result<F, A...> {};
template <class T> using result_of_t = typename result_of<T>::type;
template <class Void, class F, class... A> struct cuda_lsp_invocable : false_type {};
template <class F, class... A>
struct cuda_lsp_invocable<void_t<decltype(declval<F>()(declval<A>()...))>, F, A...> : true_type {};
template <class F, class... A> struct is_invocable : cuda_lsp_invocable<void, F, A...> {};
template <class F, class... A> inline constexpr bool is_invocable_v = is_invocable<F, A...>::value;
template <class R, class F, class... A> struct is_invocable_r : is_invocable<F, A...> {};
template <class R, class F, class... A> inline constexpr bool is_invocable_r_v = is_invocable<F, A...>::value;
constexpr bool is_constant_evaluated() noexcept { return __builtin_is_constant_evaluated(); }

template <class T> class initializer_list {
  const T *first_ = nullptr;
  size_t size_ = 0;

public:
  using value_type = T;
  using size_type = size_t;
  using const_iterator = const T *;
  using iterator = const T *;
  constexpr initializer_list() noexcept = default;
  constexpr size_t size() const noexcept { return size_; }
  constexpr const T *begin() const noexcept { return first_; }
  constexpr const T *end() const noexcept { return first_ + size_; }
};

struct piecewise_construct_t {};
inline constexpr piecewise_construct_t piecewise_construct{};
struct in_place_t {};
inline constexpr in_place_t in_place{};
template <class T> struct in_place_type_t {};
struct nothrow_t {};
extern const nothrow_t nothrow;
enum class align_val_t : size_t {};

template <class A, class B> struct pair {
  using first_type = A;
  using second_type = B;
  A first;
  B second;
  constexpr pair() : first(), second() {}
  constexpr pair(const A &a, const B &b) : first(a), second(b) {}
  template <class X, class Y, class = enable_if_t<is_constructible_v<A, X &&> && is_constructible_v<B, Y &&>>>
  constexpr pair(X &&a, Y &&b) : first(static_cast<X &&>(a)), second(static_cast<Y &&>(b)) {}
  template <class X, class Y> constexpr pair(const pair<X, Y> &other) : first(other.first), second(other.second) {}
  template <class X, class Y> pair(piecewise_construct_t, X &&a, Y &&b);
  template <class X, class Y> constexpr pair &operator=(const pair<X, Y> &other) {
    first = other.first;
    second = other.second;
    return *this;
  }
  constexpr void swap(pair &other) {
    A kept = static_cast<A &&>(first);
    first = static_cast<A &&>(other.first);
    other.first = static_cast<A &&>(kept);
    B last = static_cast<B &&>(second);
    second = static_cast<B &&>(other.second);
    other.second = static_cast<B &&>(last);
  }
};
template <class A, class B> pair(A, B) -> pair<A, B>;
template <class A, class B> constexpr pair<decay_t<A>, decay_t<B>> make_pair(A &&a, B &&b) {
  return pair<decay_t<A>, decay_t<B>>(static_cast<A &&>(a), static_cast<B &&>(b));
}
template <class A, class B> constexpr bool operator==(const pair<A, B> &a, const pair<A, B> &b) { return a.first == b.first && a.second == b.second; }
template <class A, class B> constexpr bool operator!=(const pair<A, B> &a, const pair<A, B> &b) { return !(a == b); }
template <class A, class B> constexpr bool operator<(const pair<A, B> &a, const pair<A, B> &b) {
  return a.first < b.first || (!(b.first < a.first) && a.second < b.second);
}
template <class A, class B> constexpr bool operator>(const pair<A, B> &a, const pair<A, B> &b) { return b < a; }
template <class A, class B> constexpr bool operator<=(const pair<A, B> &a, const pair<A, B> &b) { return !(b < a); }
template <class A, class B> constexpr bool operator>=(const pair<A, B> &a, const pair<A, B> &b) { return !(a < b); }

template <class T> struct tuple_size;
// Only where T has a size: a structured binding of a plain const struct asks for it.
template <class T, size_t = tuple_size<T>::value> using cuda_lsp_sized = T;
template <class T> struct tuple_size<const cuda_lsp_sized<T>> : tuple_size<T> {};
template <class T> inline constexpr size_t tuple_size_v = tuple_size<T>::value;
template <size_t I, class T> struct tuple_element;
template <size_t I, class T> struct tuple_element<I, const T> { using type = const typename tuple_element<I, T>::type; };
template <size_t I, class T> using tuple_element_t = typename tuple_element<I, T>::type;
template <class A, class B> struct tuple_size<pair<A, B>> : integral_constant<size_t, 2> {};
template <class A, class B> struct tuple_element<0, pair<A, B>> { using type = A; };
template <class A, class B> struct tuple_element<1, pair<A, B>> { using type = B; };
template <size_t I, class A, class B> constexpr auto &get(pair<A, B> &p) {
  if constexpr (I == 0) return p.first; else return p.second;
}
template <size_t I, class A, class B> constexpr const auto &get(const pair<A, B> &p) {
  if constexpr (I == 0) return p.first; else return p.second;
}
template <size_t I, class A, class B> constexpr auto &&get(pair<A, B> &&p) {
  if constexpr (I == 0) return static_cast<A &&>(p.first); else return static_cast<B &&>(p.second);
}

template <class T, T... I> struct integer_sequence {
  using value_type = T;
  static constexpr size_t size() noexcept { return sizeof...(I); }
};
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;
template <class T, T N> using make_integer_sequence = __make_integer_seq<integer_sequence, T, N>;
template <size_t N> using make_index_sequence = make_integer_sequence<size_t, N>;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;

template <class T> constexpr const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> constexpr const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T, class C> constexpr const T &min(const T &a, const T &b, C less) { return less(b, a) ? b : a; }
template <class T, class C> constexpr const T &max(const T &a, const T &b, C less) { return less(a, b) ? b : a; }
template <class T> constexpr T min(initializer_list<T> values) {
  const T *least = values.begin();
  for (const T *p = values.begin(); p != values.end(); ++p) least = *p < *least ? p : least;
  return *least;
}
template <class T> constexpr T max(initializer_list<T> values) {
  const T *most = values.begin();
  for (const T *p = values.begin(); p != values.end(); ++p) most = *most < *p ? p : most;
  return *most;
}
template <class T> constexpr pair<const T &, const T &> minmax(const T &a, const T &b) { return pair<const T &, const T &>(b < a ? b : a, b < a ? a : b); }
template <class T> constexpr const T &clamp(const T &value, const T &low, const T &high) {
  return value < low ? low : high < value ? high : value;
}

enum float_round_style { round_indeterminate = -1, round_toward_zero = 0, round_to_nearest = 1 };
enum float_denorm_style { denorm_indeterminate = -1, denorm_absent = 0, denorm_present = 1 };
template <class T> struct numeric_limits {
  static constexpr bool is_specialized = false, is_signed = false, is_integer = false, is_exact = false;
  static constexpr int digits = 0, digits10 = 0;
  static constexpr T min() { return T(); }
  static constexpr T max() { return T(); }
  static constexpr T lowest() { return T(); }
  static constexpr T infinity() { return T(); }
  static constexpr T quiet_NaN() { return T(); }
  static constexpr T epsilon() { return T(); }
};
#define CUDA_LSP_INTEGER_LIMITS(T, low, high)                                                    \
  template <> struct numeric_limits<T> {                                                         \
    using type = T;                                                                              \
    static constexpr bool is_specialized = true, is_integer = true, is_exact = true;             \
    static constexpr bool is_signed = type(-1) < type(0), is_modulo = !is_signed;                \
    static constexpr bool has_infinity = false, has_quiet_NaN = false, is_bounded = true;        \
    static constexpr int digits = int(sizeof(type)) * 8 - (is_signed ? 1 : 0), radix = 2;        \
    static constexpr int digits10 = digits * 3 / 10, max_digits10 = 0;                           \
    static constexpr type min() noexcept { return low; }                                         \
    static constexpr type max() noexcept { return high; }                                        \
    static constexpr type lowest() noexcept { return low; }                                      \
    static constexpr type infinity() noexcept { return type(0); }                                \
    static constexpr type quiet_NaN() noexcept { return type(0); }                               \
    static constexpr type epsilon() noexcept { return type(0); }                                 \
  };
CUDA_LSP_INTEGER_LIMITS(bool, false, true);
CUDA_LSP_INTEGER_LIMITS(char, CHAR_MIN, CHAR_MAX);
CUDA_LSP_INTEGER_LIMITS(signed char, SCHAR_MIN, SCHAR_MAX);
CUDA_LSP_INTEGER_LIMITS(unsigned char, 0, UCHAR_MAX);
CUDA_LSP_INTEGER_LIMITS(wchar_t, INT_MIN, INT_MAX);
CUDA_LSP_INTEGER_LIMITS(short, SHRT_MIN, SHRT_MAX);
CUDA_LSP_INTEGER_LIMITS(unsigned short, 0, USHRT_MAX);
CUDA_LSP_INTEGER_LIMITS(int, INT_MIN, INT_MAX);
CUDA_LSP_INTEGER_LIMITS(unsigned, 0, UINT_MAX);
CUDA_LSP_INTEGER_LIMITS(long, LONG_MIN, LONG_MAX);
CUDA_LSP_INTEGER_LIMITS(unsigned long, 0, ULONG_MAX);
CUDA_LSP_INTEGER_LIMITS(long long, LLONG_MIN, LLONG_MAX);
CUDA_LSP_INTEGER_LIMITS(unsigned long long, 0, ULLONG_MAX);
#define CUDA_LSP_FLOAT_LIMITS(T, prefix, suffix)                                                    \
  template <> struct numeric_limits<T> {                                                            \
    static constexpr bool is_specialized = true, is_signed = true, is_integer = false;              \
    static constexpr bool is_exact = false, has_infinity = true, has_quiet_NaN = true, is_iec559 = true; \
    static constexpr bool has_signaling_NaN = true, is_bounded = true, is_modulo = false;           \
    static constexpr int digits = __##prefix##_MANT_DIG__, digits10 = __##prefix##_DIG__, radix = 2; \
    static constexpr int max_digits10 = __##prefix##_DECIMAL_DIG__;                                 \
    static constexpr int max_exponent = __##prefix##_MAX_EXP__, min_exponent = __##prefix##_MIN_EXP__; \
    static constexpr T min() noexcept { return __##prefix##_MIN__; }                                \
    static constexpr T max() noexcept { return __##prefix##_MAX__; }                                \
    static constexpr T lowest() noexcept { return -__##prefix##_MAX__; }                            \
    static constexpr T epsilon() noexcept { return __##prefix##_EPSILON__; }                        \
    static constexpr T denorm_min() noexcept { return __##prefix##_DENORM_MIN__; }                  \
    static constexpr T round_error() noexcept { return static_cast<T>(0.5); }                                    \
    static constexpr T infinity() noexcept { return __builtin_huge_val##suffix(); }                 \
    static constexpr T quiet_NaN() noexcept { return __builtin_nan##suffix(""); }                   \
    static constexpr T signaling_NaN() noexcept { return __builtin_nans##suffix(""); }              \
  }
CUDA_LSP_FLOAT_LIMITS(float, FLT, f);
CUDA_LSP_FLOAT_LIMITS(double, DBL, );
CUDA_LSP_FLOAT_LIMITS(long double, LDBL, l);
template <class T> struct numeric_limits<const T> : numeric_limits<T> {};

using ::FILE;
using ::abort; using ::aligned_alloc; using ::atexit; using ::atof; using ::atoi; using ::atol; using ::atoll; using ::bsearch;
using ::calloc; using ::div; using ::div_t; using ::exit; using ::fclose; using ::feof; using ::ferror; using ::fflush; using ::fgetc;
using ::fgets; using ::fopen; using ::fprintf; using ::fputc; using ::fputs; using ::fread; using ::free; using ::fscanf; using ::fseek;
using ::ftell; using ::fwrite; using ::getc; using ::getchar; using ::getenv; using ::int16_t; using ::int32_t; using ::int64_t;
using ::int8_t; using ::int_fast16_t; using ::int_fast32_t; using ::int_fast64_t; using ::int_fast8_t; using ::int_least16_t;
using ::int_least32_t; using ::int_least64_t; using ::int_least8_t; using ::intmax_t; using ::intptr_t; using ::isalnum; using ::isalpha; using ::isblank; using ::iscntrl; using ::isgraph; using ::strtold; using ::strspn; using ::strcspn; using ::strpbrk; using ::ungetc; using ::tmpfile; using ::freopen; using ::setvbuf; using ::clearerr; using ::asctime;
using ::isdigit; using ::islower; using ::isprint; using ::ispunct; using ::isspace; using ::isupper; using ::isxdigit; using ::ldiv;
using ::malloc; using ::memchr; using ::memcmp; using ::memcpy; using ::memmove; using ::memset; using ::perror; using ::printf;
using ::putc; using ::putchar; using ::puts; using ::qsort; using ::quick_exit; using ::rand; using ::realloc; using ::remove;
using ::rename; using ::rewind; using ::scanf; using ::snprintf; using ::sprintf; using ::srand; using ::sscanf; using ::strcat;
using ::strchr; using ::strcmp; using ::strcpy; using ::strerror; using ::strlen; using ::strncat; using ::strncmp; using ::strncpy;
using ::strrchr; using ::strstr; using ::strtod; using ::strtof; using ::strtok; using ::strtol; using ::strtoll; using ::strtoul;
using ::strtoull; using ::system; using ::tolower; using ::toupper; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::uint8_t; using ::uint_fast16_t; using ::uint_fast32_t; using ::uint_fast64_t; using ::uint_fast8_t; using ::uint_least16_t;
using ::uint_least32_t; using ::uint_least64_t; using ::uint_least8_t; using ::uintmax_t; using ::uintptr_t; using ::va_list;
using ::vfprintf; using ::vprintf; using ::vsnprintf; using ::vsprintf; using ::clock; using ::clock_t; using ::time; using ::time_t;
using ::tm; using ::localtime; using ::strftime; using ::mktime; using ::difftime; using ::gmtime; using ::ctime;
}  // namespace std

#pragma clang force_cuda_host_device end
