#include "davinci/trainer/row_files.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include "davinci/base/files.h"

namespace davinci::trainer {

namespace fs = std::filesystem;

Result<std::vector<fs::path>> RowFiles(const std::string& entry) {
  const fs::path path = entry;
  std::error_code error;
  const std::string pattern = path.filename().string();
  const bool matches = pattern.find('*') != std::string::npos && !fs::exists(path, error);
  if (!matches && !fs::is_directory(path, error)) {
    if (!fs::exists(path, error)) return NotFound(fmt::format("{}: cannot be read", entry));
    return std::vector{path};
  }
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  DAVINCI_ASSIGN_OR_RETURN(const auto all,
                           ListFiles(matches ? parent : path, matches ? "" : ".jsonl"));
  std::vector<fs::path> files;
  for (const fs::path& file : all)
    if (!matches || ::fnmatch(pattern.c_str(), file.filename().c_str(), FNM_PERIOD) == 0)
      files.push_back(file);
  if (files.empty())
    return NotFound(fmt::format("{}: no file {}", entry, matches ? "matches" : "ends in .jsonl"));
  return files;
}

}  // namespace davinci::trainer
