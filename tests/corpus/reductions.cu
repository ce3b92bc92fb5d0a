// Block reductions in the styles people write them.

// cuda-lsp: launch grid=(2) block=(64)
__global__ void sequential(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void sequential_no_barrier_in_loop(const int *in, int *out) {
  __shared__ int s[64];
  unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];  // expect: data-race intra-block with self, fix: yes
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void sequential_no_barrier_before_loop(const int *in, int *out) {
  __shared__ int s[64];
  unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];  // expect: data-race intra-block with +2, fix: yes
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// Neighbouring pairs, then pairs of pairs; the modulo keeps writers 2 * d apart.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void interleaved(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    if (t % (2 * d) == 0) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// With `t % d` the threads one stride apart write what the others read.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void interleaved_wrong_modulus(const int *in, int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    if (t % d == 0) s[t] += s[t + d];  // expect: data-race with self
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// Strided index instead of a modulo.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void interleaved_strided(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * blockDim.x + t];
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int i = 2 * d * t;
    if (i < blockDim.x) s[i] += s[i + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// The first addition happens on the way in.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void first_add_on_load(const int *in, int *out) {  // expect: race-free
  __shared__ int s[32];
  unsigned t = threadIdx.x;
  unsigned i = blockIdx.x * (blockDim.x * 2) + t;
  s[t] = in[i] + in[i + blockDim.x];
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = s[0];
}

// The result is read by all threads straight after the loop, whose last barrier orders it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void all_read_the_sum(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  out[t] = in[t] - s[0];
}

// The array is used again for a second reduction without waiting for the readers of the first sum.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void array_reused_too_soon(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  int mean = s[0] / 64;  // expect: data-race intra-block with +1, fix: yes
  s[t] = (in[t] - mean) * (in[t] - mean);
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[0] = s[0];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void array_reused_after_barrier(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  int mean = s[0] / 64;
  __syncthreads();
  s[t] = (in[t] - mean) * (in[t] - mean);
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[0] = s[0];
}

// The last warp without barriers: independent thread scheduling makes this a race since Volta.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void last_warp_unsynchronised(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32];  // expect: data-race intra-warp with +1
    s[t] += s[t + 16];  // expect: data-race intra-warp with self
  }
  if (t == 0) out[0] = s[0];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void last_warp_synchronised(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    int v = s[t] + s[t + 32];
    s[t] = v;
    __syncwarp();
    v += s[(t + 16) % 32];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[(t + 8) % 32];
    out[t] = v;
  }
}

// One of the two warp barriers of a step is missing.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void last_warp_half_synchronised(const int *in, int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncwarp();
  int v = s[t] + s[(t + 16) % 32];  // expect: data-race intra-warp with +1, fix: yes
  s[t] = v;
  __syncwarp();
  out[t] = v + s[(t + 8) % 32];
}

// Shuffles inside the warps, shared memory between them.
// cuda-lsp: launch grid=(2) block=(128)
__global__ void shuffles_then_shared(const int *in, int *out) {  // expect: race-free
  __shared__ int partial[4];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int v = in[blockIdx.x * 128 + t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  if (t == 0) out[blockIdx.x] = partial[0] + partial[1] + partial[2] + partial[3];
}

// cuda-lsp: launch grid=(2) block=(128)
__global__ void shuffles_then_shared_unordered(const int *in, int *out) {
  __shared__ int partial[4];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int v = in[blockIdx.x * 128 + t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (lane == 0) partial[warp] = v;  // expect: data-race intra-block with +1, fix: yes
  if (t == 0) out[blockIdx.x] = partial[0] + partial[1] + partial[2] + partial[3];
}

// Four warps, two slots.
// cuda-lsp: launch grid=(1) block=(128)
__global__ void one_slot_for_two_warps(const int *in, int *out) {
  __shared__ int partial[2];
  int t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (lane == 0) partial[warp / 2] = in[t];  // expect: data-race intra-block with self, fix: no
  __syncthreads();
  if (t == 0) out[0] = partial[0] + partial[1];
}

// Block sums go to one cell with an atomic addition.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void atomic_epilogue(const int *in, int *total) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 32 + t];
  __syncthreads();
  for (int d = 16; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) atomicAdd(total, s[0]);
}

// The same without the atomic: the blocks overwrite each other.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void plain_epilogue(const int *in, int *total) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = in[blockIdx.x * 32 + t];
  __syncthreads();
  for (int d = 16; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) *total += s[0];  // expect: data-race inter-block with self, fix: yes
}

// Each thread first sums a strided slice of the input; blocks are a grid apart.
// cuda-lsp: launch grid=(4) block=(64) n=1000
__global__ void grid_stride_sum(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float s[64];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

// A block of 48 gives the distances 24, 12, 6, 3, 1: one cell is lost (a wrong sum), but nobody writes what another reads.
// cuda-lsp: launch grid=(1) block=(48)
__global__ void not_a_power_of_two(const int *in, int *out) {  // expect: race-free
  __shared__ int s[48];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) out[0] = s[0];
}
