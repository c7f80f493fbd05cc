// Scheme: the ordered set of skills given to one group of rollouts. The null scheme has none and is
// the control. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace davinci::agent {

struct Scheme {
  std::vector<std::string> skills;  // names, in order of injection; no name twice

  bool IsNull() const { return skills.empty(); }
  bool operator==(const Scheme&) const = default;
};

struct DedupedSchemes {
  std::vector<Scheme> schemes;   // the first of each set, in the order first seen
  std::vector<size_t> index_of;  // index_of[i]: where input i is found in `schemes`
};

// Two schemes are the same when they hold the same set of names: order changes the prompt a little,
// the experiment not at all. A selection that chose nothing is therefore the null scheme.
DedupedSchemes DedupeSchemes(const std::vector<Scheme>& schemes);

}  // namespace davinci::agent
