#include "davinci/teacher/emit/triton/triton_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "davinci/synth/render_class.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

namespace {

bool IsName(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

}  // namespace

std::string TritonWriter::Scalar(Id id) const {
  const TensorValue& value = p_[id];
  if (value.number) {
    if (std::isnan(*value.number)) return "float(\"nan\")";
    if (std::isinf(*value.number)) return *value.number > 0 ? "float(\"inf\")" : "float(\"-inf\")";
    if (value.dtype == DType::kIndex) return fmt::format("{:.0f}", *value.number);
    return synth::FloatText(*value.number);
  }
  return ScalarName(id);
}

std::string TritonWriter::Text(Id id) {
  const TensorValue& value = p_[id];
  if (value.kind == Kind::kScalar) return Scalar(id);
  if (const auto known = known_.find(id); known != known_.end()) return known->second;
  if (value.kind == Kind::kIota)
    return known_[id] =
               IotaText(id, [&](int axis) { return form_.axes[static_cast<size_t>(axis)].index; });
  if (value.kind == Kind::kLoad && IsMember(id)) {
    std::vector<std::string> operands;
    for (size_t k = 1; k < value.operands.size(); ++k) operands.push_back(Text(value.operands[k]));
    KernelTensor place;
    for (const auto& axes : region_.placements.at(id).axes)
      for (const int axis : axes) place.axes.push_back(form_.axis_of.at(axis));
    std::string mask = MaskOf(place);
    if (const auto guard = guards_.find(id); guard != guards_.end()) {
      const size_t other = mask.find(", other");
      mask = mask.empty() ? ", mask=" + guard->second
                          : mask.insert(std::min(other, mask.size()), " & " + guard->second);
    }
    std::string load = fmt::format("tl.load({}_ptr + {}{})", Input(value.operands[0])->name,
                                   LoadOffset(operands), mask);
    if (value.dtype == DType::kFloat && p_.graph.precision != synth::Precision::kFp32)
      load += ".to(tl.float32)";
    if (value.dtype == DType::kBool) load += " != 0";
    return Assign(id, load);
  }
  if (const KernelTensor* tensor = Input(id)) {
    std::string load = fmt::format(
        "tl.load({}_ptr + {}{})", tensor->name,
        form_.Offset(*tensor, [&](int a) { return form_.axes[static_cast<size_t>(a)].index; }),
        MaskOf(*tensor));
    if (tensor->axes.empty()) load = fmt::format("tl.load({}_ptr)", tensor->name);
    if (value.dtype == DType::kFloat && p_.graph.precision != synth::Precision::kFp32)
      load += ".to(tl.float32)";
    if (value.dtype == DType::kBool) load += " != 0";
    Line(fmt::format("{} = {}", tensor->name, load));
    return known_[id] = tensor->name;
  }
  if (value.kind == Kind::kReshape) return known_[id] = Text(value.operands[0]);
  if (value.kind == Kind::kReduce) return "?";  // rows are set by the passes
  if (value.kind == Kind::kScan) return Scan(id);
  std::vector<std::string> operands;
  for (size_t k = 0; k < value.operands.size(); ++k) {
    std::string operand = Text(value.operands[k]);
    if (value.primitive->name == "where" && k == 0) operand = GuardLoads(id, operand);
    const std::string slot = fmt::format("{{{}}}", k);
    const size_t first = value.primitive->triton.find(slot);
    const bool twice = value.primitive->triton.find(slot, first + 1) != std::string::npos;
    if (twice && !IsSimple(operand)) operand = Assign(value.operands[k], operand);
    operands.push_back(operand);
  }
  const std::string& primitive = value.primitive->triton;
  const std::string helper = primitive.substr(0, primitive.find('('));
  if (helper == "tanh" || helper == "log1p" || helper == "expm1" || helper == "round_even" ||
      helper == "atan" || helper == "atan2")
    text_.helpers.insert(helper);
  if (helper == "atan2") text_.helpers.insert("atan");
  const std::string text = Substituted(primitive, operands);
  if ((Uses(id) == 1 || value.virtual_) && text.size() < 60 && !IsOutput(id))
    return known_[id] = text;
  return Assign(id, text);
}

// What a selection does not take is not read.
std::string TritonWriter::GuardLoads(Id selection, std::string condition) {
  const auto& operands = p_[selection].operands;
  const auto guarded = [&](Id id) {
    return p_[id].kind == Kind::kLoad && IsMember(id) && Uses(id) == 1 && !IsOutput(id) &&
           !known_.contains(id);
  };
  if (!guarded(operands[1]) && !guarded(operands[2])) return condition;
  if (!IsName(condition)) condition = Assign(operands[0], condition);
  if (guarded(operands[1])) guards_[operands[1]] = condition;
  if (guarded(operands[2])) guards_[operands[2]] = fmt::format("(~{})", condition);
  return condition;
}

std::string TritonWriter::Scan(Id id) {
  const TensorValue& value = p_[id];
  std::string element =
      fmt::format("tl.where(inside, {}, {})", Text(value.operands[0]), Neutral(value.reduce));
  const auto run = runs_.find(id);
  if (run != runs_.end()) {  // a block of the row, behind what came before it
    Line(fmt::format("part{} = {}", ++count_, element));
    element = fmt::format("part{}", count_);
  }
  const std::string helper = value.reduce == ReduceKind::kMax   ? "larger"
                             : value.reduce == ReduceKind::kMin ? "smaller"
                                                                : "log_add";
  std::string scan;
  switch (value.reduce) {
    case ReduceKind::kSum:
      scan = fmt::format("tl.cumsum({}, axis=1)", element);
      break;
    case ReduceKind::kProd:
      scan = fmt::format("tl.cumprod({}, axis=1)", element);
      break;
    default:
      text_.helpers.insert(helper);
      scan = fmt::format("tl.associative_scan({}, 1, {})", element, helper);
  }
  if (run == runs_.end()) return Assign(id, scan);
  const std::string name = run->second;
  if (value.reduce == ReduceKind::kSum || value.reduce == ReduceKind::kProd) {
    const char op = value.reduce == ReduceKind::kSum ? '+' : '*';
    const std::string own = Assign(id, fmt::format("{} {} {}", name, op, scan));
    Line(fmt::format("{} = {} {} {}", name, name, op, Combine(value.reduce, element)));
    return own;
  }
  const std::string own = Assign(id, fmt::format("{}({}, {})", helper, name, scan));
  Line(fmt::format("{0} = {1}({0}, tl.reduce({2}, 1, {1})[:, None])", name, helper, element));
  return own;
}

std::string TritonWriter::Assign(Id id, const std::string& text) {
  const std::string name = fmt::format("v{}", ++count_);
  Line(fmt::format("{} = {}", name, text));
  return known_[id] = name;
}

std::string TritonWriter::MaskOf(const KernelTensor& tensor) const {
  if (form_.reduced.empty()) return ", mask=inside";
  const bool k = form_.Has(tensor, false);
  // The index of a plane is one number.
  const bool r = planes_ ? HasLast(tensor) : form_.Has(tensor, true);
  if (!k && !r) return "";
  std::string mask = k && r ? "inside" : k ? "in_row" : "in_col";
  return fmt::format(", mask={}{}", mask, r ? ", other=0.0" : "");
}

bool TritonWriter::HasLast(const KernelTensor& tensor) const {
  return std::find(tensor.axes.begin(), tensor.axes.end(),
                   static_cast<int>(form_.axes.size()) - 1) != tensor.axes.end();
}

void TritonWriter::Store(const KernelTensor& tensor) {
  const std::string value = Text(tensor.value);
  std::string mask = form_.reduced.empty()     ? "inside"
                     : form_.Has(tensor, true) ? "inside"
                                               : "in_row";
  if (tensor.axes.empty()) mask = "in_row";
  const std::string offset =
      form_.Offset(tensor, [&](int a) { return form_.axes[static_cast<size_t>(a)].index; });
  Line(fmt::format("tl.store({}_ptr + {}, {}, mask={})", tensor.name,
                   tensor.axes.empty() ? "row" : offset, value, mask));
}

void TritonWriter::Decompose(const std::vector<int>& axes, const std::string& flat) {
  if (axes.size() < 2) return;
  std::string rest = flat;
  for (size_t i = axes.size(); i-- > 0;) {
    const LoopAxis& axis = form_.axes[static_cast<size_t>(axes[i])];
    if (i == 0) {
      Line(fmt::format("{} = {}", axis.index, rest));
    } else {
      Line(fmt::format("{} = {} % {}", axis.index, Bracketed(rest), axis.size));
      rest = fmt::format("{} // {}", Bracketed(rest), axis.size);
    }
  }
}

std::vector<std::string> TritonWriter::Parameters() const {
  std::vector<std::string> all;
  for (const KernelTensor& tensor : form_.inputs) all.push_back(tensor.name + "_ptr");
  for (const KernelTensor& tensor : form_.outputs) all.push_back(tensor.name + "_ptr");
  for (const auto& [name, id] : form_.scalars)
    if (!form_.IsSize(name)) all.push_back(name);
  return all;
}

std::vector<std::string> TritonWriter::Arguments() const {
  std::vector<std::string> all;
  for (const KernelTensor& tensor : form_.inputs) all.push_back(tensor.host);
  for (const KernelTensor& tensor : form_.outputs) all.push_back(tensor.host);
  for (const auto& [name, id] : form_.scalars)
    if (!form_.IsSize(name)) all.push_back(p_[id].text);
  return all;
}

void TritonWriter::SizesOfAxes(std::vector<std::string>* parameters,
                               std::vector<std::string>* arguments) {
  for (const auto* axes : {&form_.kept, &form_.reduced}) {
    for (const int a : *axes) {
      const LoopAxis& axis = form_.axes[static_cast<size_t>(a)];
      parameters->push_back(axis.size);
      arguments->push_back(program_->SizeText(axis.dim));
    }
  }
}

std::string TritonWriter::FirstProgram() const {
  return Counts32() ? "tl.program_id(0)" : "tl.program_id(0).to(tl.int64)";
}

std::string TritonWriter::Neutral(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kMax:
    case ReduceKind::kLogSum:
      return "float(\"-inf\")";
    case ReduceKind::kMin:
      return "float(\"inf\")";
    case ReduceKind::kProd:
    case ReduceKind::kAll:
      return "1.0";
    default:
      return "0.0";
  }
}

