// Facade of ATen, c10, torch and the parts of pybind11 that extension sources show: signatures, with bodies only for what
// device code indexes through. Checks become __cuda_lsp_check; each AT_DISPATCH runs its body for at most two types.
#pragma once
#include <cuda_lsp/hide_macros.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cublas_v2.h>
#include <cuda_lsp_accessors.h>
#include <cuda_lsp/cpp_adaptors.h>
#include <cuda_lsp/cpp_algorithms.h>
#include <cuda_lsp/cpp_complex.h>
#include <cuda_lsp/cpp_maps.h>
#include <cuda_lsp/cpp_optional.h>
#include <cuda_lsp/cpp_streams.h>
#include <cuda_lsp/cpp_threads.h>

#pragma clang force_cuda_host_device begin
namespace c10 {
struct alignas(2) Half {
  unsigned short x;
  struct from_bits_t {};
  Half() = default;
  constexpr Half(unsigned short bits, from_bits_t) : x(bits) {}
  Half(float value);
  Half(const __half &value) : x(value.__x) {}
  operator float() const;
  operator __half() const { return __half(__half_raw{x}); }
};
struct alignas(2) BFloat16 {
  unsigned short x;
  struct from_bits_t {};
  BFloat16() = default;
  constexpr BFloat16(unsigned short bits, from_bits_t) : x(bits) {}
  BFloat16(float value);
  BFloat16(const __nv_bfloat16 &value) : x(value.__x) {}
  operator float() const;
  operator __nv_bfloat16() const { return __nv_bfloat16(__nv_bfloat16_raw{x}); }
};
#define CUDA_LSP_REDUCED(T)                                             \
  T operator+(const T &a, const T &b);                                  \
  T operator-(const T &a, const T &b);                                  \
  T operator*(const T &a, const T &b);                                  \
  T operator/(const T &a, const T &b);                                  \
  T operator-(const T &a);                                              \
  inline T &operator+=(T &a, const T &b) { a = a + b; return a; }       \
  inline T &operator-=(T &a, const T &b) { a = a - b; return a; }       \
  inline T &operator*=(T &a, const T &b) { a = a * b; return a; }       \
  inline T &operator/=(T &a, const T &b) { a = a / b; return a; }       \
  float operator+(T a, float b); float operator+(float a, T b); float operator-(T a, float b); float operator-(float a, T b); \
  float operator*(T a, float b); float operator*(float a, T b); float operator/(T a, float b); float operator/(float a, T b); \
  double operator+(T a, double b); double operator+(double a, T b); double operator-(T a, double b); double operator-(double a, T b); \
  double operator*(T a, double b); double operator*(double a, T b); double operator/(T a, double b); double operator/(double a, T b); \
  T operator+(T a, int b); T operator+(int a, T b); T operator-(T a, int b); T operator-(int a, T b);        \
  T operator*(T a, int b); T operator*(int a, T b); T operator/(T a, int b); T operator/(int a, T b);
CUDA_LSP_REDUCED(Half)
CUDA_LSP_REDUCED(BFloat16)
#undef CUDA_LSP_REDUCED
// Both convert to float and to CUDA's own numbers: without operators of their own a comparison would be ambiguous.
#define CUDA_LSP_COMPARED(T, O)                                                                         \
  bool operator O(const T &a, const T &b);                                                              \
  template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value>> bool operator O(const T &a, A b); \
  template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value>> bool operator O(A a, const T &b);
#define CUDA_LSP_ORDERED(T) CUDA_LSP_COMPARED(T, <) CUDA_LSP_COMPARED(T, >) CUDA_LSP_COMPARED(T, <=) CUDA_LSP_COMPARED(T, >=) \
  CUDA_LSP_COMPARED(T, ==) CUDA_LSP_COMPARED(T, !=)
CUDA_LSP_ORDERED(Half)
CUDA_LSP_ORDERED(BFloat16)
#undef CUDA_LSP_ORDERED
#undef CUDA_LSP_COMPARED
struct alignas(1) Float8_e4m3fn { unsigned char x; Float8_e4m3fn() = default; Float8_e4m3fn(float value); operator float() const; };
struct alignas(1) Float8_e5m2 { unsigned char x; Float8_e5m2() = default; Float8_e5m2(float value); operator float() const; };
template <class T> using complex = std::complex<T>;
}  // namespace c10
template <> struct std::numeric_limits<c10::Half> { static constexpr bool is_specialized = true; static c10::Half max(); static c10::Half min(); static c10::Half lowest(); static c10::Half infinity(); static c10::Half quiet_NaN(); static c10::Half epsilon(); };
template <> struct std::numeric_limits<c10::BFloat16> { static constexpr bool is_specialized = true; static c10::BFloat16 max(); static c10::BFloat16 min(); static c10::BFloat16 lowest(); static c10::BFloat16 infinity(); static c10::BFloat16 quiet_NaN(); static c10::BFloat16 epsilon(); };

// What gpuAtomicAdd and its kin come down to.
#define CUDA_LSP_GPU_ATOMIC(name, T, ...) inline T name(T *address, T value) { return __VA_ARGS__; }
#define CUDA_LSP_GPU_ATOMICS(T) CUDA_LSP_GPU_ATOMIC(gpuAtomicAdd, T, atomicAdd(address, value)) CUDA_LSP_GPU_ATOMIC(gpuAtomicAddNoReturn, T, atomicAdd(address, value))
#define CUDA_LSP_GPU_SMALL_ATOMICS(T)                                                                                             \
  CUDA_LSP_GPU_ATOMIC(gpuAtomicAdd, T, __cuda_lsp_atomic_fetch_add<T>(address, value, 0, 3))                                      \
  CUDA_LSP_GPU_ATOMIC(gpuAtomicAddNoReturn, T, __cuda_lsp_atomic_fetch_add<T>(address, value, 0, 3))
