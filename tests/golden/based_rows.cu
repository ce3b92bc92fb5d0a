// A grid in strides of rows, in two dimensions.
// cuda-lsp: launch grid=(1,4) block=(16,16)
__global__ void flip(float *out, const float *in, int height)
{
    __shared__ float tile[16][16];
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += blockDim.y * gridDim.y) {
        tile[threadIdx.y][threadIdx.x] = in[16 * y + threadIdx.x];
        out[16 * y + threadIdx.x] = tile[15 - threadIdx.y][threadIdx.x];
    }
}
