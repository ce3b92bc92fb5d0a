// Counts bytes, with one table of counters per block.
#include <cuda_runtime.h>

constexpr int kBins = 256;

__global__ void histogram(const unsigned char *bytes, unsigned *counts, int n) {
  __shared__ unsigned bins[kBins];
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    bins[bytes[i]]++;
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

void launch_histogram(const unsigned char *bytes, unsigned *counts, int n) {
  histogram<<<64, kBins>>>(bytes, counts, n);
}
