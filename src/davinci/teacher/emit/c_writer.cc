#include "davinci/teacher/emit/c_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

void CWriter::Open(const std::string& line) {
  Line(line + " {");
  indent_ += 2;
}
void CWriter::Close() {
  indent_ -= 2;
  Line("}");
}

std::string CWriter::Type(DType type) const {
  return type == DType::kFloat ? "float" : type == DType::kBool ? "bool" : index_;
}

std::string CWriter::Scalar(Id id) const {
  const TensorValue& value = p_[id];
  if (!value.number) return ScalarName(id);
  if (std::isnan(*value.number)) return "NAN";
  if (std::isinf(*value.number)) return *value.number > 0 ? "INFINITY" : "-INFINITY";
  if (value.dtype == DType::kIndex) return fmt::format("{:.0f}", *value.number);
  return synth::FloatText(*value.number) + "f";
}

std::string CWriter::IndexText(int axis) const {
  return form_.axes[static_cast<size_t>(axis)].index;
}

std::string CWriter::Element(const KernelTensor& tensor) const {
  return fmt::format("{}[{}]", tensor.name,
                     form_.Offset(tensor, [&](int axis) { return IndexText(axis); }));
}

std::string CWriter::Text(Id id) {
  const TensorValue& value = p_[id];
  if (value.kind == Kind::kScalar) return Scalar(id);
  if (const auto known = known_.find(id); known != known_.end()) return known->second;
  if (std::string decided = Decided(id); !decided.empty()) return known_[id] = decided;
  if (const auto chosen = Chosen(id)) {
    const std::string text = Text(*chosen);
    return IsSimple(text) || value.virtual_ ? known_[id] = text : Assign(id, text);
  }
  if (value.kind == Kind::kIota) return IotaText(id, [&](int axis) { return IndexText(axis); });
  if (value.kind == Kind::kLoad && IsMember(id)) {
    std::vector<std::string> operands;
    for (size_t k = 1; k < value.operands.size(); ++k) operands.push_back(Text(value.operands[k]));
    return Assign(id,
                  AsFloat(id, fmt::format("{}[{}]", Input(value.operands[0])->name,
                                          LoadOffset(operands, p_[value.operands[0]].strides))));
  }
  // Loaded in a statement of its own: a load within a selection would be conditional.
  if (const KernelTensor* tensor = Input(id)) return Assign(id, AsFloat(id, Element(*tensor)));
  if (value.kind == Kind::kReshape) return known_[id] = Text(value.operands[0]);
  if (value.kind == Kind::kReduce) return "?";
  if (value.kind == Kind::kScan) return Scan(id);
  const std::string form = PrimitiveForm(value);
  std::vector<std::string> operands;
  for (size_t k = 0; k < value.operands.size(); ++k) {
    std::string operand = Text(value.operands[k]);
    const std::string slot = fmt::format("{{{}}}", k);
    const bool twice = form.find(slot, form.find(slot) + 1) != std::string::npos;
    if (twice && (operand.find('(') != std::string::npos || !IsSimple(operand)))
      operand = Assign(value.operands[k], operand);
    operands.push_back(operand);
  }
  const std::string text = Substituted(form, operands);
  if ((Uses(id) == 1 || value.virtual_) && text.size() < 70 && !IsOutput(id))
    return known_[id] = text;
  return Assign(id, text);
}

std::string CWriter::Assign(Id id, const std::string& text) {
  const std::string name = fmt::format("v{}", ++count_);
  const TensorValue& value = p_[id];
  // Counts and positions that reductions give are kept as float.
  const bool counted =
      value.dtype == DType::kIndex &&
      (value.kind == Kind::kReduce || (value.kind == Kind::kPoint && !value.primitive->integer));
  Line(fmt::format("const {} {} = {};", counted ? "float" : Type(value.dtype), name, text));
  return known_[id] = name;
}

std::string CWriter::AsStored(Id id, const std::string& text) {
  if (p_[id].dtype != DType::kIndex) return text;
  return fmt::format("static_cast<{}>({})", StoredType(DType::kIndex), text);
}

void CWriter::Store(const KernelTensor& tensor) {
  const std::string value = Text(tensor.value);
  Line(fmt::format("{} = {};", Element(tensor), AsStored(tensor.value, value)));
}

void CWriter::RowStatements(int after) {
  for (const Id member : region_.members)
    if (!region_.IsPerElement(member) && p_[member].kind == Kind::kPoint &&
        form_.pass.at(member) == after && !known_.contains(member))
      Assign(member, Text(member));
}

void CWriter::StoreRows() {
  for (const KernelTensor& tensor : form_.outputs)
    if (!region_.IsPerElement(tensor.value)) Store(tensor);
}

bool CWriter::StoresRows() const {
  return std::any_of(form_.outputs.begin(), form_.outputs.end(), [&](const KernelTensor& tensor) {
    return !region_.IsPerElement(tensor.value);
  });
}

void CWriter::Decompose(const std::vector<int>& axes, const std::string& flat) {
  std::string rest = flat;
  for (size_t i = axes.size(); i-- > 0;) {
    const LoopAxis& axis = form_.axes[static_cast<size_t>(axes[i])];
    if (i == 0) {
      if (axis.index != flat) Line(fmt::format("const {} {} = {};", index_, axis.index, rest));
    } else {
      Line(fmt::format("const {} {} = {} % {};", index_, axis.index, rest, axis.size));
      rest = fmt::format("{} / {}", rest, axis.size);
    }
  }
}

std::string CWriter::Neutral(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kMax:
    case ReduceKind::kLogSum:
      return "-INFINITY";
    case ReduceKind::kMin:
      return "INFINITY";
    case ReduceKind::kProd:
    case ReduceKind::kAll:
      return "1.0f";
    default:
      return "0.0f";
  }
}

CWriter::Signature CWriter::MakeSignature() {
  const std::string code = index_ == "int" ? "i32" : "i64";
  Signature made;
  for (const auto* tensors : {&form_.inputs, &form_.outputs})
    for (const KernelTensor& tensor : *tensors) {
      made.parameters.push_back(fmt::format("{}{}* {}", tensor.output ? "" : "const ",
                                            StoredType(p_[tensor.value].dtype), tensor.name));
      made.arguments.push_back(tensor.host);
      made.types.emplace_back("ptr");
    }
  for (const auto& [name, id] : form_.scalars) {
    if (form_.IsSize(name)) continue;
    const bool size = p_[id].dtype == DType::kIndex;
    made.parameters.push_back((size ? index_ + " " : "float ") + name);
    made.arguments.push_back(p_[id].text);
    made.types.push_back(size ? code : "f32");
  }
  for (const LoopAxis& axis : form_.axes) {
    if (HoldsSize(axis)) continue;
    made.parameters.push_back(index_ + " " + axis.size);
    made.arguments.push_back(form_.axes.size() == 1 && form_.reduced.empty()
                                 ? form_.outputs[0].host + ".numel()"
                                 : program_->SizeText(axis.dim));
    made.types.push_back(code);
  }
  return made;
}

void CWriter::Bind(const std::string& symbol, const Signature& signature) {
  text_.binding = fmt::format("{} = kernels.get(\"{}\", \"{}\")", form_.name, symbol,
                              synth::Join(signature.types, " "));
}

}  // namespace davinci::teacher
