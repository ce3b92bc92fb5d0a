// Races carried by loops: barriers in each iteration, in some, in none, and loops that need none.

// One barrier per iteration is one too few: the read meets the next iteration's write.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void one_barrier_per_iteration(int *out, int n) {
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < n; ++k) {
    s[t] = k + t;  // expect: data-race intra-block with +2, fix: yes
    __syncthreads();
    sum += s[63 - t];
  }
  out[t] = sum;
}

// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void two_barriers_per_iteration(int *out, int n) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < n; ++k) {
    s[t] = k + t;
    __syncthreads();
    sum += s[63 - t];
    __syncthreads();
  }
  out[t] = sum;
}

// A single trip: there is no next iteration to meet.
// cuda-lsp: launch grid=(1) block=(64) n=1
__global__ void one_trip(int *out, int n) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < n; ++k) {
    s[t] = k + t;
    __syncthreads();
    sum += s[63 - t];
  }
  out[t] = sum;
}

// Each iteration has a row of its own, so one barrier is enough.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void row_per_iteration(int *out) {  // expect: race-free
  __shared__ int s[4][32];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 4; ++k) {
    s[k][t] = k + t;
    __syncthreads();
    sum += s[k][31 - t];
  }
  out[t] = sum;
}

// The row comes around again after two iterations; two barriers stand between, which is plenty.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void two_rows_in_turn(int *out) {  // expect: race-free
  __shared__ int s[2][32];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < 8; ++k) {
    s[k & 1][t] = k + t;
    __syncthreads();
    sum += s[k & 1][31 - t];
  }
  out[t] = sum;
}

// Reading the other row instead meets the write of the next iteration.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void two_rows_read_too_early(int *out) {
  __shared__ int s[2][32];
  int t = threadIdx.x, sum = 0;
  s[1][t] = t;
  for (int k = 0; k < 8; ++k) {
    s[k & 1][t] = k + t;  // expect: data-race intra-warp with +2
    __syncthreads();
    sum += s[(k + 1) & 1][31 - t];
  }
  out[t] = sum;
}

// A barrier in every third iteration: iterations 1 and 2 share an interval with iteration 0.
// cuda-lsp: launch grid=(1) block=(64) n=6
__global__ void barrier_every_third_iteration(int *a, int n) {
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    if (k % 3 == 0) __syncthreads();
    a[(t + k) % 64] = k;  // expect: data-race intra-block with self, fix: yes
  }
}

// cuda-lsp: launch grid=(1) block=(64) n=6
__global__ void barrier_every_iteration(int *a, int n) {  // expect: race-free
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    a[(t + k) % 64] = k;
    __syncthreads();
  }
  a[t] = n;
}

// The barrier is executed exactly in the iterations that touch the array.
// cuda-lsp: launch grid=(1) block=(64) n=9
__global__ void barrier_where_it_matters(int *a, int n) {  // expect: race-free
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    if (k % 4 == 0) {
      a[(t + k) % 64] = k;
      __syncthreads();
    }
  }
  a[t] = n;
}

// No barrier, and none needed: every thread has a row.
// cuda-lsp: launch grid=(1) block=(64) n=16
__global__ void row_per_thread(int *a, int n) {  // expect: race-free
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) a[t * n + k] = k;
  for (int k = 0; k < n; ++k) a[t * n + k] += a[t * n];
}

// Rows one cell too short: the last cell of a row is the first of the next.
// cuda-lsp: launch grid=(1) block=(64) n=16
__global__ void row_per_thread_overlapping(int *a, int n) {
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) a[t * (n - 1) + k] = t;  // expect: data-race with self
}

// Columns instead of rows.
// cuda-lsp: launch grid=(1) block=(64) n=16
__global__ void column_per_thread(int *a, int n) {  // expect: race-free
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) a[k * blockDim.x + t] = k;
}

// A triangle: row t has t cells and starts after the rows before it.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void packed_triangle(int *a) {  // expect: race-free
  int t = threadIdx.x;
  for (int k = 0; k < t; ++k) a[t * (t - 1) / 2 + k] = k;
}

// The inclusive bound makes each row one cell too long.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void packed_triangle_inclusive(int *a) {
  int t = threadIdx.x;
  for (int k = 0; k <= t; ++k) a[t * (t - 1) / 2 + k] = t;  // expect: data-race with self
}

// A block-stride loop over a row longer than the block.
// cuda-lsp: launch grid=(1) block=(64) n=200
__global__ void block_stride(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[200];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = s[n - 1 - i];
}

