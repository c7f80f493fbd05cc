#include "davinci/teacher/regions/memory_order.h"

#include <algorithm>
#include <utility>

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;
using AxisLists = std::vector<std::vector<int>>;

std::vector<int> Joined(const AxisLists& lists) {
  std::vector<int> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

bool IsAlong(const std::vector<int>& axes, const std::vector<int>& order) {
  const auto place = [&](int axis) { return std::ranges::find(order, axis) - order.begin(); };
  return std::ranges::is_sorted(axes, {}, place);
}

}  // namespace

void FollowMemory(const Program& program, Region* region) {
  // Members whose meaning does not depend on the order of their axes.
  for (const Id member : region->members)
    if ((program[member].kind != Kind::kPoint && program[member].kind != Kind::kReduce) ||
        program[member].virtual_)
      return;
  std::vector<int> order;
  std::set<Id> turned;
  for (const auto& [id, placement] : region->placements) {
    const TensorValue& value = program[id];
    if (value.kind == Kind::kIota || value.virtual_) return;
    if (value.kind != Kind::kLeaf || value.order.empty()) continue;
    AxisLists lists;
    for (const int axis : value.order) lists.push_back(placement.axes[static_cast<size_t>(axis)]);
    const std::vector<int> own = Joined(lists);
    if (own.size() != region->space.size()) return;
    if (order.empty()) order = own;
    if (order != own) return;
    turned.insert(id);
  }
  const auto fits = [&](const auto& entry) {
    return turned.contains(entry.first) || IsAlong(Joined(entry.second.axes), order) ||
           std::ranges::find(region->members, entry.first) != region->members.end();
  };
  const auto is_output_along = [&](Id output) {
    return IsAlong(Joined(region->placements.at(output).axes), order);
  };
  if (order.empty() || !region->HasReduction() || !std::ranges::all_of(region->placements, fits) ||
      !std::ranges::all_of(region->outputs, is_output_along))
    return;
  region->order = std::move(order);
  region->turned = std::move(turned);
}

}  // namespace davinci::teacher
