// Inline assembly as it is shipped: hinted loads and stores, fences, reductions, matrix loads.

#include <cstdint>
// Loads and stores.
__device__ __forceinline__ int ld_cg(const int *p) { int v; asm volatile("ld.global.cg.s32 %0, [%1];" : "=r"(v) : "l"(p)); return v; }
__device__ __forceinline__ void st_cg(int *p, int v) { asm volatile("st.global.cg.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
// cuda-lsp: launch grid=(4) block=(128)
__global__ void ld_st(const int *in, int *out) {  // expect: race-free
  int i = blockIdx.x * 128 + threadIdx.x;
  st_cg(out + i, ld_cg(in + i));
}

// cuda-lsp: launch grid=(4) block=(128)
__global__ void ld_st_racy(int *a) {  // expect: data-race intra-block at -9 with -8
  int i = blockIdx.x * 128 + threadIdx.x;
  st_cg(a + i, ld_cg(a + i + 1));
}

__device__ __forceinline__ float4 ld_nc_v4(const float4 *p) {
  float4 v;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p));
  return v;
}

__device__ __forceinline__ void st_v4(float4 *p, float4 v) {
  asm volatile("st.global.L1::no_allocate.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w));
}

// cuda-lsp: launch grid=(4) block=(128)
__global__ void v4(const float4 *in, float4 *out) {  // expect: race-free
  int i = blockIdx.x * 128 + threadIdx.x;
  st_v4(out + i, ld_nc_v4(in + i));
}

// Shared store/load by 32-bit address.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void shared_asm(const float *in, float *out) {  // expect: race-free
  __shared__ float s[128];
  int t = threadIdx.x;
  uint32_t addr = static_cast<uint32_t>(__cvta_generic_to_shared(s)) + t * 4;
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(addr), "f"(in[blockIdx.x * 128 + t]) : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  float v;
  uint32_t other = static_cast<uint32_t>(__cvta_generic_to_shared(&s[127 - t]));
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(other));
  out[blockIdx.x * 128 + t] = v;
}

// cuda-lsp: launch grid=(4) block=(128)
__global__ void shared_asm_racy(const float *in, float *out) {
  __shared__ float s[128];
  int t = threadIdx.x;
  uint32_t addr = static_cast<uint32_t>(__cvta_generic_to_shared(s)) + t * 4;
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(addr), "f"(in[blockIdx.x * 128 + t]) : "memory");  // expect: data-race intra-block with +4
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
  float v;
  uint32_t other = static_cast<uint32_t>(__cvta_generic_to_shared(&s[127 - t]));
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(other));
  out[blockIdx.x * 128 + t] = v;
}

// Fences and release/acquire flag.
__device__ __forceinline__ void st_release(int *p, int v) { asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
__device__ __forceinline__ int ld_acquire(int *p) { int v; asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
// cuda-lsp: launch grid=(2) block=(32)
__global__ void flag(int *data, int *flag, int *out) {  // expect: race-free
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[0] = 42;
    st_release(flag, 1);
  } else if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (ld_acquire(flag) == 0) {}
    out[0] = data[0];
  }
}

__device__ __forceinline__ void st_relaxed(int *p, int v) { asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory"); }
// cuda-lsp: launch grid=(2) block=(32)
__global__ void flag_racy(int *data, int *flag, int *out) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[0] = 42;  // expect: possible-data-race inter-block with +4
    st_relaxed(flag, 1);
  } else if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (ld_acquire(flag) == 0) {}
    out[0] = data[0];
  }
}

// Membar + volatile.
// cuda-lsp: launch grid=(2) block=(32)
__global__ void membar(int *data, int *flag, int *out) {  // expect: race-free
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[0] = 42;
    asm volatile("membar.gl;" ::: "memory");
    atomicExch(flag, 1);
  } else if (blockIdx.x == 1 && threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {}
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    out[0] = data[0];
  }
}

// Red, atom.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void red(const int *in, int *bins) {  // expect: race-free
  int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("red.global.add.s32 [%0], %1;" ::"l"(bins + (in[i] & 255)), "r"(1) : "memory");
}

// cuda-lsp: launch grid=(4) block=(128)
__global__ void red_cta_racy(const int *in, int *bins) {
  int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("red.relaxed.cta.global.add.s32 [%0], %1;" ::"l"(bins + (i & 255)), "r"(in[i]) : "memory");  // expect: data-race inter-block with self
}

// Special registers.
__device__ __forceinline__ unsigned lane_id() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned smid() { unsigned r; asm volatile("mov.u32 %0, %%smid;" : "=r"(r)); return r; }
__device__ __forceinline__ unsigned lanemask_lt() { unsigned r; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r)); return r; }
// cuda-lsp: launch grid=(4) block=(128)
__global__ void laneid(int *out) { out[blockIdx.x * 128 + threadIdx.x / 32 * 32 + lane_id()] = smid(); }  // expect: race-free
// cuda-lsp: launch grid=(4) block=(128)
__global__ void smid_racy(int *out) { out[smid()] += 1; }  // expect: possible-data-race intra-block with self
// Arithmetic asm: bfe, mad, lop3, prmt, ex2.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void arith(const unsigned *in, unsigned *out, float *f) {  // expect: race-free
  int i = blockIdx.x * 128 + threadIdx.x;
  unsigned v, w; float e;
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(v) : "r"(in[i]));
  asm("prmt.b32 %0, %1, %2, 0x3276;" : "=r"(w) : "r"(v), "r"(in[i]));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(f[i]));
  out[i] = v ^ w; f[i] = e;
}

