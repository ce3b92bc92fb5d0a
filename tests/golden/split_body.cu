// A barrier is missing where only some threads get: the conditional is closed before it and opened again behind it.

// cuda-lsp: launch grid=(1) block=(64)
__global__ void scan(float *out) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    if (t >= d) s[t] += s[t - d];
  }
  out[t] = s[t];
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void halves(int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t < 48) {
    const int twice = 2 * t;
    s[t] = twice;  // fill
    int other = 47 - t;
    out[t] = s[other] + twice;
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void other_side(int *out) {
  __shared__ int s[128];
  int t = threadIdx.x;
  if (t < 16) {
    out[t] = 0;
  } else {
    s[t] = t;

    // the one from the end
    out[t] = s[79 - t];
  }
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void nested(int *out) {
	__shared__ int s[128];
	int t = threadIdx.x;
	if (t < 48) {
		if (t % 2 == 0) {
			s[t] = t;
			float f = t * 0.5f;
			out[t] = s[46 - t] + f;
		}
	}
}
