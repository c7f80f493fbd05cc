#include "davinci/teacher/emit/triton/triton_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "davinci/synth/render_class.h"
#include "davinci/synth/text.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

namespace {

bool IsName(const std::string& text) {
  return std::all_of(text.begin(), text.end(), synth::IsWordChar);
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

std::string TritonWriter::Load(const TensorValue& value, const std::string& place,
                               const std::string& mask) {
  const bool widen = value.dtype == DType::kFloat && p_.graph.precision != synth::Precision::kFp32;
  std::string load;
  if (brief_ && value.dtype != DType::kIndex && mask.starts_with(", mask=")) {
    const std::string where = mask.substr(7, mask.find(", other") - 7);
    text_.helpers.insert("ld");
    load = fmt::format("ld({}, {})", place, where);
  } else {
    load = fmt::format("tl.load({}{}){}", place, mask, widen ? ".to(tl.float32)" : "");
  }
  return value.dtype == DType::kBool ? load + " != 0" : load;
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
    return Assign(
        id, Load(value, Input(value.operands[0])->name + "_ptr + " + LoadOffset(operands), mask));
  }
  if (const KernelTensor* tensor = Input(id)) {
    std::string place = tensor->name + "_ptr", mask;
    if (!tensor->axes.empty()) {
      place += " + " + OffsetOf(*tensor);
      mask = MaskOf(*tensor);
    }
    const std::string load = Load(value, place, mask);
    if (brief_) return Assign(id, load);
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
  // An index that is read several times has a name.
  constexpr size_t kLongIndex = 12;
  const bool index = value.virtual_ && (!brief_ || value.dtype != DType::kIndex ||
                                        text.size() <= kLongIndex || UsesInPlace(id) == 1);
  const bool within = index || (!value.virtual_ && Uses(id) == 1 && !names_.contains(id));
  if (within && text.size() < 60 && !IsOutput(id)) return known_[id] = text;
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
  const auto step = names_.find(id);
  const std::string name = step != names_.end() ? step->second : fmt::format("v{}", ++count_);
  Line(fmt::format("{} = {}", name, text));
  return known_[id] = name;
}

void TritonWriter::StoreAll() {
  for (const Id member : region_.members)
    if (names_.contains(member) && p_[member].kind == Kind::kPoint) Text(member);
  for (const KernelTensor& tensor : form_.outputs) Store(tensor);
}

std::string TritonWriter::MaskOf(const KernelTensor& tensor) const {
  if (form_.reduced.empty()) return ", mask=inside";
  const bool k = form_.Has(tensor, false);
  // The index of a plane is one number.
  const bool r = planes_ ? HasLast(tensor) : form_.Has(tensor, true);
  // A window has no column too many.
  if ((!k && !r) || (one_row_ && !r) || (windows_ && !k)) return "";
  std::string mask = (k || one_row_) && r ? "inside" : k ? "in_row" : "in_col";
  return fmt::format(", mask={}{}", mask, r ? ", other=0.0" : "");
}

bool TritonWriter::HasLast(const KernelTensor& tensor) const {
  return std::find(tensor.axes.begin(), tensor.axes.end(),
                   static_cast<int>(form_.axes.size()) - 1) != tensor.axes.end();
}

std::string TritonWriter::OffsetOf(const KernelTensor& tensor) const {
  const auto index = [&](int a) { return form_.axes[static_cast<size_t>(a)].index; };
  if (!brief_) return form_.Offset(tensor, index);
  std::string flat = form_.reduced.empty() ? "i" : "row";
  if (tensor.axes == form_.kept) return flat;
  if (!flat_columns_ && !form_.reduced.empty()) return form_.Horner(tensor, index);
  std::vector<int> all = form_.kept;
  all.insert(all.end(), form_.reduced.begin(), form_.reduced.end());
  if (tensor.axes == form_.reduced) return "col";
  if (tensor.axes == all) {
    const std::string cols = Multiplied(form_.reduced);
    return fmt::format("row * {} + col", Bracketed(cols));
  }
  return form_.Horner(tensor, index);
}

void TritonWriter::StoreAt(const std::string& place, const std::string& value,
                           const std::string& mask) {
  if (!brief_) {
    Line(fmt::format("tl.store({}, {}, mask={})", place, value, mask));
  } else if (mask == "in_row" && one_row_) {
    Line(fmt::format("tl.store({}, {})", place, value));
  } else {
    text_.helpers.insert("st");
    Line(fmt::format("st({}, {}, {})", place, value, mask));
  }
}

void TritonWriter::Store(const KernelTensor& tensor) {
  const std::string value = Text(tensor.value);
  std::string mask = form_.reduced.empty()     ? "inside"
                     : form_.Has(tensor, true) ? "inside"
                                               : "in_row";
  if (tensor.axes.empty()) mask = "in_row";
  const std::string offset = OffsetOf(tensor);
  StoreAt(tensor.name + "_ptr + " + (tensor.axes.empty() ? "row" : offset), value, mask);
}

void TritonWriter::Decompose(const std::vector<int>& axes, const std::string& flat) {
  if (axes.size() < 2) return;
  std::string rest = flat;
  for (size_t i = axes.size(); i-- > 0;) {
    const LoopAxis& axis = form_.axes[static_cast<size_t>(axes[i])];
    if (i == 0) {
      Line(fmt::format("{} = {}", axis.index, rest));
    } else {
      const std::string before = brief_ ? rest : Bracketed(rest);
      Line(fmt::format("{} = {} % {}", axis.index, before, axis.size));
      rest = fmt::format("{} // {}", before, axis.size);
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

std::string TritonWriter::RowHelper(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kMax:
      return "row_max";
    case ReduceKind::kMin:
      return "row_min";
    case ReduceKind::kProd:
      return "row_prod";
    case ReduceKind::kAny:
      return "row_any";
    case ReduceKind::kAll:
      return "row_all";
    default:
      return "row_sum";
  }
}

void TritonWriter::Columns(const std::string& col, const std::string& cols,
                           const std::string& lanes) {
  flat_columns_ = col == "col";
  Line(fmt::format("{} = {}", col, lanes));
  if (one_row_) {
    Line(fmt::format("inside = {} < {}", col, Bracketed(cols)));
    return;
  }
  Line(fmt::format("in_col = {} < {}", col, cols));
  Line("inside = in_row & in_col");
}

std::string TritonWriter::Truth(Id id, const std::string& text) const {
  return p_[id].dtype == DType::kBool ? text + " != 0" : text;
}

std::string TritonWriter::Masked(Id reduce) {
  const TensorValue& value = p_[reduce];
  if (windows_) return Text(value.operands[0]);
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
    const bool nan = NanMatters(member);
    if (brief_ && value.reduce != ReduceKind::kLogSum) {
      std::string helper = RowHelper(value.reduce) + (nan ? "_nan" : "");
      text_.helpers.insert(helper);
      Assign(member, Truth(member, fmt::format("{}({}, inside)", helper, Text(value.operands[0]))));
      continue;
    }
    const std::string masked = Masked(member);
    Assign(member, Truth(member, Combine(value.reduce, masked, nan)));
  }
}

// Lines that give an index a name that nothing uses.
std::string TritonWriter::WithoutUnused(std::string body) {
  for (bool again = true; again;) {
    again = false;
    size_t begin = 0;
    while (begin < body.size()) {
      const size_t end = body.find('\n', begin) + 1;
      const size_t first = body.find_first_not_of(' ', begin);
      const size_t equals = body.find(" = ", first);
      if (equals < end) {
        const std::string name = body.substr(first, equals - first);
        const std::string_view rest = std::string_view(body).substr(equals + 3);
        const bool index = IsName(name) && name != "inside" && !synth::HasWord(rest, name) &&
                           !synth::HasWord(body.substr(0, begin), name);
        if (index) {
          body.erase(begin, end - begin);
          again = true;
          continue;
        }
      }
      begin = end;
    }
  }
  return body;
}

// One condition where nothing else needs its parts, "in_row" and "in_col".
std::string TritonWriter::WithoutParts(std::string body) {
  static constexpr std::string_view kBoth = "inside = in_row & in_col\n";
  for (const std::string part : {"in_col", "in_row"}) {
    size_t both = body.find(kBoth);
    if (both == std::string::npos) both = body.find("inside = in_row & (");
    const size_t at = body.find(part + " = ");
    if (at == std::string::npos || both == std::string::npos || both < at) continue;
    size_t uses = 0;
    for (size_t i = 0; (i = body.find(part, i)) != std::string::npos; i += part.size()) ++uses;
    const size_t place = body.find(part, both);
    if (uses != 2 || place > body.find('\n', both)) continue;
    const size_t end = body.find('\n', at);
    const std::string condition = body.substr(at + part.size() + 3, end - at - part.size() - 3);
    body.replace(place, part.size(), "(" + condition + ")");
    const size_t begin = body.rfind('\n', at) + 1;
    body.erase(begin, end + 1 - begin);
  }
  return body;
}

// Constants of the call stand in the text as numbers where they are numbers; parameters that the
// text does not have are left out.
void TritonWriter::AddBrief(const std::string& name, const std::vector<std::string>& parameters,
                            const std::vector<std::string>& arguments, const std::string& grid,
                            const std::string& constants) {
  std::string body = WithoutUnused(synth::Replaced(body_, "_ptr", ""));
  std::vector<std::string> declared, given, options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string word =
        synth::Replaced(parameters[i].substr(0, parameters[i].find(':')), "_ptr", "");
    if (!synth::HasWord(body, word) || !std::isalpha(static_cast<unsigned char>(word[0])) ||
        std::find(declared.begin(), declared.end(), word) != declared.end())
      continue;
    // A tensor that is changed in place is one parameter.
    const auto same = std::find(given.begin(), given.end(), arguments[i]);
    if (same != given.end() && parameters[i].ends_with("_ptr")) {
      const auto place = same - given.begin();
      body = synth::WithWord(body, declared[static_cast<size_t>(place)], word);
      declared.erase(declared.begin() + place);
      given.erase(same);
    }
    declared.push_back(word);
    given.push_back(arguments[i]);
  }
  for (std::string_view part : synth::SplitTop(constants, ',')) {
    part = synth::Trim(part);
    const size_t at = part.find('=');
    if (at == std::string_view::npos) continue;
    const std::string word(part.substr(0, at)), value(part.substr(at + 1));
    if (part == "num_warps=4" || part == "num_stages=3") {  // Triton's own
    } else if (word == "num_warps" || word == "num_stages") {
      options.emplace_back(part);
    } else if (value.find_first_not_of("0123456789") == std::string::npos) {
      body = synth::WithWord(body, word, value);
    } else if (synth::HasWord(body, word)) {
      declared.push_back(word);
      given.push_back(value);
    }
  }
  body = WithoutParts(std::move(body));
  // One name of a condition that is another one.
  static constexpr std::string_view kAlias = "inside = in_row\n";
  if (const size_t alias = body.find(kAlias); alias != std::string::npos) {
    const size_t begin = body.rfind('\n', alias) + 1;
    body.erase(begin, alias + kAlias.size() - begin);
    body = synth::WithWord(body, "in_row", "inside");
  }
  // The launcher knows the number of elements.
  const bool whole = grid.find(".numel()") != std::string::npos && !given.empty() &&
                     given.back().ends_with(".numel()");
  const bool elements = !declared.empty() && declared.back() == "N" && options.empty() &&
                        grid == fmt::format("({},)", CeilDiv(given.back(), 1024));
  if (whole && elements) {
    given.pop_back();
    text_.call.push_back(fmt::format("{}({})", name, synth::Join(given, ", ")));
  }
  given.insert(given.end(), options.begin(), options.end());
  text_.source += fmt::format("{}@kernel\ndef {}({}):\n{}", text_.source.empty() ? "" : "\n\n",
                              name, synth::Join(declared, ", "), body);
  if (!whole || !elements)
    text_.call.push_back(fmt::format("{}[{}]({})", name, grid, synth::Join(given, ", ")));
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
  if (brief_) {
    AddBrief(name, parameters, arguments, grid, constants);
    return;
  }
  std::vector<std::string> declared = parameters;
  for (std::string& parameter : declared) {
    if (!rules_.Contains(Rule::kConstantSizes) || !Divides(parameter)) continue;
    parameter += ": tl.constexpr";
    text_.used.Insert(Rule::kConstantSizes);
  }
  text_.source += fmt::format("{}@triton.jit\ndef {}({}):\n{}", text_.source.empty() ? "" : "\n\n",
                              name, synth::Join(declared, ", "), body_);
  text_.call.push_back(
      fmt::format("{}[{}]({}{})", name, grid, synth::Join(arguments, ", "), constants));
}

}  // namespace davinci::teacher