// Prefetch, cvta.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void prefetch(const float *in, float *out) {  // expect: race-free
  int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in + i + 128));
  out[i] = in[i];
}

// Nanosleep, griddepcontrol.
// cuda-lsp: launch grid=(4) block=(128)
__global__ void hints(const float *in, float *out) {  // expect: race-free
  int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[i] = in[i];
  asm volatile("griddepcontrol.launch_dependents;");
}

// The rows of a matrix load go to other lanes: the barrier before it is needed.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void matrix_rows(const uint4 *in, unsigned *out) {  // expect: race-free
  __shared__ __align__(16) uint4 s[32];
  int lane = threadIdx.x;
  s[lane] = in[blockIdx.x * 32 + lane];
  __syncthreads();
  uint32_t row = __cvta_generic_to_shared(&s[lane]);
  unsigned a, b, c, d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(row));
  out[blockIdx.x * 32 + lane] = a + b + c + d;
}

// cuda-lsp: launch grid=(4) block=(32)
__global__ void matrix_rows_racy(const uint4 *in, unsigned *out) {
  __shared__ __align__(16) uint4 s[32];
  int lane = threadIdx.x;
  s[lane] = in[blockIdx.x * 32 + lane];  // expect: data-race intra-warp with +3
  uint32_t row = __cvta_generic_to_shared(&s[lane]);
  unsigned a, b, c, d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(row));
  out[blockIdx.x * 32 + lane] = a + b + c + d;
}

// A row written behind the load: the lanes that it goes to may not have it yet.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void matrix_rows_written_again(const uint4 *in, unsigned *out) {
  __shared__ __align__(16) uint4 s[32];
  int lane = threadIdx.x;
  unsigned a, b, c, d, sum = 0;
  for (int i = 0; i < 4; ++i) {
    s[lane] = in[(blockIdx.x * 4 + i) * 32 + lane];  // expect: data-race intra-warp with +3
    __syncwarp();
    uint32_t row = __cvta_generic_to_shared(&s[lane]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(row));
    sum += a + b + c + d;
  }
  out[blockIdx.x * 32 + lane] = sum;
}

// cuda-lsp: launch grid=(4) block=(64)
__global__ void matrix_rows_by_warp(const uint4 *in, unsigned *out) {  // expect: race-free
  __shared__ __align__(16) uint4 s[64];
  int t = threadIdx.x;
  unsigned a, b, c, d, sum = 0;
  for (int i = 0; i < 4; ++i) {
    s[t ^ (t >> 3 & 7)] = in[(blockIdx.x * 4 + i) * 64 + t];
    __syncwarp();
    uint32_t row = __cvta_generic_to_shared(&s[t]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(row));
    sum += a + b + c + d;
    __syncwarp();
  }
  out[blockIdx.x * 64 + t] = sum;
}

// The barrier of eight lanes leaves out lanes that the rows go to.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void matrix_rows_few_lanes(const uint4 *in, unsigned *out) {
  __shared__ __align__(16) uint4 s[32];
  int lane = threadIdx.x;
  s[lane] = in[blockIdx.x * 32 + lane];  // expect: possible-data-race intra-warp with +4
  __syncwarp(0xffu << (lane & 24));
  uint32_t row = __cvta_generic_to_shared(&s[lane]);
  unsigned a, b, c, d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(row));
  out[blockIdx.x * 32 + lane] = a + b + c + d;
}

// What the lanes store as rows they load as rows: each has its own part of them.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void matrix_stored_and_loaded(unsigned *out) {  // expect: race-free
  __shared__ __align__(16) uint4 s[32];
  int lane = threadIdx.x;
  unsigned a = lane, b = lane + 1, c = lane + 2, d = lane + 3;
  uint32_t row = __cvta_generic_to_shared(&s[lane]);
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(row), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(row));
  out[blockIdx.x * 32 + lane] = a + b + c + d;
}

// Transposed, they are other lanes.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void matrix_stored_and_transposed(unsigned *out) {
  __shared__ __align__(16) uint4 s[32];
  int lane = threadIdx.x;
  unsigned a = lane, b = lane + 1, c = lane + 2, d = lane + 3;
  uint32_t row = __cvta_generic_to_shared(&s[lane]);
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(row), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");  // expect: data-race intra-warp with +1
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "r"(row));
  out[blockIdx.x * 32 + lane] = a + b + c + d;
}

// A lane reads its row back before the others have stored their parts of it.
// cuda-lsp: launch grid=(4) block=(32)
__global__ void matrix_row_read_back(uint4 *out) {
  __shared__ __align__(16) uint4 s[32];
  int lane = threadIdx.x;
  unsigned a = lane, b = lane + 1, c = lane + 2, d = lane + 3;
  uint32_t row = __cvta_generic_to_shared(&s[lane]);
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(row), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");  // expect: data-race intra-warp with +1
  out[blockIdx.x * 32 + lane] = s[lane];
}
