// Sizes that only the run knows: rows of unknown width, tiles of unknown matrices, volumes, pitches, batches.

#include <cassert>
#include <cuda_runtime.h>

#define TILE 16
#define DIVIDE_UP(a, b) (((a) + (b) - 1) / (b))

// Two digits in a radix that is not known: injective, since the column stays below the width.
__global__ void fill_rows(float *out, int width, int height) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = x;
}

void launch_fill_rows(float *out, int width, int height) {
  dim3 block(32, 8);
  fill_rows<<<dim3(DIVIDE_UP(width, 32), DIVIDE_UP(height, 8)), block>>>(out, width, height);
}

// The guard is for the row alone.
__global__ void fill_rows_unguarded_column(float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < height) out[y * width + x] = x;  // expect: data-race with self
}

void launch_fill_rows_unguarded_column(float *out, int width, int height) {
  dim3 block(32, 8);
  fill_rows_unguarded_column<<<dim3(DIVIDE_UP(width, 32), DIVIDE_UP(height, 8)), block>>>(out, width, height);
}

// Blocks of a size the host chooses.
__global__ void fill_rows_any_block(float *out, int width, int height) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  out[y * width + x] = x;
}

void launch_fill_rows_any_block(float *out, int width, int height, int bx, int by) {
  dim3 block(bx, by);
  dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
  fill_rows_any_block<<<grid, block>>>(out, width, height);
}

// A square matrix in place: the thread below the diagonal exchanges the pair.
__global__ void swap_below_diagonal(float *a, int n) {  // expect: race-free
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < y && y < n) {
    const float v = a[y * n + x];
    a[y * n + x] = a[x * n + y];
    a[x * n + y] = v;
  }
}

void launch_swap_below_diagonal(float *a, int n) {
  const dim3 block(16, 16);
  swap_below_diagonal<<<dim3(DIVIDE_UP(n, 16), DIVIDE_UP(n, 16)), block>>>(a, n);
}

// The diagonal belongs to one thread as well.
__global__ void swap_with_diagonal(float *a, int n) {  // expect: race-free
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y > x) return;
  const float v = a[y * n + x];
  a[y * n + x] = a[x * n + y];
  a[x * n + y] = v;
}

void launch_swap_with_diagonal(float *a, int n, int b) {
  const dim3 block(b, b);
  const dim3 grid((n + b - 1) / b, (n + b - 1) / b);
  swap_with_diagonal<<<grid, block>>>(a, n);
}

// Both threads of a pair exchange it.
__global__ void swap_off_diagonal(float *a, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x != y && x < n && y < n) {
    const float v = a[y * n + x];  // expect: data-race with +2
    a[y * n + x] = a[x * n + y];  // expect: data-race with +1; data-race with self
    a[x * n + y] = v;
  }
}

void launch_swap_off_diagonal(float *a, int n) {
  const dim3 block(16, 16);
  swap_off_diagonal<<<dim3(DIVIDE_UP(n, 16), DIVIDE_UP(n, 16)), block>>>(a, n);
}

// The upper triangle is a mirror of the lower one.
__global__ void mirror_triangle(double *a, int n, int stride) {  // expect: race-free
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < x && x < n) a[(size_t)y * stride + x] = a[(size_t)x * stride + y];
}

void launch_mirror_triangle(double *a, int n, int stride) {
  assert(stride >= n);
  const dim3 block(16, 16);
  mirror_triangle<<<dim3(DIVIDE_UP(n, 16), DIVIDE_UP(n, 16)), block>>>(a, n, stride);
}

// The same with rows that may be shorter than the matrix is wide.
__global__ void mirror_triangle_short_rows(double *a, int n, int stride) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (y < x && x < n) a[(size_t)y * stride + x] = a[(size_t)x * stride + y];  // expect: data-race with self
}

