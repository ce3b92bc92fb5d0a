// A matrix transpose through a tile in shared memory. The tile has one column more than it needs, which keeps the threads
// of a warp in different memory banks when they read a column of it.

#include <cuda_runtime.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

constexpr int kTile = 32;
constexpr int kRows = 8;

// Each thread moves kTile / kRows elements. The barrier keeps the reads of a column behind the writes of the rows.
__global__ void transpose(const float *in, float *out, int width, int height) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x;
  int y = blockIdx.y * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  }
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int j = 0; j < kTile; j += kRows) {
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
  }
}

// In place, for square matrices: the thread below the diagonal exchanges the pair. With `!=` in place of `<` both threads
// of a pair would exchange it.
__global__ void transpose_in_place(float *a, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < y && y < n) {
    const float v = a[y * n + x];
    a[y * n + x] = a[x * n + y];
    a[x * n + y] = v;
  }
}

void launch_transpose(const float *in, float *out, int width, int height) {
  if (width <= 0 || height <= 0) throw std::invalid_argument("empty matrix");
  const dim3 grid((width + kTile - 1) / kTile, (height + kTile - 1) / kTile);
  transpose<<<grid, dim3(kTile, kRows)>>>(in, out, width, height);
}

void launch_transpose_in_place(float *a, int n) {
  const dim3 block(16, 16);
  const dim3 grid((n + block.x - 1) / block.x, (n + block.y - 1) / block.y);
  transpose_in_place<<<grid, block>>>(a, n);
}

int main() {
  const int width = 1000, height = 700;
  std::vector<float> host(width * height);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  float *in, *out;
  cudaMalloc(&in, host.size() * sizeof(float));
  cudaMalloc(&out, host.size() * sizeof(float));
  cudaMemcpy(in, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice);
  launch_transpose(in, out, width, height);
  std::vector<float> result(host.size());
  cudaMemcpy(result.data(), out, host.size() * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      if (result[x * height + y] != host[y * width + x]) return 1;
  std::puts("transposed");
  return 0;
}
