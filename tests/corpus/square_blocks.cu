// Square blocks of a size the host chooses, with arrays one behind the other in dynamic shared memory, as renderers
// that work tile by tile have them.

#include <cuda_runtime.h>

struct Triple {
  float x, y, z;
};

// One array of identifiers and one of triples, filled by all threads and read by all.
__global__ void two_arrays(const int *ids, const Triple *points, float *out, unsigned int tile) {  // expect: race-free
  extern __shared__ int memory[];
  const unsigned int size = tile * tile;
  int *id_of = memory;
  Triple *point_of = reinterpret_cast<Triple *>(&id_of[size]);
  const unsigned int rank = threadIdx.y * tile + threadIdx.x;
  id_of[rank] = ids[blockIdx.x * size + rank];
  point_of[rank] = points[blockIdx.x * size + rank];
  __syncthreads();
  float sum = 0;
  for (unsigned int t = 0; t < size; ++t) sum += point_of[t].x * id_of[t];
  out[static_cast<size_t>(blockIdx.x) * size + rank] = sum;
}

void launch_two_arrays(const int *ids, const Triple *points, float *out, unsigned int tile, int tiles) {
  const dim3 block = {tile, tile, 1};
  two_arrays<<<tiles, block, tile * tile * (sizeof(int) + sizeof(Triple))>>>(ids, points, out, tile);
}

// Four million blocks of 32 by 32 have more threads than 32 bits can number, which is taken not to happen.
__global__ void many_tiles(float *out, unsigned int tile) {  // expect: race-free
  out[blockIdx.x * (tile * tile) + threadIdx.y * tile + threadIdx.x] = blockIdx.x;
}

void launch_many_tiles(float *out, unsigned int tile, int tiles) {
  const dim3 block = {tile, tile, 1};
  many_tiles<<<tiles, block>>>(out, tile);
}

// The triples begin one row too early.
__global__ void arrays_that_overlap(const int *ids, const Triple *points, unsigned int tile) {
  extern __shared__ int memory[];
  const unsigned int size = tile * tile;
  int *id_of = memory;
  Triple *point_of = reinterpret_cast<Triple *>(&id_of[size - tile]);
  const unsigned int rank = threadIdx.y * tile + threadIdx.x;
  id_of[rank] = ids[rank];
  point_of[rank] = points[rank];  // expect: data-race intra-block with -1
}

void launch_arrays_that_overlap(const int *ids, const Triple *points, unsigned int tile) {
  const dim3 block = {tile, tile, 1};
  arrays_that_overlap<<<1, block, tile * tile * (sizeof(int) + sizeof(Triple))>>>(ids, points, tile);
}

// A mask that may be absent decides who leaves early; `inside` stands in both conditions.
__global__ void masked_image(const bool *masks, float *image, int width, int height) {  // expect: race-free
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const bool inside = y < height && x < width;
  if (masks != nullptr && inside && !masks[blockIdx.y * gridDim.x + blockIdx.x]) {
    image[y * width + x] = 0;
    return;
  }
  if (inside) image[y * width + x] = 1;
}

void launch_masked_image(const bool *masks, float *image, int width, int height, unsigned int tile) {
  const dim3 block = {tile, tile, 1};
  const dim3 grid((width + tile - 1) / tile, (height + tile - 1) / tile);
  masked_image<<<grid, block>>>(masks, image, width, height);
}

// Outside of the image too.
__global__ void masked_outside(const bool *masks, float *image, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const bool inside = y < height && x < width;
  if (!inside) {
    image[y * width + x] = x;  // expect: data-race with self; data-race with +3
    return;
  }
  if (inside) image[y * width + x] = 1;
}

void launch_masked_outside(const bool *masks, float *image, int width, int height, unsigned int tile) {
  const dim3 block = {tile, tile, 1};
  const dim3 grid((width + tile - 1) / tile, (height + tile - 1) / tile);
  masked_outside<<<grid, block>>>(masks, image, width, height);
}
