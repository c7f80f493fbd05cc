#include "davinci/synth/dim.h"

#include <utility>

namespace davinci::synth {
namespace {

template <typename Int>
Int FloorDivide(Int a, Int b) {
  const Int quotient = a / b;
  return quotient - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

template <typename Int>
bool Apply(char op, Int a, Int b, Int* out) {
  switch (op) {
    case '+':
      *out = a + b;
      return true;
    case '-':
      *out = a - b;
      return true;
    case '*':
      *out = a * b;
      return true;
    default:
      if (b == 0) return false;
      *out = FloorDivide(a, b);
      return true;
  }
}

}  // namespace

DimId DimTable::Intern(Dim dim) {
  const auto [place, added] =
      by_values_.try_emplace({dim.probe, dim.at}, static_cast<DimId>(dims_.size()));
  if (added) dims_.push_back(std::move(dim));
  return place->second;
}

DimId DimTable::Constant(int64_t value) {
  Dim dim;
  dim.at.fill(value);
  dim.probe.fill(value);
  return Intern(std::move(dim));
}

DimId DimTable::Symbol(std::string_view role, std::string_view hint, int64_t multiple,
                       const DimValues& values) {
  Dim dim;
  dim.kind = Dim::Kind::kSymbol;
  dim.role = role;
  dim.hint = hint;
  dim.at = values;
  // Probes have no small factor but `multiple`'s: a division that loses something must show.
  for (auto& probe : dim.probe) {
    int64_t factor = 0;
    do factor = static_cast<int64_t>(100003 + rng_.Below(900000));
    while (factor % 2 == 0 || factor % 3 == 0 || factor % 5 == 0 || factor % 7 == 0);
    probe = static_cast<WideInt>(multiple) * factor;
  }
  return Intern(std::move(dim));
}

DimId DimTable::Binary(char op, DimId a, DimId b) {
  if (a == kNoDim || b == kNoDim) return kNoDim;
  Dim dim;
  dim.kind = Dim::Kind::kBinary;
  dim.op = op;
  dim.a = a;
  dim.b = b;
  const Dim& left = (*this)[a];
  const Dim& right = (*this)[b];
  for (size_t i = 0; i < kNumBindings; ++i)
    if (!Apply(op, left.at[i], right.at[i], &dim.at[i])) return kNoDim;
  for (size_t i = 0; i < 2; ++i)
    if (!Apply(op, left.probe[i], right.probe[i], &dim.probe[i])) return kNoDim;
  if (IsConstant(a) && IsConstant(b)) return Constant(dim.at[0]);
  // (E - 1) // s + 1 is E // s where s divides E: the form that people write.
  if (op == '+' && IsConstant(b, 1) && left.kind == Dim::Kind::kBinary && left.op == '/') {
    const Dim& inner = (*this)[left.a];
    if (inner.kind == Dim::Kind::kBinary && inner.op == '-' && IsConstant(inner.b, 1)) {
      const DimId plain = Binary('/', inner.a, left.b);
      if (plain != kNoDim && (*this)[plain].probe == dim.probe && (*this)[plain].at == dim.at)
        return plain;
    }
  }
  return Intern(std::move(dim));
}

std::string DimTable::Python(DimId id, const std::function<std::string(DimId)>& name) const {
  const Dim& dim = (*this)[id];
  // A 1 is an axis to broadcast, never a size that has a name.
  if (!IsConstant(id, 1))
    if (std::string text = name(id); !text.empty()) return text;
  if (dim.kind == Dim::Kind::kConstant) return std::to_string(dim.at[0]);
  if (dim.kind == Dim::Kind::kSymbol) return "?" + dim.hint;  // the renderer's tests look for it
  const auto operand = [&](DimId part, bool right) {
    std::string text = Python(part, name);
    const Dim& inner = (*this)[part];
    const bool sum = inner.kind == Dim::Kind::kBinary && (inner.op == '+' || inner.op == '-');
    const bool product = inner.kind == Dim::Kind::kBinary && !sum;
    const bool weak = (dim.op == '*' || dim.op == '/')
                          ? sum || (product && (right || dim.op == '*'))
                          : right && sum && dim.op == '-';
    return weak && name(part).empty() ? "(" + text + ")" : text;
  };
  const std::string op = dim.op == '/' ? "//" : std::string(1, dim.op);
  return operand(dim.a, false) + " " + op + " " + operand(dim.b, true);
}

}  // namespace davinci::synth
