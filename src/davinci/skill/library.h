// Library: the skills a run may show to its agents. The front header of this module.
//
// What it decides: what enters, under which name, what leaves, what a search finds. It never
// measures anything (evidence comes from whoever asked the judge) and never renames a skill.
//
// Stored in one SQLite file (WAL). One process writes, any number read; the writer holds a lock on
// FILE.writer. Every change is a row of an append-only table of events that carries the complete
// state of the record after it; everything else can be recomputed from that. A snapshot names the
// event at which a step ended.
//
// Admission. Similarity is the Jaccard index of the sets of 3-word shingles of two contents,
// candidates found by MinHash (128 permutations, 32 bands of 4). At or above kNearDuplicate two
// skills say the same thing.
//   name new, no near-duplicate       -> added
//   equal in every field              -> its evidence is merged into the record (unchanged if old)
//   near-duplicate (any name)         -> merged when the newcomer has evidence with a higher lower
//                                        bound on its target: content and evidence are replaced,
//                                        name and statistics stay, tags are united.
//                                        Otherwise refused
//   name taken by something different -> refused
// A retired or evicted skill comes back only with evidence that beats the one it left with.
//
// Retirement, at each flush: a skill is retired when its newest evidence shows an upper bound below
// 1 on every target it was measured on, or when at least kMinObservations observations in rollouts
// have a mean uplift whose 95 % interval ends below 1.
// Cap, at each flush: while more than `max_active` are active, the one with the least worth is
// evicted: worth = lower bound of the observed uplift if there are enough observations, else of the
// best evidence, else 0; ties: fewer selections, then fewer showings, then the later arrival goes.
//
// Staging. Rollouts may be killed anywhere, so what they find is staged under a key of the caller's
// (a TurnId as text) and enters the library only in Flush(step), one transaction. The same key is
// staged once, the same step is flushed once; repeating either is a no-op that says so.
//
// Threads: every method from any thread; searches run concurrently.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

inline constexpr double kNearDuplicate = 0.7;
inline constexpr int64_t kMinObservations = 20;

struct Ranked {
  Record record;
  double score = 0;
};

enum class Access {
  kRead,   // the file must exist; sees what the writer commits
  kWrite,  // created if missing; Unavailable, naming the other process, if somebody writes already
};

struct LibraryOptions {
  Access access = Access::kRead;
  size_t max_active = 10'000;           // 0: no cap
  std::string actor = "davinci";        // who makes the changes: goes into every event
  std::function<int64_t()> now_unix_s;  // the system clock when empty
};

// What became of a skill that asked to enter.
enum class Admission { kAdded, kUnchanged, kMerged, kRefused };
std::string_view AdmissionName(Admission admission);

struct AdmissionResult {
  Admission admission = Admission::kRefused;
  std::string name;    // under which it is in the library; of a refused one, its own
  std::string reason;  // why merged or refused; "" when added
};

struct Staged {
  std::string key;  // the caller's, unique in the run: "softmax/2/0/3#1"
  Skill skill;
  std::vector<Evidence> evidence;
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

struct Difference {
  enum class Kind { kAdded, kRemoved, kChanged } kind = Kind::kChanged;
  std::string name;
  std::vector<std::string> fields;  // of a changed one: "content", "evidence", "state", …
  std::optional<Record> before;
  std::optional<Record> after;
};
// By name. Usage alone is no difference unless `with_usage`.
std::vector<Difference> Diff(const std::vector<Record>& before, const std::vector<Record>& after,
                             bool with_usage = false);

class Library {
 public:
  // FailedPrecondition: a newer davinci wrote the file. InvalidArgument: not a skill library.
  // Older files are migrated by the first writer (or by a reader, when nobody writes).
  static Result<std::unique_ptr<Library>> Open(const std::filesystem::path& file,
                                               LibraryOptions options);
  // A writable library that lives as long as the object, for folders and JSONL files that are only
  // looked at.
  static Result<std::unique_ptr<Library>> OpenInMemory(LibraryOptions options);
  virtual ~Library() = default;

  // --- reading ---
  virtual Result<std::optional<Record>> Get(std::string_view name) = 0;
  // In order of arrival; only active ones unless told otherwise.
  virtual Result<std::vector<Record>> All(bool with_inactive = false) = 0;
  // The `k` best active skills for `query` (plain text; see tokenizer.h), best first; equal scores
  // by name.
  virtual Result<std::vector<Ranked>> Search(std::string_view query, size_t k) = 0;
  // All records, inactive ones too, as they were; by name. NotFound for a step without a snapshot.
  virtual Result<std::vector<Record>> At(const Moment& moment) = 0;
  // Oldest first; of one skill, or of all with name "". `limit` keeps the newest; 0 = all.
  virtual Result<std::vector<Event>> History(std::string_view name, size_t limit) = 0;
  virtual Result<std::vector<Snapshot>> Snapshots() = 0;

  // --- writing; FailedPrecondition on a reader ---
  // At once, outside any step; for people.
  virtual Result<AdmissionResult> Add(const Skill& skill,
                                      const std::vector<Evidence>& evidence) = 0;
  // Several, all or none in one transaction; refusals are results, not failures.
  virtual Result<std::vector<AdmissionResult>> AddAll(
      const std::vector<std::pair<Skill, std::vector<Evidence>>>& skills) = 0;
  // Replaces the fields of an existing skill of that name by order of a person. Evidence belongs to
  // the content it measured: unless the content is the same, only `evidence` is kept.
  virtual Status Replace(const Skill& skill, const std::vector<Evidence>& evidence,
                         std::string_view reason) = 0;
  virtual Status Retire(std::string_view name, std::string_view reason) = 0;

  // Durable when it returns. False: the key was staged before, nothing was done (the step of the
  // first time counts). FailedPrecondition when `step` was flushed without this key.
  virtual Result<bool> Stage(int64_t step, const Staged& staged) = 0;
  virtual Result<bool> StageUsage(int64_t step, const StagedUsage& usage) = 0;
  // Everything staged for steps up to `step` enters, in order of (step, key), then retirement and
  // cap, then the snapshot: one transaction. Steps only grow; flushing an older step that never was
  // flushed is FailedPrecondition.
  virtual Result<FlushResult> Flush(int64_t step) = 0;

  // The library as it was at `moment`, as new events. Snapshots and staged entries of later steps
  // are forgotten, so that those steps can be done again. Returns how many records changed.
  virtual Result<int64_t> Rollback(const Moment& moment, std::string_view reason) = 0;
};

}  // namespace davinci::skill
