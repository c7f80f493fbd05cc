// at::Tensor with LibTorch's name and layout (one pointer to a TensorImpl), LibTorch's methods
// declared only where the candidate names them (davinci_request/methods.inc), and metadata read
// through the support library.
#pragma once

#include <davinci_request/config.h>
#include <davinci_torch/types.h>
#ifdef DAVINCI_NEED_FLOAT16
#include <torch/headeronly/util/BFloat16.h>
#include <torch/headeronly/util/Half.h>
#endif
#ifdef DAVINCI_NEED_FLOAT8
#include <torch/headeronly/util/Float8_e4m3fn.h>
#include <torch/headeronly/util/Float8_e5m2.h>
#endif
#ifdef DAVINCI_NEED_ACCESSOR
#include <ATen/core/TensorAccessor.h>
#endif

// impl is a TensorImpl*; functions that return one hand over a reference, the others borrow.
extern "C" {
void* davinci_undefined();
void davinci_incref(void* impl);
void davinci_decref(void* impl);
size_t davinci_use_count(void* impl);
int64_t davinci_dim(void* impl);
int64_t davinci_numel(void* impl);
const int64_t* davinci_sizes(void* impl, size_t* dim);
const int64_t* davinci_strides(void* impl, size_t* dim);
int64_t davinci_size(void* impl, int64_t dim);
int64_t davinci_stride(void* impl, int64_t dim);
int64_t davinci_storage_offset(void* impl);
int8_t davinci_scalar_type(void* impl);
size_t davinci_itemsize(void* impl);
int8_t davinci_layout(void* impl);
void davinci_device(void* impl, int8_t* type, int8_t* index);
bool davinci_is_contiguous(void* impl, int8_t memory_format);
bool davinci_is_non_overlapping_and_dense(void* impl);
int8_t davinci_suggest_memory_format(void* impl);
void* davinci_data(void* impl);
const void* davinci_const_data(void* impl);
void* davinci_typed_data(void* impl, int8_t scalar_type);
bool davinci_requires_grad(void* impl);
void davinci_set_requires_grad(void* impl, bool value);
double davinci_item_double(void* impl);
int64_t davinci_item_int(void* impl);
void* davinci_contiguous(void* impl, int8_t memory_format);
void* davinci_cat(void* const* impls, size_t count, int64_t dim);
void* davinci_from_blob(void* data, const int64_t* sizes, size_t dim, const int64_t* strides,
                        void (*deleter)(void* context, void* data), void* context, int8_t dtype,
                        bool has_device, int8_t device_type, int8_t device_index);
void davinci_tensor_to_string(void* impl, char** text, void (**release)(char*));
}

namespace at {
using namespace c10;  // NOLINT: as LibTorch does

class Tensor;
using TensorList = ArrayRef<Tensor>;

// Types of operator signatures that only LibTorch builds; a candidate that needs one complete uses
// the real headers.
class TensorBase;
struct Generator;

class Tensor {
 public:
  Tensor() : impl_(davinci_undefined()) {}
  Tensor(const Tensor& o) : impl_(o.impl_) { davinci_incref(impl_); }
  Tensor(Tensor&& o) noexcept : impl_(o.impl_) { o.impl_ = davinci_undefined(); }
  ~Tensor() { davinci_decref(impl_); }
  Tensor& operator=(const Tensor& o) & {
    davinci_incref(o.impl_);
    davinci_decref(impl_);
    impl_ = o.impl_;
    return *this;
  }
  Tensor& operator=(Tensor&& o) & noexcept {
    void* mine = impl_;
    impl_ = o.impl_;
    o.impl_ = mine;
    if (this != &o) o.reset();
    return *this;
  }
  // Assignment to a temporary writes through (t[0] = u, t.select(...) = 1), as LibTorch does.
  Tensor& operator=(const Tensor& o) &&;
  Tensor& operator=(Tensor&& o) &&;
  Tensor& operator=(const Scalar& v) &&;
  static Tensor davinci_adopt(void* impl) {
    Tensor t;
    t.impl_ = impl;
    return t;
  }
  void* davinci_impl() const { return impl_; }

