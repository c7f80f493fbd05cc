#include "davinci/teacher/regions/kernel_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;

// Axes of the region's space that a tensor has, in its order.
struct FlatTensor {
  std::vector<int> axes;
  std::map<int, int64_t> strides;  // by axis; empty: contiguous
};

FlatTensor Flat(const Placement& placement) {
  FlatTensor flat;
  for (const auto& axes : placement.axes)
    flat.axes.insert(flat.axes.end(), axes.begin(), axes.end());
  return flat;
}

// Axes of the kernel, in the order of a tensor whose axes lie in `order` in memory.
FlatTensor Flat(const Placement& placement, const std::vector<int>& order) {
  FlatTensor flat;
  for (const int axis : order) {
    const auto& axes = placement.axes[static_cast<size_t>(axis)];
    flat.axes.insert(flat.axes.end(), axes.begin(), axes.end());
  }
  return flat;
}

// Returns the axes of a view with strides, without those along which it is expanded.
FlatTensor Flat(const Program& p, const Region& region, const Placement& placement,
                const std::vector<int64_t>& strides) {
  FlatTensor flat;
  for (size_t i = 0; i < strides.size(); ++i) {
    if (strides[i] == 0) continue;
    const auto& axes = placement.axes[i];
    flat.axes.insert(flat.axes.end(), axes.begin(), axes.end());
    int64_t stride = strides[i];
    for (size_t k = axes.size(); k-- > 0;) {
      flat.strides[axes[k]] = stride;
      stride *= static_cast<int64_t>(
          p.At(region.space[static_cast<size_t>(axes[k])].size, synth::Binding::kCpu));
    }
  }
  return flat;
}

std::string NameFrom(const std::string& host) {
  std::string name;
  for (const char c : host.starts_with("self.") ? host.substr(5) : host)
    name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  while (name.find("__") != std::string::npos) name.erase(name.find("__"), 1);
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "t" + name : name;
}

void FindPasses(const Program& p, const Region& region, KernelForm* form) {
  form->pass.clear();
  form->num_passes = 1;
  for (const Id member : region.members) {
    int pass = 0;
    for (const Id operand : p[member].operands)
      if (const auto found = form->pass.find(operand); found != form->pass.end())
        pass = std::max(pass, found->second);
    if (const auto found = form->variance_of.find(member); found != form->variance_of.end())
      pass = form->pass.at(found->second);
    else if (p[member].kind == Kind::kReduce)
      ++pass;
    form->pass[member] = pass;
    if (region.IsPerElement(member) || pass > 0)
      form->num_passes = std::max(form->num_passes, region.IsPerElement(member) ? pass + 1 : pass);
  }
}

}  // namespace

bool KernelForm::IsSize(const std::string& scalar) const {
  return std::any_of(axes.begin(), axes.end(),
                     [&](const LoopAxis& axis) { return axis.size == scalar; });
}

bool KernelForm::Has(const KernelTensor& tensor, bool reduced_axes) const {
  return std::any_of(tensor.axes.begin(), tensor.axes.end(), [&](int axis) {
    return axes[static_cast<size_t>(axis)].reduced == reduced_axes;
  });
}

std::string KernelForm::Offset(const KernelTensor& tensor,
                               const std::function<std::string(int)>& index) const {
  std::string offset;
  for (size_t i = 0; i < tensor.strides.size(); ++i) {
    const std::string at = index(tensor.axes[i]);
    offset += offset.empty() ? "" : " + ";
    offset +=
        tensor.strides[i] == 1 ? at : fmt::format("{} * {}", Bracketed(at), tensor.strides[i]);
  }
  if (!tensor.strides.empty()) return offset;
  for (size_t i = 0; i < tensor.axes.size(); ++i) {
    std::string term = index(tensor.axes[i]);
    for (size_t k = i + 1; k < tensor.axes.size(); ++k)
      term =
          fmt::format("{} * {}", Bracketed(term), axes[static_cast<size_t>(tensor.axes[k])].size);
    offset += offset.empty() ? term : " + " + term;
  }
  // (a * n) * m reads better as a * n * m.
  for (size_t at = 0; (at = offset.find(" * ", at)) != std::string::npos; ++at) continue;
  return offset.empty() ? "0" : offset;
}

