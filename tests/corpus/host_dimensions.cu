// Facts from the grid and block of the launch, each with a twin that lacks it.

#define DIVIDE_UP(a, b) (((a) + (b) - 1) / (b))

// 64 cells, 64 threads.
__global__ void cells_by_modulo(int *out) {  // expect: race-free
  __shared__ int s[64];
  s[threadIdx.x % 64] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x % 64];
}

void launch_64(int *out) { cells_by_modulo<<<1, 64>>>(out); }

// 64 cells, 128 threads.
__global__ void cells_by_modulo_twice(int *out) {
  __shared__ int s[64];
  s[threadIdx.x % 64] = threadIdx.x;  // expect: data-race intra-block with self
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x % 64];
}

void launch_128(int *out) { cells_by_modulo_twice<<<1, 128>>>(out); }

// The dimensions travel through variables and dim3 constructors.
__global__ void picture_exact(float *out, int w) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * w + x] = x;
}

void launch_picture_exact(float *out) {
  const int w = 96, h = 40;
  dim3 block(32, 8);
  dim3 grid(w / block.x, h / block.y);
  picture_exact<<<grid, block>>>(out, w);
}

// The width is no multiple of the block and is rounded up.
__global__ void picture_rounded_up(float *out, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * w + x] = x;  // expect: data-race with self
}

void launch_picture_rounded_up(float *out) {
  const int w = 100, h = 40;
  dim3 block(32, 8);
  dim3 grid(DIVIDE_UP(w, block.x), DIVIDE_UP(h, block.y));
  picture_rounded_up<<<grid, block>>>(out, w);
}

// The grid is rounded down, so x stays below w whatever w is.
__global__ void picture_rounded_down(float *out, int w) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * w + x] = x;
}

void launch_picture_rounded_down(float *out, int w, int h) { picture_rounded_down<<<dim3(w / 16, h / 16), dim3(16, 16)>>>(out, w); }

// A block size that a branch selects: both are at most 256.
__global__ void at_most_256(int *out) {  // expect: race-free
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t & 255] = t;
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = s[blockDim.x - 1 - t];
}

void launch_at_most_256(int *out, int n) {
  int block = n > 1000 ? 256 : 128;
  at_most_256<<<4, block>>>(out);
}

// The larger size is too large.
__global__ void at_most_512(int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t & 255] = t;  // expect: data-race intra-block with self
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = s[t & 255];
}

void launch_at_most_512(int *out, int n) {
  int block = 128;
  if (n > 1000) block = 512;
  at_most_512<<<4, block>>>(out);
}

// Two launches of one kernel, one of them wrong.
__global__ void launched_twice(int *out, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * stride] = i;  // expect: data-race with self
}

void launch_twice(int *out) {
  launched_twice<<<4, 64>>>(out, 1);
  launched_twice<<<4, 64>>>(out, 0);
}

// One block: no other block to race with.
__global__ void one_block(int *out) {  // expect: race-free
  out[threadIdx.x] = threadIdx.x + blockIdx.x;
}

void launch_one_block(int *out) { one_block<<<1, 256>>>(out); }

__global__ void several_blocks(int *out) {
  out[threadIdx.x] = threadIdx.x + blockIdx.x;  // expect: data-race inter-block with self
}

void launch_several_blocks(int *out, int n) { several_blocks<<<(n + 255) / 256, 256>>>(out); }

// One thread per block: nothing inside a block can race.
__global__ void single_thread_blocks(int *out) {  // expect: race-free
  __shared__ int s;
  s = blockIdx.x;
  out[blockIdx.x] = s;
}

void launch_single_thread_blocks(int *out, int n) { single_thread_blocks<<<n, 1>>>(out); }

// The launch goes through cudaLaunchKernel.
__global__ void by_function_call(int *out) {
  __shared__ int s[32];
  s[threadIdx.x % 32] = threadIdx.x;  // expect: data-race intra-block with self
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x % 32];
}

void launch_by_function_call(int *out) {
  void *arguments[] = {&out};
  cudaLaunchKernel((const void *)by_function_call, dim3(1), dim3(96), arguments, 0, nullptr);
}

__global__ void by_function_call_32(int *out) {  // expect: race-free
  __shared__ int s[32];
  s[threadIdx.x % 32] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[31 - threadIdx.x];
}

void launch_by_function_call_32(int *out) {
  void *arguments[] = {&out};
  cudaLaunchKernel((const void *)by_function_call_32, dim3(1), dim3(32), arguments, 0, nullptr);
}

