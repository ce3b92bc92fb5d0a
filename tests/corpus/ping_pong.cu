// Double buffering: when one barrier per step is enough and when it is not.

// Two pointers that are swapped.
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void swapped_pointers(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int a[64], b[64];
  int *from = a, *to = b;
  int t = threadIdx.x;
  from[t] = in[t];
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    to[t] = from[(t + 1) % 64];
    __syncthreads();
    int *other = from;
    from = to;
    to = other;
  }
  out[t] = from[t];
}

// The swap is forgotten: every step reads `a` and writes `b`, and nothing races; but the barrier in the loop orders nothing.
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void forgotten_swap(const int *in, int *out, int n) {
  __shared__ int a[64], b[64];
  int t = threadIdx.x;
  a[t] = in[t];
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    b[t] = a[(t + 1) % 64] + k;
    __syncthreads();  // expect: redundant-barrier, fix: yes
  }
  out[t] = b[t];
}

// The barrier comes before the step: the first step waits for the load, each next one for the step before.
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void barrier_first(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  int t = threadIdx.x;
  s[0][t] = in[t];
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    s[(k + 1) % 2][t] = s[k % 2][(t + 1) % 64];
  }
  out[t] = s[n % 2][t];
}

// Reading a neighbour after the loop needs one more barrier.
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void barrier_first_result_unordered(const int *in, int *out, int n) {
  __shared__ int s[2][64];
  int t = threadIdx.x;
  s[0][t] = in[t];
  for (int k = 0; k < n; ++k) {
    __syncthreads();
    s[(k + 1) % 2][t] = s[k % 2][(t + 1) % 64];  // expect: data-race intra-block with +2, fix: yes
  }
  out[t] = s[n % 2][63 - t];
}

// Three buffers in turn, prefetching one step ahead: a barrier per step suffices.
// cuda-lsp: launch grid=(1) block=(32) n=7
__global__ void three_buffers(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[3][32];
  int t = threadIdx.x, sum = 0;
  s[0][t] = in[t];
  for (int k = 0; k < n; ++k) {
    s[(k + 1) % 3][t] = in[(k + 1) * 32 + t];
    __syncthreads();
    sum += s[k % 3][31 - t];
  }
  out[t] = sum;
}

// Two buffers with the same prefetch: the write of step k + 1 goes where step k still reads.
// cuda-lsp: launch grid=(1) block=(32) n=7
__global__ void two_buffers_prefetching(const int *in, int *out, int n) {
  __shared__ int s[2][32];
  int t = threadIdx.x, sum = 0;
  s[0][t] = in[t];
  for (int k = 0; k < n; ++k) {
    s[(k + 1) % 2][t] = in[(k + 1) * 32 + t];  // expect: data-race intra-warp with +2, fix: yes
    __syncthreads();
    sum += s[k % 2][31 - t];
  }
  out[t] = sum;
}

// The buffer index is toggled with an exclusive or.
// cuda-lsp: launch grid=(1) block=(32) n=6
__global__ void toggled_index(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][32];
  int t = threadIdx.x, which = 0, sum = 0;
  for (int k = 0; k < n; ++k) {
    s[which][t] = in[k * 32 + t];
    __syncthreads();
    sum += s[which][31 - t];
    which ^= 1;
  }
  out[t] = sum;
}

// The toggle is guarded, so sometimes the same buffer is used twice in a row.
// cuda-lsp: launch grid=(1) block=(32) n=6
__global__ void toggled_sometimes(const int *in, int *out, int n) {
  __shared__ int s[2][32];
  int t = threadIdx.x, which = 0, sum = 0;
  for (int k = 0; k < n; ++k) {
    s[which][t] = in[k * 32 + t];  // expect: data-race intra-warp with +2, fix: yes
    __syncthreads();
    sum += s[which][31 - t];
    if (k != 2) which ^= 1;
  }
  out[t] = sum;
}

// Two global buffers, one launch per step on the host: nothing to order inside the kernel.
__global__ void relax_step(const float *from, float *to, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) to[i] = 0.5f * (from[i - 1] + from[i + 1]);
}

void relax(float *a, float *b, int n, int steps) {
  for (int k = 0; k < steps; ++k) {
    relax_step<<<(n + 127) / 128, 128>>>(a, b, n);
    float *other = a;
    a = b;
    b = other;
  }
}

// The same kernel text, launched with one buffer for both parameters.
__global__ void relax_in_place_step(const float *from, float *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) to[i] = 0.5f * (from[i - 1] + from[i + 1]);  // expect: data-race with self
}

void relax_in_place(float *a, int n, int steps) {
  for (int k = 0; k < steps; ++k) relax_in_place_step<<<(n + 127) / 128, 128>>>(a, a, n);
}
