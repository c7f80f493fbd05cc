// What changed between two states of a library, or between two libraries. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/skill/skill.h"

namespace davinci::skill {

struct Difference {
  enum class Kind { kAdded, kRemoved, kChanged } kind = Kind::kChanged;
  std::string name;
  std::vector<std::string> fields;  // of a changed one: "content", "evidence", "state", …
  std::optional<Record> before;     // not of an added one
  std::optional<Record> after;      // not of a removed one
};
std::string_view DifferenceName(Difference::Kind kind);

// By name. Positions never differ, and statistics only `with_usage`.
std::vector<Difference> Diff(const std::vector<Record>& before, const std::vector<Record>& after,
                             bool with_usage = false);

}  // namespace davinci::skill
