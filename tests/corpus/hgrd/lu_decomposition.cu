// Factorisation in place, tile by tile: the blocks of one step read its first row and column of tiles and write the
// rest. The step's offset is a counter of the host's loop.
#include <stdlib.h>

constexpr int TILE = 8;

__global__ void update_inner(float *m, int dim, int offset) {  // expect: race-free
  __shared__ float top[TILE][TILE], left[TILE][TILE];
  int row = offset + (blockIdx.y + 1) * TILE, column = offset + (blockIdx.x + 1) * TILE;
  top[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * dim + column + threadIdx.x];
  left[threadIdx.y][threadIdx.x] = m[(row + threadIdx.y) * dim + offset + threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < TILE; i++) sum += left[threadIdx.y][i] * top[i][threadIdx.x];
  m[(row + threadIdx.y) * dim + column + threadIdx.x] -= sum;
}

// Writes the tiles of the top row, which all blocks of its column read.
__global__ void update_all(float *m, int dim, int offset) {
  int row = offset + blockIdx.y * TILE + threadIdx.y, column = offset + (blockIdx.x + 1) * TILE + threadIdx.x;
  float above = m[(offset + threadIdx.y) * dim + column];  // expect: data-race inter-block with +1
  m[row * dim + column] -= above;
}

void decompose(float *m, int dim) {
  int i = 0;
  dim3 block(TILE, TILE);
  float *copy = (float *)malloc(dim * dim * sizeof(float));
  for (i = 0; i < dim - TILE; i += TILE) {
    dim3 grid((dim - i) / TILE - 1, (dim - i) / TILE - 1);
    update_inner<<<grid, block>>>(m, dim, i);
    update_all<<<grid, block>>>(m, dim, i);
  }
  free(copy);
}
