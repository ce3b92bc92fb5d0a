// Three and more buffers that change their parts: each variable takes the value of the next.

// cuda-lsp: launch grid=(1) block=(64) n=9
__global__ void numbers_that_rotate(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float s[3][64];
  int t = threadIdx.x, before = 0, now = 1, next = 2;
  s[before][t] = in[t];
  s[now][t] = in[64 + t];
  for (int i = 1; i < n; i++) {
    s[next][t] = in[(i + 1) * 64 + t];
    __syncthreads();
    out[i * 64 + t] = s[before][63 - t] + s[now][63 - t];
    int free = before;
    before = now;
    now = next;
    next = free;
    __syncthreads();
  }
}

// One barrier is enough for what is read two rounds later, not for what is read in the next: `next` was `before`.
// cuda-lsp: launch grid=(1) block=(64) n=9
__global__ void rotates_into_what_is_read(const float *in, float *out, int n) {
  __shared__ float s[3][64];
  int t = threadIdx.x, before = 0, now = 1, next = 2;
  s[before][t] = in[t];
  s[now][t] = in[64 + t];
  for (int i = 1; i < n; i++) {
    s[next][t] = in[(i + 1) * 64 + t];  // expect: data-race intra-block with +2
    __syncthreads();
    out[i * 64 + t] = s[before][63 - t] + s[now][63 - t];
    int free = before;
    before = now;
    now = next;
    next = free;
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=9
__global__ void four_numbers_one_barrier(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float s[4][64];
  int t = threadIdx.x, a = 0, b = 1, c = 2, d = 3;
  for (int i = 0; i < n; i++) {
    s[d][t] = in[i * 64 + t];
    __syncthreads();
    out[i * 64 + t] = i < 2 ? 0 : s[b][63 - t] + s[c][63 - t];
    int free = a;
    a = b;
    b = c;
    c = d;
    d = free;
  }
}

// The same, turned the other way: what is written next is what was read.
// cuda-lsp: launch grid=(1) block=(64) n=9
__global__ void four_numbers_turned_back(const float *in, float *out, int n) {
  __shared__ float s[4][64];
  int t = threadIdx.x, a = 0, b = 1, c = 2, d = 3;
  for (int i = 0; i < n; i++) {
    s[d][t] = in[i * 64 + t];  // expect: data-race intra-block with +2
    __syncthreads();
    out[i * 64 + t] = i < 2 ? 0 : s[b][63 - t] + s[c][63 - t];
    int free = d;
    d = c;
    c = b;
    b = a;
    a = free;
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=9
__global__ void pointers_that_rotate(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float x[64], y[64], z[64];
  int t = threadIdx.x;
  float *before = x, *now = y, *next = z;
  before[t] = in[t];
  now[t] = in[64 + t];
  for (int i = 1; i < n; i++) {
    next[t] = in[(i + 1) * 64 + t];
    __syncthreads();
    out[i * 64 + t] = before[63 - t] + now[63 - t];
    __syncthreads();
    float *free = before;
    before = now;
    now = next;
    next = free;
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=9
__global__ void pointers_without_the_barrier(const float *in, float *out, int n) {
  __shared__ float x[64], y[64], z[64];
  int t = threadIdx.x;
  float *before = x, *now = y, *next = z;
  before[t] = in[t];
  now[t] = in[64 + t];
  for (int i = 1; i < n; i++) {
    next[t] = in[(i + 1) * 64 + t];  // expect: data-race intra-block with +2
    __syncthreads();
    out[i * 64 + t] = before[63 - t] + now[63 - t];
    float *free = before;
    before = now;
    now = next;
    next = free;
  }
}

// Numbers out of their order: 0, 2, 1 and 5 are handed around as they are.
// cuda-lsp: launch grid=(1) block=(64) n=9
__global__ void numbers_out_of_order(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float s[6][64];
  int t = threadIdx.x, a = 0, b = 2, c = 1, d = 5;
  for (int i = 0; i < n; i++) {
    s[d][t] = in[i * 64 + t];
    __syncthreads();
    out[i * 64 + t] = i < 2 ? 0 : s[b][63 - t] + s[c][63 - t];
    int free = a;
    a = b;
    b = c;
    c = d;
    d = free;
  }
}
