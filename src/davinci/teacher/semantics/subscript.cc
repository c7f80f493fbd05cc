#include "davinci/teacher/semantics/subscript.h"

#include <fmt/format.h>

#include "davinci/teacher/semantics/slice.h"

namespace davinci::teacher {
namespace {

using ItemKind = PythonExpression::Kind;

bool IsDots(const PythonExpression& item) { return item.text == "..."; }
bool IsNewAxis(const PythonExpression& item) {
  return item.kind == ItemKind::kName && item.text == "None";
}
bool IsBounded(const PythonExpression& slice) {
  return slice.parts[0].kind != ItemKind::kNone || slice.parts[1].kind != ItemKind::kNone;
}
bool IsWholeAxis(const PythonExpression& item) {
  return item.kind == ItemKind::kSlice && !IsBounded(item) && item.parts[2].kind == ItemKind::kNone;
}

// x[…, a:b], x[:, i]: bounds and numbers, no new axis and no step.
bool ReadsPart(const PythonExpression& subscript, size_t rank, size_t* given) {
  bool any = false;
  *given = 0;
  for (size_t i = 1; i < subscript.parts.size(); ++i) {
    const auto& item = subscript.parts[i];
    *given += !IsDots(item);
    const bool slice = item.kind == ItemKind::kSlice;
    any = any || item.kind == ItemKind::kNumber || item.kind == ItemKind::kUnary ||
          (slice && IsBounded(item));
    if (IsNewAxis(item) || (slice && item.parts[2].kind != ItemKind::kNone)) return false;
  }
  return any && *given <= rank;
}

class PartReader {
 public:
  PartReader(Builder& b, Id x, const EvaluatePart& evaluate)
      : b_(b), x_(x), shape_(b.p[x].shape), evaluate_(evaluate) {}

  Result<Meaning> Read(const PythonExpression& subscript, size_t given) {
    for (size_t i = 1; i < subscript.parts.size(); ++i) {
      const auto& item = subscript.parts[i];
      if (IsDots(item)) {
        while (from_.size() + (given - (i - 1)) < shape_.size()) Whole();
      } else {
        DAVINCI_RETURN_IF_ERROR(item.kind == ItemKind::kSlice ? Sliced(item) : Element(item));
      }
    }
    while (from_.size() < shape_.size()) Whole();
    std::vector<Id> indices;
    size_t out = 0;
    for (const Begin& from : from_) {
      if (from.element) {
        indices.push_back(b_.p.Size(from.at));
        continue;
      }
      DAVINCI_ASSIGN_OR_RETURN(const Id at,
                               b_.Integer("iadd", b_.Position(kept_, out++), b_.p.Size(from.at)));
      indices.push_back(at);
    }
    if (kept_.empty()) return Unknown("one element");
    // PyTorch makes a view of it; kernels read through it.
    auto load = b_.Load(x_, indices);
    return b_.ReadAs(b_.View(x_, ViewText(), kept_), load);
  }

 private:
  struct Begin {
    DimId at;
    bool element;  // the axis goes away
  };

  void Whole() {
    const DimId size = shape_[from_.size()];
    space_.push_back(size);
    kept_.push_back(size);
    from_.push_back({b_.Constant(0), false});
  }

  // A bound, counted from the end where it is negative.
  Result<DimId> Bound(const PythonExpression& text, DimId size, DimId otherwise) {
    if (text.kind == ItemKind::kNone) return otherwise;
    DAVINCI_ASSIGN_OR_RETURN(const Meaning value, evaluate_(text));
    if (value.dim != synth::kNoDim) return value.dim;
    if (!value.number) return Unknown("a slice");
    const auto number = static_cast<int64_t>(*value.number);
    return number < 0 ? b_.p.graph.dims.Binary('-', size, b_.Constant(-number))
                      : b_.Constant(number);
  }

