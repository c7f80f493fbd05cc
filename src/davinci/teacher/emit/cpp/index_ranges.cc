#include "davinci/teacher/emit/cpp/index_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace davinci::teacher {

using Kind = TensorValue::Kind;

namespace {

constexpr int64_t kLargest = int64_t{1} << 30;  // beyond it a bound or factor is not known

std::optional<IndexRanges::Range> Bounded(int64_t first, int64_t last) {
  if (first < -kLargest || last > kLargest) return std::nullopt;
  return IndexRanges::Range{first, last};
}

int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

bool IsComparison(const std::string& name) {
  return name == "lt" || name == "le" || name == "gt" || name == "ge" || name == "eq" ||
         name == "ne";
}

}  // namespace

std::optional<IndexRanges::Range> IndexRanges::OfAxis(int axis) const {
  if (const auto found = axes_.find(axis); found != axes_.end()) return found->second;
  const DimId dim = form_->axes[static_cast<size_t>(axis)].dim;
  if (!program_->graph.dims.IsConstant(dim)) return std::nullopt;
  const auto size = static_cast<int64_t>(program_->At(dim, synth::Binding::kCpu));
  return size > 0 ? Bounded(0, size - 1) : std::nullopt;
}

std::optional<IndexRanges::Affine> IndexRanges::AffineOfIota(Id id) const {
  const auto placed = region_->placements.find(id);
  if (placed == region_->placements.end()) return std::nullopt;
  Affine sum;
  std::vector<int> seen;
  for (const int axis : placed->second.axes[static_cast<size_t>((*program_)[id].axes[0])]) {
    const int loop = form_->axis_of.at(axis);
    if (std::find(seen.begin(), seen.end(), loop) != seen.end()) continue;
    seen.push_back(loop);
    const DimId dim = form_->axes[static_cast<size_t>(loop)].dim;
    if (!program_->graph.dims.IsConstant(dim)) {
      if (seen.size() > 1) return std::nullopt;
      sum.factors[loop] = 1;
      continue;
    }
    for (auto& [other, factor] : sum.factors)
      factor *= static_cast<int64_t>(program_->At(dim, synth::Binding::kCpu));
    sum.factors[loop] = 1;
  }
  return sum;
}

std::optional<IndexRanges::Affine> IndexRanges::AffineOf(Id id) const {
  if (const auto known = sums_.find(id); known != sums_.end()) return known->second;
  auto sum = FindAffine(id);
  if (sum) {
    bool small = std::abs(sum->constant) <= kLargest;
    for (const auto& [axis, factor] : sum->factors) small = small && std::abs(factor) <= kLargest;
    if (!small) sum.reset();
  }
  return sums_[id] = sum;
}

std::optional<IndexRanges::Affine> IndexRanges::FindAffine(Id id) const {
  const TensorValue& value = (*program_)[id];
  if (value.kind == Kind::kScalar) {
    if (!value.number || value.dtype != DType::kIndex || std::abs(*value.number) > kLargest)
      return std::nullopt;
    return Affine{static_cast<int64_t>(*value.number), {}};
  }
  if (value.kind == Kind::kIota) return AffineOfIota(id);
  if (value.kind != Kind::kPoint || !value.primitive->integer) return std::nullopt;
  if (const auto chosen = Chosen(id)) return AffineOf(*chosen);
  const std::string& name = value.primitive->name;
  if (name == "idiv" || name == "imod") return AffineOfQuotient(value);
  if (name != "iadd" && name != "isub" && name != "imul") return std::nullopt;
  auto a = AffineOf(value.operands[0]), b = AffineOf(value.operands[1]);
  if (!a || !b) return std::nullopt;
  if (name == "imul") {
    if (!a->factors.empty() && !b->factors.empty()) return std::nullopt;
    if (!b->factors.empty()) std::swap(a, b);
    a->constant *= b->constant;
    for (auto& [axis, factor] : a->factors) factor *= b->constant;
    return a;
  }
  const int64_t sign = name == "iadd" ? 1 : -1;
  a->constant += sign * b->constant;
  for (const auto& [axis, factor] : b->factors) a->factors[axis] += sign * factor;
  return a;
}

// (96 i + j) / 96 is i where j is less than 96, and the rest is j.
std::optional<IndexRanges::Affine> IndexRanges::AffineOfQuotient(const TensorValue& value) const {
  const auto sum = AffineOf(value.operands[0]), by = AffineOf(value.operands[1]);
  if (!sum || !by || !by->factors.empty() || by->constant < 1) return std::nullopt;
  const auto range = RangeOf(*sum);
  if (!range || range->first < 0) return std::nullopt;
  const int64_t divisor = by->constant;
  Affine whole{sum->constant / divisor, {}}, rest{sum->constant % divisor, {}};
  for (const auto& [axis, factor] : sum->factors) {
    if (factor % divisor == 0)
      whole.factors[axis] = factor / divisor;
    else
      rest.factors[axis] = factor;
  }
  const auto left = RangeOf(rest);
  if (!left || left->first < 0 || left->last >= divisor) return std::nullopt;
  return value.primitive->name == "idiv" ? whole : rest;
}

