// Buffers that are used in turn, by loops inside of loops: which one it is goes on from one round of the outer loop to
// the next.

// Two positions that go round together, each with its own test; one barrier per round.
// cuda-lsp: launch grid=(1) block=(64) n=4 m=3
__global__ void two_positions_with_tests(const float *in, float *out, int n, int m) {  // expect: race-free
  __shared__ float s[3][64];
  int t = threadIdx.x, w = 2, r = 0;
  float sum = 0;
  s[0][t] = in[t];
  s[1][t] = in[64 + t];
  for (int j = 0; j < m; ++j) {
    for (int i = 0; i < n; ++i) {
      __syncthreads();
      s[w][t] = in[(j * n + i + 2) * 64 + t];
      sum += s[r][63 - t];
      if (++w == 3) w = 0;
      r = r == 2 ? 0 : r + 1;
    }
    out[j * 64 + t] = sum;
  }
}

// For any sizes.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void two_positions_of_any_sizes(const float *in, float *out, int n, int m) {  // expect: race-free
  __shared__ float s[3][64];
  int t = threadIdx.x, w = 2, r = 0;
  float sum = 0;
  s[0][t] = in[t];
  s[1][t] = in[64 + t];
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i) {
      __syncthreads();
      s[w][t] = in[(j * n + i + 2) * 64 + t];
      sum += s[r][63 - t];
      w = w == 2 ? 0 : w + 1;
      r = (r + 1) % 3;
    }
  out[blockIdx.x * 64 + t] = sum;
}

// One of the positions starts one place further: they meet.
// cuda-lsp: launch grid=(1) block=(64) n=4 m=3
__global__ void positions_that_meet(const float *in, float *out, int n, int m) {
  __shared__ float s[3][64];
  int t = threadIdx.x, w = 0, r = 0;
  float sum = 0;
  s[0][t] = in[t];
  s[1][t] = in[64 + t];
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i) {
      __syncthreads();
      s[w][t] = in[(j * n + i + 2) * 64 + t];  // expect: data-race intra-block with +1
      sum += s[r][63 - t];
      if (++w == 3) w = 0;
      r = r == 2 ? 0 : r + 1;
    }
  out[blockIdx.x * 64 + t] = sum;
}

// One of the rings has four places: the positions meet sooner or later.
// cuda-lsp: launch grid=(1) block=(64) n=4 m=3
__global__ void rings_of_different_sizes(const float *in, float *out, int n, int m) {
  __shared__ float s[4][64];
  int t = threadIdx.x, w = 2, r = 0;
  float sum = 0;
  s[0][t] = in[t];
  s[1][t] = in[64 + t];
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i) {
      __syncthreads();
      s[w][t] = in[(j * n + i + 2) * 64 + t];  // expect: data-race intra-block with +1
      sum += s[r][63 - t];
      if (++w == 4) w = 0;
      r = r == 2 ? 0 : r + 1;
    }
  out[blockIdx.x * 64 + t] = sum;
}

// One position starts anew in each round of the outer loop, the other one goes on: they meet where n is no multiple of 3.
// cuda-lsp: launch grid=(1) block=(64) n=4 m=3
__global__ void one_position_starts_anew(const float *in, float *out, int n, int m) {
  __shared__ float s[3][64];
  int t = threadIdx.x, w = 2;
  float sum = 0;
  s[0][t] = in[t];
  s[1][t] = in[64 + t];
  for (int j = 0; j < m; ++j) {
    int r = 0;
    for (int i = 0; i < n; ++i) {
      __syncthreads();
      s[w][t] = in[(j * n + i + 2) * 64 + t];  // expect: data-race intra-block with +1
      sum += s[r][63 - t];
      w = (w + 1) % 3;
      r = (r + 1) % 3;
    }
  }
  out[blockIdx.x * 64 + t] = sum;
}

// Two buffers and one barrier per round: the read of a round and the write of the next one meet nowhere.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void two_buffers_by_exclusive_or(const float *in, float *out, int n, int m) {  // expect: race-free
  __shared__ float s[2][64];
  int t = threadIdx.x, b = 0;
  float sum = 0;
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i) {
      s[b][t] = in[(j * n + i) * 64 + t];
      __syncthreads();
      sum += s[b][63 - t];
      b ^= 1;
    }
  out[blockIdx.x * 64 + t] = sum;
}

// The buffer is the first one again in each round of the outer loop: after an odd number of rounds it was the last one.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void first_buffer_again(const float *in, float *out, int n, int m) {
  __shared__ float s[2][64];
  int t = threadIdx.x;
  float sum = 0;
  for (int j = 0; j < m; ++j) {
    int b = 0;
    for (int i = 0; i < n; ++i) {
      s[b][t] = in[(j * n + i) * 64 + t];  // expect: data-race intra-block with +2
      __syncthreads();
      sum += s[b][63 - t];
      b ^= 1;
    }
  }
  out[blockIdx.x * 64 + t] = sum;
}

