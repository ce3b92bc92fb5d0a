// Sizes that host code keeps in 64 bits and kernels take in 32: what is left of one is a size like any other, as long as
// everybody takes the same.

#include <cuda_runtime.h>

__global__ void rows_of_what_is_left(unsigned *out, int rows, int columns) {  // expect: race-free
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= columns || row >= rows) return;
  out[row * columns + column] = threadIdx.x;
}

__global__ void rows_that_reach_one_further(unsigned *out, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column > columns || row >= rows) return;
  out[row * columns + column] = threadIdx.x;  // expect: data-race inter-block with self
}

__global__ void rows_of_both(unsigned *out, int rows, short columns, int all) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= all || row >= rows) return;
  out[row * columns + column] = threadIdx.x;  // expect: data-race inter-block with self
}

__global__ void packed_rows(unsigned *out, int rows, int columns) {  // expect: race-free
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= columns || row >= rows || row % 3) return;
  out[row * columns + column] = threadIdx.x;
  out[(row + 1) * columns + column] = threadIdx.x;
  out[(row + 2) * columns + column] = threadIdx.x;
}

__global__ void packed_rows_two_apart(unsigned *out, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= columns || row >= rows || row % 2) return;
  out[row * columns + column] = row;  // expect: data-race inter-block with +2
  out[(row + 1) * columns + column] = row;
  out[(row + 2) * columns + column] = row;
}

void sized(unsigned *out, long rows_in_all, long columns_in_all) {
  int rows = rows_in_all, columns = columns_in_all;
  dim3 threads(32, 1), blocks((columns + 31) / 32, rows);
  rows_of_what_is_left<<<blocks, threads>>>(out, rows, columns);
  rows_that_reach_one_further<<<blocks, threads>>>(out, rows, columns);
  rows_of_both<<<blocks, threads>>>(out, rows, columns, columns);
  packed_rows<<<blocks, threads>>>(out, rows, columns);
  packed_rows_two_apart<<<blocks, threads>>>(out, rows, columns);
}
