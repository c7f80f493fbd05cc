#include "davinci/skill/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "davinci/base/mutex.h"
#include "davinci/skill/library_state.h"

namespace davinci::skill {

using store::SqliteExec;
using store::SqliteFailure;
using store::Statement;

Library::Library(std::unique_ptr<LibraryState> state) : state_(std::move(state)) {}
Library::~Library() = default;

Result<std::unique_ptr<Library>> Library::Open(const std::filesystem::path& file,
                                               LibraryOptions options) {
  auto opened = options.access == Access::kWrite ? LibraryFile::OpenForWriting(file)
                                                 : LibraryFile::OpenForReading(file);
  if (!opened.ok()) return opened.status();
  return std::unique_ptr<Library>(
      new Library(std::make_unique<LibraryState>(std::move(*opened), std::move(options))));
}

Result<std::unique_ptr<Library>> Library::OpenInMemory(LibraryOptions options) {
  options.access = Access::kWrite;
  DAVINCI_ASSIGN_OR_RETURN(auto opened, LibraryFile::OpenInMemory());
  return std::unique_ptr<Library>(
      new Library(std::make_unique<LibraryState>(std::move(opened), std::move(options))));
}

// --- reading ---

Result<std::optional<Record>> Library::Get(std::string_view name) {
  MutexLock lock(state_->mutex);
  return state_->store.Find(name);
}

Result<std::vector<Record>> Library::All(bool with_inactive) {
  MutexLock lock(state_->mutex);
  DAVINCI_ASSIGN_OR_RETURN(std::vector<Record> records, state_->store.All());
  if (!with_inactive)
    std::erase_if(records, [](const Record& r) { return r.state != SkillState::kActive; });
  return records;
}

namespace {

// The skills of `hits`, without those that were retired since the index was asked.
Result<std::vector<Ranked>> ActiveOf(LibraryState& state, const std::vector<Bm25Index::Hit>& hits) {
  std::vector<Ranked> ranked;
  MutexLock lock(state.mutex);
  for (const Bm25Index::Hit& hit : hits) {
    DAVINCI_ASSIGN_OR_RETURN(auto record, state.store.Find(hit.name));
    if (!record || record->state != SkillState::kActive) continue;
    ranked.push_back({std::move(*record), hit.score});
  }
  return ranked;
}

}  // namespace

Result<std::vector<Ranked>> Library::Search(std::string_view query, size_t k) {
  {
    MutexLock lock(state_->mutex);
    DAVINCI_ASSIGN_OR_RETURN(const int64_t sequence, state_->store.LastSequence());
    DAVINCI_RETURN_IF_ERROR(state_->search.CatchUp(state_->store, sequence));
  }
  return ActiveOf(*state_, state_->search.Search(query, k));
}

Result<std::vector<Ranked>> Library::SearchFor(const Audience& audience, std::string_view query,
                                               size_t k) {
  {
    MutexLock lock(state_->mutex);
    DAVINCI_ASSIGN_OR_RETURN(const int64_t sequence, state_->store.LastSequence());
    DAVINCI_RETURN_IF_ERROR(state_->search.CatchUpFor(audience, state_->store, sequence));
  }
  return ActiveOf(*state_, state_->search.SearchFor(audience, query, k));
}

Result<Prospect> Library::ProspectOf(const Skill& skill, bool may_replace) {
  MutexLock lock(state_->mutex);
  if (const Status valid = Validate(skill, Strictness::kPublished); !valid.ok())
    return Prospect{valid.message(), false};
  DAVINCI_ASSIGN_OR_RETURN(const Encounter encounter, state_->Meet(skill));
  return skill::ProspectOf(skill, encounter, may_replace);
}

Result<std::vector<Record>> Library::At(const Moment& moment) {
  MutexLock lock(state_->mutex);
  DAVINCI_ASSIGN_OR_RETURN(const int64_t sequence, state_->SequenceOf(moment));
  return state_->store.At(sequence);
}

Result<std::vector<Event>> Library::History(std::string_view name, size_t limit) {
  MutexLock lock(state_->mutex);
  Statement select(state_->db(),
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
  if (code != SQLITE_DONE) return SqliteFailure(state_->db(), code, state_->Doing("reading"));
  std::reverse(events.begin(), events.end());
  return events;
}

Result<std::vector<Snapshot>> Library::Snapshots() {
  MutexLock lock(state_->mutex);
  return state_->AllSnapshots();
}

// --- writing ---

Result<std::vector<AdmissionResult>> Library::AddAll(
    const std::vector<std::pair<Skill, std::vector<Evidence>>>& skills) {
  MutexLock lock(state_->mutex);
  std::vector<AdmissionResult> results;
  const Status done = state_->Transact([&]() DAVINCI_REQUIRES(state_->mutex) -> Status {
    for (const auto& [skill, evidence] : skills) {
      DAVINCI_ASSIGN_OR_RETURN(AdmissionResult result,
                               state_->Admit(skill, evidence, std::nullopt));
      results.push_back(std::move(result));
    }
    return Status::Ok();
  });
  DAVINCI_RETURN_IF_ERROR(done);
  return results;
}

Result<int64_t> Library::AddExactly(const std::vector<Record>& records) {
  MutexLock lock(state_->mutex);
  int64_t num_added = 0;
  const Status done = state_->Transact([&]() DAVINCI_REQUIRES(state_->mutex) -> Status {
    DAVINCI_ASSIGN_OR_RETURN(int64_t position, state_->store.LastPosition());
    std::string taken;
    for (Record record : records) {
      DAVINCI_RETURN_IF_ERROR(Validate(record.skill, Strictness::kPublished));
      for (const Evidence& one : record.evidence) DAVINCI_RETURN_IF_ERROR(Validate(one));
      DAVINCI_ASSIGN_OR_RETURN(const auto known, state_->store.Find(record.skill.name));
      if (known && known->skill == record.skill) continue;
      if (known) {
        taken += fmt::format("{}{}", taken.empty() ? "" : ", ", record.skill.name);
        continue;
      }
      record.position = ++position;
      DAVINCI_RETURN_IF_ERROR(state_->Write(record, {"import", "exactly", std::nullopt}));
      ++num_added;
    }
    if (taken.empty()) return Status::Ok();
    return FailedPrecondition(
        fmt::format("the library {} has other skills of the same name: {}; nothing was added",
                    state_->file->name(), taken));
  });
  DAVINCI_RETURN_IF_ERROR(done);
  return num_added;
}

Status Library::Replace(const Skill& skill, const std::vector<Evidence>& evidence,
                        std::string_view reason) {
  DAVINCI_RETURN_IF_ERROR(Validate(skill, Strictness::kPublished));
  for (const Evidence& one : evidence) DAVINCI_RETURN_IF_ERROR(Validate(one));
  MutexLock lock(state_->mutex);
  return state_->Transact([&]() DAVINCI_REQUIRES(state_->mutex) -> Status {
    DAVINCI_ASSIGN_OR_RETURN(auto record, state_->store.Find(skill.name));
    if (!record)
      return NotFound(fmt::format("the library {} has no skill \"{}\" to replace",
                                  state_->file->name(), skill.name));
    const bool same_content = record->skill.content == skill.content;
    record->skill = skill;
    if (!same_content || !evidence.empty()) record->evidence = evidence;
    std::sort(record->evidence.begin(), record->evidence.end(),
              [](const Evidence& a, const Evidence& b) {
                return std::tie(a.target, a.language) < std::tie(b.target, b.language);
              });
    record->state = SkillState::kActive;
    return state_->Write(*record, {"replace", std::string(reason), std::nullopt});
  });
}

Status Library::Retire(std::string_view name, std::string_view reason) {
  MutexLock lock(state_->mutex);
  return state_->Transact([&]() DAVINCI_REQUIRES(state_->mutex) -> Status {
    DAVINCI_ASSIGN_OR_RETURN(auto record, state_->store.Find(name));
    if (!record)
      return NotFound(
          fmt::format("the library {} has no skill \"{}\"", state_->file->name(), name));
    if (record->state == SkillState::kRetired) return Status::Ok();
    record->state = SkillState::kRetired;
    return state_->Write(*record, {"retire", std::string(reason), std::nullopt});
  });
}

Result<int64_t> Library::Rollback(const Moment& moment, std::string_view reason) {
  MutexLock lock(state_->mutex);
  int64_t num_changed = 0;
  const Status done = state_->Transact([&]() DAVINCI_REQUIRES(state_->mutex) -> Status {
    DAVINCI_ASSIGN_OR_RETURN(const int64_t sequence, state_->SequenceOf(moment));
    DAVINCI_ASSIGN_OR_RETURN(const std::vector<Record> now, state_->store.All());
    DAVINCI_ASSIGN_OR_RETURN(const std::vector<Record> then, state_->store.At(sequence));
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
      DAVINCI_RETURN_IF_ERROR(state_->store.Put(record, cause, state_->Now()));
      ++num_changed;
    }
    for (const auto& [name, record] : gone) {
      DAVINCI_RETURN_IF_ERROR(state_->store.Remove(*record, cause, state_->Now()));
      ++num_changed;
    }
    state_->near_duplicates.reset();
    // Later steps will be done again.
    return SqliteExec(
        state_->db(),
        fmt::format(
            "DELETE FROM snapshots WHERE seq > {};"
            "DELETE FROM staged WHERE step > COALESCE((SELECT MAX(step) FROM snapshots), {});",
            sequence, std::numeric_limits<int64_t>::min()),
        state_->Doing("writing"));
  });
  DAVINCI_RETURN_IF_ERROR(done);
  return num_changed;
}

Result<AdmissionResult> AddSkill(Library& library, const Skill& skill,
                                 const std::vector<Evidence>& evidence) {
  DAVINCI_ASSIGN_OR_RETURN(auto results, library.AddAll({{skill, evidence}}));
  return std::move(results.front());
}

}  // namespace davinci::skill
