#include "demo_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "davinci/base/files.h"
#include "davinci/data/evaluation.h"
#include "davinci/data/shown_interval.h"
#include "davinci/runs/batch_results.h"
#include "davinci/synth/gallery.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMostShown = 200;              // tasks of a gallery
constexpr size_t kMostBytes = size_t{4} << 30;  // of demos.jsonl

// By candidate.
Result<std::map<std::string, json>> Verdicts(const fs::path& folder) {
  return runs::ReadVerdicts(folder / "results.jsonl");
}

}  // namespace

void AddDemos(const json& row, Demos* demos) {
  for (const json& candidate : row.at("candidates")) {
    if (!candidate.contains("size")) continue;  // with a mistake
    (*demos)[candidate.at("id")] = {row.at("family"), candidate.at("size"),
                                    candidate.at("language"), candidate.at("level"),
                                    candidate.at("own_kernels")};
  }
}

Result<Demos> ReadDemos(const fs::path& folder) {
  const fs::path path = folder / "demos.jsonl";
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostBytes));
  Demos demos;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    try {
      AddDemos(json::parse(line), &demos);
    } catch (const json::exception&) {
      return InvalidArgument(fmt::format("{}: not written by davinci synth demos", path.string()));
    }
  }
  return demos;
}

Status PrintDemoTable(const fs::path& folder, const Demos& demos) {
  DAVINCI_ASSIGN_OR_RETURN(const auto verdicts, Verdicts(folder));
  struct Cell {
    size_t tasks = 0, correct = 0, own = 0, faster = 0, timed = 0;
    std::vector<double> speedups;
    std::map<std::string, size_t> status;
  };
  std::map<std::string, Cell> cells;
  for (const auto& [id, demo] : demos) {
    const auto found = verdicts.find(id);
    for (const std::string& key :
         {fmt::format("{}|{}|{}|{}", demo.language, demo.level, demo.family, demo.size),
          fmt::format("{}|{}|all|all", demo.language, demo.level)}) {
      Cell& cell = cells[key];
      ++cell.tasks;
      cell.own += demo.own_kernels > 0;
      if (found == verdicts.end()) {
        ++cell.status["not judged"];
        continue;
      }
      const json& verdict = found->second;
      const json& correct = verdict.value("correct", json());
      cell.correct += correct.is_boolean() && correct.get<bool>();
      ++cell.status[verdict.value("status", "?")];
      if (!verdict.contains("speedup") || !verdict["speedup"].is_object()) continue;
      const json& speedup = verdict["speedup"];
      if (!speedup.contains("median") || !speedup["median"].is_number()) continue;
      ++cell.timed;
      cell.speedups.push_back(speedup["median"].get<double>());
      cell.faster += speedup.value("significant", false) && speedup["median"].get<double>() > 1;
    }
  }
  std::string table =
      "| language | level | family | size | tasks | own kernel | correct | faster | p10 | median "
      "| p90 | outcomes |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (auto& [key, cell] : cells) {
    std::sort(cell.speedups.begin(), cell.speedups.end());
    const auto quantile = [&](double q) -> std::string {
      if (cell.speedups.empty()) return "";
      return fmt::format(
          "{:.2f}",
          cell.speedups[static_cast<size_t>(q * static_cast<double>(cell.speedups.size() - 1))]);
    };
    std::string row = key, outcomes;
    for (size_t at = 0; (at = row.find('|', at)) != std::string::npos; at += 3)
      row.replace(at, 1, " | ");
    for (const auto& [status, number] : cell.status)
      outcomes += fmt::format("{}{} {}", outcomes.empty() ? "" : ", ", number, status);
    table += fmt::format("| {} | {} | {} | {} | {} of {} timed | {} | {} | {} | {} |\n", row,
                         cell.tasks, cell.own, cell.correct, cell.faster, cell.timed, quantile(0.1),
                         quantile(0.5), quantile(0.9), outcomes);
  }
  fmt::print("{}", table);
  return WriteFileAtomic(folder / "table.md", table);
}

Status WriteDemoGallery(const fs::path& folder) {
  std::error_code error;
  std::map<std::string, json> verdicts;
  if (fs::exists(folder / "results.jsonl", error)) {
    DAVINCI_ASSIGN_OR_RETURN(verdicts, Verdicts(folder));
  }
  DAVINCI_ASSIGN_OR_RETURN(const std::string manifest, ReadFile(folder / "manifest.json"));
  DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(folder / "demos.jsonl", kMostBytes));
  std::istringstream lines(text);
  std::vector<json> shown;
  for (std::string line; shown.size() < kMostShown && std::getline(lines, line);) {
    json row = json::parse(line);
    for (json& candidate : row["candidates"]) {
      const auto found = verdicts.find(candidate["id"]);
      if (found == verdicts.end()) continue;
      const auto evaluation = EvaluationFromJson(found->second);
      if (!evaluation.ok()) return evaluation.status();
      const auto& speedup = evaluation->speedup;
      candidate["verdict"] =
          speedup ? fmt::format("{}: {}", OutcomeName(evaluation->outcome), SpeedupText(*speedup))
                  : fmt::format("{}: {}", OutcomeName(evaluation->outcome), evaluation->message);
    }
    shown.push_back(std::move(row));
  }
  const fs::path page = folder / "gallery.html";
  DAVINCI_RETURN_IF_ERROR(
      WriteFileAtomic(page, synth::RenderGallery(shown, json::parse(manifest))));
  fmt::print("gallery: {}\n", page.string());
  return Status::Ok();
}

}  // namespace davinci::app
