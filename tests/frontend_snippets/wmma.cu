// Matrix fragments.
#include <mma.h>
using namespace nvcuda;
__global__ void multiply(const half *a, const half *b, float *c, int n) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc, old;
  wmma::fill_fragment(acc, 0.0f);
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, a + k, n);
    wmma::load_matrix_sync(fb, b + k, n);
    wmma::mma_sync(acc, fa, fb, acc);
  }
  wmma::load_matrix_sync(old, c, n, wmma::mem_row_major);
  for (int i = 0; i < acc.num_elements; i++) acc.x[i] += old.x[i];
  wmma::store_matrix_sync(c, acc, n, wmma::mem_row_major);
  wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> t;
  wmma::load_matrix_sync(t, c, 16);
  t.x[0] = wmma::__float_to_tf32(t.x[0]);
}
