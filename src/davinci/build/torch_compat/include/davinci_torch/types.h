// Small value types of c10 that need no LibTorch header: dtype, device, layout, array views,
// scalars and options.
//
// Every type that crosses into LibTorch has the name, size, alignment and triviality of the real
// one, so that the operators exported by libtorch_cpu can be called directly; support.cc asserts
// all of it against the real headers once per torch version, and the compat stage is switched off
// for a version where an assertion fails.
#pragma once

#include <torch/headeronly/macros/Macros.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace at {
class Tensor;
}
namespace caffe2 {
class TypeMeta;
}

namespace c10 {

struct alignas(2) Half;
struct alignas(2) BFloat16;
struct alignas(1) Float8_e4m3fn;
struct alignas(1) Float8_e5m2;
template <typename T>
struct complex;

using string_view = std::string_view;
using DeviceIndex = int8_t;
using StreamId = int64_t;

enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  QInt8 = 12,
  QUInt8 = 13,
  QInt32 = 14,
  BFloat16 = 15,
  Float8_e5m2 = 23,
  Float8_e4m3fn = 24,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
};

constexpr ScalarType kByte = ScalarType::Byte;
constexpr ScalarType kChar = ScalarType::Char;
constexpr ScalarType kShort = ScalarType::Short;
constexpr ScalarType kInt = ScalarType::Int;
constexpr ScalarType kLong = ScalarType::Long;
constexpr ScalarType kHalf = ScalarType::Half;
constexpr ScalarType kFloat = ScalarType::Float;
constexpr ScalarType kDouble = ScalarType::Double;
constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat;
constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble;
constexpr ScalarType kBool = ScalarType::Bool;
constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kFloat8_e5m2 = ScalarType::Float8_e5m2;
constexpr ScalarType kFloat8_e4m3fn = ScalarType::Float8_e4m3fn;
constexpr ScalarType kUInt16 = ScalarType::UInt16;
constexpr ScalarType kUInt32 = ScalarType::UInt32;
constexpr ScalarType kUInt64 = ScalarType::UInt64;

#define DAVINCI_FORALL_SCALAR_TYPES(_)   \
  _(uint8_t, Byte)                       \
  _(int8_t, Char)                        \
  _(int16_t, Short)                      \
  _(int, Int)                            \
  _(int64_t, Long)                       \
  _(c10::Half, Half)                     \
  _(float, Float)                        \
  _(double, Double)                      \
  _(c10::complex<float>, ComplexFloat)   \
  _(c10::complex<double>, ComplexDouble) \
  _(bool, Bool)                          \
  _(c10::BFloat16, BFloat16)             \
  _(c10::Float8_e5m2, Float8_e5m2)       \
  _(c10::Float8_e4m3fn, Float8_e4m3fn)   \
  _(uint16_t, UInt16)                    \
  _(uint32_t, UInt32)                    \
  _(uint64_t, UInt64)

template <typename T>
struct CppTypeToScalarType;
namespace impl {
template <ScalarType S>
struct ScalarTypeToCPPType;
template <ScalarType S>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<S>::type;
}  // namespace impl
#define DAVINCI_MAP_SCALAR_TYPE(cpp, name)                                                   \
  template <>                                                                                \
  struct CppTypeToScalarType<cpp> : std::integral_constant<ScalarType, ScalarType::name> {}; \
  namespace impl {                                                                           \
  template <>                                                                                \
  struct ScalarTypeToCPPType<ScalarType::name> {                                             \
    using type = cpp;                                                                        \
  };                                                                                         \
  }
DAVINCI_FORALL_SCALAR_TYPES(DAVINCI_MAP_SCALAR_TYPE)
#undef DAVINCI_MAP_SCALAR_TYPE

