// TypeMeta and TensorOptions; names of torch::headeronly.
#pragma once

#include <davinci_torch/scalar.h>

namespace caffe2 {
class TypeMeta {
 public:
  TypeMeta() = default;
  explicit TypeMeta(c10::ScalarType type) : type_(type) {}
  bool operator==(const TypeMeta& o) const { return type_ == o.type_; }
  bool operator!=(const TypeMeta& o) const { return type_ != o.type_; }
  bool operator==(c10::ScalarType t) const { return type_ == t; }
  bool operator!=(c10::ScalarType t) const { return type_ != t; }
  friend bool operator==(c10::ScalarType t, const TypeMeta& m) { return m == t; }
  friend bool operator!=(c10::ScalarType t, const TypeMeta& m) { return m != t; }
  size_t itemsize() const { return c10::elementSize(type_); }
  c10::ScalarType toScalarType() const { return type_; }
  template <typename T>
  static TypeMeta Make() {
    return TypeMeta(c10::CppTypeToScalarType<T>::value);
  }
  template <typename T>
  bool Match() const {
    return type_ == c10::CppTypeToScalarType<T>::value;
  }

 private:
  c10::ScalarType type_ = c10::ScalarType::Float;
};
}  // namespace caffe2

namespace c10 {
inline caffe2::TypeMeta scalarTypeToTypeMeta(ScalarType t) { return caffe2::TypeMeta(t); }
inline ScalarType typeMetaToScalarType(caffe2::TypeMeta m) { return m.toScalarType(); }
inline std::optional<ScalarType> optTypeMetaToScalarType(std::optional<caffe2::TypeMeta> m) {
  if (!m) return std::nullopt;
  return m->toScalarType();
}
namespace detail {
// How LibTorch prints a dtype obtained from Tensor::dtype(): the C++ type.
inline const char* CppTypeName(ScalarType t) {
  switch (t) {
    case kFloat:
      return "float";
    case kDouble:
      return "double";
    case kInt:
      return "int";
    case kLong:
      return "long";
    case kShort:
      return "short";
    case kChar:
      return "signed char";
    case kByte:
      return "unsigned char";
    case kBool:
      return "bool";
    case kHalf:
      return "c10::Half";
    case kBFloat16:
      return "c10::BFloat16";
    default:
      return toString(t);
  }
}
inline void Put(std::string& out, const caffe2::TypeMeta& v) {
  out += CppTypeName(v.toScalarType());
}
}  // namespace detail

struct TensorOptions {
  TensorOptions() = default;
  /* implicit */ TensorOptions(Layout v) : layout_(v) {}
  template <typename T, typename = std::enable_if_t<std::is_same_v<std::decay_t<T>, Device>>>
  /* implicit */ TensorOptions(T&& v) : device_(v) {}
  /* implicit */ TensorOptions(DeviceType v) : device_(Device(v)) {}
  /* implicit */ TensorOptions(const std::string& v) : device_(Device(v)) {}
  /* implicit */ TensorOptions(const char* v) : device_(Device(std::string(v))) {}
  /* implicit */ TensorOptions(caffe2::TypeMeta v) : dtype_(v.toScalarType()) {}
  /* implicit */ TensorOptions(ScalarType v) : dtype_(v) {}
  /* implicit */ TensorOptions(MemoryFormat v) : memory_format_(v) {}

