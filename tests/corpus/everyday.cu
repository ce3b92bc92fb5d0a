// Kernels of every day, all right: what must never raise an alarm.

#include <cuda_runtime.h>

#define THREADS 128

// y = a * x + y in strides of the whole grid.
__global__ void axpy(float *y, const float *x, float a, int n) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}

// Real and imaginary parts lie side by side: a thread owns both.
__global__ void conjugate(float *z, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  z[2 * i] = z[2 * i];
  z[2 * i + 1] = -z[2 * i + 1];
}

// Planar to interleaved colours.
__global__ void interleave(unsigned char *rgb, const unsigned char *planes, int pixels) {  // expect: race-free
  int i = blockIdx.x * THREADS + threadIdx.x;
  if (i < pixels)
    for (int c = 0; c < 3; c++) rgb[3 * i + c] = planes[c * pixels + i];
}

void launch_interleave(unsigned char *rgb, const unsigned char *planes, int pixels) {
  interleave<<<(pixels + THREADS - 1) / THREADS, THREADS>>>(rgb, planes, pixels);
}

// Each thread keeps a column of four rows.
__global__ void four_rows(int *out) {  // expect: race-free
  int first = blockIdx.x * 4 * THREADS + threadIdx.x;
#pragma unroll
  for (int row = 0; row < 4; row++) out[first + row * THREADS] = first;
}

void launch_four_rows(int *out, int blocks) { four_rows<<<blocks, THREADS>>>(out); }

// The same, a run of four neighbours to each thread.
__global__ void runs_of_four(int *out) {  // expect: race-free
  int first = 4 * (blockIdx.x * THREADS + threadIdx.x);
  for (int k = 0; k < 4; k++) out[first + k] = k;
}

void launch_runs_of_four(int *out, int blocks) { runs_of_four<<<blocks, THREADS>>>(out); }

// Both halves of the block work on halves of the array.
__global__ void two_halves(float *out, int half) {  // expect: race-free
  int lane = threadIdx.x % 64, part = threadIdx.x / 64;
  for (int i = lane; i < half; i += 64) out[part * half + i] = i;
}

void launch_two_halves(float *out, int half) { two_halves<<<1, THREADS>>>(out, half); }

// An array is turned around by swapping pairs.
__global__ void reverse_in_place(int *a, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) {
    int kept = a[i];
    a[i] = a[n - 1 - i];
    a[n - 1 - i] = kept;
  }
}

// Neighbours swap places, the left one of a pair does the work.
__global__ void swap_pairs(int *a, int n) {  // expect: race-free
  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 1 < n) {
    int kept = a[i];
    a[i] = a[i + 1];
    a[i + 1] = kept;
  }
}

// A shared copy of the block's part with one cell of its neighbours on each side.
__global__ void smooth(float *out, const float *in, int n) {  // expect: race-free
  __shared__ float cell[THREADS + 2];
  int i = blockIdx.x * THREADS + threadIdx.x, own = threadIdx.x + 1;
  cell[own] = i < n ? in[i] : 0.0f;
  if (threadIdx.x == 0) cell[0] = i > 0 && i - 1 < n ? in[i - 1] : 0.0f;
  if (threadIdx.x == THREADS - 1) cell[THREADS + 1] = i + 1 < n ? in[i + 1] : 0.0f;
  __syncthreads();
  if (i < n) out[i] = (cell[own - 1] + cell[own] + cell[own + 1]) / 3;
}

void launch_smooth(float *out, const float *in, int n) { smooth<<<(n + THREADS - 1) / THREADS, THREADS>>>(out, in, n); }

// Bits of the position in the opposite order: a permutation of the block.
__global__ void bits_reversed(int *out) {  // expect: race-free
  __shared__ int cell[THREADS];
  unsigned int t = threadIdx.x;
  cell[t] = t;
  __syncthreads();
  unsigned int turned = ((t & 1) << 6) | ((t & 2) << 4) | ((t & 4) << 2) | (t & 8) | ((t & 16) >> 2) | ((t & 32) >> 4) |
                        ((t & 64) >> 6);
  out[blockIdx.x * THREADS + t] = cell[turned];
}

void launch_bits_reversed(int *out, int blocks) { bits_reversed<<<blocks, THREADS>>>(out); }

// One row of a sparse matrix to a thread.
__global__ void sparse_times_vector(float *y, const int *first, const int *column, const float *value,  // expect: race-free
                                    const float *x, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    float sum = 0;
    for (int k = first[row]; k < first[row + 1]; k++) sum += value[k] * x[column[k]];
    y[row] = sum;
  }
}

// Counting into shared cells with atomics, cleared and handed over behind barriers.
__global__ void count_letters(int *total, const unsigned char *text, int n) {  // expect: race-free
  __shared__ int count[256];
  for (int c = threadIdx.x; c < 256; c += blockDim.x) count[c] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&count[text[i]], 1);
  __syncthreads();
  for (int c = threadIdx.x; c < 256; c += blockDim.x)
    if (count[c] > 0) atomicAdd(&total[c], count[c]);
}

// The maximum of each warp by shuffles, one result a warp.
__global__ void warp_maxima(int *out, const int *in, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int most = i < n ? in[i] : -2147483647;
  for (int offset = 16; offset > 0; offset /= 2) most = max(most, __shfl_down_sync(0xffffffff, most, offset));
  if (threadIdx.x % 32 == 0) out[i / 32] = most;
}

void launch_warp_maxima(int *out, const int *in, int n) { warp_maxima<<<(n + 255) / 256, 256>>>(out, in, n); }

// A matrix in batches: plane, row and column each from their own index.
__global__ void scale_batch(float *m, float by, int rows, int columns) {  // expect: race-free
  int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && column < columns) m[(blockIdx.z * rows + row) * columns + column] *= by;
}

void launch_scale_batch(float *m, float by, int rows, int columns, int batch) {
  dim3 block(16, 16), grid((columns + 15) / 16, (rows + 15) / 16, batch);
  scale_batch<<<grid, block>>>(m, by, rows, columns);
}
