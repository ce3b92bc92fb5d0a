// Launches that stay inside allocations whose size the host states: what the last thread writes limits the sizes.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

// Sixteen rows of sixteen cells fit into n * n, so n is at least sixteen.
__global__ void square_rows(float *m, int n) {  // expect: race-free
  for (int i = 0; i < 16; i++) m[i * n + threadIdx.x] = i;
}

void launch_square_rows(int n) {
  float *m;
  cudaMalloc(&m, n * n * sizeof(float));
  square_rows<<<1, 16>>>(m, n);
}

// They also fit where the rows overlap.
__global__ void rows_with_room(float *m, int n) {
  for (int i = 0; i < 16; i++) m[i * n + threadIdx.x] = i;  // expect: data-race with self
}

void launch_rows_with_room(int n) {
  float *m;
  cudaMalloc(&m, (16 * n + 16) * sizeof(float));
  rows_with_room<<<1, 16>>>(m, n);
}

// The loop ends after three rows: a matrix of six by six holds them.
__global__ void first_rows(float *m, int n) {
  for (int i = 0; i < 16; i++) {
    if (i == 3) break;
    m[i * n + threadIdx.x] = i;  // expect: data-race with self
  }
}

void launch_first_rows(int n) {
  float *m;
  cudaMalloc(&m, n * n * sizeof(float));
  first_rows<<<1, 16>>>(m, n);
}

// Later rows are written where the data say so.
__global__ void rows_by_data(float *m, const int *wanted, int n) {
  for (int i = 0; i < 16; i++) {
    if (i < 3 || wanted[i]) m[i * n + threadIdx.x] = i;  // expect: data-race with self
  }
}

void launch_rows_by_data(int n, const int *wanted) {
  float *m;
  cudaMalloc(&m, n * n * sizeof(float));
  rows_by_data<<<1, 16>>>(m, wanted, n);
}

// Only launches of large matrices write the last row: of the others it says nothing.
__global__ void last_row_of_large(float *m, int n) {
  for (int i = 0; i < 2; i++) m[i * n + threadIdx.x] = i;  // expect: data-race with self
  if (n > 100) m[15 * n + threadIdx.x] = 1;
}

void launch_last_row_of_large(int n) {
  float *m;
  cudaMalloc(&m, n * n * sizeof(float));
  last_row_of_large<<<1, 16>>>(m, n);
}

// A condition that holds in the first iteration and the last says nothing of a loop that ends between them.
__global__ void test_with_a_gap(float *m, int n) {
  for (int i = 0; i < 2 || (i > 7 && i < 16); i++) m[i * n + threadIdx.x] = i;  // expect: data-race with self
}

void launch_test_with_a_gap(int n) {
  float *m;
  cudaMalloc(&m, n * n * sizeof(float));
  test_with_a_gap<<<1, 16>>>(m, n);
}

// Another thread may have returned before the last row.
__global__ void rows_until_return(float *m, int n) {
  for (int i = 0; i < 16; i++) {
    m[i * n + threadIdx.x] = i;  // expect: data-race with self
    if (i * threadIdx.x >= n) return;
  }
}

void launch_rows_until_return(int n) {
  float *m;
  cudaMalloc(&m, n * n * sizeof(float));
  rows_until_return<<<1, 16>>>(m, n);
}

// The size belongs to another matrix.
__global__ void rows_of_the_other(float *m, float *other, int n) {
  for (int i = 0; i < 16; i++) m[i * n + threadIdx.x] = i;  // expect: data-race with self
  other[threadIdx.x] = 0;
}

void launch_rows_of_the_other(int n, float *m) {
  float *other;
  cudaMalloc(&other, n * n * sizeof(float));
  rows_of_the_other<<<1, 16>>>(m, other, n);
}

// The pointer begins in the middle.
__global__ void rows_from_the_middle(float *m, int n) {  // expect: race-free
  for (int i = 0; i < 16; i++) m[i * n + threadIdx.x] = i;
}

void launch_rows_from_the_middle(int n) {
  float *m;
  cudaMalloc(&m, n * n * sizeof(float));
  rows_from_the_middle<<<1, 16>>>(m + 4, n);
}

// The function that reads the size keeps no address of it.
__global__ void read_by_another_function(float *m, int n) {  // expect: race-free
  for (int i = 0; i < 16; i++) m[i * n + threadIdx.x] = i;
}

int read_size(const char *path, int *size) {
  FILE *file = fopen(path, "r");
  if (file == NULL || size == NULL) return 1;
  int found;
  fscanf(file, "%d", &found);
  *size = found;
  return 0;
}

void launch_read_by_another_function(const char *path, const float *values) {
  int n = 32;
  if (read_size(path, &n)) exit(1);
  float *m;
  cudaMalloc(&m, n * n * sizeof(float));
  cudaMemcpy(m, values, n * n * sizeof(float), cudaMemcpyHostToDevice);
  read_by_another_function<<<1, 16>>>(m, n);
}

// This one does, and another function writes there.
__global__ void read_and_kept(float *m, int n) {
  for (int i = 0; i < 16; i++) m[i * n + threadIdx.x] = i;  // expect: data-race with self
}

static int *kept_size;

int read_and_keep(int *size) {
  kept_size = size;
  *size = 100;
  return 0;
}

void shrink() { *kept_size = 1; }

void launch_read_and_kept() {
  int n = 32;
  read_and_keep(&n);
  float *m;
  cudaMalloc(&m, n * n * sizeof(float));
  shrink();
  read_and_kept<<<1, 16>>>(m, n);
}

// The address behind the pointer is handed on.
__global__ void read_and_handed_on(float *m, int n) {
  for (int i = 0; i < 16; i++) m[i * n + threadIdx.x] = i;  // expect: data-race with self
}

int *remember(int *where);
void shrink_remembered();

void hand_on(int *size) {
  *size = 100;
  remember(&*size);
}

void launch_read_and_handed_on() {
  int n = 32;
  hand_on(&n);
  float *m;
  cudaMalloc(&m, n * n * sizeof(float));
  shrink_remembered();
  read_and_handed_on<<<1, 16>>>(m, n);
}

// The last row lies behind every matrix of n * n elements: each launch leaves it, so that none does proves nothing.
__global__ void a_row_too_many(float *m, int n) {
  m[n * n + 100 + threadIdx.x] = 1;
  m[threadIdx.x / 2] = threadIdx.x;  // expect: data-race with self
}

void launch_a_row_too_many(int n) {
  float *m;
  cudaMalloc(&m, n * n * sizeof(float));
  a_row_too_many<<<1, 16>>>(m, n);
}

// A trap ends the launch: before it, two rows of a matrix of four collide inside of it.
__global__ void rows_until_trap(float *m, int n, int stop) {
  for (int i = 0; i < 16; i++) {
    m[i * n + threadIdx.x] = i;  // expect: data-race with self
    if (i == stop) __trap();
  }
}

void launch_rows_until_trap(int n, int stop) {
  float *m;
  if (n < 1) return;
  cudaMalloc(&m, n * 16 * sizeof(float));
  rows_until_trap<<<1, 16>>>(m, n, stop);
}
