// Numbers of barriers where some threads only arrive, or where threads come together from several places.

__device__ void arrive(int number, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
__device__ void wait(int number, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// One warp announces its data and goes on, the other waits for them.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void announced(int *out) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[blockIdx.x * 64 + t] = s[63 - t];
  }
}

// The wrong one waits.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void announced_by_the_reader(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;  // expect: possible-data-race with +4
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    out[blockIdx.x * 64 + t] = s[63 - t];
  }
}

// Whoever waits stands first.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void reader_in_front(int *out) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t >= 32) {
    wait(1, 64);
    out[blockIdx.x * 64 + t] = s[63 - t];
  } else {
    s[t] = t;
    arrive(1, 64);
  }
}

// What is written behind the arrival was not announced.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void written_behind(int *out) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t >= 32) {
    wait(1, 64);
    out[blockIdx.x * 64 + t] = s[63 - t];  // expect: possible-data-race with +3
  } else {
    arrive(1, 64);
    s[t] = t;
  }
}

// Both wait, at places of their own.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void both_wait(int *out) {  // expect: race-free
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;
    asm volatile("bar.sync 1;" ::: "memory");
    out[blockIdx.x * 64 + t] = s[t + 32];
  } else {
    s[t] = t;
    asm volatile("bar.sync 1;" ::: "memory");
    out[blockIdx.x * 64 + t] = s[t - 32];
  }
}

// … one of them too late.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void one_waits_too_late(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;  // expect: data-race with +5
    asm volatile("bar.sync 1;" ::: "memory");
    out[blockIdx.x * 64 + t] = s[t];
  } else {
    s[t] = t;
    out[blockIdx.x * 64 + t] = s[t - 32];
    asm volatile("bar.sync 1;" ::: "memory");
  }
}

// A buffer that is full and empty in turns.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void full_and_empty(int *out, int n) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    if (t < 32) {
      s[t] = t + i;
      arrive(1, 64);
      wait(2, 64);
    } else {
      wait(1, 64);
      out[(blockIdx.x * n + i) * 32 + t - 32] = s[63 - t];
      arrive(2, 64);
    }
  }
}

// Nobody tells that it is empty: the next round may be announced before this one is over.
// cuda-lsp: launch grid=(2) block=(64) n=3
__global__ void full_only(int *out, int n) {  // expect: unknown(partial-barrier)
  __shared__ int s[32];
  int t = threadIdx.x;
  for (int i = 0; i < n; ++i) {
    if (t < 32) {
      s[t] = t + i;
      arrive(1, 64);
    } else {
      wait(1, 64);
      out[(blockIdx.x * n + i) * 32 + t - 32] = s[63 - t];
    }
  }
}

// Each warp in a loop of its own.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void loops_of_their_own(int *out, int n) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      s[t] = t + i;
      arrive(1, 64);
      wait(2, 64);
    }
  } else {
    for (int i = 0; i < n; ++i) {
      wait(1, 64);
      out[(blockIdx.x * n + i) * 32 + t - 32] = s[63 - t];
      arrive(2, 64);
    }
  }
}

// cuda-lsp: launch grid=(2) block=(64) n=3
__global__ void full_only_in_loops(int *out, int n) {  // expect: unknown(partial-barrier)
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      s[t] = t + i;
      arrive(1, 64);
    }
  } else {
    for (int i = 0; i < n; ++i) {
      wait(1, 64);
      out[(blockIdx.x * n + i) * 32 + t - 32] = s[63 - t];
    }
  }
}

// Two buffers, and one wait a round is enough.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void two_buffers(int *out, int n) {  // expect: race-free
  __shared__ int s[2][32];
  int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      s[i % 2][t] = t + i;
      wait(1, 64);
    }
  } else {
    for (int i = 0; i < n; ++i) {
      wait(1, 64);
      out[(blockIdx.x * n + i) * 32 + t - 32] = s[i % 2][63 - t];
    }
  }
}

// … not for one.
// cuda-lsp: launch grid=(2) block=(64) n=3
__global__ void one_buffer(int *out, int n) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      s[t] = t + i;  // expect: data-race with +6
      wait(1, 64);
    }
  } else {
    for (int i = 0; i < n; ++i) {
      wait(1, 64);
      out[(blockIdx.x * n + i) * 32 + t - 32] = s[63 - t];
    }
  }
}

