#include "davinci/expert/expert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "davinci/base/json_text.h"

namespace davinci::expert {
namespace {

// The kernels' module-level names, which the user's file may not bind to something else.
constexpr const char* kOwnNames[] = {"kernels",
                                     "SOURCE",
                                     "FLAGS",
                                     "dv",
                                     "tl",
                                     "triton",
                                     "driver",
                                     "direct",
                                     "split_tf32",
                                     "split_rows_kernel",
                                     "split_transposed_kernel",
                                     "AsTraced",
                                     "as_traced",
                                     "changed_copy",
                                     "under_autocast"};

// Expert::CostlyRules().
constexpr teacher::Rule kCostlyRules[] = {teacher::Rule::kReplayGraph,
                                          teacher::Rule::kSplitOperands,
                                          teacher::Rule::kCompensatedTf32,
                                          teacher::Rule::kVendorMatmulEpilogue,
                                          teacher::Rule::kProductEpilogue,
                                          teacher::Rule::kStoredValues,
                                          teacher::Rule::kFuseAroundReduction,
                                          teacher::Rule::kSplitRows,
                                          teacher::Rule::kColumnsCpp,
                                          teacher::Rule::kColumnsTriton,
                                          teacher::Rule::kVendorConvEpilogue,
                                          teacher::Rule::kFlashAttentionTriton,
                                          teacher::Rule::kFlashAttentionCpp,
                                          teacher::Rule::kOnePassVariance,
                                          teacher::Rule::kManyRows,
                                          teacher::Rule::kNormInRegisters,
                                          teacher::Rule::kSoftmaxInRegisters,
                                          teacher::Rule::kFuseReductions,
                                          teacher::Rule::kSelectLargest,
                                          teacher::Rule::kReassociate,
                                          teacher::Rule::kFastExp,
                                          teacher::Rule::kWideLoads,
                                          teacher::Rule::kWarpRows,
                                          teacher::Rule::kReadSlices};

// Settings that are worth a measurement beside the estimated ones, at most so many of them, and
// only among more variants than that.
const std::pair<const char*, teacher::LaunchSettings> kLaunches[] = {
    {"smaller tiles", {1, 1, 0.5, 1}}, {"more warps", {2, 1, 1, 1}},
    {"larger blocks", {1, 2, 1, 1}},   {"fewer warps", {0.5, 1, 1, 1}},
    {"larger tiles", {1, 1, 2, 1}},    {"threads for less", {1, 1, 1, 0.125}}};
constexpr size_t kMostLaunches = 2;
constexpr size_t kLeastForLaunches = 3;

// "ROWS=1023, COLS=77" of the globals that a shape sets.
std::string ShapeName(const nlohmann::json& globals) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : globals.items())
    parts.push_back(fmt::format("{}={}", key, JsonText(value)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::optional<teacher::Language> TeacherLanguage(Language language) {
  if (language == Language::kTriton) return teacher::Language::kTriton;
  if (language == Language::kCpp) return teacher::Language::kCpp;
  if (language == Language::kCuda) return teacher::Language::kCuda;
  return std::nullopt;
}

Result<Expert> Expert::Load(const std::filesystem::path& synth_folder) {
  DAVINCI_ASSIGN_OR_RETURN(auto teacher, teacher::Teacher::Load(synth_folder));
  return Expert(std::move(teacher));
}

Result<ExpertTask> Expert::Import(const nlohmann::json& traced, const task::Task& task) const {
  import::CandidateName name;
  const bool function = !task.config.function.empty() || !task.config.op.empty();
  if (!function) name.entry = task.config.entry.empty() ? "Model" : task.config.entry;
  name.defined = function ? task.candidate_function : task.candidate_entry;
  DAVINCI_ASSIGN_OR_RETURN(const import::TracedModule module, import::ParseTracedModule(traced));
  for (const char* own : kOwnNames)
    if (std::find(module.bound.begin(), module.bound.end(), own) != module.bound.end() &&
        std::string_view(own) != "triton" && std::string_view(own) != "tl")
      return InvalidArgument(fmt::format(
          "{} is a name in the task's file that kernels need; give it another name there", own));
  ExpertTask imported;
  DAVINCI_ASSIGN_OR_RETURN(imported.imported, import::ImportGraph(module, name));
  imported.kept = module.kept;
  const auto further = traced.find("shapes");
  const size_t count = further != traced.end() && further->is_array() ? further->size() : 0;
  for (size_t i = 0; i < task.config.variants.size(); ++i) {
    ExpertTask::Shape& shape = imported.shapes.emplace_back();
    shape.name = ShapeName(task.config.variants[i]);
    shape.why = "it was not traced";
    if (i >= count) continue;
    auto one = import::ParseTracedModule((*further)[i]);
    // No kernel and no forward of the user's class is right there.
    if (!one.ok() && (*further)[i].contains("by_constructor"))
      return InvalidArgument(
          fmt::format("further shape {}: {}", shape.name, one.status().message()));
    auto graph = one.ok() ? import::ImportGraph(*one, name) : one.status();
    if (graph.ok())
      shape.imported = std::move(graph).value();
    else
      shape.why = graph.status().message();
  }
  return imported;
}

Result<teacher::Candidate> Expert::Write(const ExpertTask& task, teacher::Language language,
                                         const teacher::RuleSet& rules,
                                         const teacher::LaunchSettings& launch) const {
  std::vector<teacher::TaskShape> shapes = {{&task.imported.graph, &task.imported.task}};
  for (const ExpertTask::Shape& shape : task.shapes)
    if (shape.imported) shapes.push_back({&shape.imported->graph, &shape.imported->task});
  return teacher_.WriteShapes(shapes, language, rules, launch);
}

std::vector<Variant> Expert::Variants(const ExpertTask& task, Language language, size_t most,
                                      std::string* why) const {
  std::vector<Variant> variants;
  std::set<std::string> texts;
  const auto target = TeacherLanguage(language);
  if (!target) {
    if (why != nullptr) *why = fmt::format("no rules for {}", LanguageName(language));
    return variants;
  }
  const auto add = [&](const std::string& name, const teacher::RuleSet& rules,
                       const teacher::LaunchSettings& launch = {}) {
    if (variants.size() >= most) return;
    auto candidate = Write(task, *target, rules, launch);
    if (!candidate.ok()) {
      if (why != nullptr && why->empty()) *why = candidate.status().message();
      return;
    }
    if (candidate->own_kernels == 0) {
      if (why != nullptr && why->empty()) *why = teacher::EveryCallStays(candidate->left);
      return;
    }
    if (texts.insert(candidate->source).second)
      variants.push_back({name, language, rules, launch, std::move(candidate).value()});
  };
  const auto best = teacher::RuleSet::Of(teacher::Level::kBest, *target);
  add("best", best);
  if (variants.empty()) return variants;
  const teacher::RuleSet used = variants.front().candidate.rules;
  // Launches of the costliest kernel are measured where there is room; most leave the text as it
  // is.
  const size_t before = variants.size();
  for (const auto& [name, launch] : kLaunches)
    if (most > kLeastForLaunches && variants.size() < before + kMostLaunches)
      add(fmt::format("best with {}", name), best, launch);
  for (const teacher::Rule rule : kCostlyRules) {
    if (!used.Contains(rule)) continue;
    auto without = best;
    without.Erase(rule);
    add(fmt::format("best without {}", teacher::InfoOf(rule).name), without);
  }
  add("better", teacher::RuleSet::Of(teacher::Level::kBetter, *target));
  return variants;
}

std::optional<Variant> Expert::Without(const ExpertTask& task, const Variant& variant,
                                       const std::set<std::string>& rules) const {
  Variant made = {fmt::format("{} without {}", variant.name, fmt::join(rules, ", ")),
                  variant.language, variant.allowed, variant.launch};
  for (const std::string& name : rules)
    if (const auto rule = teacher::RuleNamed(name)) made.allowed.Erase(*rule);
  const auto target = TeacherLanguage(variant.language);
  if (!target) return std::nullopt;
  auto candidate = Write(task, *target, made.allowed, made.launch);
  if (!candidate.ok() || candidate->own_kernels == 0) return std::nullopt;
  made.candidate = std::move(candidate).value();
  return made;
}

std::vector<std::string> ShapesWithout(const ExpertTask& task,
                                       const teacher::Candidate& candidate) {
  std::vector<std::string> lines;
  size_t written = 0;  // shapes that could be imported are the candidate's
  for (const ExpertTask::Shape& shape : task.shapes) {
    std::string why = shape.why;
    if (shape.imported && written < candidate.shapes.size()) why = candidate.shapes[written++].why;
    if (!why.empty()) lines.push_back(fmt::format("{}: {}", shape.name, why));
  }
  return lines;
}

std::vector<std::string> Expert::CostlyRules() {
  std::vector<std::string> names;
  for (const teacher::Rule rule : kCostlyRules) names.emplace_back(teacher::InfoOf(rule).name);
  return names;
}

}  // namespace davinci::expert
