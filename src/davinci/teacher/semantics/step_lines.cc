#include "davinci/teacher/semantics/step_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "davinci/synth/text.h"

namespace davinci::teacher {
namespace {

using Expression = PythonExpression;
using EKind = PythonExpression::Kind;
using synth::ValueId;

constexpr std::array<std::string_view, 5> kFacts = {"shape", "dtype", "device", "ndim", "is_cuda"};
constexpr std::array<std::string_view, 5> kFactCalls = {"size", "dim", "numel", "item", "stride"};

// Returns in one word what a step does: "linear", "+", "[]".
std::string OperationOf(const Expression& e) {
  switch (e.kind) {
    case EKind::kCall: {
      const Expression& function = e.parts[0];
      if (function.kind == EKind::kName || function.kind == EKind::kAttribute) return function.text;
      return OperationOf(function);
    }
    case EKind::kSubscript:
      return "[]";
    case EKind::kName:  // a text as its author wrote it
      return e.text.substr(0, e.text.find_first_of("(["));
    default:
      return e.text;
  }
}

}  // namespace

PythonExpression NameOf(std::string text) { return {EKind::kName, std::move(text), {}, {}}; }

bool IsFactCall(const std::string& function) {
  return std::ranges::find(kFactCalls, function) != kFactCalls.end();
}

bool IsFact(const PythonExpression& e) {
  if (e.kind == EKind::kAttribute) return std::ranges::find(kFacts, e.text) != kFacts.end();
  return e.kind == EKind::kCall && e.parts[0].kind == EKind::kAttribute &&
         IsFactCall(e.parts[0].text);
}

std::string SizeLetters::NewLetter(DimId dim) {
  constexpr int kLetters = 26;
  for (;; ++next_) {
    std::string name(1, static_cast<char>('A' + next_ % kLetters));
    if (next_ >= kLetters) name += std::to_string(next_ / kLetters);
    if (taken_.contains(name) || name == "F") continue;  // of torch.nn.functional
    ++next_;
    letters_.emplace_back(dim, name);
    return name;
  }
}

std::string SizeLetters::Text(DimId dim) {
  bool unknown = false;
  const std::string text = dims_.Python(dim, [&](DimId part) -> std::string {
    if (dims_.IsConstant(part)) return "";
    for (const auto& [known, letter] : letters_)
      if (dims_.Equal(known, part)) return letter;
    if (dims_[part].kind != synth::Dim::Kind::kSymbol) return "";
    unknown = true;
    return "?";
  });
  return unknown || text.find_first_of("/-") != std::string::npos ? NewLetter(dim) : text;
}

std::string SizeLetters::Type(const std::vector<DimId>& shape, DType dtype) {
  std::vector<std::string> sizes;
  for (const DimId dim : shape) sizes.push_back(Text(dim));
  const char* const kind = dtype == DType::kBool ? "bool" : dtype == DType::kIndex ? "int" : "";
  return fmt::format("{}[{}]", kind, synth::Join(sizes, ", "));
}

std::string SizeLetters::Values(synth::Binding binding) const {
  std::vector<std::string> sizes;
  for (const auto& [dim, letter] : letters_)
    sizes.push_back(fmt::format("{} = {}", letter, dims_.At(dim, binding)));
  return synth::Join(sizes, ", ");
}

std::string SizeLetters::Letter(DimId dim) const {
  if (dims_.IsConstant(dim)) return "";
  for (const auto& [known, letter] : letters_)
    if (dims_.Equal(known, dim)) return letter;
  return "";
}

std::set<std::string> SizeLetters::Letters() const {
  std::set<std::string> letters;
  for (const auto& [dim, letter] : letters_) letters.insert(letter);
  return letters;
}

std::string KeyOf(ValueId id) { return fmt::format("v{}", id); }

std::string StepLines::TypeOf(ValueId id) {
  const synth::Value& value = program_.graph.values[static_cast<size_t>(id)];
  return sizes_.Type(value.shape, value.dtype);
}

void StepLines::Know(ValueId id, const std::string& text) {
  const synth::Value& value = program_.graph.values[static_cast<size_t>(id)];
  TensorValue leaf;
  leaf.text = text;
  leaf.shape = value.shape;
  leaf.dtype = value.dtype;
  names_[KeyOf(id)] = Meaning::Tensor(program_.Add(std::move(leaf)));
  texts_[KeyOf(id)] = text;
}

void StepLines::KnowWeight(ValueId id, const std::string& text) {
  if (texts_.contains(KeyOf(id))) return;
  Know(id, text);
  keys_[text] = KeyOf(id);
  weights_.push_back(
      {text, TypeOf(id), program_.graph.values[static_cast<size_t>(id)].shape.size()});
}

std::string StepLines::TextOf(ValueId id) const {
  const auto found = texts_.find(KeyOf(id));
  return found == texts_.end() ? "?" : found->second;
}

bool StepLines::IsTensor(const Expression& e) const {
  return e.kind == EKind::kName && texts_.contains(e.text);
}

bool StepLines::HasTensor(const Expression& e) const {
  if (IsFact(e)) return false;
  return IsTensor(e) ||
         std::ranges::any_of(e.parts, [&](const auto& part) { return HasTensor(part); }) ||
         std::ranges::any_of(e.keywords, [&](const auto& one) { return HasTensor(one.value); });
}

std::optional<size_t> StepLines::Rank(const Expression& e) const {
  if (e.kind != EKind::kName) return std::nullopt;
  const auto weight = keys_.find(e.text);
  const auto found = names_.find(weight == keys_.end() ? e.text : weight->second);
  if (found == names_.end() || !found->second.IsTensor()) return std::nullopt;
  return program_[found->second.id].shape.size();
}

PythonExpression StepLines::WithWeights(Expression e) const {
  const auto text = texts_.find(e.text);
  if (e.kind == EKind::kName && text != texts_.end() && text->second.starts_with("self."))
    return NameOf(text->second);
  return e;
}

PythonExpression StepLines::Written(Expression e) {
  constexpr std::string_view kSize = "dimid_";
  if (e.kind == EKind::kName) {
    if (const auto found = texts_.find(e.text); found != texts_.end()) return NameOf(found->second);
    if (e.text.starts_with(kSize)) {
      const std::string size =
          sizes_.Text(static_cast<DimId>(std::stol(e.text.substr(kSize.size()))));
      auto parsed = Expression::Parse(size);
      return parsed.ok() ? *parsed : NameOf(size);
    }
  }
  for (Expression& part : e.parts) part = Written(std::move(part));
  for (Expression::Keyword& one : e.keywords) one.value = Written(std::move(one.value));
  return e;
}

PythonExpression StepLines::Add(const Expression& written, const Expression& meant,
                                Evaluator* evaluator) {
  const std::string expression = Written(written).Text();
  if (const auto same = made_.find(expression); same != made_.end()) return NameOf(same->second);
  const std::string key = fmt::format("s{}", lines_.size());
  std::string type;
  if (const auto meaning = evaluator->Evaluate(meant, names_); meaning.ok()) {
    if (meaning->IsTensor())
      type = sizes_.Type(program_[meaning->id].shape, program_[meaning->id].dtype);
    if (meaning->IsTensor() || meaning->IsSequence()) names_[key] = *meaning;
  }
  do {
    texts_[key] = fmt::format("t{}", ++count_);
  } while (taken_.contains(texts_[key]));
  made_[expression] = key;
  lines_.push_back({texts_[key], type, expression, OperationOf(written), key, meant});
  return NameOf(key);
}

namespace {

// A size that is a number or a product by accident, though the function that makes the value says
// which size of its operands it is, becomes that size.
void Infer(synth::DimTable* dims, const std::vector<DimId>& by_function,
           std::vector<DimId>* shape) {
  if (by_function.size() != shape->size()) return;
  for (size_t axis = 0; axis < shape->size(); ++axis) {
    const DimId known = (*shape)[axis], inferred = by_function[axis];
    // A symbol of its own is what nothing else tells, as behind a convolution.
    if ((*dims)[known].kind == synth::Dim::Kind::kSymbol || dims->IsConstant(inferred) ||
        dims->Equal(known, inferred))
      continue;
    bool equal = true;
    for (const auto binding : {synth::Binding::kCpu, synth::Binding::kCuda})
      equal = equal && dims->At(known, binding) == dims->At(inferred, binding);
    if (equal) (*shape)[axis] = inferred;
  }
}

}  // namespace

void StepLines::Name(ValueId id, const Expression& tensor) {
  const std::string text = texts_.at(tensor.text);
  if (const auto inferred = names_.find(tensor.text);
      inferred != names_.end() && inferred->second.IsTensor())
    Infer(&program_.graph.dims, program_[inferred->second.id].shape,
          &program_.graph.values[static_cast<size_t>(id)].shape);
  Know(id, text);
  // It is one of the last.
  const auto line = std::find_if(lines_.rbegin(), lines_.rend(),
                                 [&](const Line& made) { return made.name == text; });
  if (line != lines_.rend()) line->type = TypeOf(id);
  names_[tensor.text] = names_[KeyOf(id)];
}

std::vector<std::string> StepLines::Text(synth::Binding binding) const {
  std::vector<std::string> text = {sizes_.Values(binding)}, body;
  for (const Line& line : lines_) {
    const std::string result =
        line.name.empty()
            ? ""
            : fmt::format("{}{}{} = ", line.name, line.type.empty() ? "" : ": ", line.type);
    body.push_back(result + line.expression);
  }
  // A layer's vectors go without saying.
  for (const Weight& weight : weights_)
    if (weight.axes > 1 || std::ranges::any_of(body, [&](const std::string& line) {
          return synth::HasWord(line, weight.name);
        }))
      text.push_back(fmt::format("{}: {}", weight.name, weight.type));
  text.insert(text.end(), body.begin(), body.end());
  return text;
}

std::vector<Step> StepLines::NewSteps() {
  std::vector<Step> steps;
  for (; told_ < lines_.size(); ++told_)
    if (const Line& line = lines_[told_]; !line.name.empty())
      steps.push_back({line.name, line.operation, line.type.empty(), line.key, line.meant});
  return steps;
}

void StepLines::Tell(Steps* steps) const {
  const auto is_result = [&](ValueId id) {
    return program_.graph.values[static_cast<size_t>(id)].origin == synth::Value::Origin::kNode;
  };
  steps->taken = sizes_.Letters();
  for (size_t i = 0; i < program_.graph.values.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    const auto& shape = program_.graph.values[i].shape;
    const auto text = texts_.find(KeyOf(id));
    if (text == texts_.end()) continue;
    steps->names[id] = text->second;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      if (const std::string letter = sizes_.Letter(shape[axis]); !letter.empty()) {
        steps->sizes.emplace(fmt::format("{}.shape[{}]", text->second, axis), letter);
        const auto known = std::ranges::find(steps->letters, letter, &LetterPlace::letter);
        if (known == steps->letters.end())
          steps->letters.push_back({letter, id, axis});
        else if (is_result(known->value) && !is_result(id))
          *known = {letter, id, axis};  // a line that makes the result may name the size
      }
  }
}

}  // namespace davinci::teacher
