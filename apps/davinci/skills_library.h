// Which skills `davinci skills` works on, and its exit statuses.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/skill/library.h"

namespace davinci::app {

// --library, else DAVINCI_LIBRARY, else davinci/skills.db in XDG_DATA_HOME or ~/.local/share.
Result<std::string> LibraryPath(const std::string& chosen);

struct OpenedLibrary {
  std::unique_ptr<skill::Library> library;
  std::string what;  // file or folder, for people
};

// For reading. `chosen` may also be a .jsonl file, a SKILL.md or a folder of skills, which is read
// into memory; without any choice and without a library yet, the skills that ship with davinci.
// Entries of files that cannot be read are an error that lists them.
Result<OpenedLibrary> OpenForReading(const std::string& chosen);
// The database at LibraryPath(chosen), created on demand.
Result<OpenedLibrary> OpenForWriting(const std::string& chosen);

// A state to compare: "now", "step:N", "event:N" of the chosen library, or a path as above. By
// name.
Result<std::vector<skill::Record>> RecordsOf(const std::string& reference,
                                             const std::string& chosen);

// Says what failed on stderr; 2 for what the user can mend, else 3.
int FailSkills(const Status& status);

}  // namespace davinci::app
