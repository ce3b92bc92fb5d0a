// Images unfolded for a filter, through a pointer that goes on behind two loops, and rows of two parts.

__global__ void unfold(float *columns, const float *image, int channels, int k, int height, int width) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= channels * height * width) return;
  int x = i % width, row = i / width, y = row % height, c = row / height;
  float *to = columns + (c * k * k * height + y) * width + x;
  for (int a = 0; a < k; ++a)
    for (int b = 0; b < k; ++b) {
      *to = image[((c * (height + k) + y + a) * (width + k)) + x + b];
      to += height * width;
    }
}

// The host computes the sizes, and the threads go on by the size of the grid.
__global__ void unfold_valid(float *columns, const float *image, int channels, int k, int rows, int across) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < channels * rows * across; i += gridDim.x * blockDim.x) {
    int x = i % across, row = i / across, y = row % rows, c = row / rows;
    float *to = columns + (c * k * k * rows + y) * across + x;
    for (int a = 0; a < k; ++a)
      for (int b = 0; b < k; ++b) {
        *to = image[((c * (rows + k) + y + a) * (across + k)) + x + b];
        to += rows * across;
      }
  }
}

__global__ void one_channel_too_close(float *columns, const float *image, int channels, int k, int height, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= channels * height * width) return;
  int x = i % width, row = i / width, y = row % height, c = row / height;
  float *to = columns + (c * k * height + y) * width + x;
  for (int a = 0; a < k; ++a)
    for (int b = 0; b < k; ++b) {
      *to = image[((c * (height + k) + y + a) * (width + k)) + x + b];  // expect: data-race with self
      to += height * width;
    }
}

__global__ void side_by_side(float *out, const float *a, const float *b, int rows, int m, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * m) out[i / m * (m + n) + i % m] = a[i];
  if (i < rows * n) out[i / n * (m + n) + m + i % n] = b[i];
}

__global__ void into_each_other(float *out, const float *a, const float *b, int rows, int m, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * m) out[i / m * (m + n) + i % m] = a[i];  // expect: data-race with +1
  if (i < rows * n) out[i / n * (m + n) + m - 1 + i % n] = b[i];
}

void launch_valid(float *out, const float *in, int channels, int height, int width, int k, int stride) {
  unfold_valid<<<1024, 256>>>(out, in, channels, k, (height - k) / stride + 1, (width - k) / stride + 1);
}

void launch(float *out, const float *in, int a, int b, int c, int k) {
  if (a < 1 || b < 1 || c < 1 || k < 2) return;
  unfold<<<(a * b * c + 255) / 256, 256>>>(out, in, a, k, b, c);
  one_channel_too_close<<<(a * b * c + 255) / 256, 256>>>(out, in, a, k, b, c);
  side_by_side<<<(a * max(b, c) + 255) / 256, 256>>>(out, in, in, a, b, c);
  into_each_other<<<(a * max(b, c) + 255) / 256, 256>>>(out, in, in, a, b, c);
}
