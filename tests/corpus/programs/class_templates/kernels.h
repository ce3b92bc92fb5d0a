#pragma once
extern "C" {
void cuda_set(int blocks, float *out, int width, int rows);
void cuda_set_narrow(int blocks, float *out, int width, int rows);
void cuda_move(float *out, const float *in, int n);
void cuda_move_over(float *out, const float *in, int n);
}
inline void set_rows(int blocks, float *out, int width, int rows) { cuda_set(blocks, out, width, rows); }
inline void set_rows_narrow(int blocks, float *out, int width, int rows) { cuda_set_narrow(blocks, out, width, rows); }
