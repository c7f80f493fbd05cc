// Library: the skills a run may show to its agents. The front header of this module.
//
// What it decides: what enters, under which name, what leaves, what a search finds. It never
// measures anything (evidence comes from the judge's callers) and never renames a skill.
//
// Stored in one SQLite file (WAL). One process writes, any number read; the writer holds a lock on
// FILE.writer. Every change is a row of an append-only table of events that carries the complete
// state of the record after it; everything else can be recomputed from that. A snapshot names the
// event at which a step ended.
//
// Admission, retirement and the cap follow the rules stated in admission_rules.h and retention.h;
// both of the latter act at each flush.
//
// Staging. Rollouts may be killed anywhere, so what they find is staged under a key of the caller's
// (a TurnId as text) and enters the library only in Flush(step), one transaction. The same key is
// staged once, the same step is flushed once; repeating either is a no-op that says so.
//
// Threads: every method from any thread; searches run concurrently.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "davinci/base/status.h"
#include "davinci/skill/admission_rules.h"
#include "davinci/skill/audience.h"
#include "davinci/skill/library_types.h"
#include "davinci/skill/skill.h"

namespace davinci::skill {

struct LibraryState;

class Library {
 public:
  // FailedPrecondition: a newer davinci wrote the file. InvalidArgument: not a skill library.
  // The first Open() migrates older files.
  static Result<std::unique_ptr<Library>> Open(const std::filesystem::path& file,
                                               LibraryOptions options);
  // A writable library that lives as long as the object, for folders and JSONL files that are only
  // looked at.
  static Result<std::unique_ptr<Library>> OpenInMemory(LibraryOptions options);
  ~Library();

  // --- reading ---
  Result<std::optional<Record>> Get(std::string_view name);
  // In order of arrival; only active ones by default.
  Result<std::vector<Record>> All(bool with_inactive = false);
  // The `k` best active skills for `query` (plain text; see tokenizer.h), best first; equal scores
  // by name.
  Result<std::vector<Ranked>> Search(std::string_view query, size_t k);
  // The `k` best for an audience. Skills for other targets are left out before anything is ranked,
  // and document frequencies are those of the rest. Order: matches in the audience's language,
  // then, as far as there is room, other skills of that language (the general ones first), matches
  // in another language of the target, and the remaining ones. Within matches the score decides;
  // that of a skill proven for the audience (IsProvenFor) counts kProvenBonus times. Within the
  // others: proven before unproven, more worth (retention.h) first, then by name; their score is 0.
  Result<std::vector<Ranked>> SearchFor(const Audience& audience, std::string_view query, size_t k);
  // All records, inactive ones too, as they were; by name. NotFound for a step without a snapshot.
  Result<std::vector<Record>> At(const Moment& moment);
  // Oldest first; of one skill, or of all with name "". `limit` keeps the newest; 0 = all.
  Result<std::vector<Event>> History(std::string_view name, size_t limit);
  Result<std::vector<Snapshot>> Snapshots();

  // Could this skill enter, if an experiment spoke for it? Asked before the experiment is paid.
  Result<Prospect> ProspectOf(const Skill& skill, bool may_replace);

  // --- writing; FailedPrecondition on a reader ---
  // At once, outside any step; for people. All or none, in one transaction; refusals are results,
  // not failures.
  Result<std::vector<AdmissionResult>> AddAll(
      const std::vector<std::pair<Skill, std::vector<Evidence>>>& skills);
  // Complete records as they are, without the rules of admission: near-duplicates, statistics and
  // states stay. All or none; FailedPrecondition names the records whose name is taken by another
  // skill. A record that is there already is left as it is. Positions follow the order given.
  // Returns how many were added.
  Result<int64_t> AddExactly(const std::vector<Record>& records);
  // Replaces the fields of an existing skill of that name by order of a person. Evidence belongs to
  // the content it measured: unless the content is the same, only `evidence` is kept.
  Status Replace(const Skill& skill, const std::vector<Evidence>& evidence,
                 std::string_view reason);
  Status Retire(std::string_view name, std::string_view reason);

  // Durable when it returns. False: the key was staged before, nothing was done (the step of the
  // first time counts). FailedPrecondition when `step` was flushed without this key.
  Result<bool> Stage(int64_t step, const Staged& staged);
  Result<bool> StageUsage(int64_t step, const StagedUsage& usage);
  // Everything staged for steps up to `step` enters, in order of (step, key), then retirement and
  // cap, then the snapshot: one transaction. Steps only grow; flushing an older step that never was
  // flushed is FailedPrecondition.
  Result<FlushResult> Flush(int64_t step);

  // The library as it was at `moment`, as new events. Snapshots and staged entries of later steps
  // are forgotten, so that those steps can be done again. Returns how many records changed.
  Result<int64_t> Rollback(const Moment& moment, std::string_view reason);

 private:
  explicit Library(std::unique_ptr<LibraryState> state);
  const std::unique_ptr<LibraryState> state_;
};

// AddAll() of one.
Result<AdmissionResult> AddSkill(Library& library, const Skill& skill,
                                 const std::vector<Evidence>& evidence);

}  // namespace davinci::skill
