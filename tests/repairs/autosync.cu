// Missing barriers of the shapes that AutoSync was measured on: its eight micro benchmarks, the example it gives up on,
// and kernels built like the 18 of its second table. `repair: N` is the number of barriers that the cheapest repair inserts.

#include <cuda_runtime.h>

// --- one race, one barrier

// repair: 1
// cuda-lsp: launch grid=(1) block=(64)
__global__ void straight_line(int *a) {
  int x = a[threadIdx.x + 1];
  x = x + 11;
  a[threadIdx.x] += x;
}

// The barrier belongs between the two conditionals: threads meet neither of them together.
// repair: 1
// cuda-lsp: launch grid=(1) block=(64)
__global__ void between_conditionals(int *a) {
  int x = 0;
  if (threadIdx.x % 2 == 0) {
    x = a[threadIdx.x + 2];
  }
  if (threadIdx.x % 6 == 0) {
    a[threadIdx.x] += x;
  }
}

// Only accesses of one iteration collide.
// repair: 1
// cuda-lsp: launch grid=(1) block=(64)
__global__ void within_an_iteration(int *a, int n) {
  for (int i = 0; i < n; i++) {
    int x = a[i * 65 + threadIdx.x + 1];
    a[i * 65 + threadIdx.x] = x + i;
  }
}

// Only accesses of different iterations collide.
// repair: 1
// cuda-lsp: launch grid=(1) block=(64)
__global__ void across_iterations(int *a, int n) {
  int t = threadIdx.x;
  for (int i = 0; i < n; i++) {
    a[(t + i) % 64] = i;
  }
}

// --- two races

// repair: 1
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_races(int *a, int *b) {
  int t = threadIdx.x;
  int x = a[t + 1];
  int y = b[t + 1];
  a[t] = x;
  b[t] = y;
}

// repair: 1
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_races_in_nested_loops(int *a, int *b, int n) {
  int t = threadIdx.x;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      int x = a[(i * n + j) * 65 + t + 1] + b[(i * n + j) * 65 + t + 1];
      a[(i * n + j) * 65 + t] = x;
      b[(i * n + j) * 65 + t] = x;
    }
  }
}

// repair: 2
// cuda-lsp: launch grid=(1) block=(64)
__global__ void both_in_nested_loops(int *a, int *b, int n) {
  int t = threadIdx.x;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      int x = a[t + 1] + b[t + 1];
      x = x + j;
      a[t] = x;
      b[t] = x + 1;
    }
  }
}

// repair: 2
// cuda-lsp: launch grid=(1) block=(64)
__global__ void both_in_a_loop(int *a, int n) {
  for (int i = 0; i < n; i++) {
    int x = a[threadIdx.x + 1];
    x = x + i;
    a[threadIdx.x] += x;
  }
}

// --- where AutoSync gives up optimality

// The barrier in the middle conditional runs ten times, one beside it twenty times.
// repair: 1 within
// cuda-lsp: launch grid=(1) block=(64)
__global__ void middle_conditional(int *a) {
  int x = 0;
  for (int i = 0; i < 20; i++) {
    if (i < 10 && threadIdx.x % 2 == 0) {
      x = a[i * 100 + threadIdx.x + 2];
    }
    if (i < 10) {
      x = x + 1;  // within
    }
    if (i < 10 && threadIdx.x % 6 == 0) {
      a[i * 100 + threadIdx.x] = x;
    }
  }
}

// --- the shapes of the samples

// Tiles with a halo: main part and borders are loaded, then every thread reads its column.
// repair: 1
// cuda-lsp: launch grid=(12,4) block=(16,8)
__global__ void columns_with_halo(float *out, const float *in, int pitch, int height) {
  __shared__ float tile[16][(8 + 2) * 8 + 1];
  int x = blockIdx.x * 16 + threadIdx.x, y = (blockIdx.y * 8 - 1) * 8 + threadIdx.y;
  for (int i = 1; i < 9; i++) tile[threadIdx.x][threadIdx.y + i * 8] = in[(y + i * 8) * pitch + x];
  tile[threadIdx.x][threadIdx.y] = y >= 0 ? in[y * pitch + x] : 0.0f;
  tile[threadIdx.x][threadIdx.y + 72] = height - y > 72 ? in[(y + 72) * pitch + x] : 0.0f;
  for (int i = 1; i < 9; i++) {
    float sum = 0;
    for (int j = -8; j <= 8; j++) sum += tile[threadIdx.x][threadIdx.y + i * 8 + j];
    if (pitch >= 192 && x < pitch) out[(y + i * 8) * pitch + x] = sum;
  }
}

// repair: 1
// cuda-lsp: launch grid=(4,8) block=(16,4)
__global__ void rows_with_halo(float *out, const float *in) {
  __shared__ float tile[4][(8 + 2) * 16];
  int x = (blockIdx.x * 8 - 1) * 16 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
  for (int i = 1; i < 9; i++) tile[threadIdx.y][threadIdx.x + i * 16] = in[y * 1024 + x + i * 16];
  tile[threadIdx.y][threadIdx.x] = x >= 0 ? in[y * 1024 + x] : 0.0f;
  tile[threadIdx.y][threadIdx.x + 144] = 512 - x > 144 ? in[y * 1024 + x + 144] : 0.0f;
  for (int i = 1; i < 9; i++) {
    float sum = 0;
    for (int j = -8; j <= 8; j++) sum += tile[threadIdx.y][threadIdx.x + i * 16 + j];
    out[y * 1024 + x + i * 16] = sum;
  }
}

