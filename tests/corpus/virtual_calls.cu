// Virtual functions: which one runs is known where the object's class is, and nowhere else.

struct Writer {
  __device__ virtual void put(int *out) { out[threadIdx.x] = 1; }
  __device__ void through_this(int *out) { put(out); }
  __device__ void its_own(int *out) { Writer::put(out); }
};

struct Careless : Writer {
  __device__ void put(int *out) override { out[0] = threadIdx.x; }
};

struct Sealed final : Writer {
  __device__ void put(int *out) override { out[0] = threadIdx.x; }
};

struct Holder {
  Careless inner;
};

__device__ void use(Writer &writer, int *out) { writer.put(out); }
__device__ void use_sealed(Sealed &writer, int *out) { writer.put(out); }
__device__ void use_copy(Writer writer, int *out) { writer.put(out); }

// cuda-lsp: launch grid=(1) block=(64)
__global__ void named_object(int *out) {  // expect: data-race at 10 with 10
  Careless writer;
  writer.put(out);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void named_base(int *out) {  // expect: race-free
  Writer writer;
  writer.put(out);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void part_of_an_object(int *out) {  // expect: data-race at 10 with 10
  Holder holder;
  holder.inner.put(out);
}

// A reference to the base may lead to any class derived from it.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void through_a_reference(int *out) {  // expect: unknown(virtual-call)
  Careless writer;
  Writer &base = writer;
  base.put(out);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void through_a_parameter(int *out) {  // expect: unknown(virtual-call)
  Careless writer;
  use(writer, out);
}

// cuda-lsp: launch grid=(1) block=(64)
__global__ void through_this(int *out) {  // expect: unknown(virtual-call)
  Careless writer;
  writer.through_this(out);
}

// A qualified name is not dispatched.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void qualified_name(int *out) {  // expect: race-free
  Careless writer;
  writer.its_own(out);
}

// Nothing derives from a final class.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void final_class(int *out) {  // expect: data-race at 14 with 14
  Sealed writer;
  use_sealed(writer, out);
}

// A copy has the class it was declared with.
// cuda-lsp: launch grid=(1) block=(64)
__global__ void sliced_copy(int *out) {  // expect: race-free
  Careless writer;
  use_copy(writer, out);
}
