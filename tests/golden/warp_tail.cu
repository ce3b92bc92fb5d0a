// The last steps of a reduction are those of one warp, which on today's GPUs runs in step no more: its barriers suffice,
// while the loop in front of them needs those of the block.
// cuda-lsp: launch grid=(32) block=(256)
__global__ void reduce(float *sums, const float *in) {
  __shared__ float s[256];
  const unsigned t = threadIdx.x;
  s[t] = in[blockIdx.x * 256 + t];
  for (unsigned half = 128; half > 32; half >>= 1) {
    if (t < half) s[t] += s[t + half];
  }
  if (t < 32) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
  }
  if (t < 8) sums[blockIdx.x * 8 + t] = s[t];
}
