// Several threads share a point: the first stores its part, the others add theirs "in turn", which nothing enforces.
#include <stdlib.h>

__global__ void accumulate(const float *source, float *level, int points, int parts) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= points * parts) return;
  int point = t / parts, part = t % parts;
  float sum = 0;
  for (int other = part; other < points; other += parts) sum += source[other];
  if (part == 0) level[point] = sum;  // expect: data-race with +2
  for (int turn = 1; turn < parts; turn++)
    if (part == turn) level[point] += sum;  // expect: data-race with self
}

__global__ void accumulate_atomically(const float *source, float *level, int points, int parts) {  // expect: race-free
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= points * parts) return;
  int point = t / parts, part = t % parts;
  float sum = 0;
  for (int other = part; other < points; other += parts) sum += source[other];
  atomicAdd(&level[point], sum);
}

int main(int argc, char **argv) {
  const int side = atoi(argv[1]);
  if (side > 32) return 1;
  const int points = side * side * side, parts = 4;
  float *source, *level;
  cudaMalloc(&source, 32 * 32 * 32 * sizeof(float));
  cudaMalloc(&level, 32 * 32 * 32 * sizeof(float));
  int blocks = (parts * points + 255) / 256;
  for (int i = 0; i < 2; i++) accumulate<<<blocks, 256>>>(source, level, points, parts);
  accumulate_atomically<<<blocks, 256>>>(source, level, points, parts);
  return 0;
}
