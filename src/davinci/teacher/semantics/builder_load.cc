// Loads. A source that is a cheap function of tensors in memory is read through: the load becomes
// that function of loads from these tensors, and the source need not be written to memory. Sources
// that are loads themselves, or views that kernels read in place, are read through as well.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "davinci/teacher/semantics/builder.h"

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;

// A window reads an element several times: what is computed there costs less than memory.
constexpr std::array<std::string_view, 20> kCheap = {
    "add",   "sub", "mul", "neg", "abs", "maximum", "minimum", "clamp_low", "clamp_high", "relu",
    "where", "lt",  "gt",  "le",  "ge",  "eq",      "ne",      "not",       "and",        "or"};
constexpr size_t kMostComputed = 6;  // primitives of numbers
constexpr size_t kMostRead = 2;      // tensors in memory
constexpr size_t kMostValues = 40;   // indices included

// The element of a value at one index for each axis of the value that is loaded.
class Composition {
 public:
  Composition(Builder* builder, const std::vector<Id>& indices) : b_(*builder), indices_(indices) {}

  // Does the value consist of what may be computed where it is read?
  bool Can(Id id) {
    if (!seen_.insert(id).second) return true;
    if (seen_.size() > kMostValues) return false;
    const TensorValue& value = b_.p[id];
    switch (value.kind) {
      case Kind::kScalar:
      case Kind::kIota:
        return true;
      case Kind::kPoint:
        if (value.dtype != DType::kIndex) {
          const bool cheap =
              std::find(kCheap.begin(), kCheap.end(), value.primitive->name) != kCheap.end();
          if (!cheap || ++computed_ > kMostComputed) return false;
        }
        return All(value.operands);
      case Kind::kLoad:
        return InMemory(value.operands[0]) && All(IndicesOf(value));
      case Kind::kOpaque:
        if (const Id read = b_.Readable(id); read != id) return Can(read);
        return InMemory(id);
      case Kind::kLeaf:
      case Kind::kItem:
        return InMemory(id);
      default:
        return false;
    }
  }

  Result<Id> At(Id id) {
    if (const auto found = made_.find(id); found != made_.end()) return found->second;
    DAVINCI_ASSIGN_OR_RETURN(const Id made, Make(id));
    made_[id] = made;
    return made;
  }

 private:
  bool All(const std::vector<Id>& values) {
    return std::all_of(values.begin(), values.end(), [&](Id value) { return Can(value); });
  }

  bool InMemory(Id id) {
    read_.insert(id);
    return b_.p[id].dtype == DType::kFloat && read_.size() <= kMostRead;
  }

  std::vector<Id> IndicesOf(const TensorValue& load) const {
    const size_t rank = b_.p[load.operands[0]].shape.size();
    return {load.operands.begin() + 1, load.operands.begin() + 1 + static_cast<int64_t>(rank)};
  }

  // The index along an axis of a value of `rank` axes, the last ones of all.
  Id IndexOf(size_t axis, size_t rank) const { return indices_[indices_.size() - rank + axis]; }

  Result<Id> Make(Id id) {
    const TensorValue value = b_.p[id];  // values are added meanwhile
    switch (value.kind) {
      case Kind::kScalar:
        return id;
      case Kind::kIota: {
        const auto axis = static_cast<size_t>(value.axes[0]);
        if (b_.p.IsOne(value.shape[axis])) return b_.p.Size(b_.Constant(0));
        return IndexOf(axis, value.shape.size());
      }
      case Kind::kPoint: {
        Meanings operands;
        for (const Id operand : value.operands) {
          DAVINCI_ASSIGN_OR_RETURN(const Id made, At(operand));
          operands.push_back(Meaning::Tensor(made));
        }
        DAVINCI_ASSIGN_OR_RETURN(const Meaning made, b_.Point(value.primitive->name, operands));
        return made.id;
      }
      case Kind::kLoad: {
        std::vector<Id> places;
        for (const Id index : IndicesOf(value)) {
          DAVINCI_ASSIGN_OR_RETURN(const Id made, At(index));
          places.push_back(made);
        }
        DAVINCI_ASSIGN_OR_RETURN(const Meaning made,
                                 b_.Load(value.operands[0], places, Builder::Source::kInMemory));
        return made.id;
      }
      default: {
        if (const Id read = b_.Readable(id); read != id) return At(read);
        if (value.shape.empty()) return id;
        std::vector<Id> places;
        for (size_t i = 0; i < value.shape.size(); ++i)
          places.push_back(b_.p.IsOne(value.shape[i]) ? b_.p.Size(b_.Constant(0))
                                                      : IndexOf(i, value.shape.size()));
        DAVINCI_ASSIGN_OR_RETURN(const Meaning made,
                                 b_.Load(id, places, Builder::Source::kInMemory));
        return made.id;
      }
    }
  }

  Builder& b_;
  const std::vector<Id>& indices_;
  std::set<Id> seen_, read_;
  size_t computed_ = 0;
  std::map<Id, Id> made_;
};

// Nothing: `source` has to lie in memory. It is no cheap function, reads more than two tensors, or
// PyTorch would round it.
std::optional<Result<Meaning>> ReadThrough(Builder& builder, Id source,
                                           const std::vector<Id>& indices) {
  const TensorValue& value = builder.p[source];
  const bool computed = (value.kind == Kind::kPoint && !value.virtual_) ||
                        value.kind == Kind::kLoad || builder.Readable(source) != source;
  // In half precision PyTorch rounds the value that is loaded.
  if (!computed || !builder.Allows(Rule::kFusePointwise) || value.dtype != DType::kFloat ||
      value.shape.empty() || indices.size() != value.shape.size() ||
      builder.p.graph.precision != synth::Precision::kFp32)
    return std::nullopt;
  Composition composition(&builder, indices);
  if (!composition.Can(source)) return std::nullopt;
  const Result<Id> made = composition.At(source);
  if (!made.ok()) return made.status();
  return Meaning::Tensor(*made);
}

}  // namespace

Result<Meaning> Builder::Load(Id source, const std::vector<Id>& indices, Source from) {
  if (from == Source::kAny)
    if (auto through = ReadThrough(*this, source, indices)) return *std::move(through);
  const auto shape = p[source].shape;
  if (indices.size() != shape.size() || shape.empty()) return Unknown("such an index");
  TensorValue value;
  value.kind = TensorValue::Kind::kLoad;
  value.dtype = p[source].dtype;
  value.operands = {source};
  for (const Id index : indices) {
    if (p[index].dtype != DType::kIndex) return Unknown("an index that is a number");
    value.operands.push_back(index);
  }
  DAVINCI_ASSIGN_OR_RETURN(value.shape, Broadcast(indices, "indices that do not broadcast"));
  for (size_t i = 1; i < shape.size(); ++i) value.operands.push_back(SizeOfAxis(*this, shape, i));
  return Meaning::Tensor(p.Add(std::move(value)));
}

}  // namespace davinci::teacher
