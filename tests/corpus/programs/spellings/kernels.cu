// Calls that a plain search for a name would overlook: behind digit separators and raw strings, in C and included files.
__global__ void separated(int *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}
__global__ void separated_apart(int *out, int step) {  // expect: race-free
  // today: data-race at +1 with +1 because the file of one caller pastes names that begin alike
  out[threadIdx.x * step] = threadIdx.x;
}
__global__ void behind_raw(int *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}
__global__ void spliced(int *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}
__global__ void pasted(int *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}
__global__ void from_c(int *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}
__global__ void from_part(int *out, int step) {
  out[threadIdx.x * step] = threadIdx.x;  // expect: data-race intra-block with self
}

extern "C" {
void run_separated(int *out, int step) { separated<<<1, 64>>>(out, step); }
void run_separated_apart(int *out, int step) { separated_apart<<<1, 64>>>(out, step); }
void run_behind_raw(int *out, int step) { behind_raw<<<1, 64>>>(out, step); }
void run_spliced(int *out, int step) { spliced<<<1, 64>>>(out, step); }
void run_pasted(int *out, int step) { pasted<<<1, 64>>>(out, step); }
void run_from_c(int *out, int step) { from_c<<<1, 64>>>(out, step); }
void run_from_part(int *out, int step) { from_part<<<1, 64>>>(out, step); }
}
