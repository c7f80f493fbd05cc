// Regions, each what one kernel computes: a space of axes, kept or reduced; every value of a region
// says which axes of the space its own axes are. A value without a reduced axis is computed once
// per kept position ("row value"), the others per element.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "davinci/teacher/program/program.h"

namespace davinci::teacher {

struct SpaceAxis {
  DimId size = synth::kNoDim;
  bool reduced = false;
  bool named = false;  // its index itself is a value: it may not be merged with another axis
};

// For every axis of a value the axes of the space it consists of, outermost first; none: size 1,
// or broadcast. `hidden`: what a reduced axis that was kept with size 1 consisted of.
struct Placement {
  std::vector<std::vector<int>> axes;
  std::vector<std::vector<int>> hidden;
};

struct Region {
  std::vector<SpaceAxis> space;
  std::vector<int> order;              // of the space, outermost first in memory
  std::vector<Id> members;             // in order of evaluation
  std::vector<Id> outputs;             // members that others read
  std::map<Id, Placement> placements;  // of members and of the leaves they read
  std::set<Id> turned;  // leaves that are read in the order in which their axes lie in memory
  bool HasReduction() const;
  bool IsPerElement(Id value) const;  // its placement has a reduced axis
};

struct Plan {
  // A region, or an opaque value or reshape of an existing tensor.
  struct Step {
    int region = -1;
    Id value = -1;
  };
  std::vector<Region> regions;
  std::vector<Step> steps;  // in order
};

}  // namespace davinci::teacher
