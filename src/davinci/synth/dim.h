// Symbolic sizes. A size is an integer expression over symbols; every expression carries its value
// under each binding (the sizes of the cuda target, of the cpu target, and of a small odd-shaped
// variant) and under two random probes. Two sizes are equal when all these agree, so that
// (H + 2 - 2 - 1) // 1 + 1 is H without algebra: such an expression is H's id.
//
// Not thread-safe; one table belongs to one graph.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/rng.h"

namespace davinci::synth {

using DimId = int32_t;
inline constexpr DimId kNoDim = -1;
__extension__ using WideInt = __int128;

enum class Binding { kCuda, kCpu, kVariant };
inline constexpr size_t kNumBindings = 3;
using DimValues = std::array<int64_t, kNumBindings>;

struct Dim {
  enum class Kind { kConstant, kSymbol, kBinary };
  Kind kind = Kind::kConstant;
  char op = 0;  // kBinary: + - * / (floor division)
  DimId a = kNoDim, b = kNoDim;
  std::string role;  // kSymbol: the row of sizes.toml
  std::string hint;  // kSymbol: what the pattern or operator calls it
  DimValues at{};
  std::array<WideInt, 2> probe{};
};

class DimTable {
 public:
  explicit DimTable(uint64_t seed) : rng_(seed) {}

  DimId Constant(int64_t value);
  // `multiple` divides every value; the probes respect it.
  DimId Symbol(std::string_view role, std::string_view hint, int64_t multiple,
               const DimValues& values);
  // Division rounds down; a division by zero under any binding is kNoDim.
  DimId Binary(char op, DimId a, DimId b);

  const Dim& operator[](DimId id) const { return dims_[static_cast<size_t>(id)]; }
  int64_t At(DimId id, Binding binding) const {
    return dims_[static_cast<size_t>(id)].at[static_cast<size_t>(binding)];
  }
  bool Equal(DimId a, DimId b) const {
    return a == b || (dims_[static_cast<size_t>(a)].probe == dims_[static_cast<size_t>(b)].probe &&
                      dims_[static_cast<size_t>(a)].at == dims_[static_cast<size_t>(b)].at);
  }
  bool IsConstant(DimId id) const { return (*this)[id].kind == Dim::Kind::kConstant; }
  bool IsConstant(DimId id, int64_t value) const {
    return IsConstant(id) && At(id, Binding::kCuda) == value;
  }
  size_t size() const { return dims_.size(); }

  // Python text. `name` gives the text of a size (asked for the whole expression first, then for
  // its parts), or "" where it has none; a symbol must have one.
  std::string Python(DimId id, const std::function<std::string(DimId)>& name) const;

 private:
  DimId Intern(Dim dim);

  SplitMix64 rng_;
  std::vector<Dim> dims_;
  std::map<std::pair<std::array<WideInt, 2>, DimValues>, DimId> by_values_;
};

}  // namespace davinci::synth