  bool defined() const { return impl_ != davinci_undefined(); }
  void reset() {
    davinci_decref(impl_);
    impl_ = davinci_undefined();
  }
  bool is_same(const Tensor& o) const noexcept { return impl_ == o.impl_; }
  size_t use_count() const noexcept { return davinci_use_count(impl_); }
  int64_t dim() const { return davinci_dim(impl_); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return davinci_numel(impl_); }
  int64_t size(int64_t d) const { return davinci_size(impl_, d); }
  int64_t stride(int64_t d) const { return davinci_stride(impl_, d); }
  IntArrayRef sizes() const {
    size_t n = 0;
    const int64_t* p = davinci_sizes(impl_, &n);
    return IntArrayRef(p, n);
  }
  IntArrayRef strides() const {
    size_t n = 0;
    const int64_t* p = davinci_strides(impl_, &n);
    return IntArrayRef(p, n);
  }
  int64_t storage_offset() const { return davinci_storage_offset(impl_); }
  ScalarType scalar_type() const { return static_cast<ScalarType>(davinci_scalar_type(impl_)); }
  caffe2::TypeMeta dtype() const { return caffe2::TypeMeta(scalar_type()); }
  size_t itemsize() const { return davinci_itemsize(impl_); }
  int64_t element_size() const { return static_cast<int64_t>(itemsize()); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }
  Layout layout() const { return static_cast<Layout>(davinci_layout(impl_)); }
  Device device() const {
    int8_t type = 0, index = 0;
    davinci_device(impl_, &type, &index);
    return Device(static_cast<DeviceType>(type), index);
  }
  DeviceIndex get_device() const { return device().index(); }
  bool is_cuda() const { return device().type() == kCUDA; }
  bool is_cpu() const { return device().type() == kCPU; }
  bool is_meta() const { return device().type() == kMeta; }
  bool is_sparse() const { return layout() == kSparse; }
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  bool is_complex() const { return isComplexType(scalar_type()); }
  bool is_contiguous(MemoryFormat f = MemoryFormat::Contiguous) const {
    return davinci_is_contiguous(impl_, static_cast<int8_t>(f));
  }
  bool is_non_overlapping_and_dense() const { return davinci_is_non_overlapping_and_dense(impl_); }
  MemoryFormat suggest_memory_format() const {
    return static_cast<MemoryFormat>(davinci_suggest_memory_format(impl_));
  }
  TensorOptions options() const {
    return TensorOptions()
        .dtype(scalar_type())
        .device(std::optional<Device>(device()))
        .layout(layout());
  }
  bool requires_grad() const { return davinci_requires_grad(impl_); }
  const Tensor& set_requires_grad(bool v) const {
    davinci_set_requires_grad(impl_, v);
    return *this;
  }
  void* data_ptr() const { return davinci_data(impl_); }
  void* mutable_data_ptr() const { return davinci_data(impl_); }
  const void* const_data_ptr() const { return davinci_const_data(impl_); }
  template <typename T>
  T* data_ptr() const {
    return static_cast<T*>(davinci_typed_data(
        impl_, static_cast<int8_t>(CppTypeToScalarType<std::remove_const_t<T>>::value)));
  }
  template <typename T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <typename T>
  const T* const_data_ptr() const {
    return data_ptr<std::remove_const_t<T>>();
  }
  template <typename T>
  T* data() const {
    return data_ptr<T>();
  }
  Tensor contiguous(MemoryFormat f = MemoryFormat::Contiguous) const {
    return davinci_adopt(davinci_contiguous(impl_, static_cast<int8_t>(f)));
  }
  template <typename T>
  T item() const {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(davinci_item_int(impl_));
    } else {
      return static_cast<T>(davinci_item_double(impl_));
    }
  }
  std::string toString() const;

#ifdef DAVINCI_NEED_ACCESSOR
  template <typename T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    static_assert(N > 0, "accessor is used for indexing tensor, for scalars use *data_ptr<T>()");
    TORCH_CHECK(dim() == static_cast<int64_t>(N), "TensorAccessor expected ", N,
                " dims but tensor has ", dim());
    return TensorAccessor<T, N>(data_ptr<T>(), sizes().data(), strides().data());
  }
  template <typename T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;
  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits,
            typename index_t = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> generic_packed_accessor() const& {
    static_assert(N > 0, "accessor is used for indexing tensor, for scalars use *data_ptr<T>()");
    TORCH_CHECK(dim() == static_cast<int64_t>(N), "TensorAccessor expected ", N,
                " dims but tensor has ", dim());
    return GenericPackedTensorAccessor<T, N, PtrTraits, index_t>(
        static_cast<typename PtrTraits<T>::PtrType>(data_ptr<T>()), sizes().data(),
        strides().data());
  }
  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const& {
    TORCH_CHECK(
        numel() <= int64_t{2147483647},
        "numel needs to be smaller than int32_t max; otherwise, please use packed_accessor64");
    return generic_packed_accessor<T, N, PtrTraits, int32_t>();
  }
  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const& {
    return generic_packed_accessor<T, N, PtrTraits, int64_t>();
  }
  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() && = delete;
  template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() && = delete;
