// Macros that hide barriers, indices, loops and guards.

#define SYNC() __syncthreads()
#define TID (threadIdx.x)
#define CELL(i) s[(i) % 64]
#define FOR_EACH(i, n) for (int i = threadIdx.x; i < (n); i += blockDim.x)
#define EXIT_IF(condition) if (condition) return
#define PUT_AND_SYNC(array, index, value) \
  do {                                    \
    (array)[index] = (value);             \
    __syncthreads();                      \
  } while (0)

#ifdef WITH_BARRIERS
#define MAYBE_SYNC() __syncthreads()
#else
#define MAYBE_SYNC()
#endif

// cuda-lsp: launch grid=(1) block=(64)
__global__ void hidden_barrier(int *out) {  // expect: race-free
  __shared__ int s[64];
  s[TID] = TID;
  SYNC();
  out[TID] = CELL(TID + 1);
}

// The macro's name promises a barrier, its definition is empty.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void empty_barrier(int *out) {
  __shared__ int s[64];
  s[TID] = TID;  // expect: data-race intra-block with +2
  MAYBE_SYNC();
  out[TID] = CELL(TID + 1);
}

// The store and its barrier come from one macro.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void store_and_barrier(int *out) {  // expect: race-free
  __shared__ int s[64];
  PUT_AND_SYNC(s, TID, 3);
  out[TID] = CELL(TID + 1);
}

// The barrier inside the macro stands under a thread's condition.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void store_and_barrier_divergent(int *out) {
  __shared__ int s[64];
  if (TID < 10) PUT_AND_SYNC(s, TID, 3);  // expect: barrier-divergence
  out[TID] = 1;
}

// A loop header in a macro.
// cuda-lsp: launch grid=(1) block=(64) n=150
__global__ void hidden_loop(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[150];
  FOR_EACH(i, n) s[i] = in[i];
  __syncthreads();
  FOR_EACH(i, n) out[i] = s[n - 1 - i];
}

// A return in a macro.
// cuda-lsp: launch grid=(1) block=(64) n=40
__global__ void hidden_return(const int *in, int *out, int n) {
  __shared__ int s[64];
  EXIT_IF(TID >= n);
  s[TID] = in[TID];
  SYNC();  // expect: barrier-after-exit
  out[TID] = s[n - 1 - TID];
}

// An argument that is evaluated twice.
#define MAX(a, b) ((a) > (b) ? (a) : (b))

// cuda-lsp: launch grid=(1) block=(64)
__global__ void argument_evaluated_twice(int *a) {
  int t = threadIdx.x;
  if (t < 63) a[t] = MAX(a[t], a[t + 1]);  // expect: data-race with self
}

// A missing pair of parentheses: 2 * t + 1 % 64, not (2 * t + 1) % 64.
#define WRAPPED(i) i % 64

// cuda-lsp: launch grid=(1) block=(64)
__global__ void missing_parentheses(int *a) {  // expect: race-free
  int t = threadIdx.x;
  a[WRAPPED(2 * t + 1)] = t;
}

#define WRAPPED_RIGHT(i) ((i) % 64)

// cuda-lsp: launch grid=(1) block=(64)
__global__ void with_parentheses(int *a) {
  int t = threadIdx.x;
  a[WRAPPED_RIGHT(2 * t + 1)] = t;  // expect: data-race intra-block with self
}

// The architecture selects the branch: 700 and later in every supported configuration.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void by_architecture(int *out) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;
#if __CUDA_ARCH__ >= 700
  __syncwarp();
#endif
  out[t] = s[31 - t];
}

// Host code and device code of one function differ.
__host__ __device__ inline void settle() {
#ifdef __CUDA_ARCH__
  __syncthreads();
#endif
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_for_the_device_only(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  settle();
  out[t] = s[63 - t];
}

// A kernel written by a macro.
#define DEFINE_FILL(name, value) \
  __global__ void name(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = (value); }

// cuda-lsp: launch grid=(2) block=(64)
DEFINE_FILL(fill_with_ones, 1)  // expect: race-free
