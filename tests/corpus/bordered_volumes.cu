// Volumes with a border: their rows and planes are sums, whose products are long ones.

__global__ void bordered(float *out, const float *in, int nx, int ny, int nz, int padding) {  // expect: race-free
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int row = nx + 8, plane = row * (ny + 8);
  int at = 4 * plane + 4 * row + 4 + padding + y * row + x;
  for (int z = 0; z < nz; ++z) {
    out[at] = in[at - row] + in[at + row] + z;
    at += plane;
  }
}

__global__ void beyond_the_border(float *out, const float *in, int nx, int ny, int nz, int padding) {
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= nx + 9 || y >= ny) return;
  int row = nx + 8, plane = row * (ny + 8);
  int at = 4 * plane + 4 * row + 4 + padding + y * row + x;
  for (int z = 0; z < nz; ++z) {
    out[at] = in[at - row] + x;  // expect: data-race with self
    at += plane;
  }
}

// Where a filter fits in: the images are smaller than what they are made from.
__global__ void inside(float *out, const float *in, int height, int width) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width - 2 && y < height - 2) out[(blockIdx.z * (height - 2) + y) * (width - 2) + x] = in[x];
}

__global__ void all_of_it(float *out, const float *in, int height, int width) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) out[(blockIdx.z * (height - 2) + y) * (width - 2) + x] = in[x];  // expect: data-race with self
}

void launch(float *out, const float *in, int a, int b, int c, int padding) {
  bordered<<<dim3((a + 31) / 32, (b + 7) / 8), dim3(32, 8)>>>(out, in, a, b, c, padding);
  beyond_the_border<<<dim3((a + 40) / 32, (b + 7) / 8), dim3(32, 8)>>>(out, in, a, b, c, padding);
  inside<<<dim3((a + 15) / 16, (b + 15) / 16, c), dim3(16, 16)>>>(out, in, b, a);
  all_of_it<<<dim3((a + 15) / 16, (b + 15) / 16, c), dim3(16, 16)>>>(out, in, b, a);
}
