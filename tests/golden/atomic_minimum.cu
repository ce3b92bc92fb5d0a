// A minimum that threads keep by hand: one atomic function, and the value it had is not read twice.
// cuda-lsp: launch grid=(16) block=(128)
__global__ void nearest(int *best, const int *distance, int n) {
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		// smaller than all so far?
		if (distance[i] < *best) {
			*best = distance[i];
		}
	}
}
