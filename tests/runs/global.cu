// Global memory: within a block, and between blocks, which no block barrier orders.

// cuda-lsp: launch grid=(2) block=(32)
// run: race intra-warp inter-block
__global__ void neighbour_in_place(int *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = a[i + 1] + i;  // racy
}

// cuda-lsp: launch grid=(2) block=(32)
// run: clean
__global__ void neighbour_out_of_place(const int *a, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i + 1] + i;
}

// The barrier orders all but the edge between the blocks.
// cuda-lsp: launch grid=(2) block=(64)
// run: race inter-block
__global__ void edge_of_the_next_block(int *a, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;             // racy
  __syncthreads();
  b[i] = a[i + 1];      // racy
}

// cuda-lsp: launch grid=(2) block=(64)
// run: clean
__global__ void neighbour_in_the_same_block(int *a, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int next = blockIdx.x * blockDim.x + (threadIdx.x + 1) % blockDim.x;
  a[i] = i;
  __syncthreads();
  b[i] = a[next];
}

// cuda-lsp: launch grid=(2) block=(64)
// run: race intra-warp intra-block inter-block
__global__ void plain_counter(int *count) {
  *count += threadIdx.x;  // racy
}

// cuda-lsp: launch grid=(2) block=(64)
// run: clean
__global__ void atomic_counter(int *count) {
  atomicAdd(count, threadIdx.x);
}

// cuda-lsp: launch grid=(2) block=(64)
// run: benign
__global__ void everybody_says_the_same(int *found) {
  *found = 1;
}

// cuda-lsp: launch grid=(2) block=(64)
// run: race intra-warp intra-block inter-block
__global__ void everybody_says_something_else(int *last) {
  *last = blockIdx.x * blockDim.x + threadIdx.x;  // racy
}

// Some ask for the sum while others still add to it, and not atomically.
// cuda-lsp: launch grid=(2) block=(32)
// run: race inter-block
__global__ void plain_read_of_an_atomic_sum(int *sum, int *out) {
  if (blockIdx.x == 0)
    atomicAdd(sum, 1);      // racy
  else
    out[threadIdx.x] = *sum;  // racy
}

// cuda-lsp: launch grid=(1) block=(64)
// run: clean
__global__ void plain_read_behind_a_barrier(int *sum, int *out) {
  atomicAdd(sum, 1);
  __syncthreads();
  out[threadIdx.x] = *sum;
}

// The stores of the odd threads lie inside of those of the even ones.
// cuda-lsp: launch grid=(1) block=(64)
// run: race intra-warp intra-block
__global__ void long_stores_overlap(int *a) {
  int *mine = a + 4 * (threadIdx.x / 2) + 2 * (threadIdx.x % 2);
  if (threadIdx.x % 2)
    *(long long *)mine = threadIdx.x;                   // racy
  else
    *(int4 *)mine = make_int4(1, 2, 3, 4);              // racy
  if (threadIdx.x == 40) *(long long *)a = -1;          // racy
}

// cuda-lsp: launch grid=(1) block=(64)
// run: clean
__global__ void long_stores_side_by_side(int *a) {
  int *mine = a + 6 * (threadIdx.x / 2);
  if (threadIdx.x % 2)
    *(long long *)(mine + 4) = threadIdx.x;
  else if (threadIdx.x % 4 == 0)
    *(int4 *)mine = make_int4(1, 2, 3, 4);
}
