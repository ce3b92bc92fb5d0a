// The algorithms that come with every container.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_containers.h>

namespace std {
template <class It, class It2, class... A> bool equal(It first, It last, It2 first2, A... rest);
template <class It, class It2, class... A> pair<It, It2> mismatch(It first, It last, It2 first2, A... rest);
template <class It, class It2, class... A> bool lexicographical_compare(It first, It last, It2 first2, It2 last2, A... rest);
template <class It, class Out> Out copy(It first, It last, Out out);
template <class It, class Out> Out copy_backward(It first, It last, Out out);
template <class It, class Out> Out move(It first, It last, Out out);
template <class It, class T> void fill(It first, It last, const T &value);
template <class It, class N, class T> It fill_n(It first, N n, const T &value);
template <class It, class T, class... A> It lower_bound(It first, It last, const T &value, A... rest);
template <class It, class It2> It2 swap_ranges(It first, It last, It2 first2);
template <class It, class It2> void iter_swap(It a, It2 b);
}  // namespace std
#include <cuda_lsp/show_macros.h>
