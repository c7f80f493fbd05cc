// Staging and Flush(step) of Library.

#include <fmt/format.h>

#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/skill/library.h"
#include "davinci/skill/library_schema.h"
#include "davinci/skill/library_state.h"
#include "davinci/skill/retention.h"
#include "davinci/skill/skill_json.h"

namespace davinci::skill {
namespace {

using nlohmann::json;
using store::SqliteFailure;
using store::Statement;

json EvidenceJson(const std::vector<Evidence>& evidence) {
  json list = json::array();
  for (const Evidence& one : evidence) list.push_back(ToJson(one));
  return list;
}

std::string StagedDocument(const Staged& staged) {
  OrderedJson document = {{"skill", FieldsJson(staged.skill)}};
  document["evidence"] = EvidenceJson(staged.evidence);
  if (staged.is_version) document["is_version"] = true;
  return JsonText(document);
}

std::string StagedDocument(const StagedUsage& staged) {
  json document = json::array();
  for (const auto& [name, usage] : staged.usage)
    document.push_back({{"name", name}, {"usage", ToJson(usage)}});
  return JsonText(document);
}

json ResultJson(const AdmissionResult& result) {
  return {{"admission", AdmissionName(result.admission)},
          {"name", result.name},
          {"reason", result.reason}};
}

// Of a document that Flush() wrote.
FlushResult FlushResultFromJson(int64_t step, const json& document) {
  FlushResult result;
  result.step = step;
  result.already_flushed = true;
  result.num_active = document.value("num_active", int64_t{0});
  result.retired = document.value("retired", std::vector<std::string>());
  result.evicted = document.value("evicted", std::vector<std::string>());
  for (const json& entry : document.value("admissions", json::array())) {
    AdmissionResult one{Admission::kRefused, entry.value("name", ""), entry.value("reason", "")};
    for (const Admission a : {Admission::kAdded, Admission::kUnchanged, Admission::kMerged})
      if (entry.value("admission", "") == AdmissionName(a)) one.admission = a;
    result.admissions.emplace_back(entry.value("key", ""), std::move(one));
  }
  return result;
}

}  // namespace

Result<bool> LibraryState::StageDocument(int64_t step, const std::string& key, const char* kind,
                                         const std::string& document) {
  bool is_new = false;
  const Status done = Transact([&]() DAVINCI_REQUIRES(mutex) -> Status {
    Statement find(db(), "SELECT kind FROM staged WHERE key = ?");
    const int found = find.Bind(key).Step();
    if (found == SQLITE_ROW) {
      if (find.Text(0) == kind) return Status::Ok();
      return InvalidArgument(
          fmt::format("the key \"{}\" is that of a staged {} already", key, find.Text(0)));
    }
    if (found != SQLITE_DONE) return SqliteFailure(db(), found, Doing("reading"));
    DAVINCI_ASSIGN_OR_RETURN(const auto latest, LatestSnapshot());
    if (latest && latest->step >= step)
      return FailedPrecondition(
          fmt::format("step {} of the library {} was flushed already (the latest is {}); \"{}\" "
                      "comes too late",
                      step, file->name(), latest->step, key));
    Statement insert(db(), "INSERT INTO staged VALUES (?, ?, ?, ?, NULL)");
    const int code = insert.Bind(key).Bind(step).Bind(kind).Bind(document).Step();
    if (code != SQLITE_DONE) return SqliteFailure(db(), code, Doing("writing"));
    is_new = true;
    return Status::Ok();
  });
  DAVINCI_RETURN_IF_ERROR(done);
  return is_new;
}

Result<bool> Library::Stage(int64_t step, const Staged& staged) {
  MutexLock lock(state_->mutex);
  return state_->StageDocument(step, staged.key, "skill", StagedDocument(staged));
}

Result<bool> Library::StageUsage(int64_t step, const StagedUsage& usage) {
  MutexLock lock(state_->mutex);
  return state_->StageDocument(step, usage.key, "usage", StagedDocument(usage));
}

Status LibraryState::AdmitStaged(int64_t step, FlushResult* result) {
  struct Waiting {
    std::string key;
    std::string kind;
    std::string document;
  };
  std::vector<Waiting> all;
  {
    Statement select(db(),
                     "SELECT key, kind, document FROM staged WHERE step <= ? AND result IS NULL "
                     "ORDER BY step, key");
    select.Bind(step);
    int code = SQLITE_ROW;
    while ((code = select.Step()) == SQLITE_ROW)
      all.push_back({select.Text(0), select.Text(1), select.Text(2)});
    if (code != SQLITE_DONE) return SqliteFailure(db(), code, Doing("reading"));
  }
  std::map<std::string, Usage> usage;
  for (const Waiting& waiting : all) {
    const OrderedJson document =
        OrderedJson::parse(waiting.document, nullptr, /*allow_exceptions=*/false);
    json outcome = json::object();
    if (waiting.kind == "usage") {
      for (const auto& entry : document) {
        DAVINCI_ASSIGN_OR_RETURN(const Usage one, UsageFromJson(json(entry["usage"])));
        usage[entry["name"].get<std::string>()].Add(one);
      }
    } else {
      DAVINCI_ASSIGN_OR_RETURN(const Skill skill, SkillFromFields(document["skill"]));
      std::vector<Evidence> evidence;
      for (const auto& entry : document["evidence"]) {
        DAVINCI_ASSIGN_OR_RETURN(Evidence one, EvidenceFromJson(json(entry)));
        evidence.push_back(std::move(one));
      }
      DAVINCI_ASSIGN_OR_RETURN(AdmissionResult admission,
                               Admit(skill, evidence, step, document.value("is_version", false)));
      outcome = ResultJson(admission);
      result->admissions.emplace_back(waiting.key, std::move(admission));
    }
    Statement update(db(), "UPDATE staged SET result = ? WHERE key = ?");
    if (const int code = update.Bind(JsonText(outcome)).Bind(waiting.key).Step();
        code != SQLITE_DONE)
      return SqliteFailure(db(), code, Doing("writing"));
  }
  return CountUsage(step, usage);
}

Status LibraryState::CountUsage(int64_t step, const std::map<std::string, Usage>& usage) {
  for (const auto& [name, more] : usage) {
    DAVINCI_ASSIGN_OR_RETURN(auto record, store.Find(name));
    if (!record) continue;
    record->usage.Add(more);
    DAVINCI_RETURN_IF_ERROR(Write(*record, {"usage", "", step}));
  }
  return Status::Ok();
}

// Only what changed since the last flush can have become worth retiring.
Status LibraryState::Retire(int64_t step, int64_t since_sequence, FlushResult* result) {
  DAVINCI_ASSIGN_OR_RETURN(const auto changes, store.ChangedAfter(since_sequence));
  for (const RecordStore::Change& change : changes) {
    if (!change.record || change.record->state != SkillState::kActive) continue;
    const auto reason = RetirementReason(*change.record);
    if (!reason) continue;
    Record record = *change.record;
    record.state = SkillState::kRetired;
    DAVINCI_RETURN_IF_ERROR(Write(record, {"retire", *reason, step}));
    result->retired.push_back(change.name);
  }
  return Status::Ok();
}

Status LibraryState::Evict(int64_t step, FlushResult* result) {
  DAVINCI_ASSIGN_OR_RETURN(result->num_active, store.CountActive());
  if (options.max_active == 0 || result->num_active <= static_cast<int64_t>(options.max_active))
    return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(const std::vector<Record> records, store.All());
  for (const std::string& name : ChooseEvictions(records, options.max_active)) {
    DAVINCI_ASSIGN_OR_RETURN(auto record, store.Find(name));
    record.value().state = SkillState::kEvicted;
    const std::string reason =
        fmt::format("more than {} active skills; worth {:.3g}, selected {} times",
                    options.max_active, Worth(record.value()), record.value().usage.selected);
    DAVINCI_RETURN_IF_ERROR(Write(record.value(), {"evict", reason, step}));
    result->evicted.push_back(name);
    --result->num_active;
  }
  return Status::Ok();
}

Status LibraryState::WriteSnapshot(int64_t step, const FlushResult& result) {
  json document = {{"num_active", result.num_active},
                   {"retired", result.retired},
                   {"evicted", result.evicted},
                   {"admissions", json::array()}};
  for (const auto& [key, admission] : result.admissions) {
    json entry = ResultJson(admission);
    entry["key"] = key;
    document["admissions"].push_back(std::move(entry));
  }
  DAVINCI_ASSIGN_OR_RETURN(const int64_t sequence, store.LastSequence());
  DAVINCI_ASSIGN_OR_RETURN(const std::string digest, LibraryDigest(db(), sequence, file->name()));
  Statement insert(db(),
                   "INSERT INTO snapshots (step, seq, num_active, unix_s, result, digest) VALUES "
                   "(?, ?, ?, ?, ?, ?)");
  const int code = insert.Bind(step)
                       .Bind(sequence)
                       .Bind(result.num_active)
                       .Bind(Now())
                       .Bind(JsonText(document))
                       .Bind(digest)
                       .Step();
  return code == SQLITE_DONE ? Status::Ok() : SqliteFailure(db(), code, Doing("writing"));
}

Result<FlushResult> Library::Flush(int64_t step) {
  MutexLock lock(state_->mutex);
  FlushResult result;
  result.step = step;
  const Status done = state_->Transact([&]() DAVINCI_REQUIRES(state_->mutex) -> Status {
    Statement find(state_->db(), "SELECT result FROM snapshots WHERE step = ?");
    const int found = find.Bind(step).Step();
    if (found == SQLITE_ROW) {
      result =
          FlushResultFromJson(step, json::parse(find.Text(0), nullptr, /*allow_exceptions=*/false));
      return Status::Ok();
    }
    if (found != SQLITE_DONE) return SqliteFailure(state_->db(), found, state_->Doing("reading"));
    DAVINCI_ASSIGN_OR_RETURN(const auto latest, state_->LatestSnapshot());
    if (latest && latest->step > step)
      return FailedPrecondition(
          fmt::format("step {} of the library {} cannot be flushed behind step {}; roll back first",
                      step, state_->file->name(), latest->step));
    DAVINCI_RETURN_IF_ERROR(state_->AdmitStaged(step, &result));
    DAVINCI_RETURN_IF_ERROR(state_->Retire(step, latest ? latest->sequence : 0, &result));
    DAVINCI_RETURN_IF_ERROR(state_->Evict(step, &result));
    return state_->WriteSnapshot(step, result);
  });
  DAVINCI_RETURN_IF_ERROR(done);
  return result;
}

}  // namespace davinci::skill
