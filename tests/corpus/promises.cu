// What comments promise: expressions, arrays without repetitions, arrays that do not overlap.

// Every row has one place in the permuted matrix.
// cuda-lsp: launch grid=(4) block=(256)
// cuda-lsp: assume injective(place)
__global__ void permuted_rows(const int *place, const float *in, float *out, int rows, int width) {  // expect: race-free, cites -1
  for (int r = blockIdx.x; r < rows; r += gridDim.x)
    for (int c = threadIdx.x; c < width; c += blockDim.x) out[place[r] * width + c] = in[r * width + c];
}

// Without the promise two rows may go to one place.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void rows_anywhere(const int *place, const float *in, float *out, int rows, int width) {
  for (int r = blockIdx.x; r < rows; r += gridDim.x)
    for (int c = threadIdx.x; c < width; c += blockDim.x)
      out[place[r] * width + c] = in[r * width + c];  // expect: possible-data-race with self
}

// cuda-lsp: launch grid=(4) block=(256)
// cuda-lsp: assume injective(index)
__global__ void scatter_distinct(const int *index, const float *in, float *out, int n) {  // expect: race-free, cites -1
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

// Pairs of cells that start at distinct indices overlap all the same.
// cuda-lsp: launch grid=(4) block=(256)
// cuda-lsp: assume injective(index)
__global__ void scatter_pairs(const int *index, const float *in, float *out, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    out[index[i]] = in[i];  // expect: possible-data-race with +1
    out[index[i] + 1] = in[i];
  }
}

// cuda-lsp: launch grid=(4) block=(256)
// cuda-lsp: assume injective(index)
__global__ void scatter_pairs_apart(const int *index, const float *in, float *out, int n) {  // expect: race-free
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    out[2 * index[i]] = in[i];
    out[2 * index[i] + 1] = in[i];
  }
}

// Two threads look at the same element.
// cuda-lsp: launch grid=(4) block=(256)
// cuda-lsp: assume injective(index)
__global__ void element_used_twice(const int *index, float *out, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[index[i / 2]] = i;  // expect: possible-data-race with self
}

// A promise about what the kernel overwrites is not used.
// cuda-lsp: launch grid=(4) block=(256)
// cuda-lsp: assume injective(index)
__global__ void written_index(int *index, float *out, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    index[i] = 0;
    out[index[i]] = i;  // expect: possible-data-race with self
  }
}

// Parts of one buffer whose distance the host has read from a file.
// cuda-lsp: assume disjoint(from, to)
__global__ void shifted_part(const float *from, float *to, int n) {  // expect: race-free, cites -1
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) to[i] = from[i + 1];
}

__global__ void shifted_part_unpromised(const float *from, float *to, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) to[i] = from[i + 1];  // expect: data-race with self
}

// The promise says nothing about one of the arrays alone.
// cuda-lsp: assume disjoint(from, to)
__global__ void shifted_part_and_next(const float *from, float *to, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    to[i] = from[i + 1];  // expect: data-race with +1
    to[i + 1] = 0.0f;
  }
}

// Three arrays, and the promise is about two of them.
// cuda-lsp: assume disjoint(to, more)
__global__ void third_array(const float *from, float *to, float *more, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    to[i] = from[i + 1];  // expect: data-race with self; data-race with +1
    more[i] = from[i];  // expect: data-race with self
  }
}

// cuda-lsp: assume disjoint(from, to, more)
__global__ void all_three(const float *from, float *to, float *more, int n) {  // expect: race-free
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) {
    to[i] = from[i + 1];
    more[i] = from[i];
  }
}

// cuda-lsp: assume pitch >= n
__global__ void rows_of_a_pitch(float *out, int n, int pitch) {  // expect: race-free, cites -1
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * pitch + i] = i;
}

__global__ void rows_of_any_pitch(float *out, int n, int pitch) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * pitch + i] = i;  // expect: data-race with self
}

void launches(float *buffer, int n, int offset, int second, int pitch) {
  shifted_part<<<4, 256>>>(buffer, buffer + offset, n);
  shifted_part_unpromised<<<4, 256>>>(buffer, buffer + offset, n);
  shifted_part_and_next<<<4, 256>>>(buffer, buffer + offset, n);
  third_array<<<4, 256>>>(buffer, buffer + offset, buffer + second, n);
  all_three<<<4, 256>>>(buffer, buffer + offset, buffer + second, n);
  rows_of_a_pitch<<<16, 256>>>(buffer, n, pitch);
  rows_of_any_pitch<<<16, 256>>>(buffer, n, pitch);
}
