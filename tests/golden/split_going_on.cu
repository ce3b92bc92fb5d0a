// Some threads go on to the next row early, and rows end at different places.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void rows(float *out, const float *in, const int *length)
{
    __shared__ float row[64];
    const int t = threadIdx.x;
    float sum = 0.0f;
    for (int i = 0; i < length[t]; ++i) {
        row[t] = in[64 * i + t];
        const float other = row[63 - t];
        if (other < 0.0f)
            continue;
        sum += other;
    }
    out[t] = sum;
}
