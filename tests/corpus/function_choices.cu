// Calls through pointers to one of several known functions.

__device__ int same(int i) { return i; }
__device__ int behind(int i) { return i + 64; }
__device__ int halved(int i) { return i / 2; }
__device__ void put(int *a, int i) { a[i] = i; }
__device__ void put_next(int *a, int i) { a[i + 1] = i; }
__device__ int mirrored(int i) { return 63 - i; }

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

// Pointers that are set later.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_later(int *a, int mode) {  // expect: race-free
  Place f = same;
  if (mode) f = mirrored;
  a[f(threadIdx.x)] = threadIdx.x;
}

// Some threads take the other one, and two of them mean one cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void some_set_it(int *a) {
  Place f;
  if (threadIdx.x < 5) f = mirrored;
  else f = same;
  a[f(threadIdx.x)] = threadIdx.x;  // expect: data-race intra-block with self
}

// Set at the end of a round: what is called in a round was set in the one before.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_in_each_round(int *a) {
  Place f = same;
  for (int i = 0; i < 4; i++) {
    a[64 * (i / 2) + f(threadIdx.x)] = i;  // expect: data-race intra-block with self
    f = i & 1 ? same : mirrored;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_in_each_round_apart(int *a) {  // expect: race-free
  Place f = same;
  for (int i = 0; i < 4; i++) {
    a[64 * i + f(threadIdx.x)] = i;
    f = i & 1 ? same : mirrored;
  }
}

// What was read before stays what it was.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void kept_before_it_was_set(int *a) {
  Place f = same;
  Place g = f;
  f = mirrored;
  a[threadIdx.x < 5 ? g(threadIdx.x) : f(threadIdx.x)] = threadIdx.x;  // expect: data-race intra-block with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void captured_before_it_was_set(int *a) {
  Place f = same;
  auto before = [f](int i) { return f(i); };
  f = mirrored;
  a[threadIdx.x < 5 ? before(threadIdx.x) : f(threadIdx.x)] = threadIdx.x;  // expect: data-race intra-block with self
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void referred_to_when_it_was_set(int *a) {  // expect: race-free
  Place f = same;
  auto now = [&f](int i) { return f(i); };
  f = mirrored;
  a[threadIdx.x < 5 ? now(threadIdx.x) : f(threadIdx.x)] = threadIdx.x;
}

// Through a reference, or to what only the caller knows: not followed.
__device__ void set(Place &f) { f = mirrored; }

// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_by_somebody_else(int *a, int mode) {  // expect: unknown(indirect-call)
  Place f = same;
  if (mode) set(f);
  a[f(threadIdx.x)] = threadIdx.x;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_in_two_ways(int *a, int mode) {  // expect: unknown(indirect-call)
  Place f = same;
  Place *p = &f;
  if (mode) *p = mirrored;
  else f = mirrored;
  a[f(threadIdx.x)] = threadIdx.x;
}

__device__ int (*chosen_elsewhere)(int);

// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_to_what_memory_holds(int *a) {  // expect: unknown(indirect-call)
  int (*f)(int) = same;
  f = chosen_elsewhere;
  a[f(threadIdx.x)] = threadIdx.x;
}
