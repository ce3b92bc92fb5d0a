// Facade of Thrust: containers, iterators, functors with bodies, and the algorithms as signatures.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_complex.h>
#include <cuda_lsp/cpp_algorithms.h>
#include <cuda_lsp/cpp_streams.h>
#include <cuda_lsp/runtime_api.h>

#pragma clang force_cuda_host_device begin
namespace thrust {
using std::bit_and;
using std::bit_or;
using std::bit_xor;
using std::divides;
using std::equal_to;
using std::get;
using std::greater;
using std::greater_equal;
using std::identity;
using std::less;
using std::less_equal;
using std::logical_and;
using std::logical_not;
using std::logical_or;
using std::make_pair;
using std::make_tuple;
using std::minus;
using std::modulus;
using std::multiplies;
using std::negate;
using std::not_equal_to;
using std::pair;
using std::plus;
using std::random_access_iterator_tag;
using std::swap;
using std::tie;
using std::tuple;
using std::tuple_element;
using std::tuple_size;
using std::binary_function;
using std::unary_function;
using std::complex;
using std::abs;
using std::arg;
using std::conj;
using std::exp;
using std::log;
using std::norm;
using std::polar;
using std::pow;
using std::sqrt;
template <class T = void> struct maximum { constexpr T operator()(const T &a, const T &b) const { return a < b ? b : a; } };
template <class T = void> struct minimum { constexpr T operator()(const T &a, const T &b) const { return b < a ? b : a; } };
template <> struct maximum<void> { template <class T> constexpr T operator()(const T &a, const T &b) const { return a < b ? b : a; } };
template <> struct minimum<void> { template <class T> constexpr T operator()(const T &a, const T &b) const { return b < a ? b : a; } };
template <class T = void> struct square { constexpr T operator()(const T &a) const { return a * a; } };
template <class T = void> struct project1st { template <class A, class B> constexpr A operator()(const A &a, const B &) const { return a; } };
template <class T = void> struct project2nd { template <class A, class B> constexpr B operator()(const A &, const B &b) const { return b; } };
template <class T> constexpr T max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> constexpr T min(const T &a, const T &b) { return b < a ? b : a; }
using null_type = void;

template <class T> using iterator_value = typename std::iterator_traits<T>::value_type;
template <class T> struct iterator_traits : std::iterator_traits<T> {};
template <class T> struct iterator_difference { using type = ptrdiff_t; };

// Any other iterator behaves as the pointer it stands for.
template <class T> struct device_reference;
template <class T> class device_ptr {
public:
  using value_type = std::remove_cv_t<T>;
  using difference_type = ptrdiff_t;
  using pointer = device_ptr;
  using reference = std::add_lvalue_reference_t<T>;
  using iterator_category = std::random_access_iterator_tag;
  T *at_;
  device_ptr() : at_(nullptr) {}
  device_ptr(std::nullptr_t) : at_(nullptr) {}
  explicit device_ptr(T *at) : at_(at) {}
  template <class U> device_ptr(const device_ptr<U> &other) : at_(other.at_) {}
  T *get() const { return at_; }
  reference operator*() const { return *at_; }
  reference operator[](ptrdiff_t i) const { return at_[i]; }
  device_ptr operator+(ptrdiff_t n) const { return device_ptr(at_ + n); }
  device_ptr operator-(ptrdiff_t n) const { return device_ptr(at_ - n); }
  ptrdiff_t operator-(const device_ptr &other) const { return at_ - other.at_; }
  device_ptr &operator++() { ++at_; return *this; }
  device_ptr operator++(int) { return device_ptr(at_++); }
  device_ptr &operator--() { --at_; return *this; }
  device_ptr &operator+=(ptrdiff_t n) { at_ += n; return *this; }
  bool operator==(const device_ptr &other) const { return at_ == other.at_; }
  bool operator!=(const device_ptr &other) const { return at_ != other.at_; }
  bool operator<(const device_ptr &other) const { return at_ < other.at_; }
  explicit operator bool() const { return at_ != nullptr; }
};
template <class T> device_ptr<T> device_pointer_cast(T *p) { return device_ptr<T>(p); }
template <class T> device_ptr<T> device_pointer_cast(const device_ptr<T> &p) { return p; }
template <class T> T *raw_pointer_cast(T *p) { return p; }
template <class T> T *raw_pointer_cast(const device_ptr<T> &p) { return p.get(); }
template <class T> T &raw_reference_cast(T &r) { return r; }

#define CUDA_LSP_ITERATOR(Self, T, R)                                         \
  using value_type = T;                                                       \
  using difference_type = ptrdiff_t;                                          \
  using pointer = const T *;                                                  \
  using reference = R;                                                        \
  using iterator_category = std::random_access_iterator_tag;                  \
  Self &operator++() { ++at_; return *this; }                                 \
  Self operator++(int) { Self old = *this; ++at_; return old; }               \
  Self &operator--() { --at_; return *this; }                                 \
  Self &operator+=(ptrdiff_t n) { at_ = at_ + n; return *this; }              \
  Self &operator-=(ptrdiff_t n) { at_ = at_ - n; return *this; }              \
  Self operator+(ptrdiff_t n) const { Self moved = *this; moved.at_ = at_ + n; return moved; } \
  Self operator-(ptrdiff_t n) const { Self moved = *this; moved.at_ = at_ - n; return moved; } \
  ptrdiff_t operator-(const Self &other) const { return at_ - other.at_; }    \
  bool operator==(const Self &other) const { return at_ == other.at_; }       \
  bool operator!=(const Self &other) const { return at_ != other.at_; }       \
  bool operator<(const Self &other) const { return at_ < other.at_; }
template <class T, class = void, class = void, class = void> class counting_iterator {
public:
  T at_;
  counting_iterator() : at_() {}
  explicit counting_iterator(T at) : at_(at) {}
  T operator*() const { return at_; }
  T operator[](ptrdiff_t n) const { return at_ + n; }
  CUDA_LSP_ITERATOR(counting_iterator, T, T)
};
template <class T, class = void, class = void> class constant_iterator {
public:
  T value_;
  ptrdiff_t at_;
  explicit constant_iterator(T value, ptrdiff_t at = 0) : value_(value), at_(at) {}
  T operator*() const { return value_; }
  T operator[](ptrdiff_t) const { return value_; }
  CUDA_LSP_ITERATOR(constant_iterator, T, T)
};
template <class F, class It, class R = std::remove_cvref_t<std::invoke_result_t<F, typename std::iterator_traits<It>::value_type>>, class = void> class transform_iterator {
public:
  It at_;
  F function_;
  transform_iterator(It at, F function) : at_(at), function_(function) {}
  R operator*() const { return function_(*at_); }
  R operator[](ptrdiff_t n) const { return function_(at_[n]); }
  CUDA_LSP_ITERATOR(transform_iterator, R, R)
};
template <class Element, class Index> class permutation_iterator {
public:
  Element elements_;
  Index at_;
  permutation_iterator(Element elements, Index at) : elements_(elements), at_(at) {}
  using element = typename std::iterator_traits<Element>::value_type;
  decltype(auto) operator*() const { return elements_[*at_]; }
  decltype(auto) operator[](ptrdiff_t n) const { return elements_[at_[n]]; }
  CUDA_LSP_ITERATOR(permutation_iterator, element, element &)
};
template <class Tuple> class zip_iterator;
template <class... It> class zip_iterator<tuple<It...>> {
public:
  using Tuple = tuple<It...>;
  Tuple its_;
  ptrdiff_t at_ = 0;
  zip_iterator(Tuple its) : its_(its) {}
  using element = tuple<typename std::iterator_traits<It>::reference...>;
  element operator*() const;
  element operator[](ptrdiff_t n) const;
  const Tuple &get_iterator_tuple() const { return its_; }
  CUDA_LSP_ITERATOR(zip_iterator, element, element)
};
template <class = void> class discard_iterator {
public:
  ptrdiff_t at_;
  explicit discard_iterator(ptrdiff_t at = 0) : at_(at) {}
  int &operator*() const;
  CUDA_LSP_ITERATOR(discard_iterator, int, int &)
};
template <class It> using reverse_iterator = std::reverse_iterator<It>;
template <class T> counting_iterator<T> make_counting_iterator(T at) { return counting_iterator<T>(at); }
template <class T> constant_iterator<T> make_constant_iterator(T value) { return constant_iterator<T>(value); }
template <class It, class F> transform_iterator<F, It> make_transform_iterator(It at, F function) { return transform_iterator<F, It>(at, function); }
template <class E, class I> permutation_iterator<E, I> make_permutation_iterator(E elements, I at) { return permutation_iterator<E, I>(elements, at); }
template <class... It> zip_iterator<tuple<It...>> make_zip_iterator(tuple<It...> its) { return zip_iterator<tuple<It...>>(its); }
template <class A, class B, class... It> zip_iterator<tuple<A, B, It...>> make_zip_iterator(A a, B b, It... its) { return zip_iterator<tuple<A, B, It...>>(tuple<A, B, It...>(a, b, its...)); }
inline discard_iterator<> make_discard_iterator() { return discard_iterator<>(); }
template <class It> reverse_iterator<It> make_reverse_iterator(It it) { return reverse_iterator<It>(it); }
template <class F> struct zip_function { F function; template <class T> decltype(auto) operator()(T &&t) const { return std::apply(function, t); } };
template <class F> zip_function<F> make_zip_function(F function) { return zip_function<F>{function}; }

namespace random {
template <class T> struct cuda_lsp_generator {
  T state_;
  using result_type = T;
  cuda_lsp_generator(T seed = 1) : state_(seed) {}
  void discard(unsigned long long n) { state_ = state_ + T(n); }
  void seed(T value) { state_ = value; }
  T operator()() { state_ = state_ * 48271u; return state_; }
  static constexpr T min = 0, max = T(-1);
};
using minstd_rand = cuda_lsp_generator<unsigned>;
using minstd_rand0 = cuda_lsp_generator<unsigned>;
using default_random_engine = cuda_lsp_generator<unsigned>;
using taus88 = cuda_lsp_generator<unsigned>;
using ranlux24 = cuda_lsp_generator<unsigned>;
template <class T = float> struct uniform_real_distribution { uniform_real_distribution(T a = 0, T b = 1) {} template <class G> T operator()(G &g) { return T(g()); } };
template <class T = int> struct uniform_int_distribution { uniform_int_distribution(T a = 0, T b = 0) {} template <class G> T operator()(G &g) { return T(g()); } };
template <class T = float> struct normal_distribution { normal_distribution(T a = 0, T b = 1) {} template <class G> T operator()(G &g) { return T(g()); } };
}  // namespace random
using namespace random;

namespace detail {
struct policy {
  template <class... A> policy on(A &&...) const { return *this; }
  template <class... A> policy on_stream(A &&...) const { return *this; }
  template <class... A> policy operator()(A &&...) const { return *this; }
};
}  // namespace detail
inline constexpr detail::policy host{}, device{}, seq{};
namespace cuda { inline constexpr detail::policy par{}, par_nosync{}; template <class T> struct execution_policy : detail::policy {}; template <class T> using pointer = device_ptr<T>; }
namespace system { namespace cuda { inline constexpr detail::policy par{}; namespace detail { using thrust::detail::policy; } } namespace omp { inline constexpr thrust::detail::policy par{}; } }
namespace omp { inline constexpr detail::policy par{}; }
struct host_system_tag {};
struct device_system_tag {};
struct use_default {};
}  // namespace thrust
#pragma clang force_cuda_host_device end

