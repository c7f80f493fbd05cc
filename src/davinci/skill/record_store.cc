#include "davinci/skill/record_store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/skill/library_schema.h"
#include "davinci/skill/skill_json.h"
#include "davinci/store/sqlite.h"

namespace davinci::skill {
namespace {

using nlohmann::json;
using store::SqliteFailure;
using store::Statement;

constexpr std::string_view kAbsent = "absent";

std::string BodyDocument(const Skill& skill) {
  OrderedJson document = {{"fields", FieldsJson(skill)}};
  if (!skill.json_line.empty()) document["json_line"] = skill.json_line;
  if (!skill.skill_md.empty()) document["skill_md"] = skill.skill_md;
  return JsonText(document);
}

Result<Skill> SkillFromBody(const std::string& text) {
  const OrderedJson document = OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object() || !document.value("fields", OrderedJson()).is_object())
    return Internal("a stored skill is damaged");
  DAVINCI_ASSIGN_OR_RETURN(Skill skill, SkillFromFields(document["fields"]));
  skill.json_line = document.value("json_line", "");
  skill.skill_md = document.value("skill_md", "");
  return skill;
}

// Columns: name, body (document), evidence, usage, state, position.
Result<std::optional<Record>> RecordFromRow(const Statement& row) {
  const std::string state = row.Text(4);
  if (state == kAbsent) return std::optional<Record>();
  Record record;
  DAVINCI_ASSIGN_OR_RETURN(record.skill, SkillFromBody(row.Text(1)));
  const json evidence = json::parse(row.Text(2), nullptr, /*allow_exceptions=*/false);
  if (!evidence.is_array()) return Internal("stored evidence is damaged");
  for (const json& one : evidence) {
    DAVINCI_ASSIGN_OR_RETURN(Evidence read, EvidenceFromJson(one));
    record.evidence.push_back(std::move(read));
  }
  DAVINCI_ASSIGN_OR_RETURN(
      record.usage, UsageFromJson(json::parse(row.Text(3), nullptr, /*allow_exceptions=*/false)));
  const auto parsed = ParseSkillState(state);
  if (!parsed) return Internal(fmt::format("unknown state \"{}\"", state));
  record.state = *parsed;
  record.position = row.Int(5);
  return std::optional<Record>(std::move(record));
}

}  // namespace

std::string RecordStore::Doing(std::string_view what) const {
  return fmt::format("{} the library {}", what, file_);
}

Result<std::optional<Record>> RecordStore::Find(std::string_view name) const {
  Statement select(db_,
                   "SELECT s.name, b.document, s.evidence, s.usage, s.state, s.position FROM "
                   "skills s JOIN bodies b ON b.hash = s.body WHERE s.name = ?");
  const int code = select.Bind(name).Step();
  if (code == SQLITE_DONE) return std::optional<Record>();
  if (code != SQLITE_ROW) return SqliteFailure(db_, code, Doing("reading"));
  auto record = RecordFromRow(select);
  if (!record.ok()) return record.status().Annotate(fmt::format("{}: {}", file_, name));
  return record;
}

Result<std::vector<RecordStore::Change>> RecordStore::ChangedAfter(int64_t sequence) const {
  Statement select(db_,
                   "SELECT s.name, b.document, s.evidence, s.usage, s.state, s.position FROM "
                   "skills s JOIN bodies b ON b.hash = s.body WHERE s.seq > ? ORDER BY s.seq");
  select.Bind(sequence);
  std::vector<Change> changes;
  int code = SQLITE_ROW;
  while ((code = select.Step()) == SQLITE_ROW) {
    auto record = RecordFromRow(select);
    if (!record.ok()) return record.status().Annotate(fmt::format("{}: {}", file_, select.Text(0)));
    changes.push_back({select.Text(0), std::move(*record)});
  }
  if (code != SQLITE_DONE) return SqliteFailure(db_, code, Doing("reading"));
  return changes;
}