CUDA_LSP_GPU_ATOMICS(float) CUDA_LSP_GPU_ATOMICS(double) CUDA_LSP_GPU_ATOMICS(int)
CUDA_LSP_GPU_SMALL_ATOMICS(c10::Half) CUDA_LSP_GPU_SMALL_ATOMICS(c10::BFloat16) CUDA_LSP_GPU_SMALL_ATOMICS(long) CUDA_LSP_GPU_SMALL_ATOMICS(unsigned char)
CUDA_LSP_GPU_SMALL_ATOMICS(signed char) CUDA_LSP_GPU_SMALL_ATOMICS(short) CUDA_LSP_GPU_SMALL_ATOMICS(bool)
#define CUDA_LSP_GPU_MIN_MAX(T)                                                                       \
  CUDA_LSP_GPU_ATOMIC(gpuAtomicMax, T, __cuda_lsp_atomic_fetch_max<T>(address, value, 0, 3))          \
  CUDA_LSP_GPU_ATOMIC(gpuAtomicMin, T, __cuda_lsp_atomic_fetch_min<T>(address, value, 0, 3))          \
  CUDA_LSP_GPU_ATOMIC(gpuAtomicMul, T, __cuda_lsp_atomic_fetch_max<T>(address, value, 0, 3))
CUDA_LSP_GPU_MIN_MAX(float) CUDA_LSP_GPU_MIN_MAX(double) CUDA_LSP_GPU_MIN_MAX(int) CUDA_LSP_GPU_MIN_MAX(long)
CUDA_LSP_GPU_MIN_MAX(c10::Half) CUDA_LSP_GPU_MIN_MAX(c10::BFloat16)
inline c10::Half atomicAdd(c10::Half *address, c10::Half value) { return __cuda_lsp_atomic_fetch_add<c10::Half>(address, value, 0, 3); }
inline c10::BFloat16 atomicAdd(c10::BFloat16 *address, c10::BFloat16 value) { return __cuda_lsp_atomic_fetch_add<c10::BFloat16>(address, value, 0, 3); }
inline long atomicAdd(long *address, long value) { return __cuda_lsp_atomic_fetch_add<long>(address, value, 0, 3); }

namespace at {
using c10::Half;
using c10::BFloat16;
template <class T> struct OpMathType { using type = T; };
template <> struct OpMathType<c10::Half> { using type = float; };
template <> struct OpMathType<c10::BFloat16> { using type = float; };
template <class T> using opmath_type = typename OpMathType<T>::type;
template <class T, bool OnDevice> struct AccumulateType { using type = typename OpMathType<T>::type; };
template <class T, bool OnDevice> using acc_type = typename AccumulateType<T, OnDevice>::type;

template <class T, class U> constexpr T ceil_div(T a, U b) { return (a + b - 1) / b; }
template <class T> constexpr T divup(T a, T b) { return (a + b - 1) / b; }
template <class T> bool _isnan(T value);
template <class T> bool _isinf(T value);

struct PhiloxCudaState { uint64_t seed_, offset_; };
namespace cuda { namespace philox { std::tuple<uint64_t, uint64_t> unpack(PhiloxCudaState state); } }
}  // namespace at
#pragma clang force_cuda_host_device end

