// Global memory and several blocks: grid-stride loops, tiles, guards, neighbours across the block's edge.

// cuda-lsp: launch grid=(4) block=(64) n=200
__global__ void one_cell_each(const float *in, float *out, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}

// The block's part of the index is forgotten.
// cuda-lsp: launch grid=(4) block=(64)
__global__ void forgotten_block_index(int *out) {
  int i = threadIdx.x;
  out[i] = blockIdx.x;  // expect: data-race inter-block with self, fix: no
}

// In one block it does no harm.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void forgotten_block_index_one_block(int *out) {  // expect: race-free
  int i = threadIdx.x;
  out[i] = blockIdx.x;
}

// cuda-lsp: launch grid=(3) block=(64) n=1000
__global__ void grid_stride(const float *x, float *y, int n) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += x[i];
}

// The stride is the block's, so the blocks' ranges overlap.
// cuda-lsp: launch grid=(3) block=(64) n=1000
__global__ void grid_stride_by_block(const float *x, float *y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x)
    y[i] += x[i];  // expect: data-race inter-block with self, fix: yes
}

// Each block has a contiguous tile.
// cuda-lsp: launch grid=(4) block=(32) tile=100
__global__ void tile_per_block(int *out, int tile) {  // expect: race-free
  for (int i = threadIdx.x; i < tile; i += blockDim.x) out[blockIdx.x * tile + i] = i;
}

// The inclusive bound reaches into the next tile.
// cuda-lsp: launch grid=(4) block=(32) tile=100
__global__ void tile_per_block_inclusive(int *out, int tile) {
  for (int i = threadIdx.x; i <= tile; i += blockDim.x)
    out[blockIdx.x * tile + i] = i;  // expect: data-race inter-block with self, fix: no
}

// Four cells per thread, a block apart.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void four_cells_block_apart(int *out) {  // expect: race-free
  int base = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  for (int k = 0; k < 4; ++k) out[base + k * blockDim.x] = k;
}

// The block offset counts one cell per thread, not four.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void four_cells_offset_too_small(int *out) {
  int base = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 4; ++k) out[base + k * blockDim.x] = k;  // expect: data-race inter-block with self, fix: no
}

// A barrier in place of a second launch: right inside a block, wrong at its edge.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void neighbour_across_the_edge(int *a, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;  // expect: data-race inter-block with +2, fix: no
  __syncthreads();
  b[i] = a[i + 1];
}

// The last thread of the block does not look beyond it.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void neighbour_inside_the_block(int *a, int *b) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;
  __syncthreads();
  if (threadIdx.x < blockDim.x - 1) b[i] = a[i + 1];
}

// A fence and no barrier: the other block's cell may not have been written yet.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void fence_between_blocks(int *a, int *b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = i;  // expect: data-race with +2
  __threadfence();
  b[i] = a[127 - i];
}

// Rows of a matrix by blockIdx.y, columns by x.
// cuda-lsp: launch grid=(2,5) block=(32) w=60
__global__ void rows_by_block(float *a, int w) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) a[blockIdx.y * w + x] = x;
}

// The guard is missing: 64 columns in rows of 60.
// cuda-lsp: launch grid=(2,5) block=(32) w=60
__global__ void rows_by_block_unguarded(float *a, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  a[blockIdx.y * w + x] = x;  // expect: data-race inter-block with self
}

// Blocks write their result where another block's input is.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void result_over_input(int *a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = a[i];  // expect: data-race with +1
  if (threadIdx.x == 0) a[blockIdx.x] = v;
}

// A batch index from blockIdx.z.
// cuda-lsp: launch grid=(2,2,3) block=(8,8)
__global__ void batched(float *a) {  // expect: race-free
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  a[(blockIdx.z * 16 + y) * 16 + x] = 1;
}

// The batch's stride is a row too short.
// cuda-lsp: launch grid=(2,2,3) block=(8,8)
__global__ void batched_stride_too_short(float *a) {
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  a[(blockIdx.z * 15 + y) * 16 + x] = blockIdx.z;  // expect: data-race inter-block with self
}

// Blocks count backwards.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void blocks_backwards(int *a) {  // expect: race-free
  int b = gridDim.x - 1 - blockIdx.x;
  a[b * blockDim.x + threadIdx.x] = blockIdx.x;
}

// Even blocks and odd blocks fold onto each other.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void blocks_folded(int *a) {
  a[blockIdx.x / 2 * blockDim.x + threadIdx.x] = blockIdx.x;  // expect: data-race inter-block with self
}

// Two grids of threads in one: even blocks work on `a`, odd ones on `b`.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void blocks_by_parity(int *a, int *b) {  // expect: race-free
  int i = blockIdx.x / 2 * blockDim.x + threadIdx.x;
  if (blockIdx.x % 2 == 0)
    a[i] = 1;
  else
    b[i] = 2;
}
