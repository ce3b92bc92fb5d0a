// Loops that threads leave for reasons of their own: the test at the end, a test that reads, a jump.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void at_the_end(float *out, const float *in, int n)
{
    __shared__ float s[64];
    int i = threadIdx.x;
    float sum = 0;
    do
    {
        s[threadIdx.x] = in[i];
        sum += s[63 - threadIdx.x];  // the other half
        i += 64;
    } while (i < n);
    out[threadIdx.x] = sum;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void along_a_list(float *out, const float *in, const int *next)
{
    __shared__ float s[64];
    float sum = 0;
    int node = threadIdx.x;
    while (next[node] > node /* the end of the list */)
    {
        s[threadIdx.x] = in[node];
        sum += s[63 - threadIdx.x];
        node = next[node];
    }
    out[threadIdx.x] = sum;
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void until_found(int *out, const int *in, int n)
{
    __shared__ int s[64];
    int found = -1;
    for (int i = threadIdx.x; i < n; i += 64)
    {
        s[threadIdx.x] = in[i];

        // Not here?
        if (in[i] == 0)
        {
            found = i;
            break;
        }
        found = s[63 - threadIdx.x];
    }
    out[threadIdx.x] = found;
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void over_the_grid(float *out, const float *in, int n)
{
    __shared__ float s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    while (i < n)
    {
        s[threadIdx.x] = in[i];
        sum += s[63 - threadIdx.x];
        i += blockDim.x * gridDim.x;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