namespace c10 {
template <class T> using optional = std::optional<T>;
using std::nullopt;
using std::nullopt_t;
using std::make_optional;
template <class T> class ArrayRef {
public:
  ArrayRef();
  ArrayRef(const T &one);
  ArrayRef(const T *data, size_t size);
  ArrayRef(std::initializer_list<T> values);
  template <size_t N> ArrayRef(const T (&values)[N]);
  template <class A> ArrayRef(const std::vector<T, A> &values);
  template <size_t N> ArrayRef(const std::array<T, N> &values);
  const T *begin() const;
  const T *end() const;
  const T *data() const;
  size_t size() const;
  bool empty() const;
  const T &operator[](size_t i) const;
  const T &front() const;
  const T &back() const;
  ArrayRef slice(size_t at, size_t n) const;
  std::vector<T> vec() const;
  bool equals(ArrayRef other) const;
};
template <class T> bool operator==(ArrayRef<T> a, ArrayRef<T> b);
template <class T> bool operator!=(ArrayRef<T> a, ArrayRef<T> b);
using IntArrayRef = ArrayRef<int64_t>;
template <class T, unsigned N = 4> class SmallVector : public std::vector<T> {
public:
  using std::vector<T>::vector;
  SmallVector(ArrayRef<T> values);
  operator ArrayRef<T>() const;
  void append(ArrayRef<T> values);
  template <class It> void append(It first, It last);
};
using DimVector = SmallVector<int64_t, 5>;
using SymInt = int64_t;
using string_view = std::string_view;
template <class T, class D = void> using intrusive_ptr = std::shared_ptr<T>;
template <class T> class MaybeOwned { public: static MaybeOwned borrowed(const T &object); static MaybeOwned owned(T &&object); const T &operator*() const; const T *operator->() const; };
class Error : public std::runtime_error { public: using std::runtime_error::runtime_error; };

using DeviceIndex = signed char;
enum class DeviceType : signed char { CPU = 0, CUDA = 1, HIP = 6, MPS = 13, Meta = 14 };
inline constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kHIP = DeviceType::HIP, kMPS = DeviceType::MPS;
class Device {
public:
  Device(DeviceType type, DeviceIndex index = -1);
  Device(const std::string &text);
  DeviceType type() const;
  DeviceIndex index() const;
  bool is_cuda() const;
  bool is_cpu() const;
  bool operator==(const Device &other) const;
  bool operator!=(const Device &other) const;
  std::string str() const;
};
enum class ScalarType : signed char {
  Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8, QInt32, BFloat16,
  Float8_e5m2, Float8_e4m3fn, UInt16, UInt32, UInt64, Undefined, NumOptions
};
#define CUDA_LSP_KINDS(X) X(Byte) X(Char) X(Short) X(Int) X(Long) X(Half) X(Float) X(Double) X(ComplexHalf) X(ComplexFloat) X(ComplexDouble) \
  X(Bool) X(BFloat16) X(Float8_e5m2) X(Float8_e4m3fn) X(QInt8) X(QUInt8) X(QInt32) X(UInt16) X(UInt32) X(UInt64)
#define CUDA_LSP_KIND(name) inline constexpr ScalarType k##name = ScalarType::name;
CUDA_LSP_KINDS(CUDA_LSP_KIND)
inline constexpr ScalarType kFloat16 = ScalarType::Half, kFloat32 = ScalarType::Float, kFloat64 = ScalarType::Double, kInt8 = ScalarType::Char,
                            kInt16 = ScalarType::Short, kInt32 = ScalarType::Int, kInt64 = ScalarType::Long, kUInt8 = ScalarType::Byte;
const char *toString(ScalarType type);
size_t elementSize(ScalarType type);
bool isFloatingType(ScalarType type);
bool isIntegralType(ScalarType type, bool with_bool = false);
bool isReducedFloatingType(ScalarType type);
template <class T> struct CppTypeToScalarType { static constexpr ScalarType value = ScalarType::Float; constexpr operator ScalarType() const { return value; } };
enum class Layout : signed char { Strided, Sparse };
inline constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse;
enum class MemoryFormat : signed char { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
}  // namespace c10
namespace caffe2 {
class TypeMeta {
public:
  TypeMeta(c10::ScalarType type);
  size_t itemsize() const;
  std::string_view name() const;
  c10::ScalarType toScalarType() const;
  bool operator==(const TypeMeta &other) const;
  bool operator!=(const TypeMeta &other) const;
  operator c10::ScalarType() const;
  template <class T> static TypeMeta Make();
  template <class T> bool Match() const;
};
bool operator==(const TypeMeta &a, c10::ScalarType b);
bool operator!=(const TypeMeta &a, c10::ScalarType b);
}  // namespace caffe2
namespace c10 {
namespace impl {
template <ScalarType> struct ScalarTypeToCPPType { using type = float; };
template <> struct ScalarTypeToCPPType<ScalarType::Half> { using type = c10::Half; };
template <> struct ScalarTypeToCPPType<ScalarType::BFloat16> { using type = c10::BFloat16; };
template <> struct ScalarTypeToCPPType<ScalarType::Double> { using type = double; };
template <> struct ScalarTypeToCPPType<ScalarType::Int> { using type = int; };
template <> struct ScalarTypeToCPPType<ScalarType::Long> { using type = int64_t; };
template <> struct ScalarTypeToCPPType<ScalarType::Short> { using type = short; };
template <> struct ScalarTypeToCPPType<ScalarType::Char> { using type = signed char; };
template <> struct ScalarTypeToCPPType<ScalarType::Byte> { using type = unsigned char; };
template <> struct ScalarTypeToCPPType<ScalarType::Bool> { using type = bool; };
template <> struct ScalarTypeToCPPType<ScalarType::Float8_e4m3fn> { using type = c10::Float8_e4m3fn; };
template <> struct ScalarTypeToCPPType<ScalarType::Float8_e5m2> { using type = c10::Float8_e5m2; };
template <ScalarType Kind> using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<Kind>::type;
}  // namespace impl
ScalarType typeMetaToScalarType(caffe2::TypeMeta type);
class Scalar {
public:
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Scalar(T value);
  Scalar(Half value);
  template <class T> T to() const;
  double toDouble() const;
  float toFloat() const;
  int64_t toLong() const;
  int toInt() const;
  bool toBool() const;
};
class TensorOptions {
public:
  TensorOptions();
  TensorOptions(ScalarType type);
  TensorOptions(caffe2::TypeMeta type);
  TensorOptions(Device device);
  TensorOptions(DeviceType device);
  TensorOptions dtype(ScalarType type) const;
  TensorOptions dtype(caffe2::TypeMeta type) const;
  TensorOptions device(Device device) const;
  TensorOptions device(DeviceType type, DeviceIndex index = -1) const;
  TensorOptions layout(Layout layout) const;
  TensorOptions requires_grad(bool value = true) const;
  TensorOptions pinned_memory(bool value = true) const;
  TensorOptions memory_format(MemoryFormat format) const;
  caffe2::TypeMeta dtype() const;
  Device device() const;
};
class Stream { public: Device device() const; };
class InferenceMode { public: explicit InferenceMode(bool enabled = true); ~InferenceMode(); };
class OptionalDeviceGuard { public: template <class... A> explicit OptionalDeviceGuard(A &&...); ~OptionalDeviceGuard(); };
class DeviceGuard { public: explicit DeviceGuard(Device device); ~DeviceGuard(); };
class DataPtr { public: void *get() const; void *mutable_get(); };
class Allocator { public: DataPtr allocate(size_t n); void *raw_allocate(size_t n); void raw_deallocate(void *pointer); };
class Storage { public: void *data() const; size_t nbytes() const; const DataPtr &data_ptr() const; };
namespace cuda {
class CUDAStream {
public:
  CUDAStream();
  operator cudaStream_t() const;
  cudaStream_t stream() const;
  DeviceIndex device_index() const;
  Device device() const;
  void synchronize() const;
  bool query() const;
  bool operator==(const CUDAStream &other) const;
};
CUDAStream getCurrentCUDAStream(DeviceIndex device = -1);
CUDAStream getDefaultCUDAStream(DeviceIndex device = -1);
CUDAStream getStreamFromPool(bool high_priority = false, DeviceIndex device = -1);
CUDAStream getStreamFromExternal(cudaStream_t stream, DeviceIndex device);
void setCurrentCUDAStream(CUDAStream stream);
DeviceIndex current_device();
DeviceIndex device_count();
void set_device(DeviceIndex device);
void device_synchronize();
class CUDAGuard { public: explicit CUDAGuard(DeviceIndex device); explicit CUDAGuard(Device device); ~CUDAGuard(); void set_index(DeviceIndex index); void set_device(Device device); };
class OptionalCUDAGuard { public: OptionalCUDAGuard(); template <class A> explicit OptionalCUDAGuard(A &&device); ~OptionalCUDAGuard(); };
class CUDAStreamGuard { public: explicit CUDAStreamGuard(CUDAStream stream); ~CUDAStreamGuard(); };
namespace CUDACachingAllocator {
Allocator *get();
void *raw_alloc(size_t n);
void *raw_alloc_with_stream(size_t n, cudaStream_t stream);
void raw_delete(void *pointer);
void emptyCache();
void recordStream(const DataPtr &pointer, CUDAStream stream);
}  // namespace CUDACachingAllocator
}  // namespace cuda
template <class... A> std::string str(const A &...parts);
}  // namespace c10

namespace at {
using namespace c10;
using c10::ScalarType;
class Generator;
class Tensor;
namespace indexing {
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis{};
inline constexpr nullopt_t None = c10::nullopt;
struct Slice { template <class... A> Slice(A &&...arguments); };
struct TensorIndex {
  TensorIndex(nullopt_t);
  TensorIndex(EllipsisIndexType);
  TensorIndex(Slice slice);
  TensorIndex(const Tensor &tensor);
  TensorIndex(const char *text);
  TensorIndex(int64_t index);
  TensorIndex(int index);
  TensorIndex(bool index);
};
}  // namespace indexing
class Tensor {
public:
  Tensor();
  template <class T> T *data_ptr() const;
  void *data_ptr() const;
  template <class T> const T *const_data_ptr() const;
  template <class T> T *mutable_data_ptr() const;
  const void *const_data_ptr() const;
  void *mutable_data_ptr() const;
  template <class T> T *data() const;
  Tensor data() const;
  template <class T> T item() const;
  Scalar item() const;
  int64_t size(int64_t dimension) const;
  int64_t stride(int64_t dimension) const;
  int64_t numel() const;
  int64_t dim() const;
  int64_t ndimension() const;
  int64_t element_size() const;
  int64_t itemsize() const;
  size_t nbytes() const;
  int64_t storage_offset() const;
  const Storage &storage() const;
  IntArrayRef sizes() const;
  IntArrayRef strides() const;
  TensorOptions options() const;
  caffe2::TypeMeta dtype() const;
  ScalarType scalar_type() const;
  ScalarType type() const;
  Device device() const;
  Layout layout() const;
  DeviceIndex get_device() const;
  bool defined() const;
  bool is_cuda() const;
  bool is_cpu() const;
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  bool is_sparse() const;
  bool is_floating_point() const;
  bool is_complex() const;
  bool is_same(const Tensor &other) const;
  bool is_same_size(const Tensor &other) const;
  bool is_non_overlapping_and_dense() const;
  bool requires_grad() const;
  Tensor &set_requires_grad(bool value);
  Tensor &requires_grad_(bool value = true);
  Tensor &grad() const;
  void backward() const;
  Tensor operator[](int64_t i) const;
  Tensor operator-() const;
  Tensor operator~() const;
  template <class T, size_t N> TensorAccessor<T, N> accessor() const;
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits> GenericPackedTensorAccessor<T, N, Traits, int32_t> packed_accessor32() const;
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits> GenericPackedTensorAccessor<T, N, Traits, int64_t> packed_accessor64() const;
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t> GenericPackedTensorAccessor<T, N, Traits, Index> packed_accessor() const;
  template <class T, size_t N, template <class> class Traits = DefaultPtrTraits, class Index = int64_t> GenericPackedTensorAccessor<T, N, Traits, Index> generic_packed_accessor() const;
  Tensor view(IntArrayRef sizes) const;
  Tensor view(ScalarType type) const;
  Tensor reshape(IntArrayRef sizes) const;
  Tensor expand(IntArrayRef sizes, bool implicit = false) const;
  Tensor repeat(IntArrayRef sizes) const;
  Tensor permute(IntArrayRef dimensions) const;
  Tensor sum(IntArrayRef dimensions, bool keep = false) const;
  Tensor mean(IntArrayRef dimensions, bool keep = false) const;
  Tensor new_empty(IntArrayRef sizes, TensorOptions options = {}) const;
  Tensor new_zeros(IntArrayRef sizes, TensorOptions options = {}) const;
  Tensor new_full(IntArrayRef sizes, Scalar value, TensorOptions options = {}) const;
  Tensor resize_(IntArrayRef sizes) const;
  Tensor as_strided(IntArrayRef sizes, IntArrayRef strides, int64_t offset = 0) const;
  Tensor flip(IntArrayRef dimensions) const;
  Tensor roll(IntArrayRef shifts, IntArrayRef dimensions = {}) const;
#define CUDA_LSP_TENSOR_METHODS(X)                                                                                                  \
  X(clone) X(detach) X(squeeze) X(squeeze_) X(unsqueeze) X(unsqueeze_) X(transpose) X(t) X(narrow) X(select) X(slice)      \
  X(index_select) X(masked_select) X(gather) X(scatter) X(scatter_add) X(flatten) X(ravel) X(abs) X(sqrt) X(exp) X(log)    \
  X(sum) X(mean) X(max) X(min) X(amax) X(amin) X(argmax) X(argmin) X(any) X(all) X(cumsum) X(sort) X(argsort) X(topk) X(nonzero)    \
  X(add) X(sub) X(mul) X(div) X(matmul) X(mm) X(bmm) X(dot) X(pow) X(neg) X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(clamp) X(floor)      \
  X(round) X(ceil) X(toType) X(type_as) X(zero_) X(fill_) X(copy_) X(add_) X(sub_) X(mul_) X(div_) X(clamp_) X(clamp_min) X(clamp_max) X(clamp_min_) X(clamp_max_)         \
  X(scatter_) X(scatter_add_) X(masked_fill) X(masked_fill_) X(unique) X(view_as) X(expand_as) X(reshape_as) X(unfold) X(resize_as_) \
  X(repeat_interleave) X(norm) X(var) X(std) X(softmax) X(sigmoid) X(tanh) X(relu) X(logical_and) X(logical_or) X(logical_not)      \
  X(bitwise_and) X(bitwise_or) X(pin_memory) X(movedim) X(swapaxes) X(diagonal) X(tril) X(triu) X(square) X(rsqrt) X(reciprocal)    \
  X(unbind_copy) X(random_) X(uniform_) X(normal_) X(set_) X(swap_dims) X(inverse) X(conj) X(real) X(imag) X(index_add_) X(copysign)
#define CUDA_LSP_METHOD(name) template <class... A> Tensor name(A &&...arguments) const;
  CUDA_LSP_TENSOR_METHODS(CUDA_LSP_METHOD)
  CUDA_LSP_METHOD(contiguous) CUDA_LSP_METHOD(cpu) CUDA_LSP_METHOD(cuda) CUDA_LSP_METHOD(to)
#undef CUDA_LSP_METHOD
  Tensor index(ArrayRef<indexing::TensorIndex> at) const;
  Tensor index_put_(ArrayRef<indexing::TensorIndex> at, const Tensor &value) const;
  Tensor index_put_(ArrayRef<indexing::TensorIndex> at, const Scalar &value) const;
  template <class... A> std::vector<Tensor> split(A &&...arguments) const;
  template <class... A> std::vector<Tensor> chunk(A &&...arguments) const;
  template <class... A> std::vector<Tensor> unbind(A &&...arguments) const;
  bool equal(const Tensor &other) const;
  template <class T> Tensor &operator+=(const T &other);
  template <class T> Tensor &operator-=(const T &other);
  template <class T> Tensor &operator*=(const T &other);
  template <class T> Tensor &operator/=(const T &other);
  void record_stream(c10::cuda::CUDAStream stream) const;
  void reset();
  std::string toString() const;
  long use_count() const;
};
#define CUDA_LSP_TENSOR_OPERATOR(op)                                                    \
  Tensor operator op(const Tensor &a, const Tensor &b);                                 \
  Tensor operator op(const Tensor &a, const Scalar &b);                                 \
  Tensor operator op(const Scalar &a, const Tensor &b);
CUDA_LSP_TENSOR_OPERATOR(+) CUDA_LSP_TENSOR_OPERATOR(-) CUDA_LSP_TENSOR_OPERATOR(*) CUDA_LSP_TENSOR_OPERATOR(/) CUDA_LSP_TENSOR_OPERATOR(<)
CUDA_LSP_TENSOR_OPERATOR(>) CUDA_LSP_TENSOR_OPERATOR(<=) CUDA_LSP_TENSOR_OPERATOR(>=) CUDA_LSP_TENSOR_OPERATOR(==) CUDA_LSP_TENSOR_OPERATOR(!=)
CUDA_LSP_TENSOR_OPERATOR(&) CUDA_LSP_TENSOR_OPERATOR(|)
#undef CUDA_LSP_TENSOR_OPERATOR
std::ostream &operator<<(std::ostream &stream, const Tensor &tensor);
using TensorList = ArrayRef<Tensor>;
using OptionalTensorRef = optional<Tensor>;
using TensorBase = Tensor;
using DeprecatedTypeProperties = ScalarType;

TensorOptions dtype(ScalarType type);
TensorOptions device(Device device);
TensorOptions device(DeviceType device);
Tensor empty(IntArrayRef sizes, TensorOptions options = {}, optional<MemoryFormat> format = nullopt);
Tensor zeros(IntArrayRef sizes, TensorOptions options = {});
Tensor ones(IntArrayRef sizes, TensorOptions options = {});
Tensor rand(IntArrayRef sizes, TensorOptions options = {});
Tensor randn(IntArrayRef sizes, TensorOptions options = {});
Tensor full(IntArrayRef sizes, Scalar value, TensorOptions options = {});
Tensor randint(int64_t high, IntArrayRef sizes, TensorOptions options = {});
Tensor randint(int64_t low, int64_t high, IntArrayRef sizes, TensorOptions options = {});
Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, TensorOptions options = {});
Tensor empty_like(const Tensor &like, TensorOptions options = {}, optional<MemoryFormat> format = nullopt);
Tensor zeros_like(const Tensor &like, TensorOptions options = {}, optional<MemoryFormat> format = nullopt);
Tensor ones_like(const Tensor &like, TensorOptions options = {}, optional<MemoryFormat> format = nullopt);
Tensor rand_like(const Tensor &like, TensorOptions options = {});
Tensor randn_like(const Tensor &like, TensorOptions options = {});
Tensor full_like(const Tensor &like, Scalar value, TensorOptions options = {});
Tensor arange(Scalar end, TensorOptions options = {});
Tensor arange(Scalar start, Scalar end, TensorOptions options = {});
Tensor arange(Scalar start, Scalar end, Scalar step, TensorOptions options = {});
Tensor from_blob(void *data, IntArrayRef sizes, TensorOptions options = {});
template <class D> Tensor from_blob(void *data, IntArrayRef sizes, const D &deleter, TensorOptions options = {});
Tensor from_blob(void *data, IntArrayRef sizes, IntArrayRef strides, TensorOptions options = {});
template <class T> Tensor tensor(std::initializer_list<T> values, TensorOptions options = {});
template <class T> Tensor tensor(const std::vector<T> &values, TensorOptions options = {});
template <class T> Tensor tensor(T value, TensorOptions options = {});
Tensor scalar_tensor(Scalar value, TensorOptions options = {});
Tensor cat(TensorList tensors, int64_t dimension = 0);
Tensor stack(TensorList tensors, int64_t dimension = 0);
#define CUDA_LSP_FUNCTION(name) template <class... A> Tensor name(const Tensor &tensor, A &&...arguments);
CUDA_LSP_TENSOR_METHODS(CUDA_LSP_FUNCTION)
CUDA_LSP_FUNCTION(reshape) CUDA_LSP_FUNCTION(view) CUDA_LSP_FUNCTION(permute) CUDA_LSP_FUNCTION(where) CUDA_LSP_FUNCTION(linear) CUDA_LSP_FUNCTION(constant_pad_nd)
CUDA_LSP_FUNCTION(layer_norm) CUDA_LSP_FUNCTION(searchsorted) CUDA_LSP_FUNCTION(bincount) CUDA_LSP_FUNCTION(cross) CUDA_LSP_FUNCTION(sin) CUDA_LSP_FUNCTION(cos)
#undef CUDA_LSP_FUNCTION
bool equal(const Tensor &a, const Tensor &b);
optional<Device> device_of(const Tensor &tensor);
bool allclose(const Tensor &a, const Tensor &b, double relative = 1e-5, double absolute = 1e-8);
void checkAllSameGPU(const char *name, TensorList tensors);

using c10::cuda::CUDAStream;
struct CUDAGeneratorImpl {
  std::mutex mutex_;
  PhiloxCudaState philox_cuda_state(uint64_t increment);
  std::pair<uint64_t, uint64_t> philox_engine_inputs(uint64_t increment);
  uint64_t seed();
};
class Generator { public: Generator(); std::mutex &mutex(); bool defined() const; uint64_t current_seed() const; };
template <class G> G *get_generator_or_default(const optional<Generator> &generator, const Generator &fallback);
template <class G> G *check_generator(const optional<Generator> &generator);
namespace cuda {
using namespace c10::cuda;
cudaDeviceProp *getCurrentDeviceProperties();
cudaDeviceProp *getDeviceProperties(int64_t device);
int warp_size();
Allocator *getCUDADeviceAllocator();
bool check_device(TensorList tensors);
class CUDAEvent { public: CUDAEvent(); void record(); void record(const CUDAStream &stream); void block(const CUDAStream &stream); bool query() const; void synchronize() const; float elapsed_time(const CUDAEvent &other) const; operator cudaEvent_t() const; };
template <class T> T ATenCeilDiv(T a, T b) { return (a + b - 1) / b; }
cublasContext *getCurrentCUDABlasHandle();
namespace detail {
const Generator &getDefaultCUDAGenerator(DeviceIndex device = -1);
template <class T, class I> struct TensorInfo {
  T *data; I sizes[25]; I strides[25]; int dims;
  __host__ __device__ bool isContiguous() const { return dims == 1 && strides[0] == 1; }
};
template <class T, class I> TensorInfo<T, I> getTensorInfo(const Tensor &tensor);
template <class T, class I, int Dims> struct IndexToOffset { static __host__ __device__ I get(I linear, const TensorInfo<T, I> &info); };
bool canUse32BitIndexMath(const Tensor &tensor);
}  // namespace detail
}  // namespace cuda
template <class F> void parallel_for(int64_t begin, int64_t end, int64_t grain, const F &f);
int get_num_threads();
class Context { public: void *getCurrentCUDAStream() const; void lazyInitCUDA(); bool allowTF32CuBLAS() const; bool deterministicAlgorithms() const; const Generator &defaultGenerator(Device device); };
Context &globalContext();
namespace native {}
class AutoGradMode { public: explicit AutoGradMode(bool enabled); };
using c10::Device;
using c10::DeviceType;
}  // namespace at

