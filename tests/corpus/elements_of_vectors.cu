// Rows of a width that nobody checks, written in vectors by threads that start inside of them.

__global__ void last_vector_hangs_over(short *b, int height, int width) {
  int n = blockIdx.x * 512 + threadIdx.x * 4;
  if (n >= width) return;
  int row = blockIdx.y * 128, end = min(row + 128, height);
  for (; row < end; row += 8)
    for (int j = 0; j < 4; ++j) {
      b[(row + 2 * j) * width + n] = 1;  // expect: data-race with 10; data-race with 12
      b[(row + 2 * j) * width + n + 2] = 3;  // expect: data-race with 11
      b[(row + 2 * j + 1) * width + n] = 1;  // expect: data-race with 12
      b[(row + 2 * j + 1) * width + n + 2] = 3;
    }
}

// Every second row: what hangs over is written by nobody.
__global__ void every_second_row(short *b, int height, int width) {  // expect: race-free
  int n = threadIdx.x * 4;
  if (n >= width || width < 2 || width > 512) return;
  for (int row = blockIdx.x * 8, j = 0; j < 4; ++j) {
    b[(row + 2 * j) * width + n] = 1;
    b[(row + 2 * j) * width + n + 2] = 3;
  }
}

void launch(short *b, int height, int width) {
  last_vector_hangs_over<<<dim3((width + 511) / 512, (height + 127) / 128), 128>>>(b, height, width);
  every_second_row<<<height / 8, 128>>>(b, height, width);
}
