// <algorithm> and <numeric>: signatures.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_lsp/cpp_functional.h>

namespace std {
#define CUDA_LSP_VALUE(It) typename iterator_traits<It>::value_type
// An execution policy may come first in most of them; a variadic tail keeps the overloads few.
#define CUDA_LSP_IT template <class It, class... A>
CUDA_LSP_IT void sort(It first, It last, A... rest);
CUDA_LSP_IT void stable_sort(It first, It last, A... rest);
CUDA_LSP_IT void partial_sort(It first, It middle, It last, A... rest);
CUDA_LSP_IT void nth_element(It first, It middle, It last, A... rest);
CUDA_LSP_IT bool is_sorted(It first, It last, A... rest);
CUDA_LSP_IT void reverse(It first, It last);
CUDA_LSP_IT It rotate(It first, It middle, It last);
CUDA_LSP_IT It unique(It first, It last, A... rest);
CUDA_LSP_IT It max_element(It first, It last, A... rest);
CUDA_LSP_IT It min_element(It first, It last, A... rest);
CUDA_LSP_IT pair<It, It> minmax_element(It first, It last, A... rest);
CUDA_LSP_IT It adjacent_find(It first, It last, A... rest);
CUDA_LSP_IT bool next_permutation(It first, It last, A... rest);
CUDA_LSP_IT bool prev_permutation(It first, It last, A... rest);
CUDA_LSP_IT void make_heap(It first, It last, A... rest);
CUDA_LSP_IT void push_heap(It first, It last, A... rest);
CUDA_LSP_IT void pop_heap(It first, It last, A... rest);
CUDA_LSP_IT void sort_heap(It first, It last, A... rest);
CUDA_LSP_IT void inplace_merge(It first, It middle, It last, A... rest);
#undef CUDA_LSP_IT
template <class It, class F> F for_each(It first, It last, F f);
template <class It, class N, class F> It for_each_n(It first, N n, F f);
template <class It, class T> It find(It first, It last, const T &value);
template <class It, class F> It find_if(It first, It last, F f);
template <class It, class F> It find_if_not(It first, It last, F f);
template <class It, class It2> It search(It first, It last, It2 first2, It2 last2);
template <class It, class T> ptrdiff_t count(It first, It last, const T &value);
template <class It, class F> ptrdiff_t count_if(It first, It last, F f);
template <class It, class F> bool all_of(It first, It last, F f);
template <class It, class F> bool any_of(It first, It last, F f);
template <class It, class F> bool none_of(It first, It last, F f);
template <class It, class Out, class F> Out copy_if(It first, It last, Out out, F f);
template <class It, class N, class Out> Out copy_n(It first, N n, Out out);
template <class It, class Out> Out reverse_copy(It first, It last, Out out);
template <class It, class Out, class... A> Out unique_copy(It first, It last, Out out, A... rest);
template <class It, class Out, class T> Out remove_copy(It first, It last, Out out, const T &value);
template <class It, class Out, class F> Out remove_copy_if(It first, It last, Out out, F f);
template <class It, class Out, class N, class G> Out sample(It first, It last, Out out, N n, G &&generator);
template <class It, class F> void generate(It first, It last, F f);
template <class It, class N, class F> It generate_n(It first, N n, F f);
template <class It, class Out, class F> Out transform(It first, It last, Out out, F f);
template <class It, class It2, class Out, class F> Out transform(It first, It last, It2 first2, Out out, F f);
template <class It, class T> void replace(It first, It last, const T &from, const T &to);
template <class It, class F, class T> void replace_if(It first, It last, F f, const T &to);
template <class It, class T> It remove(It first, It last, const T &value);
template <class It, class F> It remove_if(It first, It last, F f);
template <class It, class F> It partition(It first, It last, F f);
template <class It, class F> It stable_partition(It first, It last, F f);
template <class It, class G> void shuffle(It first, It last, G &&generator);
template <class It> void random_shuffle(It first, It last);
template <class It, class T, class... A> It upper_bound(It first, It last, const T &value, A... rest);
template <class It, class T, class... A> pair<It, It> equal_range(It first, It last, const T &value, A... rest);
template <class It, class T, class... A> bool binary_search(It first, It last, const T &value, A... rest);
template <class It, class It2, class Out, class... A> Out merge(It first, It last, It2 first2, It2 last2, Out out, A... rest);
template <class It, class It2, class Out, class... A> Out set_union(It first, It last, It2 first2, It2 last2, Out out, A... rest);
template <class It, class It2, class Out, class... A> Out set_intersection(It first, It last, It2 first2, It2 last2, Out out, A... rest);
template <class It, class It2, class Out, class... A> Out set_difference(It first, It last, It2 first2, It2 last2, Out out, A... rest);

template <class It, class T, class... A> T accumulate(It first, It last, T start, A... rest);
template <class It, class T, class... A> T reduce(It first, It last, T start, A... rest);
template <class It, class It2, class T, class... A> T inner_product(It first, It last, It2 first2, T start, A... rest);
template <class It, class T, class... A> T transform_reduce(It first, It last, T start, A... rest);
template <class It, class Out, class... A> Out partial_sum(It first, It last, Out out, A... rest);
template <class It, class Out, class... A> Out exclusive_scan(It first, It last, Out out, A... rest);
template <class It, class Out, class... A> Out inclusive_scan(It first, It last, Out out, A... rest);
template <class It, class Out, class... A> Out adjacent_difference(It first, It last, Out out, A... rest);
template <class It, class T> void iota(It first, It last, T start);
template <class T, class U> constexpr common_type_t<T, U> gcd(T a, U b) {
  common_type_t<T, U> x = a, y = b;
  while (y != 0) { common_type_t<T, U> r = x % y; x = y; y = r; }
  return x;
}
template <class T, class U> constexpr common_type_t<T, U> lcm(T a, U b) { return a / gcd(a, b) * b; }
#undef CUDA_LSP_VALUE

template <class C> struct back_insert_iterator {
  using iterator_category = output_iterator_tag;
  using value_type = void;
  using difference_type = ptrdiff_t;
  using pointer = void;
  using reference = void;
  template <class T> back_insert_iterator &operator=(T &&value);
  back_insert_iterator &operator*();
  back_insert_iterator &operator++();
  back_insert_iterator operator++(int);
};
template <class C> back_insert_iterator<C> back_inserter(C &container);
template <class C> back_insert_iterator<C> front_inserter(C &container);
template <class C, class It> back_insert_iterator<C> inserter(C &container, It at);
template <class It> It make_move_iterator(It it);
namespace execution {
struct cuda_lsp_policy {};
inline constexpr cuda_lsp_policy seq{}, par{}, par_unseq{}, unseq{};
}  // namespace execution
}  // namespace std
#include <cuda_lsp/show_macros.h>
