// Kernels that are large in one way or another: loops in loops in loops, and hundreds of accesses to a few places.

#define LOOP(i) for (int i = 0; i < 3; i++)
#define NEST LOOP(a) LOOP(b) LOOP(c) LOOP(d) LOOP(e) LOOP(f) LOOP(g) LOOP(h)
#define FOUR(statement) statement; statement; statement; statement
#define SIXTY_FOUR(statement) FOUR(FOUR(FOUR(statement)))

// cuda-lsp: launch grid=(2) block=(64)
__global__ void nest_of_loops(int *out) {  // expect: race-free
  NEST out[blockIdx.x * 64 + threadIdx.x] += a + h;
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void nest_of_loops_over_neighbours(int *out) {
  LOOP(a) LOOP(b) LOOP(h) out[blockIdx.x * 64 + threadIdx.x + h] += a;  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void many_updates(const int *in) {  // expect: race-free
  __shared__ int bins[4 * 64];
  int t = threadIdx.x;
  bins[t] = bins[64 + t] = bins[128 + t] = bins[192 + t] = 0;
  SIXTY_FOUR(bins[t] += in[t]; bins[64 + t] += in[t]; bins[128 + t] += in[t]; bins[192 + t] += in[t]);
}

// cuda-lsp: launch grid=(1) block=(65)
__global__ void many_updates_by_one_thread_too_many(const int *in) {
  __shared__ int bins[4 * 64 + 1];
  int t = threadIdx.x;
  bins[t] = 0;  // expect: data-race with +2
  SIXTY_FOUR(bins[t] += in[t]);  // expect: data-race with +1
  bins[64 + t] = in[t];
}

// Every eighth cell for each loop, and the blocks side by side.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void nest_of_loops_by_rows(int *out) {  // expect: race-free
  LOOP(a) LOOP(b) LOOP(c) LOOP(d) LOOP(e) LOOP(f) out[(blockIdx.x * 64 + threadIdx.x) * 9 + 3 * e + f] += a;
}

// Cells change owners only behind a barrier.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void many_updates_on_both_sides(const int *in) {  // expect: race-free
  __shared__ int bins[64];
  int t = threadIdx.x;
  bins[t] = 0;
  SIXTY_FOUR(bins[t] += in[t]);
  __syncthreads();
  SIXTY_FOUR(bins[63 - t] += in[t]);
}

// Even threads and odd threads have halves of their own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void many_updates_by_halves(const int *in) {  // expect: race-free
  __shared__ int bins[128];
  int t = threadIdx.x;
  bins[t] = bins[64 + t] = 0;
  if (t % 2 == 0) {
    SIXTY_FOUR(bins[t] += in[t]);
  } else {
    SIXTY_FOUR(bins[64 + t] += in[t]);
  }
}