inline const char* toString(ScalarType type) {
  switch (type) {
#define DAVINCI_NAME(cpp, name) \
  case ScalarType::name:        \
    return #name;
    DAVINCI_FORALL_SCALAR_TYPES(DAVINCI_NAME)
#undef DAVINCI_NAME
    default:
      return "UNKNOWN_SCALAR";
  }
}
inline bool isFloatingType(ScalarType t) {
  return t == kHalf || t == kFloat || t == kDouble || t == kBFloat16 || t == kFloat8_e5m2 ||
         t == kFloat8_e4m3fn;
}
inline bool isComplexType(ScalarType t) {
  return t == ScalarType::ComplexHalf || t == kComplexFloat || t == kComplexDouble;
}
inline bool isIntegralType(ScalarType t, bool include_bool) {
  return t == kByte || t == kChar || t == kShort || t == kInt || t == kLong || t == kUInt16 ||
         t == kUInt32 || t == kUInt64 || (include_bool && t == kBool);
}
inline bool isReducedFloatingType(ScalarType t) {
  return t == kHalf || t == kBFloat16 || t == kFloat8_e5m2 || t == kFloat8_e4m3fn;
}
inline size_t elementSize(ScalarType t) {
  switch (t) {
    case ScalarType::Byte:
    case ScalarType::Char:
    case ScalarType::Bool:
    case ScalarType::Float8_e5m2:
    case ScalarType::Float8_e4m3fn:
      return 1;
    case ScalarType::Short:
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::UInt16:
      return 2;
    case ScalarType::Int:
    case ScalarType::Float:
    case ScalarType::UInt32:
    case ScalarType::ComplexHalf:
      return 4;
    case ScalarType::ComplexDouble:
      return 16;
    default:
      return 8;
  }
}

enum class DeviceType : int8_t {
  CPU = 0,
  CUDA = 1,
  HIP = 6,
  XLA = 9,
  XPU = 12,
  MPS = 13,
  Meta = 14
};
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kHIP = DeviceType::HIP;
constexpr DeviceType kXPU = DeviceType::XPU;
constexpr DeviceType kMPS = DeviceType::MPS;
constexpr DeviceType kMeta = DeviceType::Meta;

enum class Layout : int8_t {
  Strided,
  Sparse,
  SparseCsr,
  Mkldnn,
  SparseCsc,
  SparseBsr,
  SparseBsc,
  Jagged
};
constexpr Layout kStrided = Layout::Strided;
constexpr Layout kSparse = Layout::Sparse;

enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

struct Device final {
  using Type = DeviceType;
  Device(DeviceType type, DeviceIndex index = -1) : type_(type), index_(index) {}
  Device(const std::string& text);
  bool operator==(const Device& o) const noexcept { return type_ == o.type_ && index_ == o.index_; }
  bool operator!=(const Device& o) const noexcept { return !(*this == o); }
  void set_index(DeviceIndex index) { index_ = index; }
  DeviceType type() const noexcept { return type_; }
  DeviceIndex index() const noexcept { return index_; }
  bool has_index() const noexcept { return index_ != -1; }
  bool is_cuda() const noexcept { return type_ == kCUDA; }
  bool is_cpu() const noexcept { return type_ == kCPU; }
  bool is_meta() const noexcept { return type_ == kMeta; }
  std::string str() const;

 private:
  DeviceType type_;
  DeviceIndex index_ = -1;
};

// A view of contiguous elements; owns nothing.
template <typename T>
class ArrayRef {
 public:
  using value_type = T;
  using iterator = const T*;
  using const_iterator = const T*;
  using size_type = size_t;

  constexpr ArrayRef() : Data(nullptr), Length(0) {}
  constexpr ArrayRef(const T& one) : Data(&one), Length(1) {}
  constexpr ArrayRef(const T* data, size_t length) : Data(data), Length(length) {}
  constexpr ArrayRef(const T* begin, const T* end) : Data(begin), Length(end - begin) {}
  // Any contiguous container whose data() is const T*: std::vector, std::array, SmallVector,
  // another view.
  template <
      typename C,
      typename = std::enable_if_t<
          (std::is_same_v<std::remove_const_t<decltype(std::declval<C>().data())>, T*> ||
           std::is_same_v<std::remove_const_t<decltype(std::declval<C>().data())>, const T*>)&&std::
              is_convertible_v<decltype(std::declval<C>().size()), size_t>>>
  ArrayRef(const C& container) : Data(container.data()), Length(container.size()) {}
  template <size_t N>
  constexpr ArrayRef(const T (&array)[N]) : Data(array), Length(N) {}
  constexpr ArrayRef(const std::initializer_list<T>& list)
      : Data(list.begin() == list.end() ? static_cast<const T*>(nullptr) : list.begin()),
        Length(list.size()) {}