#endif

  Tensor operator~() const;
  Tensor operator-() const;
  Tensor& operator+=(const Tensor& o);
  Tensor& operator+=(const Scalar& o);
  Tensor& operator-=(const Tensor& o);
  Tensor& operator-=(const Scalar& o);
  Tensor& operator*=(const Tensor& o);
  Tensor& operator*=(const Scalar& o);
  Tensor& operator/=(const Tensor& o);
  Tensor& operator/=(const Scalar& o);
  Tensor operator[](int64_t index) const;

#define DAVINCI_METHOD_DECLARATIONS
#include <davinci_request/methods.inc>
#undef DAVINCI_METHOD_DECLARATIONS

 private:
  void* impl_;
};

inline bool is_defined(const Tensor& t) { return t.defined(); }

inline std::optional<Device> device_of(const Tensor& t) {
  return t.defined() ? std::optional<Device>(t.device()) : std::nullopt;
}
inline std::optional<Device> device_of(const std::optional<Tensor>& t) {
  return t ? device_of(*t) : std::nullopt;
}

namespace _ops {
#define DAVINCI_OPERATOR_DECLARATIONS
#include <davinci_request/methods.inc>
#undef DAVINCI_OPERATOR_DECLARATIONS
}  // namespace _ops

#define DAVINCI_METHOD_DEFINITIONS
#include <davinci_request/methods.inc>
#undef DAVINCI_METHOD_DEFINITIONS

#define DAVINCI_FUNCTIONS
#include <davinci_request/methods.inc>
#undef DAVINCI_FUNCTIONS

inline Tensor& Tensor::operator=(const Tensor& o) && { return copy_(o), *this; }
inline Tensor& Tensor::operator=(Tensor&& o) && { return copy_(o), *this; }
inline Tensor& Tensor::operator=(const Scalar& v) && { return fill_(v), *this; }
inline Tensor Tensor::operator~() const { return bitwise_not(); }
inline Tensor Tensor::operator-() const { return neg(); }
inline Tensor Tensor::operator[](int64_t index) const { return select(0, index); }
#define DAVINCI_COMPOUND(op, name)                                                     \
  inline Tensor& Tensor::operator op##=(const Tensor& o) { return name##_(o), *this; } \
  inline Tensor& Tensor::operator op##=(const Scalar& o) { return name##_(o), *this; }
DAVINCI_COMPOUND(+, add)
DAVINCI_COMPOUND(-, sub)
DAVINCI_COMPOUND(*, mul)
DAVINCI_COMPOUND(/, div)
#undef DAVINCI_COMPOUND

