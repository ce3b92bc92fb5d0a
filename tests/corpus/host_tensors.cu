// What the host code says about tensors that it makes: sizes counted from either end, and the number of elements.
#include <torch/extension.h>

__global__ void first_of_row(float *out, long distance, long n) {  // expect: race-free
  long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i * distance] = i;
}

void last_size(at::Tensor in, int64_t k) {
  if (k < 0) return;
  at::Tensor out = torch::empty({in.size(0), k + 1}, in.options());
  first_of_row<<<(in.size(0) + 255) / 256, 256>>>(out.data_ptr<float>(), out.size(-1), in.size(0));
}

void no_elements(at::Tensor in) {
  at::Tensor out = torch::zeros({in.size(0), 0}, in.options());
  first_of_row<<<1, 256>>>(out.data_ptr<float>(), 0, out.numel());
}

// Counted from the end the sizes are 64 and 16: the first one is the distance that is missing here.
__global__ void shorter_row(float *out, long distance) {
  out[threadIdx.x * distance + threadIdx.y] = threadIdx.y;  // expect: data-race intra-block with self
}

void wrong_size(at::Tensor in) {
  at::Tensor out = torch::empty({64, 16}, in.options());
  shorter_row<<<1, dim3(16, 16)>>>(out.data_ptr<float>(), out.size(-1) - out.dim());
}

// The second place of the array is not known, nor how large the last one is.
__global__ void unknown_row(float *out, long distance) {
  out[threadIdx.x * distance] = 1.5f * threadIdx.x;  // expect: data-race with self
}

void sizes_from_elsewhere(at::Tensor in, int64_t *sizes) {
  int64_t shape[2];
  shape[0] = 7;
  at::Tensor out = torch::empty(shape, in.options());
  unknown_row<<<1, 256>>>(out.data_ptr<float>(), out.size(-1));
}

// A lambda in a lambda, both made by macros, in a method: what launches has the locals and the members of all around it.
template <typename T, typename S>
__global__ void dispatched(T *out, const S *in, int width) {  // expect: race-free
  out[blockIdx.x * width + threadIdx.x] = static_cast<T>(in[threadIdx.x]);
}

struct Rows {
  int threads;
  void run(at::Tensor out, at::Tensor in) {
    int rows = out.size(0);
    AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "out", [&] {
      using T = scalar_t;
      AT_DISPATCH_INTEGRAL_TYPES(in.scalar_type(), "in", [&] {
        dispatched<T, scalar_t><<<rows, threads>>>(out.data_ptr<T>(), in.data_ptr<scalar_t>(), threads);
      });
    });
  }
};

void dispatched_rows(at::Tensor out, at::Tensor in) { Rows{64}.run(out, in); }

template <typename T, typename S>
__global__ void dispatched_too_narrow(T *out, const S *in, int width) {
  out[blockIdx.x * width + threadIdx.x] = static_cast<T>(in[threadIdx.x]);  // expect: data-race inter-block with self
}

struct NarrowRows {
  int threads;
  void run(at::Tensor out, at::Tensor in) {
    int rows = out.size(0);
    AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "out", [&] {
      using T = scalar_t;
      AT_DISPATCH_INTEGRAL_TYPES(in.scalar_type(), "in", [&] {
        int width = threads - 1;
        dispatched_too_narrow<T, scalar_t><<<rows, threads>>>(out.data_ptr<T>(), in.data_ptr<scalar_t>(), width);
      });
    });
  }
};

void dispatched_narrow_rows(at::Tensor out, at::Tensor in) { NarrowRows{64}.run(out, in); }