std::string TritonWriter::Combine(ReduceKind kind, const std::string& what, bool nan) {
  if (nan) {
    const std::string helper = kind == ReduceKind::kMax ? "larger" : "smaller";
    text_.helpers.insert(helper);
    return fmt::format("tl.reduce({}, 1, {})[:, None]", what, helper);
  }
  switch (kind) {
    case ReduceKind::kSum:
      return fmt::format("tl.sum({}, axis=1)[:, None]", what);
    case ReduceKind::kMax:
    case ReduceKind::kAny:
      return fmt::format("tl.max({}, axis=1)[:, None]", what);
    case ReduceKind::kMin:
    case ReduceKind::kAll:
      return fmt::format("tl.min({}, axis=1)[:, None]", what);
    case ReduceKind::kProd:
      text_.helpers.insert("times");
      return fmt::format("tl.reduce({}, 1, times)[:, None]", what);
    case ReduceKind::kLogSum:
      break;
  }
  return "";
}

std::string TritonWriter::Truth(Id id, const std::string& text) const {
  return p_[id].dtype == DType::kBool ? text + " != 0" : text;
}

std::string TritonWriter::Masked(Id reduce) {
  const TensorValue& value = p_[reduce];
  return fmt::format("tl.where(inside, {}, {})", Text(value.operands[0]), Neutral(value.reduce));
}

