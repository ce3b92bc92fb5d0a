// A histogram with one copy of the counters per block, merged at the end; then its running sum.

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

constexpr int kBins = 256;
constexpr int kThreads = 256;

// The atomic additions of different blocks go to the same cells, so they must be atomic; the block's own counters are
// cleared before and read after them, each time behind a barrier.
__global__ void histogram(const unsigned char *data, unsigned *counts, int n) {
  __shared__ unsigned local[kBins];
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&local[data[i]], 1u);
  __syncthreads();
  for (int b = threadIdx.x; b < kBins; b += blockDim.x) atomicAdd(&counts[b], local[b]);
}

// One block, one thread per bin. The last barrier orders nothing: nobody touches the arrays afterwards.
__global__ void running_sum(const unsigned *counts, unsigned *sums) {
  __shared__ unsigned s[2][kBins];
  const int t = threadIdx.x;
  int from = 0;
  s[from][t] = counts[t];
  __syncthreads();
  for (int d = 1; d < kBins; d *= 2) {
    const int to = 1 - from;
    s[to][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
    __syncthreads();
    from = to;
  }
  sums[t] = s[from][t];
  __syncthreads();
}

// Every thread looks for the bin of the median and stores it. All of them store the same kind of thing to one cell, but
// not the same value: which bin it is depends on the thread.
__global__ void median_bin(const unsigned *sums, int *bin, unsigned half) {
  const int t = threadIdx.x;
  const unsigned below = t == 0 ? 0 : sums[t - 1];
  if (below <= half && half < sums[t]) {
    *bin = t;
  }
}

int main() {
  const int n = 1 << 20;
  std::vector<unsigned char> host(n);
  for (int i = 0; i < n; ++i) host[i] = static_cast<unsigned char>(i * 2654435761u >> 24);
  unsigned char *data;
  unsigned *counts, *sums;
  int *bin;
  cudaMalloc(&data, n);
  cudaMalloc(&counts, kBins * sizeof(unsigned));
  cudaMalloc(&sums, kBins * sizeof(unsigned));
  cudaMalloc(&bin, sizeof(int));
  cudaMemset(counts, 0, kBins * sizeof(unsigned));
  cudaMemcpy(data, host.data(), n, cudaMemcpyHostToDevice);
  histogram<<<64, kThreads>>>(data, counts, n);
  running_sum<<<1, kBins>>>(counts, sums);
  median_bin<<<1, kBins>>>(sums, bin, n / 2);
  int result = -1;
  cudaMemcpy(&result, bin, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("the median lies in bin %d\n", result);
  cudaFree(data);
  cudaFree(counts);
  cudaFree(sums);
  cudaFree(bin);
  return 0;
}
