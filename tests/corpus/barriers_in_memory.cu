// Barriers in memory whose halves stand in different branches: some threads fill, others empty.

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <utility>
namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

// Two buffers in turn, a barrier for each of them and each direction.
__device__ void fill(barrier *ready, barrier *filled, float *buffer, const float *in, int n) {
  for (int i = 0; i < n; ++i) {
    ready[i % 2].arrive_and_wait();
    buffer[(i % 2) * 32 + threadIdx.x] = in[i * 32 + threadIdx.x];
    barrier::arrival_token token = filled[i % 2].arrive();
  }
}
__device__ void drain(barrier *ready, barrier *filled, float *buffer, float *out, int n) {
  barrier::arrival_token first = ready[0].arrive();
  barrier::arrival_token second = ready[1].arrive();
  for (int i = 0; i < n; ++i) {
    filled[i % 2].arrive_and_wait();
    out[i * 32 + threadIdx.x - 32] = buffer[(i % 2) * 32 + 63 - threadIdx.x];
    barrier::arrival_token token = ready[i % 2].arrive();
  }
}
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void two_roles(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float buffer[64];
  __shared__ barrier bar[4];
  auto block = cg::this_thread_block();
  if (block.thread_rank() < 4) init(bar + block.thread_rank(), block.size());
  block.sync();
  if (block.thread_rank() < 32) fill(bar, bar + 2, buffer, in, n);
  else drain(bar, bar + 2, buffer, out, n);
}

// Who fills the one buffer comes to its next turn behind the barrier that says that the other one is full.
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void in_step(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float buffer[64];
  __shared__ barrier filled[2];
  int t = threadIdx.x;
  if (t < 2) init(filled + t, blockDim.x);
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      buffer[(i % 2) * 32 + t] = in[i * 32 + t];
      filled[i % 2].arrive_and_wait();
    }
  } else {
    for (int i = 0; i < n; ++i) {
      filled[i % 2].arrive_and_wait();
      out[i * 32 + t - 32] = buffer[(i % 2) * 32 + 63 - t];
    }
  }
}

// With one buffer it is filled again while it is read.
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void filled_too_early(const float *in, float *out, int n) {
  __shared__ float buffer[32];
  __shared__ barrier filled[2];
  int t = threadIdx.x;
  if (t < 2) init(filled + t, blockDim.x);
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      buffer[t] = in[i * 32 + t];  // expect: possible-data-race with +6
      filled[i % 2].arrive_and_wait();
    }
  } else {
    for (int i = 0; i < n; ++i) {
      filled[i % 2].arrive_and_wait();
      out[i * 32 + t - 32] = buffer[63 - t];
    }
  }
}

// One buffer, two barriers: the second filling does not wait for the first to be read.
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void one_buffer_for_two(const float *in, float *out, int n) {
  __shared__ float buffer[32];
  __shared__ barrier ready[2], filled[2];
  int t = threadIdx.x;
  if (t < 2) {
    init(ready + t, blockDim.x);
    init(filled + t, blockDim.x);
  }
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      ready[i % 2].arrive_and_wait();
      buffer[t] = in[i * 32 + t];  // expect: possible-data-race with +7
      barrier::arrival_token token = filled[i % 2].arrive();
    }
  } else {
    barrier::arrival_token first = ready[0].arrive(), second = ready[1].arrive();
    for (int i = 0; i < n; ++i) {
      filled[i % 2].arrive_and_wait();
      out[i * 32 + t - 32] = buffer[63 - t];
      barrier::arrival_token token = ready[i % 2].arrive();
    }
  }
}

// The reader announces the buffer before it has read it.
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void announced_before_the_read(const float *in, float *out, int n) {
  __shared__ float buffer[32];
  __shared__ barrier ready, filled;
  int t = threadIdx.x;
  if (t == 0) {
    init(&ready, blockDim.x);
    init(&filled, blockDim.x);
  }
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      ready.arrive_and_wait();
      buffer[t] = in[i * 32 + t];  // expect: possible-data-race with +8
      barrier::arrival_token token = filled.arrive();
    }
  } else {
    barrier::arrival_token token = ready.arrive();
    for (int i = 0; i < n; ++i) {
      filled.arrive_and_wait();
      token = ready.arrive();
      out[i * 32 + t - 32] = buffer[63 - t];
    }
  }
}