namespace thrust {
using std::error_code;
using std::system_error;
namespace system { using std::error_code; using std::system_error; }
const std::error_code &cuda_category();
template <class T> using device_allocator = std::allocator<T>;
#define CUDA_LSP_THRUST_VECTOR(name, It)                                                   \
  template <class T, class A = std::allocator<T>> class name {                             \
  public:                                                                                  \
    using value_type = T;                                                                  \
    using size_type = size_t;                                                              \
    using difference_type = ptrdiff_t;                                                     \
    using reference = T &;                                                                 \
    using const_reference = const T &;                                                     \
    using pointer = It;                                                                    \
    using iterator = It;                                                                   \
    using const_iterator = It;                                                             \
    name();                                                                                \
    explicit name(size_t n);                                                               \
    name(size_t n, const T &value);                                                        \
    name(std::initializer_list<T> values);                                                 \
    name(const name &other);                                                               \
    template <class V, class = typename V::value_type, class = decltype(std::declval<const V &>().size())> name(const V &other); \
    template <class I, class = std::enable_if_t<!std::is_integral_v<I>>> name(I first, I last); \
    template <class V> name &operator=(const V &other);                                    \
    name &operator=(const name &other);                                                    \
    name &operator=(std::initializer_list<T> values);                                      \
    T &operator[](size_t i);                                                               \
    const T &operator[](size_t i) const;                                                   \
    It begin();                                                                            \
    It end();                                                                              \
    It begin() const;                                                                      \
    It end() const;                                                                        \
    It cbegin() const;                                                                     \
    It cend() const;                                                                       \
    std::reverse_iterator<It> rbegin();                                                    \
    std::reverse_iterator<It> rend();                                                      \
    It data();                                                                             \
    It data() const;                                                                       \
    size_t size() const;                                                                   \
    bool empty() const;                                                                    \
    size_t capacity() const;                                                               \
    void resize(size_t n);                                                                 \
    void resize(size_t n, const T &value);                                                 \
    void reserve(size_t n);                                                                \
    void clear();                                                                          \
    void shrink_to_fit();                                                                  \
    void push_back(const T &value);                                                        \
    void pop_back();                                                                       \
    T &front();                                                                            \
    T &back();                                                                             \
    void swap(name &other);                                                                \
    template <class... P> void assign(P &&...arguments);                                   \
    template <class... P> It insert(P &&...arguments);                                     \
    template <class... P> It erase(P &&...arguments);                                      \
  };
CUDA_LSP_THRUST_VECTOR(device_vector, device_ptr<T>)
CUDA_LSP_THRUST_VECTOR(host_vector, T *)
CUDA_LSP_THRUST_VECTOR(universal_vector, T *)
CUDA_LSP_THRUST_VECTOR(cuda_lsp_pinned_vector, T *)
#undef CUDA_LSP_THRUST_VECTOR
template <class T> bool operator==(const device_vector<T> &a, const device_vector<T> &b);
template <class T, class U> bool operator==(const host_vector<T> &a, const device_vector<U> &b);
template <class T> bool operator==(const host_vector<T> &a, const host_vector<T> &b);
template <class T, class U> bool operator==(const host_vector<T> &a, const std::vector<U> &b);
template <class T, class U> bool operator==(const device_vector<T> &a, const std::vector<U> &b);
template <class T> device_ptr<T> device_malloc(size_t n);
inline device_ptr<char> device_malloc(size_t n);
template <class P> void device_free(P p);
template <class T> device_ptr<T> device_new(size_t n);
namespace system { namespace cuda { namespace experimental { template <class T> using pinned_allocator = std::allocator<T>; } } }
namespace cuda { namespace experimental { template <class T> using pinned_allocator = std::allocator<T>; } }

// An algorithm takes an optional policy first; what it returns is told by its first iterator or its start value.
template <class A, class... R> struct cuda_lsp_first { using type = A; };
template <class A, class... R> struct cuda_lsp_first<detail::policy, A, R...> { using type = A; };
#define CUDA_LSP_GIVES_ITERATOR(name) \
  template <class A, class B, class... R> typename cuda_lsp_first<std::remove_cvref_t<A>, std::remove_cvref_t<B>>::type __host__ __device__ name(A &&a, B &&b, R &&...rest);
#define CUDA_LSP_GIVES(type, name) template <class... A> type __host__ __device__ name(A &&...arguments);
#define CUDA_LSP_GIVES_VALUE(name)                                                                                                  \
  template <class It> typename std::iterator_traits<It>::value_type __host__ __device__ name(It first, It last);                    \
  template <class It, class T, class... R, class = std::enable_if_t<!std::is_same_v<It, detail::policy>>> T __host__ __device__ name(It first, It last, T start, R... rest); \
  template <class It> typename std::iterator_traits<It>::value_type __host__ __device__ name(const detail::policy &, It first, It last); \
  template <class It, class T, class... R> T __host__ __device__ name(const detail::policy &, It first, It last, T start, R... rest);
CUDA_LSP_GIVES_ITERATOR(copy) CUDA_LSP_GIVES_ITERATOR(copy_n) CUDA_LSP_GIVES_ITERATOR(copy_if) CUDA_LSP_GIVES_ITERATOR(transform) CUDA_LSP_GIVES_ITERATOR(transform_if)
CUDA_LSP_GIVES_ITERATOR(for_each) CUDA_LSP_GIVES_ITERATOR(for_each_n) CUDA_LSP_GIVES_ITERATOR(find) CUDA_LSP_GIVES_ITERATOR(find_if) CUDA_LSP_GIVES_ITERATOR(find_if_not)
CUDA_LSP_GIVES_ITERATOR(unique) CUDA_LSP_GIVES_ITERATOR(unique_copy) CUDA_LSP_GIVES_ITERATOR(remove) CUDA_LSP_GIVES_ITERATOR(remove_if) CUDA_LSP_GIVES_ITERATOR(remove_copy_if)
CUDA_LSP_GIVES_ITERATOR(partition) CUDA_LSP_GIVES_ITERATOR(stable_partition) CUDA_LSP_GIVES_ITERATOR(partition_point) CUDA_LSP_GIVES_ITERATOR(max_element)
CUDA_LSP_GIVES_ITERATOR(min_element) CUDA_LSP_GIVES_ITERATOR(exclusive_scan) CUDA_LSP_GIVES_ITERATOR(inclusive_scan) CUDA_LSP_GIVES_ITERATOR(exclusive_scan_by_key)
CUDA_LSP_GIVES_ITERATOR(inclusive_scan_by_key) CUDA_LSP_GIVES_ITERATOR(transform_inclusive_scan) CUDA_LSP_GIVES_ITERATOR(transform_exclusive_scan)
CUDA_LSP_GIVES_ITERATOR(gather) CUDA_LSP_GIVES_ITERATOR(gather_if) CUDA_LSP_GIVES_ITERATOR(fill_n) CUDA_LSP_GIVES_ITERATOR(lower_bound) CUDA_LSP_GIVES_ITERATOR(upper_bound)
CUDA_LSP_GIVES_ITERATOR(merge) CUDA_LSP_GIVES_ITERATOR(set_union) CUDA_LSP_GIVES_ITERATOR(set_intersection) CUDA_LSP_GIVES_ITERATOR(set_difference)
CUDA_LSP_GIVES_ITERATOR(adjacent_difference) CUDA_LSP_GIVES_ITERATOR(swap_ranges) CUDA_LSP_GIVES_ITERATOR(reverse_copy) CUDA_LSP_GIVES_ITERATOR(uninitialized_copy)
CUDA_LSP_GIVES(void, sort) CUDA_LSP_GIVES(void, stable_sort) CUDA_LSP_GIVES(void, sort_by_key) CUDA_LSP_GIVES(void, stable_sort_by_key) CUDA_LSP_GIVES(void, fill)
CUDA_LSP_GIVES(void, sequence) CUDA_LSP_GIVES(void, generate) CUDA_LSP_GIVES(void, scatter) CUDA_LSP_GIVES(void, scatter_if) CUDA_LSP_GIVES(void, replace)
CUDA_LSP_GIVES(void, shuffle) CUDA_LSP_GIVES(void, replace_if) CUDA_LSP_GIVES(void, reverse) CUDA_LSP_GIVES(void, tabulate) CUDA_LSP_GIVES(void, uninitialized_fill) CUDA_LSP_GIVES(void, merge_by_key)
CUDA_LSP_GIVES(bool, equal) CUDA_LSP_GIVES(bool, is_sorted) CUDA_LSP_GIVES(bool, all_of) CUDA_LSP_GIVES(bool, any_of) CUDA_LSP_GIVES(bool, none_of)
CUDA_LSP_GIVES(bool, binary_search) CUDA_LSP_GIVES(ptrdiff_t, count) CUDA_LSP_GIVES(ptrdiff_t, count_if)
CUDA_LSP_GIVES_VALUE(reduce)
template <class It, class F, class T, class... R> T __host__ __device__ transform_reduce(It first, It last, F f, T start, R... rest);
template <class It, class F, class T, class... R> T __host__ __device__ transform_reduce(const detail::policy &, It first, It last, F f, T start, R... rest);
template <class It, class It2, class T, class... R> T __host__ __device__ inner_product(It first, It last, It2 first2, T start, R... rest);
template <class It, class It2, class T, class... R> T __host__ __device__ inner_product(const detail::policy &, It first, It last, It2 first2, T start, R... rest);
template <class K, class V, class KO, class VO, class... R> std::pair<KO, VO> __host__ __device__ reduce_by_key(K first, K last, V values, KO keys_out, VO values_out, R... rest);
template <class K, class V, class KO, class VO, class... R> std::pair<KO, VO> __host__ __device__ reduce_by_key(const detail::policy &, K first, K last, V values, KO keys_out, VO values_out, R... rest);
template <class K, class V, class... R> std::pair<K, V> __host__ __device__ unique_by_key(K first, K last, V values, R... rest);
template <class K, class V, class... R> std::pair<K, V> __host__ __device__ unique_by_key(const detail::policy &, K first, K last, V values, R... rest);
template <class It, class... R> std::pair<It, It> __host__ __device__ minmax_element(It first, It last, R... rest);
template <class It> ptrdiff_t distance(It first, It last) { return last - first; }
template <class It, class N> void advance(It &it, N n) { it += n; }
template <class It> It next(It it, ptrdiff_t n = 1) { return it + n; }
#undef CUDA_LSP_GIVES_ITERATOR
#undef CUDA_LSP_GIVES
#undef CUDA_LSP_GIVES_VALUE
}  // namespace thrust
#include <cuda_lsp/show_macros.h>
