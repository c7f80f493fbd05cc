#include "davinci/teacher/regions/schedule.h"

#include <set>
#include <utility>

namespace davinci::teacher {

namespace {

using Kind = TensorValue::Kind;

// Known without memory: computed where it is read.
bool IsIndex(const TensorValue& value) { return value.kind == Kind::kIota || value.virtual_; }

}  // namespace

Plan Schedule(const Program& p, std::vector<Region> regions, const std::vector<int>& region_of,
              const std::vector<bool>& needed) {
  Plan plan;
  // Reads from outside make a member an output.
  std::vector<std::set<int>> readers(p.values.size());  // regions; -1 an opaque value
  for (size_t i = 0; i < p.values.size(); ++i) {
    if (!needed[i]) continue;
    for (const Id operand : p.values[i].operands)
      readers[static_cast<size_t>(operand)].insert(region_of[i]);
  }
  for (const Id output : p.outputs) readers[static_cast<size_t>(output)].insert(-1);
  for (const auto& [value, buffer] : p.updates) readers[static_cast<size_t>(value)].insert(-1);
  std::vector<bool> done(p.values.size());
  std::vector<bool> emitted(regions.size());
  for (size_t r = 0; r < regions.size(); ++r) {
    for (const Id member : regions[r].members) {
      const auto& by = readers[static_cast<size_t>(member)];
      if (by.size() > 1 || (by.size() == 1 && *by.begin() != static_cast<int>(r)))
        regions[r].outputs.push_back(member);
    }
  }
  const auto ready = [&](Id id, int region) {
    for (const Id operand : p[id].operands) {
      if (region >= 0 && region_of[static_cast<size_t>(operand)] == region) continue;
      const Kind kind = p[operand].kind;
      if (kind == Kind::kLeaf || kind == Kind::kScalar || IsIndex(p[operand])) continue;
      if (!done[static_cast<size_t>(operand)]) return false;
    }
    return true;
  };
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < p.values.size(); ++i) {
      const auto id = static_cast<Id>(i);
      const Kind kind = p[id].kind;
      if (done[i] || !needed[i] || kind == Kind::kLeaf || kind == Kind::kScalar || IsIndex(p[id]))
        continue;
      const int r = region_of[i];
      if (r < 0) {
        if (!ready(id, -1)) continue;
        plan.steps.push_back({-1, id});
        done[i] = more = true;
        continue;
      }
      if (emitted[static_cast<size_t>(r)]) continue;
      const Region& region = regions[static_cast<size_t>(r)];
      bool all = true;
      for (const Id member : region.members) all = all && ready(member, r);
      if (!all) continue;
      emitted[static_cast<size_t>(r)] = more = true;
      for (const Id member : region.members) done[static_cast<size_t>(member)] = true;
      plan.steps.push_back({static_cast<int>(r), -1});
    }
  }
  plan.regions = std::move(regions);
  return plan;
}

}  // namespace davinci::teacher
