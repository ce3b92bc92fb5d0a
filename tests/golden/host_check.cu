// The same with the project's own check, and launches of two functions.
#include <torch/extension.h>

struct Shape {
  int width, height;
};

__global__ void pairs(float *a, int width) {
  int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  int y = blockIdx.y;
  if (x < width) {
    a[y * width + x] = 1.0f;
    a[y * width + x + 1] = 2.0f;
  }
}

void first(float *a, Shape s) {
  TORCH_CHECK(s.height > 0, "there are no rows");
  pairs<<<dim3((s.width / 2 + 127) / 128, s.height), 128>>>(a, s.width);
}

void second(float *a, const Shape *s) { pairs<<<dim3((s->width / 2 + 127) / 128, s->height), 128>>>(a, s->width); }
