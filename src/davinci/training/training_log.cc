#include "davinci/training/training_log.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "davinci/base/files.h"
#include "davinci/config/recipe.h"
#include "davinci/runs/view.h"
#include "davinci/store/run_store.h"

namespace davinci::training {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kLog[] = "log.jsonl";
constexpr char kRecipe[] = "recipe.toml";

void Flatten(const json& table, const std::string& prefix, std::map<std::string, double>* values) {
  for (const auto& [key, value] : table.items()) {
    if (value.is_object()) Flatten(value, prefix + key + "/", values);
    if (!value.is_number() || (prefix.empty() && key == "step")) continue;
    if (const double number = value.get<double>(); std::isfinite(number))
      (*values)[prefix + key] = number;
  }
}

std::vector<report::TrainingPoint> PointsOf(const std::string& log) {
  std::vector<report::TrainingPoint> points;
  for (size_t begin = 0; begin < log.size();) {
    const size_t end = std::min(log.find('\n', begin), log.size());
    const json line = json::parse(log.substr(begin, end - begin), nullptr, false);
    begin = end + 1;
    if (!line.is_object() || !line.value("step", json()).is_number_integer()) continue;
    report::TrainingPoint point;
    point.step = line["step"].get<int64_t>();
    Flatten(line, "", &point.values);
    // Further lines of a step, about its checkpoint, add to it.
    if (!points.empty() && point.step == points.back().step)
      points.back().values.merge(point.values);
    else if (points.empty() || point.step > points.back().step)
      points.push_back(std::move(point));
  }
  return points;
}

double NumberAt(const json& recipe, const char* table, const char* key) {
  const auto found = recipe.find(table);
  if (found == recipe.end() || !found->is_object()) return 0;
  const json value = found->value(key, json());
  return value.is_number() ? value.get<double>() : 0;
}

bool Finished(const report::TrainingView& view, const json& recipe) {
  if (view.points.empty()) return false;
  const auto step = static_cast<double>(view.points.back().step);
  if (view.reinforcement) return step >= NumberAt(recipe, "train", "steps");
  const double most = NumberAt(recipe, "data", "max_updates");
  const auto& last = view.points.back().values;
  const auto epoch = last.find("epoch");
  return (most > 0 && step >= most) ||
         (epoch != last.end() && epoch->second >= NumberAt(recipe, "data", "epochs"));
}

}  // namespace

bool IsTrainingRun(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / kLog, error) && fs::exists(folder / kRecipe, error);
}

Result<report::TrainingView> ReadTrainingRun(const fs::path& folder) {
  if (!IsTrainingRun(folder))
    return NotFound(fmt::format("{} holds no training run: {} and {} are missing", folder.string(),
                                kLog, kRecipe));
  DAVINCI_ASSIGN_OR_RETURN(const std::string log, ReadFile(folder / kLog));
  DAVINCI_ASSIGN_OR_RETURN(const auto recipe, config::Recipe::Load(folder / kRecipe));
  report::TrainingView view;
  view.folder = folder.string();
  const fs::path named = fs::absolute(folder).lexically_normal();
  view.title = (named.has_filename() ? named : named.parent_path()).filename().string();
  view.reinforcement = store::RunStore::IsRun(folder);
  view.points = PointsOf(log);
  view.settings = runs::FlatSettings(recipe.tree().values);
  view.finished = Finished(view, recipe.tree().values);
  return view;
}

}  // namespace davinci::training
