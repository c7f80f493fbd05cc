// Which of several equal places takes the next piece of work.
#pragma once

#include <cstddef>
#include <vector>

namespace davinci {

// `home`, where the work finds what it shares with other work, unless that has more than `slack`
// pieces more under way than the idlest place, which is then the answer.
size_t PlaceFor(const std::vector<int>& under_way, size_t home, int slack);

}  // namespace davinci
