// Subtracts from each row of a matrix its mean: one block per row adds up in shared memory, then every element is moved.
//
// There is a bug in it. `make demo` opens this file in the language server, which finds it and repairs it.

#include <cuda_runtime.h>

#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                   \
  do {                                                                                     \
    cudaError_t status = (call);                                                           \
    if (status != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (0)

constexpr int kThreads = 256;
constexpr int kColumns = 64;

template <int THREADS>
__global__ void row_means(const float *matrix, float *means, int width) {
  __shared__ float part[THREADS];
  const int t = threadIdx.x;
  const float *row = matrix + static_cast<size_t>(blockIdx.x) * width;

  float sum = 0.0f;
  for (int x = t; x < width; x += THREADS) {
    sum += row[x];
  }
  part[t] = sum;
  for (int stride = THREADS / 2; stride > 0; stride /= 2) {
    if (t < stride) part[t] += part[t + stride];
    __syncthreads();
  }
  if (t == 0) means[blockIdx.x] = part[0] / width;
}

// Nothing in the kernel keeps x below the width: without the host's assertion, rows would run into each other.
__global__ void subtract_means(float *matrix, const float *means, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  matrix[y * width + x] -= means[y];
}

void center_rows(float *matrix, int width, int height) {
  assert(width % kColumns == 0);
  float *means = nullptr;
  CUDA_CHECK(cudaMalloc(&means, height * sizeof(float)));
  row_means<kThreads><<<height, kThreads>>>(matrix, means, width);
  const dim3 grid((width + kColumns - 1) / kColumns, height);
  subtract_means<<<grid, kColumns>>>(matrix, means, width);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaFree(means));
}

int main(int argc, char **argv) {
  const int width = argc > 1 ? std::atoi(argv[1]) : 1024;
  const int height = argc > 2 ? std::atoi(argv[2]) : 100;
  std::vector<float> host(static_cast<size_t>(width) * height);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 17);

  float *matrix = nullptr;
  CUDA_CHECK(cudaMalloc(&matrix, host.size() * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(matrix, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
  center_rows(matrix, width, height);
  CUDA_CHECK(cudaMemcpy(host.data(), matrix, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(matrix));

  for (int y = 0; y < height; ++y) {
    double sum = 0.0;
    for (int x = 0; x < width; ++x) sum += host[static_cast<size_t>(y) * width + x];
    if (std::fabs(sum) > 1e-2 * width) {
      std::printf("row %d is off by %g\n", y, sum / width);
      return 1;
    }
  }
  std::puts("every row has mean 0");
  return 0;
}
