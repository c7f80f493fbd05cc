#include "davinci/teacher/regions/fusion.h"

#include <algorithm>
#include <utility>

#include "davinci/teacher/regions/schedule.h"

namespace davinci::teacher {
namespace {

using Kind = TensorValue::Kind;
using Axes = std::vector<int>;

bool InRegions(const TensorValue& value) {
  const Kind kind = value.kind;
  return (kind == Kind::kPoint && !value.virtual_) || kind == Kind::kReduce ||
         kind == Kind::kScan || kind == Kind::kReshape || kind == Kind::kLoad;
}

// Where operand's axis i lies in the region; null where that is not known.
const Placement* Known(Region& region, Id operand) {
  const auto found = region.placements.find(operand);
  return found == region.placements.end() ? nullptr : &found->second;
}

Axes ReducedAxes(const Region& region) {
  Axes axes;
  for (size_t a = 0; a < region.space.size(); ++a)
    if (region.space[a].reduced) axes.push_back(static_cast<int>(a));
  return axes;
}

bool CoversKept(const Region& region, const Placement& placement) {
  std::set<int> covered;
  for (const Axes& axes : placement.axes) covered.insert(axes.begin(), axes.end());
  for (size_t a = 0; a < region.space.size(); ++a)
    if (!region.space[a].reduced && !covered.contains(static_cast<int>(a))) return false;
  return true;
}

bool CoversAll(const Region& region, const Placement& placement) {
  std::set<int> covered;
  for (const Axes& axes : placement.axes) covered.insert(axes.begin(), axes.end());
  return covered.size() == region.space.size();
}

// One axis becomes two, `inner` within `outer`.
void Split(Region* region, int axis, int outer, int inner) {
  const auto replace = [&](std::vector<Axes>* all) {
    for (Axes& axes : *all)
      for (size_t i = 0; i < axes.size(); ++i)
        if (axes[i] == axis) {
          axes[i] = outer;
          axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(i) + 1, inner);
          ++i;
        }
  };
  for (auto& [id, placement] : region->placements) {
    replace(&placement.axes);
    replace(&placement.hidden);
  }
  const auto at = std::find(region->order.begin(), region->order.end(), axis);
  region->order.insert(at + 1, inner);
}

bool Divides(Program* program, DimId part, DimId whole) {
  const DimId rest = program->graph.dims.Binary('/', whole, part);
  return rest != synth::kNoDim && !program->IsOne(rest) &&
         program->Same(program->graph.dims.Binary('*', part, rest), whole);
}

bool LessThan(const Program& program, DimId a, DimId b) {
  return program.graph.dims.At(a, synth::Binding::kCuda) <
         program.graph.dims.At(b, synth::Binding::kCuda);
}

class Fuser {
 public:
  Fuser(Program* program, const RuleSet& rules) : p_(program), rules_(rules) {
    region_of_.assign(p_->values.size(), -1);
  }

  Plan Run() {
    std::vector<bool> needed(p_->values.size());
    for (const auto* ends : {&p_->outputs, &p_->effects})
      for (const Id end : *ends) needed[static_cast<size_t>(end)] = true;
    for (const auto& [value, buffer] : p_->updates) needed[static_cast<size_t>(value)] = true;
    for (size_t i = p_->values.size(); i-- > 0;)
      if (needed[i])
        for (const Id operand : p_->values[i].operands) needed[static_cast<size_t>(operand)] = true;
    for (size_t i = 0; i < p_->values.size(); ++i)
      if (needed[i] && InRegions(p_->values[i])) Place(static_cast<Id>(i));
    for (size_t i = 0; i < p_->values.size(); ++i) needed_.push_back(needed[i]);
    LeaveOutReshapes();
    return Schedule(*p_, std::move(regions_), region_of_, needed_);
  }

 private:
  const TensorValue& V(Id id) const { return (*p_)[id]; }