void TritonWriter::ReduceInRegisters() {
  for (const Id member : region_.members) {
    const TensorValue& value = p_[member];
    if (value.kind != Kind::kReduce) continue;
    if (const Id first = FirstAlike(member); first != member) {
      known_[member] = known_.at(first);
      continue;
    }
    const std::string masked = Masked(member);
    Assign(member, Truth(member, Combine(value.reduce, masked, NanMatters(member))));
  }
}

bool TritonWriter::Divides(const std::string& parameter) const {
  if (body_.find(parameter + ".to(") != std::string::npos) return false;  // a number of its own
  for (const LoopAxis& axis : form_.axes) {
    if (axis.size != parameter) continue;
    for (const char* op : {"% ", "// "})
      for (size_t at = 0; (at = body_.find(op + parameter, at)) != std::string::npos; ++at) {
        const size_t end = at + std::string(op).size() + parameter.size();
        if (end == body_.size() ||
            (std::isalnum(static_cast<unsigned char>(body_[end])) == 0 && body_[end] != '_'))
          return true;
      }
  }
  return false;
}

void TritonWriter::Add(const std::string& name, const std::vector<std::string>& parameters,
                       const std::vector<std::string>& arguments, const std::string& grid,
                       const std::string& constants) {
  std::vector<std::string> declared = parameters;
  for (std::string& parameter : declared) {
    if (!rules_.constant_sizes || !Divides(parameter)) continue;
    parameter += ": tl.constexpr";
    text_.used.insert("constant_sizes");
  }
  text_.source += fmt::format("{}@triton.jit\ndef {}({}):\n{}", text_.source.empty() ? "" : "\n\n",
                              name, synth::Join(declared, ", "), body_);
  text_.call.push_back(
      fmt::format("{}[{}]({}{})", name, grid, synth::Join(arguments, ", "), constants));
}

}  // namespace davinci::teacher
