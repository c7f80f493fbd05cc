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
    if (taken_.contains(name)) continue;
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
  return sizes.empty() ? "" : synth::Join(sizes, ", ") + "\n";
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

std::string StepLines::NewName() {
  std::string name;
  do {
    name = fmt::format("t{}", ++count_);
  } while (taken_.contains(name));
  return name;
}

PythonExpression StepLines::Add(const Expression& written, const Expression& meant,
                                Evaluator* evaluator) {
  const std::string expression = Written(written).Text();
  if (const auto same = made_.find(expression); same != made_.end()) return NameOf(same->second);
  const std::string key = fmt::format("s{}", lines_.size());
  std::string type;
  if (const auto meaning = evaluator->Evaluate(meant, names_);
      meaning.ok() && meaning->IsTensor()) {
    type = sizes_.Type(program_[meaning->id].shape, program_[meaning->id].dtype);
    names_[key] = *meaning;
  }
  texts_[key] = NewName();
  made_[expression] = key;
  lines_.push_back({texts_[key], type, expression});
  return NameOf(key);
}

void StepLines::Name(ValueId id, const Expression& tensor) {
  const std::string text = texts_.at(tensor.text);
  Know(id, text);
  // It is one of the last.
  const auto line = std::find_if(lines_.rbegin(), lines_.rend(),
                                 [&](const Line& made) { return made.name == text; });
  if (line != lines_.rend()) line->type = TypeOf(id);
  names_[tensor.text] = names_[KeyOf(id)];
}

std::string StepLines::Text(synth::Binding binding) const {
  std::string text = sizes_.Values(binding), body;
  for (const Line& line : lines_) {
    if (!line.name.empty())
      body += fmt::format("{}{}{} = ", line.name, line.type.empty() ? "" : ": ", line.type);
    body += line.expression + "\n";
  }
  // A layer's vectors go without saying.
  for (const Weight& weight : weights_)
    if (weight.axes > 1 || synth::HasWord(body, weight.name))
      text += fmt::format("{}: {}\n", weight.name, weight.type);
  return text + body;
}

}  // namespace davinci::teacher