  constexpr iterator begin() const { return Data; }
  constexpr iterator end() const { return Data + Length; }
  constexpr const T* cbegin() const { return Data; }
  constexpr const T* cend() const { return Data + Length; }
  constexpr bool empty() const { return Length == 0; }
  constexpr const T* data() const { return Data; }
  constexpr size_t size() const { return Length; }
  constexpr const T& operator[](size_t i) const { return Data[i]; }
  const T& at(size_t i) const;
  const T& front() const { return at(0); }
  const T& back() const { return at(Length - 1); }
  constexpr ArrayRef slice(size_t n, size_t m) const { return ArrayRef(Data + n, m); }
  constexpr ArrayRef slice(size_t n) const { return slice(n, Length - n); }
  std::vector<T> vec() const { return std::vector<T>(Data, Data + Length); }
  constexpr bool equals(ArrayRef other) const {
    if (Length != other.Length) return false;
    for (size_t i = 0; i < Length; ++i) {
      if (!(Data[i] == other.Data[i])) return false;
    }
    return true;
  }

 protected:
  const T* Data;
  size_t Length;
};
template <typename T>
bool operator==(ArrayRef<T> a, ArrayRef<T> b) {
  return a.equals(b);
}
template <typename T>
bool operator!=(ArrayRef<T> a, ArrayRef<T> b) {
  return !a.equals(b);
}
template <typename T>
bool operator==(const std::vector<T>& a, ArrayRef<T> b) {
  return ArrayRef<T>(a).equals(b);
}
template <typename T>
bool operator!=(const std::vector<T>& a, ArrayRef<T> b) {
  return !ArrayRef<T>(a).equals(b);
}
template <typename T>
bool operator==(ArrayRef<T> a, const std::vector<T>& b) {
  return a.equals(ArrayRef<T>(b));
}
template <typename T>
bool operator!=(ArrayRef<T> a, const std::vector<T>& b) {
  return !a.equals(ArrayRef<T>(b));
}

using IntArrayRef = ArrayRef<int64_t>;

// LibTorch's inline-storage vector, as a plain one: it appears in local variables only.
template <typename T, unsigned N = 8>
class SmallVector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
};

template <typename T>
class OptionalArrayRef final {
 public:
  constexpr OptionalArrayRef() noexcept = default;
  constexpr OptionalArrayRef(std::nullopt_t) noexcept {}
  OptionalArrayRef(const OptionalArrayRef&) = default;
  OptionalArrayRef(OptionalArrayRef&&) noexcept = default;
  OptionalArrayRef& operator=(const OptionalArrayRef&) = default;
  OptionalArrayRef& operator=(OptionalArrayRef&&) noexcept = default;
  constexpr OptionalArrayRef(const std::optional<ArrayRef<T>>& other) noexcept : wrapped_(other) {}
  constexpr OptionalArrayRef(const T& one) noexcept : wrapped_(ArrayRef<T>(one)) {}
  template <typename U,
            typename = std::enable_if_t<!std::is_same_v<std::decay_t<U>, OptionalArrayRef> &&
                                        std::is_convertible_v<U&&, ArrayRef<T>> &&
                                        !std::is_convertible_v<U&&, T>>>
  constexpr OptionalArrayRef(U&& value) noexcept : wrapped_(ArrayRef<T>(std::forward<U>(value))) {}
  constexpr OptionalArrayRef(const std::initializer_list<T>& list) noexcept
      : wrapped_(ArrayRef<T>(list)) {}
  constexpr bool has_value() const noexcept { return wrapped_.has_value(); }
  constexpr explicit operator bool() const noexcept { return wrapped_.has_value(); }
  constexpr const ArrayRef<T>& value() const { return wrapped_.value(); }
  constexpr const ArrayRef<T>& operator*() const { return *wrapped_; }
  constexpr const ArrayRef<T>* operator->() const { return &*wrapped_; }

