#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/candidate_writer.h"
#include "davinci/teacher/templates/kernel_templates.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

std::string CandidateWriter::Host(Id id) {
  const TensorValue& value = p_[id];
  if (value.kind == Kind::kLeaf) {
    if (!value.text.starts_with("self.")) read_inputs_.insert(value.text);
    return value.text;
  }
  return Variable(id);
}

std::string CandidateWriter::HostAsItLies(Id id) {
  Use(Rule::kReadSlices);
  const TensorValue& leaf = p_[id];
  const std::string name = leaf.text + "_in_memory";
  std::vector<std::string> axes;
  for (const int axis : leaf.order) axes.push_back(std::to_string(axis));
  if (turned_inputs_.insert(name).second)
    Line(fmt::format("{} = {}.permute({}).contiguous()", name, leaf.text, synth::Join(axes, ", ")));
  return name;
}

void CandidateWriter::Opaque(Id id) {
  const TensorValue& value = p_[id];
  if (value.kind == Kind::kItem) {
    Line(fmt::format("{} = {}{}", Variable(id), Variable(value.operands[0]),
                     value.text.empty() ? fmt::format("[{}]", value.item) : value.text));
  } else if (value.kind == Kind::kReshape) {
    const bool pointers = language_ == Language::kCpp && task_.parts.imported;
    if ((brief_ || pointers) && p_[value.operands[0]].contiguous && !IsStrided(value.operands[0]) &&
        p_[value.operands[0]].kind != Kind::kScalar && OnlyKernelsRead(id)) {
      aliases_[id] = Host(value.operands[0]);
      return;
    }
    std::vector<std::string> sizes;
    for (const DimId dim : value.shape) sizes.push_back(p_.SizeText(dim));
    Line(fmt::format("{} = {}.reshape({})", Variable(id), Name(value.operands[0]),
                     sizes.empty() ? "()" : synth::Join(sizes, ", ")));
    // It stays a view of what it was made of.
    if (task_.parts.imported && IsStrided(value.operands[0])) {
      strided_.insert(id);
      MakeContiguous(id);
    }
    return;
  } else {
    std::vector<std::string> names;
    for (const Id operand : value.operands) names.push_back(Name(operand));
    const std::string text = Filled(value.text, names);
    Line(value.effect ? text : fmt::format("{} = {}", Variable(id), text));
    if (value.effect) return;
    // A library answers in the order of its operands' memory.
    if (task_.parts.imported && value.contiguous && !value.operands.empty() &&
        IsStrided(value.operands[0]))
      strided_.insert(id);
  }
  MakeContiguous(id);
}

bool CandidateWriter::OwnTemplate(Id id) {
  const TensorValue& value = p_[id];
  if (value.kind != Kind::kOpaque || value.kernel.empty()) return false;
  const auto text = EmitTemplate({&p_, id, UniqueName(value.kernel), Variable(id),
                                  [&](Id read) { return Host(read); }, rules_},
                                 language_);
  if (!text) {
    const bool vendor = FlashAttention() && value.kernel == "attention";
    if (value.node >= 0 && !vendor) {
      const auto node = static_cast<size_t>(value.node);
      candidate_.left.push_back(
          {graph_.nodes[node].label, p_.calls[node].kind, "no template for these sizes or rules"});
    }
    return false;
  }
  Take(*text);
  templates_.insert(id);
  candidate_.rules.Insert(text->used);
  MakeContiguous(id);
  return true;
}

bool CandidateWriter::IsStrided(Id id) const {
  const TensorValue& value = p_[id];
  return strided_.contains(id) ||
         ((value.kind == Kind::kOpaque || value.kind == Kind::kItem) && !value.contiguous);
}

void CandidateWriter::MakeContiguous(Id id) {
  const TensorValue& value = p_[id];
  if ((value.contiguous && !strided_.contains(id)) || value.shape.empty()) return;
  bool read = false;
  for (const TensorValue& other : p_.values)
    read = read || (other.own && std::find(other.operands.begin(), other.operands.end(), id) !=
                                     other.operands.end());
  if (read) {
    Line(fmt::format("{0} = {0}.contiguous()", Variable(id)));
    return;
  }
  for (const Region& region : plan_.regions)
    if (std::any_of(region.members.begin(), region.members.end(), [&](Id member) {
          const auto& operands = p_[member].operands;
          return std::find(operands.begin(), operands.end(), id) != operands.end();
        })) {
      Line(fmt::format("{0} = {0}.contiguous()", Variable(id)));
      return;
    }
}

std::string CandidateWriter::Name(Id id) const {
  return p_[id].kind == Kind::kLeaf ? p_[id].text
         : p_[id].kind == Kind::kScalar
             ? (p_[id].number ? fmt::format("{}", *p_[id].number) : p_[id].text)
             : Variable(id);
}

