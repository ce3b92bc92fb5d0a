// Barriers of a group that has a name are written as they were, where the name is known.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void moved(int *out, const int *in, int n) {
  __shared__ int s[128];
  cg::thread_block block = cg::this_thread_block();
  int t = threadIdx.x;
  s[t] = in[t];
  if (t < n) {
    block.sync();
    out[t] = s[127 - t];
  }
}

__global__ void split(int *out) {
  __shared__ int s[128];
  cg::thread_block block = cg::this_thread_block();
  int t = block.thread_rank();
  if (t < 64) {
    s[t] = t;
    block.sync();
    out[t] = s[63 - t];
  }
}

__global__ void unknown(int *out, const int *in, int n) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = in[t];
  if (t < n) {
    cg::thread_block inner = cg::this_thread_block();
    inner.sync();
    out[t] = s[127 - t];
  }
}

void run(int *out, const int *in, int n) {
  moved<<<1, 128>>>(out, in, n);
  split<<<1, 128>>>(out);
  unknown<<<1, 128>>>(out, in, n);
}
