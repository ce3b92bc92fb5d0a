// Arrays of a thread's own that short loops fill with places, and that others read element by element.

// Digits of an index by the sizes of three dimensions.
__global__ void three_digits(float *out, const float *in, int a, int b, int c) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a * b * c) return;
  int dims[3] = {a, b, c}, at[3];
  int rest = i;
  for (int d = 2; d >= 0; --d) {
    at[d] = rest % dims[d];
    rest /= dims[d];
  }
  out[(at[0] * b + at[1]) * c + at[2]] = in[i];
}

// Without the last digit.
__global__ void digit_left_out(float *out, const float *in, int a, int b, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= a * b * c) return;
  int dims[3] = {a, b, c}, at[3];
  int rest = i;
  for (int d = 2; d >= 0; --d) {
    at[d] = rest % dims[d];
    rest /= dims[d];
  }
  out[at[0] * b + at[1]] = in[i];  // expect: possible-data-race with self
}

// Four elements for each thread, a grid apart.
// cuda-lsp: launch grid=(64) block=(256)
__global__ void a_grid_apart(float *out, const float *in, int n) {  // expect: race-free
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int at[4];
#pragma unroll
  for (int d = 0; d < 4; ++d) at[d] = t + d * gridDim.x * blockDim.x;
  for (int d = 0; d < 4; ++d)
    if (at[d] < n) out[at[d]] = in[at[d]];
}

// Half a grid apart: the last element of one is the first of another.
// cuda-lsp: launch grid=(64) block=(256)
__global__ void half_a_grid_apart(float *out, const float *in, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int at[4];
  for (int d = 0; d < 4; ++d) at[d] = t + d * gridDim.x * blockDim.x / 2;
  for (int d = 0; d < 4; ++d)
    if (at[d] < n) out[at[d]] = d + t;  // expect: data-race with self
}

// First and last of four cells of a thread.
// cuda-lsp: launch grid=(64) block=(256)
__global__ void first_and_last(float *out) {  // expect: race-free
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int at[4];
  for (int d = 0; d < 4; ++d) at[d] = 4 * t + d;
  out[at[0]] = 1;
  out[at[3]] = 2;
}

// What lies behind the last one.
// cuda-lsp: launch grid=(64) block=(256)
__global__ void one_behind(float *out) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  int at[5];
  for (int d = 0; d < 5; ++d) at[d] = 4 * t + d;
  out[at[0]] = 1;  // expect: data-race with +1
  out[at[4]] = 2;
}

// Filled under a condition: else the element holds what it held before.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void filled_sometimes(int *out, const int *in) {
  int t = threadIdx.x, given = in[t];
  int at[4] = {t, t + 64, t + 128, 0};
  for (int d = 0; d < 4; ++d)
    if (given >> d & 1) at[d] = t + 64 * d;
  out[at[2]] = t;
  out[at[3]] = t;  // expect: possible-data-race with self
}

// The loop turns more often than can be written out.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void longer(int *out) {
  int t = threadIdx.x;
  int at[32];
  for (int d = 0; d < 32; ++d) at[d] = t / 2 + d * 64;
  out[at[7]] = t;  // expect: possible-data-race with self
}

// The element of another turn.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void element_of_the_data(int *out, const int *in) {
  int t = threadIdx.x;
  int at[2] = {t, t + 64};
  out[at[in[t] & 1]] = t;
  out[at[in[t + 64] & 1] / 2] = 1;  // expect: possible-data-race with self; possible-data-race with -1
}

// The place is summed up from the digits, in a loop of its own.
// cuda-lsp: launch grid=(1) block=(512)
__global__ void summed_digits(float *out) {  // expect: race-free
  int size[3] = {1, 8, 64}, digit[3], rest = threadIdx.x, at = 0;
  for (int d = 0; d < 3; ++d) {
    digit[d] = rest & 7;
    rest >>= 3;
  }
  for (int d = 0; d < 3; ++d) at += digit[d] * size[d];
  out[at] = threadIdx.x;
}

// Each digit has lost a bit.
// cuda-lsp: launch grid=(1) block=(512)
__global__ void shorter_digits(float *out) {
  int size[3] = {1, 8, 64}, digit[3], rest = threadIdx.x, at = 0;
  for (int d = 0; d < 3; ++d) {
    digit[d] = rest & 3;
    rest >>= 3;
  }
  for (int d = 0; d < 3; ++d) at += digit[d] * size[d];
  out[at] = threadIdx.x;  // expect: data-race with self
}
