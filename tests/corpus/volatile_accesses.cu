// Volatile scalar accesses count as relaxed atomics: they order nothing and do not race with each other.

// The old way to end a reduction in one warp. Not ordered, so not recommended; but no two plain accesses meet.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void last_warp_volatile(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    volatile int *v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
  }
  if (t == 0) out[0] = s[0];
}

// One side is volatile, the other plain.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void volatile_and_plain(int *out) {
  __shared__ int s[64];
  volatile int *v = s;
  int t = threadIdx.x;
  v[t] = t;  // expect: data-race intra-block with +1
  out[t] = s[63 - t];
}

// A flag that all threads may set and read.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void volatile_flag(const int *in, volatile int *found, int *out) {  // expect: race-free
  int t = threadIdx.x;
  if (in[t] == 7) *found = 1;
  if (*found == 0) out[t] = t;
}

// The same flag without volatile.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void plain_flag(const int *in, int *found, int *out) {
  int t = threadIdx.x;
  if (in[t] == 7) *found = 1;  // expect: possible-data-race with +1; possible-data-race with self
  if (*found == 0) out[t] = t;
}

// A barrier orders volatile accesses too; that it is needed for the result is no reason to call it needless.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void volatile_with_barrier(const int *in, int *out) {  // expect: race-free
  __shared__ volatile int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[63 - t];
}

// A volatile flag orders nothing: the data behind it is plain and may be read before it is there.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void volatile_counter_and_plain_data(volatile int *ready, int *data, int *out) {
  int t = threadIdx.x;
  if (t == 0) {
    data[0] = 5;  // expect: possible-data-race intra-block with +3
    *ready = 1;
  }
  if (*ready == 1) out[t] = data[0];
}
