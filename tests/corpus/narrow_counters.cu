// Variables that wrap around beside the counter of their loop, and choices inside of one way
// of a choice.

__device__ int same(int i) { return i; }
__device__ int behind(int i) { return 63 - i; }

// cuda-lsp: launch grid=(1) block=(64) mode=1
__global__ void counted_on_the_other_way(int *a, int mode) {
  int k = 0;
  int (*f)(int) = mode ? same : (k++ ? same : same);
  a[f(threadIdx.x) * k] = threadIdx.x;  // expect: data-race intra-block with self
}

// cuda-lsp: launch grid=(1) block=(64) mode=1
__global__ void waits_on_the_other_way(int *a, int mode) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  int (*f)(int) = mode ? same : (__syncthreads_or(mode) ? same : same);
  a[f(threadIdx.x)] = s[63 - threadIdx.x];  // expect: data-race intra-block with -2
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void some_choose_again(int *a) {
  int (*f)(int) = threadIdx.x < 5 ? same : (__syncthreads_or(1) ? same : same);  // expect: barrier-divergence
  a[f(threadIdx.x)] = 1;
}

// cuda-lsp: launch grid=(1) block=(64) mode=1
__global__ void barrier_behind_is_not_reached(int *a, int mode) {  // expect: race-free
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int (*f)(int) = mode ? same : (__syncthreads_or(mode) ? same : same);
  a[f(threadIdx.x)] = s[63 - threadIdx.x];
}

// cuda-lsp: launch grid=(1) block=(64) mode=0
__global__ void store_of_the_other_way(int *a, int mode) {  // expect: race-free
  int (*f)(int) = mode ? ((a[5] = threadIdx.x) > 3 ? same : behind) : same;
  a[64+f(threadIdx.x)] = 1;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void byte_beside_the_counter(int *a) {
  unsigned char p = 0;
  for (int j = 0; j < 300; ++j, ++p)
    if (j % 60 == threadIdx.x) a[p] = j;  // expect: data-race intra-block with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void large_steps(int *a) {
  unsigned p = 0;
  for (int j = 0; j < 40; ++j, p += 0x61C88647u)
    if (j == threadIdx.x) a[p >> 28] = j;  // expect: data-race intra-block with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void byte_at_a_barrier(int *a) {
  unsigned char p = 0;
  for (int j = 0; j < 300; ++j, ++p)
    if (p == 0 && j > 0 && threadIdx.x < 5) __syncthreads();  // expect: barrier-divergence
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void byte_in_a_ring(const float *in, float *out) {
  __shared__ float s[3][64];
  int t = threadIdx.x; unsigned char b = 254; float sum = 0;
  for (int j = 0; j < 4; ++j) {
    s[b % 3][t] = in[j * 64 + t];  // expect: data-race intra-block with +2
    __syncthreads();
    sum += s[b % 3][63 - t];
    b++;
  }
  out[t] = sum;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void byte_in_steps_of_64(float *out) {
  int t = threadIdx.x; unsigned char p = 0;
  for (int j = 0; j < 9; ++j) { out[p + (t + j) % 64] = j; p += 64; }  // expect: data-race intra-block with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void byte_as_index(float *out) {
  unsigned char p = 0;
  for (int j = 0; j < 300; ++j) { out[p] = j; p++; }  // expect: data-race intra-block with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void comes_back_to_its_own(float *out, int n) {  // expect: race-free
  unsigned short p = 0; int t = threadIdx.x;
  for (int j = 0; j < n; ++j) { out[p + (t + j) % 64] = j; p += 64; }
}

// Once past its limit, 1 becomes 2^32 - 1 and goes on: thread 17 meets thread 1.
// cuda-lsp: launch grid=(1) block=(18) n=2
__global__ void falls_past_zero(unsigned *out, int n) {
  unsigned i = threadIdx.x;
  for (int r = 0; r < n; ++r) {
    if (i > 0) i -= 2;
  }
  if (threadIdx.x % 16 == 1) out[i & 15] = threadIdx.x;  // expect: data-race intra-warp with self
}

// By one it stops at zero: each of the threads is at another place.
// cuda-lsp: launch grid=(1) block=(18) n=2
__global__ void falls_to_zero(unsigned *out, int n) {  // expect: race-free
  unsigned i = threadIdx.x;
  for (int r = 0; r < n; ++r) {
    if (i > 0) i -= 1;
  }
  if (threadIdx.x > 2) out[i] = threadIdx.x;
}
