// A flat index taken apart into rows and columns of sizes that the host passes and nobody limits.

__global__ void put_together(const float *in, float *out, int w, int h, int c) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w * h * c) return;
  int x = i % w, y = (i / w) % h, k = i / (w * h);
  out[(k * h + y) * w + x] = in[i];
}
void host1(const float *in, float *out, int w, int h, int c) {
  put_together<<<(w * h * c + 255) / 256, 256>>>(in, out, w, h, c);
}

__global__ void transposed(const float *in, float *out, int w, int h) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w * h) return;
  int x = i % w, y = i / w;
  out[x * h + y] = in[i];
}
void host2(const float *in, float *out, int w, int h) {
  transposed<<<(w * h + 255) / 256, 256>>>(in, out, w, h);
}

__global__ void channels_first(const float *in, float *out, int n, int h, int w, int c) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * h * w * c; i += blockDim.x * gridDim.x) {
    int ch = i % c, x = (i / c) % w, y = (i / c / w) % h, b = i / c / w / h;
    out[((b * c + ch) * h + y) * w + x] = in[i];
  }
}
void host3(const float *in, float *out, int n, int h, int w, int c) {
  channels_first<<<(n * w * h * c + 255) / 256, 256>>>(in, out, n, h, w, c);
}

__global__ void unsigned_sizes(const float *in, float *out, unsigned w, unsigned h) {  // expect: race-free
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = i % w, y = i / w;
  out[y * w + x] = in[i];
}
void host4(const float *in, float *out, unsigned w, unsigned h) {
  unsigned_sizes<<<(w * h + 255) / 256, 256>>>(in, out, w, h);
}

// Nothing limits the rows.
__global__ void transposed_without_limit(const float *in, float *out, int w, int h, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = i % w, y = i / w;
  out[x * h + y] = in[i];  // expect: data-race with self
}
void host5(const float *in, float *out, int w, int h, int n) {
  transposed_without_limit<<<(n + 255) / 256, 256>>>(in, out, w, h, n);
}

// The images of a batch are written over each other.
__global__ void without_the_batch(const float *in, float *out, int w, int h, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w * h * c) return;
  int x = i % w, y = (i / w) % h;
  out[y * w + x] = in[i];  // expect: data-race with self
}
void host6(const float *in, float *out, int w, int h, int c) {
  without_the_batch<<<(w * h * c + 255) / 256, 256>>>(in, out, w, h, c);
}

// Width and height are mixed up.
__global__ void mixed_up(const float *in, float *out, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w * h) return;
  int x = i % w, y = i / h;
  out[y * w + x] = in[i];  // expect: data-race with self
}
void host7(const float *in, float *out, int w, int h) {
  mixed_up<<<(w * h + 255) / 256, 256>>>(in, out, w, h);
}

// All in one column where there is no height.
__global__ void no_height(const float *in, float *out, int w, int h, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[(i % w) * h] = in[i];  // expect: data-race with self
}
void host8(const float *in, float *out, int w, int h, int n) {
  if (n > w) return;
  no_height<<<(n + 255) / 256, 256>>>(in, out, w, h, n);
}

// Without a width nothing is divided.
__global__ void perhaps_no_width(const float *in, float *out, int w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[w != 0 ? i % w + i / w * w : 0] = in[i];  // expect: data-race with self
}
void host9(const float *in, float *out, int w, int n) {
  perhaps_no_width<<<(n + 255) / 256, 256>>>(in, out, w, n);
}

// A negative width is no stride.
__global__ void width_as_stride(const float *in, float *out, int w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i / w * max(w, 0) + i % w] = in[i];  // expect: data-race with self
}
void host10(const float *in, float *out, int w, int n) {
  width_as_stride<<<(n + 255) / 256, 256>>>(in, out, w, n);
}

// One column less than the stride says, so that rows overlap.
__global__ void rows_overlap(const float *in, float *out, int w, int h) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= w * h) return;
  int x = i % w, y = i / w;
  out[y * (w - 1) + x] = in[i];  // expect: data-race with self
}
void host11(const float *in, float *out, int w, int h) {
  rows_overlap<<<(w * h + 255) / 256, 256>>>(in, out, w, h);
}
