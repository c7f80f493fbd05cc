#include "davinci/teacher/regions/region.h"

#include <algorithm>

namespace davinci::teacher {

bool Region::HasReduction() const {
  return std::any_of(space.begin(), space.end(),
                     [](const SpaceAxis& axis) { return axis.reduced; });
}

bool Region::IsPerElement(Id value) const {
  const auto found = placements.find(value);
  if (found == placements.end()) return false;
  for (const auto& axes : found->second.axes)
    for (const int axis : axes)
      if (space[static_cast<size_t>(axis)].reduced) return true;
  return false;
}

}  // namespace davinci::teacher
