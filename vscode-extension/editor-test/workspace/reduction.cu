// Adds up the rows of a matrix, one block per row.
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__global__ void sum_rows(const float *matrix, float *sums, int width) {
  __shared__ float part[kThreads];
  const int t = threadIdx.x;

  float sum = 0.0f;
  for (int x = t; x < width; x += kThreads) {
    sum += matrix[blockIdx.x * width + x];
  }
  part[t] = sum;
  for (int stride = kThreads / 2; stride > 0; stride /= 2) {
    if (t < stride) part[t] += part[t + stride];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = part[0];
}

void launch_sum_rows(const float *matrix, float *sums, int width, int height) {
  sum_rows<<<height, kThreads>>>(matrix, sums, width);
}
