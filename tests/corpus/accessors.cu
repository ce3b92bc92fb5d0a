// Tensors that kernels get as accessors: elements are cells of their own, whatever the strides are.

#include <torch/extension.h>

// The stride of a row is not known to be the width: rows are apart because they are rows.
template <typename scalar_t>
__global__ void twice(const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> in,  // expect: race-free
                      torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> out) {
  int r = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < out.size(1)) out[r][c] = in[r][c] * 2;
}

__device__ float row_sum(torch::TensorAccessor<float, 1, torch::DefaultPtrTraits, int64_t> row) {
  float sum = 0;
  for (int k = 0; k < row.size(0); ++k) sum += row[k];
  return sum;
}

__global__ void sums(torch::PackedTensorAccessor64<float, 3> a, torch::PackedTensorAccessor64<float, 2> out) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
  if (i < out.size(0) && j < out.size(1)) out[i][j] = row_sum(a[i][j]);
}

__global__ void negated(torch::PackedTensorAccessor32<float, 1> a) {  // expect: race-free
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < a.size(0); i += gridDim.x * blockDim.x) a[i] = -a[i];
}

// Two threads write each row.
__global__ void halves(torch::PackedTensorAccessor32<float, 2> out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < out.size(0)) out[i / 2][0] = i;  // expect: possible-data-race intra-warp with self
}

// One dimension is left out.
__global__ void one_column(torch::PackedTensorAccessor32<float, 2> out) {
  int r = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < out.size(1)) out[0][c] = r;  // expect: possible-data-race inter-block with self
}

__global__ void neighbour(torch::PackedTensorAccessor32<float, 2> a) {
  int r = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c + 1 < a.size(1)) a[r][c] = a[r][c + 1];  // expect: possible-data-race intra-block with self
}

// What is behind the pointer may be any element.
__global__ void around_the_accessor(torch::PackedTensorAccessor32<float, 2> a) {
  int r = blockIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c < a.size(1)) a[r][c] = a.data()[r * a.size(1) + c];  // expect: possible-data-race with self
}

void all(torch::Tensor a, torch::Tensor b, torch::Tensor c, torch::Tensor d, torch::Tensor e) {
  dim3 block(256), grid((a.size(1) + 255) / 256, a.size(0));
  twice<float><<<grid, block>>>(a.packed_accessor32<float, 2, torch::RestrictPtrTraits>(),
                                b.packed_accessor32<float, 2, torch::RestrictPtrTraits>());
  dim3 rows((c.size(0) + 255) / 256, c.size(1));
  sums<<<rows, block>>>(c.packed_accessor64<float, 3>(), d.packed_accessor64<float, 2>());
  negated<<<32, block>>>(e.packed_accessor32<float, 1>());
  halves<<<4, 64>>>(b.packed_accessor32<float, 2>());
  one_column<<<grid, block>>>(b.packed_accessor32<float, 2>());
  neighbour<<<grid, block>>>(b.packed_accessor32<float, 2>());
  around_the_accessor<<<grid, block>>>(b.packed_accessor32<float, 2>());
}