// The token of an arrival is waited for in the next iteration, behind other work.
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void token_goes_round(const float *in, float *out, int n) {  // expect: race-free
  __shared__ float buffer[32];
  __shared__ barrier ready, filled;
  int t = threadIdx.x;
  if (t == 0) {
    init(&ready, 64);
    init(&filled, 64);
  }
  __syncthreads();
  if (t < 32) {
    barrier::arrival_token emptied = ready.arrive();
    for (int i = 0; i < n; ++i) {
      float value = in[i * 32 + t];
      ready.wait(std::move(emptied));
      buffer[t] = value;
      barrier::arrival_token token = filled.arrive();
      emptied = ready.arrive();
    }
  } else {
    barrier::arrival_token token = ready.arrive();
    for (int i = 0; i < n; ++i) {
      filled.arrive_and_wait();
      out[i * 32 + t - 32] = buffer[63 - t];
      token = ready.arrive();
    }
  }
}

// It fills in front of the wait.
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void fills_in_front_of_the_wait(const float *in, float *out, int n) {
  __shared__ float buffer[32];
  __shared__ barrier ready, filled;
  int t = threadIdx.x;
  if (t == 0) {
    init(&ready, 64);
    init(&filled, 64);
  }
  __syncthreads();
  if (t < 32) {
    barrier::arrival_token emptied = ready.arrive();
    for (int i = 0; i < n; ++i) {
      buffer[t] = in[i * 32 + t];  // expect: possible-data-race with +9
      ready.wait(std::move(emptied));
      barrier::arrival_token token = filled.arrive();
      emptied = ready.arrive();
    }
  } else {
    barrier::arrival_token token = ready.arrive();
    for (int i = 0; i < n; ++i) {
      filled.arrive_and_wait();
      out[i * 32 + t - 32] = buffer[63 - t];
      token = ready.arrive();
    }
  }
}

// One warp tells another one, by a barrier for those that arrive: 32 of the 64.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void waited_for_by_parity(int *out) {  // expect: race-free
  __shared__ int s[32];
  __shared__ barrier bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 32);
  __syncthreads();
  if (t < 32) {
    s[t] = t;
    barrier::arrival_token token = bar.arrive();
  } else {
    bar.wait_parity(false);
    out[blockIdx.x * 32 + t - 32] = s[63 - t];
  }
}

// The phase before the first one is complete from the start; who comes late waits for ever.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void other_parity(int *out) {  // expect: unknown(split-barrier)
  __shared__ int s[32];
  __shared__ barrier bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 32);
  __syncthreads();
  if (t < 32) {
    s[t] = t;
    barrier::arrival_token token = bar.arrive();
  } else {
    bar.wait_parity(true);
    out[blockIdx.x * 32 + t - 32] = s[63 - t];
  }
}

// A ring of four buffers by parities.
// cuda-lsp: launch grid=(1) block=(64) n=9
__global__ void ring_by_parities(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[4][32];
  __shared__ barrier full[4], empty[4];
  int t = threadIdx.x;
  if (t < 4) {
    init(&full[t], 32);
    init(&empty[t], 32);
  }
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      empty[i % 4].wait_parity((i / 4 & 1) ^ 1);
      s[i % 4][t] = in[i * 32 + t];
      barrier::arrival_token token = full[i % 4].arrive();
    }
  } else {
    for (int i = 0; i < n; ++i) {
      full[i % 4].wait_parity(i / 4 & 1);
      out[i * 32 + t - 32] = s[i % 4][63 - t];
      barrier::arrival_token token = empty[i % 4].arrive();
    }
  }
}

