// <queue>, <stack>.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_sequences.h>

namespace std {
template <class T, class C = deque<T>> class queue {
public:
  using value_type = T;
  void push(const T &value);
  template <class... P> void emplace(P &&...arguments);
  void pop();
  T &front();
  T &back();
  const T &front() const;
  bool empty() const;
  size_t size() const;
};
template <class T, class C = deque<T>> class stack {
public:
  using value_type = T;
  void push(const T &value);
  template <class... P> void emplace(P &&...arguments);
  void pop();
  T &top();
  const T &top() const;
  bool empty() const;
  size_t size() const;
};
template <class T, class C = vector<T>, class F = less<T>> class priority_queue {
public:
  using value_type = T;
  priority_queue();
  explicit priority_queue(const F &compare);
  void push(const T &value);
  template <class... P> void emplace(P &&...arguments);
  void pop();
  const T &top() const;
  bool empty() const;
  size_t size() const;
};
}  // namespace std
#include <cuda_lsp/show_macros.h>
