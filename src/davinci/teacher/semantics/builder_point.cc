// Primitives of the tables: what numbers alone decide, and how operands become those of a kernel.
#include <cmath>

#include "davinci/teacher/semantics/builder.h"

namespace davinci::teacher {
namespace {

Id AsTensor(Program* p, const Meaning& meaning) {
  if (meaning.IsTensor()) return meaning.id;
  return meaning.number ? p->Scalar(*meaning.number) : p->ScalarText(meaning.text);
}

// The result that numbers alone decide; nothing where an element has to be read.
std::optional<Meaning> Decided(const Program& p, const std::string& name,
                               const Meanings& operands) {
  const auto number = [&](size_t k) { return operands[k].number; };
  if ((name == "position" || name == "float") && operands[0].IsTensor()) {
    const TensorValue& index = p[operands[0].id];
    if (index.kind == TensorValue::Kind::kIota &&
        p.IsOne(index.shape[static_cast<size_t>(index.axes[0])]))
      return Meaning::Number(0);
  }
  if (operands.size() == 1 && number(0) && name == "abs")
    return Meaning::Number(std::fabs(number(0).value()));
  if (operands.size() == 2 && number(0) && number(1)) {
    const double a = number(0).value(), b = number(1).value();
    if (name == "lt") return Meaning::Number(a < b);
    if (name == "gt") return Meaning::Number(a > b);
    if (name == "le") return Meaning::Number(a <= b);
    if (name == "ge") return Meaning::Number(a >= b);
  }
  if (name == "where" && operands.size() == 3 && number(0) && operands[1].IsTensor() &&
      operands[2].IsTensor() && p[operands[1].id].shape == p[operands[2].id].shape)
    return operands[number(0).value() != 0 ? 1 : 2];
  return std::nullopt;
}

// True for a value of indices and numbers alone, which is computed where it is read.
bool IsVirtual(const Program& p, const std::vector<Id>& operands) {
  bool indices = false, others = false;
  for (const Id id : operands) {
    const TensorValue& operand = p[id];
    const bool scalar = operand.kind == TensorValue::Kind::kScalar;
    const bool index = operand.kind == TensorValue::Kind::kIota || operand.virtual_;
    indices = indices || index || (scalar && operand.dtype == DType::kIndex);
    others = others || (!index && !scalar);
  }
  return indices && !others;
}

}  // namespace

// Truth values and counts become numbers where the primitive takes numbers.
Status Builder::Convert(const Primitive& primitive, std::vector<Id>* operands) {
  const std::string& name = primitive.name;
  const bool logic = name == "and" || name == "or" || name == "not";
  const bool compares =
      name == "eq" || name == "ne" || name == "ge" || name == "le" || name == "lt" || name == "gt";
  for (size_t k = 0; k < operands->size(); ++k) {
    Id& operand = (*operands)[k];
    const DType type = p[operand].dtype;  // values move when one is added
    const bool counted = type == DType::kIndex && p[operand].kind == TensorValue::Kind::kReduce;
    const bool truth =
        type == DType::kBool && !logic && name != "float" && !(name == "where" && k == 0);
    if (truth || (counted && name != "float" && name != "index")) {
      DAVINCI_ASSIGN_OR_RETURN(const Meaning real, Point("float", {Meaning::Tensor(operand)}));
      operand = real.id;
    }
    if (type == DType::kFloat && logic) return Unknown("logic of numbers");
    if (p[operand].dtype == DType::kIndex && !primitive.integer && !compares &&
        name != "position" && !(name == "float" && counted))
      return Unknown("arithmetic of indices");
  }
  return Status::Ok();
}

Result<Meaning> Builder::Point(const std::string& name, const Meanings& operands) {
  const auto found = tables_.primitives.find(name);
  if (found == tables_.primitives.end()) return Unknown("primitive " + name);
  const Primitive& primitive = found->second;
  // Steps between values would fall elsewhere: PyTorch rounds every result to the half type.
  if (p.graph.precision != synth::Precision::kFp32 &&
      (name == "floor" || name == "ceil" || name == "round"))
    return Unknown("rounding in half precision");
  if (p.graph.precision != synth::Precision::kFp32 && name == "finite")
    return Unknown("the largest number in half precision");
  if (operands.size() != static_cast<size_t>(primitive.arguments))
    return Unknown(name + " with other arguments");
  for (const Meaning& operand : operands)
    if (!operand.IsTensor() && operand.kind != Meaning::Kind::kNumber)
      return Unknown(name + " of something else");
  if (const auto decided = Decided(p, name, operands)) return *decided;
  TensorValue value;
  value.kind = TensorValue::Kind::kPoint;
  value.primitive = &primitive;
  for (const Meaning& operand : operands) value.operands.push_back(AsTensor(&p, operand));
  DAVINCI_ASSIGN_OR_RETURN(value.shape, Broadcast(value.operands, "shapes that do not broadcast"));
  for (Id& operand : value.operands) {
    const auto source = p.expanded.find(operand);
    operand = source == p.expanded.end() ? Readable(operand) : source->second;
  }
  DAVINCI_RETURN_IF_ERROR(Convert(primitive, &value.operands));
  value.dtype = primitive.gives_bool                   ? DType::kBool
                : name == "index" || primitive.integer ? DType::kIndex
                                                       : DType::kFloat;
  value.virtual_ = IsVirtual(p, value.operands);
  if (name == "where" && p[value.operands[0]].dtype != DType::kBool)
    return Unknown("where of numbers");
  return Meaning::Tensor(p.Add(std::move(value)));
}

}  // namespace davinci::teacher