void launch_mirror_triangle_short_rows(double *a, int n, int stride) {
  const dim3 block(16, 16);
  mirror_triangle_short_rows<<<dim3(DIVIDE_UP(n, 16), DIVIDE_UP(n, 16)), block>>>(a, n, stride);
}

// A transpose through a tile, any width and height.
__global__ void transpose_any(const float *in, float *out, int width, int height) {  // expect: race-free
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

void launch_transpose_any(const float *in, float *out, int width, int height) {
  transpose_any<<<dim3(DIVIDE_UP(width, TILE), DIVIDE_UP(height, TILE)), dim3(TILE, TILE)>>>(in, out, width, height);
}

// The rows of the result have the width of the input: cells of two rows meet.
__global__ void transpose_wrong_pitch(const float *in, float *out, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * TILE + threadIdx.x;
  y = blockIdx.x * TILE + threadIdx.y;
  if (x < height && y < width) out[y * width + x] = tile[threadIdx.x][threadIdx.y];  // expect: data-race with self
}

void launch_transpose_wrong_pitch(const float *in, float *out, int width, int height) {
  transpose_wrong_pitch<<<dim3(DIVIDE_UP(width, TILE), DIVIDE_UP(height, TILE)), dim3(TILE, TILE)>>>(in, out, width, height);
}

// A product of matrices of unknown sizes, tile by tile.
__global__ void multiply(const float *a, const float *b, float *c, int m, int k, int n) {  // expect: race-free
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
    int ak = t * TILE + threadIdx.x, bk = t * TILE + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = row < m && ak < k ? a[row * k + ak] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = bk < k && column < n ? b[bk * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

void launch_multiply(const float *a, const float *b, float *c, int m, int k, int n) {
  multiply<<<dim3(DIVIDE_UP(n, TILE), DIVIDE_UP(m, TILE)), dim3(TILE, TILE)>>>(a, b, c, m, k, n);
}

// The tiles are overwritten while slower threads still read them.
__global__ void multiply_unordered(const float *a, const float *b, float *c, int m, int k, int n) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
    int ak = t * TILE + threadIdx.x, bk = t * TILE + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = row < m && ak < k ? a[row * k + ak] : 0.0f;  // expect: data-race intra-block with +3, fix: yes
    bs[threadIdx.y][threadIdx.x] = bk < k && column < n ? b[bk * n + column] : 0.0f;  // expect: data-race intra-block with +2, fix: yes
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

void launch_multiply_unordered(const float *a, const float *b, float *c, int m, int k, int n) {
  multiply_unordered<<<dim3(DIVIDE_UP(n, TILE), DIVIDE_UP(m, TILE)), dim3(TILE, TILE)>>>(a, b, c, m, k, n);
}

// Threads walk over a vector of unknown length in steps of the whole grid.
__global__ void scale_grid_stride(float *a, int n) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) a[i] *= 2;
}

void launch_scale_grid_stride(float *a, int n, int blocks, int threads) { scale_grid_stride<<<blocks, threads>>>(a, n); }

// The step is one block, though there are several.
__global__ void scale_block_stride(float *a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) a[i] *= 2;  // expect: data-race inter-block with self
}

void launch_scale_block_stride(float *a, int n, int blocks) { scale_block_stride<<<blocks, 128>>>(a, n); }

// Each row has a block; its threads walk along the row.
__global__ void scale_rows(float *a, int columns) {  // expect: race-free
  float *row = a + (int)blockIdx.x * columns;
  for (int x = threadIdx.x; x < columns; x += blockDim.x) row[x] *= 2;
}

void launch_scale_rows(float *a, int rows, int columns, int threads) { scale_rows<<<rows, threads>>>(a, columns); }

// Unsigned arithmetic wraps around where rows times columns exceeds 2^32; nobody excludes that, and nobody means it.
__global__ void scale_rows_unsigned(float *a, int columns) {  // expect: race-free
  for (int x = threadIdx.x; x < columns; x += blockDim.x)
    a[blockIdx.x * columns + x] *= 2;
}

