#include "davinci/skill/library_in_force.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "davinci/skill/formats.h"
#include "davinci/skill/library.h"

namespace davinci::skill {
namespace {

namespace fs = std::filesystem;

constexpr size_t kProblemsShown = 10;

Result<std::vector<Record>> ReadSource(const std::string& source) {
  std::error_code error;
  if (!fs::exists(source, error)) return NotFound(fmt::format("no such skill library: {}", source));
  const fs::path path(source);
  if (!fs::is_directory(path, error) && path.extension() != ".jsonl" && path.extension() != ".md") {
    DAVINCI_ASSIGN_OR_RETURN(auto library, Library::Open(path, {}));
    return library->All(/*with_inactive=*/true);
  }
  DAVINCI_ASSIGN_OR_RETURN(ReadResult read, ReadSkills(path));
  if (!read.problems.empty()) {
    std::string list;
    for (size_t i = 0; i < std::min(read.problems.size(), kProblemsShown); ++i)
      list += fmt::format("\n  {}: {}", read.problems[i].where, read.problems[i].what);
    if (read.problems.size() > kProblemsShown)
      list += fmt::format("\n  … and {} more", read.problems.size() - kProblemsShown);
    return InvalidArgument(
        fmt::format("{} entries of {} are no skills:{}", read.problems.size(), source, list));
  }
  std::vector<Record> records;
  for (Document& document : read.documents) {
    Record record;
    record.skill = std::move(document.skill);
    record.evidence = std::move(document.evidence);
    records.push_back(std::move(record));
  }
  return records;
}

void JoinEvidence(const Record& later, Record* record) {
  for (const Evidence& one : later.evidence) {
    const Evidence* known = record->EvidenceLike(one);
    if (known != nullptr && known->last_verified >= one.last_verified) continue;
    std::erase_if(record->evidence, [&](const Evidence& e) { return SameSubject(e, one); });
    record->evidence.push_back(one);
  }
  std::sort(record->evidence.begin(), record->evidence.end(),
            [](const Evidence& a, const Evidence& b) {
              return a.target != b.target ? a.target < b.target : a.language < b.language;
            });
}

}  // namespace

bool SameAdvice(const Skill& a, const Skill& b) {
  Skill left = a;
  Skill right = b;
  left.extra.erase("verify_speedup");
  right.extra.erase("verify_speedup");
  return left == right;
}

Result<std::vector<Record>> ReadTogether(const std::vector<std::string>& sources) {
  std::vector<Record> together;
  std::map<std::string, size_t> place;
  for (const std::string& source : sources) {
    DAVINCI_ASSIGN_OR_RETURN(std::vector<Record> records, ReadSource(source));
    for (Record& record : records) {
      const auto [at, fresh] = place.try_emplace(record.skill.name, together.size());
      if (fresh) {
        together.push_back(std::move(record));
      } else if (SameAdvice(together[at->second].skill, record.skill)) {
        JoinEvidence(record, &together[at->second]);
      }
    }
  }
  return together;
}

}  // namespace davinci::skill
