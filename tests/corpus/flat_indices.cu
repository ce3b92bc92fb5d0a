// Elements are counted in one number, which is taken apart by sizes that only the host knows and put together anew.

__global__ void doubled(float *out, const float *in, int batch, int channels, int height, int width) {  // expect: race-free
  int flat = blockIdx.x * blockDim.x + threadIdx.x;
  if (flat >= batch * channels * height * width) return;
  int b = flat / (channels * height * width), c = (flat / (height * width)) % channels;
  int y = (flat / width) % height, x = flat % width;
  float *to = out + b * channels * height * width * 4 + c * height * width * 4 + 2 * y * 2 * width + 2 * x;
  for (int dy = 0; dy < 2; ++dy)
    for (int dx = 0; dx < 2; ++dx) to[dy * 2 * width + dx] = in[flat];
}

__global__ void doubled_in_columns_only(float *out, const float *in, int batch, int channels, int height, int width) {
  int flat = blockIdx.x * blockDim.x + threadIdx.x;
  if (flat >= batch * channels * height * width) return;
  int b = flat / (channels * height * width), c = (flat / (height * width)) % channels;
  int y = (flat / width) % height, x = flat % width;
  float *to = out + b * channels * height * width * 4 + c * height * width * 4 + y * 2 * width + 2 * x;
  for (int dy = 0; dy < 2; ++dy)
    for (int dx = 0; dx < 2; ++dx) to[dy * 2 * width + dx] = flat + in[flat];  // expect: data-race with self
}

__global__ void channels_last(float *out, const float *in, int batch, int channels, int height, int width) {  // expect: race-free
  int flat = blockIdx.x * blockDim.x + threadIdx.x;
  if (flat >= batch * channels * height * width) return;
  int b = flat / (channels * height * width), c = (flat / (height * width)) % channels;
  int y = (flat / width) % height, x = flat % width;
  out[((b * height + y) * width + x) * channels + c] = in[flat];
}

__global__ void channels_last_of_one_row(float *out, const float *in, int batch, int channels, int height, int width) {
  int flat = blockIdx.x * blockDim.x + threadIdx.x;
  if (flat >= batch * channels * height * width) return;
  int b = flat / (channels * height * width), c = (flat / (height * width)) % channels;
  int x = flat % width;
  out[(b * width + x) * channels + c] = flat + in[flat];  // expect: data-race with self
}

__global__ void by_subtraction(float *out, const float *in, int planes, int height, int width) {  // expect: race-free
  for (int flat = blockIdx.x * blockDim.x + threadIdx.x; flat < planes * height * width; flat += gridDim.x * blockDim.x) {
    int plane = flat / (height * width), rest = flat - plane * height * width;
    int y = rest / width, x = rest - y * width;
    out[(y * planes + plane) * width + x] = in[flat];
  }
}

__global__ void by_subtraction_of_another(float *out, const float *in, int planes, int height, int width) {
  for (int flat = blockIdx.x * blockDim.x + threadIdx.x; flat < planes * height * width; flat += gridDim.x * blockDim.x) {
    int plane = flat / (height * width), rest = flat - plane * width * width;
    int y = rest / width, x = rest - y * width;
    out[(y * planes + plane) * width + x] = flat + in[flat];  // expect: data-race with self
  }
}

// Shares of a number of elements that is no multiple of the number of threads, and may be anything.
__global__ void shares(float *out, const float *in, int n) {  // expect: race-free
  int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int i = n * thread / threads; i < n * (thread + 1) / threads; ++i) out[i] = in[i];
}

__global__ void shares_with_both_ends(float *out, const float *in, int n) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int i = n * thread / threads; i <= n * (thread + 1) / threads; ++i)
    out[i] = thread + in[i];  // expect: data-race with self
}

// Permutations by sizes of which nobody says that they are positive: they are ones for all signs.
__global__ void permuted(float *out, const float *in, int batch, int heads, int rows, int width) {  // expect: race-free
  int flat = blockIdx.x * blockDim.x + threadIdx.x;
  if (flat < batch * heads * rows * width) {
    int b = flat / (heads * rows * width), rest = flat % (heads * rows * width);
    int h = rest / (rows * width);
    rest = rest % (rows * width);
    int row = rest / width, x = rest % width;
    out[b * rows * heads * width + row * heads * width + h * width + x] = in[flat];
  }
}

__global__ void permuted_by_another_size(float *out, const float *in, int batch, int heads, int rows, int width) {
  int flat = blockIdx.x * blockDim.x + threadIdx.x;
  if (flat < batch * heads * rows * width) {
    int b = flat / (heads * rows * width), rest = flat % (heads * rows * width);
    int h = rest / (rows * width);
    rest = rest % (rows * width);
    int row = rest / width, x = rest % width;
    out[b * rows * heads * width + row * rows * width + h * width + x] = flat + in[flat];  // expect: data-race with self
  }
}

// Unsigned, from signed ones.
__global__ void permuted_unsigned(float *out, const float *in, unsigned batch, unsigned heads, unsigned rows, unsigned width) {  // expect: race-free
  unsigned flat = blockIdx.x * blockDim.x + threadIdx.x;
  if (flat >= batch * heads * rows * width) return;
  unsigned x = flat % width, rest = flat / width;
  unsigned row = rest % rows;
  rest /= rows;
  unsigned h = rest % heads, b = rest / heads;
  out[((b * rows + row) * heads + h) * width + x] = in[flat];
}

void permute(float *out, const float *in, int batch, int heads, int rows, int width) {
  int all = batch * heads * rows * width;
  permuted<<<(all + 255) / 256, 256>>>(out, in, batch, heads, rows, width);
  permuted_by_another_size<<<(all + 255) / 256, 256>>>(out, in, batch, heads, rows, width);
  permuted_unsigned<<<(all + 255) / 256, 256>>>(out, in, batch, heads, rows, width);
}

void run(float *out, const float *in, int batch, int channels, int height, int width) {
  if (batch < 1 || channels < 1 || height < 1 || width < 1) return;
  int all = batch * channels * height * width;
  doubled<<<(all + 255) / 256, 256>>>(out, in, batch, channels, height, width);
  doubled_in_columns_only<<<(all + 255) / 256, 256>>>(out, in, batch, channels, height, width);
  channels_last<<<(all + 255) / 256, 256>>>(out, in, batch, channels, height, width);
  channels_last_of_one_row<<<(all + 255) / 256, 256>>>(out, in, batch, channels, height, width);
  shares<<<16, 256>>>(out, in, all);
  shares_with_both_ends<<<16, 256>>>(out, in, all);
  by_subtraction<<<64, 256>>>(out, in, channels, height, width);
  by_subtraction_of_another<<<64, 256>>>(out, in, channels, height, width);
}
