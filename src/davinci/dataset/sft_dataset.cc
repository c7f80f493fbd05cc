#include "davinci/dataset/sft_dataset.h"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/store/run_store.h"

namespace davinci::dataset {
namespace {

namespace fs = std::filesystem;
using sftdata::OrderedJson;

constexpr char kScratch[] = "rows.partial";

class Dataset {
 public:
  explicit Dataset(const DatasetRequest& request) : request_(request) {}

  Result<DatasetResult> Write() {
    DAVINCI_RETURN_IF_ERROR(MakeDirs(request_.out));
    DAVINCI_RETURN_IF_ERROR(RemoveAll(request_.out / "manifest.json"));
    scratch_.open(request_.out / kScratch, std::ios::binary | std::ios::trunc);
    if (!scratch_) return FromErrno(errno, (request_.out / kScratch).string());
    for (const fs::path& input : request_.inputs) DAVINCI_RETURN_IF_ERROR(ReadInput(input));
    scratch_.close();
    if (scratch_.fail()) return FromErrno(errno, (request_.out / kScratch).string());
    result_.candidates = static_cast<int64_t>(facts_.size());
    if (facts_.empty())
      return InvalidArgument(fmt::format("no example in {} input(s){}", request_.inputs.size(),
                                         Reasons(result_.left_out)));
    const sftdata::DiversityResult chosen =
        sftdata::ChooseDiverse(facts_, request_.evaluation, request_.diversity);
    for (size_t i = 0; i < facts_.size(); ++i)
      if (!chosen.rule[i].empty()) ++result_.dropped[chosen.rule[i]];
    if (chosen.kept.empty())
      return InvalidArgument(
          fmt::format("none of {} examples is left{}", facts_.size(), Reasons(result_.dropped)));
    DAVINCI_RETURN_IF_ERROR(Copy(chosen));
    DAVINCI_RETURN_IF_ERROR(RemoveAll(request_.out / kScratch));
    DAVINCI_RETURN_IF_ERROR(WriteManifest(chosen));
    return std::move(result_);
  }

 private:
  static std::string Reasons(const std::map<std::string, int64_t>& counts) {
    std::string text;
    for (const auto& [rule, count] : counts)
      text += fmt::format("{} {} {}", text.empty() ? ":" : ",", count, rule);
    return text;
  }

  Status ReadInput(const fs::path& input) {
    std::error_code error;
    // What collect made: the first pass has the null schemes that selections are compared with.
    if (fs::is_directory(input / "pass-1", error)) {
      DAVINCI_RETURN_IF_ERROR(ReadRun(input / "pass-1"));
      return fs::is_directory(input / "pass-2", error) ? ReadRun(input / "pass-2") : Status::Ok();
    }
    if (store::RunStore::IsRun(input)) return ReadRun(input);
    if (fs::is_directory(input, error))
      return InvalidArgument(
          fmt::format("{}: neither a run (optimize, bench, collect, train) nor a file of rows",
                      input.string()));
    return ReadRows(input);
  }

  Status Keep(const sftdata::Row& row) {
    sftdata::RowFacts facts = sftdata::FactsOf(row);
    // Runs of one name and rows without an id: a data set needs distinct ones.
    const int seen = ids_[facts.id]++;
    if (seen > 0) facts.id += fmt::format("~{}", seen);
    facts_.push_back(std::move(facts));
    scratch_ << JsonText(ToJson(row)) << '\n';
    return scratch_ ? Status::Ok() : FromErrno(errno, (request_.out / kScratch).string());
  }

  Status ReadRun(const fs::path& folder) {
    ExampleCounts counts;
    DAVINCI_RETURN_IF_ERROR(ExamplesOfRun(folder, request_.rules, &null_values_, &counts,
                                          [this](const sftdata::Row& row) { return Keep(row); }));
    for (const auto& [rule, count] : counts.left_out) result_.left_out[rule] += count;
    inputs_.push_back({{"path", folder.string()}, {"kind", "run"}, {"counts", ToJson(counts)}});
    return Status::Ok();
  }

  Status ReadRows(const fs::path& path) {
    std::ifstream file(path);
    if (!file) return NotFound(fmt::format("{}: cannot be read", path.string()));
    int64_t number = 0;
    int64_t rows = 0;
    int64_t failed = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
      const auto row = sftdata::ParseAnyRow(line);
      if (!row.ok()) return row.status().Annotate(fmt::format("{}:{}", path.string(), number));
      if (!*row) {
        ++failed;
        continue;
      }
      ++rows;
      DAVINCI_RETURN_IF_ERROR(Keep(**row));
    }
    if (failed > 0) result_.left_out["status"] += failed;
    inputs_.push_back({{"path", path.string()},
                       {"kind", "rows"},
                       {"counts", {{"rows", rows}, {"left_out", {{"status", failed}}}}}});
    return Status::Ok();
  }

