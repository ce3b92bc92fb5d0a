struct Pair { int a, b; };
// cuda-lsp: launch grid=(1) block=(64)
__global__ void k(int *out, const Pair *in, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t < 48) {
    Pair mine = in[t];
    s[t] = mine.a;
    out[t] = s[47 - t] + mine.b;
  }
}
