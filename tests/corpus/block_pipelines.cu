// Pipelines shared by a block: stages are acquired, filled, committed, waited for, used and released.
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
using State = cuda::pipeline_shared_state<cuda::thread_scope_block, 2>;

// cuda-lsp: launch grid=(2) block=(64)
__global__ void two_stages(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int v = 0;
  for (int i = 0; i < n; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, s[i % 2], in + i * 64, sizeof(int) * 64, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    v += s[i % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// Each thread copies a part of its own.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void own_part_of_the_stage(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int v = 0;
  for (int i = 0; i < n; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(&s[i % 2][threadIdx.x], in + i * 64 + threadIdx.x, sizeof(int), pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    v += s[i % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// Stores in place of copies.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void plain_stores(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int v = 0;
  for (int i = 0; i < n; ++i) {
    pipe.producer_acquire();
    s[i % 2][threadIdx.x] = in[i * 64 + threadIdx.x];
    pipe.producer_commit();
    pipe.consumer_wait();
    v += s[i % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void one_stage_ahead(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int v = 0;
  pipe.producer_acquire();
  cuda::memcpy_async(block, s[0], in, sizeof(int) * 64, pipe);
  pipe.producer_commit();
  for (int i = 1; i < n; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, s[i % 2], in + i * 64, sizeof(int) * 64, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    v += s[(i - 1) % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
  pipe.consumer_wait();
  v += s[(n - 1) % 2][63 - threadIdx.x];
  pipe.consumer_release();
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void two_stages_ahead(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[3][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int v = 0;
  pipe.producer_acquire();
  cuda::memcpy_async(block, s[0], in, sizeof(int) * 64, pipe);
  pipe.producer_commit();
  pipe.producer_acquire();
  cuda::memcpy_async(block, s[1], in + 64, sizeof(int) * 64, pipe);
  pipe.producer_commit();
  for (int i = 2; i < n; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, s[i % 3], in + i * 64, sizeof(int) * 64, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    v += s[(i - 2) % 3][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// Released too early, but nobody gets to the stage before all have waited for the one between.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void released_before_its_use(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int v = 0;
  for (int i = 0; i < n; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, s[i % 2], in + i * 64, sizeof(int) * 64, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    pipe.consumer_release();
    v += s[i % 2][63 - threadIdx.x];
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// The next stage is copied into the buffer that others still read.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void one_buffer_for_two_stages(const int *in, int *out, int n) {
  __shared__ int s[2][64];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int v = 0;
  for (int i = 0; i < n; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, s[0], in + i * 64, sizeof(int) * 64, pipe);  // expect: data-race with +3
    pipe.producer_commit();
    pipe.consumer_wait();
    v += s[0][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void stores_behind_the_commit(const int *in, int *out, int n) {
  __shared__ int s[2][64];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int v = 0;
  for (int i = 0; i < n; ++i) {
    pipe.producer_acquire();
    pipe.producer_commit();
    s[i % 2][threadIdx.x] = in[i * 64 + threadIdx.x];  // expect: data-race with +2
    pipe.consumer_wait();
    v += s[i % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// Threads overwrite what others read in the same stage.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void result_in_the_stage(const int *in, int *out, int n) {
  __shared__ int s[2][64];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int v = 0;
  for (int i = 0; i < n; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, s[i % 2], in + i * 64, sizeof(int) * 64, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    v += s[i % 2][63 - threadIdx.x];  // expect: data-race with +1
    s[i % 2][threadIdx.x] = v;
    pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// Whether a stage is free nobody asks.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void never_acquired(const int *in, int *out, int n) {  // expect: unknown(pipeline-order)
  __shared__ int s[2][64];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int v = 0;
  for (int i = 0; i < n; ++i) {
    cuda::memcpy_async(block, s[i % 2], in + i * 64, sizeof(int) * 64, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    v += s[i % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// The filling is up to two stages ahead.
// today: unknown(pipeline) because how far the filling is ahead is not followed
// cuda-lsp: launch grid=(2) block=(64)
__global__ void filled_in_a_loop(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int v = 0;
  for (int i = 0, filled = 0; i < n; ++i) {
    for (; filled < n && filled < i + 2; ++filled) {
      pipe.producer_acquire();
      s[filled % 2][threadIdx.x] = in[filled * 64 + threadIdx.x];
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    v += s[i % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// --- one warp fills, one uses

// cuda-lsp: launch grid=(2) block=(64)
__global__ void producer_and_consumer(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][32];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; ++i) {
      pipe.producer_acquire();
      s[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];
      pipe.producer_commit();
    }
  } else {
    int v = 0;
    for (int i = 0; i < n; ++i) {
      pipe.consumer_wait();
      v += s[i % 2][63 - threadIdx.x];
      pipe.consumer_release();
    }
    out[blockIdx.x * 32 + threadIdx.x - 32] = v;
  }
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void copied_by_the_producer(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][32];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; ++i) {
      pipe.producer_acquire();
      cuda::memcpy_async(&s[i % 2][threadIdx.x], in + i * 32 + threadIdx.x, sizeof(int), pipe);
      pipe.producer_commit();
    }
  } else {
    int v = 0;
    for (int i = 0; i < n; ++i) {
      pipe.consumer_wait();
      v += s[i % 2][63 - threadIdx.x];
      pipe.consumer_release();
    }
    out[blockIdx.x * 32 + threadIdx.x - 32] = v;
  }
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void released_too_early(const int *in, int *out, int n) {
  __shared__ int s[2][32];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; ++i) {
      pipe.producer_acquire();
      s[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];  // expect: data-race with +8
      pipe.producer_commit();
    }
  } else {
    int v = 0;
    for (int i = 0; i < n; ++i) {
      pipe.consumer_wait();
      pipe.consumer_release();
      v += s[i % 2][63 - threadIdx.x];
    }
    out[blockIdx.x * 32 + threadIdx.x - 32] = v;
  }
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void used_before_the_wait(const int *in, int *out, int n) {
  __shared__ int s[2][32];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; ++i) {
      pipe.producer_acquire();
      s[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];  // expect: data-race with +6
      pipe.producer_commit();
    }
  } else {
    int v = 0;
    for (int i = 0; i < n; ++i) {
      v += s[i % 2][63 - threadIdx.x];
      pipe.consumer_wait();
      pipe.consumer_release();
    }
    out[blockIdx.x * 32 + threadIdx.x - 32] = v;
  }
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void committed_too_early(const int *in, int *out, int n) {
  __shared__ int s[2][32];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; ++i) {
      pipe.producer_acquire();
      pipe.producer_commit();
      s[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];  // expect: data-race with +6
    }
  } else {
    int v = 0;
    for (int i = 0; i < n; ++i) {
      pipe.consumer_wait();
      v += s[i % 2][63 - threadIdx.x];
      pipe.consumer_release();
    }
    out[blockIdx.x * 32 + threadIdx.x - 32] = v;
  }
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void the_other_stage(const int *in, int *out, int n) {
  __shared__ int s[2][32];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; ++i) {
      pipe.producer_acquire();
      s[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];  // expect: data-race with +7
      pipe.producer_commit();
    }
  } else {
    int v = 0;
    for (int i = 0; i < n; ++i) {
      pipe.consumer_wait();
      v += s[(i + 1) % 2][63 - threadIdx.x];
      pipe.consumer_release();
    }
    out[blockIdx.x * 32 + threadIdx.x - 32] = v;
  }
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void stored_before_acquiring(const int *in, int *out, int n) {
  __shared__ int s[2][32];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; ++i) {
      s[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];  // expect: data-race with +8
      pipe.producer_acquire();
      pipe.producer_commit();
    }
  } else {
    int v = 0;
    for (int i = 0; i < n; ++i) {
      pipe.consumer_wait();
      v += s[i % 2][63 - threadIdx.x];
      pipe.consumer_release();
    }
    out[blockIdx.x * 32 + threadIdx.x - 32] = v;
  }
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void cleared_behind_the_commit(const int *in, int *out, int n) {
  __shared__ int s[2][32];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; ++i) {
      pipe.producer_acquire();
      s[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];
      pipe.producer_commit();
      s[i % 2][threadIdx.x] = 0;  // expect: data-race with +6
    }
  } else {
    int v = 0;
    for (int i = 0; i < n; ++i) {
      pipe.consumer_wait();
      v += s[i % 2][63 - threadIdx.x];
      pipe.consumer_release();
    }
    out[blockIdx.x * 32 + threadIdx.x - 32] = v;
  }
}

// cuda-lsp: launch grid=(2) block=(64)
__global__ void consumers_write(const int *in, int *out, int n) {
  __shared__ int s[2][32];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; ++i) {
      pipe.producer_acquire();
      s[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];
      pipe.producer_commit();
    }
  } else {
    int v = 0;
    for (int i = 0; i < n; ++i) {
      pipe.consumer_wait();
      v += s[i % 2][63 - threadIdx.x];  // expect: data-race with +1
      s[i % 2][threadIdx.x - 32] = v;
      pipe.consumer_release();
    }
    out[blockIdx.x * 32 + threadIdx.x - 32] = v;
  }
}

// Those that are to fill are said to use: what they do is not waited for.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void roles_the_wrong_way_round(const int *in, int *out, int n) {
  __shared__ int s[2][32];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x >= 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; ++i) {
      pipe.producer_acquire();
      s[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];  // expect: data-race with +7
      pipe.producer_commit();
    }
  } else {
    int v = 0;
    for (int i = 0; i < n; ++i) {
      pipe.consumer_wait();
      v += s[i % 2][63 - threadIdx.x];
      pipe.consumer_release();
    }
    out[blockIdx.x * 32 + threadIdx.x - 32] = v;
  }
}

// Both warps count on a pipeline for the whole block, of which it has a part.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void pipeline_of_a_warp(const int *in, int *out, int n) {  // expect: unknown(partial-barrier)
  __shared__ int s[2][64];
  __shared__ State state;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto pipe = cuda::make_pipeline(warp, &state);
  pipe.producer_acquire();
  s[0][threadIdx.x] = in[threadIdx.x];
  pipe.producer_commit();
  pipe.consumer_wait();
  out[blockIdx.x * 64 + threadIdx.x] = s[0][63 - threadIdx.x];
  pipe.consumer_release();
}

// --- twins

// The result goes into the stage that the thread alone has read.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void result_in_the_own_cell(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][64];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  int v = 0;
  for (int i = 0; i < n; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(block, s[i % 2], in + i * 64, sizeof(int) * 64, pipe);
    pipe.producer_commit();
    pipe.consumer_wait();
    v += s[i % 2][threadIdx.x];
    s[i % 2][threadIdx.x] = v;
    pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// The first half of the block produces, by number.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void producers_by_number(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][32];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state, size_t(32));
  int v = 0;
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x < 32) {
      pipe.producer_acquire();
      s[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      v += s[i % 2][63 - threadIdx.x];
      pipe.consumer_release();
    }
  }
  out[blockIdx.x * 64 + threadIdx.x] = v;
}

// Consumers write cells of their own behind the stage.
// cuda-lsp: launch grid=(2) block=(64)
__global__ void consumers_write_apart(const int *in, int *out, int n) {  // expect: race-free
  __shared__ int s[2][32], kept[32];
  __shared__ State state;
  auto block = cg::this_thread_block();
  auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  for (int i = 0; i < n; ++i) {
    if (threadIdx.x < 32) {
      pipe.producer_acquire();
      s[i % 2][threadIdx.x] = in[i * 32 + threadIdx.x];
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      kept[threadIdx.x - 32] = s[i % 2][63 - threadIdx.x];
      pipe.consumer_release();
      out[(blockIdx.x * n + i) * 32 + threadIdx.x - 32] = kept[threadIdx.x - 32];
    }
  }
}
