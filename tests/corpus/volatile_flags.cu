// Volatile variables in shared memory that barriers keep apart from what is written to them: all threads read the same.

// The threads search together until one has found something.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void search(const int *in, int *out, int n) {  // expect: race-free
  __shared__ volatile int found, at;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) {
    found = 0;
    at = 0;
  }
  __syncthreads();
  while (!found) {
    s[t] = in[at + t];
    __syncthreads();
    if (t > 0 && s[t] != s[t - 1]) found = 1;
    __syncthreads();
    if (t == 0) at = at + 64;
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = s[t];
}

// Without the last barrier the flag of one round may be read when the next one sets it.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void search_too_fast(const int *in, int *out) {
  __shared__ volatile int found;
  int t = threadIdx.x;
  if (t == 0) found = 0;
  __syncthreads();
  for (int i = 0; !found; ++i) {
    if (in[i * 64 + t] > 0) found = 1;
    __syncthreads();  // expect: barrier-divergence
  }
  out[blockIdx.x * 64 + t] = t;
}

// The flag is asked behind a barrier, and set behind the next.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void asked_in_a_branch(const int *in, int *out) {  // expect: race-free
  __shared__ volatile int more;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) more = in[blockIdx.x];
  __syncthreads();
  if (more > 3) {
    s[t] = t;
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[63 - t];
  }
}

// Set before the barrier that the branch has.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void set_meanwhile(const int *in, int *out) {
  __shared__ volatile int more;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 0) more = in[blockIdx.x];
  __syncthreads();
  if (more > 3) {
    s[t] = t;
    if (t == 5) more = 0;
    __syncthreads();  // expect: barrier-divergence
    out[blockIdx.x * 64 + t] = s[63 - t];
  }
}

// The loop is left where the flag is set: all leave it in one round.
// cuda-lsp: launch grid=(4) block=(64) n=8
__global__ void left_together(const int *in, int *out, int n) {  // expect: race-free
  __shared__ volatile int found;
  int t = threadIdx.x, i;
  if (t == 0) found = 0;
  __syncthreads();
  for (i = 0; i < n; ++i) {
    if (in[i * 64 + t] > 0) found = 1;
    __syncthreads();
    if (found) break;
    __syncthreads();
  }
  out[blockIdx.x * 64 + t] = i;
}

// The flag of the next round may be set before all have asked for it.
// cuda-lsp: launch grid=(4) block=(64) n=8
__global__ void left_one_by_one(const int *in, int *out, int n) {
  __shared__ volatile int found;
  int t = threadIdx.x, i;
  if (t == 0) found = 0;
  __syncthreads();
  for (i = 0; i < n; ++i) {
    if (i > 0 && in[i * 64 + t] > 0) found = 1;
    __syncthreads();  // expect: barrier-divergence
    if (found) break;
  }
  out[blockIdx.x * 64 + t] = i;
}

// Each round has a flag, and some rounds have barriers of their own.
// cuda-lsp: launch grid=(4) block=(64) n=8 m=3
__global__ void a_flag_for_each_round(const int *in, int *out, int n, int m) {  // expect: race-free
  __shared__ volatile int found[8];
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 8) found[t] = 0;
  for (int i = 0; i < n; ++i) {
    __syncthreads();
    if (in[i * 64 + t] > 0) found[i & 7] = 1;
    if (i > m) __syncthreads();
    __syncthreads();
    if (found[i & 7]) {
      s[t] = i;
      __syncthreads();
      out[blockIdx.x * 64 + t] = s[63 - t];
      break;
    }
  }
}

// The barrier between what is set and what is asked for is there in some rounds.
// cuda-lsp: launch grid=(4) block=(64) n=8 m=3
__global__ void a_barrier_in_some_rounds(const int *in, int *out, int n, int m) {
  __shared__ volatile int found[8];
  int t = threadIdx.x;
  if (t < 8) found[t] = 0;
  for (int i = 0; i < n; ++i) {
    __syncthreads();  // expect: barrier-divergence
    if (in[i * 64 + t] > t) found[i & 7] = 1;
    if (i > m) __syncthreads();  // expect: barrier-divergence
    if (found[i & 7]) break;
  }
  out[blockIdx.x * 64 + t] = t;
}

// A function that some leave without its barrier does not keep what is behind it apart.
__device__ void waited(int t, int n) {
  if (t >= n) return;
  __syncthreads();  // expect: barrier-divergence
}
// cuda-lsp: launch grid=(4) block=(64) n=8
__global__ void around_a_barrier(const int *in, int *out, int n) {
  __shared__ volatile int found;
  int t = threadIdx.x;
  if (t == 0) found = 0;
  __syncthreads();
  if (in[t] > 0) found = 1;
  waited(t, n);
  if (found) __syncthreads();  // expect: barrier-divergence
  out[blockIdx.x * 64 + t] = t;
}
