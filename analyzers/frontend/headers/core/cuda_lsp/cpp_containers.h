// What every header of the C++ library has: vectors, strings, smart pointers. Signatures only, and every iterator is a
// pointer. What host facts are read from (sizes, elements, strings) has its real types. Names that programs use for things
// of their own (`stack`, `list`, `complex`) stand in headers of their own: `using namespace std` would make them ambiguous.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/math.h>

namespace std {
template <class T> class function;
template <class C> struct char_traits {
  using char_type = C;
  static size_t length(const C *text);
  static int compare(const C *a, const C *b, size_t n);
};

struct input_iterator_tag {};
struct output_iterator_tag {};
struct forward_iterator_tag : input_iterator_tag {};
struct bidirectional_iterator_tag : forward_iterator_tag {};
struct random_access_iterator_tag : bidirectional_iterator_tag {};
template <class It> struct iterator_traits {
  using value_type = typename It::value_type;
  using difference_type = typename It::difference_type;
  using pointer = typename It::pointer;
  using reference = typename It::reference;
  using iterator_category = typename It::iterator_category;
};
template <class T> struct iterator_traits<T *> {
  using value_type = remove_cv_t<T>;
  using difference_type = ptrdiff_t;
  using pointer = T *;
  using reference = T &;
  using iterator_category = random_access_iterator_tag;
};
template <class Category, class T, class Distance = ptrdiff_t, class Pointer = T *, class Reference = T &> struct iterator {
  using value_type = T;
  using difference_type = Distance;
  using pointer = Pointer;
  using reference = Reference;
  using iterator_category = Category;
};
#pragma clang force_cuda_host_device begin
template <class It> struct reverse_iterator {
  using value_type = typename iterator_traits<It>::value_type;
  using difference_type = typename iterator_traits<It>::difference_type;
  using pointer = typename iterator_traits<It>::pointer;
  using reference = typename iterator_traits<It>::reference;
  using iterator_category = typename iterator_traits<It>::iterator_category;
  It at_;
  constexpr reverse_iterator() : at_() {}
  constexpr explicit reverse_iterator(It it) : at_(it) {}
  constexpr It base() const { return at_; }
  constexpr reference operator*() const { return *(at_ - 1); }
  constexpr It operator->() const { return at_ - 1; }
  constexpr reverse_iterator &operator++() { --at_; return *this; }
  constexpr reverse_iterator operator++(int) { return reverse_iterator(at_--); }
  constexpr reverse_iterator &operator--() { ++at_; return *this; }
  constexpr reverse_iterator operator--(int) { return reverse_iterator(at_++); }
  constexpr reverse_iterator operator+(difference_type n) const { return reverse_iterator(at_ - n); }
  constexpr reverse_iterator operator-(difference_type n) const { return reverse_iterator(at_ + n); }
  constexpr reverse_iterator &operator+=(difference_type n) { at_ -= n; return *this; }
  constexpr reverse_iterator &operator-=(difference_type n) { at_ += n; return *this; }
  constexpr difference_type operator-(const reverse_iterator &other) const { return other.at_ - at_; }
  constexpr reference operator[](difference_type n) const { return *(at_ - n - 1); }
  constexpr bool operator==(const reverse_iterator &other) const { return at_ == other.at_; }
  constexpr bool operator!=(const reverse_iterator &other) const { return at_ != other.at_; }
  constexpr bool operator<(const reverse_iterator &other) const { return other.at_ < at_; }
};
template <class It> constexpr reverse_iterator<It> make_reverse_iterator(It it) { return reverse_iterator<It>(it); }
template <class It> constexpr It next(It it, ptrdiff_t n = 1) { return it + n; }
template <class It> constexpr It prev(It it, ptrdiff_t n = 1) { return it - n; }
template <class It> constexpr ptrdiff_t distance(It first, It last) { return last - first; }
template <class It, class N> constexpr void advance(It &it, N n) { it += n; }
#pragma clang force_cuda_host_device end

template <class C> auto begin(C &c) -> decltype(c.begin());
template <class C> auto begin(const C &c) -> decltype(c.begin());
template <class C> auto end(C &c) -> decltype(c.end());
template <class C> auto end(const C &c) -> decltype(c.end());
template <class C> auto cbegin(const C &c) -> decltype(c.begin());
template <class C> auto cend(const C &c) -> decltype(c.end());
template <class C> auto rbegin(C &c) -> decltype(c.rbegin());
template <class C> auto rend(C &c) -> decltype(c.rend());
template <class T, size_t N> constexpr T *begin(T (&a)[N]) { return a; }
template <class T, size_t N> constexpr T *end(T (&a)[N]) { return a + N; }
template <class T, size_t N> constexpr size_t size(const T (&)[N]) { return N; }
template <class C> constexpr auto size(const C &c) -> decltype(c.size()) { return c.size(); }
template <class C> constexpr auto empty(const C &c) -> decltype(c.empty()) { return c.empty(); }
template <class C> auto data(C &c) -> decltype(c.data()) { return c.data(); }
template <class T, size_t N> constexpr T *data(T (&a)[N]) { return a; }

template <class T> struct allocator {
  using value_type = T;
  using size_type = size_t;
  using difference_type = ptrdiff_t;
  using pointer = T *;
  using const_pointer = const T *;
  using reference = T &;
  using const_reference = const T &;
  template <class U> struct rebind { using other = allocator<U>; };
  allocator() noexcept;
  template <class U> allocator(const allocator<U> &) noexcept;
  T *allocate(size_t n);
  void deallocate(T *p, size_t n);
};
template <class A> struct allocator_traits {
  using value_type = typename A::value_type;
  using pointer = value_type *;
  template <class U> using rebind_alloc = typename A::template rebind<U>::other;
};
template <class P> struct pointer_traits { using pointer = P; using element_type = remove_pointer_t<P>; };
template <class T> struct less;
template <class T> struct hash;
template <class T> struct equal_to;

#define CUDA_LSP_CONTAINER(T)                                                        \
  using value_type = T;                                                              \
  using size_type = size_t;                                                          \
  using difference_type = ptrdiff_t;                                                 \
  using reference = T &;                                                             \
  using const_reference = const T &;                                                 \
  using pointer = T *;                                                               \
  using const_pointer = const T *;                                                   \
  using iterator = T *;                                                              \
  using const_iterator = const T *;                                                  \
  using reverse_iterator = std::reverse_iterator<T *>;                               \
  using const_reverse_iterator = std::reverse_iterator<const T *>;                   \
  iterator begin() noexcept;                                                         \
  const_iterator begin() const noexcept;                                             \
  iterator end() noexcept;                                                           \
  const_iterator end() const noexcept;                                               \
  const_iterator cbegin() const noexcept;                                            \
  const_iterator cend() const noexcept;                                              \
  reverse_iterator rbegin() noexcept;                                                \
  reverse_iterator rend() noexcept;                                                  \
  const_reverse_iterator rbegin() const noexcept;                                    \
  const_reverse_iterator rend() const noexcept;                                      \
  size_t size() const noexcept;                                                      \
  size_t max_size() const noexcept;                                                  \
  bool empty() const noexcept;                                                       \
  void clear() noexcept;

#define CUDA_LSP_COMPARED(parameters, ...)                                           \
  template <parameters> bool operator==(const __VA_ARGS__ &a, const __VA_ARGS__ &b); \
  template <parameters> bool operator!=(const __VA_ARGS__ &a, const __VA_ARGS__ &b); \
  template <parameters> bool operator<(const __VA_ARGS__ &a, const __VA_ARGS__ &b);  \
  template <parameters> bool operator>(const __VA_ARGS__ &a, const __VA_ARGS__ &b);  \
  template <parameters> bool operator<=(const __VA_ARGS__ &a, const __VA_ARGS__ &b); \
  template <parameters> bool operator>=(const __VA_ARGS__ &a, const __VA_ARGS__ &b);
#define CUDA_LSP_AND ,

#define CUDA_LSP_SEQUENCE(name, T)                                                   \
  CUDA_LSP_CONTAINER(T)                                                              \
  name();                                                                            \
  explicit name(size_t n);                                                           \
  name(size_t n, const T &value);                                                    \
  name(initializer_list<T> values);                                                  \
  template <class It, class = enable_if_t<!is_integral_v<It>>> name(It first, It last); \
  name &operator=(initializer_list<T> values);                                       \
  T &front();                                                                        \
  const T &front() const;                                                            \
  T &back();                                                                         \
  const T &back() const;                                                             \
  void push_back(const T &value);                                                    \
  void push_back(T &&value);                                                         \
  void pop_back();                                                                   \
  template <class... P> T &emplace_back(P &&...arguments);                           \
  template <class... P> T *emplace(const T *at, P &&...arguments);                   \
  T *insert(const T *at, const T &value);                                            \
  T *insert(const T *at, size_t n, const T &value);                                  \
  T *insert(const T *at, initializer_list<T> values);                                \
  template <class It, class = enable_if_t<!is_integral_v<It>>> T *insert(const T *at, It first, It last); \
  T *erase(const T *at);                                                             \
  T *erase(const T *first, const T *last);                                           \
  void assign(size_t n, const T &value);                                             \
  void assign(initializer_list<T> values);                                           \
  template <class It, class = enable_if_t<!is_integral_v<It>>> void assign(It first, It last); \
  void resize(size_t n);                                                             \
  void resize(size_t n, const T &value);                                             \
  void swap(name &other);
#define CUDA_LSP_INDEXED(T)                                                          \
  T &operator[](size_t i);                                                           \
  const T &operator[](size_t i) const;                                               \
  T &at(size_t i);                                                                   \
  const T &at(size_t i) const;

template <class T, class A = allocator<T>> class vector {
public:
  CUDA_LSP_SEQUENCE(vector, T)
  CUDA_LSP_INDEXED(T)
  using allocator_type = A;
  T *data() noexcept;
  const T *data() const noexcept;
  void reserve(size_t n);
  size_t capacity() const noexcept;
  void shrink_to_fit();
};
template <class It> vector(It, It) -> vector<typename iterator_traits<It>::value_type>;
CUDA_LSP_COMPARED(class T CUDA_LSP_AND class A, vector<T CUDA_LSP_AND A>)
template <class C, class Tr = char_traits<C>> class basic_string_view;
template <class C, class Tr = char_traits<C>, class A = allocator<C>> class basic_string {
public:
  CUDA_LSP_CONTAINER(C)
  CUDA_LSP_INDEXED(C)
  static constexpr size_t npos = size_t(-1);
  basic_string();
  basic_string(const C *text);
  basic_string(const C *text, size_t n);
  basic_string(size_t n, C c);
  basic_string(initializer_list<C> values);
  basic_string(const basic_string &other);
  basic_string(const basic_string &other, size_t from, size_t n = npos);
  basic_string(basic_string &&other) noexcept;
  explicit basic_string(const basic_string_view<C, Tr> &text);
  template <class It, class = enable_if_t<!is_integral_v<It>>> basic_string(It first, It last);
  basic_string &operator=(const basic_string &other);
  basic_string &operator=(basic_string &&other) noexcept;
  basic_string &operator=(const C *text);
  basic_string &operator=(C c);
  const C *c_str() const noexcept;
  C *data() noexcept;
  const C *data() const noexcept;
  size_t length() const noexcept;
  void resize(size_t n);
  void resize(size_t n, C c);
  void reserve(size_t n = 0);
  size_t capacity() const;
  C &front();
  C &back();
  const C &front() const;
  const C &back() const;
  basic_string &operator+=(const basic_string &other);
  basic_string &operator+=(const C *text);
  basic_string &operator+=(C c);
  template <class... P> basic_string &append(P &&...arguments);
  template <class... P> basic_string &assign(P &&...arguments);
  template <class... P> basic_string &insert(size_t at, P &&...arguments);
  template <class... P> basic_string &replace(size_t at, size_t n, P &&...arguments);
  basic_string &erase(size_t at = 0, size_t n = npos);
  C *erase(const C *at);
  C *erase(const C *first, const C *last);
  void push_back(C c);
  void pop_back();
  basic_string substr(size_t at = 0, size_t n = npos) const;
  int compare(const basic_string &other) const;
  int compare(size_t at, size_t n, const basic_string &other) const;
  int compare(const C *text) const;
  size_t copy(C *to, size_t n, size_t at = 0) const;
  bool starts_with(const basic_string &other) const;
  bool ends_with(const basic_string &other) const;
  void swap(basic_string &other);
  size_t find(const basic_string &other, size_t at = 0) const;
  size_t find(const C *text, size_t at = 0) const;
  size_t find(C c, size_t at = 0) const;
  size_t rfind(const basic_string &other, size_t at = npos) const;
  size_t rfind(C c, size_t at = npos) const;
  size_t find_first_of(const basic_string &set, size_t at = 0) const;
  size_t find_first_of(C c, size_t at = 0) const;
  size_t find_last_of(const basic_string &set, size_t at = npos) const;
  size_t find_last_of(C c, size_t at = npos) const;
  size_t find_first_not_of(const basic_string &set, size_t at = 0) const;
  size_t find_last_not_of(const basic_string &set, size_t at = npos) const;
};
using string = basic_string<char>;
using wstring = basic_string<wchar_t>;
template <class C, class Tr> class basic_string_view {
public:
  using value_type = C;
  using const_iterator = const C *;
  using iterator = const C *;
  static constexpr size_t npos = size_t(-1);
  constexpr basic_string_view() noexcept {}
  constexpr basic_string_view(const C *) {}
  constexpr basic_string_view(const C *, size_t) {}
  basic_string_view(const basic_string<C, Tr> &);
  const C *data() const;
  size_t size() const;
  size_t length() const;
  bool empty() const;
  const C *begin() const;
  const C *end() const;
  const C &operator[](size_t i) const;
  basic_string_view substr(size_t at = 0, size_t n = npos) const;
  size_t find(basic_string_view text, size_t at = 0) const;
  size_t find(C c, size_t at = 0) const;
  size_t rfind(C c, size_t at = npos) const;
  bool starts_with(basic_string_view text) const;
  bool ends_with(basic_string_view text) const;
  void remove_prefix(size_t n);
  void remove_suffix(size_t n);
};
using string_view = basic_string_view<char>;
template <class C> basic_string<C> operator+(const basic_string<C> &a, const basic_string<C> &b);
template <class C> basic_string<C> operator+(const basic_string<C> &a, const C *b);
template <class C> basic_string<C> operator+(const C *a, const basic_string<C> &b);
template <class C> basic_string<C> operator+(const basic_string<C> &a, C b);
template <class C> basic_string<C> operator+(C a, const basic_string<C> &b);
CUDA_LSP_COMPARED(class C, basic_string<C>)
template <class C> bool operator==(const basic_string<C> &a, const C *b);
template <class C> bool operator==(const C *a, const basic_string<C> &b);
template <class C> bool operator!=(const basic_string<C> &a, const C *b);
template <class C> bool operator!=(const C *a, const basic_string<C> &b);
bool operator==(string_view a, string_view b);
bool operator!=(string_view a, string_view b);
bool operator<(string_view a, string_view b);
#define CUDA_LSP_TO_STRING(T) string to_string(T value); wstring to_wstring(T value);
CUDA_LSP_TO_STRING(int) CUDA_LSP_TO_STRING(unsigned) CUDA_LSP_TO_STRING(long) CUDA_LSP_TO_STRING(unsigned long) CUDA_LSP_TO_STRING(long long)
CUDA_LSP_TO_STRING(unsigned long long) CUDA_LSP_TO_STRING(float) CUDA_LSP_TO_STRING(double) CUDA_LSP_TO_STRING(long double)
#undef CUDA_LSP_TO_STRING
int stoi(const string &text, size_t *end = nullptr, int base = 10);
long stol(const string &text, size_t *end = nullptr, int base = 10);
long long stoll(const string &text, size_t *end = nullptr, int base = 10);
unsigned long stoul(const string &text, size_t *end = nullptr, int base = 10);
unsigned long long stoull(const string &text, size_t *end = nullptr, int base = 10);
float stof(const string &text, size_t *end = nullptr);
double stod(const string &text, size_t *end = nullptr);
long double stold(const string &text, size_t *end = nullptr);
inline namespace literals {
inline namespace string_literals { string operator""s(const char *text, size_t n); }
inline namespace string_view_literals { string_view operator""sv(const char *text, size_t n); }
}  // namespace literals

class exception {
public:
  exception() noexcept;
  virtual ~exception();
  virtual const char *what() const noexcept;
};
#define CUDA_LSP_EXCEPTION(name, base)      \
  class name : public base {                \
  public:                                   \
    explicit name(const string &what);      \
    explicit name(const char *what);        \
  };
class bad_alloc : public exception {};
class bad_cast : public exception {};
class bad_array_new_length : public bad_alloc {};
CUDA_LSP_EXCEPTION(logic_error, exception)
CUDA_LSP_EXCEPTION(runtime_error, exception)
CUDA_LSP_EXCEPTION(invalid_argument, logic_error)
CUDA_LSP_EXCEPTION(domain_error, logic_error)
CUDA_LSP_EXCEPTION(length_error, logic_error)
CUDA_LSP_EXCEPTION(out_of_range, logic_error)
CUDA_LSP_EXCEPTION(range_error, runtime_error)
CUDA_LSP_EXCEPTION(overflow_error, runtime_error)
CUDA_LSP_EXCEPTION(underflow_error, runtime_error)
#undef CUDA_LSP_EXCEPTION
class exception_ptr {
public:
  explicit operator bool() const;
};
exception_ptr current_exception() noexcept;
[[noreturn]] void rethrow_exception(exception_ptr);
[[noreturn]] void terminate() noexcept;
class error_code { public: int value() const; string message() const; explicit operator bool() const; };
class system_error : public runtime_error { public: system_error(error_code code, const string &what); error_code code() const; };

template <class T> struct default_delete { void operator()(T *p) const; };
template <class T> struct default_delete<T[]> { void operator()(T *p) const; };
template <class T, class D = default_delete<T>> class unique_ptr {
public:
  using pointer = T *;
  using element_type = T;
  constexpr unique_ptr() noexcept {}
  constexpr unique_ptr(nullptr_t) noexcept {}
  explicit unique_ptr(T *p) noexcept;
  unique_ptr(T *p, D deleter) noexcept;
  unique_ptr(unique_ptr &&other) noexcept;
  template <class U, class E> unique_ptr(unique_ptr<U, E> &&other) noexcept;
  ~unique_ptr();
  unique_ptr &operator=(unique_ptr &&other) noexcept;
  unique_ptr &operator=(nullptr_t) noexcept;
  T *get() const noexcept;
  add_lvalue_reference_t<T> operator*() const;
  T *operator->() const noexcept;
  explicit operator bool() const noexcept;
  T *release() noexcept;
  void reset(T *p = nullptr) noexcept;
  D &get_deleter();
  void swap(unique_ptr &other);
};
template <class T, class D> class unique_ptr<T[], D> {
public:
  constexpr unique_ptr() noexcept {}
  constexpr unique_ptr(nullptr_t) noexcept {}
  explicit unique_ptr(T *p) noexcept;
  unique_ptr(T *p, D deleter) noexcept;
  unique_ptr(unique_ptr &&other) noexcept;
  ~unique_ptr();
  unique_ptr &operator=(unique_ptr &&other) noexcept;
  T *get() const noexcept;
  T &operator[](size_t i) const;
  explicit operator bool() const noexcept;
  T *release() noexcept;
  void reset(T *p = nullptr) noexcept;
};
template <class T> class weak_ptr;
template <class T> class shared_ptr {
public:
  using element_type = remove_extent_t<T>;
  constexpr shared_ptr() noexcept {}
  constexpr shared_ptr(nullptr_t) noexcept {}
  template <class U> explicit shared_ptr(U *p);
  template <class U, class D> shared_ptr(U *p, D deleter);
  shared_ptr(const shared_ptr &other) noexcept;
  shared_ptr(shared_ptr &&other) noexcept;
  template <class U> shared_ptr(const shared_ptr<U> &other) noexcept;
  template <class U> explicit shared_ptr(const weak_ptr<U> &other);
  template <class U, class D> shared_ptr(unique_ptr<U, D> &&other);
  ~shared_ptr();
  shared_ptr &operator=(const shared_ptr &other) noexcept;
  template <class U> shared_ptr &operator=(const shared_ptr<U> &other) noexcept;
  element_type *get() const noexcept;
  add_lvalue_reference_t<element_type> operator*() const noexcept;
  element_type *operator->() const noexcept;
  add_lvalue_reference_t<element_type> operator[](ptrdiff_t i) const;
  explicit operator bool() const noexcept;
  void reset() noexcept;
  template <class U> void reset(U *p);
  template <class U, class D> void reset(U *p, D deleter);
  long use_count() const noexcept;
  void swap(shared_ptr &other);
};
template <class T> class weak_ptr {
public:
  weak_ptr();
  template <class U> weak_ptr(const shared_ptr<U> &other);
  shared_ptr<T> lock() const;
  bool expired() const;
  void reset();
};
template <class T> class enable_shared_from_this {
public:
  shared_ptr<T> shared_from_this();
  weak_ptr<T> weak_from_this();
};
template <class T, class... A> enable_if_t<!is_array_v<T>, unique_ptr<T>> make_unique(A &&...arguments);
template <class T> enable_if_t<is_array_v<T>, unique_ptr<T>> make_unique(size_t n);
template <class T, class... A> shared_ptr<T> make_shared(A &&...arguments);
template <class T, class U> shared_ptr<T> static_pointer_cast(const shared_ptr<U> &p);
template <class T, class U> shared_ptr<T> dynamic_pointer_cast(const shared_ptr<U> &p);
template <class T, class D, class U, class E> bool operator==(const unique_ptr<T, D> &a, const unique_ptr<U, E> &b);
template <class T, class D> bool operator==(const unique_ptr<T, D> &a, nullptr_t);
template <class T, class D> bool operator!=(const unique_ptr<T, D> &a, nullptr_t);
template <class T, class U> bool operator==(const shared_ptr<T> &a, const shared_ptr<U> &b);
template <class T, class U> bool operator!=(const shared_ptr<T> &a, const shared_ptr<U> &b);
template <class T> bool operator==(const shared_ptr<T> &a, nullptr_t);
template <class T> bool operator!=(const shared_ptr<T> &a, nullptr_t);
template <class It, class T> void uninitialized_fill(It first, It last, const T &value);
template <class It, class Out> Out uninitialized_copy(It first, It last, Out out);
void *align(size_t alignment, size_t size, void *&pointer, size_t &space);
}  // namespace std
#include <cuda_lsp/show_macros.h>
