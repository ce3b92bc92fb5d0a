// Straight-line code in one block: a barrier between a write and the accesses of other threads, or none.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void shift_left(int *out) {
  __shared__ int s[65];
  int t = threadIdx.x;
  s[t] = t;  // expect: data-race intra-block with +1, fix: yes
  out[t] = s[t + 1];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void shift_left_ordered(int *out) {  // expect: race-free
  __shared__ int s[65];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  out[t] = s[t + 1];
}

// The barrier stands behind the read instead of in front of it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void reverse_barrier_too_late(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;  // expect: data-race intra-block with +1, fix: yes
  int v = s[63 - t];
  __syncthreads();
  s[t] = v;
  out[t] = s[t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void reverse(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[63 - t];
}

// Reading first and writing a mirrored cell later is a race too (a write after a read).
// cuda-lsp: launch grid=(1) block=(64)
__global__ void reverse_in_place(int *a) {
  int t = threadIdx.x;
  int v = a[t];  // expect: data-race intra-block with +1, fix: yes
  a[63 - t] = v;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void reverse_in_place_ordered(int *a) {  // expect: race-free
  int t = threadIdx.x;
  int v = a[t];
  __syncthreads();
  a[63 - t] = v;
}

// One statement that reads and writes: no gap for a barrier without splitting it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void shift_in_place(int *a) {
  int t = threadIdx.x;
  if (t < 63) a[t] = a[t + 1];  // expect: data-race with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void shift_in_place_through_register(int *a) {  // expect: race-free
  int t = threadIdx.x;
  int v = a[t + 1];
  __syncthreads();
  a[t] = v;
}

// The same code with two blocks: a block barrier orders nothing between them.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void shift_in_place_two_blocks(int *a) {
  int t = threadIdx.x;
  int v = a[t + 1];  // expect: data-race inter-block with +2, fix: no
  __syncthreads();
  a[t] = v;  // expect: data-race inter-block with self, fix: no
}

// Every thread stays on its own cells.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void own_cells(int *out) {  // expect: race-free
  __shared__ int s[128];
  int t = threadIdx.x;
  s[2 * t] = t;
  s[2 * t + 1] = -t;
  s[2 * t] += s[2 * t + 1];
  out[t] = s[2 * t];
}

// Strides 2 and 2 with an offset that is even: the cells of thread t and t + 1 meet.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void even_offset(int *out) {
  __shared__ int s[130];
  int t = threadIdx.x;
  s[2 * t] = t;  // expect: data-race intra-block with +1
  s[2 * t + 2] = -t;
  out[t] = t;
}

// Two threads per cell, different values.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_per_cell(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t / 2] = t;  // expect: data-race intra-warp with self, fix: no
  __syncthreads();
  out[t] = s[t / 2];
}

// Two threads 32 apart write one cell: never in the same warp.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void two_warps_per_cell(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t % 32] = t;  // expect: data-race intra-block with self
  __syncthreads();
  out[t] = s[t % 32];
}

// cuda-lsp: launch grid=(1) block=(32)
__global__ void one_warp_per_cell(int *out) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t % 32] = t;
  __syncthreads();
  out[t] = s[31 - t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void broadcast_unordered(const int *in, int *out) {
  __shared__ int first;
  int t = threadIdx.x;
  if (t == 0) first = in[0];  // expect: data-race intra-block with +1, fix: yes
  out[t] = first + t;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void broadcast(const int *in, int *out) {  // expect: race-free
  __shared__ int first;
  int t = threadIdx.x;
  if (t == 0) first = in[0];
  __syncthreads();
  out[t] = first + t;
}

// A fence orders one thread's accesses as others see them; it does not wait for anybody.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void fence_is_no_barrier(int *out) {
  __shared__ int s[65];
  int t = threadIdx.x;
  s[t] = t;  // expect: data-race intra-block with +2
  __threadfence_block();
  out[t] = s[t + 1];
}

// Reads alone never race.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void neighbours_read_only(const int *in, int *out) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + in[i + 1] + in[i + 2];
}

// The two halves of an array are written and read by different halves of the block.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void disjoint_halves(int *out) {  // expect: race-free
  __shared__ int low[64], high[64];
  int t = threadIdx.x;
  low[t] = t;
  high[t] = 2 * t;
  out[t] = low[t] + high[t];
}
