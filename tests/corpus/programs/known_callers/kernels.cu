// Functions that headers define, some of them templates, have known callers only where each unit's mentions are calls.
#include "kernels.h"

__global__ void by_wrapper(int *out, int step) {  // expect: race-free
  out[threadIdx.x * step] = threadIdx.x;
}

__global__ void by_wrapper_address(int *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}

__global__ void by_template(int *out, int step) {  // expect: race-free
  out[threadIdx.x * step] = threadIdx.x;
}

__global__ void by_template_address(int *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}

__global__ void by_method(int *out, int step) {  // expect: race-free
  out[threadIdx.x * step] = threadIdx.x;
}

__global__ void by_method_elsewhere(int *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}

// What a header defines for each unit depends on the macros there: one unit calls it, the other has it in a table.
__global__ void by_one_step(int *out, int step) {  // expect: race-free
  out[threadIdx.x * step] = threadIdx.x;
}

__global__ void by_another_step(int *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}

void run_wrapped(int *out, int step) { by_wrapper<<<1, 64>>>(out, step); }
void run_wrapped_by_address(int *out, int step) { by_wrapper_address<<<1, 64>>>(out, step); }
void run_template(int *out, int step) { by_template<<<1, 64>>>(out, step); }
void run_template_by_address(int *out, int step) { by_template_address<<<1, 64>>>(out, step); }
void run_method(int *out, int step) { by_method<<<1, 64>>>(out, step); }
void run_method_elsewhere(int *out, int step) { by_method_elsewhere<<<1, 64>>>(out, step); }
void run_settled(int *out, int step) { by_one_step<<<1, 64>>>(out, step); }
void run_unsettled(int *out, int step) { by_another_step<<<1, 64>>>(out, step); }
