// The winner of a block: whichever thread writes last.
// cuda-lsp: launch grid=(8) block=(128)
__global__ void pick(int *winner, const float *score, float best)
{
    if (score[blockIdx.x * 128 + threadIdx.x] >= best)
        winner[blockIdx.x] = threadIdx.x;
}
