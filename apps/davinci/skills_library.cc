#include "skills_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "davinci/skill/library_in_force.h"
#include "installation.h"
#include "report.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;

bool IsDatabase(const fs::path& path) {
  std::error_code error;
  return !fs::is_directory(path, error) && path.extension() != ".jsonl" &&
         path.filename() != "SKILL.md";
}

Result<OpenedLibrary> ReadIntoMemory(const std::vector<std::string>& sources) {
  DAVINCI_ASSIGN_OR_RETURN(const auto records, skill::ReadTogether(sources));
  DAVINCI_ASSIGN_OR_RETURN(auto library, skill::Library::OpenInMemory({}));
  DAVINCI_RETURN_IF_ERROR(library->AddExactly(records).status());
  return OpenedLibrary{std::move(library), fmt::format("{}", fmt::join(sources, " and "))};
}

}  // namespace

Result<std::string> LibraryPath(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  };
  if (const std::string set = variable("DAVINCI_LIBRARY"); !set.empty()) return set;
  if (const std::string data = variable("XDG_DATA_HOME"); !data.empty())
    return data + "/davinci/skills.db";
  if (const std::string home = variable("HOME"); !home.empty())
    return home + "/.local/share/davinci/skills.db";
  return FailedPrecondition("HOME is not set; name the library with --library FILE");
}

Result<std::vector<std::string>> SourcesInForce(const std::string& chosen) {
  std::error_code error;
  if (!chosen.empty()) return std::vector<std::string>{chosen};
  std::vector<std::string> sources;
  DAVINCI_ASSIGN_OR_RETURN(const std::string own, LibraryPath(""));
  if (fs::exists(own, error)) sources.push_back(own);
  DAVINCI_ASSIGN_OR_RETURN(const fs::path home, FindHome());
  const fs::path shipped = home / "skills";
  if (fs::exists(shipped, error) && !fs::is_empty(shipped, error))
    sources.push_back(shipped.string());
  return sources;
}

Result<OpenedLibrary> OpenForReading(const std::string& chosen) {
  if (!chosen.empty() && IsDatabase(chosen)) return OpenOwn(chosen);
  DAVINCI_ASSIGN_OR_RETURN(const auto sources, SourcesInForce(chosen));
  return ReadIntoMemory(sources);
}

Result<OpenedLibrary> OpenOwn(const std::string& chosen) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string path, LibraryPath(chosen));
  std::error_code error;
  if (!IsDatabase(path) || (chosen.empty() && !fs::exists(path, error)))
    return OpenForReading(chosen);
  DAVINCI_ASSIGN_OR_RETURN(auto library, skill::Library::Open(path, {}));
  return OpenedLibrary{std::move(library), path};
}

Result<bool> TakeOver(skill::Library& library, const std::string& name, const std::string& chosen) {
  if (!chosen.empty()) return false;
  DAVINCI_ASSIGN_OR_RETURN(const auto known, library.Get(name));
  if (known) return false;
  DAVINCI_ASSIGN_OR_RETURN(const auto sources, SourcesInForce(""));
  DAVINCI_ASSIGN_OR_RETURN(const auto records, skill::ReadTogether(sources));
  for (const skill::Record& record : records) {
    if (record.skill.name != name) continue;
    DAVINCI_RETURN_IF_ERROR(library.AddExactly({record}).status());
    return true;
  }
  return false;
}

Result<std::vector<skill::AdmissionResult>> AdmissionsInForce(
    const std::vector<std::pair<skill::Skill, std::vector<skill::Evidence>>>& skills) {
  DAVINCI_ASSIGN_OR_RETURN(const auto sources, SourcesInForce(""));
  DAVINCI_ASSIGN_OR_RETURN(const OpenedLibrary together, ReadIntoMemory(sources));
  return together.library->AddAll(skills);
}

Result<std::vector<skill::Record>> ShippedRecords() {
  DAVINCI_ASSIGN_OR_RETURN(const fs::path home, FindHome());
  const fs::path shipped = home / "skills";
  std::error_code error;
  if (!fs::exists(shipped, error) || fs::is_empty(shipped, error))
    return std::vector<skill::Record>();
  return skill::ReadTogether({shipped.string()});
}

Result<std::map<std::string, std::map<std::string, double>>> ShippedGains() {
  DAVINCI_ASSIGN_OR_RETURN(const auto records, ShippedRecords());
  std::map<std::string, std::map<std::string, double>> gains;
  for (const skill::Record& record : records)
    for (const skill::Evidence& evidence : record.evidence) {
      double& gain = gains[evidence.language][record.skill.name];
      gain = std::max(gain, evidence.uplift.median);
    }
  return gains;
}

Result<std::vector<skill::Record>> OwnRecords(const std::string& chosen, bool with_inactive) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string path, LibraryPath(chosen));
  std::error_code error;
  std::vector<skill::Record> own;
  if (fs::exists(path, error)) {
    DAVINCI_ASSIGN_OR_RETURN(own, skill::ReadTogether({path}));
  } else if (!chosen.empty()) {
    return NotFound(fmt::format("no such skill library: {}", path));
  }
  DAVINCI_ASSIGN_OR_RETURN(const std::vector<skill::Record> shipped, ShippedRecords());
  std::erase_if(own, [&](const skill::Record& record) {
    if (!with_inactive && record.state != skill::SkillState::kActive) return true;
    return record.state == skill::SkillState::kActive &&
           std::any_of(shipped.begin(), shipped.end(), [&](const skill::Record& one) {
             return skill::SameAdvice(one.skill, record.skill);
           });
  });
  return own;
}

Result<OpenedLibrary> OpenForWriting(const std::string& chosen) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string path, LibraryPath(chosen));
  if (!IsDatabase(path))
    return InvalidArgument(fmt::format(
        "{} is no library that can be changed; name a database with --library FILE.db, and import "
        "{} into it",
        path, path));
  skill::LibraryOptions options;
  options.access = skill::Access::kWrite;
  options.actor = "davinci skills";
  DAVINCI_ASSIGN_OR_RETURN(auto library, skill::Library::Open(path, std::move(options)));
  return OpenedLibrary{std::move(library), path};
}

Result<std::vector<skill::Record>> RecordsOf(const std::string& reference,
                                             const std::string& chosen) {
  const auto moment = skill::ParseMoment(reference);
  std::error_code error;
  if (!moment.ok() && !fs::exists(reference, error))
    return InvalidArgument(fmt::format(
        "\"{}\" is neither a moment (now, step:N, event:N) nor a file or folder", reference));
  DAVINCI_ASSIGN_OR_RETURN(const OpenedLibrary opened,
                           moment.ok() ? OpenOwn(chosen) : OpenForReading(reference));
  return opened.library->At(moment.ok() ? *moment : skill::Moment{});
}

int FailSkills(const Status& status) { return FailCommand("skills", status); }

}  // namespace davinci::app
