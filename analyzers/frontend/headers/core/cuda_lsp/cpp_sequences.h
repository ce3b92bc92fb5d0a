// <deque>, <list>, <forward_list>.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_functional.h>

namespace std {
template <class T, class A = allocator<T>> class deque {
public:
  CUDA_LSP_SEQUENCE(deque, T)
  CUDA_LSP_INDEXED(T)
  void push_front(const T &value);
  template <class... P> T &emplace_front(P &&...arguments);
  void pop_front();
};
template <class T, class A = allocator<T>> class list {
public:
  CUDA_LSP_SEQUENCE(list, T)
  void push_front(const T &value);
  template <class... P> T &emplace_front(P &&...arguments);
  void pop_front();
  void remove(const T &value);
  template <class F> void remove_if(F predicate);
  void sort();
  template <class F> void sort(F compare);
  void reverse();
  void splice(const T *at, list &other);
};
template <class T, class A = allocator<T>> class forward_list {
public:
  CUDA_LSP_SEQUENCE(forward_list, T)
  void push_front(const T &value);
  void pop_front();
};
}  // namespace std
#include <cuda_lsp/show_macros.h>
