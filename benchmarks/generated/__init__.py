"""Random CUDA kernels as source text, and what executions say of the verdicts on them."""
