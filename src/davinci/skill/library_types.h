// A library of skills (library.h) takes and gives these plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/skill/admission_rules.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

struct Ranked {
  Record record;
  double score = 0;
};

enum class Access {
  kRead,   // the file must exist; sees what the writer commits
  kWrite,  // created if missing; Unavailable, naming the other process, if one writes already
};

struct LibraryOptions {
  Access access = Access::kRead;
  size_t max_active = 10'000;           // 0: no cap
  std::string actor = "davinci";        // who makes the changes: goes into every event
  std::function<int64_t()> now_unix_s;  // the system clock when empty
};

// Both kinds of staged entries are JSON in the file, so that another process can flush them.
struct Staged {
  std::string key;  // the caller's, unique in the run: "softmax/2/0/3#1"
  Skill skill;
  std::vector<Evidence> evidence;
  bool is_version = false;  // replaces the record of its name, which its experiment was against
};

struct StagedUsage {
  std::string key;  // unique, and different from the keys of staged skills
  std::vector<std::pair<std::string, Usage>> usage;  // by skill name; unknown names are ignored
};

struct FlushResult {
  int64_t step = 0;
  bool already_flushed = false;  // nothing was done; the rest is what was done then
  std::vector<std::pair<std::string, AdmissionResult>> admissions;  // by key, in order of keys
  std::vector<std::string> retired;
  std::vector<std::string> evicted;
  int64_t num_active = 0;
};

// One row of the history.
struct Event {
  int64_t sequence = 0;
  int64_t unix_s = 0;
  std::string actor;
  std::optional<int64_t> step;  // of the flush it was part of
  std::string kind;             // add, merge, update, evidence, usage, retire, evict, restore, …
  std::string name;
  std::string reason;
};

struct Snapshot {
  int64_t step = 0;
  int64_t sequence = 0;  // last event of the step
  int64_t num_active = 0;
  std::string digest;  // SHA-256 over all records
  int64_t unix_s = 0;
};

// A moment in the life of a library.
struct Moment {
  enum class Kind { kNow, kStep, kEvent } kind = Kind::kNow;
  int64_t number = 0;  // step or event sequence
};
// "now", "step:12", "event:345".
Result<Moment> ParseMoment(std::string_view text);

}  // namespace davinci::skill
