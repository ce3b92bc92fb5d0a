// <map>, <set>, <unordered_map>, <unordered_set>.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_functional.h>

namespace std {
#define CUDA_LSP_SET(name)                                                       \
  CUDA_LSP_CONTAINER(T)                                                          \
  using key_type = T;                                                            \
  name();                                                                        \
  name(initializer_list<T> values);                                              \
  template <class It> name(It first, It last);                                   \
  pair<T *, bool> insert(const T &value);                                        \
  pair<T *, bool> insert(T &&value);                                             \
  void insert(initializer_list<T> values);                                       \
  template <class It> void insert(It first, It last);                            \
  template <class... P> pair<T *, bool> emplace(P &&...arguments);               \
  T *find(const T &value);                                                       \
  const T *find(const T &value) const;                                           \
  size_t count(const T &value) const;                                            \
  bool contains(const T &value) const;                                           \
  size_t erase(const T &value);                                                  \
  T *lower_bound(const T &value) const;                                          \
  T *upper_bound(const T &value) const;                                          \
  void reserve(size_t n);                                                        \
  void swap(name &other);
#define CUDA_LSP_MAP(name)                                                       \
  using cuda_lsp_entry = pair<const K, V>;                                       \
  CUDA_LSP_CONTAINER(cuda_lsp_entry)                                             \
  using key_type = K;                                                            \
  using mapped_type = V;                                                         \
  name();                                                                        \
  name(initializer_list<cuda_lsp_entry> values);                                 \
  template <class It> name(It first, It last);                                   \
  V &operator[](const K &key);                                                   \
  V &at(const K &key);                                                           \
  const V &at(const K &key) const;                                               \
  pair<iterator, bool> insert(const cuda_lsp_entry &value);                      \
  template <class X, class Y> pair<iterator, bool> insert(const pair<X, Y> &value); \
  template <class It> void insert(It first, It last);                            \
  template <class W> pair<iterator, bool> insert_or_assign(const K &key, W &&value); \
  template <class... P> pair<iterator, bool> emplace(P &&...arguments);          \
  template <class... P> pair<iterator, bool> try_emplace(const K &key, P &&...arguments); \
  iterator find(const K &key);                                                   \
  const_iterator find(const K &key) const;                                       \
  size_t count(const K &key) const;                                              \
  bool contains(const K &key) const;                                             \
  size_t erase(const K &key);                                                    \
  iterator erase(const_iterator at);                                             \
  iterator lower_bound(const K &key);                                            \
  iterator upper_bound(const K &key);                                            \
  pair<iterator, iterator> equal_range(const K &key);                            \
  void reserve(size_t n);                                                        \
  void swap(name &other);
template <class T, class F = less<T>, class A = allocator<T>> class set { public: CUDA_LSP_SET(set) };
template <class T, class F = less<T>, class A = allocator<T>> class multiset { public: CUDA_LSP_SET(multiset) };
template <class T, class H = hash<T>, class E = equal_to<T>, class A = allocator<T>> class unordered_set { public: CUDA_LSP_SET(unordered_set) };
template <class T, class H = hash<T>, class E = equal_to<T>, class A = allocator<T>> class unordered_multiset { public: CUDA_LSP_SET(unordered_multiset) };
template <class K, class V, class F = less<K>, class A = allocator<pair<const K, V>>> class map { public: CUDA_LSP_MAP(map) };
template <class K, class V, class F = less<K>, class A = allocator<pair<const K, V>>> class multimap { public: CUDA_LSP_MAP(multimap) };
template <class K, class V, class H = hash<K>, class E = equal_to<K>, class A = allocator<pair<const K, V>>> class unordered_map { public: CUDA_LSP_MAP(unordered_map) };
template <class K, class V, class H = hash<K>, class E = equal_to<K>, class A = allocator<pair<const K, V>>> class unordered_multimap { public: CUDA_LSP_MAP(unordered_multimap) };
CUDA_LSP_COMPARED(class T CUDA_LSP_AND class F CUDA_LSP_AND class A, set<T CUDA_LSP_AND F CUDA_LSP_AND A>)
CUDA_LSP_COMPARED(class K CUDA_LSP_AND class V CUDA_LSP_AND class F CUDA_LSP_AND class A, map<K CUDA_LSP_AND V CUDA_LSP_AND F CUDA_LSP_AND A>)
}  // namespace std
#include <cuda_lsp/show_macros.h>
