#include "davinci/agent/scheme.h"

#include <map>
#include <set>

namespace davinci::agent {

DedupedSchemes DedupeSchemes(const std::vector<Scheme>& schemes) {
  DedupedSchemes result;
  std::map<std::set<std::string>, size_t> seen;
  for (const Scheme& scheme : schemes) {
    const auto [place, is_new] =
        seen.try_emplace({scheme.skills.begin(), scheme.skills.end()}, result.schemes.size());
    if (is_new) result.schemes.push_back(scheme);
    result.index_of.push_back(place->second);
  }
  return result;
}

}  // namespace davinci::agent
