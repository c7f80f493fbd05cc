#include "admit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "davinci/base/json_text.h"
#include "davinci/base/progress_line.h"
#include "davinci/base/table.h"
#include "report.h"

namespace davinci::app {
namespace {

using nlohmann::json;

constexpr const char* kSchema = "davinci.admission/1";
constexpr const char* kAnswers[] = {"zeros", "constant", "identity", "cached", "weights"};

// "no", "PASSES" or "PASSES (signed refuses)": does this wrong answer pass on the task's own
// inputs, and who sees it?
Table::Cell Verdict(const json& task, const char* answer) {
  const json& answers = task.at("answers");
  if (!answers.contains(answer) || !answers[answer].contains("task")) return {"-", TextStyle::kDim};
  if (!answers[answer]["task"].value("passes", false)) return {"no"};
  const auto by = task.at("caught_by").at(answer).get<std::vector<std::string>>();
  return {
      by.empty() ? std::string("PASSES") : fmt::format("PASSES, not on {}", fmt::join(by, ", ")),
      by.empty() ? TextStyle::kBad : TextStyle::kWarn};
}

// How many mutants died on which distribution: "9 on task, 2 on heavy_tailed, 1 SURVIVE".
Table::Cell Mutants(const json& mutants) {
  if (!mutants.is_object()) return {"-", TextStyle::kDim};
  std::vector<std::string> parts;
  for (const auto& [distribution, died] : mutants.at("died_on").items())
    parts.push_back(fmt::format("{} on {}", died.get<int>(), distribution));
  const size_t survive = mutants.at("survive").size();
  if (survive > 0) parts.push_back(fmt::format("{} SURVIVE", survive));
  if (const int undecided = mutants.at("undecided"); undecided > 0)
    parts.push_back(fmt::format("{} undecided", undecided));
  if (parts.empty()) return {"none", TextStyle::kDim};
  return {fmt::format("{}", fmt::join(parts, ", ")),
          survive > 0 ? TextStyle::kWarn : TextStyle::kPlain};
}

// Entries of an input's specification that are shown where they say more than these words.
constexpr std::pair<const char*, const char*> kPlainEntries[] = {
    {"sums", "none"},     {"order", "none"}, {"zeros", "free"},
    {"symmetry", "none"}, {"sign", "any"},   {"fractions", "none"}};

// The word of an entry: the sidecar's, else the inferred one, else that every draw is looked at.
std::string Word(const json& input, const json& overrides, const char* entry) {
  const json inferred = input.value(entry, json());
  const std::string found = inferred.is_string() ? inferred.get<std::string>() : "";
  const auto said = overrides.find(entry);
  if (said == overrides.end()) return found.empty() ? "by draw" : found;
  return fmt::format("{} (sidecar; inferred: {})", said->get<std::string>(),
                     found.empty() ? "by draw" : found);
}

// A row for each input of a task: what is known of it, and by whom.
void AddInputs(const json& task, Table* table) {
  const json& specification = task.at("specification");
  const json& inputs = specification.at("inputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    const json& input = inputs[i];
    const json overrides = specification.at("overrides").value(std::to_string(i), json::object());
    std::vector<std::string> more;
    for (const auto& [entry, plain] : kPlainEntries) {
      // Few inputs are asked whether fractions would do.
      if (std::string_view(entry) == "fractions" && input.at(entry).is_null() &&
          !overrides.contains(entry))
        continue;
      const std::string word = Word(input, overrides, entry);
      if (word != plain) more.push_back(fmt::format("{}: {}", entry, word));
    }
    if (input.at("axis").is_number() && input["axis"] != -1)
      more.push_back(fmt::format("along dimension {}", input["axis"].get<int>()));
    if (input.at("whole_columns").is_array() && !input["whole_columns"].empty())
      more.push_back(fmt::format("whole numbers in columns {}",
                                 fmt::join(input["whole_columns"].get<std::vector<int>>(), ", ")));
    table->AddRow({i == 0 ? task.at("task").get<std::string>() : "", std::to_string(i),
                   fmt::format("{} [{}]", input.at("dtype").get<std::string>(),
                               fmt::join(input.at("shape").get<std::vector<int64_t>>(), ", ")),
                   Word(input, overrides, "varies"), Word(input, overrides, "values"),
                   fmt::format("{}", fmt::join(more, "; "))});
  }
}

}  // namespace

int RunAdmit(const std::vector<std::string>& tasks, Target target,
             const judge::JudgeOptions& options, bool as_json) {
  auto judge = judge::Judge::Create(options);
  if (!judge.ok()) {
    fmt::print(stderr, "davinci judge: {}\n", judge.status().ToString());
    return 3;
  }
  ProgressLine progress;
  json found = json::array();
  int exit_code = 0;
  for (const std::string& path : tasks) {
    progress.Show(path + " …");
    auto admitted = (*judge)->Admit(path, target);
    json entry = admitted.ok() ? *admitted : json{{"error", admitted.status().ToString()}};
    entry["task"] = path;
    found.push_back(std::move(entry));
    if (!admitted.ok()) exit_code = 2;
  }
  progress.Clear();
  if (as_json) {
    const json document = {
        {"schema", kSchema}, {"target", TargetName(target)}, {"tasks", std::move(found)}};
    fmt::print("{}\n", JsonText(document, 2));
    return exit_code;
  }
  Table table({{"task"},
               {"zeros"},
               {"constant"},
               {"identity"},
               {"cached output"},
               {"other weights"},
               {"repeatable"},
               {"mutants"},
               {"tags"}});
  for (const json& task : found) {
    std::vector<Table::Cell> row = {task.at("task").get<std::string>()};
    if (task.contains("error")) {
      row.emplace_back("failed", TextStyle::kBad);
      table.AddRow(std::move(row));
      continue;
    }
    for (const char* answer : kAnswers) row.push_back(Verdict(task, answer));
    const bool repeatable = task.value("repeatable", false);
    row.emplace_back(repeatable ? "yes" : "NO", repeatable ? TextStyle::kPlain : TextStyle::kWarn);
    row.push_back(Mutants(task.value("mutants", json())));
    row.emplace_back(
        fmt::format("{}", fmt::join(task.at("tags").get<std::vector<std::string>>(), ", ")));
    table.AddRow(std::move(row));
  }
  fmt::print("{}", table.Render({UseColor(STDOUT_FILENO), 0, ""}));
  for (const json& task : found) {
    const json mutants = task.value("mutants", json::object());
    for (const json& text : mutants.value("survive", json::array()))
      fmt::print("{}: no input tells it from one with {}\n", task.at("task").get<std::string>(),
                 text.get<std::string>());
  }
  Table inputs({{"task"}, {"input", Align::kRight}, {"tensor"}, {"varies"}, {"values"}, {"more"}});
  for (const json& task : found)
    if (task.contains("specification")) AddInputs(task, &inputs);
  if (inputs.num_rows() > 0) fmt::print("\n{}", inputs.Render({UseColor(STDOUT_FILENO), 0, ""}));
  for (const json& task : found)
    if (task.contains("error"))
      fmt::print("{}: {}\n", task.at("task").get<std::string>(),
                 task.at("error").get<std::string>());
  return exit_code;
}

}  // namespace davinci::app