std::string IndexRanges::TextOf(Id id, const std::function<std::string(int)>& index) const {
  const auto sum = IsComputedHere(id) ? AffineOf(id) : std::nullopt;
  if (!sum) return "";
  std::string text;
  const auto add = [&](int64_t factor, const std::string& what) {
    const std::string size = std::to_string(std::abs(factor));
    const std::string term = what.empty()            ? size
                             : std::abs(factor) == 1 ? what
                                                     : what + " * " + size;
    text += text.empty() ? (factor < 0 ? "-" : "") : factor < 0 ? " - " : " + ";
    text += term;
  };
  for (const bool positive : {true, false})
    for (const auto& [axis, factor] : sum->factors)
      if (factor != 0 && (factor > 0) == positive) add(factor, index(axis));
  if (sum->constant != 0) add(sum->constant, "");
  return text.empty() ? "0" : text;
}

std::optional<IndexRanges::Range> IndexRanges::RangeOf(const Affine& sum) const {
  Range range{sum.constant, sum.constant};
  for (const auto& [axis, factor] : sum.factors) {
    if (factor == 0) continue;
    const auto of = OfAxis(axis);
    if (!of) return std::nullopt;
    range.first += factor * (factor > 0 ? of->first : of->last);
    range.last += factor * (factor > 0 ? of->last : of->first);
  }
  return Bounded(range.first, range.last);
}

std::optional<IndexRanges::Range> IndexRanges::Difference(Id a, Id b) const {
  if (auto left = AffineOf(a), right = AffineOf(b); left && right) {
    left->constant -= right->constant;
    for (const auto& [axis, factor] : right->factors) left->factors[axis] -= factor;
    return RangeOf(*left);
  }
  const auto left = Of(a), right = Of(b);
  if (!left || !right) return std::nullopt;
  return Bounded(left->first - right->last, left->last - right->first);
}

std::optional<IndexRanges::Range> IndexRanges::Of(Id id) const {
  if (const auto known = ranges_.find(id); known != ranges_.end()) return known->second;
  std::optional<Range> range;
  if (!IsComputedHere(id)) return ranges_[id] = range;
  if ((*program_)[id].kind == Kind::kPoint)
    range = OfPoint(id);
  else if (const auto sum = AffineOf(id))
    range = RangeOf(*sum);
  return ranges_[id] = range;
}

std::optional<IndexRanges::Range> IndexRanges::OfComparison(const TensorValue& value) const {
  const auto of = Difference(value.operands[0], value.operands[1]);
  if (!of) return std::nullopt;
  const std::string& name = value.primitive->name;
  const auto when = [](bool always, bool never) { return Range{always ? 1 : 0, never ? 0 : 1}; };
  if (name == "lt") return when(of->last < 0, of->first >= 0);
  if (name == "le") return when(of->last <= 0, of->first > 0);
  if (name == "gt") return when(of->first > 0, of->last <= 0);
  if (name == "ge") return when(of->first >= 0, of->last < 0);
  const bool always = of->IsOne() && of->first == 0, never = of->last < 0 || of->first > 0;
  return name == "eq" ? when(always, never) : when(never, always);
}

std::optional<IndexRanges::Range> IndexRanges::OfPoint(Id id) const {
  const TensorValue& value = (*program_)[id];
  const std::string& name = value.primitive->name;
  if (const auto chosen = Chosen(id)) return Of(*chosen);
  if (IsComparison(name)) return OfComparison(value);
  if (name == "not") {
    const auto of = Of(value.operands[0]);
    return of ? std::optional(Range{1 - of->last, 1 - of->first}) : std::nullopt;
  }
  if (!value.primitive->integer && name != "and" && name != "or") return std::nullopt;
  if (const auto sum = AffineOf(id)) return RangeOf(*sum);
  if (value.operands.size() != 2) return std::nullopt;
  const auto a = Of(value.operands[0]), b = Of(value.operands[1]);
  if (!a || !b) return std::nullopt;
  if (name == "iadd") return Bounded(a->first + b->first, a->last + b->last);
  if (name == "isub") return Bounded(a->first - b->last, a->last - b->first);
  if (name == "imin" || name == "and")
    return Range{std::min(a->first, b->first), std::min(a->last, b->last)};
  if (name == "imax" || name == "or")
    return Range{std::max(a->first, b->first), std::max(a->last, b->last)};
  if (name == "idiv" && a->first >= 0 && b->first > 0)
    return Range{a->first / b->last, a->last / b->first};
  if (name == "imod" && a->first >= 0 && b->first > 0)
    return a->last < b->first ? *a : Range{0, b->last - 1};
  return std::nullopt;
}

