"""The CPU executor: PTX → LLVM IR → machine code, every CUDA thread a coroutine, under a deterministic scheduler."""
