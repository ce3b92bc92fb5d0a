// Mirroring one triangle of a square matrix into the other. That the matrix is square is asserted by the host; that
// rows do not overlap follows from how they were allocated.
#include <stdlib.h>
#define CHECK(condition) \
  do {                   \
    if (!(condition)) abort(); \
  } while (0)

struct Shape {
  int rows, columns, stride;
};

template <typename T>
__global__ void mirror_upper(T *a, Shape shape) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (j <= i || j >= shape.rows) return;
  // today: data-race at +1 with +1 because a method of any matrix may be called, one with short rows too
  a[j * shape.stride + i] = a[i * shape.stride + j];
}

// Of a matrix that need not be square the rows are longer than what is mirrored.
template <typename T>
__global__ void mirror_upper_of_any(T *a, Shape shape) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (j <= i || j >= shape.rows) return;
  a[j * shape.stride + i] = a[i * shape.stride + j];  // expect: data-race with self
}

static void launch_mirror(dim3 grid, dim3 block, float *a, Shape shape) { mirror_upper<<<grid, block>>>(a, shape); }

class Matrix {
 public:
  Matrix(int rows, int columns) : rows_(rows), columns_(columns) {
    size_t pitch;
    cudaMallocPitch((void **)&data_, &pitch, columns * sizeof(float), rows);
    stride_ = pitch / sizeof(float);
  }
  Shape shape() const { return {rows_, columns_, stride_}; }
  void mirror() {
    CHECK(columns_ == rows_);
    dim3 block(16, 16), grid((rows_ + 15) / 16, (rows_ + 15) / 16);
    launch_mirror(grid, block, data_, shape());
  }
  void mirror_of_any() {
    dim3 block(16, 16), grid((rows_ + 15) / 16, (rows_ + 15) / 16);
    mirror_upper_of_any<<<grid, block>>>(data_, shape());
  }

 private:
  float *data_;
  int rows_, columns_, stride_;
};

void run(int rows, int columns) {
  Matrix m(rows, columns);
  m.mirror();
  m.mirror_of_any();
}
