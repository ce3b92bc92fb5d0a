// Barriers in iterations that come long after the one in which some threads have left the loop.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void left_two_before(int *a) {
  __shared__ int s[64];
  for (int i = 0; i < 5; i++) {
    if (i == 1 && threadIdx.x >= 16) break;
    s[threadIdx.x] = i;
    if (i == 3) __syncthreads();  // expect: barrier-divergence
  }
  a[threadIdx.x] = s[threadIdx.x];
}

// The barrier comes first.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void left_behind_it(int *a) {  // expect: race-free
  for (int i = 0; i < 5; i++) {
    if (i == 3 && threadIdx.x >= 16) break;
    if (i == 1) __syncthreads();  // expect: redundant-barrier
    a[threadIdx.x] += i;
  }
}

// All leave before any thread comes to it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void all_have_left(int *a) {  // expect: race-free
  for (int i = 0; i < 5; i++) {
    if (i == 1) break;
    if (i == 3 && threadIdx.x < 16) __syncthreads();  // expect: redundant-barrier
    a[threadIdx.x] += i;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void test_for_one_number(int *a) {
  int end = threadIdx.x < 16 ? 2 : 5;
  for (int i = 0; i != end; i++) {
    a[threadIdx.x] += i;
    if (i == 3) __syncthreads();  // expect: barrier-divergence
  }
}

// 2 i + 1 and 2 i are 3 modulo 5 first where i is 1 and 4.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void strange_test(int *a) {  // expect: race-free
  for (int i = 0; (i * 7 + (threadIdx.x < 16)) % 5 != 3; i++) {
    a[threadIdx.x] += i;
    if (i == 6) __syncthreads();  // expect: redundant-barrier
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void strange_test_earlier(int *a) {
  for (int i = 0; (i * 7 + (threadIdx.x < 16)) % 5 != 3; i++) {
    a[threadIdx.x] += i;
    if (i == 3) __syncthreads();  // expect: barrier-divergence
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void returned_before(int *a) {
  __shared__ int s[64];
  for (int i = 0; i < 5; i++) {
    if (i == 1 && threadIdx.x >= 16) return;
    if (i == 2) s[threadIdx.x] = i;
    if (i == 3) __syncthreads();  // expect: barrier-after-exit
    if (i == 4) a[threadIdx.x] = s[15 - threadIdx.x];
  }
}

// Memory decides.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void stopped_by_data(int *a, const int *stop) {
  for (int i = 0; i < 5; i++) {
    if (i == 1 && stop[threadIdx.x]) break;
    a[threadIdx.x] += i;
    if (i == 4) __syncthreads();  // expect: barrier-divergence
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void stopped_by_common_data(int *a, const int *stop) {  // expect: race-free
  __shared__ int s[64];
  for (int i = 0; i < 5; i++) {
    if (i == 1 && stop[blockIdx.x]) break;
    if (i == 3) s[threadIdx.x] = i;
    if (i == 4) __syncthreads();
    if (i == 4) a[threadIdx.x] = s[63 - threadIdx.x];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void outer_loop_left(int *a) {
  for (int j = 0; j < 4; j++) {
    if (j == 1 && threadIdx.x >= 16) break;
    for (int i = 0; i < 5; i++) {
      a[threadIdx.x] += i;
      if (j == 3) __syncthreads();  // expect: barrier-divergence
    }
  }
}

// The inner loop is entered anew.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void inner_loop_left(int *a) {  // expect: race-free
  __shared__ int s[64];
  for (int j = 0; j < 4; j++) {
    for (int i = 0; i < 5; i++) {
      if (i == 1 && threadIdx.x >= 16) break;
      s[threadIdx.x] = i;
    }
    __syncthreads();
    a[threadIdx.x] = s[63 - threadIdx.x];
    __syncthreads();
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void inner_loop_left_before(int *a) {
  for (int j = 0; j < 4; j++) {
    for (int i = 0; i < 5; i++) {
      if (i == 1 && threadIdx.x >= 16) break;
      a[threadIdx.x] += i;
      if (i == 4) __syncthreads();  // expect: barrier-divergence
    }
  }
}

// Iterations are skipped, not left.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void skipped(int *a) {  // expect: race-free
  __shared__ int s[64];
  for (int i = 0; i < 5; i++) {
    if (i == 1 && threadIdx.x >= 16) continue;
    if (i == 2) s[threadIdx.x] = i;
    if (i == 3) __syncthreads();
    if (i == 4) a[threadIdx.x] = s[63 - threadIdx.x];
  }
}

// Only the warp matters, and the threads of a warp leave together.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void warps_leave(int *a) {  // expect: race-free
  __shared__ int s[64];
  for (int i = 0; i < 5; i++) {
    if (i == 1 && threadIdx.x >= 32) break;
    if (i == 2) s[threadIdx.x] = i;
    if (i == 3) __syncwarp();
    if (i == 4) a[threadIdx.x] = s[threadIdx.x ^ 1];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void halves_of_warps_leave(int *a) {
  __shared__ int s[64];
  for (int i = 0; i < 5; i++) {
    if (i == 1 && (threadIdx.x & 16)) break;
    if (i == 2) s[threadIdx.x] = i;
    if (i == 3) __syncwarp();  // expect: barrier-divergence
    if (i == 4) a[threadIdx.x] = s[threadIdx.x ^ 1];
  }
}

// The upper warp leaves in the first of many rounds, and nobody is left for the barrier of a late one.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void left_in_the_first_of_many(int *out) {
  int t = threadIdx.x;
  for (int k = 0; k < 80; ++k) {
    if (k == 0 && t >= 32) break;
    if (k == 70 && t >= 32) __syncthreads();  // expect: redundant-barrier
    out[k * 64 + t] = k;
  }
}

// Half of it stays.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void half_left_in_the_first_of_many(int *out) {
  int t = threadIdx.x;
  for (int k = 0; k < 80; ++k) {
    if (k == 0 && t >= 48) break;
    if (k == 70 && t >= 32) __syncthreads();  // expect: barrier-divergence
    out[k * 64 + t] = k;
  }
}

// One thread leaves in each round, and those for which the barrier is have left before it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_leaves_in_each_round(int *out) {
  int t = threadIdx.x;
  for (int i = 0; i < 32; ++i) {
    if (t == i) break;
    if (i >= 20 && t < 18) __syncthreads();  // expect: redundant-barrier
  }
  out[t] = 1;
}

// Of those some are left.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void some_are_left_in_each_round(int *out) {
  int t = threadIdx.x;
  for (int i = 0; i < 32; ++i) {
    if (t == i) break;
    if (i >= 20 && t < 50) __syncthreads();  // expect: barrier-divergence
  }
  out[t] = 1;
}

// In a round far behind the first ones.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void left_late(int *out) {
  int t = threadIdx.x;
  for (int i = 0; i < 290; ++i) {
    if (t == i - 280) break;
    __syncthreads();  // expect: barrier-divergence
  }
  out[t] = 1;
}
