#include "skills_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "davinci/skill/formats.h"
#include "installation.h"
#include "report.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;

constexpr size_t kProblemsShown = 10;

bool IsDatabase(const fs::path& path) {
  std::error_code error;
  return !fs::is_directory(path, error) && path.extension() != ".jsonl" &&
         path.filename() != "SKILL.md";
}

Result<OpenedLibrary> ReadIntoMemory(const fs::path& path) {
  DAVINCI_ASSIGN_OR_RETURN(const skill::ReadResult read, skill::ReadSkills(path));
  if (!read.problems.empty()) {
    std::string list;
    for (size_t i = 0; i < std::min(read.problems.size(), kProblemsShown); ++i)
      list += fmt::format("\n  {}: {}", read.problems[i].where, read.problems[i].what);
    if (read.problems.size() > kProblemsShown)
      list += fmt::format("\n  … and {} more", read.problems.size() - kProblemsShown);
    return InvalidArgument(fmt::format("{} entries of {} are no skills:{}", read.problems.size(),
                                       path.string(), list));
  }
  DAVINCI_ASSIGN_OR_RETURN(auto library, skill::Library::OpenInMemory({}));
  std::vector<std::pair<skill::Skill, std::vector<skill::Evidence>>> skills;
  for (const skill::Document& document : read.documents)
    skills.emplace_back(document.skill, document.evidence);
  DAVINCI_ASSIGN_OR_RETURN(const auto results, library->AddAll(skills));
  for (const auto& result : results)
    if (result.admission == skill::Admission::kRefused)
      fmt::print(stderr, "davinci skills: {} of {} is left out: {}\n", result.name, path.string(),
                 result.reason);
  return OpenedLibrary{std::move(library), path.string()};
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

Result<OpenedLibrary> OpenForReading(const std::string& chosen) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string path, LibraryPath(chosen));
  std::error_code error;
  if (chosen.empty() && !fs::exists(path, error)) {
    DAVINCI_ASSIGN_OR_RETURN(const fs::path home, FindHome());
    if (fs::exists(home / "skills", error)) return ReadIntoMemory(home / "skills");
  }
  if (!IsDatabase(path)) return ReadIntoMemory(path);
  DAVINCI_ASSIGN_OR_RETURN(auto library, skill::Library::Open(path, {}));
  return OpenedLibrary{std::move(library), path};
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
                           OpenForReading(moment.ok() ? chosen : reference));
  return opened.library->At(moment.ok() ? *moment : skill::Moment{});
}

int FailSkills(const Status& status) {
  fmt::print(stderr, "davinci skills: {}\n", status.ToString());
  return IsBadInput(status) || status.code() == StatusCode::kFailedPrecondition ? 2 : 3;
}

}  // namespace davinci::app
