// Sizes of 64 bits whose grids are computed from them, and indices of 32: the grid may be anything that 32 bits of the
// quotient are, and the stride is the grid's own size all the same.
#include <cuda_runtime.h>
#include <torch/extension.h>

#include <algorithm>
#include <cstdint>

__global__ void of_long(float *a, long n) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] = 1;
}

__global__ void of_size(float *a, size_t n) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] = i;
}

__global__ void narrowed(float *a, int n) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] = i;
}

__global__ void any_block(float *a, long n) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] = i;
}

__global__ void of_tensor(float *a, int64_t n) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] = i;
}

__global__ void capped(float *a, int64_t n) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] = i;
}

__global__ void counted_in_unsigned(float *a, size_t n) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] = i;
}

// The stride is a block where it should be the grid.
__global__ void strides_by_block(float *a, long n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) a[i] = blockIdx.x;  // expect: data-race inter-block with self
}

// The same, but what meets has the same place in its block.
__global__ void strides_by_block_alike(float *a, long n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) a[i] = threadIdx.x;  // expect: benign-race inter-block with self
}

// Two threads to a cell.
__global__ void shares_cells(float *a, size_t n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    a[i / 2] = i;  // expect: data-race with self
}

void launch_all(float *a, long n, size_t size, int threads, torch::Tensor x) {
  of_long<<<(n + 255) / 256, 256>>>(a, n);
  of_size<<<(size + 255) / 256, 256>>>(a, size);
  narrowed<<<(n + 255) / 256, 256>>>(a, n);
  any_block<<<(n + threads - 1) / threads, threads>>>(a, n);
  const int64_t count = x.numel();
  of_tensor<<<(count + 127) / 128, 128>>>(x.data_ptr<float>(), count);
  capped<<<std::min((count + 127) / 128, (int64_t)65535), 128>>>(x.data_ptr<float>(), count);
  unsigned blocks = (size + 255) / 256;
  counted_in_unsigned<<<blocks, 256>>>(a, size);
  strides_by_block_alike<<<(n + 255) / 256, 256>>>(a, n);
  strides_by_block<<<(n + 255) / 256, 256>>>(a, n);
  shares_cells<<<(size + 255) / 256, 256>>>(a, size);
}

// A plane of rows, each index a `size_t`: nothing of it wraps around.
__global__ void planes(float *out, int nx, int ny, int nz) {  // expect: race-free
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  size_t plane = (size_t)nx * ny, at = (size_t)y * nx + x;
  if (x < nx && y < ny)
    for (int z = 0; z < nz; ++z) out[at + z * plane] = x;
}

// The planes overlap in a row.
__global__ void planes_too_near(float *out, int nx, int ny, int nz) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  size_t plane = (size_t)nx * (ny - 1), at = (size_t)y * nx + x;
  if (x < nx && y < ny)
    for (int z = 0; z < nz; ++z) out[at + z * plane] = y;  // expect: data-race intra-block with self
}

void all_planes(float *out, int nx, int ny, int nz) {
  dim3 block(32, 16), grid((nx + 31) / 32, (ny + 15) / 16);
  planes<<<grid, block>>>(out, nx, ny, nz);
  planes_too_near<<<grid, block>>>(out, nx, ny, nz);
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void rows_of_size(float *out, size_t width) {  // expect: race-free
  size_t row = blockIdx.x, column = threadIdx.x;
  if (column < width) out[row * width + column] = row + 100.0f * column;
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void rows_shorter_than_the_block(float *out, size_t width) {
  size_t row = blockIdx.x, column = threadIdx.x;
  out[row * width + column] = row + 100.0f * column;  // expect: data-race inter-block with self
}

// What a hash makes of large products counts exactly.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void hashed_place(float *out, long n, unsigned long k) {
  unsigned long h = (threadIdx.x + 1 + blockIdx.x * 64) * k;
  long i = (long)(h * 3) % n;
  out[i < 0 ? -i : i] = threadIdx.x + 100.0f * blockIdx.x;  // expect: data-race intra-block with self
}
