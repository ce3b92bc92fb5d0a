// c10::irange
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp_torch.h>
namespace c10 {
template <class T> struct cuda_lsp_counter { T at; T operator*() const { return at; } cuda_lsp_counter &operator++() { ++at; return *this; } bool operator!=(cuda_lsp_counter b) const { return at != b.at; } };
template <class T> struct cuda_lsp_range { T first, last; cuda_lsp_counter<T> begin() const { return {first}; } cuda_lsp_counter<T> end() const { return {last}; } };
template <class T> cuda_lsp_range<T> irange(T last) { return {T(0), last}; }
template <class T, class U> cuda_lsp_range<U> irange(T first, U last) { return {U(first), last}; }
}  // namespace c10
#include <cuda_lsp/show_macros.h>
