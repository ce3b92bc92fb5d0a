// Tiles of a score table along a diagonal, each by one block: what a block reads was written by earlier launches. The
// first step of a block uses what its one thread has loaded itself, so that the barrier in front of it orders nothing.
#include <stdlib.h>

constexpr int TILE = 8;

__global__ void fill_diagonal(int *score, const int *match, int columns, int diagonal, int penalty) {
  __shared__ int local[TILE + 1][TILE + 1];
  int t = threadIdx.x;
  int corner = columns * TILE * (diagonal - 1 - blockIdx.x) + TILE * blockIdx.x;
  if (t == 0) local[0][0] = score[corner];
  local[t + 1][0] = score[corner + columns * (t + 1)];
  local[0][t + 1] = score[corner + t + 1];
  __syncthreads();  // expect: redundant-barrier
  for (int m = 0; m < TILE; m++) {
    if (t <= m) {
      int x = t + 1, y = m - t + 1;
      local[y][x] = max(local[y - 1][x - 1] + match[y * TILE + x], max(local[y][x - 1], local[y - 1][x]) - penalty);
    }
    __syncthreads();
  }
  for (int y = 0; y < TILE; y++) score[corner + columns * (y + 1) + t + 1] = local[y + 1][t + 1];
}

// The barrier between the steps is missing.
__global__ void fill_diagonal_at_once(int *score, int columns, int diagonal, int penalty) {
  __shared__ int local[TILE + 1][TILE + 1];
  int t = threadIdx.x;
  for (int y = 0; y <= TILE; y++) local[y][t + 1] = y;
  if (t <= TILE) local[t][0] = t;
  __syncthreads();
  for (int m = 0; m < TILE; m++) {
    if (t <= m) {
      int x = t + 1, y = m - t + 1;
      int best = max(local[y][x - 1], local[y - 1][x]);  // expect: data-race intra-block with +1
      local[y][x] = best - penalty;
    }
  }
  int corner = columns * TILE * (diagonal - 1 - blockIdx.x) + TILE * blockIdx.x;
  __syncthreads();
  for (int y = 0; y < TILE; y++) score[corner + columns * (y + 1) + t + 1] = local[y + 1][t + 1];
}

int main(int argc, char **argv) {
  int length = atoi(argv[1]), penalty = atoi(argv[2]);
  if (length % TILE != 0) exit(1);
  const int rows = length + 1, columns = length + 1, tiles = length / TILE;
  int *score, *match;
  cudaMalloc(&score, rows * columns * sizeof(int));
  cudaMalloc(&match, rows * columns * sizeof(int));
  for (int diagonal = 1; diagonal <= tiles; diagonal++) {
    fill_diagonal<<<diagonal, TILE>>>(score, match, columns, diagonal, penalty);
    fill_diagonal_at_once<<<diagonal, TILE>>>(score, columns, diagonal, penalty);
  }
  return 0;
}
