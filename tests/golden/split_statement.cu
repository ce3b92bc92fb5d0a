// One statement reads and writes cells that collide: the value goes through a variable of its type.

#define STEP 1

// cuda-lsp: launch grid=(1) block=(64)
__global__ void neighbours(int *a) {
  int t = threadIdx.x;
  a[t] = a[t + STEP] + a[t + 2];  // both neighbours
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void accumulated(float *a) {
  const int value = threadIdx.x;
  a[value] += 0.5f * a[value + 1];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_a_loop(int *a, int n) {
  for (int i = 0; i < n; i++)
    a[threadIdx.x] = a[threadIdx.x + 1] +
                     i;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_one_line(int *a, int n) {
  int t = threadIdx.x; a[t] = a[t + 1]; a[t + 100] = n;
}

template <typename T>
__global__ void typed(T *a) {
	a[threadIdx.x] = a[threadIdx.x + 1] * T(2);
}

void host(float *p, double *q) {
  typed<float><<<1, 64>>>(p);
  typed<double><<<1, 64>>>(q);
}

// An instance that is looked at without a launch.
template <typename T>
__global__ void explicit_instance(T *a) {
  a[threadIdx.x] = a[threadIdx.x + 1];
}
template __global__ void explicit_instance<int>(int *);
