#include "davinci/skill/library_state.h"

#include <fmt/format.h>

#include <chrono>
#include <set>

namespace davinci::skill {

using store::SqliteExec;
using store::SqliteFailure;
using store::Statement;

int64_t LibraryState::Now() const {
  if (options.now_unix_s) return options.now_unix_s();
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Status LibraryState::Transact(const std::function<Status()>& body) {
  if (options.access != Access::kWrite)
    return FailedPrecondition(fmt::format("the library {} was opened for reading", file->name()));
  DAVINCI_RETURN_IF_ERROR(SqliteExec(db(), "BEGIN IMMEDIATE", Doing("writing")));
  Status status = body();
  if (status.ok()) status = SqliteExec(db(), "COMMIT", Doing("writing"));
  if (!status.ok()) {
    sqlite3_exec(db(), "ROLLBACK", nullptr, nullptr, nullptr);
    near_duplicates.reset();  // may know what was taken back
  }
  return status;
}

Status LibraryState::Write(const Record& record, const Cause& cause) {
  DAVINCI_RETURN_IF_ERROR(store.Put(record, cause, Now()));
  if (near_duplicates) near_duplicates->Add(record.skill.name, record.skill.content);
  return Status::Ok();
}

Result<Encounter> LibraryState::Meet(const Skill& skill) {
  if (!near_duplicates) {
    DAVINCI_ASSIGN_OR_RETURN(const std::vector<Record> records, store.All());
    near_duplicates.emplace();
    for (const Record& record : records)
      near_duplicates->Add(record.skill.name, record.skill.content);
  }
  Encounter encounter;
  DAVINCI_ASSIGN_OR_RETURN(encounter.same_name, store.Find(skill.name));
  if (encounter.same_name) {
    encounter.same_name_similarity =
        Jaccard(Shingles(skill.content), Shingles(encounter.same_name->skill.content));
    return encounter;
  }
  const auto nearest = near_duplicates->Nearest(skill.content, kNearDuplicate);
  if (nearest.name.empty()) return encounter;
  DAVINCI_ASSIGN_OR_RETURN(encounter.similar, store.Find(nearest.name));
  encounter.similarity = nearest.similarity;
  return encounter;
}

Result<AdmissionResult> LibraryState::Admit(const Skill& skill,
                                            const std::vector<Evidence>& evidence,
                                            std::optional<int64_t> step, bool is_version) {
  Status valid = Validate(skill, Strictness::kPublished);
  std::set<std::string> subjects;
  for (const Evidence& one : evidence) {
    if (valid.ok()) valid = Validate(one);
    if (valid.ok() && !subjects.insert(one.target + " " + one.language).second)
      valid = InvalidArgument(
          fmt::format("two pieces of evidence for {} {}", one.target, one.language));
  }
  if (!valid.ok()) return AdmissionResult{Admission::kRefused, skill.name, valid.message()};
  DAVINCI_ASSIGN_OR_RETURN(const Encounter encounter, Meet(skill));
  Decision decision = DecideAdmission(skill, evidence, encounter, is_version);
  const Admission admission = decision.result.admission;
  if (admission == Admission::kAdded) {
    DAVINCI_ASSIGN_OR_RETURN(decision.record.position, store.LastPosition());
    ++decision.record.position;
  }
  if (admission == Admission::kAdded || admission == Admission::kMerged)
    DAVINCI_RETURN_IF_ERROR(
        Write(decision.record,
              {admission == Admission::kAdded ? "add" : "merge", decision.result.reason, step}));
  return decision.result;
}

Result<std::vector<Snapshot>> LibraryState::AllSnapshots() {
  Statement select(db(),
                   "SELECT step, seq, num_active, digest, unix_s FROM snapshots ORDER BY step");
  std::vector<Snapshot> snapshots;
  int code = SQLITE_ROW;
  while ((code = select.Step()) == SQLITE_ROW)
    snapshots.push_back(
        {select.Int(0), select.Int(1), select.Int(2), select.Text(3), select.Int(4)});
  if (code != SQLITE_DONE) return SqliteFailure(db(), code, Doing("reading"));
  return snapshots;
}

Result<std::optional<Snapshot>> LibraryState::LatestSnapshot() {
  DAVINCI_ASSIGN_OR_RETURN(const auto snapshots, AllSnapshots());
  return snapshots.empty() ? std::optional<Snapshot>() : snapshots.back();
}

Result<int64_t> LibraryState::SequenceOf(const Moment& moment) {
  DAVINCI_ASSIGN_OR_RETURN(const int64_t last, store.LastSequence());
  if (moment.kind == Moment::Kind::kNow) return last;
  if (moment.kind == Moment::Kind::kEvent) {
    if (moment.number < 0 || moment.number > last)
      return NotFound(fmt::format("the library {} has no event {}; its last one is {}",
                                  file->name(), moment.number, last));
    return moment.number;
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto snapshots, AllSnapshots());
  for (const Snapshot& snapshot : snapshots)
    if (snapshot.step == moment.number) return snapshot.sequence;
  return NotFound(
      fmt::format("the library {} has no snapshot of step {}; {}", file->name(), moment.number,
                  snapshots.empty() ? "it has none at all"
                                    : fmt::format("it has {} from {} to {}", snapshots.size(),
                                                  snapshots.front().step, snapshots.back().step)));
}

}  // namespace davinci::skill
