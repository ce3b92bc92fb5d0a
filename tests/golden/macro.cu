// The loop and an index are written by macros; nothing goes into a macro's arguments.
#define EACH(i, n) for (int i = 0; i < (n); ++i)
#define LOWER(s, t) ((s)[63 - (t)])
// cuda-lsp: launch grid=(1) block=(64)
__global__ void hidden(int *out) {
  __shared__ int s[64];
  int t = threadIdx.x, sum = 0;
  s[t] = t;
  EACH(k, 3) sum += LOWER(s, t);
  out[t] = sum;
}
