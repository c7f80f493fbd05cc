#include "davinci/base/placement.h"

#include <algorithm>

namespace davinci {

size_t PlaceFor(const std::vector<int>& under_way, size_t home, int slack) {
  const auto idlest = std::min_element(under_way.begin(), under_way.end());
  return under_way[home] > *idlest + slack ? static_cast<size_t>(idlest - under_way.begin()) : home;
}

}  // namespace davinci