  [[nodiscard]] TensorOptions device(std::optional<Device> v) const noexcept {
    TensorOptions r = *this;
    r.device_ = v;
    return r;
  }
  [[nodiscard]] TensorOptions device(DeviceType type, DeviceIndex index = -1) const noexcept {
    return device(Device(type, index));
  }
  [[nodiscard]] TensorOptions device(const char* v) const { return device(Device(std::string(v))); }
  [[nodiscard]] TensorOptions device(const std::string& v) const { return device(Device(v)); }
  [[nodiscard]] TensorOptions device_index(DeviceIndex v) const { return device(Device(kCUDA, v)); }
  [[nodiscard]] TensorOptions dtype(std::optional<ScalarType> v) const noexcept {
    TensorOptions r = *this;
    r.dtype_ = v;
    return r;
  }
  [[nodiscard]] TensorOptions dtype(std::optional<caffe2::TypeMeta> v) const noexcept {
    return dtype(optTypeMetaToScalarType(v));
  }
  [[nodiscard]] TensorOptions dtype(ScalarType v) const noexcept {
    return dtype(std::optional<ScalarType>(v));
  }
  [[nodiscard]] TensorOptions dtype(caffe2::TypeMeta v) const noexcept {
    return dtype(v.toScalarType());
  }
  template <typename T>
  TensorOptions& dtype() {
    dtype_ = CppTypeToScalarType<T>::value;
    return *this;
  }
  [[nodiscard]] TensorOptions layout(std::optional<Layout> v) const noexcept {
    TensorOptions r = *this;
    r.layout_ = v;
    return r;
  }
  [[nodiscard]] TensorOptions requires_grad(std::optional<bool> v) const noexcept {
    TensorOptions r = *this;
    r.requires_grad_ = v;
    return r;
  }
  [[nodiscard]] TensorOptions pinned_memory(std::optional<bool> v) const noexcept {
    TensorOptions r = *this;
    r.pinned_ = v;
    return r;
  }
  [[nodiscard]] TensorOptions memory_format(std::optional<MemoryFormat> v) const noexcept {
    TensorOptions r = *this;
    r.memory_format_ = v;
    return r;
  }
  Device device() const noexcept { return device_.value_or(Device(kCPU)); }
  bool has_device() const noexcept { return device_.has_value(); }
  std::optional<Device> device_opt() const noexcept { return device_; }
  DeviceIndex device_index() const noexcept { return device().index(); }
  caffe2::TypeMeta dtype() const noexcept {
    return caffe2::TypeMeta(dtype_.value_or(get_default_dtype_as_scalartype()));
  }
  bool has_dtype() const noexcept { return dtype_.has_value(); }
  std::optional<caffe2::TypeMeta> dtype_opt() const noexcept {
    if (!dtype_) return std::nullopt;
    return caffe2::TypeMeta(*dtype_);
  }
  Layout layout() const noexcept { return layout_.value_or(kStrided); }
  std::optional<Layout> layout_opt() const noexcept { return layout_; }
  bool requires_grad() const noexcept { return requires_grad_.value_or(false); }
  std::optional<bool> requires_grad_opt() const noexcept { return requires_grad_; }
  bool pinned_memory() const noexcept { return pinned_.value_or(false); }
  std::optional<bool> pinned_memory_opt() const noexcept { return pinned_; }
  std::optional<MemoryFormat> memory_format_opt() const noexcept { return memory_format_; }

 private:
  std::optional<Device> device_;
  std::optional<ScalarType> dtype_;
  std::optional<Layout> layout_;
  std::optional<bool> requires_grad_, pinned_;
  std::optional<MemoryFormat> memory_format_;
};
inline TensorOptions dtype(ScalarType v) { return TensorOptions().dtype(v); }
inline TensorOptions dtype(caffe2::TypeMeta v) { return TensorOptions().dtype(v); }
template <typename T>
TensorOptions dtype() {
  return TensorOptions().dtype(CppTypeToScalarType<T>::value);
}
inline TensorOptions layout(Layout v) { return TensorOptions().layout(v); }
inline TensorOptions device(Device v) { return TensorOptions().device(std::optional<Device>(v)); }
inline TensorOptions device_index(DeviceIndex v) { return TensorOptions().device_index(v); }
inline TensorOptions requires_grad(bool v = true) { return TensorOptions().requires_grad(v); }
namespace impl {
inline std::optional<MemoryFormat> check_tensor_options_and_extract_memory_format(
    const TensorOptions& options, std::optional<MemoryFormat> memory_format) {
  return memory_format ? memory_format : options.memory_format_opt();
}
}  // namespace impl

using std::bad_optional_access;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
}  // namespace c10

namespace torch::headeronly {
template <typename T>
using HeaderOnlyArrayRef = c10::ArrayRef<T>;
using IntHeaderOnlyArrayRef = c10::IntArrayRef;
using c10::CppTypeToScalarType;
using c10::ScalarType;
using c10::toString;
namespace impl {
using c10::impl::ScalarTypeToCPPType;
using c10::impl::ScalarTypeToCPPTypeT;
}  // namespace impl
}  // namespace torch::headeronly
