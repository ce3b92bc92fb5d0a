// Barriers that only a part of the block reaches, and barriers that merely look that way.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void under_thread_condition(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (t < 32) {
    __syncthreads();  // expect: barrier-divergence
    out[t] = s[t];
  }
}

// All threads of this block satisfy the condition.
// cuda-lsp: launch grid=(1) block=(32)
__global__ void condition_always_true(int *out) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  s[t] = t;
  if (t < 32) {
    __syncthreads();
    out[t] = s[31 - t];
  }
}

// Two barriers, one in each arm: neither is reached by the whole block.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void one_in_each_arm(int *out) {
  int t = threadIdx.x;
  if (t % 2 == 0) {
    out[t] = 1;
    __syncthreads();  // expect: barrier-divergence
  } else {
    out[t] = 2;
    __syncthreads();  // expect: barrier-divergence
  }
}

// The condition is the block's, not the thread's.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void under_block_condition(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  if (blockIdx.x == 0) {
    s[t] = t;
    __syncthreads();
    out[t] = s[63 - t];
  }
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void under_parameter_condition(int *out, int mode) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (mode != 0) {
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[63 - t];
  }
}

// The number of trips differs between threads: 100 is no multiple of 64.
// cuda-lsp: launch grid=(1) block=(64) n=100
__global__ void uneven_trips(const int *in, int *out, int n) {
  __shared__ int s[64];
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    s[threadIdx.x] = in[i];
    __syncthreads();  // expect: barrier-divergence
    out[i] = s[threadIdx.x];
  }
}

// Two trips for every thread.
// cuda-lsp: launch grid=(1) block=(64) n=128
__global__ void even_trips(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[64];
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[63 - threadIdx.x];
    __syncthreads();
  }
}

// The usual repair: the loop runs over the base, the guard stands inside.
// cuda-lsp: launch grid=(1) block=(64) n=100
__global__ void padded_trips(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  for (int base = 0; base < n; base += 64) {
    if (base + t < n) s[t] = in[base + t];
    __syncthreads();
    if (base + t < n) out[base + t] = s[t] + s[0];
    __syncthreads();
  }
}

// A thread may leave the loop before the others.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void leaving_the_loop(const int *in, int *out) {
  int t = threadIdx.x;
  for (int k = 0; k < 8; ++k) {
    if (k == t) break;
    out[t] = in[k * 64 + t];
    __syncthreads();  // expect: barrier-divergence
  }
}

// `continue` takes some threads past the barrier.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void skipping_with_continue(const int *in, int *out) {
  int t = threadIdx.x;
  for (int k = 0; k < 8; ++k) {
    if ((t + k) % 8 == 0) continue;
    out[t] = in[k * 64 + t];
    __syncthreads();  // expect: barrier-divergence
  }
}

// The value decides; nothing says that all threads see the same one.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void on_own_data(const int *in, int *out) {
  int t = threadIdx.x;
  out[t] = t;
  if (in[t] > 0) {
    __syncthreads();  // expect: barrier-divergence
    out[t] = 0;
  }
}

// All threads read the same cell, which nobody writes.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void on_common_data(const int *in, int *out) {  // expect: race-free
  int t = threadIdx.x;
  out[t] = t;
  if (in[0] > 0) {
    __syncthreads();
    out[63 - t] = 0;
  }
}

// One cell per block.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void on_data_of_the_block(const int *in, int *out) {  // expect: race-free
  int t = threadIdx.x, b = blockIdx.x;
  out[b * 64 + t] = t;
  if (in[b] > 0) {
    __syncthreads();
    out[b * 64 + 63 - t] = 0;
  }
}

// The decision travels through shared memory: after the barrier all threads read one value.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void on_broadcast_data(const int *in, int *out) {  // expect: race-free
  __shared__ int decision;
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t == 7) decision = in[t] > 0;
  s[t] = in[t];
  __syncthreads();
  if (decision) {
    s[t] = 2 * t;
    __syncthreads();
    out[t] = s[63 - t];
  }
}

