#include "davinci/sandbox/path_rules.h"

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace davinci::sandbox {
namespace {

std::string Normalise(const std::string& path) {
  std::string text = std::filesystem::path(path).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

void Add(const std::string& path, PathAccess access, std::map<std::string, PathRule>* rules) {
  char resolved[PATH_MAX];
  struct stat info;
  if (realpath(path.c_str(), resolved) == nullptr || stat(resolved, &info) != 0) return;
  if (resolved[1] == '\0') return;  // an alias of "/" must not open everything
  PathRule rule{Normalise(path), resolved, access, S_ISDIR(info.st_mode)};
  auto [it, inserted] = rules->emplace(rule.path, rule);
  if (!inserted && rule.access > it->second.access) it->second = std::move(rule);
}

}  // namespace

bool IsBeneath(const std::string& path, const std::string& ancestor) {
  return path == ancestor || (path.size() > ancestor.size() && path[ancestor.size()] == '/' &&
                              path.compare(0, ancestor.size(), ancestor) == 0);
}

std::vector<PathRule> ResolvePaths(const Policy& policy) {
  std::map<std::string, PathRule> rules;
  for (const std::string& path : policy.read_only_paths) Add(path, PathAccess::kReadOnly, &rules);
  for (const std::string& path : policy.read_write_paths) Add(path, PathAccess::kReadWrite, &rules);
  for (const char* path : {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) {
    Add(path, PathAccess::kDevice, &rules);
  }
  for (const std::string& pattern : policy.device_paths) {
    glob_t found = {};
    // NOLINTNEXTLINE(concurrency-mt-unsafe): only of ~, which GLOB_TILDE would expand
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc; ++i)
        Add(found.gl_pathv[i], PathAccess::kDevice, &rules);
    }
    globfree(&found);
  }
  std::vector<PathRule> sorted;
  for (auto& [path, rule] : rules) sorted.push_back(std::move(rule));
  std::stable_sort(sorted.begin(), sorted.end(), [](const PathRule& a, const PathRule& b) {
    return a.real.size() < b.real.size();
  });
  return sorted;
}

}  // namespace davinci::sandbox
