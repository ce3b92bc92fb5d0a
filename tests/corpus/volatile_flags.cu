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