// It fills without waiting for the buffer to be empty.
// cuda-lsp: launch grid=(1) block=(64) n=9
__global__ void ring_without_a_wait(const int *in, int *out, int n) {  // expect: unknown(split-barrier)
  __shared__ int s[4][32];
  __shared__ barrier full[4];
  int t = threadIdx.x;
  if (t < 4) init(&full[t], 32);
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      s[i % 4][t] = in[i * 32 + t];
      barrier::arrival_token token = full[i % 4].arrive();
    }
  } else {
    for (int i = 0; i < n; ++i) {
      full[i % 4].wait_parity(i / 4 & 1);
      out[i * 32 + t - 32] = s[i % 4][63 - t];
    }
  }
}

// Three buffers behind four barriers: the one that is filled is still read.
// cuda-lsp: launch grid=(1) block=(64) n=9
__global__ void ring_of_three_buffers(const int *in, int *out, int n) {
  __shared__ int s[3][32];
  __shared__ barrier full[4], empty[4];
  int t = threadIdx.x;
  if (t < 4) {
    init(&full[t], 32);
    init(&empty[t], 32);
  }
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      empty[i % 4].wait_parity((i / 4 & 1) ^ 1);
      s[i % 3][t] = in[i * 32 + t];  // expect: possible-data-race with +6
      barrier::arrival_token token = full[i % 4].arrive();
    }
  } else {
    for (int i = 0; i < n; ++i) {
      full[i % 4].wait_parity(i / 4 & 1);
      out[i * 32 + t - 32] = s[i % 3][63 - t];
      barrier::arrival_token token = empty[i % 4].arrive();
    }
  }
}

// The number of the buffer and the parity are counted on.
// cuda-lsp: launch grid=(1) block=(64) n=9
__global__ void ring_that_is_counted_on(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[3][32];
  __shared__ barrier full[3], empty[3];
  int t = threadIdx.x;
  if (t < 3) {
    init(&full[t], 32);
    init(&empty[t], 32);
  }
  __syncthreads();
  int stage = 0, phase = 0;
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      empty[stage].wait_parity(phase ^ 1);
      s[stage][t] = in[i * 32 + t];
      barrier::arrival_token token = full[stage].arrive();
      if (++stage == 3) {
        stage = 0;
        phase ^= 1;
      }
    }
  } else {
    for (int i = 0; i < n; ++i) {
      full[stage].wait_parity(phase);
      out[i * 32 + t - 32] = s[stage][63 - t];
      barrier::arrival_token token = empty[stage].arrive();
      if (++stage == 3) {
        stage = 0;
        phase ^= 1;
      }
    }
  }
}

// The consumers forget to announce the buffers, and the producer waits for ever.
// cuda-lsp: launch grid=(1) block=(64) n=5
__global__ void nobody_announces(const int *in, int *out, int n) {  // expect: unknown(split-barrier)
  __shared__ int buffer[32];
  __shared__ barrier ready, filled;
  int t = threadIdx.x;
  if (t == 0) {
    init(&ready, blockDim.x);
    init(&filled, blockDim.x);
  }
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      ready.arrive_and_wait();
      buffer[t] = in[i * 32 + t];
      barrier::arrival_token token = filled.arrive();
    }
  } else {
    for (int i = 0; i < n; ++i) {
      filled.arrive_and_wait();
      out[i * 32 + t - 32] = buffer[63 - t];
      barrier::arrival_token token = ready.arrive();
    }
  }
}

// Threads come to different barriers by their own number.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void own_barriers(int *out) {  // expect: unknown(split-barrier)
  __shared__ int s[64];
  __shared__ barrier bar[2];
  int t = threadIdx.x;
  if (t < 2) init(bar + t, 32);
  __syncthreads();
  s[t] = t;
  bar[t % 2].arrive_and_wait();
  out[blockIdx.x * 64 + t] = s[63 - t];
}