// What stands in front of the loops is announced with the first round.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void in_front_of_the_loops(int *out, int n) {  // expect: race-free
  __shared__ int s[32];
  __shared__ int first;
  int t = threadIdx.x;
  if (t == 0) first = 5;
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      s[t] = t + i;
      arrive(1, 64);
      wait(2, 64);
    }
  } else {
    for (int i = 0; i < n; ++i) {
      wait(1, 64);
      out[(blockIdx.x * n + i) * 32 + t - 32] = s[63 - t] + first;
      arrive(2, 64);
    }
  }
}

// The results of the last round are read before they were announced.
// cuda-lsp: launch grid=(1) block=(64) n=3
__global__ void behind_the_loops(int *out, int n) {
  __shared__ int s[32];
  __shared__ int last;
  int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      s[t] = t + i;
      arrive(1, 64);
      wait(2, 64);
      if (t == 0) last = i;  // expect: possible-data-race with +8
    }
  } else {
    for (int i = 0; i < n; ++i) {
      wait(1, 64);
      out[i * 32 + t - 32] = s[63 - t];
      arrive(2, 64);
    }
    out[n * 32 + t - 32] = last;
  }
}

// The second group of the block by itself.
// cuda-lsp: launch grid=(2) block=(128)
__global__ void second_group(int *out) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 64) return;
  if (t < 96) {
    s[t - 64] = t;
    arrive(1, 64);
  } else {
    wait(1, 64);
    out[blockIdx.x * 32 + t - 96] = s[127 - t];
  }
}

// Some of the group come to nothing.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void some_do_not_come(int *out) {  // expect: unknown(partial-barrier)
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;
    arrive(1, 64);
  } else if (t < 50) {
    wait(1, 64);
    out[blockIdx.x * 64 + t] = s[63 - t];
  }
}

// Threads that arrive twice.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void twice(int *out) {  // expect: unknown(partial-barrier)
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;
    arrive(1, 64);
    arrive(1, 64);
  } else {
    wait(1, 64);
    out[blockIdx.x * 64 + t] = s[63 - t];
  }
}

// One loop goes round less often.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void one_round_less(int *out, int n) {  // expect: unknown(partial-barrier)
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      s[t] = t + i;
      arrive(1, 64);
      wait(2, 64);
    }
  } else {
    for (int i = 1; i < n; ++i) {
      wait(1, 64);
      out[(blockIdx.x * n + i) * 32 + t - 32] = s[63 - t];
      arrive(2, 64);
    }
  }
}

// An arrival at a number that is not known.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void any_number(int *out, int which) {  // expect: unknown(asm)
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;
    arrive(which, 64);
  } else {
    wait(which, 64);
    out[blockIdx.x * 64 + t] = s[63 - t];
  }
}

// Empty is announced once before the loops.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void announced_before(int *out, int n) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      wait(1, 64);
      s[t] = t + i;
      arrive(2, 64);
    }
  } else {
    if (n > 0) arrive(1, 64);
    for (int i = 0; i < n; ++i) {
      wait(2, 64);
      out[(blockIdx.x * n + i) * 32 + t - 32] = s[63 - t];
      if (i + 1 < n) arrive(1, 64);
    }
  }
}

// … and again before what was read is no longer needed.
// cuda-lsp: launch grid=(2) block=(64) n=3
__global__ void announced_too_early(int *out, int n) {
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      wait(1, 64);
      s[t] = t + i;  // expect: possible-data-race with +8
      arrive(2, 64);
    }
  } else {
    arrive(1, 64);
    for (int i = 0; i < n; ++i) {
      wait(2, 64);
      if (i + 1 < n) arrive(1, 64);
      out[(blockIdx.x * n + i) * 32 + t - 32] = s[63 - t];
    }
  }
}

// The usual form: what is empty at the end is announced, too, and nobody waits for it.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void announced_once_more(int *out, int n) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < n; ++i) {
      wait(1, 64);
      s[t] = t + i;
      arrive(2, 64);
    }
  } else {
    arrive(1, 64);
    for (int i = 0; i < n; ++i) {
      wait(2, 64);
      out[(blockIdx.x * n + i) * 32 + t - 32] = s[63 - t];
      arrive(1, 64);
    }
  }
}

