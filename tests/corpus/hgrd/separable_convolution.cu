// A row filter: every thread loads and stores several pixels of a row, block by block, with a halo to both sides.
#include <assert.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

constexpr int RADIUS = 4, WIDE = 16, HIGH = 4, STEPS = 4, HALO = 1;
__constant__ float taps[2 * RADIUS + 1];

__global__ void convolve_rows(float *out, const float *in, int width, int pitch) {  // expect: race-free
  cg::thread_block block = cg::this_thread_block();
  __shared__ float row[HIGH][(STEPS + 2 * HALO) * WIDE];
  const int x = (blockIdx.x * STEPS - HALO) * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
  in += y * pitch + x;
  out += y * pitch + x;
  for (int i = HALO; i < HALO + STEPS; i++) row[threadIdx.y][threadIdx.x + i * WIDE] = in[i * WIDE];
  for (int i = 0; i < HALO; i++)
    row[threadIdx.y][threadIdx.x + i * WIDE] = x >= -i * WIDE ? in[i * WIDE] : 0;
  for (int i = HALO + STEPS; i < STEPS + 2 * HALO; i++)
    row[threadIdx.y][threadIdx.x + i * WIDE] = width - x > i * WIDE ? in[i * WIDE] : 0;
  cg::sync(block);
  for (int i = HALO; i < HALO + STEPS; i++) {
    float sum = 0;
    for (int j = -RADIUS; j <= RADIUS; j++) sum += taps[RADIUS - j] * row[threadIdx.y][threadIdx.x + i * WIDE + j];
    out[i * WIDE] = sum;
  }
}

// No barrier between the loading and the use of the neighbours' pixels.
__global__ void convolve_rows_early(float *out, const float *in, int pitch) {
  __shared__ float row[HIGH][(STEPS + 2 * HALO) * WIDE];
  const int x = blockIdx.x * STEPS * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
  for (int i = 0; i < STEPS; i++)
    row[threadIdx.y][threadIdx.x + i * WIDE] = in[y * pitch + x + i * WIDE];  // expect: data-race intra-block with +3
  for (int i = 0; i < STEPS; i++) {
    float sum = 0;
    for (int j = 0; j <= RADIUS; j++) sum += taps[j] * row[threadIdx.y][threadIdx.x + i * WIDE + j];
    out[y * pitch + x + i * WIDE] = sum;
  }
}

// Row by row to the left by a tile; the first one has no place there.
__global__ void shift_rows(float *out, const float *in, int width, int pitch) {  // expect: race-free
  const int x = (blockIdx.x - 1) * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
  if (x >= 0 && x < width) out[y * pitch + x] = in[y * pitch + x + WIDE];
}

extern "C" void convolve(float *out, const float *in, int width, int height) {
  assert(HALO * WIDE >= RADIUS);
  assert(width % (STEPS * WIDE) == 0);
  assert(height % HIGH == 0);
  dim3 blocks(width / (STEPS * WIDE), height / HIGH), threads(WIDE, HIGH);
  convolve_rows<<<blocks, threads>>>(out, in, width, width);
  convolve_rows_early<<<blocks, threads>>>(out, in, width);
  shift_rows<<<dim3(width / WIDE, height / HIGH), threads>>>(out, in, width, width);
}
