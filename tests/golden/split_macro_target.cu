// Macros write cells, and nothing else of the statements.
#define TILE(row, column) tile[(row) * 8 + (column)]
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
// cuda-lsp: launch grid=(1) block=(64)
__global__ void largest(const float *in, float *out) {
  __shared__ float tile[80];
  int t = threadIdx.x, row = t / 8, column = t % 8;
  TILE(row, column) = in[t];
  __syncthreads();
  TILE(row, column) = LARGER(TILE(row, column), TILE(row + 1, column));
  __syncthreads();
  TILE(row, column) += 2 * TILE(row, column + 1);
  out[t] = TILE(row, column);
}
