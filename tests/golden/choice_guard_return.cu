// Threads behind the end of the row return in front of the place where a barrier is missing.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void smooth(float *out, const float *in, int n)
{
    __shared__ float tile[64];
    const int i = threadIdx.x;
    if (i >= n)
        return;
    tile[i] = in[i];
    if (i > 0)
        out[i] = 0.5f * (tile[i] + tile[i - 1]);
}
