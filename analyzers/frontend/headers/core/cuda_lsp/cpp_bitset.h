// <bitset>.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_functional.h>

namespace std {
template <size_t N> class bitset {
public:
  struct reference { operator bool() const; reference &operator=(bool); };
  bitset();
  bitset(unsigned long long value);
  bool operator[](size_t i) const;
  reference operator[](size_t i);
  bitset &set();
  bitset &set(size_t i, bool value = true);
  bitset &reset();
  bitset &reset(size_t i);
  bitset &flip();
  bool test(size_t i) const;
  bool any() const;
  bool all() const;
  bool none() const;
  size_t count() const;
  size_t size() const;
  unsigned long to_ulong() const;
  unsigned long long to_ullong() const;
};
}  // namespace std
#include <cuda_lsp/show_macros.h>
