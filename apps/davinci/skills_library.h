// Which skills `davinci skills` works on, and its exit statuses.
#pragma once

#include <map>
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

// What is in force: `chosen` alone (a library file, a .jsonl, a SKILL.md or a folder of skills),
// else the user's library, if there is one, together with the skills that ship with davinci
// (skill/library_in_force.h).
Result<std::vector<std::string>> SourcesInForce(const std::string& chosen);
// The same for reading; read into memory unless it is one library file. Entries of files that
// cannot be read are an error that lists them.
Result<OpenedLibrary> OpenForReading(const std::string& chosen);
// One library with its history: `chosen`, else the user's, else what OpenForReading() gives.
Result<OpenedLibrary> OpenOwn(const std::string& chosen);
// Copies a shipped skill into the user's library, so that a change to it has a place. False: it is
// there already, or no such skill ships, or the library was chosen and stands for itself.
Result<bool> TakeOver(skill::Library& library, const std::string& name, const std::string& chosen);
// The skills that ship with davinci.
Result<std::vector<skill::Record>> ShippedRecords();
// The largest uplift that was measured of each, by language and name.
Result<std::map<std::string, std::map<std::string, double>>> ShippedGains();
// What would become of newcomers if the user's library and the shipped skills were one library: the
// shipped ones are asked, too, before something takes their place. Nothing is written.
Result<std::vector<skill::AdmissionResult>> AdmissionsInForce(
    const std::vector<std::pair<skill::Skill, std::vector<skill::Evidence>>>& skills);
// The records of the user's library that do not ship with davinci as they are.
Result<std::vector<skill::Record>> OwnRecords(const std::string& chosen, bool with_inactive);
// The database at LibraryPath(chosen), created on demand.
Result<OpenedLibrary> OpenForWriting(const std::string& chosen);

// A state to compare: "now", "step:N", "event:N" of the chosen library, or a path as above. By
// name.
Result<std::vector<skill::Record>> RecordsOf(const std::string& reference,
                                             const std::string& chosen);

// Says what failed on stderr; 2 for what the user can mend, else 3.
int FailSkills(const Status& status);

}  // namespace davinci::app
