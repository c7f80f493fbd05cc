// The order of a plan's steps: regions and calls of PyTorch, each behind what it reads. Internal.
#pragma once

#include <vector>

#include "davinci/teacher/regions/region.h"

namespace davinci::teacher {

// `region_of`: by value, -1 for none. `needed`: by value.
Plan Schedule(const Program& p, std::vector<Region> regions, const std::vector<int>& region_of,
              const std::vector<bool>& needed);

}  // namespace davinci::teacher