void launch_scale_rows_unsigned(float *a, int rows, int columns) { scale_rows_unsigned<<<rows, 128>>>(a, columns); }

// Three columns of six: apart, but where 6 * i wraps around.
__global__ void fill_columns(float *out, unsigned n, float a) {  // expect: race-free
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out += i * 6;
  out[1] = a;
  out[3] = (float)i;
  out[5] = a;
}

void launch_fill_columns(float *out, unsigned n, float a) { fill_columns<<<(n + 255) / 256, 256>>>(out, n, a); }

__global__ void fill_columns_of_few(float *out, unsigned n, float a) {  // expect: race-free
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out += i * 6;
  out[1] = a;
  out[3] = (float)i;
  out[5] = a;
}

void launch_fill_columns_of_few(float *out, unsigned n, float a) {
  assert(n < 100000000u);
  fill_columns_of_few<<<(n + 255) / 256, 256>>>(out, n, a);
}

// Rows are further apart than they are wide; the host says so.
__global__ void scale_batches(float *a, int width, int stride) {  // expect: race-free
  int column = blockIdx.x * blockDim.x + threadIdx.x, batch = blockIdx.y;
  if (column < width) a[batch * stride + column] *= 2;
}

void launch_scale_batches(float *a, int batches, int width, int stride) {
  if (stride < width) return;
  scale_batches<<<dim3(DIVIDE_UP(width, 128), batches), 128>>>(a, width, stride);
}

// Nobody says that rows are as far apart as they are wide.
__global__ void scale_batches_close(float *a, int width, int stride) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, batch = blockIdx.y;
  if (column < width) a[batch * stride + column] *= 2;  // expect: data-race inter-block with self
}

void launch_scale_batches_close(float *a, int batches, int width, int stride) {
  scale_batches_close<<<dim3(DIVIDE_UP(width, 128), batches), 128>>>(a, width, stride);
}

// Three digits: planes, rows, columns.
__global__ void fill_volume(float *v, int w, int h, int d) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < w && y < h && z < d) v[(z * h + y) * w + x] = x;
}

void launch_fill_volume(float *v, int w, int h, int d) {
  dim3 block(8, 8, 4);
  fill_volume<<<dim3(DIVIDE_UP(w, 8), DIVIDE_UP(h, 8), DIVIDE_UP(d, 4)), block>>>(v, w, h, d);
}

// The planes are w*h apart, the rows too far: h where w belongs.
__global__ void fill_volume_mixed_up(float *v, int w, int h, int d) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < w && y < h && z < d) v[z * w * h + y * h + x] = x;  // expect: data-race with self
}

void launch_fill_volume_mixed_up(float *v, int w, int h, int d) {
  dim3 block(8, 8, 4);
  fill_volume_mixed_up<<<dim3(DIVIDE_UP(w, 8), DIVIDE_UP(h, 8), DIVIDE_UP(d, 4)), block>>>(v, w, h, d);
}

// A volume walked plane by plane by the threads of a two-dimensional grid.
__global__ void march_planes(float *v, int w, int h, int d) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  int plane = w * h, cell = y * w + x;
  for (int z = 1; z < d; ++z) v[z * plane + cell] += v[(z - 1) * plane + cell];
}

void launch_march_planes(float *v, int w, int h, int d, int bx, int by) {
  dim3 block(bx, by);
  march_planes<<<dim3(DIVIDE_UP(w, block.x), DIVIDE_UP(h, block.y)), block>>>(v, w, h, d);
}

// Four digits of a batch of images with channels.
__global__ void fill_images(float *out, int batch, int channels, int height, int width) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int b = blockIdx.z;
  if (x >= width || y >= height) return;
  for (int c = 0; c < channels; ++c) out[((b * channels + c) * height + y) * width + x] = c;
}

