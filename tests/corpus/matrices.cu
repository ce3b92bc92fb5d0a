// Two- and three-dimensional blocks: transposes, matrix products, volumes.

// cuda-lsp: launch grid=(2,2) block=(8,8) w=16
__global__ void transpose_tiled(const float *in, float *out, int w) {  // expect: race-free
  __shared__ float tile[8][9];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * w + x];
  __syncthreads();
  int tx = blockIdx.y * 8 + threadIdx.x, ty = blockIdx.x * 8 + threadIdx.y;
  out[ty * w + tx] = tile[threadIdx.x][threadIdx.y];
}

// cuda-lsp: launch grid=(2,2) block=(8,8) w=16
__global__ void transpose_tiled_unordered(const float *in, float *out, int w) {
  __shared__ float tile[8][9];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * w + x];  // expect: data-race intra-block with +2, fix: yes
  int tx = blockIdx.y * 8 + threadIdx.x, ty = blockIdx.x * 8 + threadIdx.y;
  out[ty * w + tx] = tile[threadIdx.x][threadIdx.y];
}

// The block's offsets are not exchanged: blocks (0,1) and (1,0) keep their places, so no cell is written twice.
// cuda-lsp: launch grid=(2,2) block=(8,8) w=16
__global__ void transpose_within_tiles(const float *in, float *out, int w) {  // expect: race-free
  __shared__ float tile[8][9];
  int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = in[y * w + x];
  __syncthreads();
  out[y * w + x] = tile[threadIdx.x][threadIdx.y];
}

// Each pair of mirrored cells belongs to the thread below the diagonal.
// cuda-lsp: launch grid=(2,2) block=(8,8) w=16
__global__ void transpose_in_place(float *a, int w) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < y) {
    float v = a[y * w + x];
    a[y * w + x] = a[x * w + y];
    a[x * w + y] = v;
  }
}

// Without the guard both threads of a pair exchange it.
// cuda-lsp: launch grid=(2,2) block=(8,8) w=16
__global__ void transpose_in_place_both(float *a, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float v = a[x * w + y];  // expect: data-race with +1
  a[y * w + x] = v;
}

// Four rows of a tile per thread.
// cuda-lsp: launch grid=(2,2) block=(16,4) w=32
__global__ void transpose_four_rows(const float *in, float *out, int w) {  // expect: race-free
  __shared__ float tile[16][17];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int j = 0; j < 16; j += 4) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x;
  y = blockIdx.x * 16 + threadIdx.y;
  for (int j = 0; j < 16; j += 4) out[(y + j) * w + x] = tile[threadIdx.x][threadIdx.y + j];
}

// The loop steps by fewer rows than the block has: rows are written twice.
// cuda-lsp: launch grid=(1) block=(16,4)
__global__ void rows_written_twice(int *a) {
  for (int j = 0; j < 12; j += 3) a[(threadIdx.y + j) * 16 + threadIdx.x] = threadIdx.y;  // expect: data-race with self
}