std::string KernelForm::Horner(const KernelTensor& tensor,
                               const std::function<std::string(int)>& index) const {
  std::string offset;
  for (const int axis : tensor.axes)
    offset = offset.empty() ? index(axis)
                            : fmt::format("{} * {} + {}", Bracketed(offset),
                                          axes[static_cast<size_t>(axis)].size, index(axis));
  return offset.empty() ? "0" : offset;
}

DimId KernelForm::Product(Program* program, const std::vector<int>& which) const {
  std::vector<DimId> dims;
  for (const int axis : which) dims.push_back(axes[static_cast<size_t>(axis)].dim);
  return program->Product(dims);
}

namespace {

// The region's axes in their order; those that stand side by side everywhere become one.
std::vector<std::vector<int>> JoinedAxes(const Program& p, const Region& region,
                                         const std::vector<FlatTensor>& flats) {
  std::vector<std::vector<int>> groups;
  for (const int axis : region.order) {
    bool joins = false;
    if (!groups.empty()) {
      const int last = groups.back().back();
      const SpaceAxis &a = region.space[static_cast<size_t>(last)],
                      &b = region.space[static_cast<size_t>(axis)];
      joins = a.reduced == b.reduced && !a.named && !b.named;
      for (const FlatTensor& flat : flats) {
        const auto at = std::find(flat.axes.begin(), flat.axes.end(), last);
        const bool has_b = std::find(flat.axes.begin(), flat.axes.end(), axis) != flat.axes.end();
        if (at == flat.axes.end()) {
          joins = joins && !has_b;
        } else {
          joins = joins && at + 1 != flat.axes.end() && *(at + 1) == axis;
        }
        if (joins && has_b && !flat.strides.empty())
          joins = flat.strides.at(last) ==
                  flat.strides.at(axis) * static_cast<int64_t>(p.At(b.size, synth::Binding::kCpu));
      }
    }
    if (joins)
      groups.back().push_back(axis);
    else
      groups.push_back({axis});
  }
  return groups;
}

// A loop for each group of axes.
void AddAxes(Program* program, const Region& region, const std::vector<std::vector<int>>& groups,
             KernelForm* form) {
  size_t num_kept = 0, num_reduced = 0;
  for (const auto& group : groups)
    ++(region.space[static_cast<size_t>(group[0])].reduced ? num_reduced : num_kept);
  for (const auto& group : groups) {
    LoopAxis axis;
    axis.reduced = region.space[static_cast<size_t>(group[0])].reduced;
    std::vector<DimId> dims;
    for (const int part : group) dims.push_back(region.space[static_cast<size_t>(part)].size);
    axis.dim = program->Product(dims);
    const auto index = static_cast<int>(form->axes.size());
    if (axis.reduced) {
      axis.size = num_reduced == 1 ? "cols" : fmt::format("c{}", form->reduced.size());
      axis.index = num_reduced == 1 ? "col" : fmt::format("k{}", form->reduced.size());
      form->reduced.push_back(index);
    } else {
      const bool single = num_kept == 1;
      axis.size = single ? (num_reduced > 0 ? "rows" : "n") : fmt::format("n{}", form->kept.size());
      axis.index = single ? (num_reduced > 0 ? "row" : "i") : fmt::format("i{}", form->kept.size());
      form->kept.push_back(index);
    }
    for (const int part : group) form->axis_of[part] = index;
    form->axes.push_back(axis);
  }
}

}  // namespace

