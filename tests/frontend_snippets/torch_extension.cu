#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#define CHECK_CUDA(x) TORCH_CHECK(x.device().is_cuda(), #x " must be a CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_INPUT(x) CHECK_CUDA(x); CHECK_CONTIGUOUS(x)
template <typename scalar_t> __global__ void kern(const scalar_t *__restrict__ a, scalar_t *b, int n, torch::PackedTensorAccessor32<scalar_t,2,torch::RestrictPtrTraits> acc) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { b[i] = a[i] * a[i] + scalar_t(1); acc[i][0] = b[i]; gpuAtomicAdd(b, a[i]); } }
torch::Tensor f(torch::Tensor x, at::optional<torch::Tensor> y) {
  CHECK_INPUT(x); TORCH_CHECK(x.dim() == 2, "d", x.dim()); const at::cuda::OptionalCUDAGuard guard(device_of(x)); const int n = x.size(0) * x.size(1);
  auto out = torch::empty({x.size(0), n}, x.options().dtype(torch::kFloat32)); auto z = torch::zeros_like(x); auto w = at::empty({n}, x.options()); 
  const dim3 blocks((n + 255) / 256); cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "f", ([&] { kern<scalar_t><<<blocks, 256, 0, stream>>>(x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), n, out.packed_accessor32<scalar_t,2,torch::RestrictPtrTraits>()); }));
  AT_DISPATCH_FLOATING_TYPES(x.type(), "g", [&] { kern<scalar_t><<<blocks, 256>>>(x.data<scalar_t>(), z.data<scalar_t>(), n, out.packed_accessor32<scalar_t,2,torch::RestrictPtrTraits>()); C10_CUDA_KERNEL_LAUNCH_CHECK(); });
  AT_DISPATCH_SWITCH(x.scalar_type(), "h", AT_DISPATCH_CASE(at::ScalarType::Float, [&] { kern<scalar_t><<<1, 32>>>(nullptr, nullptr, 1, out.packed_accessor32<scalar_t,2,torch::RestrictPtrTraits>()); }) AT_DISPATCH_CASE(at::ScalarType::Half, [&] { kern<scalar_t><<<1, 32>>>(nullptr, nullptr, 1, out.packed_accessor32<scalar_t,2,torch::RestrictPtrTraits>()); }));
  if (y.has_value()) z = z + y.value() * 2; AT_ASSERTM(n > 0, "x"); return out.view({-1, 2}).sum(0).contiguous().to(torch::kHalf);
}
std::vector<at::Tensor> g(at::Tensor a) { auto opts = torch::TensorOptions().dtype(torch::kInt32).device(a.device()); return {torch::zeros({3}, opts), torch::full({1}, 0, opts), a.index({torch::indexing::Slice(0, 2)}), torch::cumsum(a, 0, at::kInt)}; }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f, "doc", py::arg("x"), py::arg("y") = py::none()); m.def("g", g); }
TORCH_LIBRARY(my, m) { m.def("f(Tensor x) -> Tensor"); m.impl("f", &f); }

// Comparisons of reduced precision, with each other and with plain numbers.
template <typename scalar_t>
__global__ void rectify(const scalar_t *x, scalar_t *y, float f, double d, int64_t n, unsigned u) {
  int i = threadIdx.x;
  y[i] = x[i] > scalar_t(0) ? x[i] : static_cast<scalar_t>(0);
  bool some = x[i] < f || x[i] <= d || x[i] >= n || x[i] != u || 3 > x[i] || x[i] == y[i] || f < x[i];
  if (some) y[i] = 0.f;
}
void launch_rectify(at::Half *h, at::BFloat16 *b, float *f) {
  rectify<<<1, 64>>>(h, h + 64, 1, 1, 1, 1);
  rectify<<<1, 64>>>(b, b + 64, 1, 1, 1, 1);
  rectify<<<1, 64>>>(f, f + 64, 1, 1, 1, 1);
}
