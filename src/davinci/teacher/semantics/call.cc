#include "davinci/teacher/semantics/call.h"

#include <fmt/format.h>

#include <cstdlib>

namespace davinci::teacher {
namespace {

Meaning Given(const Meanings& arguments, const Keywords& keywords, size_t at, const char* keyword) {
  if (at < arguments.size()) return arguments[at];
  const auto found = keywords.find(keyword);
  return found == keywords.end() ? Meaning{} : found->second;
}

template <typename Map, typename Value>
void AddOnce(Map* map, std::initializer_list<const char*> names, const Value& value) {
  for (const char* name : names)
    if (!map->emplace(name, value).second) std::abort();
}

}  // namespace

Meaning Call::Argument(size_t at, const char* keyword) const {
  return Given(arguments, keywords, at, keyword);
}

std::optional<size_t> Call::OneAxis(const Meaning& dim) const {
  const auto axes = Builder::Axes(dim, Rank());
  if (!axes.ok() || axes->size() != 1) return std::nullopt;
  return static_cast<size_t>((*axes)[0]);
}

Meaning ModuleCall::Argument(size_t at, const char* keyword) const {
  return Given(arguments, keywords, at, keyword);
}

Meaning ModuleCall::Number(const char* keyword, double otherwise) const {
  const Meaning given = Given({}, keywords, 0, keyword);
  return given.number ? given : Meaning::Number(otherwise);
}

Meaning ModuleCall::Weight(const std::string& weight, std::vector<DimId> shape) const {
  TensorValue leaf;
  leaf.text = path + "." + weight;
  leaf.shape = std::move(shape);
  for (size_t i = 0; i < leaf.shape.size(); ++i)
    if (!b.p.graph.dims.IsConstant(leaf.shape[i]))
      b.p.size_sources.emplace_back(leaf.shape[i], fmt::format("{}.shape[{}]", leaf.text, i));
  return Meaning::Tensor(b.p.Add(std::move(leaf)));
}

Call ModuleCall::As(const std::string& function) const {
  Meanings all = {inputs[0]};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return {b, defined, function, std::move(all), keywords};
}

void FunctionRegistry::Add(std::initializer_list<const char*> names, Function function) {
  AddOnce(&functions_, names, Entry{function, true});
}
void FunctionRegistry::AddFree(std::initializer_list<const char*> names, Function function) {
  AddOnce(&functions_, names, Entry{function, false});
}
void FunctionRegistry::AddModules(std::initializer_list<const char*> names,
                                  ModuleFunction function) {
  AddOnce(&modules_, names, function);
}

const FunctionRegistry::Entry* FunctionRegistry::Find(const std::string& name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : &found->second;
}

FunctionRegistry::ModuleFunction FunctionRegistry::FindModule(const std::string& name) const {
  const auto found = modules_.find(name);
  return found == modules_.end() ? nullptr : found->second;
}

std::vector<std::string> FunctionRegistry::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : functions_) names.push_back(name);
  for (const auto& [name, function] : modules_) names.push_back(name);
  return names;
}

}  // namespace davinci::teacher
