// Variables that an iteration sets under a condition only: else they hold what an earlier one has left.

// Segments of a sorted list: threads whose segments began earlier share a cell.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void segments(const int *key, int *sum) {
  int seg = 0;
  for (int i = 1; i < 4; ++i) {
    if (key[i * 64 + threadIdx.x] != key[(i - 1) * 64 + threadIdx.x]) seg = i * 64 + threadIdx.x;
    sum[seg] += 1;  // expect: possible-data-race with +0
  }
}

// Cells of a thread of its own, whichever it is.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void own_segments(const int *key, int *sum) {  // expect: race-free
  int seg = threadIdx.x;
  for (int i = 1; i < 4; ++i) {
    if (key[i * 64 + threadIdx.x] > 0) seg = i * 64 + threadIdx.x;
    sum[seg] += 1;
  }
}

// Who has stopped does not come to the barrier any more.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void stopped(const int *in, int *out) {
  bool active = true;
  for (int i = 0; i < 4; ++i) {
    if (in[i * 64 + threadIdx.x] < 0) active = false;
    if (active) {
      __syncthreads();  // expect: barrier-divergence
      out[i * 64 + threadIdx.x] = i;
    }
  }
}

// All stop together.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void all_stopped(const int *in, int *out) {  // expect: race-free
  __shared__ int s[64];
  bool active = true;
  for (int i = 0; i < 4; ++i) {
    if (in[i] < 0) active = false;
    if (active) {
      s[threadIdx.x] = in[i * 64 + threadIdx.x];
      __syncthreads();
      out[i * 64 + threadIdx.x] = s[63 - threadIdx.x];
      __syncthreads();
    }
  }
}

// The slot is 0 for all threads until they have one.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void slots(const int *in, int *out) {
  __shared__ int s[512];
  int slot = 0;
  for (int i = 0; i < 4; ++i) {
    if (in[i * 64 + threadIdx.x] > 0) slot = threadIdx.x + 64;
    s[slot] = i;  // expect: possible-data-race with +0; possible-data-race with +2
  }
  out[threadIdx.x] = s[slot];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void slots_from_the_beginning(const int *in, int *out) {  // expect: race-free
  __shared__ int s[512];
  int slot = threadIdx.x;
  for (int i = 0; i < 4; ++i) {
    if (in[i * 64 + threadIdx.x] > 0) slot = threadIdx.x + 64;
    s[slot] = i;
  }
  out[threadIdx.x] = s[slot];
}

// A variable of the iteration has nothing from the one before.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void fresh_in_each(const int *in, int *out) {  // expect: race-free
  for (int i = 0; i < 4; ++i) {
    int at;
    if (in[i * 64 + threadIdx.x] > 0) at = threadIdx.x;
    else at = threadIdx.x + 64;
    out[at] = i;
  }
}

// One that is declared in front of the loop has, though it is set in the first iteration.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_in_the_first(const int *in, int *out) {
  int at;
  for (int i = 0; i < 4; ++i) {
    if (i == 0) at = threadIdx.x / 2;
    else if (in[i * 64 + threadIdx.x] > 0) at = threadIdx.x + 100;
    if (i > 0) out[at + 300 * i] = i;  // expect: benign-race with +0
  }
}

// Of two loops, the inner one sets it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void set_inside(const int *in, int *out) {
  int best = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j)
      if (in[(i * 3 + j) * 64 + threadIdx.x] > 0) best = threadIdx.x + 64;
    out[best] = threadIdx.x;  // expect: possible-data-race with +0
  }
}

// Members, of which one branch sets one.
struct Place { int row, column; };

// cuda-lsp: launch grid=(1) block=(64)
__global__ void members(const int *in, int *out) {
  Place p = {0, 0};
  for (int i = 0; i < 4; ++i) {
    if (in[i * 64 + threadIdx.x] > 0) p.column = threadIdx.x;
    out[p.row * 64 + p.column] = threadIdx.x;  // expect: possible-data-race with +0
    ++p.row;
  }
}

