#include "davinci/skill/library.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>
#include <set>
#include <tuple>

#include "davinci/base/mutex.h"
#include "davinci/skill/library_impl.h"

namespace davinci::skill {

using store::SqliteExec;
using store::SqliteFailure;
using store::Statement;

int64_t Library::Impl::Now() const {
  if (options.now_unix_s) return options.now_unix_s();
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Status Library::Impl::Transact(const std::function<Status()>& body) {
  if (options.access != Access::kWrite)
    return FailedPrecondition(fmt::format("the library {} was opened for reading", file->name()));
  DAVINCI_RETURN_IF_ERROR(store::SqliteExec(db(), "BEGIN IMMEDIATE", Doing("writing")));
  Status status = body();
  if (status.ok()) status = store::SqliteExec(db(), "COMMIT", Doing("writing"));
  if (!status.ok()) {
    sqlite3_exec(db(), "ROLLBACK", nullptr, nullptr, nullptr);
    near_duplicates.reset();  // may know what was taken back
  }
  return status;
}

Status Library::Impl::Write(const Record& record, const Cause& cause) {
  DAVINCI_RETURN_IF_ERROR(store.Put(record, cause, Now()));
  if (near_duplicates) near_duplicates->Add(record.skill.name, record.skill.content);
  return Status::Ok();
}

Result<Encounter> Library::Impl::Meet(const Skill& skill) {
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

Result<AdmissionResult> Library::Impl::Admit(const Skill& skill,
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

Library::Library(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Library::~Library() = default;

Result<std::unique_ptr<Library>> Library::Open(const std::filesystem::path& file,
                                               LibraryOptions options) {
  auto opened = options.access == Access::kWrite ? LibraryFile::OpenForWriting(file)
                                                 : LibraryFile::OpenForReading(file);
  if (!opened.ok()) return opened.status();
  return std::unique_ptr<Library>(
      new Library(std::make_unique<Impl>(std::move(*opened), std::move(options))));
}

Result<std::unique_ptr<Library>> Library::OpenInMemory(LibraryOptions options) {
  options.access = Access::kWrite;
  DAVINCI_ASSIGN_OR_RETURN(auto opened, LibraryFile::OpenInMemory());
  return std::unique_ptr<Library>(
      new Library(std::make_unique<Impl>(std::move(opened), std::move(options))));
}

// --- reading ---

Result<std::optional<Record>> Library::Get(std::string_view name) {
  MutexLock lock(impl_->mutex);
  return impl_->store.Find(name);
}

Result<std::vector<Record>> Library::All(bool with_inactive) {
  MutexLock lock(impl_->mutex);
  DAVINCI_ASSIGN_OR_RETURN(std::vector<Record> records, impl_->store.All());
  if (!with_inactive)
    std::erase_if(records, [](const Record& r) { return r.state != SkillState::kActive; });
  return records;
}

Result<std::vector<Ranked>> Library::Search(std::string_view query, size_t k) {
  {
    MutexLock lock(impl_->mutex);
    DAVINCI_ASSIGN_OR_RETURN(const int64_t sequence, impl_->store.LastSequence());
    DAVINCI_RETURN_IF_ERROR(impl_->search.CatchUp(impl_->store, sequence));
  }
  const auto hits = impl_->search.Search(query, k);
  std::vector<Ranked> ranked;
  MutexLock lock(impl_->mutex);
  for (const Bm25Index::Hit& hit : hits) {
    DAVINCI_ASSIGN_OR_RETURN(auto record, impl_->store.Find(hit.name));
    // Retired since the index was asked.
    if (!record || record->state != SkillState::kActive) continue;
    ranked.push_back({std::move(*record), hit.score});
  }
  return ranked;
}

Result<std::vector<Ranked>> Library::SearchFor(const Audience& audience, std::string_view query,
                                               size_t k) {
  {
    MutexLock lock(impl_->mutex);
    DAVINCI_ASSIGN_OR_RETURN(const int64_t sequence, impl_->store.LastSequence());
    DAVINCI_RETURN_IF_ERROR(impl_->search.CatchUpFor(audience, impl_->store, sequence));
  }
  const auto hits = impl_->search.SearchFor(audience, query, k);
  std::vector<Ranked> ranked;
  MutexLock lock(impl_->mutex);
  for (const Bm25Index::Hit& hit : hits) {
    DAVINCI_ASSIGN_OR_RETURN(auto record, impl_->store.Find(hit.name));
    // Retired since the index was asked.
    if (!record || record->state != SkillState::kActive) continue;
    ranked.push_back({std::move(*record), hit.score});
  }
  return ranked;
}

Result<Prospect> Library::ProspectOf(const Skill& skill, bool may_replace) {
  MutexLock lock(impl_->mutex);
  if (const Status valid = Validate(skill, Strictness::kPublished); !valid.ok())
    return Prospect{valid.message(), false};
  DAVINCI_ASSIGN_OR_RETURN(const Encounter encounter, impl_->Meet(skill));
  return skill::ProspectOf(skill, encounter, may_replace);
}

Result<std::vector<Record>> Library::At(const Moment& moment) {
  MutexLock lock(impl_->mutex);
  DAVINCI_ASSIGN_OR_RETURN(const int64_t sequence, impl_->SequenceOf(moment));
  return impl_->store.At(sequence);
}

Result<std::vector<Event>> Library::History(std::string_view name, size_t limit) {
  MutexLock lock(impl_->mutex);
  Statement select(impl_->db(),
                   "SELECT seq, unix_s, actor, step, kind, name, reason FROM events WHERE name = "
                   "?1 OR ?1 = '' ORDER BY seq DESC LIMIT ?2");
  select.Bind(name).Bind(limit == 0 ? int64_t{-1} : static_cast<int64_t>(limit));
  std::vector<Event> events;
  int code = SQLITE_ROW;
  while ((code = select.Step()) == SQLITE_ROW) {
    Event event{select.Int(0),  select.Int(1),  select.Text(2), {},
                select.Text(4), select.Text(5), select.Text(6)};
    if (!select.IsNull(3)) event.step = select.Int(3);
    events.push_back(std::move(event));
  }
  if (code != SQLITE_DONE) return SqliteFailure(impl_->db(), code, impl_->Doing("reading"));
  std::reverse(events.begin(), events.end());
  return events;
}

Result<std::vector<Snapshot>> Library::Impl::AllSnapshots() {
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

Result<std::optional<Snapshot>> Library::Impl::LatestSnapshot() {
  DAVINCI_ASSIGN_OR_RETURN(const auto snapshots, AllSnapshots());
  return snapshots.empty() ? std::optional<Snapshot>() : snapshots.back();
}

Result<std::vector<Snapshot>> Library::Snapshots() {
  MutexLock lock(impl_->mutex);
  return impl_->AllSnapshots();
}

Result<int64_t> Library::Impl::SequenceOf(const Moment& moment) {
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

// --- writing ---

Result<AdmissionResult> Library::Add(const Skill& skill, const std::vector<Evidence>& evidence) {
  DAVINCI_ASSIGN_OR_RETURN(auto results, AddAll({{skill, evidence}}));
  return std::move(results.front());
}

Result<std::vector<AdmissionResult>> Library::AddAll(
    const std::vector<std::pair<Skill, std::vector<Evidence>>>& skills) {
  MutexLock lock(impl_->mutex);
  std::vector<AdmissionResult> results;
  const Status done = impl_->Transact([&]() DAVINCI_REQUIRES(impl_->mutex) -> Status {
    for (const auto& [skill, evidence] : skills) {
      DAVINCI_ASSIGN_OR_RETURN(AdmissionResult result, impl_->Admit(skill, evidence, std::nullopt));
      results.push_back(std::move(result));
    }
    return Status::Ok();
  });
  DAVINCI_RETURN_IF_ERROR(done);
  return results;
}

Result<int64_t> Library::AddExactly(const std::vector<Record>& records) {
  MutexLock lock(impl_->mutex);
  int64_t num_added = 0;
  const Status done = impl_->Transact([&]() DAVINCI_REQUIRES(impl_->mutex) -> Status {
    DAVINCI_ASSIGN_OR_RETURN(int64_t position, impl_->store.LastPosition());
    std::string taken;
    for (Record record : records) {
      DAVINCI_RETURN_IF_ERROR(Validate(record.skill, Strictness::kPublished));
      for (const Evidence& one : record.evidence) DAVINCI_RETURN_IF_ERROR(Validate(one));
      DAVINCI_ASSIGN_OR_RETURN(const auto known, impl_->store.Find(record.skill.name));
      if (known && known->skill == record.skill) continue;
      if (known) {
        taken += fmt::format("{}{}", taken.empty() ? "" : ", ", record.skill.name);
        continue;
      }
      record.position = ++position;
      DAVINCI_RETURN_IF_ERROR(impl_->Write(record, {"import", "exactly", std::nullopt}));
      ++num_added;
    }
    if (taken.empty()) return Status::Ok();
    return FailedPrecondition(
        fmt::format("the library {} has other skills of the same name: {}; nothing was added",
                    impl_->file->name(), taken));
  });
  DAVINCI_RETURN_IF_ERROR(done);
  return num_added;
}

Status Library::Replace(const Skill& skill, const std::vector<Evidence>& evidence,
                        std::string_view reason) {
  DAVINCI_RETURN_IF_ERROR(Validate(skill, Strictness::kPublished));
  for (const Evidence& one : evidence) DAVINCI_RETURN_IF_ERROR(Validate(one));
  MutexLock lock(impl_->mutex);
  return impl_->Transact([&]() DAVINCI_REQUIRES(impl_->mutex) -> Status {
    DAVINCI_ASSIGN_OR_RETURN(auto record, impl_->store.Find(skill.name));
    if (!record)
      return NotFound(fmt::format("the library {} has no skill \"{}\" to replace",
                                  impl_->file->name(), skill.name));
    const bool same_content = record->skill.content == skill.content;
    record->skill = skill;
    if (!same_content || !evidence.empty()) record->evidence = evidence;
    std::sort(record->evidence.begin(), record->evidence.end(),
              [](const Evidence& a, const Evidence& b) {
                return std::tie(a.target, a.language) < std::tie(b.target, b.language);
              });
    record->state = SkillState::kActive;
    return impl_->Write(*record, {"replace", std::string(reason), std::nullopt});
  });
}

Status Library::Retire(std::string_view name, std::string_view reason) {
  MutexLock lock(impl_->mutex);
  return impl_->Transact([&]() DAVINCI_REQUIRES(impl_->mutex) -> Status {
    DAVINCI_ASSIGN_OR_RETURN(auto record, impl_->store.Find(name));
    if (!record)
      return NotFound(fmt::format("the library {} has no skill \"{}\"", impl_->file->name(), name));
    if (record->state == SkillState::kRetired) return Status::Ok();
    record->state = SkillState::kRetired;
    return impl_->Write(*record, {"retire", std::string(reason), std::nullopt});
  });
}

Result<int64_t> Library::Rollback(const Moment& moment, std::string_view reason) {
  MutexLock lock(impl_->mutex);
  int64_t num_changed = 0;
  const Status done = impl_->Transact([&]() DAVINCI_REQUIRES(impl_->mutex) -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const int64_t sequence, impl_->SequenceOf(moment));
    DAVINCI_ASSIGN_OR_RETURN(const std::vector<Record> now, impl_->store.All());
    DAVINCI_ASSIGN_OR_RETURN(const std::vector<Record> then, impl_->store.At(sequence));
    const Cause cause{"rollback",
                      reason.empty() ? fmt::format("to event {}", sequence)
                                     : fmt::format("to event {}: {}", sequence, reason),
                      std::nullopt};
    std::map<std::string_view, const Record*> gone;
    for (const Record& record : now) gone.emplace(record.skill.name, &record);
    for (const Record& record : then) {
      const auto current = gone.find(record.skill.name);
      const bool same = current != gone.end() && *current->second == record;
      if (current != gone.end()) gone.erase(current);
      if (same) continue;
      DAVINCI_RETURN_IF_ERROR(impl_->store.Put(record, cause, impl_->Now()));
      ++num_changed;
    }
    for (const auto& [name, record] : gone) {
      DAVINCI_RETURN_IF_ERROR(impl_->store.Remove(*record, cause, impl_->Now()));
      ++num_changed;
    }
    impl_->near_duplicates.reset();
    // Later steps will be done again.
    return SqliteExec(
        impl_->db(),
        fmt::format(
            "DELETE FROM snapshots WHERE seq > {};"
            "DELETE FROM staged WHERE step > COALESCE((SELECT MAX(step) FROM snapshots), {});",
            sequence, std::numeric_limits<int64_t>::min()),
        impl_->Doing("writing"));
  });
  DAVINCI_RETURN_IF_ERROR(done);
  return num_changed;
}

Result<Moment> ParseMoment(std::string_view text) {
  if (text == "now") return Moment{};
  for (const auto& [prefix, kind] :
       {std::pair<std::string_view, Moment::Kind>("step:", Moment::Kind::kStep),
        {"event:", Moment::Kind::kEvent}}) {
    if (!text.starts_with(prefix)) continue;
    const std::string_view digits = text.substr(prefix.size());
    Moment moment{kind, 0};
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), moment.number);
    if (error == std::errc() && end == digits.data() + digits.size() && !digits.empty())
      return moment;
  }
  return InvalidArgument(fmt::format("\"{}\" is no moment; say now, step:N or event:N", text));
}

}  // namespace davinci::skill