void launch_fill_images(float *out, int batch, int channels, int height, int width) {
  dim3 block(16, 16);
  fill_images<<<dim3(DIVIDE_UP(width, 16), DIVIDE_UP(height, 16), batch), block>>>(out, batch, channels, height, width);
}

// A linear index taken apart and put together in another order.
__global__ void permute_axes(const float *in, float *out, int rows, int columns) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  int r = i / columns, c = i % columns;
  out[c * rows + r] = in[i];
}

void launch_permute_axes(const float *in, float *out, int rows, int columns) {
  assert(rows > 0 && columns > 0);
  permute_axes<<<DIVIDE_UP(rows * columns, 256), 256>>>(in, out, rows, columns);
}

// A pitch in bytes, as cudaMallocPitch gives it.
__global__ void fill_pitched(char *base, size_t pitch, int width, int height) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float *row = (float *)(base + y * pitch);
    row[x] = x;
  }
}

void launch_fill_pitched(char *base, int pitch, int width, int height) {
  if (width <= 0 || pitch < (int)sizeof(float) * width) return;
  dim3 block(32, 8);
  fill_pitched<<<dim3(DIVIDE_UP(width, 32), DIVIDE_UP(height, 8)), block>>>(base, pitch, width, height);
}

// The pitch is enough for bytes, not for floats.
__global__ void fill_pitched_close(char *base, int pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float *row = (float *)(base + y * pitch);
    row[x] = x;  // expect: data-race with self
  }
}

void launch_fill_pitched_close(char *base, int pitch, int width, int height) {
  if (pitch < width) return;
  dim3 block(32, 8);
  fill_pitched_close<<<dim3(DIVIDE_UP(width, 32), DIVIDE_UP(height, 8)), block>>>(base, pitch, width, height);
}

// Column-major with a leading dimension, two matrices in one buffer.
__global__ void fill_leading(double *a, int m, int n, int lda) {  // expect: race-free
  int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && column < n) a[column * lda + row] = a[lda * n + column * lda + row];
}

void launch_fill_leading(double *a, int m, int n, int lda) {
  assert(lda >= m);
  dim3 block(16, 16);
  fill_leading<<<dim3(DIVIDE_UP(m, 16), DIVIDE_UP(n, 16)), block>>>(a, m, n, lda);
}

// Complex numbers: pairs in rows of unknown length.
__global__ void fill_complex(float *out, int width, int height) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  out[2 * (y * width + x)] = 1;
  out[2 * (y * width + x) + 1] = 0;
}

void launch_fill_complex(float *out, int width, int height) {
  dim3 block(16, 16);
  fill_complex<<<dim3(DIVIDE_UP(width, 16), DIVIDE_UP(height, 16)), block>>>(out, width, height);
}

// Each block has a chunk of the vector.
__global__ void fill_chunks(float *a, int n, int chunk) {  // expect: race-free
  int block = blockIdx.x, thread = threadIdx.x;
  int first = block * chunk, last = min(first + chunk, n);
  for (int i = first + thread; i < last; i += blockDim.x) a[i] = 1;
}

void launch_fill_chunks(float *a, int n, int blocks) {
  fill_chunks<<<blocks, 256>>>(a, n, (n + blocks - 1) / blocks);
}

// The chunks overlap by one element.
__global__ void fill_chunks_overlapping(float *a, int n, int chunk) {
  int first = blockIdx.x * chunk, last = min(first + chunk + 1, n);
  for (int i = first + threadIdx.x; i < last; i += blockDim.x) a[i] = i - first;  // expect: data-race inter-block with self
}

void launch_fill_chunks_overlapping(float *a, int n, int blocks) { fill_chunks_overlapping<<<blocks, 256>>>(a, n, (n + blocks - 1) / blocks); }

// Each thread has a run of consecutive elements.
__global__ void fill_runs(float *a, int per_thread, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x, first = i * per_thread;
  for (int k = 0; k < per_thread; ++k)
    if (first + k < n) a[first + k] = k;
}

