#include "davinci/skill/difference.h"

#include <map>
#include <utility>

namespace davinci::skill {
namespace {

std::vector<std::string> ChangedFields(const Record& a, const Record& b, bool with_usage) {
  std::vector<std::string> fields;
  const auto note = [&](bool same, const char* field) {
    if (!same) fields.emplace_back(field);
  };
  note(a.skill.description == b.skill.description, "description");
  note(a.skill.scope == b.skill.scope, "scope");
  note(a.skill.tags == b.skill.tags, "tags");
  note(a.skill.content == b.skill.content, "content");
  note(nlohmann::json(a.skill.extra) == nlohmann::json(b.skill.extra), "extra");
  note(a.evidence == b.evidence, "evidence");
  note(a.state == b.state, "state");
  if (with_usage) note(a.usage == b.usage, "usage");
  return fields;
}

}  // namespace

std::string_view DifferenceName(Difference::Kind kind) {
  switch (kind) {
    case Difference::Kind::kAdded:
      return "added";
    case Difference::Kind::kRemoved:
      return "removed";
    case Difference::Kind::kChanged:
      return "changed";
  }
  return "unknown";
}

std::vector<Difference> Diff(const std::vector<Record>& before, const std::vector<Record>& after,
                             bool with_usage) {
  std::map<std::string_view, std::pair<const Record*, const Record*>> pairs;
  for (const Record& record : before) pairs[record.skill.name].first = &record;
  for (const Record& record : after) pairs[record.skill.name].second = &record;
  std::vector<Difference> differences;
  for (const auto& [name, pair] : pairs) {
    const auto& [a, b] = pair;
    Difference difference;
    difference.name = name;
    if (a != nullptr) difference.before = *a;
    if (b != nullptr) difference.after = *b;
    if (a == nullptr) {
      difference.kind = Difference::Kind::kAdded;
    } else if (b == nullptr) {
      difference.kind = Difference::Kind::kRemoved;
    } else {
      difference.fields = ChangedFields(*a, *b, with_usage);
      if (difference.fields.empty()) continue;
    }
    differences.push_back(std::move(difference));
  }
  return differences;
}

}  // namespace davinci::skill