std::optional<Id> IndexRanges::Chosen(Id id) const {
  if (const auto known = chosen_.find(id); known != chosen_.end()) return known->second;
  return chosen_[id] = FindChosen(id);
}

std::optional<Id> IndexRanges::FindChosen(Id id) const {
  const TensorValue& value = (*program_)[id];
  if (value.kind != Kind::kPoint || value.operands.size() < 2 || !IsComputedHere(id))
    return std::nullopt;
  const std::string& name = value.primitive->name;
  if (name == "where") {
    const auto condition = Of(value.operands[0]);
    if (!condition || !condition->IsOne()) return std::nullopt;
    const Id chosen = value.operands[condition->first != 0 ? 1 : 2];
    return (*program_)[chosen].dtype == value.dtype ? std::optional(chosen) : std::nullopt;
  }
  if (name == "and" || name == "or") {
    for (size_t i = 0; i < 2; ++i) {
      const auto of = Of(value.operands[i]);
      if (!of || !of->IsOne()) continue;
      const bool decides = (of->first != 0) == (name == "or");
      return value.operands[decides ? i : 1 - i];
    }
    return std::nullopt;
  }
  if (name != "imin" && name != "imax") return std::nullopt;
  const auto of = Difference(value.operands[0], value.operands[1]);
  if (!of || (of->first < 0 && of->last > 0)) return std::nullopt;
  return value.operands[(of->last <= 0) == (name == "imin") ? 0 : 1];
}

bool IndexRanges::IsComputedHere(Id id) const {
  const Kind kind = (*program_)[id].kind;
  return kind == Kind::kScalar || kind == Kind::kIota || (*program_)[id].virtual_ ||
         std::find(region_->members.begin(), region_->members.end(), id) != region_->members.end();
}

void IndexRanges::Changes(const TensorValue& value, int axis, std::set<int64_t>* places) const {
  const auto left = AffineOf(value.operands[0]), right = AffineOf(value.operands[1]);
  if (!left || !right) return;
  Affine rest = *left;
  rest.constant -= right->constant;
  for (const auto& [other, factor] : right->factors) rest.factors[other] -= factor;
  const int64_t factor = rest.factors[axis];
  rest.factors.erase(axis);
  const auto range = RangeOf(rest);
  if (factor == 0 || !range) return;
  const std::string& name = value.primitive->name;
  // From here on the difference is at least 0, or more than 0, for the least and largest rest.
  const auto add = [&](int64_t least) {
    for (const int64_t of : {range->first, range->last})
      places->insert(factor > 0 ? -FloorDiv(of - least, factor)
                                : FloorDiv(of - least, -factor) + 1);
  };
  if (name != "gt" && name != "le") add(0);
  if (name == "gt" || name == "le" || name == "eq" || name == "ne") add(1);
}

void IndexRanges::Collect(Id id, int axis, std::set<Id>* seen, std::set<int64_t>* places) const {
  const TensorValue& value = (*program_)[id];
  if (!IsComputedHere(id) || !seen->insert(id).second) return;
  if (const auto chosen = Chosen(id)) return Collect(*chosen, axis, seen, places);
  if (value.kind == Kind::kPoint && value.operands.size() == 2 &&
      (IsComparison(value.primitive->name) || value.primitive->name == "imin" ||
       value.primitive->name == "imax")) {
    const auto of = Of(id);
    if (value.dtype == DType::kBool && of && of->IsOne()) return;
    Changes(value, axis, places);
  }
  const size_t before = places->size();
  for (const Id operand : value.operands) {
    Collect(operand, axis, seen, places);
    // A split at these places makes the choice; the branches are visited behind it.
    if (value.kind == Kind::kPoint && value.primitive->name == "where" && places->size() > before)
      return;
  }
}

std::vector<IndexRanges::Range> IndexRanges::Parts(int axis, size_t most) const {
  const auto whole = OfAxis(axis);
  if (!whole) return {};
  std::vector<Range> open = {*whole}, parts;
  while (!open.empty()) {
    const Range range = open.back();
    open.pop_back();
    IndexRanges inside = *this;
    inside.Set(axis, range);
    std::set<Id> seen;
    std::set<int64_t> places;
    for (const Id output : region_->outputs) inside.Collect(output, axis, &seen, &places);
    std::erase_if(places,
                  [&](int64_t place) { return place <= range.first || place > range.last; });
    if (places.empty()) {
      parts.push_back(range);
      continue;
    }
    const int64_t place = *places.begin();
    open.push_back({place, range.last});
    open.push_back({range.first, place - 1});
    if (open.size() + parts.size() > most) return {};
  }
  return parts.size() > 1 ? parts : std::vector<Range>();
}

}  // namespace davinci::teacher