// The outer loop turns the buffers once more.
// cuda-lsp: launch grid=(1) block=(64) n=3 m=4
__global__ void turned_once_too_often(const float *in, float *out, int n, int m) {
  __shared__ float s[2][64];
  int t = threadIdx.x, b = 0;
  float sum = 0;
  for (int j = 0; j < m; ++j) {
    for (int i = 0; i < n; ++i) {
      s[b][t] = in[(j * n + i) * 64 + t];  // expect: data-race intra-block with +2
      __syncthreads();
      sum += s[b][63 - t];
      b = 1 - b;
    }
    b = 1 - b;
  }
  out[blockIdx.x * 64 + t] = sum;
}

// The outer loop turns a ring of three once more, and again they do not meet.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void ring_turned_outside_too(const float *in, float *out, int n, int m) {  // expect: race-free
  __shared__ float s[3][64];
  int t = threadIdx.x, b = 0;
  float sum = 0;
  for (int j = 0; j < m; ++j) {
    for (int i = 0; i < n; ++i) {
      s[b][t] = in[(j * n + i) * 64 + t];
      __syncthreads();
      sum += s[b][63 - t];
      b = b < 2 ? b + 1 : 0;
    }
    b = b < 2 ? b + 1 : 0;
  }
  out[blockIdx.x * 64 + t] = sum;
}

// The ring does not start inside: it never comes to three, and goes on upwards. Nothing is known of it.
// cuda-lsp: launch grid=(1) block=(64) n=2 m=2
__global__ void started_outside_the_ring(const float *in, float *out, int n, int m) {
  __shared__ float s[16][64];
  int t = threadIdx.x, w = 6, r = 0;
  float sum = 0;
  for (int j = 0; j < m; ++j)
    for (int i = 0; i < n; ++i) {
      s[w][t] = in[(j * n + i) * 64 + t];  // expect: data-race intra-block with +1
      sum += s[r + 6][63 - t];
      __syncthreads();
      if (++w == 3) w = 0;
      r = r == 2 ? 0 : r + 1;
    }
  out[blockIdx.x * 64 + t] = sum;
}

// Downwards, with a test where the ring closes.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void downwards(int *a, int n) {  // expect: race-free
  __shared__ int s[4][64];
  int t = threadIdx.x, b = 3;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < 3; ++i) {
      s[b][t] = i;
      __syncthreads();
      a[t] += s[b][63 - t];
      b = b ? b - 1 : 3;
    }
}

// What is read is written in the next round.
// cuda-lsp: launch grid=(1) block=(64) n=3
__global__ void downwards_onto_the_next(int *a, int n) {
  __shared__ int s[4][64];
  int t = threadIdx.x, b = 3;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < 3; ++i) {
      s[b][t] = i;  // expect: data-race intra-block with +2
      __syncthreads();
      a[t] += s[(b + 3) & 3][63 - t];
      b = b ? b - 1 : 3;
    }
}

// How often the inner loop goes round depends on the round of the outer one: where it ends is not followed.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void more_in_each_round(int *a, int n) {  // expect: race-free
  __shared__ int s[3][64];
  int t = threadIdx.x, b = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < j; ++i) {
      s[b][t] = i;  // today: possible-data-race intra-block with +2 because nothing is known of sums over rounds of different lengths
      __syncthreads();
      a[t] += s[b][63 - t];
      if (++b == 3) b = 0;
    }
}

// cuda-lsp: launch grid=(1) block=(8)
__global__ void byte_sum_in_a_ring(float *out) {
  __shared__ float s[3][8];
  int t = threadIdx.x; long w = 0; float sum = 0;
  for (int j = 0; j < 3; ++j) {
    s[w][t] = j;  // expect: data-race intra-warp with +2
    __syncthreads();
    sum += s[w][7 - t];
    long c = 0;
    for (int i = 0; i < 256; i++) c++;
    w = (unsigned char)(w + c) % 3;
  }
  out[t] = sum;
}

// cuda-lsp: launch grid=(1) block=(8)
__global__ void sum_in_a_ring(float *out) {  // expect: race-free
  __shared__ float s[3][8];
  int t = threadIdx.x; long w = 0; float sum = 0;
  for (int j = 0; j < 3; ++j) {
    s[w][t] = j;
    __syncthreads();
    sum += s[w][7 - t];
    long c = 0;
    for (int i = 0; i < 256; i++) c++;
    w = (w + c) % 3;
  }
  out[t] = sum;
}
