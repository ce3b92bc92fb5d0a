// Rows as long as the runtime made them, and rows as long as nobody said.

__global__ void shift_rows(float *out, int pitch, int width, cudaTextureObject_t image) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * pitch + x] = tex2D<float>(image, (x + 5) / (float)width, y);
}

__global__ void shift_short_rows(float *out, int pitch) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[y * pitch + x] = x;  // expect: data-race with self
}

void run(cudaTextureObject_t image) {
  const int columns = 512, rows = 256;
  float *out;
  size_t pitch;
  cudaMallocPitch((void **)&out, &pitch, columns * sizeof(float), rows);
  dim3 grid(columns / 16, rows / 16), block(16, 16);
  for (int i = 0; i < 10; ++i) shift_rows<<<grid, block>>>(out, (int)(pitch / sizeof(float)), columns, image);
  shift_short_rows<<<grid, block>>>(out, (int)(pitch / sizeof(float)) / 2);
}
