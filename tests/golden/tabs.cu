// Tabs stay tabs, and π is two bytes.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void mirror(int *out)
{
	__shared__ int s[64];
	int t = threadIdx.x; /* α */
	if (gridDim.x > 0)
	{
		s[t] = 1; // π
		out[t] = s[63 - t];
	}
}