// The dimensions come from a helper function.
static int blocks_for(int n, int block) { return (n + block - 1) / block; }

__global__ void guarded_row(float *out, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y;
  if (i < n) out[row * n + i] = i;
}

void launch_guarded_row(float *out, int n, int rows) { guarded_row<<<dim3(blocks_for(n, 128), rows), 128>>>(out, n); }

// A function fills in the dimensions through pointers; what it does not fill in is one.
static void sizes_for(int columns, int rows, dim3 *grid, dim3 *block) {
  block->x = 32;
  block->y = 8;
  grid->x = (columns + 31) / 32;
  grid->y = (rows + 7) / 8;
}

__global__ void sized_elsewhere(float *out, int columns, int rows) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < columns && y < rows) out[y * columns + x] = x - y;
}

// The kernel knows nothing of y.
__global__ void sized_elsewhere_flat(float *out, int columns) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < columns) out[x] = threadIdx.y;  // expect: data-race with self
}

void launch_sized_elsewhere(float *out, int columns, int rows) {
  dim3 grid, block;
  sizes_for(columns, rows, &grid, &block);
  sized_elsewhere<<<grid, block>>>(out, columns, rows);
  sized_elsewhere_flat<<<grid, block>>>(out, columns);
}

// Two variables whose addresses are known elsewhere: a write to one leaves the other, a call may write both.
void adjust(dim3 *a, dim3 *b);

__global__ void adjusted_block(float *out) {
  out[threadIdx.x] = threadIdx.y;  // expect: data-race with self
}

void launch_adjusted_block(float *out) {
  dim3 grid(1), block(64);
  adjust(&grid, &block);
  adjusted_block<<<1, block>>>(out);
}

// A number computed with sign: a launch takes place for one that is positive only.
__global__ void signed_blocks(float *out, int n, int first) {  // expect: race-free
  int row = first + (blockIdx.x + 1) * 16 + threadIdx.x;
  for (int c = 0; c < n; c++) out[row * n + c] = row;
}

void launch_signed_blocks(float *out, int n, int first) {
  if (first < 0 || n > 1000) return;
  signed_blocks<<<(n - first) / 16 - 1, 16>>>(out, n, first);
}

// As many blocks as fit: the quotient by a block of unknown size says how many threads there are.
__global__ void inner_cells(float *out, int columns) {  // expect: race-free
  int row = blockIdx.y * blockDim.y + threadIdx.y + 1, column = blockIdx.x * blockDim.x + threadIdx.x + 1;
  out[row * columns + column] = row - column;
}

__global__ void inner_cells_by_place_in_the_tile(float *out, int columns) {  // expect: race-free
  const int tile_row = threadIdx.y + 1, tile_column = threadIdx.x + 1;
  const int row = blockIdx.y * blockDim.y + tile_row, column = blockIdx.x * blockDim.x + tile_column;
  out[row * columns + column] = row - column;
}

__global__ void inner_cells_of_a_wider_grid(float *out, int columns) {
  int row = blockIdx.y * blockDim.y + threadIdx.y + 1, column = blockIdx.x * blockDim.x + threadIdx.x + 1;
  out[row * columns + column] = row - column;  // expect: data-race with self
}

__global__ void inner_cells_of_other_tiles(float *out, int columns) {
  int row = blockIdx.y * blockDim.y + threadIdx.y + 1, column = blockIdx.x * blockDim.x + threadIdx.x + 1;
  out[row * columns + column] = row - column;  // expect: data-race with self
}

__global__ void whole_tiles(float *out, size_t columns) {  // expect: race-free
  size_t row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  out[row * columns + column] = row;
}

void launch_inner_cells(float *out, int rows, int columns, int side, int other) {
  dim3 block(side, side);
  inner_cells<<<dim3((columns - 2) / side, (rows - 2) / side), block>>>(out, columns);
  inner_cells_by_place_in_the_tile<<<dim3((columns - 2) / side, (rows - 2) / side), block>>>(out, columns);
  inner_cells_of_a_wider_grid<<<dim3((columns + 2) / side, (rows - 2) / side), block>>>(out, columns);
  inner_cells_of_other_tiles<<<dim3((columns - 2) / other, (rows - 2) / side), block>>>(out, columns);
}

void launch_whole_tiles(float *out, size_t rows, size_t columns, unsigned tile) {
  whole_tiles<<<dim3(columns / tile, rows / tile), dim3(tile, tile)>>>(out, columns);
}
