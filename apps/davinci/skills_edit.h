// The parts of `davinci skills` that change a library, and its files.
#pragma once

#include <string>

namespace davinci::app {

struct EditOptions {
  std::string library;  // --library
  bool json = false;
};

// Each prints what it did and returns the exit status: 0 done, 1 something was refused, 2 bad
// input, 3 davinci failed.
int AddSkill(const EditOptions& options, const std::string& path, bool replace,
             const std::string& reason);
int ImportSkills(const EditOptions& options, const std::string& path, bool skip_invalid,
                 bool exact);
int ExportSkills(const EditOptions& options, const std::string& path, const std::string& moment,
                 bool with_inactive);
int RetireSkill(const EditOptions& options, const std::string& name, const std::string& reason);
int RollBack(const EditOptions& options, const std::string& moment, const std::string& reason);

}  // namespace davinci::app
