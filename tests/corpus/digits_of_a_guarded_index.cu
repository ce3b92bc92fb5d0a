// Tensors of sizes that nobody knows, whose dimensions are exchanged: the digits of an index below the number of elements.

__global__ void pixel_shuffle(float *out, const float *in, int channels, int height, int width, int r) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= channels * height * width * r * r) return;
  int w = i % width, h = i / width % height, b = i / (width * height) % r;
  int a = i / (width * height * r) % r, c = i / (width * height * r * r);
  out[(c * (height * r) + h * r + a) * (width * r) + w * r + b] = in[i];
}

__global__ void one_size_left_out(float *out, const float *in, int channels, int height, int width, int r) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= channels * height * width * r * r) return;
  int w = i % width, h = i / width % height, b = i / (width * height) % r;
  int a = i / (width * height * r) % r, c = i / (width * height * r * r);
  out[(c * (height * r) + h * r + a) * (width * r) + w + b] = in[i];  // expect: data-race with self
}

// The lower digits are taken away before the division.
__global__ void taken_away(float *out, const float *in, int m, int n, int k) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n * k) return;
  int z = i % k;
  int y = (i - z) / k % n;
  int x = (i - z - y * k) / (k * n);
  out[(z * n + y) * m + x] = in[i];
}

__global__ void another_digit_taken_away(float *out, const float *in, int m, int n, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n * k) return;
  int z = i % k;
  int y = (i - z) / k % n;
  int x = (i - z - y * k) / (k * n);
  out[(z * n + y) * n + x] = in[i];  // expect: data-race with self
}

// The highest digit is smaller than the last size only by the guard.
__global__ void by_the_guard(float *out, const float *in, int rows, int columns, int depth) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns * depth) return;
  int z = i / (columns * rows), y = i / columns % rows, x = i % columns;
  out[(x * rows + y) * depth + z] = in[i];
}

__global__ void beyond_the_guard(float *out, const float *in, int rows, int columns, int depth) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns * depth + rows * columns) return;
  int z = i / (columns * rows), y = i / columns % rows, x = i % columns;
  out[(x * rows + y) * depth + z] = in[i];  // expect: data-race with self
}

// A remainder that changes nothing.
__global__ void twice(float *out, const float *in, int a, int b) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a * b) return;
  out[i % a * b + i / a % b] = in[i];
}

__global__ void remainder_that_matters(float *out, const float *in, int a, int b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > a * b) return;
  out[i % a * b + i / a % b] = in[i];  // expect: data-race with self
}

void launch(float *out, const float *in, int a, int b, int c, int r) {
  if (a < 1 || b < 1 || c < 1 || r < 1) return;
  pixel_shuffle<<<(a * b * c * r * r + 255) / 256, 256>>>(out, in, a, b, c, r);
  one_size_left_out<<<(a * b * c * r * r + 255) / 256, 256>>>(out, in, a, b, c, r);
  taken_away<<<(a * b * c + 255) / 256, 256>>>(out, in, a, b, c);
  another_digit_taken_away<<<(a * b * c + 255) / 256, 256>>>(out, in, a, b, c);
  by_the_guard<<<(a * b * c + 255) / 256, 256>>>(out, in, a, b, c);
  beyond_the_guard<<<(a * b * c + a * b) / 256 + 1, 256>>>(out, in, a, b, c);
  twice<<<(a * b + 255) / 256, 256>>>(out, in, a, b);
  remainder_that_matters<<<(a * b) / 256 + 1, 256>>>(out, in, a, b);
}