void launch_fill_runs(float *a, int per_thread, int n) {
  fill_runs<<<DIVIDE_UP(n, 128 * per_thread), 128>>>(a, per_thread, n);
}

// Rows of a dynamic shared array whose pitch the host chooses.
__global__ void fill_shared_rows(const float *in, float *out, int pitch) {  // expect: race-free
  extern __shared__ float rows[];
  const int x = threadIdx.x, y = threadIdx.y, block = blockIdx.x;
  rows[y * pitch + x] = in[y * pitch + x];
  __syncthreads();
  out[(block * 4 + y) * pitch + x] = rows[(y + 1) % 4 * pitch + x];
}

void launch_fill_shared_rows(const float *in, float *out, int pitch, int blocks) {
  if (pitch < 32) return;
  fill_shared_rows<<<blocks, dim3(32, 4), 4 * pitch * sizeof(float)>>>(in, out, pitch);
}

// A width that is at least the block's length: which of the two it is, each case tells.
__global__ void rows_of_clamped_width(float *out, int width) {  // expect: race-free
  out[blockIdx.x * width + threadIdx.x] = threadIdx.x;
}

void launch_rows_of_clamped_width(float *out, int n) { rows_of_clamped_width<<<4, 64>>>(out, n < 64 ? 64 : n); }

// One element short of it.
__global__ void rows_of_short_width(float *out, int width) {
  out[blockIdx.x * width + threadIdx.x] = threadIdx.x;  // expect: data-race with self
}

void launch_rows_of_short_width(float *out, int n) { rows_of_short_width<<<4, 64>>>(out, n < 63 ? 63 : n); }

// Elements of a row taken two at a time: those of the first half of a row share no pair with another row.
__global__ void scale_pairs(float2 *x, int dim, int rows) {  // expect: race-free
  int column = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= dim / 2 || row >= rows) return;
  float2 &pair = x[((blockIdx.z * rows + row) * dim + column) / 2];
  pair.x *= 2.0f;
  pair.y *= 2.0f;
}

void launch_scale_pairs(float2 *x, int dim, int rows, int batches) {
  dim3 block(32, 4);
  scale_pairs<<<dim3(DIVIDE_UP(dim / 2, 32), DIVIDE_UP(rows, 4), batches), block>>>(x, dim, rows);
}

// In a row of odd length the last element and the first of the next row are one pair.
__global__ void scale_pairs_of_whole_rows(float2 *x, int dim, int rows) {
  int column = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= dim || row >= rows) return;
  x[((blockIdx.z * rows + row) * dim + column) / 2].x *= 2.0f;  // expect: data-race with self
}

void launch_scale_pairs_of_whole_rows(float2 *x, int dim, int rows, int batches) {
  dim3 block(32, 4);
  dim3 grid(DIVIDE_UP(dim, 32), DIVIDE_UP(rows, 4), batches);
  scale_pairs_of_whole_rows<<<grid, block>>>(x, dim, rows);
}

// Rows whose size in bytes the host computes with 64 bits and keeps in an int.
__global__ void doubled_columns(float *image, unsigned pitch, unsigned height) {  // expect: race-free
  float *cell = image + blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned i = 1; i < height; i++) {
    cell = (float *)((char *)cell + (int)pitch);
    *cell *= 2;
  }
}

__global__ void doubled_rows(float *image, unsigned pitch, unsigned width) {  // expect: race-free
  float *cell = (float *)((char *)image + (blockIdx.x * blockDim.x + threadIdx.x) * pitch);
  for (unsigned i = 1; i < width; i++) *++cell *= 2;
}

__global__ void doubled_rows_too_close(float *image, unsigned pitch, unsigned width) {
  float *cell = (float *)((char *)image + (blockIdx.x * blockDim.x + threadIdx.x) * pitch);
  for (unsigned i = 1; i < width; i++) *++cell *= 2;  // expect: data-race with self
}