  // A region gives a value once where it would give it in two shapes: the other one is a view.
  void LeaveOutReshapes() {
    std::vector<std::vector<Id>> readers(p_->values.size());
    for (size_t i = 0; i < p_->values.size(); ++i)
      if (needed_[i])
        for (const Id operand : p_->values[i].operands)
          readers[static_cast<size_t>(operand)].push_back(static_cast<Id>(i));
    const auto given = [&](Id id) {
      const auto updates = std::count_if(p_->updates.begin(), p_->updates.end(),
                                         [&](const auto& update) { return update.first == id; });
      return updates > 0 ||
             std::find(p_->outputs.begin(), p_->outputs.end(), id) != p_->outputs.end();
    };
    for (size_t i = p_->values.size(); i-- > 0;) {
      const auto id = static_cast<Id>(i);
      const int region = region_of_[i];
      if (region < 0 || V(id).kind != Kind::kReshape || given(id)) continue;
      Id whole = id;
      while (V(whole).kind == Kind::kReshape) whole = V(whole).operands[0];
      const auto is_outside = [&](Id reader) {
        return region_of_[static_cast<size_t>(reader)] != region;
      };
      const auto& of_whole = readers[static_cast<size_t>(whole)];
      if (is_outside(whole) || !std::all_of(readers[i].begin(), readers[i].end(), is_outside) ||
          (!given(whole) && std::none_of(of_whole.begin(), of_whole.end(), is_outside)))
        continue;
      std::erase(R(region).members, id);
      R(region).placements.erase(id);
      region_of_[i] = -1;
    }
  }
  Region& R(int region) { return regions_[static_cast<size_t>(region)]; }

  // Whether `value` is computed from something of `region` that lies outside of it.
  bool DependsOn(Id value, int region) {
    ++search_;
    seen_values_.resize(region_of_.size());
    seen_regions_.resize(regions_.size());
    const auto first_time = [&](std::vector<int>& seen, int at) {
      return std::exchange(seen[static_cast<size_t>(at)], search_) != search_;
    };
    std::vector<Id> open = {value};
    while (!open.empty()) {
      const Id id = open.back();
      open.pop_back();
      const int other = region_of_[static_cast<size_t>(id)];
      if (other == region) return true;
      if (other < 0) {
        if (first_time(seen_values_, id))
          for (const Id operand : V(id).operands) open.push_back(operand);
      } else if (first_time(seen_regions_, other)) {  // all of a region is computed at once
        for (const Id member : R(other).members)
          for (const Id operand : V(member).operands) open.push_back(operand);
      }
    }
    return false;
  }

  void Place(Id id) {
    const TensorValue& value = V(id);
    if (value.kind == Kind::kReshape && region_of_[static_cast<size_t>(value.operands[0])] < 0)
      return;  // a view of a tensor that exists
    std::vector<int> candidates;
    for (const Id operand : p_->ReadInPlace(id)) {
      const int region = region_of_[static_cast<size_t>(operand)];
      if (region >= 0 &&
          std::find(candidates.begin(), candidates.end(), region) == candidates.end())
        candidates.push_back(region);
    }
    // Two reductions of the same elements of a tensor that exists.
    if (value.kind == Kind::kReduce && candidates.empty())
      for (size_t r = 0; r < regions_.size(); ++r)
        for (const Id member : regions_[r].members)
          if (V(member).kind == Kind::kReduce && V(member).operands == value.operands &&
              V(member).axes == value.axes &&
              std::find(candidates.begin(), candidates.end(), static_cast<int>(r)) ==
                  candidates.end())
            candidates.push_back(static_cast<int>(r));
    std::sort(candidates.rbegin(), candidates.rend());
    for (const int candidate : candidates) {
      if (!Allowed(candidate, id)) continue;
      bool cyclic = value.kind == Kind::kLoad && DependsOn(value.operands[0], candidate);
      for (const Id operand : value.operands)
        if (region_of_[static_cast<size_t>(operand)] != candidate)
          cyclic = cyclic || DependsOn(operand, candidate);
      if (cyclic) continue;
      // Other regions among the operands join, where they can.
      for (const int other : candidates)
        if (other != candidate && Allowed(other, id) &&
            (rules_.Contains(Rule::kFuseReductions) || !R(candidate).HasReduction() ||
             !R(other).HasReduction()))
          TryMerge(candidate, other, id);
      const Region saved = R(candidate);
      if (Add(candidate, id)) return;
      R(candidate) = saved;
    }
    if (value.kind == Kind::kReshape) return;
    regions_.emplace_back();
    const int fresh = static_cast<int>(regions_.size()) - 1;
    if (!Add(fresh, id)) regions_.pop_back();
  }

