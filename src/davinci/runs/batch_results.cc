#include "davinci/runs/batch_results.h"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "davinci/base/files.h"
#include "davinci/base/json_text.h"

namespace davinci::runs {
namespace {

using nlohmann::json;

constexpr uint64_t kMaxResultsBytes = uint64_t{4} << 30;

// Of a record that is no verdict: which job, and what stood in its way.
std::string FaultOf(const json& record) {
  const json job = record.value("job", json::object());
  return JsonText(json::array(
      {record.value("id", json()), job.value("hash", json()), record.value("message", json())}));
}

}  // namespace

bool IsFaultOfInput(const Evaluation& evaluation) {
  return evaluation.outcome == Outcome::kJudgeError &&
         evaluation.evidence.value("kind", "") == "bad_input";
}

json BatchRecord(const judge::BatchEntry& entry, const Evaluation& evaluation, int attempts,
                 const std::string& same_as) {
  json record = ToJson(evaluation);
  record["id"] = entry.job.id;
  json& job = record["job"];
  job = {{"line", entry.line},
         {"reference", entry.job.reference_path},
         {"candidate", entry.job.candidate_path},
         {"target", TargetName(entry.job.target)},
         {"hash", entry.hash},
         {"attempts", attempts}};
  if (!same_as.empty()) job["same_as"] = same_as;
  return record;
}

Result<BatchResults> BatchResults::Open(const std::filesystem::path& jobs,
                                        const std::filesystem::path& results) {
  std::error_code error;
  if (std::filesystem::equivalent(jobs, results, error))
    return InvalidArgument("--out names the job file itself; choose another file for the results");
  // Before the journal takes a last line without an end for one of its own, and cuts it off.
  std::ifstream file(results);
  if (file && file.peek() != '{' && file.peek() != std::ifstream::traits_type::eof())
    return InvalidArgument(fmt::format(
        "{} holds something else than results of a batch; choose another --out", results.string()));
  BatchResults opened;
  DAVINCI_ASSIGN_OR_RETURN(opened.journal_, store::Journal::Open(results));
  DAVINCI_ASSIGN_OR_RETURN(const auto earlier, store::Journal::Read(results));
  for (const json& record : earlier.records) {
    auto evaluation = EvaluationFromJson(record);
    if (!evaluation.ok())
      return InvalidArgument(
          fmt::format("{} holds something else than results of a batch ({}); choose another --out",
                      results.string(), evaluation.status().message()));
    const auto job = record.find("job");
    if (IsFaultOfInput(*evaluation)) opened.reported_.insert(FaultOf(record));
    if (evaluation->outcome == Outcome::kJudgeError || job == record.end() || !job->is_object())
      continue;
    const auto hash = job->find("hash");
    const auto id = record.find("id");
    if (hash == job->end() || !hash->is_string() || id == record.end() || !id->is_string())
      continue;
    opened.finished_.emplace(id->get<std::string>(), hash->get<std::string>());
    opened.verdicts_.insert_or_assign(hash->get<std::string>(),
                                      Verdict{id->get<std::string>(), *std::move(evaluation)});
  }
  return opened;
}

const BatchResults::Verdict* BatchResults::Find(const std::string& hash) const {
  const auto found = verdicts_.find(hash);
  return found == verdicts_.end() ? nullptr : &found->second;
}

bool BatchResults::IsFinished(const std::string& id, const std::string& hash) const {
  return finished_.contains({id, hash});
}

Status BatchResults::Append(const json& record) {
  if (journal_ == nullptr) return Status::Ok();
  DAVINCI_ASSIGN_OR_RETURN(const Evaluation evaluation, EvaluationFromJson(record));
  if (IsFaultOfInput(evaluation) && reported_.contains(FaultOf(record))) return Status::Ok();
  return journal_->Append(record);
}

Result<std::map<std::string, json>> ReadVerdicts(const std::filesystem::path& results) {
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(results, kMaxResultsBytes));
  std::map<std::string, json> verdicts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    json row = json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!row.is_object() || !row.contains("id") || !row["id"].is_string()) continue;
    const std::string id = row["id"];
    verdicts[id] = row.contains("evaluation") ? json(row["evaluation"]) : std::move(row);
  }
  return verdicts;
}

}  // namespace davinci::runs