// In a device function, by reference.
__device__ void moved(int &at, int by, bool moves) {
  if (moves) at = by;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void by_reference(const int *in, int *out) {
  int at = 0;
  for (int i = 0; i < 4; ++i) {
    moved(at, threadIdx.x, in[i * 64 + threadIdx.x] > 0);
    out[at] = threadIdx.x;  // expect: possible-data-race with +0
  }
}

// A jump back is a loop, too.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void by_jumps(const int *in, int *out) {
  int at = 0, i = 0;
again:
  if (in[i * 64 + threadIdx.x] > 0) at = threadIdx.x;
  out[at] = threadIdx.x;  // expect: possible-data-race with +0
  if (++i < 4) goto again;
}

// Where the branch is taken, the value is its own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void used_in_the_branch(const int *in, int *out) {  // expect: race-free
  int at = 0;
  for (int i = 0; i < 4; ++i) {
    const bool found = in[i * 64 + threadIdx.x] > 0;
    if (found) at = threadIdx.x;
    if (found) out[at] = i;
  }
}

// What a function gives in one of its returns is new in each iteration.
struct Pair {
  float x, y;
  __device__ float &operator[](int i) {
    switch (i) {
      default:
      case 0: return x;
      case 1: return y;
    }
  }
};

// cuda-lsp: launch grid=(1) block=(64)
__global__ void by_one_return(const float *in, float *out) {  // expect: race-free
  Pair p = {in[threadIdx.x], 2};
  for (int i = 0; i < 2; ++i) out[threadIdx.x * 2 + i] = p[i];
}

// What loops inside have counted is not known; nor is then what is kept of it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void counted_inside(const int *in, int *out) {
  int found = 0;
  for (int i = 0; i < 3; ++i) {
    if (in[i * 64 + threadIdx.x] > 0)
      for (int j = 0; j < 3; ++j)
        if (in[(i + j) * 64 + threadIdx.x] > 1) ++found;
    out[found] = threadIdx.x;  // expect: possible-data-race with +0
  }
}

// What an inner loop does hangs on what is kept, in ways that change while the loops are looked at.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void through_inner_loops(int *out) {
  int a = threadIdx.x, b = 64, x = threadIdx.x * 2;
  bool f = threadIdx.x & 1;
  for (int i = 0; i < 4; ++i) {
    if (x == 2) b = a;
    for (int j = 0; j < 2; ++j) {
      if (j < 2) break;
      f = false;
    }
    for (int j = 0; j < (f ? 2 : 4); ++j) {
      a = x;
      x = 0;
    }
    out[b] = 1;  // expect: benign-race with +0
  }
}

// No iteration has set it yet: nothing follows from what an iteration that there is not would do.
// cuda-lsp: launch grid=(1) block=(2) n=5
__global__ void none_has_set_it(int *a, int n) {
  __shared__ int s[64];
  int at = threadIdx.x & blockDim.x;
  for (unsigned i = blockDim.x / 2; i > 0; i >>= 1) {
    for (unsigned j = blockDim.x / 2; j > 0; j >>= 1) {
      if (blockDim.x > i) at = 0;
      s[at] = n;  // expect: benign-race with +0
    }
  }
}

// No iteration sets it: what one that there is not would have computed has no value, and nothing follows from that.
// cuda-lsp: launch grid=(1) block=(6)
__global__ void nothing_sets_it(int *a) {
  __shared__ int s[128];
  unsigned at = 3;
  for (unsigned i = 0; i < 2; ++i) {
    if (1 % ((i & 3) + 1) > 4) at = 5;
    s[at & 127] = threadIdx.x;  // expect: data-race with +0
  }
}

// The last one sets it for each thread.
// cuda-lsp: launch grid=(1) block=(6)
__global__ void one_sets_it(int *a) {  // expect: race-free
  __shared__ int s[128];
  unsigned at = 3;
  for (unsigned i = 0; i < 2; ++i) {
    if (5 % ((i & 3) + 2) > 0) at = threadIdx.x;
    s[at & 127] = threadIdx.x;
  }
}