  // Whether the rules let `id` join the region: always within one operator.
  bool Allowed(int r, Id id) {
    const Region& region = R(r);
    bool same = true, vendor_matmul = false, vendor_conv = false, product = false;
    for (const Id member : region.members) {
      same = same && V(member).node == V(id).node;
      for (const Id operand : V(member).operands) {
        (V(operand).own ? product : vendor_matmul) |= V(operand).what == "matmul";
        vendor_conv = vendor_conv || V(operand).what == "conv";
      }
    }
    if (same) return true;
    if ((vendor_matmul && !rules_.Contains(Rule::kVendorMatmulEpilogue)) ||
        (vendor_conv && !rules_.Contains(Rule::kVendorConvEpilogue)) ||
        (product && !rules_.Contains(Rule::kProductEpilogue)))
      return false;
    const bool reduces = V(id).kind == Kind::kReduce || V(id).kind == Kind::kScan;
    if (region.HasReduction() && (reduces || OperatorReduces(id)))
      return rules_.Contains(Rule::kFuseReductions);
    if (region.HasReduction() || reduces) return rules_.Contains(Rule::kFuseAroundReduction);
    return rules_.Contains(Rule::kFusePointwise);
  }

  bool OperatorReduces(Id id) const {
    for (const TensorValue& value : p_->values)
      if (value.node == V(id).node && (value.kind == Kind::kReduce || value.kind == Kind::kScan))
        return true;
    return false;
  }

  bool AddPoint(int r, Id id) {
    Region& region = R(r);
    const TensorValue& value = V(id);
    const size_t rank = value.shape.size();
    Placement placement;
    placement.axes.resize(rank);
    placement.hidden.resize(rank);
    std::vector<bool> known(rank);
    const auto offset = [&](Id operand) { return rank - V(operand).shape.size(); };
    // From operands that broadcast in no way along the axis.
    for (const Id operand : p_->ReadInPlace(id)) {
      const Placement* of = Known(region, operand);
      if (of == nullptr) continue;
      for (size_t i = 0; i < of->axes.size(); ++i) {
        const size_t own = i + offset(operand);
        if (of->axes[i].empty()) {
          if (!of->hidden[i].empty() && placement.hidden[own].empty())
            placement.hidden[own] = of->hidden[i];
          continue;
        }
        if (known[own] && placement.axes[own] != of->axes[i]) return false;
        known[own] = true;
        placement.axes[own] = of->axes[i];
      }
    }
    for (size_t i = 0; i < rank; ++i) {
      if (known[i] || p_->IsOne(value.shape[i])) continue;
      // A reduced axis that was kept with size 1 becomes wide again.
      std::vector<DimId> sizes;
      for (const int axis : placement.hidden[i])
        sizes.push_back(region.space[static_cast<size_t>(axis)].size);
      if (!placement.hidden[i].empty() && p_->Same(p_->Product(sizes), value.shape[i])) {
        placement.axes[i] = placement.hidden[i];
        continue;
      }
      if (region.HasReduction()) return false;
      // A new axis, in front of the next known one.
      const int fresh = static_cast<int>(region.space.size());
      region.space.push_back({value.shape[i], false, false});
      int before = -1;
      for (size_t k = i + 1; k < rank && before < 0; ++k)
        if (!placement.axes[k].empty()) before = placement.axes[k].front();
      auto at = region.order.end();
      if (before >= 0) at = std::find(region.order.begin(), region.order.end(), before);
      region.order.insert(at, fresh);
      placement.axes[i] = {fresh};
    }
    for (size_t i = 0; i < rank; ++i)
      if (!placement.axes[i].empty()) placement.hidden[i].clear();
    return Accept(r, id, placement);
  }