// cuda-lsp: launch grid=(2,2) block=(8,8) n=16
__global__ void product_tiled(const float *a, const float *b, float *c, int n) {  // expect: race-free
  __shared__ float as[8][8], bs[8][8];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
  float sum = 0;
  for (int m = 0; m < n / 8; ++m) {
    as[ty][tx] = a[row * n + m * 8 + tx];
    bs[ty][tx] = b[(m * 8 + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < 8; ++k) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// The barrier at the end of the loop is missing: the next tiles overwrite what slower threads still read.
// cuda-lsp: launch grid=(2,2) block=(8,8) n=16
__global__ void product_tiled_one_barrier(const float *a, const float *b, float *c, int n) {
  __shared__ float as[8][8], bs[8][8];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
  float sum = 0;
  for (int m = 0; m < n / 8; ++m) {
    as[ty][tx] = a[row * n + m * 8 + tx];    // expect: data-race intra-block with +3, fix: yes
    bs[ty][tx] = b[(m * 8 + ty) * n + col];  // expect: data-race intra-block with +2, fix: yes
    __syncthreads();
    for (int k = 0; k < 8; ++k) sum += as[ty][k] * bs[k][tx];
  }
  c[row * n + col] = sum;
}

// The barrier in the middle is missing.
// cuda-lsp: launch grid=(2,2) block=(8,8) n=16
__global__ void product_tiled_no_middle_barrier(const float *a, const float *b, float *c, int n) {
  __shared__ float as[8][8], bs[8][8];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * 8 + ty, col = blockIdx.x * 8 + tx;
  float sum = 0;
  for (int m = 0; m < n / 8; ++m) {
    as[ty][tx] = a[row * n + m * 8 + tx];    // expect: data-race intra-block with +2, fix: yes
    bs[ty][tx] = b[(m * 8 + ty) * n + col];  // expect: data-race intra-block with +1, fix: yes
    for (int k = 0; k < 8; ++k) sum += as[ty][k] * bs[k][tx];
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// A volume with one cell per thread.
// cuda-lsp: launch grid=(1) block=(4,3,2)
__global__ void volume(int *out) {  // expect: race-free
  __shared__ int s[2][3][4];
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  s[z][y][x] = x + 10 * y + 100 * z;
  __syncthreads();
  out[(z * 3 + y) * 4 + x] = s[1 - z][2 - y][3 - x];
}

// The linear index of a thread: x + y * Dx + z * Dx * Dy.
// cuda-lsp: launch grid=(1) block=(8,4,2)
__global__ void linear_index(int *out) {  // expect: race-free
  int t = threadIdx.x + threadIdx.y * blockDim.x + threadIdx.z * blockDim.x * blockDim.y;
  out[t] = threadIdx.x;
}

// With the extents exchanged, (4,0) and (0,1) get one number.
// cuda-lsp: launch grid=(1) block=(8,4)
__global__ void linear_index_wrong_extent(int *out) {
  int t = threadIdx.x + threadIdx.y * blockDim.y;
  out[t] = threadIdx.x;  // expect: data-race with self
}

// The y coordinate is forgotten.
// cuda-lsp: launch grid=(1) block=(32,2)
__global__ void forgotten_coordinate(int *out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.y;  // expect: data-race intra-block with self
  __syncthreads();
  out[threadIdx.x + 32 * threadIdx.y] = s[threadIdx.x];
}

// ... which does no harm where only one row writes.
// cuda-lsp: launch grid=(1) block=(32,2)
__global__ void one_row_writes(int *out) {  // expect: race-free
  __shared__ int s[32];
  if (threadIdx.y == 0) s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x + 32 * threadIdx.y] = s[31 - threadIdx.x];
}

// Padding: rows of 17 cells, columns 0 to 15 used. The subscripts stay inside the declared extents.
// cuda-lsp: launch grid=(1) block=(16,16)
__global__ void padded_rows(int *out) {  // expect: race-free
  __shared__ int s[16][17];
  int x = threadIdx.x, y = threadIdx.y;
  s[y][x] = x * y;
  __syncthreads();
  out[y * 16 + x] = s[x][y];
}

// The same cells through a flat array with a pitch of 15: rows overlap.
// cuda-lsp: launch grid=(1) block=(16,16)
__global__ void pitch_too_small(int *out) {
  __shared__ int s[256];
  int x = threadIdx.x, y = threadIdx.y;
  s[y * 15 + x] = y;  // expect: data-race intra-block with self
  __syncthreads();
  out[y * 16 + x] = s[y * 15 + x];
}

// A matrix-vector product: one row per thread, the vector staged in pieces.
// cuda-lsp: launch grid=(2) block=(32) n=96
__global__ void matrix_vector(const float *a, const float *x, float *y, int n) {  // expect: race-free
  __shared__ float piece[32];
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int base = 0; base < n; base += 32) {
    piece[threadIdx.x] = x[base + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 32; ++k) sum += a[row * n + base + k] * piece[k];
    __syncthreads();
  }
  y[row] = sum;
}

// A grid of two-dimensional blocks over a picture whose width is no multiple of the block: the guard keeps rows apart.
// cuda-lsp: launch grid=(3,2) block=(8,4) w=20 h=7
__global__ void picture(unsigned char *out, int w, int h) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) out[y * w + x] = x;
}

// Without the guard on x the last block of a row reaches into the next row.
// cuda-lsp: launch grid=(3,2) block=(8,4) w=20 h=7
__global__ void picture_unguarded(unsigned char *out, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < h) out[y * w + x] = x;  // expect: data-race inter-block with self, fix: no
}
