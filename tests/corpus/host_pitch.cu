// Rows of padded 2-D allocations: the runtime's pitch is at least the width in bytes, and a multiple of what rows are
// aligned to. Each with a twin that asks for rows too short.

__global__ void fill_rows(char *image, size_t pitch, int width, int height) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) ((float *)(image + y * pitch))[x] = x + 2.0f * y;
}

void launch_fill_rows(int width, int height) {
  char *image;
  size_t pitch;
  cudaMallocPitch((void **)&image, &pitch, width * sizeof(float), height);
  dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  fill_rows<<<grid, block>>>(image, pitch, width, height);
}

// The rows hold shorts, the kernel writes floats.
__global__ void fill_short_rows(char *image, size_t pitch, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) ((float *)(image + y * pitch))[x] = x + 2.0f * y;  // expect: data-race with self
}

void launch_fill_short_rows(int width, int height) {
  char *image;
  size_t pitch;
  cudaMallocPitch((void **)&image, &pitch, width * sizeof(short), height);
  dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  fill_short_rows<<<grid, block>>>(image, pitch, width, height);
}

// The pitch in elements: nothing is lost by the division.
__global__ void fill_by_stride(float *image, int stride, int width, int height) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) image[y * stride + x] = x - y;
}

void launch_fill_by_stride(int width, int height) {
  float *image;
  size_t pitch;
  cudaMallocPitch(&image, &pitch, width * sizeof(float), height);
  dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
  fill_by_stride<<<grid, block>>>(image, pitch / sizeof(float), width, height);
}

// The pitch in pairs of elements, used as if it counted elements.
__global__ void fill_by_half_stride(float *image, int stride, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) image[y * stride + x] = x - y;  // expect: data-race with self
}

void launch_fill_by_half_stride(int width, int height) {
  float *image;
  size_t pitch;
  cudaMallocPitch(&image, &pitch, width * sizeof(float), height);
  dim3 block(32, 8), grid((width + 31) / 32, (height + 7) / 8);
  fill_by_half_stride<<<grid, block>>>(image, pitch / sizeof(float2), width, height);
}

__global__ void fill_volume(cudaPitchedPtr v, int width, int height) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) ((int *)((char *)v.ptr + y * v.pitch))[x] = x ^ y;
}

void launch_fill_volume(int width, int height) {
  cudaPitchedPtr v;
  cudaMalloc3D(&v, make_cudaExtent(width * sizeof(int), height, 1));
  dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  fill_volume<<<grid, block>>>(v, width, height);
}

// The extent is in bytes, but elements were given.
__global__ void fill_narrow_volume(cudaPitchedPtr v, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) ((int *)((char *)v.ptr + y * v.pitch))[x] = x ^ y;  // expect: data-race with self
}

void launch_fill_narrow_volume(int width, int height) {
  cudaPitchedPtr v;
  cudaMalloc3D(&v, make_cudaExtent(width, height, 1));
  dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  fill_narrow_volume<<<grid, block>>>(v, width, height);
}
