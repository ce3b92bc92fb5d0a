// Scales the rows of a matrix by factors that a block reads once.
#include <cuda_runtime.h>

constexpr int kRows = 8;
constexpr int kColumns = 32;

__global__ void scale_rows(float *matrix, const float *factors) {
  __shared__ float factor[kRows];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  if (x == 0) factor[y] = factors[blockIdx.x * kRows + y];
  __syncthreads();

  const int row = blockIdx.x * kRows + y;
  matrix[row * kColumns + x] *= factor[y];
  __syncthreads();
}

void launch_scale_rows(float *matrix, const float *factors, int blocks) {
  scale_rows<<<blocks, dim3(kColumns, kRows)>>>(matrix, factors);
}