void launch_doubled(float *image, int width, int height, int block) {
  int pitch = width * sizeof(float), half = width * sizeof(short);
  doubled_columns<<<width / block, block>>>(image, pitch, height);
  doubled_rows<<<height / block, block>>>(image, pitch, width);
  doubled_rows_too_close<<<height / block, block>>>(image, half, width);
}

// A batch of arrays whose size is a power of two: the shift is a product.
__global__ void batch(float *out, int log2_size) {  // expect: race-free
  const int size = 1 << log2_size, base = blockIdx.x << log2_size;
  for (int i = threadIdx.x; i < size; i += blockDim.x) out[base + i] = blockIdx.x;
}

__global__ void batch_of_one_more(float *out, int log2_size) {
  const int size = 1 << log2_size, base = blockIdx.x << log2_size;
  for (int i = threadIdx.x; i <= size; i += blockDim.x) out[base + i] = blockIdx.x;  // expect: data-race inter-block with self
}

void launch_batch(float *out, int arrays, int log2_size) {
  if (log2_size > 12) return;
  batch<<<arrays, 256>>>(out, log2_size);
  batch_of_one_more<<<arrays, 256>>>(out, log2_size);
}

// A place that moves on with the threads inside alone: where it is written, they are.
__global__ void planes(float *out, int width, int height, int depth) {  // expect: race-free
  __shared__ float tile[8][32];
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  bool inside = i < width && j < height;
  int at = i + j * width;
  for (int k = 0; k < depth; k++) {
    tile[threadIdx.y][threadIdx.x] = i + j + k;
    __syncthreads();
    if (inside) {
      out[at] = tile[threadIdx.y][31 - threadIdx.x];
      at += height * width;
    }
    __syncthreads();
  }
}

__global__ void planes_too_close(float *out, int width, int height, int depth) {
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
  bool inside = i < width && j < height;
  int at = i + j * width;
  for (int k = 0; k < depth; k++)
    if (inside) {
      out[at] = threadIdx.x;  // expect: data-race with self
      at += height * (width - 1);
    }
}

void launch_planes(float *out, int width, int height, int depth) {
  if (width < 1 || height < 1) return;
  dim3 blocks((width + 31) / 32, (height + 7) / 8), threads(32, 8);
  planes<<<blocks, threads>>>(out, width, height, depth);
  planes_too_close<<<blocks, threads>>>(out, width, height, depth);
}

// Extents that the host computes: their products are sums of many terms, but it is what they are called that matters.
__global__ void channels(float *out, int count, int height, int width, int tiles_across) {  // expect: race-free
  int h = blockIdx.z / tiles_across * 16 + threadIdx.y, w = blockIdx.z % tiles_across * 16 + threadIdx.x;
  if (h < height && w < width)
    out[blockIdx.x * count * height * width + blockIdx.y * height * width + h * width + w] = blockIdx.x;
}

__global__ void channels_of_another_height(float *out, int count, int height, int width, int tiles_across) {
  int h = blockIdx.z / tiles_across * 16 + threadIdx.y, w = blockIdx.z % tiles_across * 16 + threadIdx.x;
  if (h <= height && w < width)
    out[blockIdx.x * count * height * width + blockIdx.y * height * width + h * width + w] = blockIdx.y;  // expect: data-race with self
}

void launch_channels(float *out, int batch, int count, int rows, int columns, int filter) {
  int height = rows - filter + 1, width = columns - filter + 1;
  int across = (width + 15) / 16, down = (height + 15) / 16;
  channels<<<dim3(batch, count, down * across), dim3(16, 16)>>>(out, count, height, width, across);
  channels_of_another_height<<<dim3(batch, count, down * across), dim3(16, 16)>>>(out, count, height, width, across);
}