#define DAVINCI_BINARY(op, body, swapped)                                           \
  inline Tensor operator op(const Tensor& x, const Tensor& y) { return x.body(y); } \
  inline Tensor operator op(const Tensor& x, const Scalar& y) { return x.body(y); } \
  inline Tensor operator op(const Scalar& x, const Tensor& y) { return swapped; }
DAVINCI_BINARY(+, add, y.add(x))
DAVINCI_BINARY(-, sub, y.neg().add(x))
DAVINCI_BINARY(*, mul, y.mul(x))
DAVINCI_BINARY(/, div, y.reciprocal().mul(x))
DAVINCI_BINARY(<, lt, y.gt(x))
DAVINCI_BINARY(<=, le, y.ge(x))
DAVINCI_BINARY(>, gt, y.lt(x))
DAVINCI_BINARY(>=, ge, y.le(x))
DAVINCI_BINARY(==, eq, y.eq(x))
DAVINCI_BINARY(!=, ne, y.ne(x))
#undef DAVINCI_BINARY

inline Tensor cat(TensorList tensors, int64_t dim = 0) {
  std::vector<void*> impls;
  for (const Tensor& t : tensors) impls.push_back(t.davinci_impl());
  return Tensor::davinci_adopt(davinci_cat(impls.data(), impls.size(), dim));
}

template <typename Deleter>
inline Tensor from_blob(void* data, IntArrayRef sizes, const Deleter& deleter,
                        const TensorOptions& options = {}) {
  auto* owned = new Deleter(deleter);
  const Device d = options.device();
  return Tensor::davinci_adopt(davinci_from_blob(
      data, sizes.data(), sizes.size(), nullptr,
      [](void* context, void* p) {
        auto* f = static_cast<Deleter*>(context);
        (*f)(p);
        delete f;
      },
      owned, static_cast<int8_t>(options.dtype().toScalarType()), options.has_device(),
      static_cast<int8_t>(d.type()), d.index()));
}
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
  const Device d = options.device();
  return Tensor::davinci_adopt(
      davinci_from_blob(data, sizes.data(), sizes.size(), nullptr, nullptr, nullptr,
                        static_cast<int8_t>(options.dtype().toScalarType()), options.has_device(),
                        static_cast<int8_t>(d.type()), d.index()));
}
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                        const TensorOptions& options = {}) {
  const Device d = options.device();
  return Tensor::davinci_adopt(
      davinci_from_blob(data, sizes.data(), sizes.size(), strides.data(), nullptr, nullptr,
                        static_cast<int8_t>(options.dtype().toScalarType()), options.has_device(),
                        static_cast<int8_t>(d.type()), d.index()));
}

}  // namespace at

namespace torch {
using namespace at;  // NOLINT: as LibTorch does
using std::nullopt;
using std::optional;
using Dtype = at::ScalarType;
constexpr auto kUInt8 = at::kByte;
constexpr auto kInt8 = at::kChar;
constexpr auto kInt16 = at::kShort;
constexpr auto kInt32 = at::kInt;
constexpr auto kInt64 = at::kLong;
constexpr auto kFloat16 = at::kHalf;
constexpr auto kFloat32 = at::kFloat;
constexpr auto kFloat64 = at::kDouble;
constexpr auto kU8 = kUInt8;
constexpr auto kI8 = kInt8;
constexpr auto kI16 = kInt16;
constexpr auto kI32 = kInt32;
constexpr auto kI64 = kInt64;
constexpr auto kF16 = kFloat16;
constexpr auto kF32 = kFloat32;
constexpr auto kF64 = kFloat64;
}  // namespace torch

#ifdef DAVINCI_NEED_DISPATCH
#include <ATen/Dispatch.h>
#endif
#ifdef DAVINCI_NEED_PARALLEL
#include <ATen/Parallel.h>
#endif
#ifdef DAVINCI_NEED_IRANGE
#include <c10/util/irange.h>
#endif
