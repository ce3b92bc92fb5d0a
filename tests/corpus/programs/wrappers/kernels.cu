// Launched by `extern "C"` functions that other files call, some through inline functions of a header.
#include "kernels.h"

__global__ void fill_rows(float *data, int rows, int stride) {  // expect: race-free
  int c = threadIdx.x, r = blockIdx.x;
  if (c < stride && r < rows) data[r * stride + c] = 0.0f;
}

__global__ void fill_rows_short(float *data, int rows, int stride) {
  int c = threadIdx.x, r = blockIdx.x;
  if (c <= stride && r < rows) data[r * stride + c] = c;  // expect: data-race inter-block with self
}

__global__ void fill_unbounded(float *data, int rows, int stride) {  // expect: race-free
  int c = threadIdx.x, r = blockIdx.x;
  data[r * stride + c] = c;
}

__global__ void add(float *data, const float *more, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) data[i] += more[i + 1];
}

__global__ void add_over(float *data, const float *more, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) data[i] += more[i + 1];  // expect: data-race with self
}

extern "C" {
void cuda_fill(int grid, int block, float *data, int rows, int stride) {
  fill_rows<<<grid, block>>>(data, rows, stride);
  fill_unbounded<<<grid, block>>>(data, rows, stride);
}
void cuda_fill_short(int grid, int block, float *data, int rows, int stride) {
  fill_rows_short<<<grid, block>>>(data, rows, stride);
}
void cuda_sum(float *data, const float *more, int n) { add<<<(n + 255) / 256, 256>>>(data, more, n); }
void cuda_sum_over(float *data, const float *more, int n) { add_over<<<(n + 255) / 256, 256>>>(data, more, n); }
}
