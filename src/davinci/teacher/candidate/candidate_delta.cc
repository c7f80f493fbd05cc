#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/candidate_writer.h"
#include "davinci/teacher/candidate/host_text.h"
#include "davinci/teacher/candidate/imported_forward.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

bool CandidateWriter::IsRepeated(KernelText* text) {
  static constexpr std::string_view kBegin = "@kernel\ndef ";
  if (!text->source.starts_with(kBegin) ||
      text->source.find(kBegin, kBegin.size()) != std::string::npos)
    return false;
  const size_t end = text->source.find('(');
  const std::string name = text->source.substr(kBegin.size(), end - kBegin.size());
  const auto [known, fresh] = kernels_by_text_.try_emplace(text->source.substr(end), name);
  if (fresh) return false;
  for (std::string& line : text->call) line = synth::WithWord(line, name, known->second);
  file_->names.erase(name);
  return true;
}

bool CandidateWriter::OnlyKernelsRead(Id id) const {
  if (std::find(p_.outputs.begin(), p_.outputs.end(), id) != p_.outputs.end()) return false;
  for (size_t i = 0; i < p_.values.size(); ++i) {
    const TensorValue& reader = p_.values[i];
    if (std::find(reader.operands.begin(), reader.operands.end(), id) == reader.operands.end())
      continue;
    const auto reads = static_cast<Id>(i);
    const bool inside =
        std::any_of(plan_.regions.begin(), plan_.regions.end(), [&](const Region& region) {
          return !region.outputs.empty() && std::find(region.members.begin(), region.members.end(),
                                                      reads) != region.members.end();
        });
    if (!inside && (reader.kind != Kind::kOpaque || !reader.own)) return false;
  }
  return true;
}

void CandidateWriter::NameShortly(KernelForm* form, bool product) {
  static const std::map<std::string, std::string> kSizes = {
      {"rows", "R"}, {"cols", "C"}, {"n", "N"}};
  for (LoopAxis& axis : form->axes) {
    const std::string before = axis.size;
    if (p_.graph.dims.IsConstant(axis.dim)) {
      axis.size = p_.SizeText(axis.dim);
    } else {
      const auto found = kSizes.find(axis.size);
      axis.size = found != kSizes.end() ? found->second : synth::Upper(axis.size);
    }
    for (auto& [name, id] : form->scalars)
      if (name == before) name = axis.size;
  }
  // Numbers of elements that means divide by are products of sizes that the kernel has.
  for (const auto* axes : {&form->reduced, &form->kept}) {
    std::vector<DimId> dims;
    std::string inside;
    for (const int axis : *axes) {
      dims.push_back(form->axes[static_cast<size_t>(axis)].dim);
      inside += (inside.empty() ? "" : " * ") + form->axes[static_cast<size_t>(axis)].size;
    }
    if (axes->empty()) continue;
    const std::string all = p_.SizeText(p_.Product(dims));
    for (auto& [name, id] : form->scalars) {
      if (p_[id].text == all || p_[id].text == Bracketed(all)) name = Bracketed(inside);
      if (p_[id].text == fmt::format("({} - 1)", all) ||
          p_[id].text == fmt::format("({} - 1)", Bracketed(all)))
        name = "(" + inside + " - 1)";
    }
  }
  int number = 0;
  for (auto& [name, id] : form->scalars)
    if (name[0] == 's') name = fmt::format("s{}", ++number);
  static constexpr std::string_view kNames = "xyzwuvpqabcdefgh";
  size_t next = product ? 3 : 0;  // its own tensors are x, y and z
  std::set<std::string> taken = {"a", "b"};
  for (auto* tensors : {&form->inputs, &form->outputs})
    for (KernelTensor& tensor : *tensors) {
      std::string name;
      do {
        name = kNames.substr(next % kNames.size(), 1);
        if (next >= kNames.size()) name += std::to_string(next / kNames.size());
        ++next;
      } while (product && taken.contains(name));
      tensor.name = tensor.output && form->outputs.size() == 1 ? "o" : name;
    }
}

// The reply for a user's module is written for what the task draws. Other arguments are not looked
// at.
std::string CandidateWriter::ImportedDelta(const std::string& kernels) const {
  const synth::ImportedParts& from = *task_.parts.imported;
  std::vector<std::string> lines, names;
  for (const std::string& input : task_.parts.inputs)
    if (read_inputs_.contains(input)) lines.push_back(fmt::format("{0} = {0}.contiguous()", input));
  if (!ReadConstants().empty())
    lines.insert(lines.end(), constant_lines_.begin(), constant_lines_.end());
  lines.insert(lines.end(), forward_.begin(), forward_.end());
  for (const Id output : p_.outputs) names.push_back(Name(output));
  lines.push_back("return " + Filled(from.result, names));
  std::map<std::string, size_t> ranks;
  for (size_t i = 0; i < graph_.inputs.size(); ++i)
    ranks[task_.parts.inputs[i]] = InputValue(i).shape.size();
  std::string text = kernels.empty() ? "" : kernels + "\n\n";
  // Functions that these texts call; those of the guard are left out with it.
  constexpr std::string_view kDef = "def ";
  for (size_t at = from.helpers.find(kDef); at != std::string::npos;
       at = from.helpers.find(kDef, at + 1)) {
    const size_t begin = at + kDef.size();
    const std::string name = from.helpers.substr(begin, from.helpers.find('(', begin) - begin);
    if (!synth::HasWord(from.first_lines + "\n" + from.result, name)) continue;
    text += from.helpers + "\n\n";
    break;
  }
  std::string indent = "    ";
  if (from.base.empty()) {
    text += fmt::format("def {}({}):\n", from.defined, from.signature);
  } else {
    text += fmt::format("class {}({}):\n    def forward(self{}{}):\n", from.defined, from.base,
                        from.signature.empty() ? "" : ", ", from.signature);
    indent = "        ";
  }
  for (const std::string_view line : synth::Split(from.first_lines, '\n'))
    if (!line.empty()) text += indent + std::string(line) + "\n";
  for (const std::string& line : ShortHostText(std::move(lines), ranks))
    text += indent + line + "\n";
  return text;
}

// The kernels, and a class that differs from the task's own in its forward alone.
std::string CandidateWriter::Delta(const std::string& kernels) const {
  if (task_.parts.imported) return ImportedDelta(kernels);
  std::vector<std::string> lines;
  for (const std::string& line : forward_) lines.push_back(line);
  lines.push_back("return " + ResultText());
  std::map<std::string, size_t> ranks;
  for (size_t i = 0; i < graph_.inputs.size(); ++i)
    ranks[task_.parts.inputs[i]] = InputValue(i).shape.size();
  std::string text = kernels.empty() ? "" : kernels + "\n\n";
  text += fmt::format("class {0}New({0}):\n", task_.entry);
  if (candidate_.rules.Contains(Rule::kReplayGraph)) text += "    @replay\n";
  text += fmt::format("    def forward(self, {}):\n", synth::Join(task_.parts.inputs, ", "));
  for (const std::string& line : ShortHostText(std::move(lines), ranks))
    text += "        " + line + "\n";
  return text;
}

}  // namespace davinci::teacher
