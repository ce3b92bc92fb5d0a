// Host functions that are handed to others: those that only call them give them all their callers.

#include <utility>

// The index goes by 128, whatever the size of the block is.
__global__ void measured(float *out, int n) {  // expect: race-free
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = i + blockIdx.x;
}

static void run_measured(float *out, int n, int block) { measured<<<(n + block - 1) / block, block>>>(out, n); }

template <class F, class... A> float measure(int times, F f, A &&...arguments) {
  for (int i = 0; i < times; ++i) f(std::forward<A>(arguments)...);
  return 0;
}

static void twice(void (*f)(float *, int, int), float *out, int n, int block) {
  f(out, n, block);
  (*f)(out, n, block);
}

void measure_it(float *out, int n) {
  measure(100, run_measured, out, n, 128);
  twice(&run_measured, out, n, 128);
}

// With 256 threads the blocks overlap.
__global__ void measured_wrong(float *out, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = i + blockIdx.x;  // expect: data-race inter-block with self
}

static void run_wrong(float *out, int n, int block) { measured_wrong<<<(n + block - 1) / block, block>>>(out, n); }

void measure_wrong(float *out, int n) { measure(100, run_wrong, out, n, 256); }

// Who keeps the function may call it with anything.
__global__ void kept_function(float *out, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = i + blockIdx.x;  // expect: data-race inter-block with self
}

static void run_kept(float *out, int n, int block) { kept_function<<<(n + block - 1) / block, block>>>(out, n); }

void (*last_run)(float *, int, int);

static void keeping(void (*f)(float *, int, int), float *out, int n) {
  f(out, n, 128);
  last_run = f;
}

void keep_it(float *out, int n) { keeping(run_kept, out, n); }

// A label, where nothing is known of what the variables hold.
__global__ void behind_a_label(float *out, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = i + blockIdx.x;  // expect: data-race inter-block with self
}

static void run_labelled(float *out, int n, int block) { behind_a_label<<<(n + block - 1) / block, block>>>(out, n); }

static void trying(void (*f)(float *, int, int), float *out, int n) {
  float *more;
  if (cudaMalloc(&more, 4 * n) != cudaSuccess) goto fallback;
  f(out, n, 128);
  cudaFree(more);
  return;
fallback:
  f(out, n, 256);
}

void try_it(float *out, int n) { trying(run_labelled, out, n); }
