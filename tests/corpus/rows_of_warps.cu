// Which threads are of one warp, where rows of the block fill warps and how many rows there are is not known.

// A row of a sparse matrix for each warp: how often the loop goes round is read by row.
__global__ void row_by_warp(int rows, const int *begin, const float *value, float *out) {
  extern __shared__ float part[];
  int base = threadIdx.y << 5;
  int row = blockDim.y * blockIdx.x + threadIdx.y;
  if (row < rows) {
    int last = begin[row + 1];
    float sum = 0;
    for (int at = begin[row]; at < last; at += 32) {
      part[base + threadIdx.x] = at + threadIdx.x < last ? value[at + threadIdx.x] : 0;
      __syncwarp();
      for (int i = 0; i < 32; i++) sum += part[base + i];
      __syncwarp();
    }
    if (threadIdx.x == 0) out[row] = sum;
  }
  // expect: race-free
}

// Two rows of the matrix for each warp.
__global__ void two_rows_by_warp(int rows, const int *begin, const float *value, float *out) {
  extern __shared__ float part[];
  int base = threadIdx.y << 4;
  int row = blockDim.y * blockIdx.x + threadIdx.y;
  if (row < rows) {
    int last = begin[row + 1];
    float sum = 0;
    for (int at = begin[row]; at < last; at += 16) {
      part[base + threadIdx.x] = at + threadIdx.x < last ? value[at + threadIdx.x] : 0;
      __syncwarp();  // expect: barrier-divergence
      for (int i = 0; i < 16; i++) sum += part[base + i];
      __syncwarp();  // expect: barrier-divergence
    }
    if (threadIdx.x == 0) out[row] = sum;
  }
}

// Rows of two warps: their first halves meet each other, and not the second ones.
__global__ void halves(int *out) {
  __shared__ int s[512];
  int row = threadIdx.y * 64;
  s[row + threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[row + threadIdx.x] = s[row + (threadIdx.x ^ 31)];
  // expect: race-free
}

__global__ void across_halves(int *out) {
  __shared__ int s[512];
  int row = threadIdx.y * 64;
  s[row + threadIdx.x] = threadIdx.x;  // expect: data-race with +2
  __syncwarp();
  out[row + threadIdx.x] = s[row + (threadIdx.x ^ 32)];
}

// Four rows to a warp, in two layers.
__global__ void layers(int *out) {
  __shared__ int s[256];
  int own = threadIdx.x + 8 * threadIdx.y + 32 * threadIdx.z;
  s[own] = own;
  __syncwarp();
  out[own] = s[threadIdx.x + 8 * (threadIdx.y ^ 3) + 32 * threadIdx.z];
  // expect: race-free
}

__global__ void across_layers(int *out) {
  __shared__ int s[256];
  int own = threadIdx.x + 8 * threadIdx.y + 32 * threadIdx.z;
  s[own] = own;  // expect: data-race with +2
  __syncwarp();
  out[own] = s[threadIdx.x + 8 * threadIdx.y + 32 * (threadIdx.z ^ 1)];
}

// A launch of no threads.
__global__ void nobody(int *out) {
  extern __shared__ int s[];
  int own = threadIdx.x + 16 * threadIdx.y;
  s[own] = own;
  __syncwarp();
  out[own] = s[own ^ 1];
  // expect: race-free
}

void launch(int tile, int rows, const int *begin, const float *value, float *out, int *numbers) {
  row_by_warp<<<(rows + tile - 1) / tile, dim3(32, tile), 32 * tile * sizeof(float)>>>(rows, begin, value, out);
  two_rows_by_warp<<<(rows + tile - 1) / tile, dim3(16, tile), 16 * tile * sizeof(float)>>>(rows, begin, value, out);
  halves<<<1, dim3(64, 8)>>>(numbers);
  across_halves<<<1, dim3(64, 8)>>>(numbers);
  layers<<<1, dim3(8, 4, 8)>>>(numbers);
  across_layers<<<1, dim3(8, 4, 8)>>>(numbers);
  nobody<<<1, dim3(16, 0)>>>(numbers);
}

// The host asks the device for the size of a warp.
__global__ void asked_size(float *out, int n) {  // expect: race-free
  int warp = threadIdx.x / warpSize, lane = threadIdx.x % warpSize;
  int row = blockIdx.x * (blockDim.x / warpSize) + warp;
  if (row < n) out[row * warpSize + lane] = lane * 0.5f + row;
}

void launch_asked_size(float *out, int n) {
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  for (int threads = device.warpSize; threads <= 1024; threads *= 2)
    asked_size<<<(n * device.warpSize + threads - 1) / threads, threads>>>(out, n);
  int size = 0;
  cudaDeviceGetAttribute(&size, cudaDevAttrWarpSize, 0);
  asked_size<<<(n + 3) / 4, 4 * size>>>(out, n);
}

// Any other number of threads may leave a part of a warp, and two blocks one row.
__global__ void asked_number(float *out, int n) {
  int warp = threadIdx.x / warpSize, lane = threadIdx.x % warpSize;
  int row = blockIdx.x * (blockDim.x / warpSize) + warp;
  if (row < n) out[row * warpSize + lane] = row + blockIdx.x;  // expect: data-race inter-block with self
}

void launch_asked_number(float *out, int n) {
  int processors = 0;
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
  asked_number<<<n, processors>>>(out, n);
}

// The program has put another number there.
__global__ void changed_size(float *out, int n) {
  int warp = threadIdx.x / warpSize, lane = threadIdx.x % warpSize;
  int row = blockIdx.x * (blockDim.x / warpSize) + warp;
  if (row < n) out[row * warpSize + lane] = row + blockIdx.x;  // expect: data-race inter-block with self
}

void launch_changed_size(float *out, int n, int m) {
  cudaDeviceProp device;
  cudaGetDeviceProperties(&device, 0);
  device.warpSize = m;
  changed_size<<<n, device.warpSize>>>(out, n);
}

// In one of several.
__global__ void changed_in_one(float *out, int n) {
  int warp = threadIdx.x / warpSize, lane = threadIdx.x % warpSize;
  int row = blockIdx.x * (blockDim.x / warpSize) + warp;
  if (row < n) out[row * warpSize + lane] = row + blockIdx.x;  // expect: data-race inter-block with self
}

void launch_changed_in_one(float *out, int n, int m) {
  cudaDeviceProp devices[2];
  for (int i = 0; i < 2; ++i) cudaGetDeviceProperties(&devices[i], i);
  devices[m & 1].warpSize = m;
  changed_in_one<<<n, devices[0].warpSize>>>(out, n);
}