// Each thread may read the old or the new value of the flag. The race is what is reported: without it the flag is one
// value for the block, and the barrier is reached by all or by none.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void on_unordered_flag(const int *in, int *out) {
  __shared__ int go;
  int t = threadIdx.x;
  if (t == 0) go = in[0];  // expect: data-race intra-block with +1
  if (go > 0) {
    __syncthreads();
    out[t] = t;
  }
}

// A warp index: uniform in a warp, not in the block.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void on_warp_index(int *out) {
  int warp = threadIdx.x / 32;
  if (warp == 0) {
    out[threadIdx.x] = 1;
    __syncthreads();  // expect: barrier-divergence
  }
}

// The same expression is 0 in each thread of this block.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void on_block_of_64(int *out) {  // expect: race-free
  int t = threadIdx.x;
  out[t] = 1;
  if (t / 64 == 0) {
    __syncthreads();
    out[63 - t] = 2;
  }
}

// A barrier in a function that only some threads call.
__device__ void wait_here() {
  __syncthreads();  // the kernel below expects barrier-divergence here
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void called_by_some(int *out) {  // expect: barrier-divergence at -4
  int t = threadIdx.x;
  out[t] = 1;
  if (t & 1) wait_here();
}

// Returning from a function is not leaving the kernel: these threads are alive and miss the barrier.
__device__ int guarded_exchange(int *s, int t, int n) {
  if (t >= n) return 0;
  s[t] = t;
  __syncthreads();  // reached by the threads below n only
  return s[(t + 1) % n];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void return_from_function(int *out) {  // expect: barrier-divergence at -5
  __shared__ int s[64];
  int v = guarded_exchange(s, threadIdx.x, 40);
  __syncthreads();
  s[threadIdx.x] = v;
  out[threadIdx.x] = s[threadIdx.x];
}

// A switch on the thread index.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_a_switch(int *out) {
  int t = threadIdx.x;
  switch (t % 3) {
    case 0:
      out[t] = 0;
      __syncthreads();  // expect: barrier-divergence
      break;
    default: out[t] = 1;
  }
}

// A conditional operator with a barrier on one side.
__device__ int sync_and_return(int v) {
  __syncthreads();  // the kernel below expects barrier-divergence here
  return v;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_a_conditional_operator(int *out) {  // expect: barrier-divergence at -5
  int t = threadIdx.x;
  out[t] = t < 5 ? sync_and_return(t) : -t;
}

// A while loop on the thread's own counter that takes the same number of trips everywhere.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void own_counter_same_trips(int *a) {  // expect: race-free
  int t = threadIdx.x;
  int i = t;
  while (i < t + 4) {
    a[i] = t;
    __syncthreads();
    ++i;
  }
}

// A vote makes the thread's own condition the block's.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void vote_before_branch(const int *in, int *out) {  // expect: race-free
  int t = threadIdx.x;
  out[t] = 0;
  if (__syncthreads_or(in[t] < 0)) {
    out[63 - t] = 1;
    __syncthreads();
    out[t] = 2;
  }
}

// The others never came to the return, which is in the branch: they are alive.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void a_return_that_others_never_come_to(int *out) {
  int t = threadIdx.x;
  if (t < 16) {
    if (t >= 16) return;
    __syncthreads();  // expect: barrier-divergence
  }
  out[t] += 3;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void lanes_that_never_come_to_a_return(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 16) {
    s[t] = t;
    if (t >= 16) return;
    __syncwarp();  // expect: barrier-divergence
    out[t] = s[t ^ 1];
  }
}

// Here the others have returned.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void a_return_beside_the_branch(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t >= 16) return;
  if (t < 16) {
    s[t] = t;
    __syncthreads();  // expect: barrier-after-exit
    out[t] = s[15 - t];
  }
}
