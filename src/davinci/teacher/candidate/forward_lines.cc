#include "davinci/teacher/candidate/forward_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/imported_forward.h"

namespace davinci::teacher {

using Kind = TensorValue::Kind;

std::string ForwardLines::Host(Id id) {
  const TensorValue& value = d_.program[id];
  if (value.kind == Kind::kLeaf) {
    if (!value.text.starts_with("self.")) d_.read_inputs.insert(value.text);
    return value.text;
  }
  return d_.Variable(id);
}

std::string ForwardLines::HostAsItLies(Id id) {
  d_.Use(Rule::kReadSlices);
  const TensorValue& leaf = d_.program[id];
  const std::string name = leaf.text + "_in_memory";
  std::vector<std::string> axes;
  for (const int axis : leaf.order) axes.push_back(std::to_string(axis));
  if (turned_inputs_.insert(name).second)
    d_.Line(
        fmt::format("{} = {}.permute({}).contiguous()", name, leaf.text, synth::Join(axes, ", ")));
  return name;
}

void ForwardLines::Opaque(Id id) {
  const TensorValue& value = d_.program[id];
  if (value.kind == Kind::kItem) {
    d_.Line(fmt::format("{} = {}{}", d_.Variable(id), d_.Variable(value.operands[0]),
                        value.text.empty() ? fmt::format("[{}]", value.item) : value.text));
  } else if (value.kind == Kind::kReshape) {
    const bool pointers = d_.language == Language::kCpp && d_.task.parts.imported;
    // A tensor that steps name has a line of that name in the answer.
    const bool named = d_.steps != nullptr && d_.program.results.contains(id);
    if (((d_.brief && !named) || pointers) && d_.program[value.operands[0]].contiguous &&
        !IsStrided(value.operands[0]) && d_.program[value.operands[0]].kind != Kind::kScalar &&
        OnlyKernelsRead(id)) {
      d_.aliases[id] = Host(value.operands[0]);
      return;
    }
    std::vector<std::string> sizes;
    for (const DimId dim : value.shape) sizes.push_back(d_.program.SizeText(dim));
    d_.Line(fmt::format("{} = {}.reshape({})", d_.Variable(id), d_.Name(value.operands[0]),
                        sizes.empty() ? "()" : synth::Join(sizes, ", ")));
    ReadInput(id);
    // It stays a view of what it was made of.
    if (d_.task.parts.imported && IsStrided(value.operands[0])) {
      strided_.insert(id);
      MakeContiguous(id);
    }
    return;
  } else {
    std::vector<std::string> names;
    for (const Id operand : value.operands) names.push_back(d_.Name(operand));
    const std::string text = IsLayer(value) ? fmt::format("{}({})", LayerOf(value), names[0])
                                            : Filled(value.text, names);
    d_.Line(value.effect ? text : fmt::format("{} = {}", d_.Variable(id), text));
    if (value.effect) return;
    // A library answers in the order of its operands' memory.
    if (d_.task.parts.imported && value.contiguous && !value.operands.empty() &&
        IsStrided(value.operands[0]))
      strided_.insert(id);
  }
  MakeContiguous(id);
}

std::string ForwardLines::LayerOf(const TensorValue& value) const {
  return value.node < 0 ? "" : d_.task.parts.nodes[static_cast<size_t>(value.node)].layer;
}

bool ForwardLines::IsLayer(const TensorValue& value) const {
  const std::string layer = LayerOf(value);
  if (!d_.brief || layer.empty() || (value.what != "conv" && value.what != "matmul")) return false;
  const size_t count = d_.graph.nodes[static_cast<size_t>(value.node)].inputs.size();
  const auto is = [&](size_t i, const char* weight) {
    const TensorValue& operand = d_.program[value.operands[i]];
    return operand.kind == Kind::kLeaf && operand.text == layer + weight;
  };
  return value.operands.size() == count && count >= 2 && is(1, ".weight") &&
         (count == 2 || is(2, ".bias"));
}

bool ForwardLines::IsStrided(Id id) const {
  const TensorValue& value = d_.program[id];
  return strided_.contains(id) ||
         ((value.kind == Kind::kOpaque || value.kind == Kind::kItem) && !value.contiguous);
}

void ForwardLines::ReadInput(Id id) {
  const Id root = d_.program[id].view_of;
  if (root < 0 || d_.program[root].kind != Kind::kLeaf || !IsReadByRegion(id)) return;
  Host(root);
}

bool ForwardLines::IsReadByRegion(Id id) const {
  return std::any_of(d_.plan.regions.begin(), d_.plan.regions.end(), [&](const Region& region) {
    return std::any_of(region.members.begin(), region.members.end(), [&](Id member) {
      const auto& operands = d_.program[member].operands;
      return std::any_of(operands.begin(), operands.end(), [&](Id operand) {
        return operand == id || d_.program[operand].view_of == id;
      });
    });
  });
}

void ForwardLines::MakeContiguous(Id id) {
  const TensorValue& value = d_.program[id];
  if (!value.strides.empty()) {
    if (IsReadByRegion(id)) d_.Use(Rule::kReadSlices);
    return ReadInput(id);
  }
  if ((value.contiguous && !strided_.contains(id)) || value.shape.empty()) return;
  bool read = false;
  for (const TensorValue& other : d_.program.values)
    read = read || (other.own && std::find(other.operands.begin(), other.operands.end(), id) !=
                                     other.operands.end());
  if (read || IsReadByRegion(id)) d_.Line(fmt::format("{0} = {0}.contiguous()", d_.Variable(id)));
}

bool ForwardLines::OnlyKernelsRead(Id id) const {
  if (std::find(d_.program.outputs.begin(), d_.program.outputs.end(), id) !=
      d_.program.outputs.end())
    return false;
  for (size_t i = 0; i < d_.program.values.size(); ++i) {
    const TensorValue& reader = d_.program.values[i];
    if (std::find(reader.operands.begin(), reader.operands.end(), id) == reader.operands.end())
      continue;
    const auto reads = static_cast<Id>(i);
    const bool inside =
        std::any_of(d_.plan.regions.begin(), d_.plan.regions.end(), [&](const Region& region) {
          return !region.outputs.empty() && std::find(region.members.begin(), region.members.end(),
                                                      reads) != region.members.end();
        });
    if (!inside && (reader.kind != Kind::kOpaque || !reader.own)) return false;
  }
  return true;
}

// Within the region: then the operand's element is read before the output's is written.
bool ForwardLines::DependsOn(const Region& region, Id output, Id operand) const {
  std::vector<Id> open = {output};
  std::set<Id> seen;
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    for (const Id read : d_.program[id].operands) {
      if (read == operand) return true;
      if (std::find(region.members.begin(), region.members.end(), read) != region.members.end())
        open.push_back(read);
    }
  }
  return false;
}

