// Facts from the bounds of host loops around a launch, each with a twin whose loop allows one value more.

// The stride is at least 1.
__global__ void stride_from_one(int *out, int stride) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * stride] = i;
}

void launch_stride_from_one(int *out) {
  for (int stride = 1; stride <= 16; ++stride) stride_from_one<<<4, 64>>>(out, stride);
}

__global__ void stride_from_zero(int *out, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i * stride] = i;  // expect: data-race with self
}

void launch_stride_from_zero(int *out) {
  for (int stride = 0; stride <= 16; ++stride) stride_from_zero<<<4, 64>>>(out, stride);
}

// The distance halves and stays positive; block and distance are one number.
__global__ void fold_by(int *a, int d) {  // expect: race-free
  a[threadIdx.x] += a[threadIdx.x + d];
}

void launch_fold_by(int *a) {
  for (int d = 512; d > 0; d /= 2) fold_by<<<1, d>>>(a, d);
}

// A block of twice the distance.
__global__ void fold_by_too_many(int *a, int d) {
  a[threadIdx.x] += a[threadIdx.x + d];  // expect: data-race with self
}

void launch_fold_by_too_many(int *a) {
  for (int d = 512; d > 0; d /= 2) fold_by_too_many<<<1, 2 * d>>>(a, d);
}

// Steps of a scan: the distance doubles up to n.
__global__ void scan_step(const int *from, int *to, int n, int d) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = i >= d ? from[i] + from[i - d] : from[i];
}

void launch_scan(int *a, int *b, int n) {
  for (int d = 1; d < n; d *= 2) {
    scan_step<<<(n + 255) / 256, 256>>>(a, b, n, d);
    int *c = a;
    a = b;
    b = c;
  }
}

// In place: whatever the distance, somebody reads what somebody else writes.
__global__ void scan_step_in_place(int *a, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i >= d) a[i] += a[i - d];  // expect: data-race with self
}

void launch_scan_in_place(int *a, int n) {
  for (int d = 1; d < n; d *= 2) scan_step_in_place<<<(n + 255) / 256, 256>>>(a, n, d);
}

// Panels of a factorisation: the row below the pivot.
__global__ void eliminate(float *a, int n, int pivot) {  // expect: race-free
  int row = pivot + 1 + blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) {
    float f = a[row * n + pivot] / a[pivot * n + pivot];
    for (int c = pivot; c < n; ++c) a[row * n + c] -= f * a[pivot * n + c];
  }
}

void launch_eliminate(float *a, int n) {
  for (int pivot = 0; pivot < n - 1; ++pivot) eliminate<<<(n + 63) / 64, 64>>>(a, n, pivot);
}

// The pivot's row is written as well.
__global__ void eliminate_with_pivot(float *a, int n, int pivot) {
  int row = pivot + blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) {
    float f = a[row * n + pivot] / a[pivot * n + pivot];             // expect: data-race with +1
    for (int c = pivot; c < n; ++c) a[row * n + c] -= f * a[pivot * n + c];  // expect: data-race with self
  }
}

void launch_eliminate_with_pivot(float *a, int n) {
  for (int pivot = 0; pivot < n - 1; ++pivot) eliminate_with_pivot<<<(n + 63) / 64, 64>>>(a, n, pivot);
}

// A while loop on the host.
__global__ void chunk(int *out, int begin, int size) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[(begin + i) * size] = i;
}

void launch_chunks(int *out, int n) {
  int size = 1;
  while (size < n) {
    chunk<<<2, 128>>>(out, 0, size);
    size *= 2;
  }
}

// The loop ends with zero included.
__global__ void chunk_down_to_zero(int *out, int begin, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[(begin + i) * size] = i;  // expect: data-race with self
}

void launch_chunks_down(int *out) {
  int size = 64;
  while (size >= 0) {
    chunk_down_to_zero<<<2, 128>>>(out, 0, size);
    size -= 16;
  }
}

// The counter is declared before the loop, and the step has a name.
constexpr int STRIPE = 32;

__global__ void stripe(float *out, int n, int begin) {  // expect: race-free
  int row = begin + threadIdx.y, column = threadIdx.x;
  if (row < n && column < n) out[row * n + column] = row;
}

void launch_stripes(float *out, int n) {
  int begin = 0;
  for (begin = 0; begin < n - STRIPE; begin += STRIPE) stripe<<<1, dim3(STRIPE, STRIPE)>>>(out, n, begin);
}

// The same counter after the loop, used as a row length: a loop that is never entered leaves zero.
__global__ void after_stripes(float *out, int length) {
  out[threadIdx.x * length] = 1.0f * threadIdx.x;  // expect: data-race with self
}

void launch_after_stripes(float *out, int n) {
  int begin = 4;
  for (begin = 0; begin < n; begin += STRIPE) stripe<<<1, dim3(STRIPE, STRIPE)>>>(out, n, begin);
  after_stripes<<<1, 64>>>(out, begin);
}

// A bitonic merge, one launch per stride: what halves from a power of two is one, whatever the power. The positions of a
// thread are `2 * i` with the bit of the stride left out, and the same with it.
__device__ void compare_exchange(unsigned *keys, unsigned low, unsigned high, bool up) {
  unsigned a = keys[low], b = keys[high];
  if ((a > b) == up) {
    keys[low] = b;
    keys[high] = a;
  }
}

__global__ void merge_step(unsigned *keys, unsigned size, unsigned stride) {  // expect: race-free
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned low = 2 * i - (i & (stride - 1));
  compare_exchange(keys, low, low + stride, (i & (size / 2)) != 0);
}

void launch_merges(unsigned *keys, unsigned blocks, unsigned length) {
  for (unsigned size = 512; size <= length; size <<= 1)
    for (unsigned stride = size / 2; stride >= 256; stride >>= 1) merge_step<<<blocks, 128>>>(keys, size, stride);
}

// A power of two is what the host says it is.
__global__ void halve_step(float *values, int stride) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int low = 2 * i - (i & (stride - 1));
  values[low] += values[low + stride];
}

void launch_halves(float *values, int length) {
  assert(length > 0 && (length & (length - 1)) == 0);
  for (int stride = length / 2; stride > 0; stride >>= 1) halve_step<<<length / 256, 128>>>(values, stride);
}

__global__ void halve_step_any(float *values, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int low = 2 * i - (i & (stride - 1));
  values[low] = i;  // expect: data-race with self
}

void launch_halves_any(float *values, int length) {
  assert(length > 0);
  for (int stride = length / 2; stride > 0; stride >>= 1) halve_step_any<<<length / 256, 128>>>(values, stride);
}
