"""CUDA C++ text to kernel IR: compiler flags, the two libclang parses, lowering, and the bundled headers."""
