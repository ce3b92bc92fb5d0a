// Unpacking a triangle into a matrix with padded rows.
#include <assert.h>

template <typename To, typename From>
__global__ void unpack(To *a, const From *packed, int rows, int columns, int stride) {  // expect: race-free
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < columns && y < rows) {
    if (x <= y)
      a[y * stride + x] = packed[y * (y + 1) / 2 + x];
    else
      a[y * stride + x] = 0;
  }
}

// The index of a packed triangle with the row length of a full matrix of half the size.
template <typename To>
__global__ void unpack_narrow(To *a, int rows, int columns, int stride) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < columns && y < rows) a[y * (stride / 2) + x] = y;  // expect: data-race with self
}

template <typename To, typename From>
void copy(int rows, int columns, int packed_rows, const From *packed) {
  assert(rows == packed_rows && columns == rows);
  To *a;
  size_t pitch;
  cudaMallocPitch((void **)&a, &pitch, columns * sizeof(To), rows);
  int stride = pitch / sizeof(To);
  dim3 block(16, 16), grid((rows + 15) / 16, (rows + 15) / 16);
  unpack<<<grid, block>>>(a, packed, rows, columns, stride);
  unpack_narrow<<<grid, block>>>(a, rows, columns, stride);
}

template void copy<float, double>(int, int, int, const double *);
template void copy<double, double>(int, int, int, const double *);