  void PlaceOperands(Region* region, Id id, const Placement& placement) {
    const size_t rank = placement.axes.size();
    for (const Id operand : p_->ReadInPlace(id)) {
      const TensorValue& read = V(operand);
      if (read.kind == Kind::kScalar || Known(*region, operand) != nullptr) continue;
      Placement leaf;
      for (size_t i = 0; i < read.shape.size(); ++i) {
        const size_t own = i + rank - read.shape.size();
        leaf.axes.push_back(p_->IsOne(read.shape[i]) ? Axes{} : placement.axes[own]);
        leaf.hidden.emplace_back();
      }
      if (read.kind == Kind::kIota)
        for (const int axis : leaf.axes[static_cast<size_t>(read.axes[0])])
          region->space[static_cast<size_t>(axis)].named = true;
      region->placements[operand] = leaf;
      if (read.virtual_) PlaceOperands(region, operand, leaf);
    }
  }

  // Registers the leaves that `id` reads, then the value itself.
  bool Accept(int r, Id id, const Placement& placement) {
    Region& region = R(r);
    // x[:, None] * x[None, :] of a value of the region: two axes cannot be one axis of the space.
    std::set<int> seen;
    for (const Axes& axes : placement.axes)
      for (const int axis : axes)
        if (!seen.insert(axis).second) return false;
    PlaceOperands(&region, id, placement);
    // A value that leaves the region must have one element per kept position.
    if (!CoversKept(region, placement)) return false;
    for (const Id member : region.members)
      if (!CoversKept(region, region.placements[member])) return false;
    region.placements[id] = placement;
    region.members.push_back(id);
    region_of_[static_cast<size_t>(id)] = r;
    return true;
  }

  // The space of a tensor that the first member of a region reads.
  void PlaceWhole(Region* region, Id operand) {
    Placement leaf;
    for (const DimId size : V(operand).shape) {
      leaf.hidden.emplace_back();
      if (p_->IsOne(size)) {
        leaf.axes.emplace_back();
        continue;
      }
      leaf.axes.push_back({static_cast<int>(region->space.size())});
      region->order.push_back(static_cast<int>(region->space.size()));
      region->space.push_back({size, false, false});
    }
    region->placements[operand] = leaf;
  }

  // Makes the loops over `axes` of the operand run inside of those over the others.
  bool Reduced(Region* region, const Placement& of, const std::vector<int>& axes) {
    Axes reduced;
    for (const int axis : axes)
      reduced.insert(reduced.end(), of.axes[static_cast<size_t>(axis)].begin(),
                     of.axes[static_cast<size_t>(axis)].end());
    std::sort(reduced.begin(), reduced.end());
    if (reduced.empty() || !CoversAll(*region, of)) return false;
    const Axes before = ReducedAxes(*region);
    if (!before.empty()) return before == reduced;
    for (const Id member : region->members) {
      // What does not reach over all reduced axes would be computed again and again.
      if (!CoversAll(*region, region->placements[member])) return false;
    }
    for (const int axis : reduced) region->space[static_cast<size_t>(axis)].reduced = true;
    return true;
  }

  bool AddScan(int r, Id id) {
    Region& region = R(r);
    const TensorValue& value = V(id);
    const Id operand = value.operands[0];
    if (region.members.empty()) PlaceWhole(&region, operand);
    const Placement* of = Known(region, operand);
    if (of == nullptr) return false;
    const Axes& along = of->axes[static_cast<size_t>(value.axes[0])];
    if (along.size() != 1 || !Reduced(&region, *of, value.axes)) return false;
    region.space[static_cast<size_t>(along[0])].named = true;  // its order matters
    const Placement placement = *of;
    region.placements[id] = placement;
    region.members.push_back(id);
    region_of_[static_cast<size_t>(id)] = r;
    return true;
  }

