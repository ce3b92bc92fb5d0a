// Exchanges along bits of the thread number: butterflies, bitonic networks, all-to-all patterns.

// Everyone gets the maximum; each step reads the partner's value of the step before.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void all_maximum(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 32; d > 0; d >>= 1) {
    int v = max(s[t], s[t ^ d]);
    __syncthreads();
    s[t] = v;
    __syncthreads();
  }
  out[t] = s[t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void all_maximum_one_barrier(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 32; d > 0; d >>= 1) {
    int v = max(s[t], s[t ^ d]);  // expect: data-race intra-block with +1, fix: yes
    s[t] = v;
    __syncthreads();
  }
  out[t] = s[t];
}

// The lower thread of each pair exchanges both values.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void bitonic_sort(int *a) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  for (int k = 2; k <= 64; k <<= 1) {
    for (int j = k >> 1; j > 0; j >>= 1) {
      int p = t ^ j;
      if (p > t) {
        int x = s[t], y = s[p];
        if ((x > y) == ((t & k) == 0)) {
          s[t] = y;
          s[p] = x;
        }
      }
      __syncthreads();
    }
  }
  a[t] = s[t];
}

// The guard that leaves each pair to one thread is missing: both exchange, each reading what the other writes.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void pairs_without_owner(int *a) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  int p = t ^ 1;
  int y = s[p];  // expect: data-race intra-warp with +1, fix: yes
  s[t] = y;
  a[t] = s[t];
}

// Half as many threads as elements: thread t owns the pair that differs in bit j.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void bitonic_half_the_threads(int *a) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = a[t];
  s[t + 32] = a[t + 32];
  for (int k = 2; k <= 64; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      int i = 2 * t - (t & (j - 1));
      int x = s[i], y = s[i + j];
      if ((x > y) == ((i & k) == 0)) {
        s[i] = y;
        s[i + j] = x;
      }
    }
  }
  __syncthreads();
  a[t] = s[t];
  a[t + 32] = s[t + 32];
}

// The barrier is missing; pairs of one step overlap pairs of the next.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void pairs_without_barriers(int *a) {
  int t = threadIdx.x;
  for (int j = 16; j > 0; j /= 2) {
    int i = 2 * t - (t & (j - 1));
    a[i] += j;  // expect: data-race with self, fix: yes
  }
}

// One step of a global bitonic sort per launch.
__global__ void bitonic_step(float *a, int j, int k) {  // expect: race-free
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned p = i ^ j;
  if (p > i) {
    float x = a[i], y = a[p];
    bool up = (i & k) == 0;
    if ((x > y) == up) {
      a[i] = y;
      a[p] = x;
    }
  }
}

void bitonic(float *a, int n) {
  for (int k = 2; k <= n; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) bitonic_step<<<n / 256, 256>>>(a, j, k);
}

// Odd-even transposition: the phases touch different pairs.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void odd_even_sort(int *a) {  // expect: race-free
  __shared__ int s[66];
  int t = threadIdx.x;
  s[2 * t] = a[2 * t];
  s[2 * t + 1] = a[2 * t + 1];
  for (int phase = 0; phase < 64; ++phase) {
    __syncthreads();
    int i = 2 * t + (phase & 1);
    if (i < 63 && s[i] > s[i + 1]) {
      int v = s[i];
      s[i] = s[i + 1];
      s[i + 1] = v;
    }
  }
  __syncthreads();
  a[t] = s[t];
  a[t + 32] = s[t + 32];
}

// The exclusive or of row and column puts each element in its own bank and its own cell.
// cuda-lsp: launch grid=(1) block=(16,16)
__global__ void swizzled_tile(const int *in, int *out) {  // expect: race-free
  __shared__ int s[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  s[y][x ^ y] = in[y * 16 + x];
  __syncthreads();
  out[x * 16 + y] = s[y][x ^ y] + s[x][y ^ x];
}

// With an or in place of the exclusive or the cells coincide.
// cuda-lsp: launch grid=(1) block=(16,16)
__global__ void swizzled_with_or(const int *in, int *out) {
  __shared__ int s[16][16];
  int x = threadIdx.x, y = threadIdx.y;
  s[y][x | y] = in[y * 16 + x];  // expect: data-race with self
  __syncthreads();
  out[x * 16 + y] = s[x][y];
}

// A butterfly of a Fourier transform: each thread updates the two cells of its pair in place.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void fourier_stages(float2 *a) {  // expect: race-free
  __shared__ float2 s[64];
  int t = threadIdx.x;
  s[t] = a[t];
  s[t + 32] = a[t + 32];
  for (int half = 1; half < 64; half *= 2) {
    __syncthreads();
    int i = (t / half) * 2 * half + t % half;
    float2 u = s[i], v = s[i + half];
    s[i] = make_float2(u.x + v.x, u.y + v.y);
    s[i + half] = make_float2(u.x - v.x, u.y - v.y);
  }
  __syncthreads();
  a[2 * t] = s[2 * t];
  a[2 * t + 1] = s[2 * t + 1];
}

// The stages of a butterfly inside one warp with warp barriers.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void warp_butterfly(int *a) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncwarp();
  for (int d = 16; d > 0; d >>= 1) {
    int v = s[t] + s[t ^ d];
    __syncwarp();
    s[t] = v;
    __syncwarp();
  }
  a[t] = s[t];
}

// The first distance leaves the warp.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void warp_butterfly_too_wide(int *a) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = a[t];  // expect: data-race intra-block with +3
  __syncwarp();
  for (int d = 32; d > 0; d >>= 1) {
    int v = s[t] + s[t ^ d];  // expect: data-race intra-block with +2
    __syncwarp();
    s[t] = v;
    __syncwarp();
  }
  a[t] = s[t];
}

// Partners by xor where the distance is one; else all write one cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void distance_too_large(int *out, int k) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[k >= 0 && k < 6 ? t ^ (1 << k) : 0] = t;  // expect: data-race with self
  __syncthreads();
  out[t] = s[t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void distance_known(int *out, int k) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[k >= 0 && k < 6 ? t ^ (1 << k) : t] = t;
  __syncthreads();
  out[t] = s[t];
}

// A place by xor that is asked for in the round before the first, too, in which it is none.
// cuda-lsp: launch grid=(1) block=(8)
__global__ void set_where_they_differ(int *out) {
  __shared__ int s[128];
  int t = threadIdx.x, at = t % 7;
  for (unsigned i = 1; i < 2; i += 2) {
    if ((i ^ t) >= 1) at = 5;
    s[at] = t;  // expect: data-race with self; data-race with +2
  }
  out[t] = s[t];
}