// Two barriers for as many threads each as are told apart by nothing but the count.
// cuda-lsp: launch grid=(2) block=(96)
__global__ void too_few_for_the_count(int *out) {  // expect: unknown(split-barrier)
  __shared__ int s[96];
  __shared__ barrier bar;
  int t = threadIdx.x;
  if (t == 0) init(&bar, 64);
  __syncthreads();
  s[t] = t;
  if (t < 32) {
    barrier::arrival_token token = bar.arrive();
  } else {
    bar.arrive_and_wait();
    out[blockIdx.x * 96 + t] = s[95 - t];
  }
}

// Who waits comes to the barrier before it is set up.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void not_set_up_yet(int *out) {
  __shared__ int s[32];
  __shared__ barrier bar;
  int t = threadIdx.x;
  if (t < 32) {
    if (t == 0) init(&bar, 32);  // expect: data-race with +5
    __syncwarp();
    s[t] = t;
    barrier::arrival_token token = bar.arrive();
  } else {
    bar.wait_parity(false);
    out[blockIdx.x * 32 + t - 32] = s[63 - t];
  }
}

// The reader leaves its loop before it has waited for the last buffer.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void leaves_early(int *out, int n) {
  __shared__ int s[4][32];
  __shared__ barrier full[4];
  int t = threadIdx.x;
  if (t < 4) init(&full[t], 32);
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      s[i % 4][t] = t;  // expect: possible-data-race with +5
      barrier::arrival_token token = full[i % 4].arrive();
    }
  } else {
    for (int i = 0; i < n && i != 2; ++i) full[i % 4].wait_parity(false);
    out[t - 32] = s[3][63 - t];
  }
}

// The token is of another barrier than the one that is waited at.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void token_of_another_one(int *out, int n) {  // expect: unknown(split-barrier)
  __shared__ int s[4][32];
  __shared__ barrier full[4];
  int t = threadIdx.x;
  if (t < 4) init(&full[t], 64);
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      s[i % 4][t] = t;
      barrier::arrival_token token = full[i % 4].arrive();
    }
  } else {
    for (int i = 0; i < n; ++i) {
      barrier::arrival_token token = full[i % 4].arrive();
      full[(i + 3) % 4].wait(std::move(token));
      out[i * 32 + t - 32] = s[i % 4][63 - t];
    }
  }
}

// In turns that go round the other way, the roles wait for each other.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void in_a_circle(int *out, int n) {  // expect: unknown(split-barrier)
  __shared__ barrier one[2], two[2];
  int t = threadIdx.x;
  if (t < 2) {
    init(&one[t], 64);
    init(&two[t], 64);
  }
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      if (i % 2 == 0) one[(i + 1) % 2].arrive_and_wait();
      else two[i % 2].arrive_and_wait();
    }
  } else {
    for (int i = 0; i < n; ++i) {
      if (i % 2 == 0) two[(i + 1) % 2].arrive_and_wait();
      else one[i % 2].arrive_and_wait();
    }
  }
  out[t] = t;
}

// Each passes what the other one may have completed by then.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void passed_too_late(int *out) {  // expect: unknown(split-barrier)
  __shared__ barrier one, two;
  int t = threadIdx.x;
  if (t == 0) {
    init(&one, 32);
    init(&two, 32);
  }
  __syncthreads();
  if (t < 32) {
    one.wait_parity(true);
    out[t] = 1;
    barrier::arrival_token token = two.arrive();
  } else {
    two.wait_parity(true);
    out[t] = 1;
    barrier::arrival_token token = one.arrive();
  }
}

// A number of eight bits begins anew before the loop ends.
// cuda-lsp: launch grid=(1) block=(64) n=4
__global__ void number_of_eight_bits(int *out, int n) {  // expect: unknown(split-barrier)
  __shared__ int s[2][32];
  __shared__ barrier full[3];
  int t = threadIdx.x;
  if (t < 3) init(&full[t], 64);
  __syncthreads();
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      s[i % 2][t] = i;
      full[(unsigned char)i % 3].arrive_and_wait();
    }
  } else {
    for (int i = 0; i < n; ++i) {
      full[i % 3].arrive_and_wait();
      out[i * 32 + t - 32] = s[i % 2][63 - t];
    }
  }
}