// repair: 1
// cuda-lsp: launch grid=(16,16) block=(16,16)
__global__ void transposed(unsigned *out, const unsigned *in, int width, int height) {
  __shared__ unsigned tile[16][17];
  unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  if (x < 256 && y < 256) out[y * 256 + x] = tile[threadIdx.x][threadIdx.y];
}

// The conditional around everything holds for all threads of the launch.
// repair: 1
// cuda-lsp: launch grid=(40,51) block=(8,8) width=320 height=408
__global__ void window_weights(float *out, int width, int height) {
  __shared__ float weights[64];
  int x = blockDim.x * blockIdx.x + threadIdx.x, y = blockDim.y * blockIdx.y + threadIdx.y;
  if (x < width && y < height) {
    weights[threadIdx.y * 8 + threadIdx.x] = x * 0.5f;
    float sum = 0;
    for (int i = 0; i < 64; i++) sum += weights[i];
    out[y * width + x] = sum;
  }
}

// repair: 2
// cuda-lsp: launch grid=(20,10) block=(32,32) wa=320 wb=640
__global__ void tiled_product(float *c, const float *a, const float *b, int wa, int wb) {
  float sum = 0;
  int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  for (int k = 0; k < wa; k += 32) {
    __shared__ float left[32][32], right[32][32];
    left[threadIdx.y][threadIdx.x] = a[row * wa + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * wb + column];
    for (int i = 0; i < 32; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
  }
  c[row * wb + column] = sum;
}

// repair: 1
// cuda-lsp: launch grid=(256) block=(256) count=240
__global__ void merged_histogram(unsigned *out, const unsigned *partial, unsigned count) {
  __shared__ unsigned data[256];
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < count; i += 256) sum += partial[blockIdx.x + i * 256];
  data[threadIdx.x] = sum;
  for (unsigned stride = 128; stride > 0; stride >>= 1) {
    if (threadIdx.x < stride) data[threadIdx.x] += data[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = data[0];
}

// repair: 1
// cuda-lsp: launch grid=(64) block=(256)
__global__ void reduced_by_modulo(int *out, const int *in) {
  __shared__ int s[256];
  unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  for (unsigned d = 1; d < 256; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// repair: 1
// cuda-lsp: launch grid=(64) block=(256)
__global__ void reduced_by_strided_index(int *out, const int *in) {
  __shared__ int s[256];
  unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  for (unsigned d = 1; d < 256; d *= 2) {
    int index = 2 * d * t;
    if (index < 256) s[index] += s[index + d];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// repair: 1
// cuda-lsp: launch grid=(64) block=(256)
__global__ void reduced_by_halves(int *out, const int *in) {
  __shared__ int s[256];
  unsigned t = threadIdx.x;
  int sum = in[blockIdx.x * 512 + t] + in[blockIdx.x * 512 + t + 256];
  s[t] = sum;
  for (unsigned d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] = sum = sum + s[t + d];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// The last warp goes on alone with volatile accesses.
// repair: 3
// cuda-lsp: launch grid=(64) block=(256)
__global__ void reduced_unrolled(int *out, const int *in) {
  __shared__ int s[256];
  unsigned t = threadIdx.x;
  int sum = in[blockIdx.x * 256 + t];
  s[t] = sum;
  if (t < 128) s[t] = sum = sum + s[t + 128];
  if (t < 64) s[t] = sum = sum + s[t + 64];
  if (t < 32) {
    volatile int *v = s;
    v[t] = sum = sum + v[t + 32];
    v[t] = sum = sum + v[t + 16];
    v[t] = sum = sum + v[t + 8];
    v[t] = sum = sum + v[t + 4];
    v[t] = sum = sum + v[t + 2];
    v[t] = sum = sum + v[t + 1];
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// repair: 1
// cuda-lsp: launch grid=(8,16) block=(64)
__global__ void sequence_numbers(float *out, const unsigned *directions, int vectors) {
  __shared__ unsigned v[32];
  directions += 32 * blockIdx.y;
  out += blockIdx.y * 512;
  if (threadIdx.x < 32) v[threadIdx.x] = directions[threadIdx.x];
  int first = blockIdx.x * 64 + threadIdx.x;
  unsigned x = 0;
  for (int k = 0; k < 31; k++) x ^= (first >> k & 1) * v[k];
  out[first] = x * 0.5f;
}

// repair: 2
// cuda-lsp: launch grid=(1) block=(32)
__global__ void summed_by_one_warp(unsigned *clocks, int n) {
  __shared__ unsigned s[32];
  unsigned sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += clocks[i + 1];
  s[threadIdx.x] = sum;
  for (int i = 16; i > 0; i /= 2) {
    if (threadIdx.x < i) s[threadIdx.x] += s[threadIdx.x + i];
  }
  if (threadIdx.x == 1) clocks[0] = s[0];
}

// repair: 1
// cuda-lsp: launch grid=(64) block=(256)
__global__ void updated_uniformly(uint4 *data, const unsigned *sums) {
  __shared__ unsigned carry;
  unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) carry = sums[blockIdx.x];
  uint4 d = data[at];
  d.x += carry;
  d.y += carry;
  d.z += carry;
  d.w += carry;
  data[at] = d;
}

// repair: 1
// cuda-lsp: launch grid=(255) block=(256) length=65536
__global__ void added_uniformly(int *data, const int *sums, int length) {
  __shared__ int carry;
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at > length) return;
  if (threadIdx.x == 0) carry = sums[blockIdx.x];
  data[at] += carry;
}