 private:
  std::optional<ArrayRef<T>> wrapped_;
};
using OptionalIntArrayRef = OptionalArrayRef<int64_t>;

// Symbolic integers appear only as plain values here: the compat set never traces.
class SymInt {
 public:
  SymInt() : data_(0) {}
  SymInt(int64_t value) : data_(value) {}
  SymInt(const SymInt& o) : data_(o.data_) {}
  SymInt& operator=(const SymInt& o) {
    data_ = o.data_;
    return *this;
  }
  ~SymInt() {}

 private:
  int64_t data_;
};
using SymIntArrayRef = ArrayRef<SymInt>;
using OptionalSymIntArrayRef = OptionalArrayRef<SymInt>;
inline SymIntArrayRef fromIntArrayRefSlow(IntArrayRef a) {
  return SymIntArrayRef(reinterpret_cast<const SymInt*>(a.data()), a.size());
}

namespace detail {
// Terse formatting for error messages, without <sstream>.
inline void Put(std::string& out, const char* v) { out += v; }
inline void Put(std::string& out, const std::string& v) { out += v; }
inline void Put(std::string& out, std::string_view v) { out += v; }
inline void Put(std::string& out, char v) { out += v; }
inline void Put(std::string& out, bool v) { out += v ? "1" : "0"; }
void PutDouble(std::string& out, double v);
template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
void Put(std::string& out, T v) {
  PutDouble(out, static_cast<double>(v));
}
template <typename T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> &&
                                           !std::is_same_v<T, char>,
                                       int> = 0>
void Put(std::string& out, T v) {
  out += std::to_string(v);
}
inline void Put(std::string& out, const caffe2::TypeMeta& v);
inline void Put(std::string& out, ScalarType v) { out += toString(v); }
inline void Put(std::string& out, const Device& v) { out += v.str(); }
inline void Put(std::string& out, DeviceType v) {
  out += v == kCUDA ? "cuda" : v == kCPU ? "cpu" : "device";
}
inline void Put(std::string& out, Layout v) { out += v == kStrided ? "Strided" : "Sparse"; }
template <typename T>
void Put(std::string& out, ArrayRef<T> v) {
  out += "[";
  for (size_t i = 0; i < v.size(); ++i) {
    if (i) out += ", ";
    Put(out, v[i]);
  }
  out += "]";
}
template <typename T>
void Put(std::string& out, const std::vector<T>& v) {
  const size_t n = v.size();
  for (size_t i = 0; i < n; ++i) {
    if (i) out += " ";
    Put(out, v[i]);
  }
}
}  // namespace detail

template <typename... Args>
std::string str(const Args&... args) {
  std::string out;
  (detail::Put(out, args), ...);
  return out;
}

// Declared for `catch (const c10::Error&)`; thrown and destroyed by the support library only.
class Error : public std::exception {
 public:
  ~Error() override;
  const char* what() const noexcept override;

 private:
  Error() = delete;
};

}  // namespace c10

// Entry points of the support library (support.cc): plain C types, no ownership unless said.
extern "C" {
enum DavinciErrorKind {
  kDavinciError,
  kDavinciIndex,
  kDavinciValue,
  kDavinciType,
  kDavinciNotImplemented,
  kDavinciLinAlg
};
[[noreturn]] void davinci_throw(DavinciErrorKind kind, const char* function, const char* file,
                                unsigned line, const char* message);
void davinci_warn(const char* function, const char* file, unsigned line, const char* message);
void davinci_parse_device(const char* text, int8_t* type, int8_t* index);
void davinci_format_double(double value, char* buffer, size_t size);
int8_t davinci_default_dtype();
void davinci_scalar_double(void* storage, double value);
void davinci_scalar_int(void* storage, int64_t value);
void davinci_scalar_bool(void* storage, bool value);
void davinci_scalar_copy(void* storage, const void* from);
void davinci_scalar_destroy(void* storage);
double davinci_scalar_to_double(const void* storage);
int64_t davinci_scalar_to_int(const void* storage);
bool davinci_scalar_to_bool(const void* storage);
// 0 bool, 1 integer, 2 floating point, 3 other
int davinci_scalar_category(const void* storage);
}