  Status Copy(const sftdata::DiversityResult& chosen) {
    const std::vector<bool> held =
        sftdata::HoldOut(facts_, chosen, request_.eval_share, request_.diversity.seed);
    std::ifstream rows(request_.out / kScratch);
    std::ofstream out[2];
    const char* names[2] = {"train.jsonl", "eval.jsonl"};
    Sha256 hashes[2];
    int64_t written[2] = {0, 0};
    for (int side = 0; side < (request_.eval_share > 0 ? 2 : 1); ++side)
      out[side].open(request_.out / (std::string(names[side]) + ".partial"),
                     std::ios::binary | std::ios::trunc);
    std::set<std::string> tasks;  // rl: one row a task
    for (size_t i = 0; i < facts_.size(); ++i) {
      std::string line;
      std::getline(rows, line);
      if (!chosen.rule[i].empty()) continue;
      DAVINCI_ASSIGN_OR_RETURN(sftdata::Row row, sftdata::ParseRow(line));
      row.origin.id = facts_[i].id;
      row.origin.family = facts_[i].family;
      const auto formatted = sftdata::ToFormat(row, request_.format);
      if (!formatted) continue;
      if (request_.format == sftdata::Format::kRl && !tasks.insert(row.origin.task).second)
        continue;
      const int side = held[i] ? 1 : 0;
      const std::string text = JsonText(*formatted) + "\n";
      out[side] << text;
      hashes[side].Update(text);
      ++written[side];
      ++result_.kept[std::string(rl::AgentKindName(row.agent))];
    }
    result_.train = written[0];
    result_.eval = written[1];
    for (int side = 0; side < (request_.eval_share > 0 ? 2 : 1); ++side) {
      const fs::path path = request_.out / names[side];
      const fs::path partial = path.string() + ".partial";
      out[side].close();
      if (out[side].fail()) return FromErrno(errno, partial.string());
      std::error_code error;
      fs::rename(partial, path, error);
      if (error) return FromErrno(error.value(), path.string());
      files_[names[side]] = {{"rows", written[side]}, {"sha256", hashes[side].FinishHex()}};
      result_.files.push_back(path);
    }
    if (request_.eval_share <= 0) return RemoveAll(request_.out / names[1]);
    return Status::Ok();
  }

  Status WriteManifest(const sftdata::DiversityResult& chosen) {
    Sha256 evaluation;
    for (const std::string& text : request_.evaluation) evaluation.Field(text);
    const sftdata::DiversityOptions& diversity = request_.diversity;
    const sftdata::TrajectoryRules& rules = request_.rules.trajectory;
    const OrderedJson manifest = {
        {"schema", "davinci.sft_data/1"},
        {"version", request_.version},
        {"format", sftdata::FormatName(request_.format)},
        {"inputs", inputs_},
        {"rules",
         {{"turns", sftdata::TurnChoiceName(rules.turns)},
          {"min_speedup", rules.min_speedup},
          {"max_repeated", rules.max_repeated},
          {"min_selection_uplift", request_.rules.min_selection_uplift},
          {"seed", diversity.seed},
          {"contaminated", diversity.contaminated},
          {"near_reference", diversity.near_reference},
          {"near_skill", diversity.near_skill},
          {"per_reference", diversity.per_reference},
          {"per_cell", diversity.per_cell},
          {"eval_share", request_.eval_share}}},
        {"evaluation", {{"files", request_.evaluation.size()}, {"sha256", evaluation.FinishHex()}}},
        {"left_out", result_.left_out},
        {"dropped", result_.dropped},
        {"agents", sftdata::CountsOf(facts_, chosen)},
        {"files", files_}};
    return WriteFileAtomic(request_.out / "manifest.json", JsonText(manifest, 2) + "\n");
  }

  const DatasetRequest& request_;
  DatasetResult result_;
  NullValues null_values_;
  std::vector<sftdata::RowFacts> facts_;
  std::map<std::string, int> ids_;
  std::ofstream scratch_;
  OrderedJson inputs_ = OrderedJson::array();
  OrderedJson files_ = OrderedJson::object();
};

}  // namespace

Result<DatasetResult> WriteDataset(const DatasetRequest& request) {
  return Dataset(request).Write();
}

}  // namespace davinci::dataset
