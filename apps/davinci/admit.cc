#include "admit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

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
    row.emplace_back(
        fmt::format("{}", fmt::join(task.at("tags").get<std::vector<std::string>>(), ", ")));
    table.AddRow(std::move(row));
  }
  fmt::print("{}", table.Render({UseColor(STDOUT_FILENO), 0, ""}));
  for (const json& task : found)
    if (task.contains("error"))
      fmt::print("{}: {}\n", task.at("task").get<std::string>(),
                 task.at("error").get<std::string>());
  return exit_code;
}

}  // namespace davinci::app
