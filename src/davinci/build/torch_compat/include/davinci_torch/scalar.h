// c10::Scalar, held by the support library.
#pragma once

#include <davinci_torch/support.h>

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
