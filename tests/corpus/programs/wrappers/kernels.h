#pragma once
extern "C" {
void cuda_fill(int grid, int block, float *data, int rows, int stride);
void cuda_fill_short(int grid, int block, float *data, int rows, int stride);
void cuda_sum(float *data, const float *more, int n);
void cuda_sum_over(float *data, const float *more, int n);
}

inline void fill(int grid, int block, float *data, int rows, int stride) {
  cuda_fill(grid, block, data, rows, stride);
}
inline void fill_short(int grid, int block, float *data, int rows, int stride) {
  cuda_fill_short(grid, block, data, rows, stride);
}
