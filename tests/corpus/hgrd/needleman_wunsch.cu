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

// The lower right half of the table: the last tiles of the diagonal are in the last column of tiles.
__global__ void fill_late_diagonal(int *score, const int *match, int tiles, int columns, int diagonal, int penalty) {
  __shared__ int local[TILE + 1][TILE + 1];
  int t = threadIdx.x;
  int across = blockIdx.x + tiles - diagonal, down = tiles - blockIdx.x - 1;
  int corner = columns * TILE * down + TILE * across;
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

// Tiles of one row and one column more than they are apart have a corner in common with the next one.
__global__ void fill_overlapping(int *score, int tiles, int columns, int diagonal) {
  int t = threadIdx.x;
  int across = blockIdx.x + tiles - diagonal, down = tiles - blockIdx.x - 1;
  int corner = columns * TILE * down + TILE * across;
  for (int y = 0; y <= TILE; y++) score[corner + columns * (y + 1) + t + 1] = y;  // expect: data-race inter-block with self
}

// As wide and as high as they are apart.
__global__ void fill_touching(int *score, int tiles, int columns, int diagonal) {  // expect: race-free
  int t = threadIdx.x;
  int across = blockIdx.x + tiles - diagonal, down = tiles - blockIdx.x - 1;
  int corner = columns * TILE * down + TILE * across;
  for (int y = 0; y < TILE; y++) score[corner + columns * (y + 1) + t + 1] = y;
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
  for (int diagonal = tiles - 1; diagonal >= 1; diagonal--) {
    fill_late_diagonal<<<diagonal, TILE>>>(score, match, tiles, columns, diagonal, penalty);
    fill_touching<<<diagonal, TILE>>>(score, tiles, columns, diagonal);
    fill_overlapping<<<diagonal, TILE + 1>>>(score, tiles, columns, diagonal);
  }
  return 0;
}
