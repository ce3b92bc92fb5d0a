// Calls through pointers to one of several known functions.

__device__ int same(int i) { return i; }
__device__ int behind(int i) { return i + 64; }
__device__ int halved(int i) { return i / 2; }
__device__ void put(int *a, int i) { a[i] = i; }
__device__ void put_next(int *a, int i) { a[i + 1] = i; }

typedef int (*Place)(int);

// The same function for all threads, whichever it is.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_of_two(int *a, int mode) {  // expect: race-free
  Place f = mode ? same : behind;
  a[f(threadIdx.x)] = threadIdx.x;
}

// One of them gives a place to two threads.
// cuda-lsp: launch grid=(1) block=(64) mode=0
__global__ void one_of_two_that_halves(int *a, int mode) {
  Place f = mode ? same : halved;
  a[f(threadIdx.x)] = threadIdx.x;  // expect: data-race intra-warp with self
}

// Of three, by two tests.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_of_three(int *a, int mode) {  // expect: race-free
  Place f = mode == 0 ? &same : mode == 1 ? &behind : &same;
  a[f(threadIdx.x)] = threadIdx.x;
}

// It was chosen before the mode changed: mode 1 never halves.
// cuda-lsp: launch grid=(1) block=(64) mode=1
__global__ void chosen_before(int *a, int mode) {  // expect: race-free
  Place f = mode ? same : halved;
  mode = 0;
  a[f(threadIdx.x) + mode] = threadIdx.x;
}

// It was chosen before the mode changed: mode 0 halves.
// cuda-lsp: launch grid=(1) block=(64) mode=0
__global__ void chosen_too_early(int *a, int mode) {
  Place f = mode ? same : halved;
  mode = 1;
  a[f(threadIdx.x)] = mode + threadIdx.x;  // expect: data-race intra-warp with self
}

// Called where it is chosen, by the parity of the thread: each writes to its own cell or to one behind the block.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void chosen_by_each_thread(int *a) {  // expect: race-free
  a[(threadIdx.x & 1 ? same : behind)(threadIdx.x)] = threadIdx.x;
}

// Functions without a result: some threads write to the next cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void some_write_to_the_next(int *a) {
  void (*f)(int *, int) = threadIdx.x < 5 ? put_next : put;
  f(a, threadIdx.x);  // expect: data-race intra-warp at 6 with 7
}

// All of them do.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void all_write_to_the_next(int *a, int mode) {  // expect: race-free
  void (*f)(int *, int) = mode ? put_next : put;
  f(a, threadIdx.x);
}

template <class F>
__device__ void at_each(int *a, F f) {
  a[f(threadIdx.x)] = threadIdx.x;
}

// Passed on to a function.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void passed_on(int *a, int mode) {  // expect: race-free
  at_each(a, mode ? same : behind);
}

// A pointer that is set later is not followed.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_later(int *a, int mode) {  // expect: unknown(indirect-call)
  Place f = same;
  if (mode) f = behind;
  a[f(threadIdx.x)] = threadIdx.x;
}