const synth::Value& CandidateWriter::InputValue(size_t i) const {
  return graph_.values[static_cast<size_t>(graph_.inputs[i])];
}

// Within the region: then the operand's element is read before the output's is written.
bool CandidateWriter::DependsOn(const Region& region, Id output, Id operand) const {
  std::vector<Id> open = {output};
  std::set<Id> seen;
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    for (const Id read : p_[id].operands) {
      if (read == operand) return true;
      if (std::find(region.members.begin(), region.members.end(), read) != region.members.end())
        open.push_back(read);
    }
  }
  return false;
}

Id CandidateWriter::Overwritten(const Region& region, Id output) {
  if (region.HasReduction() || p_[output].dtype != DType::kFloat) return -1;
  for (const Id member : region.members)
    for (const Id operand : p_[member].operands) {
      const TensorValue& value = p_[operand];
      if (value.what != "conv" && value.what != "matmul") continue;
      const Rule rule =
          value.what == "conv" ? Rule::kVendorConvEpilogue : Rule::kVendorMatmulEpilogue;
      if (value.kind != Kind::kOpaque || !Allows(rule) || value.view || value.own ||
          !value.contiguous || strided_.contains(operand) || value.dtype != DType::kFloat ||
          overwritten_.contains(operand) || constants_.contains(operand) ||
          !region.placements.contains(operand) ||
          region.placements.at(operand).axes != region.placements.at(output).axes)
        continue;
      if (std::any_of(region.members.begin(), region.members.end(), [&](Id reader) {
            return p_[reader].kind == Kind::kLoad && p_[reader].operands[0] == operand;
          }))
        continue;  // elements are read elsewhere than where they are written
      bool only_here = std::find(p_.outputs.begin(), p_.outputs.end(), operand) == p_.outputs.end();
      for (size_t i = 0; i < p_.values.size(); ++i) {
        const auto& reads = p_.values[i].operands;
        if (std::find(reads.begin(), reads.end(), operand) != reads.end() &&
            std::find(region.members.begin(), region.members.end(), static_cast<Id>(i)) ==
                region.members.end())
          only_here = false;
      }
      if (!only_here || !DependsOn(region, output, operand)) continue;
      overwritten_.insert(operand);
      Use(rule);
      return operand;
    }
  return -1;
}

void CandidateWriter::Allocate(const Region& region) {
  for (const Id output : region.outputs) {
    const TensorValue& value = p_[output];
    const auto update = std::find_if(p_.updates.begin(), p_.updates.end(),
                                     [&](const auto& stored) { return stored.first == output; });
    if (update != p_.updates.end() && brief_) {
      aliases_[output] = p_[update->second].text;
      continue;
    }
    if (update != p_.updates.end()) {
      Line(fmt::format("{} = {}", Variable(output), p_[update->second].text));
      continue;
    }
    if (const Id fresh = Overwritten(region, output); fresh >= 0) {
      if (brief_) {
        aliases_[output] = Variable(fresh);
        continue;
      }
      Line(fmt::format("{} = {}", Variable(output), Variable(fresh)));
      continue;
    }
    std::string like;
    for (size_t i = 0; i < graph_.inputs.size() && like.empty(); ++i) {
      const auto& input = InputValue(i);
      bool same = input.dtype == DType::kFloat && value.dtype == DType::kFloat &&
                  input.foreign.empty() && input.shape.size() == value.shape.size() &&
                  !value.shape.empty();
      for (size_t k = 0; same && k < value.shape.size(); ++k)
        same = p_.Same(value.shape[k], input.shape[k]);
      if (same) like = task_.parts.inputs[i];
    }
    if (!like.empty()) {
      read_inputs_.insert(like);
      Line(fmt::format("{} = torch.empty_like({})", Variable(output), like));
      continue;
    }
    std::vector<std::string> sizes;
    for (const DimId dim : value.shape) sizes.push_back(p_.SizeText(dim));
    std::string input = task_.parts.inputs[0], type;
    if (value.dtype == DType::kFloat) {
      size_t alike = 0;
      while (alike < graph_.inputs.size() &&
             (InputValue(alike).dtype != DType::kFloat || !InputValue(alike).foreign.empty()))
        ++alike;
      if (alike < graph_.inputs.size())
        input = task_.parts.inputs[alike];
      else
        type = graph_.precision == synth::Precision::kFp32   ? "torch.float32"
               : graph_.precision == synth::Precision::kBf16 ? "torch.bfloat16"
                                                             : "torch.float16";
    } else {
      type = value.dtype == DType::kBool ? "torch.bool" : "torch.int64";
    }
    Line(fmt::format("{} = {}.new_empty(({}{}){})", Variable(output), input,
                     synth::Join(sizes, ", "), sizes.size() == 1 ? "," : "",
                     type.empty() ? "" : ", dtype=" + type));
  }
}

}  // namespace davinci::teacher
