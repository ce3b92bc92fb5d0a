// Matrices of classes that keep a width and a row distance, both set where the memory is allocated: in another function
// than the one that launches. One kernel per class; what the classes do wrong stands in planes.h.
#include "planes.h"

__global__ void plane(float *cells, Shape shape) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < shape.columns && y < shape.rows) cells[x + y * shape.step] = x - y;
}

__global__ void squeezed(float *cells, Shape shape) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < shape.columns && y < shape.rows) cells[x + y * shape.step] = x - y;  // expect: data-race with self
}

__global__ void window(float *cells, Shape shape) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < shape.columns && y < shape.rows) cells[x + y * shape.step] = x - y;  // expect: data-race with self
}

__global__ void folded(float *cells, Shape shape) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < shape.columns && y < shape.rows) cells[x + y * shape.step] = x - y;  // expect: data-race with self
}

__global__ void halved(float *cells, Shape shape) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < shape.columns && y < shape.rows) cells[x + y * shape.step] = x - y;  // expect: data-race with self
}

__global__ void turned(float *cells, Shape shape) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < shape.columns && y < shape.rows) cells[x + y * shape.step] = x - y;  // expect: data-race with self
}

__global__ void grown(float *cells, Shape shape) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < shape.columns && y < shape.rows) cells[x + y * shape.step] = x - y;  // expect: data-race with self
}

__global__ void lent(float *cells, Shape shape) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < shape.columns && y < shape.rows) cells[x + y * shape.step] = x - y;  // expect: data-race with self
}

__global__ void bytes(char *cells, int rows, int columns, int pitch) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < columns && y < rows) ((float *)(cells + y * pitch))[x] = x - y;
}

extern "C" {
void fill_plane(dim3 grid, dim3 block, float *cells, Shape shape) { plane<<<grid, block>>>(cells, shape); }
void fill_squeezed(dim3 grid, dim3 block, float *cells, Shape shape) { squeezed<<<grid, block>>>(cells, shape); }
void fill_window(dim3 grid, dim3 block, float *cells, Shape shape) { window<<<grid, block>>>(cells, shape); }
void fill_folded(dim3 grid, dim3 block, float *cells, Shape shape) { folded<<<grid, block>>>(cells, shape); }
void fill_halved(dim3 grid, dim3 block, float *cells, Shape shape) { halved<<<grid, block>>>(cells, shape); }
void fill_turned(dim3 grid, dim3 block, float *cells, Shape shape) { turned<<<grid, block>>>(cells, shape); }
void fill_grown(dim3 grid, dim3 block, float *cells, Shape shape) { grown<<<grid, block>>>(cells, shape); }
void fill_lent(dim3 grid, dim3 block, float *cells, Shape shape) { lent<<<grid, block>>>(cells, shape); }
void fill_bytes(dim3 grid, dim3 block, char *cells, int rows, int columns, int pitch) {
  bytes<<<grid, block>>>(cells, rows, columns, pitch);
}
}