namespace torch {
using namespace at;
using at::Tensor;
using at::ScalarType;
using Dtype = c10::ScalarType;
using c10::optional;
using c10::nullopt;
using c10::Device;
using c10::DeviceType;
using c10::IntArrayRef;
namespace indexing = at::indexing;
namespace autograd {
using variable_list = std::vector<Tensor>;
using tensor_list = std::vector<Tensor>;
using Variable = Tensor;
struct AutogradContext {
  std::unordered_map<std::string, int64_t> saved_data;
  void save_for_backward(variable_list tensors);
  variable_list get_saved_variables() const;
  void mark_non_differentiable(const variable_list &tensors);
  void mark_dirty(const variable_list &tensors);
};
template <class F> struct Function { template <class... A> static auto apply(A &&...arguments); };
}  // namespace autograd
namespace nn { namespace functional {} }
class NoGradGuard { public: NoGradGuard(); };
class Library { public: template <class... A> Library &def(A &&...arguments); template <class... A> Library &impl(A &&...arguments); };
template <class T> struct CppFunction;
}  // namespace torch
using torch::autograd::Variable;

namespace pybind11 {
struct cuda_lsp_any { template <class T> operator T() const; };
class object {
public:
  template <class T> T cast() const;
  object attr(const char *name) const;
  template <class... A> object operator()(A &&...arguments) const;
  template <class K> object operator[](K &&key) const;
  bool is_none() const;
  object *ptr() const;
};
class handle : public object {};
class module_ : public object {
public:
  template <class... A> module_ &def(const char *name, A &&...arguments);
  module_ def_submodule(const char *name, const char *doc = nullptr);
  module_ &doc();
  static module_ import(const char *name);
};
using module = module_;
class str : public object { public: str(); str(const char *text); operator std::string() const; };
class bytes : public object { public: bytes(const char *text, size_t n); };
class list : public object { public: list(); template <class T> void append(T &&value); size_t size() const; };
class tuple : public object { public: size_t size() const; };
class dict : public object { public: dict(); size_t size() const; bool contains(const char *key) const; };
class none : public object {};
class function : public object {};
class args : public tuple {};
class kwargs : public dict {};
struct buffer_info { void *ptr; ssize_t itemsize, size; std::string format; ssize_t ndim; std::vector<ssize_t> shape, strides; };
template <class T, int Flags = 0> class array_t : public object {
public:
  array_t();
  array_t(size_t n);
  template <class... A> array_t(A &&...arguments);
  buffer_info request() const;
  T *mutable_data();
  const T *data() const;
  ssize_t size() const;
  ssize_t shape(int i) const;
  ssize_t ndim() const;
};
using array = array_t<double>;
class capsule : public object { public: template <class... A> capsule(A &&...arguments); };
struct arg { explicit arg(const char *name); template <class T> arg &operator=(T &&value); arg noconvert(bool value = true); };
template <class T, class... O> class class_ : public object {
public:
  template <class... A> class_(A &&...arguments);
  template <class... A> class_ &def(A &&...arguments);
  template <class... A> class_ &def_readwrite(A &&...arguments);
  template <class... A> class_ &def_readonly(A &&...arguments);
  template <class... A> class_ &def_static(A &&...arguments);
  template <class... A> class_ &def_property(A &&...arguments);
  template <class... A> class_ &def_property_readonly(A &&...arguments);
};
template <class T> class enum_ : public class_<T> { public: using class_<T>::class_; template <class... A> enum_ &value(A &&...arguments); enum_ &export_values(); };
template <class... A> struct init_t {};
template <class... A> init_t<A...> init();
template <class F> init_t<F> init(F &&f);
template <class... A> struct call_guard {};
class gil_scoped_release { public: gil_scoped_release(); ~gil_scoped_release(); };
class gil_scoped_acquire { public: gil_scoped_acquire(); ~gil_scoped_acquire(); };
enum class return_value_policy { automatic, reference, copy, move, take_ownership };
template <class T> object cast(T &&value);
template <class... A> void print(A &&...arguments);
inline namespace literals { arg operator""_a(const char *name, size_t n); }
}  // namespace pybind11
namespace py = pybind11;
typedef struct _object PyObject;

