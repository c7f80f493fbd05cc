// Text for error messages, and the entry points of the support library (support.cc).
#pragma once

#include <davinci_torch/array_ref.h>

namespace c10 {
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
