"""Runs of kernels under the race detector, from what the analysis says of them: launches, arguments, confirmation."""
