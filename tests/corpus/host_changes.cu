// What the host tested is forgotten once something may have written it: copies, fills, kernels, other threads.
// Each with a twin where nothing does.

__global__ void spread_a(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// The copy replaces what was tested.
void launch_spread_a(int *out, int *count, const int *device) {
  assert(*count >= 64);
  cudaMemcpy(count, device, sizeof(int), cudaMemcpyDeviceToHost);
  spread_a<<<1, 64>>>(out, *count);
}

__global__ void spread_b(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// Tested after the copy.
void launch_spread_b(int *out, int *count, const int *device) {
  cudaMemcpy(count, device, sizeof(int), cudaMemcpyDeviceToHost);
  assert(*count >= 64);
  spread_b<<<1, 64>>>(out, *count);
}

__global__ void spread_c(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

void launch_spread_c(int *out, int *count) {
  assert(count[0] >= 64);
  memset(count, 1, 1);
  spread_c<<<1, 64>>>(out, count[0]);
}

__global__ void spread_d(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// A value that was read before the fill stays what it is.
void launch_spread_d(int *out, int *count) {
  assert(count[0] >= 64);
  int n = count[0];
  memset(count, 1, 1);
  spread_d<<<1, 64>>>(out, n);
}

__global__ void store_count(int *count) {  // expect: race-free
  if (threadIdx.x == 0) *count = 3;
}

__global__ void spread_e(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// A kernel wrote the managed number.
void launch_spread_e(int *out) {
  int *count;
  cudaMallocManaged(&count, sizeof(int));
  *count = 64;
  store_count<<<1, 64>>>(count);
  cudaDeviceSynchronize();
  spread_e<<<1, 64>>>(out, *count);
}

__global__ void spread_f(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// A kernel wrote another one.
void launch_spread_f(int *out) {
  int *count, *other;
  cudaMallocManaged(&count, sizeof(int));
  cudaMallocManaged(&other, sizeof(int));
  *count = 64;
  store_count<<<1, 64>>>(other);
  cudaDeviceSynchronize();
  spread_f<<<1, 64>>>(out, *count);
}

__managed__ int managed_count;

__global__ void store_managed(int n) {  // expect: race-free
  if (threadIdx.x == 0) managed_count = n;
}

__global__ void spread_g(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

void launch_spread_g(int *out) {
  managed_count = 64;
  store_managed<<<1, 32>>>(5);
  cudaDeviceSynchronize();
  spread_g<<<1, 64>>>(out, managed_count);
}

__global__ void spread_h(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// Somebody else may write between the test and the use.
void launch_spread_h(int *out, volatile int *count) {
  assert(*count >= 64);
  spread_h<<<1, 64>>>(out, *count);
}

__global__ void spread_i(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

// Read once.
void launch_spread_i(int *out, volatile int *count) {
  int n = *count;
  assert(n >= 64);
  spread_i<<<1, 64>>>(out, n);
}

__global__ void spread_j(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// The first round's kernel is done when the second round reads the number.
void launch_spread_j(int *out, int *count) {
  assert(*count >= 64);
  for (int round = 0; round < 2; ++round) {
    spread_j<<<1, 64>>>(out, *count);
    cudaMemcpy(count, out, sizeof(int), cudaMemcpyDeviceToHost);
  }
}

[[noreturn]] void give_up(const char *why);

__global__ void spread_k(int *out, int n) {  // expect: race-free
  out[threadIdx.x % n] = threadIdx.x;
}

void launch_spread_k(int *out, int n) {
  if (n < 64) give_up("too few");
  spread_k<<<1, 64>>>(out, n);
}

void complain(const char *why);

__global__ void spread_l(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

// May come back.
void launch_spread_l(int *out, int n) {
  if (n < 64) complain("too few");
  spread_l<<<1, 64>>>(out, n);
}

int global_count;

__global__ void spread_m(int *out, int n) {
  out[threadIdx.x % n] = threadIdx.x;  // expect: data-race with self
}

void launch_spread_m(int *out, const int *device) {
  assert(global_count >= 64);
  cudaMemcpy(&global_count, device, sizeof(int), cudaMemcpyDeviceToHost);
  spread_m<<<1, 64>>>(out, global_count);
}

__global__ void spread_n(int *out) {
  out[threadIdx.x] = blockIdx.x;  // expect: data-race with self
}

// A reference to one of two.
void launch_spread_n(int *out, int n) {
  int blocks = 1, other = 1;
  int &chosen = n > 3 ? blocks : other;
  chosen = 2;
  spread_n<<<blocks, 64>>>(out);
}

__global__ void spread_o(int *out) {
  out[threadIdx.x] = blockIdx.x;  // expect: data-race with self
}

// One of two is written in an iteration before.
void launch_spread_o(int *out, int n) {
  int blocks = 1, other = 1;
  for (int i = 0; i < n; i++) {
    spread_o<<<blocks, 64>>>(out);
    (i > 3 ? blocks : other) = 2;
  }
}

__global__ void spread_p(int *out) {
  out[threadIdx.x] = blockIdx.x;  // expect: data-race with self
}

void set_to_two(int &number) { number = 2; }

void launch_spread_p(int *out, int n) {
  int blocks = 1, other = 1;
  for (int i = 0; i < n; i++) {
    spread_p<<<blocks, 64>>>(out);
    set_to_two(i > 3 ? blocks : other);
  }
}