namespace c10 {

inline Device::Device(const std::string& text) : type_(kCPU) {
  int8_t type = 0;
  davinci_parse_device(text.c_str(), &type, &index_);
  type_ = static_cast<DeviceType>(type);
}
inline std::string Device::str() const {
  std::string out = type_ == kCUDA   ? "cuda"
                    : type_ == kCPU  ? "cpu"
                    : type_ == kMeta ? "meta"
                                     : "device";
  if (index_ >= 0) out += ":" + std::to_string(static_cast<int>(index_));
  return out;
}
inline void detail::PutDouble(std::string& out, double v) {
  char buffer[40];
  davinci_format_double(v, buffer, sizeof buffer);
  out += buffer;
}
template <typename T>
const T& ArrayRef<T>::at(size_t i) const {
  if (i >= Length) {
    davinci_throw(kDavinciError, __func__, "ArrayRef", 0,
                  ("ArrayRef: invalid index Index = " + std::to_string(i) +
                   "; Length = " + std::to_string(Length))
                      .c_str());
  }
  return Data[i];
}

inline ScalarType get_default_dtype_as_scalartype() {
  return static_cast<ScalarType>(davinci_default_dtype());
}

// Opaque: constructed, copied and destroyed by the support library, so its layout never matters
// here.
class Scalar {
 public:
  Scalar() { davinci_scalar_int(storage_, 0); }
  template <typename T, std::enable_if_t<std::is_floating_point_v<T>, int> = 0>
  Scalar(T v) {
    davinci_scalar_double(storage_, static_cast<double>(v));
  }
  template <typename T,
            std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, int> = 0>
  Scalar(T v) {
    davinci_scalar_int(storage_, static_cast<int64_t>(v));
  }
  template <typename T, std::enable_if_t<std::is_same_v<T, bool>, int> = 0>
  Scalar(T v) {
    davinci_scalar_bool(storage_, v);
  }
  template <typename T,
            std::enable_if_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, char> = 0>
  Scalar(const T& v) {
    davinci_scalar_double(storage_, static_cast<double>(static_cast<float>(v)));
  }
  Scalar(const Scalar& o) { davinci_scalar_copy(storage_, o.storage_); }
  Scalar& operator=(const Scalar& o) {
    if (this != &o) {
      davinci_scalar_destroy(storage_);
      davinci_scalar_copy(storage_, o.storage_);
    }
    return *this;
  }
  ~Scalar() { davinci_scalar_destroy(storage_); }
  template <typename T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>) {
      return davinci_scalar_to_bool(storage_);
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(davinci_scalar_to_int(storage_));
    } else {
      return static_cast<T>(davinci_scalar_to_double(storage_));
    }
  }
  double toDouble() const { return to<double>(); }
  float toFloat() const { return to<float>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  bool toBool() const { return to<bool>(); }
  bool isFloatingPoint() const { return davinci_scalar_category(storage_) == 2; }
  bool isBoolean() const { return davinci_scalar_category(storage_) == 0; }
  bool isIntegral(bool include_bool) const {
    const int c = davinci_scalar_category(storage_);
    return c == 1 || (include_bool && c == 0);
  }

 private:
  alignas(16) unsigned char storage_[32];
};

}  // namespace c10

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

