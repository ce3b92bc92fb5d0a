// What an assertion says of an object's members holds after a call that has nothing to do with the object: where they
// are private, the object is not handed over, and nothing that the call reaches in sight writes them.
#include "squares.h"

__global__ void hidden(float *cells, int side, int step) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;
}

__global__ void open(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

__global__ void resized(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

__global__ void handed(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

__global__ void copied(float *cells, int side, int step) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < side && y < side) cells[y * step + x] = x - y;  // expect: data-race with self
}

extern "C" {
void mirror_copied(int blocks, float *cells, int side, int step) {
  copied<<<dim3(blocks, blocks), dim3(16, 16)>>>(cells, side, step);
}
void mirror_hidden(int blocks, float *cells, int side, int step) {
  hidden<<<dim3(blocks, blocks), dim3(16, 16)>>>(cells, side, step);
}
void mirror_open(int blocks, float *cells, int side, int step) {
  open<<<dim3(blocks, blocks), dim3(16, 16)>>>(cells, side, step);
}
void mirror_resized(int blocks, float *cells, int side, int step) {
  resized<<<dim3(blocks, blocks), dim3(16, 16)>>>(cells, side, step);
}
void mirror_handed(int blocks, float *cells, int side, int step) {
  handed<<<dim3(blocks, blocks), dim3(16, 16)>>>(cells, side, step);
}
}
