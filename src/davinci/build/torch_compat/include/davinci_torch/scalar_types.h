// Dtypes, layouts and devices of c10, and how C++ types map to dtypes. See types.h for what holds
// for every type here.
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

}  // namespace c10
