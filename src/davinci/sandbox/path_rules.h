// From the paths of a Policy to the objects they name on this machine, resolved once for mounts.h
// and landlock.h alike.
#pragma once

#include <string>
#include <vector>

#include "davinci/sandbox/policy.h"

namespace davinci::sandbox {

enum class PathAccess { kReadOnly, kReadWrite, kDevice };

struct PathRule {
  std::string path;  // as the policy names it, without "." , ".." and trailing slashes
  std::string real;  // the same without symbolic links
  PathAccess access = PathAccess::kReadOnly;
  bool is_directory = false;
};

// Existing paths only, patterns expanded, /dev/null and its kin included, no duplicates, parents
// before children. scratch_dir is not in the list. When a path is listed twice the wider access
// wins.
std::vector<PathRule> ResolvePaths(const Policy& policy);

// True if `path` is `ancestor` or lies beneath it. Both normalised.
bool IsBeneath(const std::string& path, const std::string& ancestor);

}  // namespace davinci::sandbox
