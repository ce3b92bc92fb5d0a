// nvcuda::wmma: a fragment is registers; loading one reads its rows, storing one writes them.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_lsp/collectives.h>

#pragma clang force_cuda_host_device begin
namespace nvcuda {
namespace wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
struct u4;
struct s4;
struct b1;
}  // namespace precision
namespace experimental {
namespace precision = nvcuda::wmma::precision;
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental
template <class T> struct __cuda_lsp_element { using type = T; static constexpr unsigned bits = sizeof(T) * 8; };
template <> struct __cuda_lsp_element<precision::tf32> { using type = float; static constexpr unsigned bits = 32; };
template <> struct __cuda_lsp_element<precision::u4> { using type = unsigned; static constexpr unsigned bits = 4; };
template <> struct __cuda_lsp_element<precision::s4> { using type = int; static constexpr unsigned bits = 4; };
template <> struct __cuda_lsp_element<precision::b1> { using type = unsigned; static constexpr unsigned bits = 1; };
template <class Use, int M, int N, int K> struct __cuda_lsp_shape { static constexpr int rows = M, columns = N; };
template <int M, int N, int K> struct __cuda_lsp_shape<matrix_a, M, N, K> { static constexpr int rows = M, columns = K; };
template <int M, int N, int K> struct __cuda_lsp_shape<matrix_b, M, N, K> { static constexpr int rows = K, columns = N; };
template <class Use, int M, int N, int K, class T, class Layout = void> class fragment {
public:
  using element_type = typename __cuda_lsp_element<T>::type;
  using storage_element_type = element_type;
  static constexpr int rows = __cuda_lsp_shape<Use, M, N, K>::rows, columns = __cuda_lsp_shape<Use, M, N, K>::columns;
  static constexpr int num_elements = rows * columns / 32 > 0 ? rows * columns / 32 : 1;
  static constexpr int num_storage_elements = num_elements;
  element_type x[num_elements];
};
// How many lines of memory a fragment covers in a layout, and the bytes of each. Which lane moves which line is not said.
template <class T> constexpr size_t __cuda_lsp_line_bytes(int elements) { return size_t(elements) * __cuda_lsp_element<T>::bits / 8; }
template <class T, class P> void __cuda_lsp_read_lines(const P *from, unsigned stride, int lines, int elements) {
  if (__cuda_lsp_lane() == __cuda_lsp_some_rank())
    for (int line = 0; line < lines; ++line) __cuda_lsp_read_bytes(from + (size_t)line * stride, __cuda_lsp_line_bytes<T>(elements));
}
template <class T, class P> void __cuda_lsp_write_lines(P *to, unsigned stride, int lines, int elements) {
  if (__cuda_lsp_lane() == __cuda_lsp_some_rank())
    for (int line = 0; line < lines; ++line) __cuda_lsp_write_bytes(to + (size_t)line * stride, __cuda_lsp_line_bytes<T>(elements));
}
template <class T> T __cuda_lsp_matrix_value();
template <class Use, int M, int N, int K, class T, class P> void load_matrix_sync(fragment<Use, M, N, K, T, row_major> &to, const P *from, unsigned stride) {
  __cuda_lsp_read_lines<T>(from, stride, to.rows, to.columns);
  to.x[0] = __cuda_lsp_matrix_value<typename fragment<Use, M, N, K, T, row_major>::element_type>();
}
template <class Use, int M, int N, int K, class T, class P> void load_matrix_sync(fragment<Use, M, N, K, T, col_major> &to, const P *from, unsigned stride) {
  __cuda_lsp_read_lines<T>(from, stride, to.columns, to.rows);
  to.x[0] = __cuda_lsp_matrix_value<typename fragment<Use, M, N, K, T, col_major>::element_type>();
}
template <int M, int N, int K, class T, class P> void load_matrix_sync(fragment<accumulator, M, N, K, T> &to, const P *from, unsigned stride, layout_t layout) {
  if (layout == mem_row_major) __cuda_lsp_read_lines<T>(from, stride, M, N);
  else __cuda_lsp_read_lines<T>(from, stride, N, M);
  to.x[0] = __cuda_lsp_matrix_value<T>();
}
template <int M, int N, int K, class T, class P> void store_matrix_sync(P *to, const fragment<accumulator, M, N, K, T> &from, unsigned stride, layout_t layout) {
  if (layout == mem_row_major) __cuda_lsp_write_lines<T>(to, stride, M, N);
  else __cuda_lsp_write_lines<T>(to, stride, N, M);
}
template <class Use, int M, int N, int K, class T, class L, class V> void fill_fragment(fragment<Use, M, N, K, T, L> &to, const V &value) {
  for (int i = 0; i < to.num_elements; ++i) to.x[i] = typename fragment<Use, M, N, K, T, L>::element_type(value);
}
template <int M, int N, int K, class D, class A, class LA, class B, class LB, class C>
void mma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, A, LA> &, const fragment<matrix_b, M, N, K, B, LB> &, const fragment<accumulator, M, N, K, C> &, bool = false) {
  d.x[0] = __cuda_lsp_matrix_value<D>();
}
template <int M, int N, int K, class D, class A, class LA, class B, class LB, class C>
void bmma_sync(fragment<accumulator, M, N, K, D> &d, const fragment<matrix_a, M, N, K, A, LA> &, const fragment<matrix_b, M, N, K, B, LB> &, const fragment<accumulator, M, N, K, C> &,
               experimental::bmmaBitOp = experimental::bmmaBitOpXOR, experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
  d.x[0] = __cuda_lsp_matrix_value<D>();
}

}  // namespace wmma
}  // namespace nvcuda
#pragma clang force_cuda_host_device end

#pragma clang force_cuda_host_device begin
namespace nvcuda { namespace wmma { float __float_to_tf32(float value); } }
using nvcuda::wmma::__float_to_tf32;
#pragma clang force_cuda_host_device end
#include <cuda_lsp/show_macros.h>