  bool AddReduce(int r, Id id) {
    Region& region = R(r);
    const TensorValue& value = V(id);
    const Id operand = value.operands[0];
    const TensorValue& read = V(operand);
    if (region.members.empty()) PlaceWhole(&region, operand);
    const Placement* of = Known(region, operand);
    if (of == nullptr || !Reduced(&region, *of, value.axes)) return false;
    Placement placement;
    for (size_t i = 0; i < read.shape.size(); ++i) {
      const bool gone =
          std::find(value.axes.begin(), value.axes.end(), static_cast<int>(i)) != value.axes.end();
      if (gone && !value.keepdim) continue;
      placement.axes.push_back(gone ? Axes{} : of->axes[i]);
      placement.hidden.push_back(gone ? of->axes[i] : of->hidden[i]);
    }
    if (!CoversKept(region, placement)) return false;
    region.placements[id] = placement;
    region.members.push_back(id);
    region_of_[static_cast<size_t>(id)] = r;
    return true;
  }

  bool AddReshape(int r, Id id) {
    Region& region = R(r);
    const TensorValue& value = V(id);
    const Placement of = region.placements[value.operands[0]];
    Axes flat;
    for (const Axes& axes : of.axes) flat.insert(flat.end(), axes.begin(), axes.end());
    std::vector<Axes> hidden;
    for (size_t i = 0; i < of.axes.size(); ++i)
      if (!of.hidden[i].empty()) hidden.push_back(of.hidden[i]);
    Placement placement;
    size_t at = 0;
    for (const DimId size : value.shape) {
      placement.hidden.emplace_back();
      placement.axes.emplace_back();
      if (p_->IsOne(size)) {
        if (hidden.size() == 1) placement.hidden.back() = hidden[0];
        continue;
      }
      std::vector<DimId> sizes;
      bool done = false;
      while (!done) {
        if (at >= flat.size()) return false;
        const int axis = flat[at];
        const DimId next = region.space[static_cast<size_t>(axis)].size;
        sizes.push_back(next);
        const DimId product = p_->Product(sizes);
        if (p_->Same(product, size)) {
          placement.axes.back().push_back(axis);
          ++at;
          done = true;
        } else if (sizes.size() == 1 && Divides(p_, size, next)) {
          // The axis splits: its outer part is this size.
          const DimId rest = p_->graph.dims.Binary('/', next, size);
          const int inner = static_cast<int>(region.space.size());
          const SpaceAxis whole = region.space[static_cast<size_t>(axis)];
          region.space.push_back({rest, whole.reduced, whole.named});
          region.space[static_cast<size_t>(axis)].size = size;
          Split(&region, axis, axis, inner);
          placement.axes.back().push_back(axis);
          flat.insert(flat.begin() + static_cast<std::ptrdiff_t>(at) + 1, inner);
          ++at;
          done = true;
        } else if (LessThan(*p_, product, size)) {
          placement.axes.back().push_back(axis);
          ++at;
        } else {
          return false;
        }
      }
    }
    if (at != flat.size()) return false;
    region.placements[id] = placement;
    region.members.push_back(id);
    region_of_[static_cast<size_t>(id)] = r;
    return true;
  }

  bool Add(int r, Id id) {
    switch (V(id).kind) {
      case Kind::kPoint:
      case Kind::kLoad:
        return AddPoint(r, id);
      case Kind::kReduce:
        return AddReduce(r, id);
      case Kind::kScan:
        return AddScan(r, id);
      case Kind::kReshape:
        return AddReshape(r, id);
      default:
        return false;
    }
  }