Id ForwardLines::Overwritten(const Region& region, Id output) {
  if (region.HasReduction() || d_.program[output].dtype != DType::kFloat || d_.steps != nullptr)
    return -1;
  for (const Id member : region.members)
    for (const Id operand : d_.program[member].operands) {
      const TensorValue& value = d_.program[operand];
      if (value.what != "conv" && value.what != "matmul") continue;
      const Rule rule =
          value.what == "conv" ? Rule::kVendorConvEpilogue : Rule::kVendorMatmulEpilogue;
      if (value.kind != Kind::kOpaque || !d_.Allows(rule) || value.view || value.own ||
          !value.contiguous || strided_.contains(operand) || value.dtype != DType::kFloat ||
          overwritten_.contains(operand) || d_.constants.contains(operand) ||
          !region.placements.contains(operand) ||
          region.placements.at(operand).axes != region.placements.at(output).axes)
        continue;
      if (std::any_of(region.members.begin(), region.members.end(), [&](Id reader) {
            return d_.program[reader].kind == Kind::kLoad &&
                   d_.program[reader].operands[0] == operand;
          }))
        continue;  // elements are read elsewhere than where they are written
      bool only_here = std::find(d_.program.outputs.begin(), d_.program.outputs.end(), operand) ==
                       d_.program.outputs.end();
      for (size_t i = 0; i < d_.program.values.size(); ++i) {
        const auto& reads = d_.program.values[i].operands;
        if (std::find(reads.begin(), reads.end(), operand) != reads.end() &&
            std::find(region.members.begin(), region.members.end(), static_cast<Id>(i)) ==
                region.members.end())
          only_here = false;
      }
      if (!only_here || !DependsOn(region, output, operand)) continue;
      overwritten_.insert(operand);
      d_.Use(rule);
      return operand;
    }
  return -1;
}

void ForwardLines::Allocate(const Region& region) {
  for (const Id output : region.outputs) {
    const TensorValue& value = d_.program[output];
    const auto update = std::find_if(d_.program.updates.begin(), d_.program.updates.end(),
                                     [&](const auto& stored) { return stored.first == output; });
    if (update != d_.program.updates.end() && d_.brief) {
      d_.aliases[output] = d_.program[update->second].text;
      continue;
    }
    if (update != d_.program.updates.end()) {
      d_.Line(fmt::format("{} = {}", d_.Variable(output), d_.program[update->second].text));
      continue;
    }
    if (const Id fresh = Overwritten(region, output); fresh >= 0) {
      if (d_.brief) {
        d_.aliases[output] = d_.Variable(fresh);
        continue;
      }
      d_.Line(fmt::format("{} = {}", d_.Variable(output), d_.Variable(fresh)));
      continue;
    }
    std::string like;
    for (size_t i = 0; i < d_.graph.inputs.size() && like.empty(); ++i) {
      const auto& input = d_.InputValue(i);
      bool same = input.dtype == DType::kFloat && value.dtype == DType::kFloat &&
                  input.foreign.empty() && input.shape.size() == value.shape.size() &&
                  !value.shape.empty();
      for (size_t k = 0; same && k < value.shape.size(); ++k)
        same = d_.program.Same(value.shape[k], input.shape[k]);
      if (same) like = d_.task.parts.inputs[i];
    }
    if (!like.empty()) {
      d_.read_inputs.insert(like);
      d_.Line(fmt::format("{} = torch.empty_like({})", d_.Variable(output), like));
      continue;
    }
    std::vector<std::string> sizes;
    for (const DimId dim : value.shape) sizes.push_back(d_.program.SizeText(dim));
    std::string input = d_.task.parts.inputs[0], type;
    if (value.dtype == DType::kFloat) {
      size_t alike = 0;
      while (alike < d_.graph.inputs.size() &&
             (d_.InputValue(alike).dtype != DType::kFloat || !d_.InputValue(alike).foreign.empty()))
        ++alike;
      if (alike < d_.graph.inputs.size())
        input = d_.task.parts.inputs[alike];
      else
        type = d_.graph.precision == synth::Precision::kFp32   ? "torch.float32"
               : d_.graph.precision == synth::Precision::kBf16 ? "torch.bfloat16"
                                                               : "torch.float16";
    } else {
      type = value.dtype == DType::kBool ? "torch.bool" : "torch.int64";
    }
    d_.Line(fmt::format("{} = {}.new_empty(({}{}){})", d_.Variable(output), input,
                        synth::Join(sizes, ", "), sizes.size() == 1 ? "," : "",
                        type.empty() ? "" : ", dtype=" + type));
  }
}

}  // namespace davinci::teacher
