// Which values one kernel computes. A region has a space of axes, each kept or reduced; every value
// of the region says which axes of the space its own axes are. A value without a reduced axis is
// computed once per kept position ("row value"), the others per element.
//
// Pure: the same program and rules give the same regions.
#pragma once

#include <set>
#include <string>
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

// Without rules a region holds what one operator of the graph computes. Adds sizes to the program:
// parts of axes that a reshape splits.
Plan Fuse(Program* program, const RuleSet& rules);

}  // namespace davinci::teacher