#define TORCH_EXTENSION_NAME cuda_lsp_extension
#define PYBIND11_MODULE(name, variable) static void cuda_lsp_init_##name(pybind11::module_ &variable)
#define TORCH_LIBRARY(name, variable) static void cuda_lsp_library_##name(torch::Library &variable)
#define TORCH_LIBRARY_EXPAND(name, variable) static void cuda_lsp_library_expanded(torch::Library &variable)
#define TORCH_LIBRARY_FRAGMENT(name, variable) static void cuda_lsp_fragment_##name(torch::Library &variable)
#define TORCH_LIBRARY_IMPL(name, key, variable) static void cuda_lsp_library_##name##_##key(torch::Library &variable)
#define TORCH_FN(function) function
#define TORCH_API
#define TORCH_CUDA_CU_API
#define TORCH_CUDA_CPP_API
#define C10_EXPORT
#define C10_API
#define C10_UNUSED [[maybe_unused]]
#define C10_HOST __host__
#define C10_DEVICE __device__
#define C10_HOST_DEVICE __host__ __device__
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))
#define C10_RESTRICT __restrict__
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)
#define C10_MAX_THREADS_PER_BLOCK(n) (n)
#define C10_MIN_BLOCKS_PER_SM(threads, blocks) (blocks)
#define C10_WARP_SIZE 32
#define C10_LIKELY(e) (e)
#define C10_UNLIKELY(e) (e)
#define AT_CUDA_CHECK(...) C10_CUDA_CHECK(__VA_ARGS__)
#define C10_CUDA_CHECK(...) do { cudaError_t cuda_lsp_error = (__VA_ARGS__); (void)cuda_lsp_error; } while (0)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() C10_CUDA_CHECK(cudaGetLastError())
#define C10_CUDA_IGNORE_ERROR(...) C10_CUDA_CHECK(__VA_ARGS__)
#define TORCH_CUDABLAS_CHECK(...) ((void)(__VA_ARGS__))
#define CUDA_KERNEL_LOOP_TYPE(i, n, type) \
  for (type cuda_lsp_##i = static_cast<type>(blockIdx.x) * blockDim.x + threadIdx.x, i = cuda_lsp_##i; i < (n); cuda_lsp_##i += blockDim.x * gridDim.x, i = cuda_lsp_##i)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
#define CUDA_KERNEL_ASSERT(...) assert(__VA_ARGS__)
#define CUDA_KERNEL_ASSERT_MSG(condition, ...) assert(condition)
#define CUDA_KERNEL_ASSERT2(...) assert(__VA_ARGS__)

// Blocks, like the originals: many uses have no semicolon behind them.
#define TORCH_CHECK(condition, ...) { __cuda_lsp_check(static_cast<bool>(condition), #condition); }
#define TORCH_CHECK_WITH(error, condition, ...) { __cuda_lsp_check(static_cast<bool>(condition), #condition); }
#define TORCH_CHECK_VALUE(condition, ...) { __cuda_lsp_check(static_cast<bool>(condition), #condition); }
#define TORCH_CHECK_INDEX(condition, ...) { __cuda_lsp_check(static_cast<bool>(condition), #condition); }
#define TORCH_CHECK_TYPE(condition, ...) { __cuda_lsp_check(static_cast<bool>(condition), #condition); }
#define TORCH_CHECK_ARG(condition, ...) { __cuda_lsp_check(static_cast<bool>(condition), #condition); }
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) { __cuda_lsp_check(static_cast<bool>(condition), #condition); }
#define TORCH_CHECK_EQ(a, b) __cuda_lsp_check((a) == (b), #a " == " #b)
#define TORCH_CHECK_NE(a, b) __cuda_lsp_check((a) != (b), #a " != " #b)
#define TORCH_CHECK_LT(a, b) __cuda_lsp_check((a) < (b), #a " < " #b)
#define TORCH_CHECK_LE(a, b) __cuda_lsp_check((a) <= (b), #a " <= " #b)
#define TORCH_CHECK_GT(a, b) __cuda_lsp_check((a) > (b), #a " > " #b)
#define TORCH_CHECK_GE(a, b) __cuda_lsp_check((a) >= (b), #a " >= " #b)
#define TORCH_INTERNAL_ASSERT(condition, ...) { __cuda_lsp_check(static_cast<bool>(condition), #condition); }
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(condition, ...) { __cuda_lsp_check(static_cast<bool>(condition), #condition); }
#define AT_ASSERT(condition, ...) { __cuda_lsp_check(static_cast<bool>(condition), #condition); }
#define AT_ASSERTM(condition, ...) { __cuda_lsp_check(static_cast<bool>(condition), #condition); }
#define AT_CHECK(condition, ...) { __cuda_lsp_check(static_cast<bool>(condition), #condition); }
#define AT_ERROR(...) { __cuda_lsp_check(false, "error"); }
#define TORCH_WARN(...) ((void)0)
#define TORCH_WARN_ONCE(...) ((void)0)
#define AT_WARN(...) ((void)0)

// AT_DISPATCH: the body is a lambda that sees scalar_t; the runtime type decides among at most two instantiations.
bool __cuda_lsp_is_type(c10::ScalarType type, c10::ScalarType which);
bool __cuda_lsp_is_type(const caffe2::TypeMeta &type, c10::ScalarType which);
#define CUDA_LSP_DISPATCH1(TYPE, T, ...)          \
  [&] {                                           \
    const auto &the_type = TYPE;                  \
    (void)the_type;                               \
    using scalar_t = T;                           \
    return __VA_ARGS__();                         \
  }()
#define CUDA_LSP_DISPATCH2(TYPE, T, KIND, U, ...)                        \
  [&] {                                                                  \
    const auto &the_type = TYPE;                                         \
    if (__cuda_lsp_is_type(the_type, c10::ScalarType::KIND)) {           \
      using scalar_t = T;                                                \
      return __VA_ARGS__();                                              \
    } else {                                                             \
      using scalar_t = U;                                                \
      return __VA_ARGS__();                                              \
    }                                                                    \
  }()
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, double, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, c10::Half, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(A, TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, c10::Half, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, c10::Half, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND3(A, B, C, TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, c10::Half, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND4(A, B, C, D, TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, c10::Half, __VA_ARGS__)
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, c10::Half, Half, c10::BFloat16, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, int, Int, int64_t, __VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES_AND(A, TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, int, Int, int64_t, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, int, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(A, TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, c10::Half, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(A, B, TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, c10::Half, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND3(A, B, C, TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, c10::Half, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND4(A, B, C, D, TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, c10::Half, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, int, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(A, TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, c10::Half, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(A, B, TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, c10::Half, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(A, B, C, TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, c10::Half, __VA_ARGS__)
#define AT_DISPATCH_COMPLEX_TYPES(TYPE, NAME, ...) CUDA_LSP_DISPATCH1(TYPE, c10::complex<float>, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(TYPE, NAME, ...) CUDA_LSP_DISPATCH2(TYPE, float, Float, double, __VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...)                               \
  [&] {                                                                        \
    const auto &the_type = TYPE;                                               \
    if (__cuda_lsp_is_type(the_type, c10::ScalarType::Int)) {                  \
      using index_t = int32_t;                                                 \
      return __VA_ARGS__();                                                    \
    } else {                                                                   \
      using index_t = int64_t;                                                 \
      return __VA_ARGS__();                                                    \
    }                                                                          \
  }()
// AT_DISPATCH_SWITCH(type, name, AT_DISPATCH_CASE(kind, [&] { … }) …)
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)    \
  [&] {                                        \
    const auto &the_type = TYPE;               \
    switch (int(c10::ScalarType(the_type))) {  \
      __VA_ARGS__                              \
    }                                          \
  }()
#define AT_PRIVATE_CASE_TYPE_USING_HINT(kind, hint, ...)                                   \
  case int(kind): {                                                                        \
    using hint = c10::impl::ScalarTypeToCPPTypeT<kind>;                                 \
    return __VA_ARGS__();                                                                  \
  }
#define AT_DISPATCH_CASE(kind, ...) AT_PRIVATE_CASE_TYPE_USING_HINT(kind, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) AT_DISPATCH_CASE(c10::ScalarType::Float, __VA_ARGS__) AT_DISPATCH_CASE(c10::ScalarType::Double, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) AT_DISPATCH_CASE(c10::ScalarType::Int, __VA_ARGS__) AT_DISPATCH_CASE(c10::ScalarType::Long, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) AT_DISPATCH_CASE(c10::ScalarType::Float, __VA_ARGS__) AT_DISPATCH_CASE(c10::ScalarType::Int, __VA_ARGS__)
#include <cuda_lsp/show_macros.h>
