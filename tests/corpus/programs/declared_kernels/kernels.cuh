#pragma once
__global__ void rows(int *out, int pitch, int n);
__global__ void rows_short(int *out, int pitch, int n);
__global__ void halves(int *s, int n);
__global__ void halves_apart(int *s, int n);