  Status Sliced(const PythonExpression& item) {
    auto& dims = b_.p.graph.dims;
    const DimId size = shape_[from_.size()];
    DAVINCI_ASSIGN_OR_RETURN(const DimId begin, Bound(item.parts[0], size, b_.Constant(0)));
    DAVINCI_ASSIGN_OR_RETURN(const DimId end, Bound(item.parts[1], size, size));
    if (dims.At(begin, synth::Binding::kCuda) < 0 ||
        dims.At(end, synth::Binding::kCuda) > dims.At(size, synth::Binding::kCuda))
      return Unknown("a slice beyond the axis");
    space_.push_back(dims.Binary('-', end, begin));
    kept_.push_back(space_.back());
    from_.push_back({begin, false});
    return Status::Ok();
  }

  Status Element(const PythonExpression& item) {
    DAVINCI_ASSIGN_OR_RETURN(const DimId at, Bound(item, shape_[from_.size()], synth::kNoDim));
    space_.push_back(b_.Constant(1));
    from_.push_back({at, true});
    return Status::Ok();
  }

  std::string ViewText() const {
    std::string text = "{0}";
    for (size_t i = shape_.size(); i-- > 0;) {
      if (from_[i].element)
        text += fmt::format(".select({}, {})", i, b_.p.SizeText(from_[i].at));
      else if (!b_.p.Same(space_[i], shape_[i]))
        text += fmt::format(".narrow({}, {}, {})", i, b_.p.SizeText(from_[i].at),
                            b_.p.SizeText(space_[i]));
    }
    return text;
  }

  Builder& b_;
  const Id x_;
  const std::vector<DimId> shape_;
  const EvaluatePart& evaluate_;
  std::vector<DimId> space_, kept_;  // sizes of the part; without axes that go away
  std::vector<Begin> from_;
};

Result<Meaning> OfSequence(const Meaning& value, const PythonExpression& e,
                           const EvaluatePart& evaluate) {
  const auto from_end = [&](int at) {
    return at < 0 ? at + static_cast<int>(value.items.size()) : at;
  };
  if (e.parts.size() != 2) return Unknown("[]");
  if (e.parts[1].kind == ItemKind::kSlice) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning from, evaluate(e.parts[1].parts[0]));
    Meaning rest = value;
    const int begin = from_end(from.number ? static_cast<int>(*from.number) : 0);
    if (begin < 0 || e.parts[1].parts[1].kind != ItemKind::kNone) return Unknown("[:]");
    rest.items.erase(rest.items.begin(), rest.items.begin() + begin);
    return rest;
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning index, evaluate(e.parts[1]));
  if (!index.number) return Unknown("[]");
  const int at = from_end(static_cast<int>(*index.number));
  if (at < 0 || at >= static_cast<int>(value.items.size())) return Unknown("[]");
  if (at == 0 && value.id >= 0) return Meaning::Tensor(value.id);
  return value.items[static_cast<size_t>(at)];
}

// x[:, :, None], x[None]
Result<Meaning> WithNewAxes(Builder& b, Id x, const PythonExpression& e) {
  const auto old = b.p[x].shape;
  std::vector<DimId> shape;
  size_t axis = 0;
  for (size_t i = 1; i < e.parts.size(); ++i) {
    if (IsNewAxis(e.parts[i]))
      shape.push_back(b.Constant(1));
    else if (IsWholeAxis(e.parts[i]) && axis < old.size())
      shape.push_back(old[axis++]);
    else
      return Unknown("a slice");
  }
  shape.insert(shape.end(), old.begin() + static_cast<std::ptrdiff_t>(axis), old.end());
  return b.Reshape(x, shape);
}

}  // namespace

Result<Meaning> Subscript(Builder& b, const Meaning& value, const PythonExpression& subscript,
                          const EvaluatePart& evaluate) {
  if (value.IsSequence()) return OfSequence(value, subscript, evaluate);
  if (!value.IsTensor()) return Unknown("[]");
  if (subscript.parts.size() == 2 && subscript.parts[1].kind == ItemKind::kName) {
    DAVINCI_ASSIGN_OR_RETURN(const Meaning index, evaluate(subscript.parts[1]));
    if (index.IsTensor()) return Select(b, value.id, 0, index.id);
  }
  size_t given = 0;
  if (ReadsPart(subscript, b.p[value.id].shape.size(), &given))
    return PartReader(b, value.id, evaluate).Read(subscript, given);
  return WithNewAxes(b, value.id, subscript);
}

}  // namespace davinci::teacher
