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

// What is left of an array for a block, cut off to an int that it fits: nothing is lost by that.
__global__ void what_is_left(unsigned char *out, size_t n) {  // expect: race-free
  for (size_t i = (size_t)blockIdx.x * 1024; i < n; i += gridDim.x * 256 * 4) {
    int valid = min(n - i, (size_t)1024);
    unsigned char *mine = out + i + threadIdx.x * 4;
    for (int j = 0; j < 4; ++j)
      if (j + (int)threadIdx.x * 4 < valid) mine[j] = j;
  }
}

__global__ void what_is_left_with_short_strides(unsigned char *out, size_t n) {
  for (size_t i = (size_t)blockIdx.x * 1024; i < n; i += gridDim.x * 256 * 2) {
    int valid = min(n - i, (size_t)1024);
    unsigned char *mine = out + i + threadIdx.x * 4;
    for (int j = 0; j < 4; ++j)
      if (j + (int)threadIdx.x * 4 < valid) mine[j] = j + blockIdx.x;  // expect: data-race with self
  }
}

void launch_what_is_left(unsigned char *out, size_t n, int blocks) {
  what_is_left<<<blocks, 256>>>(out, n);
  what_is_left_with_short_strides<<<blocks, 256>>>(out, n);
}
