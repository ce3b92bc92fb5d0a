// Prefix sums.

// Hillis and Steele in one array, through a register, with two barriers per step.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void inclusive_in_place(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int v = 0;
    if (t >= d) v = s[t - d];
    __syncthreads();
    s[t] += v;
    __syncthreads();
  }
  out[t] = s[t];
}

// The barrier between the reads and the writes of a step is missing.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void inclusive_read_and_write_together(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int v = 0;
    if (t >= d) v = s[t - d];  // expect: data-race intra-block with +1, fix: yes
    s[t] += v;
    __syncthreads();
  }
  out[t] = s[t];
}

// The barrier at the end of a step is missing.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void inclusive_steps_run_together(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int v = 0;
    if (t >= d) v = s[t - d];  // expect: data-race intra-block with +2, fix: yes
    __syncthreads();
    s[t] += v;
  }
  out[t] = s[t];
}

// Two rows that change roles: one barrier per step is enough.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void inclusive_two_rows(const int *in, int *out) {  // expect: race-free
  __shared__ int s[2][64];
  int t = threadIdx.x, from = 0;
  s[0][t] = in[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int to = 1 - from;
    s[to][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
    __syncthreads();
    from = to;
  }
  out[t] = s[from][t];
}

// The rows change roles, but the barrier stands behind the loop.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void inclusive_two_rows_no_barrier(const int *in, int *out) {
  __shared__ int s[2][64];
  int t = threadIdx.x, from = 0;
  s[0][t] = in[t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int to = 1 - from;
    s[to][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];  // expect: data-race intra-block with self, fix: yes
    from = to;
  }
  out[t] = s[from][t];
}

// Blelloch: up-sweep, clear, down-sweep.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void exclusive_work_efficient(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x, offset = 1;
  s[2 * t] = in[2 * t];
  s[2 * t + 1] = in[2 * t + 1];
  for (int d = 32; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) s[63] = 0;
  for (int d = 1; d < 64; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      int v = s[left];
      s[left] = s[right];
      s[right] += v;
    }
  }
  __syncthreads();
  out[t] = s[t];
  out[t + 32] = s[t + 32];
}

// The last barrier of the down-sweep is missing: the copy-out reads cells that other threads still change.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void exclusive_copy_out_unordered(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, offset = 1;
  s[2 * t] = in[2 * t];
  s[2 * t + 1] = in[2 * t + 1];
  for (int d = 32; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) s[63] = 0;
  for (int d = 1; d < 32; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int left = offset * (2 * t + 1) - 1, right = offset * (2 * t + 2) - 1;
      int v = s[left];
      s[left] = s[right];  // expect: data-race intra-warp with +4, fix: yes
      s[right] += v;       // expect: data-race intra-warp with +3, fix: yes
    }
  }
  out[t] = s[2 * t + 1];
}

// A scan of each warp with shuffles, then of the warp totals, then added back.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void shuffle_scan(const int *in, int *out) {  // expect: race-free
  __shared__ int totals[4];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  int v = in[t];
  for (int d = 1; d < 32; d <<= 1) {
    int other = __shfl_up_sync(0xffffffffu, v, d);
    if (lane >= d) v += other;
  }
  if (lane == 31) totals[warp] = v;
  __syncthreads();
  int before = 0;
  for (int w = 0; w < warp; ++w) before += totals[w];
  out[t] = v + before;
}

// The scan of the totals happens in place while other warps read them.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void shuffle_scan_totals_in_place(const int *in, int *out) {
  __shared__ int totals[4];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  int v = in[t];
  if (lane == 31) totals[warp] = v;
  __syncthreads();
  if (t == 0) {
    totals[1] += totals[0];
    totals[2] += totals[1];
    totals[3] += totals[2];  // expect: data-race intra-block with +2, fix: yes
  }
  if (warp == 3) out[lane] = v + totals[3];
}

// cuda-lsp: launch grid=(1) block=(128)
__global__ void shuffle_scan_totals_ordered(const int *in, int *out) {  // expect: race-free
  __shared__ int totals[4];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  int v = in[t];
  if (lane == 31) totals[warp] = v;
  __syncthreads();
  if (t == 0) {
    totals[1] += totals[0];
    totals[2] += totals[1];
    totals[3] += totals[2];
  }
  __syncthreads();
  if (warp > 0) v += totals[warp - 1];
  out[t] = v;
}

// Each thread scans four elements of its own, then the block scans the thread totals.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void four_per_thread(const int *in, int *out) {  // expect: race-free
  __shared__ int totals[32];
  int t = threadIdx.x, local[4], sum = 0;
  for (int k = 0; k < 4; ++k) {
    sum += in[t * 4 + k];
    local[k] = sum;
  }
  totals[t] = sum;
  __syncthreads();
  int before = 0;
  for (int w = 0; w < t; ++w) before += totals[w];
  for (int k = 0; k < 4; ++k) out[t * 4 + k] = before + local[k];
}
