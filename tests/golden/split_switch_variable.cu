// A switch over a variable that it does not change is split as it is; over one that it changes, what was selected is kept.
enum Role { PRODUCE, CONSUME, IDLE };

// cuda-lsp: launch grid=(1) block=(64)
__global__ void roles(const float *in, float *out) {
  __shared__ float box[32];
  int t = threadIdx.x;
  Role role = t < 32 ? PRODUCE : CONSUME;
  switch (role) {
    case PRODUCE:
      box[t] = in[t];
      break;
    case CONSUME:
      out[t] = box[63 - t];
      break;
    default:
      break;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void changed(const float *in, float *out) {
  __shared__ float box[32];
  int t = threadIdx.x;
  int role = t / 32;
  switch (role) {
    case 0:
      role = 2;
      box[t] = in[t];
      break;
    case 1:
      out[t] = box[63 - t];
      break;
  }
  out[t + 64] = role;
}
