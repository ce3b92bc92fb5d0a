// Stencils: halos in shared memory, time steps, red-black orders, updates in place.

#define RADIUS 3

// cuda-lsp: launch grid=(2) block=(64) n=128
__global__ void halo(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[64 + 2 * RADIUS];
  int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + RADIUS;
  s[l] = in[i];
  if (threadIdx.x < RADIUS) {
    s[l - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0;
    s[l + 64] = i + 64 < n ? in[i + 64] : 0;
  }
  __syncthreads();
  int sum = 0;
  for (int k = -RADIUS; k <= RADIUS; ++k) sum += s[l + k];
  out[i] = sum;
}

// Without the barrier each of the three writes meets the reads.
// cuda-lsp: launch grid=(2) block=(64) n=128
__global__ void halo_unordered(const int *in, int *out, int n) {
  __shared__ int s[64 + 2 * RADIUS];
  int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + RADIUS;
  s[l] = in[i];  // expect: data-race intra-block with +6, fix: yes
  if (threadIdx.x < RADIUS) {
    s[l - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0;  // expect: data-race intra-block with +4, fix: yes
    s[l + 64] = i + 64 < n ? in[i + 64] : 0;           // expect: data-race intra-block with +3, fix: yes
  }
  int sum = 0;
  for (int k = -RADIUS; k <= RADIUS; ++k) sum += s[l + k];
  out[i] = sum;
}

// One thread too many fills the halo: thread 3 writes its left halo cell where thread 0 writes its centre.
// cuda-lsp: launch grid=(2) block=(64) n=128
__global__ void halo_one_too_many(const int *in, int *out, int n) {
  __shared__ int s[64 + 2 * RADIUS];
  int i = blockIdx.x * blockDim.x + threadIdx.x, l = threadIdx.x + RADIUS;
  s[l] = in[i];  // expect: data-race intra-warp with +1
  if (threadIdx.x <= RADIUS) s[l - RADIUS] = i;
  __syncthreads();
  out[i] = s[l] + s[l - 1];
}

// Time steps in shared memory through a register.
// cuda-lsp: launch grid=(1) block=(64) steps=5
__global__ void heat_steps(float *a, int steps) {  // expect: race-free
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  for (int k = 0; k < steps; ++k) {
    float v = s[t];
    if (t > 0 && t < 63) v = 0.25f * s[t - 1] + 0.5f * s[t] + 0.25f * s[t + 1];
    __syncthreads();
    s[t] = v;
    __syncthreads();
  }
  a[t] = s[t];
}

// The new value is stored at once.
// cuda-lsp: launch grid=(1) block=(64) steps=5
__global__ void heat_steps_in_place(float *a, int steps) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = a[t];
  __syncthreads();
  for (int k = 0; k < steps; ++k) {
    if (t > 0 && t < 63) s[t] = 0.5f * (s[t - 1] + s[t + 1]);  // expect: data-race intra-block with self
    __syncthreads();
  }
  a[t] = s[t];
}

// Red-black: the cells of one colour are computed from the other colour only.
// cuda-lsp: launch grid=(1) block=(64) steps=4
__global__ void red_black(float *a, int steps) {  // expect: race-free
  __shared__ float s[66];
  int t = threadIdx.x;
  s[t] = a[t];
  if (t < 2) s[64 + t] = a[64 + t];
  __syncthreads();
  for (int k = 0; k < steps; ++k) {
    if ((t & 1) == 0) s[t + 1] = 0.5f * (s[t] + s[t + 2]);
    __syncthreads();
    if ((t & 1) == 1) s[t + 1] = 0.5f * (s[t] + s[t + 2]);
    __syncthreads();
  }
  a[t] = s[t];
}

// The barrier between the colours is missing.
// cuda-lsp: launch grid=(1) block=(64) steps=4
__global__ void red_black_one_barrier(float *a, int steps) {
  __shared__ float s[66];
  int t = threadIdx.x;
  s[t] = a[t];
  if (t < 2) s[64 + t] = a[64 + t];
  __syncthreads();
  for (int k = 0; k < steps; ++k) {
    if ((t & 1) == 0) s[t + 1] = 0.5f * (s[t] + s[t + 2]);  // expect: data-race intra-block with +1, fix: yes
    if ((t & 1) == 1) s[t + 1] = 0.5f * (s[t] + s[t + 2]);
    __syncthreads();
  }
  a[t] = s[t];
}

// One colour of a global grid per launch; the colour comes from the host.
__global__ void checkerboard(float *a, int w, int colour) {  // expect: race-free
  int x = blockIdx.x * 16 + threadIdx.x + 1, y = blockIdx.y * 16 + threadIdx.y + 1;
  if (x < w - 1 && ((x + y) & 1) == colour)
    a[y * w + x] = 0.25f * (a[y * w + x - 1] + a[y * w + x + 1] + a[(y - 1) * w + x] + a[(y + 1) * w + x]);
}

void checkerboard_sweep(float *a) {
  dim3 grid(2, 2), block(16, 16);
  checkerboard<<<grid, block>>>(a, 34, 0);
  checkerboard<<<grid, block>>>(a, 34, 1);
}

// A five-point stencil with a halo tile, loaded by all threads in a strided loop.
// cuda-lsp: launch grid=(2,2) block=(8,8) w=18
__global__ void five_points(const float *in, float *out, int w) {  // expect: race-free
  __shared__ float tile[10][10];
  int t = threadIdx.y * 8 + threadIdx.x;
  int x0 = blockIdx.x * 8, y0 = blockIdx.y * 8;
  for (int i = t; i < 100; i += 64) tile[i / 10][i % 10] = in[(y0 + i / 10) * w + x0 + i % 10];
  __syncthreads();
  int x = threadIdx.x + 1, y = threadIdx.y + 1;
  out[(y0 + y) * w + x0 + x] = tile[y][x] + tile[y - 1][x] + tile[y + 1][x] + tile[y][x - 1] + tile[y][x + 1];
}

// The row index is computed with the wrong divisor: two rows of the tile become one.
// cuda-lsp: launch grid=(1) block=(50)
__global__ void tile_wrong_divisor(const int *in, int *out) {
  __shared__ int tile[10][10];
  int t = threadIdx.x;
  tile[t / 20][t % 10] = t;  // expect: data-race intra-block with self
  __syncthreads();
  out[t] = tile[t / 10][t % 10];
}

// Columns marched through a register window: each thread owns a column of the output, no barrier at all.
// cuda-lsp: launch grid=(2) block=(32) h=8
__global__ void register_window(const float *in, float *out, int h) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  float above = in[x], here = in[64 + x];
  for (int y = 1; y < h - 1; ++y) {
    float below = in[(y + 1) * 64 + x];
    out[y * 64 + x] = 0.5f * here + 0.25f * (above + below);
    above = here;
    here = below;
  }
}

// In place, marching along y: each column reads its own cells only.
// cuda-lsp: launch grid=(2) block=(32) h=8
__global__ void columns_in_place(float *a, int h) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int y = 1; y < h; ++y) a[y * 64 + x] += a[(y - 1) * 64 + x];
}

// In place, marching along x: the rows are read at the neighbour's column.
// cuda-lsp: launch grid=(2) block=(32) h=8
__global__ void columns_skewed_in_place(float *a, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  for (int y = 1; y < h; ++y)
    a[y * 65 + x] += a[(y - 1) * 65 + x + 1];  // expect: data-race with self
}
