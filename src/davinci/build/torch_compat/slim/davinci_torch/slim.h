// The slim step: LibTorch's own types through single headers; davinci_request/operators.h includes
// the operators named.
#pragma once

// Their own includes then name single operators, too, instead of all of them.
#ifndef AT_PER_OPERATOR_HEADERS
#define AT_PER_OPERATOR_HEADERS
#endif
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/irange.h>
#include <davinci_request/operators.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cfloat>
#include <chrono>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

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
// at::tensor makes a vector where torch::tensor makes a number, and another dtype of doubles: only
// the full headers have the real one.
template <typename... T>
at::Tensor tensor(T&&...) = delete;
}  // namespace torch

// What the bindings (davinci_torch/python.h) need of a tensor, in terms of the real class.
#define DAVINCI_REAL_TENSOR
namespace davinci_torch {
inline void* ImplOf(const at::Tensor& t) { return t.unsafeGetTensorImpl(); }
inline at::Tensor Borrow(void* impl) {
  return at::Tensor(
      c10::intrusive_ptr<at::TensorImpl, c10::UndefinedTensorImpl>::unsafe_reclaim_from_nonowning(
          static_cast<at::TensorImpl*>(impl)));
}
}  // namespace davinci_torch
