// ATen's accessors, by which kernels of PyTorch extensions index tensors. Compilers get this text as well: a slice has none
// of PyTorch's headers.
#pragma once

namespace at {
template <class T> struct DefaultPtrTraits { using PtrType = T *; };
template <class T> struct RestrictPtrTraits { using PtrType = T *__restrict__; };
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t> class TensorAccessor {
public:
  using PtrType = typename Traits<T>::PtrType;
  PtrType data_;
  const Index *sizes_;
  const Index *__strides;
  __host__ __device__ TensorAccessor(PtrType data, const Index *sizes, const Index *strides) : data_(data), sizes_(sizes), __strides(strides) {}
  __host__ __device__ TensorAccessor<T, N - 1, Traits, Index> operator[](Index i) const {
    return TensorAccessor<T, N - 1, Traits, Index>(data_ + __strides[0] * i, sizes_ + 1, __strides + 1);
  }
  __host__ __device__ Index size(Index i) const { return sizes_[i]; }
  __host__ __device__ Index stride(Index i) const { return __strides[i]; }
  __host__ __device__ PtrType data() const { return data_; }
};
template <class T, template <class> class Traits, class Index> class TensorAccessor<T, 1, Traits, Index> {
public:
  using PtrType = typename Traits<T>::PtrType;
  PtrType data_;
  const Index *sizes_;
  const Index *__strides;
  __host__ __device__ TensorAccessor(PtrType data, const Index *sizes, const Index *strides) : data_(data), sizes_(sizes), __strides(strides) {}
  __host__ __device__ T &operator[](Index i) const { return data_[__strides[0] * i]; }
  __host__ __device__ Index size(Index i) const { return sizes_[i]; }
  __host__ __device__ Index stride(Index i) const { return __strides[i]; }
  __host__ __device__ PtrType data() const { return data_; }
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t> class GenericPackedTensorAccessor {
public:
  using PtrType = typename Traits<T>::PtrType;
  PtrType data_;
  Index sizes_[N];
  Index __strides[N];
  __host__ __device__ TensorAccessor<T, N - 1, Traits, Index> operator[](Index i) const {
    return TensorAccessor<T, N - 1, Traits, Index>(data_ + __strides[0] * i, sizes_ + 1, __strides + 1);
  }
  __host__ __device__ Index size(Index i) const { return sizes_[i]; }
  __host__ __device__ Index stride(Index i) const { return __strides[i]; }
  __host__ __device__ PtrType data() const { return data_; }
};
template <class T, template <class> class Traits, class Index> class GenericPackedTensorAccessor<T, 1, Traits, Index> {
public:
  using PtrType = typename Traits<T>::PtrType;
  PtrType data_;
  Index sizes_[1];
  Index __strides[1];
  __host__ __device__ T &operator[](Index i) const { return data_[__strides[0] * i]; }
  __host__ __device__ Index size(Index i) const { return sizes_[i]; }
  __host__ __device__ Index stride(Index i) const { return __strides[i]; }
  __host__ __device__ PtrType data() const { return data_; }
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits> using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits> using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits> using PackedTensorAccessor = PackedTensorAccessor64<T, N, Traits>;
}  // namespace at