Result<std::vector<Record>> RecordStore::Read(std::string_view sql,
                                              std::optional<int64_t> sequence) const {
  Statement select(db_, sql);
  if (sequence) select.Bind(*sequence);
  std::vector<Record> records;
  int code = SQLITE_ROW;
  while ((code = select.Step()) == SQLITE_ROW) {
    auto record = RecordFromRow(select);
    if (!record.ok()) return record.status().Annotate(fmt::format("{}: {}", file_, select.Text(0)));
    if (*record) records.push_back(std::move(**record));
  }
  if (code != SQLITE_DONE) return SqliteFailure(db_, code, Doing("reading"));
  return records;
}

Result<std::vector<Record>> RecordStore::All() const {
  return Read(
      "SELECT s.name, b.document, s.evidence, s.usage, s.state, s.position FROM skills s JOIN "
      "bodies b ON b.hash = s.body ORDER BY s.position, s.name",
      std::nullopt);
}

Result<std::vector<Record>> RecordStore::At(int64_t sequence) const {
  return Read(fmt::format("SELECT s.name, b.document, s.evidence, s.usage, s.state, s.position "
                          "FROM ({}) s JOIN bodies b ON b.hash = s.body ORDER BY s.name",
                          kStateAtEvent),
              sequence);
}

Result<int64_t> RecordStore::Number(std::string_view sql) const {
  Statement select(db_, sql);
  const int code = select.Step();
  if (code != SQLITE_ROW) return SqliteFailure(db_, code, Doing("reading"));
  return select.Int(0);
}

Result<int64_t> RecordStore::LastSequence() const {
  return Number("SELECT COALESCE(MAX(seq), 0) FROM events");
}

Result<int64_t> RecordStore::LastPosition() const {
  return Number("SELECT COALESCE(MAX(position), 0) FROM skills");
}

Result<int64_t> RecordStore::CountActive() const {
  return Number("SELECT COUNT(*) FROM skills WHERE state = 'active'");
}

Status RecordStore::Put(const Record& record, const Cause& cause, int64_t unix_s) {
  return Write(record, SkillStateName(record.state), cause, unix_s);
}

Status RecordStore::Remove(const Record& record, const Cause& cause, int64_t unix_s) {
  return Write(record, kAbsent, cause, unix_s);
}

Status RecordStore::Write(const Record& record, std::string_view state, const Cause& cause,
                          int64_t unix_s) {
  const std::string document = BodyDocument(record.skill);
  const std::string hash = Sha256Hex(document);
  json evidence = json::array();
  for (const Evidence& one : record.evidence) evidence.push_back(ToJson(one));
  const std::string evidence_text = JsonText(evidence);
  const std::string usage_text = JsonText(ToJson(record.usage));

  Statement body(db_, "INSERT OR IGNORE INTO bodies VALUES (?, ?)");
  if (const int code = body.Bind(hash).Bind(document).Step(); code != SQLITE_DONE)
    return SqliteFailure(db_, code, Doing("writing"));
  Statement event(db_,
                  "INSERT INTO events (unix_s, actor, step, kind, name, reason, body, evidence, "
                  "usage, state, position) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  event.Bind(unix_s).Bind(actor_);
  cause.step ? event.Bind(*cause.step) : event.BindNull();
  event.Bind(cause.kind)
      .Bind(record.skill.name)
      .Bind(cause.reason)
      .Bind(hash)
      .Bind(evidence_text)
      .Bind(usage_text)
      .Bind(state)
      .Bind(record.position);
  if (const int code = event.Step(); code != SQLITE_DONE)
    return SqliteFailure(db_, code, Doing("writing"));
  Statement row(db_, "INSERT OR REPLACE INTO skills VALUES (?, ?, ?, ?, ?, ?, ?)");
  row.Bind(record.skill.name)
      .Bind(hash)
      .Bind(evidence_text)
      .Bind(usage_text)
      .Bind(state)
      .Bind(record.position)
      .Bind(sqlite3_last_insert_rowid(db_));
  if (const int code = row.Step(); code != SQLITE_DONE)
    return SqliteFailure(db_, code, Doing("writing"));
  return Status::Ok();
}

}  // namespace davinci::skill