// ---- checks ----
#ifndef DAVINCI_CHECK_IMPL
#define DAVINCI_CHECK_MESSAGE(text, ...) ::c10::detail::CheckMessage(text, ##__VA_ARGS__)
namespace c10::detail {
inline std::string CheckMessage(const char* fallback) { return fallback; }
template <typename... Args>
std::string CheckMessage(const char*, const Args&... args) {
  return str(args...);
}
}  // namespace c10::detail
#define DAVINCI_CHECK_IMPL(kind, cond, text, ...)                              \
  if (C10_UNLIKELY_OR_CONST(!(cond))) {                                        \
    ::davinci_throw(kind, __func__, __FILE__, static_cast<unsigned>(__LINE__), \
                    DAVINCI_CHECK_MESSAGE(text, ##__VA_ARGS__).c_str());       \
  }
#endif
#ifndef C10_UNLIKELY_OR_CONST
#define C10_UNLIKELY_OR_CONST(e) C10_UNLIKELY(e)
#endif
#define DAVINCI_EXPECTED(cond)                                                          \
  "Expected " #cond                                                                     \
  " to be true, but got false.  (Could this error message be improved?  If so, please " \
  "report an enhancement request to PyTorch.)"
#define TORCH_CHECK(cond, ...) \
  DAVINCI_CHECK_IMPL(kDavinciError, cond, DAVINCI_EXPECTED(cond), ##__VA_ARGS__)
#define STD_TORCH_CHECK(cond, ...) TORCH_CHECK(cond, ##__VA_ARGS__)
#define TORCH_CHECK_INDEX(cond, ...) \
  DAVINCI_CHECK_IMPL(kDavinciIndex, cond, DAVINCI_EXPECTED(cond), ##__VA_ARGS__)
#define TORCH_CHECK_VALUE(cond, ...) \
  DAVINCI_CHECK_IMPL(kDavinciValue, cond, DAVINCI_EXPECTED(cond), ##__VA_ARGS__)
#define TORCH_CHECK_TYPE(cond, ...) \
  DAVINCI_CHECK_IMPL(kDavinciType, cond, DAVINCI_EXPECTED(cond), ##__VA_ARGS__)
#define TORCH_CHECK_LINALG(cond, ...) \
  DAVINCI_CHECK_IMPL(kDavinciLinAlg, cond, DAVINCI_EXPECTED(cond), ##__VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(cond, ...) \
  DAVINCI_CHECK_IMPL(kDavinciNotImplemented, cond, DAVINCI_EXPECTED(cond), ##__VA_ARGS__)
#define TORCH_CHECK_ARG(cond, argN, ...) \
  TORCH_CHECK(cond, "invalid argument ", argN, ": ", ##__VA_ARGS__)
#define TORCH_INTERNAL_ASSERT(cond, ...)                                                        \
  DAVINCI_CHECK_IMPL(kDavinciError, cond, #cond " INTERNAL ASSERT FAILED",                      \
                     #cond " INTERNAL ASSERT FAILED at file, please report a bug to PyTorch. ", \
                     ##__VA_ARGS__)
#ifdef NDEBUG
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) \
  while (false) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#else
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#endif
#define DAVINCI_CHECK_OP(a, b, op) \
  TORCH_CHECK((a)op(b), "Check failed: " #a " " #op " " #b " (", (a), " vs. ", (b), "). ")
#define TORCH_CHECK_EQ(a, b) DAVINCI_CHECK_OP(a, b, ==)
#define TORCH_CHECK_NE(a, b) DAVINCI_CHECK_OP(a, b, !=)
#define TORCH_CHECK_LE(a, b) DAVINCI_CHECK_OP(a, b, <=)
#define TORCH_CHECK_LT(a, b) DAVINCI_CHECK_OP(a, b, <)
#define TORCH_CHECK_GE(a, b) DAVINCI_CHECK_OP(a, b, >=)
#define TORCH_CHECK_GT(a, b) DAVINCI_CHECK_OP(a, b, >)
#define TORCH_WARN(...)                                               \
  ::davinci_warn(__func__, __FILE__, static_cast<unsigned>(__LINE__), \
                 ::c10::str(__VA_ARGS__).c_str())
#define TORCH_WARN_ONCE(...)                       \
  do {                                             \
    static bool davinci_warned_ = false;           \
    if (!davinci_warned_) TORCH_WARN(__VA_ARGS__); \
    davinci_warned_ = true;                        \
  } while (false)
#define AT_ASSERT(...) TORCH_INTERNAL_ASSERT(__VA_ARGS__)
#define AT_ASSERTM(cond, ...) TORCH_CHECK(cond, ##__VA_ARGS__)
#define AT_ERROR(...)                            \
  do {                                           \
    TORCH_CHECK(false, ::c10::str(__VA_ARGS__)); \
  } while (false)