// cuda-lsp: launch grid=(1) block=(64) n=200
__global__ void block_stride_unordered(const int *in, int *out, int n) {
  __shared__ int s[200];
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = in[i];  // expect: data-race intra-block with +1, fix: yes
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = s[n - 1 - i];
}

// A stride smaller than the block: the threads walk over each other's cells.
// cuda-lsp: launch grid=(1) block=(64) n=200
__global__ void stride_too_small(int *out, int n) {
  for (int i = threadIdx.x; i < n; i += 32) out[i] = threadIdx.x;  // expect: data-race intra-block with self
}

// A while loop that halves: `d` takes the values 32, 16, 8, 4, 2, 1 in every thread.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void halving_while(int *a) {  // expect: race-free
  int t = threadIdx.x;
  int d = 32;
  while (d > 0) {
    if (t < d) a[t] += a[t + d];
    __syncthreads();
    d >>= 1;
  }
  if (t == 0) a[64] = a[0];
}

// A do-while with the barrier on the only path round.
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void do_while(int *a, int n) {  // expect: race-free
  int t = threadIdx.x, k = 0;
  do {
    a[(t + k) % 64] = k;
    __syncthreads();
    ++k;
  } while (k < n);
  a[t] = 0;
}

// `continue` jumps over the barrier in odd iterations, for all threads alike: no divergence, but no order either.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void continue_skips_barrier(int *a, int n) {
  int t = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    a[(t + k) % 64] = k;  // expect: data-race intra-block with self
    if (k & 1) continue;
    __syncthreads();
  }
}

// `break` leaves in a uniform iteration; what follows needs the barrier that was executed just before.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void break_after_barrier(int *a, int n) {  // expect: race-free
  int t = threadIdx.x;
  for (int k = 0;; ++k) {
    a[(t + k) % 64] = k;
    __syncthreads();
    if (k == n) break;
  }
  a[t] = -1;
}

// The last write before the `break` is not ordered with what follows the loop.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void break_before_barrier(int *a, int n) {
  int t = threadIdx.x;
  for (int k = 0;; ++k) {
    a[(t + k) % 64] = k;  // expect: data-race intra-block with +4
    if (k == n) break;
    __syncthreads();
  }
  a[t] = -1;
}

// The inner loop runs without barriers over a panel that only its thread writes; the outer one orders the panels.
// cuda-lsp: launch grid=(1) block=(16) n=3
__global__ void nested_panels(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int panel[16][4];
  int t = threadIdx.x, sum = 0;
  for (int p = 0; p < n; ++p) {
    for (int j = 0; j < 4; ++j) panel[t][j] = in[(p * 16 + t) * 4 + j];
    __syncthreads();
    for (int r = 0; r < 16; ++r)
      for (int j = 0; j < 4; ++j) sum += panel[r][j];
    __syncthreads();
  }
  out[t] = sum;
}

// The barrier inside the inner loop is executed, but not between the last read and the next panel's write.
// cuda-lsp: launch grid=(1) block=(16) n=3
__global__ void nested_barrier_in_wrong_loop(const int *in, int *out, int n) {
  __shared__ int panel[16];
  int t = threadIdx.x, sum = 0;
  for (int p = 0; p < n; ++p) {
    panel[t] = in[p * 16 + t];  // expect: data-race with +3, fix: yes
    for (int r = 0; r < 16; ++r) {
      __syncthreads();
      sum += panel[r];
    }
  }
  out[t] = sum;
}

// A trip count of zero for every thread: nothing is written at all.
// cuda-lsp: launch grid=(1) block=(64) n=0
__global__ void no_trips(int *a, int n) {  // expect: race-free
  for (int k = 0; k < n; ++k) a[k] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64) n=2
__global__ void two_trips(int *a, int n) {
  for (int k = 0; k < n; ++k) a[k] = threadIdx.x;  // expect: data-race with self
}

// Counting down with an unsigned counter that stops before it wraps.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void counting_down(int *a) {  // expect: race-free
  unsigned t = threadIdx.x;
  for (unsigned k = 4; k-- > 0;) a[k * 64 + t] = k;
}

// Only the first thread loops; the others wait for it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void serial_prefix_by_one_thread(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t == 0)
    for (int k = 1; k < 64; ++k) s[k] += s[k - 1];
  __syncthreads();
  out[t] = s[t];
}
