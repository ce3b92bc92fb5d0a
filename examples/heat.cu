// Heat in a rod: each block keeps its part with a halo in shared memory and takes several time steps on it.
//
// The second barrier of the time loop is missing: a thread that is ahead writes the new temperature while its neighbour
// still reads the old one.

#include <cuda_runtime.h>

#include <cstdio>
#include <utility>
#include <vector>

constexpr int kBlock = 128;
constexpr int kSteps = 4;

// With every step one cell at each end of the tile becomes invalid, so a tile of kBlock + 2 * kSteps cells gives kBlock.
__global__ void heat(const float *from, float *to, int n, float rate) {
  __shared__ float tile[kBlock + 2 * kSteps];
  const int first = blockIdx.x * kBlock - kSteps;
  for (int c = threadIdx.x; c < kBlock + 2 * kSteps; c += blockDim.x) {
    const int i = min(max(first + c, 0), n - 1);
    tile[c] = from[i];
  }
  __syncthreads();

  const int c = threadIdx.x + kSteps;
  for (int step = 0; step < kSteps; ++step) {
    const float change = tile[c - 1] - 2.0f * tile[c] + tile[c + 1];
    __syncthreads();
    tile[c] += rate * change;
  }

  const int i = first + c;
  if (i < n) {
    to[i] = tile[c];
  }
}

void launch_heat(float *a, float *b, int n, int rounds, float rate) {
  for (int k = 0; k < rounds; ++k) {
    heat<<<(n + kBlock - 1) / kBlock, kBlock>>>(a, b, n, rate);
    std::swap(a, b);
  }
}

int main() {
  const int n = 10000;
  std::vector<float> rod(n, 0.0f);
  rod[n / 2] = 1000.0f;
  float *a, *b;
  cudaMalloc(&a, n * sizeof(float));
  cudaMalloc(&b, n * sizeof(float));
  cudaMemcpy(a, rod.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  launch_heat(a, b, n, 10, 0.2f);
  cudaMemcpy(rod.data(), a, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%.1f\n", rod[n / 2]);
  cudaFree(a);
  cudaFree(b);
  return 0;
}