// Arrivals of a warp in two rounds of an outer loop make up for those that did not come.
// cuda-lsp: launch grid=(1) block=(64) m=1
__global__ void rounds_begin_anew(int *out, int m) {  // expect: unknown(partial-barrier)
  __shared__ int s[128];
  int t = threadIdx.x, w = t / 32, l = t % 32;
  for (int o = 0; o < 4; ++o)
    for (int i = 0; i < m; ++i) {
      if (w == o % 2) {
        s[o * 32 + l] = t;
        arrive(1, 64);
        if (i + 1 < m) wait(2, 64);
      } else {
        wait(1, 64);
        out[o * 64 + t] = s[o * 32 + 31 - l];
        if (i + 1 < m) arrive(2, 64);
      }
    }
}

// One warp leaves between two rounds.
// cuda-lsp: launch grid=(1) block=(64) n=8
__global__ void left_between_rounds(int *out, int n) {  // expect: unknown(partial-barrier)
  __shared__ int s[1024];
  int t = threadIdx.x;
  if (t < 32) {
    for (int i = 0; i < n; ++i)
      if (i % 3 == 0) {
        s[i * 32 + t] = t;
        wait(1, 64);
      }
  } else {
    for (int i = 0; i < n; ++i) {
      if (i % 3 == 0) wait(1, 64);
      if (i == 1) break;
    }
    out[t] = s[3 * 32 + 63 - t];
  }
}

// Lanes of one warp at two places: PTX does not say what that does.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void lanes_apart(int *out) {  // expect: unknown(partial-barrier)
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (t % 2)
    arrive(1, 64);
  else {
    wait(1, 64);
    out[t] = s[63 - t];
  }
}

// Each waits for what the other announces behind its own wait.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void in_a_circle(int *out) {  // expect: unknown(partial-barrier)
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    wait(2, 64);
    s[t] = t;
    wait(1, 64);
  } else {
    wait(1, 64);
    out[t] = s[63 - t];
    wait(2, 64);
  }
}

// A barrier of the block between the two places of a number: nobody gets past it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void barrier_in_between(int *out) {  // expect: unknown(partial-barrier)
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;
    wait(1, 64);
  }
  __syncthreads();
  if (t >= 32) {
    wait(1, 64);
    out[t] = s[63 - t];
  }
}

// A group that is not all in the block.
// cuda-lsp: launch grid=(1) block=(96)
__global__ void half_a_group(int *out) {  // expect: unknown(partial-barrier)
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t >= 64) {
    s[t - 64] = t;
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[t] = s[95 - t];
  }
}

// One waits for all rounds of a number before the first one of another, the other one in turns.
// cuda-lsp: launch grid=(1) block=(64) n=3
__global__ void loops_in_a_circle(int *out, int n) {  // expect: unknown(partial-barrier)
  __shared__ int s[32];
  int t = threadIdx.x;
  if (t < 32) {
    s[t] = t;
    for (int i = 0; i < n; ++i) wait(1, 64);
    for (int i = 0; i < n; ++i) wait(2, 64);
  } else {
    for (int i = 0; i < n; ++i) {
      wait(1, 64);
      wait(2, 64);
    }
    out[t] = s[63 - t];
  }
}

// A barrier of the same group between the two places of a number.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void group_barrier_in_between(int *out) {  // expect: unknown(partial-barrier)
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = t;
  if (t < 32) wait(1, 64);
  wait(3, 64);
  if (t >= 32) wait(1, 64);
  out[t] = s[63 - t];
}

// … of the block, in an inner loop: the repair of the races there must not be one.
// cuda-lsp: launch grid=(1) block=(64) n=3
__global__ void barrier_in_an_inner_loop(int *out, int n) {  // expect: unknown(partial-barrier)
  __shared__ int s[2][64];
  int t = threadIdx.x;
  if (t < 32) arrive(1, 64);
  for (int i = 0; i < n; ++i) {
    if (t < 32) {
      wait(2, 64);
      if (i + 1 < n) wait(1, 64);
    } else {
      wait(1, 64);
      arrive(2, 64);
    }
    for (int j = 0; j < 2; ++j) {
      s[j][t] = i;
      __syncthreads();
      out[t + 64 * (i * 2 + j)] = s[j][63 - t];
    }
  }
}

// Roles that are told by equality, each in a loop of its own.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void roles_by_number(int *out, int n) {  // expect: race-free
  __shared__ int s[32];
  int t = threadIdx.x, w = t / 32;
  if (w == 0)
    for (int i = 0; i < n; ++i) {
      s[t] = t + i;
      arrive(1, 64);
      wait(2, 64);
    }
  if (w == 1)
    for (int i = 0; i < n; ++i) {
      wait(1, 64);
      out[i * 32 + t - 32] = s[63 - t];
      arrive(2, 64);
    }
}