KernelForm MakeForm(Program* program, const Region& region, const std::string& name,
                    const std::function<std::string(Id)>& name_of,
                    const std::set<std::string>& reserved) {
  const Program& p = *program;
  KernelForm form;
  form.name = name;
  // Tensors and scalars in the order in which they are read.
  std::set<Id> members(region.members.begin(), region.members.end()), seen;
  std::set<std::string> names = reserved;
  const auto unique = [&](std::string base) {
    std::string own = base;
    for (int n = 2; !names.insert(own).second; ++n) own = fmt::format("{}{}", base, n);
    return own;
  };
  for (const char* word : {"rows", "cols",    "n",    "row",    "col",   "inside", "start",  "i",
                           "in",   "int64_t", "self", "lambda", "float", "int",    "double", "tl",
                           "l",    "for",     "at",   "lane",   "here",  "first",  "whole"})
    names.insert(word);
  std::vector<FlatTensor> flats;
  const std::function<void(Id)> read = [&](Id reader) {
    for (const Id operand : p[reader].operands) {
      if (members.contains(operand) || !seen.insert(operand).second) continue;
      if (p[operand].kind == Kind::kScalar) {
        if (!p[operand].number)
          form.scalars.emplace_back(unique(fmt::format("s{}", operand)), operand);
        continue;
      }
      if (p[operand].kind == Kind::kIota) continue;
      if (p[operand].virtual_) {
        read(operand);
        continue;
      }
      const std::string host = name_of(operand);
      form.inputs.push_back({operand, unique(NameFrom(host)), host, false, {}});
      // The source of loads alone has no place of its own.
      const auto placed = region.placements.find(operand);
      if (placed == region.placements.end())
        flats.emplace_back();
      else if (region.turned.contains(operand))
        flats.push_back(Flat(placed->second, p[operand].order));
      else if (!p[operand].strides.empty())
        flats.push_back(Flat(p, region, placed->second, p[operand].strides));
      else
        flats.push_back(Flat(placed->second));
    }
  };
  for (const Id member : region.members) read(member);
  for (const Id output : region.outputs) {
    const std::string host = name_of(output);
    form.outputs.push_back(
        {output, unique(region.outputs.size() == 1 ? "out" : NameFrom(host)), host, true, {}});
    flats.push_back(Flat(region.placements.at(output)));
  }
  AddAxes(program, region, JoinedAxes(p, region, flats), &form);
  size_t at = 0;
  for (auto* tensors : {&form.inputs, &form.outputs})
    for (KernelTensor& tensor : *tensors) {
      const FlatTensor& flat = flats[at];
      for (const int axis : flat.axes) {
        const int group = form.axis_of.at(axis);
        const bool fresh = tensor.axes.empty() || tensor.axes.back() != group;
        if (fresh) tensor.axes.push_back(group);
        if (flat.strides.empty()) continue;
        if (fresh) tensor.strides.emplace_back();
        tensor.strides.back() = flat.strides.at(axis);  // of the innermost one
      }
      ++at;
    }
  // A number of elements that a mean divides by is a size that the kernel has.
  for (auto& [scalar, id] : form.scalars)
    for (const LoopAxis& axis : form.axes)
      if (p[id].axes.empty() && p[id].text == Bracketed(p.SizeText(axis.dim))) scalar = axis.size;
  FindPasses(p, region, &form);
  return form;
}

void FindVariances(Program* program, const Region& region, KernelForm* form) {
  const Program& p = *program;
  const auto point = [&](Id id, const char* name) {
    return p[id].kind == Kind::kPoint && p[id].primitive->name == name;
  };
  const auto is_sum = [&](Id id) {
    return p[id].kind == Kind::kReduce && p[id].reduce == ReduceKind::kSum;
  };
  for (const Id squares : region.members) {
    if (!is_sum(squares)) continue;
    const Id square = p[squares].operands[0];
    if (!point(square, "mul") || p[square].operands[0] != p[square].operands[1]) continue;
    const Id difference = p[square].operands[0];
    if (!point(difference, "sub")) continue;
    const Id element = p[difference].operands[0], mean = p[difference].operands[1];
    if (!point(mean, "div") || !region.IsPerElement(element)) continue;
    const Id sum = p[mean].operands[0], count = p[mean].operands[1];
    // Squares about a mean are no elements of the pass that finds this mean.
    if (form->variance_of.contains(sum)) continue;
    if (!is_sum(sum) || p[sum].operands[0] != element || p[sum].axes != p[squares].axes ||
        p[count].kind != Kind::kScalar || !form->pass.contains(sum))
      continue;
    std::vector<DimId> sizes;
    for (const int axis : p[sum].axes) sizes.push_back(p[element].shape[static_cast<size_t>(axis)]);
    const DimId all = program->Product(sizes);
    const bool counts =
        p[count].number
            ? p.graph.dims.IsConstant(all) &&
                  p[count].number.value() == p.At(all, synth::Binding::kCuda)
            : p[count].text == p.SizeText(all) || p[count].text == Bracketed(p.SizeText(all));
    if (counts) form->variance_of[squares] = sum;
  }
  if (!form->variance_of.empty()) FindPasses(p, region, form);
}

}  // namespace davinci::teacher
