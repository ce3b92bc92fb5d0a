// A window around each pixel of an image, mirrored at the edges.

template <int R>
__global__ void smooth(const float *in, float *out, int width, int height, float variance) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float center = in[y * width + x], sum = 0, norm = 0;
  for (int dy = -R; dy <= R; dy++)
    for (int dx = -R; dx <= R; dx++) {
      int nx = abs(x + dx), ny = abs(y + dy);
      if (nx > width - 1) nx = width - 1 - dx;
      if (ny > height - 1) ny = height - 1 - dy;
      float value = in[ny * width + nx];
      float weight = expf(-(value - center) * (value - center) / variance);
      sum += weight * value;
      norm += weight;
    }
  out[y * width + x] = sum / norm;
}

template <int R>
__global__ void smooth_in_place(float *image, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int dx = -R; dx <= R; dx++)
    if (x + dx >= 0 && x + dx < width) sum += image[y * width + x + dx];  // expect: data-race with +1
  image[y * width + x] = sum / (2 * R + 1);
}

void filter(int width, int height) {
  float *in, *out;
  int pixels = width * height;
  cudaMalloc(&in, pixels * sizeof(float));
  cudaMalloc(&out, pixels * sizeof(float));
  dim3 block(16, 16), grid((width + 15) / 16, (height + 15) / 16);
  smooth<3><<<grid, block>>>(in, out, width, height, 2.0f);
  smooth<6><<<grid, block>>>(in, out, width, height, 2.0f);
  smooth_in_place<3><<<grid, block>>>(in, width, height);
}
