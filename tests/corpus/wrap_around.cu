// check with: wrap-around
// Indices that wrap around at 2^32 because nothing limits the sizes they are made of. Without the setting the proofs
// list that they assume otherwise; what wraps around for ordinary sizes is reported in any case.

#include <cuda_runtime.h>

__global__ void row_offset(int *out, int pitch) {
  int x = threadIdx.x;
  if (x < pitch) out[blockIdx.x * pitch + x] = blockIdx.x;  // expect: possible-data-race inter-block with self
}

void launch_row_offset(int *out, int pitch) { row_offset<<<8, 64>>>(out, pitch); }

__global__ void row_offset_limited(int *out, int pitch) {  // expect: race-free
  int x = threadIdx.x;
  if (x < pitch) out[blockIdx.x * pitch + x] = blockIdx.x;
}

void launch_row_offset_limited(int *out, int pitch) {
  if (pitch > 100000) return;
  row_offset_limited<<<8, 64>>>(out, pitch);
}

__global__ void scale_rows(float *a, int columns) {
  for (int x = threadIdx.x; x < columns; x += blockDim.x)
    a[blockIdx.x * columns + x] *= 2;  // expect: possible-data-race inter-block with self
}

void launch_scale_rows(float *a, int rows, int columns) { scale_rows<<<rows, 128>>>(a, columns); }

// With 64 bits there is room for all rows.
__global__ void scale_rows_wide(float *a, int columns) {  // expect: race-free
  for (int x = threadIdx.x; x < columns; x += blockDim.x) a[static_cast<size_t>(blockIdx.x) * columns + x] *= 2;
}

void launch_scale_rows_wide(float *a, int rows, int columns) { scale_rows_wide<<<rows, 128>>>(a, columns); }

// Two columns hold the same value, and one is written besides with another: all of it only where 6 * i wraps around.
__global__ void fill_columns(float *out, unsigned n, float a) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out += i * 6;
  out[1] = a;         // expect: possible-data-race inter-block with +2; possible-data-race inter-block with +1
  out[3] = (float)i;  // expect: possible-data-race inter-block with +1
  out[5] = a;
}

void launch_fill_columns(float *out, unsigned n, float a) { fill_columns<<<(n + 255) / 256, 256>>>(out, n, a); }

// Computed with size_t the square may be any.
__global__ void tiles_of_large_square(float *m, int n) {
  unsigned row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row < n && column < n) m[row * n + column] = row;  // expect: possible-data-race with self
}

void launch_tiles_of_large_square(int n) {
  float *m;
  cudaMalloc(&m, sizeof(float) * n * n);
  tiles_of_large_square<<<dim3((n + 15) / 16, (n + 15) / 16), dim3(16, 16)>>>(m, n);
}

// Four million blocks of 32 by 32 have more threads than 32 bits can number.
__global__ void many_tiles(float *out, unsigned int tile) {
  unsigned int rank = threadIdx.y * tile + threadIdx.x;
  out[blockIdx.x * (tile * tile) + rank] = blockIdx.x;  // expect: possible-data-race inter-block with self
}

void launch_many_tiles(float *out, unsigned int tile, int tiles) {
  const dim3 block = {tile, tile, 1};
  many_tiles<<<tiles, block>>>(out, tile);
}

// A variable that waits at a limit passes it, and the end of its type with it where the limit is near 2^32: behind that
// it waits no more.
__global__ void waits_behind_the_end(int *out, unsigned n) {
  if (n < 1000) return;
  unsigned i = n - 2;
  for (int round = 0; round < 2; ++round)
    if (i < n) i += 4;
  out[threadIdx.x * (i == 4 ? 0 : 1)] = threadIdx.x;  // expect: data-race with self
}

void launch_waits_behind_the_end(int *out, unsigned n) { waits_behind_the_end<<<1, 64>>>(out, n); }

__global__ void waits_below_the_end(int *out, unsigned n) {  // expect: race-free
  if (n < 1000) return;
  unsigned i = n - 2;
  for (int round = 0; round < 2; ++round)
    if (i < n) i += 1;
  out[threadIdx.x * (i == 4 ? 0 : 1)] = threadIdx.x;
}

void launch_waits_below_the_end(int *out, unsigned n) { waits_below_the_end<<<1, 64>>>(out, n); }
