// element_at: elements of a tensor at places that formulas give, of cards' invented operators
// (cards/index_form.h). PyTorch has no such function.
//
//   element_at(x, "N, C*2, H//2, W", "n, c // 2, p*2 + c % 2, q")
//
// N, C, H, W are the sizes of x, and n, c, p, q the position in the result, whose shape comes
// first. Where an index is outside of x the result is 0.
#include <algorithm>
#include <array>

#include "davinci/synth/text.h"
#include "davinci/teacher/semantics/functions.h"
#include "davinci/teacher/semantics/python_expression.h"
#include "davinci/teacher/semantics/slice.h"

namespace davinci::teacher {
namespace {

using Expression = PythonExpression;
using EKind = PythonExpression::Kind;

constexpr std::array<const char*, 4> kSizes = {"N", "C", "H", "W"};
constexpr std::array<const char*, 4> kPlaces = {"n", "c", "p", "q"};

std::optional<size_t> IndexOf(const std::array<const char*, 4>& names, const std::string& name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<size_t>(found - names.begin());
}

class Formula {
 public:
  Formula(Builder& b, std::vector<DimId> source) : b_(b), source_(std::move(source)) {}

  Result<DimId> SizeOf(const Expression& e) {
    if (e.kind == EKind::kNumber) return b_.Constant(std::stol(e.text));
    if (e.kind == EKind::kName)
      if (const auto at = IndexOf(kSizes, e.text); at && *at < source_.size()) return source_[*at];
    if (e.kind != EKind::kBinary) return Unknown("a size: " + e.Text());
    DAVINCI_ASSIGN_OR_RETURN(const DimId left, SizeOf(e.parts[0]));
    DAVINCI_ASSIGN_OR_RETURN(const DimId right, SizeOf(e.parts[1]));
    return b_.p.graph.dims.Binary(e.text == "//" ? '/' : e.text[0], left, right);
  }

  Result<Id> IndexAt(const Expression& e, const std::vector<DimId>& space) {
    if (e.kind == EKind::kName)
      if (const auto at = IndexOf(kPlaces, e.text); at && *at < space.size())
        return b_.Position(space, *at);
    if (const auto size = SizeOf(e); size.ok()) return b_.p.Size(*size);
    if (e.kind != EKind::kBinary) return Unknown("an index: " + e.Text());
    DAVINCI_ASSIGN_OR_RETURN(const Id left, IndexAt(e.parts[0], space));
    DAVINCI_ASSIGN_OR_RETURN(const Id right, IndexAt(e.parts[1], space));
    const char* const primitive = e.text == "+"   ? "iadd"
                                  : e.text == "-" ? "isub"
                                  : e.text == "*" ? "imul"
                                  : e.text == "%" ? "imod"
                                                  : "idiv";
    return b_.Integer(primitive, left, right);
  }

 private:
  Builder& b_;
  const std::vector<DimId> source_;
};

Result<std::vector<Expression>> Parts(const Meaning& text) {
  std::vector<Expression> parts;
  if (text.kind != Meaning::Kind::kText) return Unknown("element_at without formulas");
  for (const std::string_view part : synth::SplitTop(text.text, ',')) {
    DAVINCI_ASSIGN_OR_RETURN(parts.emplace_back(), Expression::Parse(synth::Trim(part)));
  }
  return parts;
}

Result<Meaning> ElementAt(const Call& call) {
  DAVINCI_ASSIGN_OR_RETURN(const auto sizes, Parts(call.Argument(1, "shape")));
  DAVINCI_ASSIGN_OR_RETURN(const auto indices, Parts(call.Argument(2, "indices")));
  const std::vector<DimId> shape = call.Shape();
  if (indices.size() != shape.size()) return Unknown("element_at with another number of axes");
  Formula formula(call.b, shape);
  std::vector<DimId> space;
  for (const Expression& size : sizes) {
    DAVINCI_ASSIGN_OR_RETURN(space.emplace_back(), formula.SizeOf(size));
  }
  std::vector<Id> at;
  std::optional<Meaning> inside;
  for (size_t i = 0; i < indices.size(); ++i) {
    DAVINCI_ASSIGN_OR_RETURN(Id index, formula.IndexAt(indices[i], space));
    // Only a difference leaves the tensor.
    if (indices[i].kind == EKind::kBinary && indices[i].text == "-") {
      DAVINCI_ASSIGN_OR_RETURN(index, Clamped(call.b, index, shape, i, &inside));
    }
    at.push_back(index);
  }
  DAVINCI_ASSIGN_OR_RETURN(const Meaning element, call.b.Load(call.x(), at));
  if (!inside) return element;
  return call.b.Point("where", {*inside, element, Meaning::Number(0)});
}

}  // namespace

void AddIndexFormulas(FunctionRegistry* registry) { registry->Add({"element_at"}, ElementAt); }

}  // namespace davinci::teacher
