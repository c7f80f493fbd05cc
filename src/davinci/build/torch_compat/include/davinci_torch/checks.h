// TORCH_CHECK and its relatives: a cold call into the support library.
#pragma once

#include <davinci_torch/support.h>

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