  // `other` joins `into` where `id` reads both and their spaces are the same.
  void TryMerge(int into, int other, Id id) {
    if (DependsOnBoth(into, other)) return;
    const Region a = R(into), b = R(other);
    const size_t rank = V(id).shape.size();
    std::map<int, int> same;  // axis of b -> axis of a
    const auto pair = [&](const Axes& x, const Axes& y) {
      if (x.size() != y.size()) return false;
      for (size_t i = 0; i < x.size(); ++i) {
        const auto& ax = a.space[static_cast<size_t>(x[i])];
        const auto& by = b.space[static_cast<size_t>(y[i])];
        if (!p_->Same(ax.size, by.size) ||
            (ax.reduced != by.reduced && a.HasReduction() && b.HasReduction()))
          return false;
        const auto [found, added] = same.try_emplace(y[i], x[i]);
        if (!added && found->second != x[i]) return false;
      }
      return true;
    };
    std::vector<Axes> ours(rank), theirs(rank);
    for (const Id operand : p_->ReadInPlace(id)) {
      for (const bool first : {true, false}) {
        const Region& region = first ? a : b;
        if (region_of_[static_cast<size_t>(operand)] != (first ? into : other)) continue;
        const Placement& placement = region.placements.at(operand);
        const size_t shift = rank - placement.axes.size();
        for (size_t i = 0; i < placement.axes.size(); ++i) {
          const Axes& axes = placement.axes[i].empty() ? placement.hidden[i] : placement.axes[i];
          auto& own = (first ? ours : theirs)[i + shift];
          if (own.empty()) own = axes;
        }
      }
    }
    for (size_t i = 0; i < rank; ++i)
      if (!ours[i].empty() && !theirs[i].empty() && !pair(ours[i], theirs[i])) return;
    // Reduced axes that the values no longer show: in their order.
    Axes ra, rb;
    for (const int axis : a.order)
      if (a.space[static_cast<size_t>(axis)].reduced) ra.push_back(axis);
    for (const int axis : b.order)
      if (b.space[static_cast<size_t>(axis)].reduced && !same.contains(axis)) rb.push_back(axis);
    if (!rb.empty()) {
      std::erase_if(ra, [&](int axis) {
        return std::any_of(same.begin(), same.end(),
                           [&](const auto& entry) { return entry.second == axis; });
      });
      if (!pair(ra, rb)) return;
    }
    if (same.size() != b.space.size() || same.size() != a.space.size()) return;
    std::set<int> images;
    for (const auto& [from, to] : same) images.insert(to);
    if (images.size() != same.size()) return;
    Region merged = a;
    for (const auto& [from, to] : same) {
      auto& axis = merged.space[static_cast<size_t>(to)];
      axis.reduced = axis.reduced || b.space[static_cast<size_t>(from)].reduced;
      axis.named = axis.named || b.space[static_cast<size_t>(from)].named;
    }
    const auto rename = [&](Placement placement) {
      for (auto* all : {&placement.axes, &placement.hidden})
        for (Axes& axes : *all)
          for (int& axis : axes) axis = same.at(axis);
      return placement;
    };
    for (const auto& [value, placement] : b.placements) {
      const Placement renamed = rename(placement);
      const auto found = merged.placements.find(value);
      if (found != merged.placements.end() && found->second.axes != renamed.axes) return;
      merged.placements[value] = renamed;
    }
    merged.members.insert(merged.members.end(), b.members.begin(), b.members.end());
    std::sort(merged.members.begin(), merged.members.end());
    for (const Id member : merged.members)
      if (!CoversKept(merged, merged.placements[member])) return;
    R(into) = merged;
    for (const Id member : b.members) region_of_[static_cast<size_t>(member)] = into;
    R(other) = Region{};
  }

  bool DependsOnBoth(int into, int other) {
    for (const Id member : R(other).members)
      for (const Id operand : V(member).operands)
        if (region_of_[static_cast<size_t>(operand)] != other && DependsOn(operand, into))
          return true;
    for (const Id member : R(into).members)
      for (const Id operand : V(member).operands)
        if (region_of_[static_cast<size_t>(operand)] != into && DependsOn(operand, other))
          return true;
    return false;
  }

  Program* p_;
  RuleSet rules_;
  std::vector<Region> regions_;
  std::vector<int> region_of_;
  std::vector<bool> needed_;
  // The search of DependsOn() that was last at a value or region.
  std::vector<int> seen_values_, seen_regions_;
  int search_ = 0;
};

}  // namespace

Plan Fuse(Program* program, const RuleSet& rules) { return Fuser(program, rules).Run(); }

}  // namespace davinci::teacher
