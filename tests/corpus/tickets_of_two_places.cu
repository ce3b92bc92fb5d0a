// Tickets of one counter that are taken at two places, or in an earlier iteration.

// Either branch appends to the same queue; one of them two entries.
__global__ void either_way(const int *in, int *out, int *count, int n) {  // expect: race-free
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (in[i] > 0) {
    int at = atomicAdd(count, 1);
    out[at] = i;
  } else if (in[i] < -5) {
    int at = atomicAdd(count, 2);
    out[at] = -i;
    out[at + 1] = i;
  }
}

// Two entries, one reserved.
__global__ void one_too_few(const int *in, int *out, int *count, int n) {  // expect: unknown(not-examined)
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (in[i] > 0) {
    int at = atomicAdd(count, 1);
    out[at] = i;  // expect: possible-data-race with +4
  } else {
    int at = atomicAdd(count, 1);
    out[at] = -i;  // expect: possible-data-race with +1
    out[at + 1] = i;
  }
}

// Counters of their own.
__global__ void two_counters(const int *in, int *out, int *count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (in[i] > 0) {
    int at = atomicAdd(count, 1);
    out[at] = i;  // expect: possible-data-race with +3
  } else {
    int at = atomicAdd(count + 1, 1);
    out[at] = -i;
  }
}

// Both places are in the same round, behind the clearing.
// cuda-lsp: launch grid=(4) block=(256)
__global__ void rounds_of_queues(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int q[256];
  __shared__ int count;
  for (int k = 0; k < n; ++k) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int v = in[k * blockDim.x + threadIdx.x];
    if (v > 0) q[atomicAdd(&count, 1)] = v;
    else if (v < 0) q[atomicAdd(&count, 1)] = -v;
    __syncthreads();
    if (threadIdx.x < count) out[(blockIdx.x * n + k) * blockDim.x + threadIdx.x] = q[threadIdx.x];
    __syncthreads();
  }
}

// What was taken before the counter is cleared is handed out again, and nothing is between the two uses.
// cuda-lsp: launch grid=(1) block=(256)
__global__ void cleared_between(const int *in, int *out) {
  __shared__ int q[256];
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  int v = in[threadIdx.x], at = 0;
  if (v > 0) at = atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (v > 0) q[at] = v;  // expect: possible-data-race with +1
  if (v <= 0) q[atomicAdd(&count, 1)] = v;
  __syncthreads();
  out[threadIdx.x] = q[threadIdx.x];
}

// The ticket of the last round is one of this round's, too.
// cuda-lsp: launch grid=(1) block=(256)
__global__ void carried_ticket(int *out) {
  __shared__ int q[256];
  __shared__ int count;
  int before = 0;
  for (int k = 0; k < 4; ++k) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int at = atomicAdd(&count, 1);
    if (threadIdx.x % 2) q[at] = threadIdx.x;  // expect: possible-data-race with +1
    else if (k) q[before] = threadIdx.x;
    before = at;
    __syncthreads();
  }
  out[threadIdx.x] = q[threadIdx.x];
}

// All use the ticket of the last round.
// cuda-lsp: launch grid=(1) block=(256)
__global__ void all_carried(int *out) {  // expect: race-free
  __shared__ int q[256];
  __shared__ int count;
  int before = threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int at = atomicAdd(&count, 1);
    q[before] = k;
    before = at;
    __syncthreads();
  }
  out[threadIdx.x] = q[threadIdx.x];
}

// The rounds take turns at two counters, and a ticket of each is used.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void turns(int *out, int *count) {
  int before = 0;
  for (int k = 0; k < 4; ++k) {
    int at = atomicAdd(&count[k & 1], 1);
    if (k == 2) {
      if (threadIdx.x % 2) out[at] = threadIdx.x;  // expect: possible-data-race with +1
      else out[before] = threadIdx.x;
    }
    before = at;
  }
}

// The same at one counter.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void no_turns(int *out, int *count) {  // expect: race-free
  int before = 0;
  for (int k = 0; k < 4; ++k) {
    int at = atomicAdd(&count[k & 4], 1);
    if (k == 2) {
      if (threadIdx.x % 2) out[at] = threadIdx.x;
      else out[before] = threadIdx.x;
    }
    before = at;
  }
}

// Threads behind the end have returned; where any is left, the first one is.
__global__ void reserved_behind_a_return(const int *in, int *out, int *total, int n) {
  __shared__ int base;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (threadIdx.x == 0) base = atomicAdd(total, (int)blockDim.x);
  __syncthreads();  // expect: barrier-after-exit
  out[base + threadIdx.x] = in[i];
}

// The first thread may have returned, and what the others find in shared memory is no ticket.
__global__ void first_one_returned(const int *in, int *out, int *total, int n) {
  __shared__ int base;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) return;
  if (threadIdx.x == 0) base = atomicAdd(total, (int)blockDim.x);
  __syncthreads();  // expect: barrier-after-exit
  out[base + threadIdx.x] = in[i];  // expect: possible-data-race inter-block with self
}

// Who takes from the stack gets a place that is handed out again, whatever type the counter has.
__global__ void push_and_pop(const int *in, int *out, unsigned *top) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (in[i] > 0) out[atomicAdd(top, 1)] = i;  // expect: possible-data-race with self; possible-data-race with +1
  else out[atomicAdd(top, -1) - 1] = -i;      // expect: unknown(not-examined)
}

__global__ void up_or_down(const int *in, int *out, unsigned *top) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned at = atomicAdd(top, in[i] > 0 ? 1 : -1);
  out[at] = i;  // expect: possible-data-race with self
}

// All threads of a block have one ticket, which they were told of by a flag.
__global__ void told_by_a_flag(int *out, int *total) {
  __shared__ int base;
  __shared__ volatile int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    base = atomicAdd(total, blockDim.x);
    __threadfence_block();
    flag = 1;
  }
  while (!flag);
  __threadfence_block();
  out[base] = threadIdx.x;  // expect: possible-data-race with self
}

void launch_all(const int *in, int *out, int *count, int n) {
  either_way<<<(n + 255) / 256, 256>>>(in, out, count, n);
  one_too_few<<<(n + 255) / 256, 256>>>(in, out, count, n);
  two_counters<<<(n + 255) / 256, 256>>>(in, out, count, n);
  reserved_behind_a_return<<<(n + 255) / 256, 256>>>(in, out, count, n);
  first_one_returned<<<(n + 255) / 256 + 1, 256>>>(in, out, count, n);
  push_and_pop<<<n, 128>>>(in, out, (unsigned *)count);
  up_or_down<<<n, 128>>>(in, out, (unsigned *)count);
  told_by_a_flag<<<n, 128>>>(out, count);
}
