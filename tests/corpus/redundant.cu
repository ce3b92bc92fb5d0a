// Barriers that order nothing, and barriers that look useless and are not.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void at_the_start(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  __syncthreads();  // expect: redundant-barrier, fix: yes
  s[t] = in[t];
  __syncthreads();
  out[t] = s[63 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void at_the_end(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[63 - t];
  __syncthreads();  // expect: redundant-barrier, fix: yes
}

// Each thread comes back to its own cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void between_own_cells(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();  // expect: redundant-barrier, fix: yes
  out[t] = s[t];
}

// One of the two would do; the later one is called needless, so that following the advice leaves one.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_in_a_row(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  __syncthreads();  // expect: redundant-barrier, fix: yes
  out[t] = s[63 - t];
}

// Reads on both sides.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void between_reads(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  int v = s[63 - t];
  __syncthreads();  // expect: redundant-barrier, fix: yes
  out[t] = v + s[(t + 1) % 64];
}

// The second phase uses another array, so it need not wait for the readers of the first.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void arrays_change_anyway(const int *in, int *out) {
  __shared__ int a[64], b[64];
  int t = threadIdx.x;
  a[t] = in[t];
  __syncthreads();
  int v = a[63 - t];
  __syncthreads();  // expect: redundant-barrier, fix: yes
  b[t] = v;
  __syncthreads();
  out[t] = b[t ^ 1];
}

// The same with one array: now the barrier keeps the reads before the writes.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void array_does_not_change(const int *in, int *out) {  // expect: race-free
  __shared__ int a[64];
  int t = threadIdx.x;
  a[t] = in[t];
  __syncthreads();
  int v = a[63 - t];
  __syncthreads();
  a[t] = v;
  __syncthreads();
  out[t] = a[t ^ 1];
}

// The buffers alternate, so the barrier at the end of the loop body is one too many.
// cuda-lsp: launch grid=(1) block=(32) n=4
__global__ void double_buffer_with_two(const int *in, int *out, int n) {
  __shared__ int s[2][32];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < n; ++k) {
    s[k % 2][t] = in[k * 32 + t];
    __syncthreads();
    sum += s[k % 2][31 - t];
    __syncthreads();  // expect: redundant-barrier, fix: yes
  }
  out[t] = sum;
}

// The barrier orders global memory of one block.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void orders_global_memory(int *a) {  // expect: race-free
  int t = threadIdx.x, base = blockIdx.x * 64;
  a[base + t] = t;
  __syncthreads();
  a[base + 63 - t] += 1;
}

// Atomics do not race with each other, but without the barrier the total would be read before it is complete.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void orders_atomics(int *total, int *out) {  // expect: race-free
  int t = threadIdx.x;
  atomicAdd(total, t);
  __syncthreads();
  if (t == 0) out[0] = atomicAdd(total, 0);
}

// The barrier's vote is its purpose.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void wanted_for_its_vote(const int *in, int *out) {  // expect: race-free
  int t = threadIdx.x;
  int count = __syncthreads_count(in[t] > 0);
  out[t] = count;
}

// One warp's threads are not in lock-step since Volta, so a block of 32 needs its barrier.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void needed_in_one_warp(const int *in, int *out) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[31 - t];
}

// A block of a single thread needs none.
// cuda-lsp: launch grid=(64) block=(1)
__global__ void block_of_one_thread(const int *in, int *out) {
  __shared__ int s[1];
  s[threadIdx.x] = in[blockIdx.x];
  __syncthreads();  // expect: redundant-barrier
  out[blockIdx.x] = s[0];
}

// Useless in the small launch, needed in the large one: it stays.
// cuda-lsp: launch grid=(1) block=(32)
// cuda-lsp: launch grid=(1) block=(64)
__global__ void needed_in_one_of_two_launches(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[(t + 32) % 64];
}

// A warp barrier right behind a block barrier.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void warp_barrier_after_block_barrier(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  __syncwarp();  // expect: redundant-barrier
  out[t] = s[63 - t];
}

// The barrier separates the last reads of one iteration from the first writes of the next, although it stands at the end.
// cuda-lsp: launch grid=(1) block=(64) n=3
__global__ void end_of_loop_is_no_end(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  for (int k = 0; k < n; ++k) {
    s[t] = in[k * 64 + t];
    __syncthreads();
    sum += s[t ^ 5];
    __syncthreads();
  }
  out[t] = sum;
}

// What one instance needs is not redundant in the other.
template <int kShift>
__global__ void shifted_copy(int *out) {  // expect: race-free
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[(threadIdx.x + kShift) % 64];
}

void launch_shifted_copies(int *out) {
  shifted_copy<0><<<4, 64>>>(out);
  shifted_copy<1><<<4, 64>>>(out);
}

__device__ void wait_for_all() { __syncthreads(); }

// cuda-lsp: launch grid=(4) block=(64)
__global__ void caller_that_needs_it(int *out) {  // expect: race-free
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  wait_for_all();
  out[blockIdx.x * 64 + threadIdx.x] = s[63 - threadIdx.x];
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void caller_that_does_not(int *out) {  // expect: race-free
  wait_for_all();
  out[blockIdx.x * 64 + threadIdx.x] = 1;
}

// All publish before thread 0 says so to another block.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void publish_then_signal(int *data, int *flag) {  // expect: race-free
  if (blockIdx.x == 0) {
    atomicExch(&data[threadIdx.x], 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(flag, 1);
  }
}
