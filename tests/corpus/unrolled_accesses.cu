// Many accesses of one thread that differ in constants: what is so of all of them is seen at once, what is not is seen.

// Each thread owns a column, whatever rows it goes to.
__global__ void columns(int *p, int n, int rows) {  // expect: race-free
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= n) return;
  int *q = p + c;
  for (int r = 0; r < rows; r += 5) {
    int a = q[0 * n], b = q[1 * n], d = q[2 * n], e = q[3 * n], f = q[4 * n];
    q[0 * n] = b;
    q[1 * n] = a;
    q[2 * n] = f;
    q[3 * n] = d;
    q[4 * n] = e;
    q += 5 * n;
  }
}

// One of the five goes a column too far.
__global__ void one_column_too_far(int *p, int n, int rows) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= n - 1) return;
  int *q = p + c;
  q[0 * n] = 1;
  q[1 * n] = 2;
  q[2 * n + 1] = 3;  // expect: data-race with 28
  q[3 * n] = 4;
  q[2 * n] = 5;
}

// Eight elements of each thread, in any order.
__global__ void eight_each(int *p) {  // expect: race-free
  int *q = p + 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  q[7] = q[0];
  q[1] = q[6];
  q[5] = q[2];
  q[3] = q[4];
}

// Nine of every eight.
__global__ void nine_each(int *p) {
  int *q = p + 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  q[0] = 1;  // expect: data-race with 46
  q[2] = 2;
  q[5] = 3;
  q[8] = 4;
}

// None is a multiple of four more than another, though numbers between them are.
__global__ void between_the_others(int *p) {  // expect: race-free
  int *q = p + 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  q[0] = 1;
  q[5] = 2 * q[0];
  q[10] = 3;
}

// Rows and columns of a tile of four by two.
__global__ void tiles(float *p, int pitch, int rows) {  // expect: race-free
  int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y = 4 * (blockIdx.y * blockDim.y + threadIdx.y);
  if (x + 1 >= pitch || y + 3 >= rows) return;
  p[y * pitch + x] = 0;
  p[y * pitch + x + 1] = 1;
  p[(y + 1) * pitch + x] = 2;
  p[(y + 1) * pitch + x + 1] = 3;
  p[(y + 2) * pitch + x] = 4;
  p[(y + 2) * pitch + x + 1] = 5;
  p[(y + 3) * pitch + x] = 6;
  p[(y + 3) * pitch + x + 1] = 7;
}

// The fifth row is the next thread's first.
__global__ void overlapping_tiles(float *p, int pitch, int rows) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = 4 * (blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= pitch || y + 4 >= rows) return;
  p[y * pitch + x] = 0;  // expect: data-race with 79
  p[(y + 1) * pitch + x] = 2;
  p[(y + 2) * pitch + x] = 4;
  p[(y + 3) * pitch + x] = 6;
  p[(y + 4) * pitch + x] = 8;
}

void launch(int *p, float *f, int n, int rows, int pitch) {
  columns<<<(n + 127) / 128, 128>>>(p, n, rows);
  one_column_too_far<<<(n + 127) / 128, 128>>>(p, n, rows);
  eight_each<<<64, 128>>>(p);
  nine_each<<<64, 128>>>(p);
  between_the_others<<<64, 128>>>(p);
  tiles<<<dim3(16, 16), dim3(32, 8)>>>(f, pitch, rows);
  overlapping_tiles<<<dim3(16, 16), dim3(32, 8)>>>(f, pitch, rows);
}
