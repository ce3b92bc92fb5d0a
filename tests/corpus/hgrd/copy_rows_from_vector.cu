// One vector into every row of a matrix. The shape of the blocks depends on the matrix.

struct Shape {
  int rows, columns, stride;
};

__global__ void fill_rows(float *a, Shape shape, const float *row) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < shape.columns && y < shape.rows) a[x + y * shape.stride] = row[x];
}

// Rows as far apart as there are rows.
__global__ void fill_overlapping_rows(float *a, Shape shape, const float *row) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < shape.columns && y < shape.rows) a[x + y * shape.rows] = row[x];  // expect: data-race with self
}

static void block_sizes(int rows, int columns, dim3 *grid, dim3 *block) {
  int wide = 64, high = 4;
  while (wide > 1 && columns + columns / 2 <= wide) {
    wide /= 2;
    high *= 2;
  }
  block->x = wide;
  block->y = high;
  block->z = 1;
  grid->x = (columns + wide - 1) / wide;
  grid->y = (rows + high - 1) / high;
  grid->z = 1;
}

void run(int rows, int columns, const float *row) {
  float *a;
  size_t pitch;
  cudaMallocPitch((void **)&a, &pitch, columns * sizeof(float), rows);
  Shape shape = {rows, columns, (int)(pitch / sizeof(float))};
  dim3 grid, block;
  block_sizes(rows, columns, &grid, &block);
  fill_rows<<<grid, block>>>(a, shape, row);
  fill_overlapping_rows<<<dim3((columns + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(a, shape, row);
}
