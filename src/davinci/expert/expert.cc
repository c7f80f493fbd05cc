#include "davinci/expert/expert.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "davinci/base/json_text.h"
#include "davinci/import/named_sizes.h"
#include "davinci/synth/text.h"
#include "davinci/teacher/candidate/step_answer.h"
#include "davinci/teacher/semantics/steps.h"

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
// Doublings of sizes that are symbols, for which one text is looked for.
constexpr int kMostDoublings = 20;
// Halvings of the steps to the size that has another text.
constexpr int kBisections = 6;
// Programs along the second and third axis of a grid that a device starts.
constexpr int kMostOnGridAxis = 65535;
// Growth, over the shapes of a task, of a size that no kernel of Triton holds in a tile.
constexpr int64_t kMostGrowth = 64;

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

Result<ExpertTask> Expert::Import(const nlohmann::json& traced, const task::Task& task,
                                  OwnSizes sizes) const {
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
  const auto further = traced.find("shapes");
  const size_t count = further != traced.end() && further->is_array() ? further->size() : 0;
  std::vector<import::TracedModule> others;
  for (size_t i = 0; sizes == OwnSizes::kNamed && i < count; ++i)
    if (auto one = import::ParseTracedModule((*further)[i]); one.ok())
      others.push_back(std::move(one).value());
  const import::TracedModule named =
      sizes == OwnSizes::kNamed ? import::WithNamedSizes(module, others) : module;
  if (import::IsOfOneShape(named, others)) imported.one_shape = import::ForArguments(module);
  DAVINCI_ASSIGN_OR_RETURN(imported.imported, import::ImportGraph(named, name));
  if (sizes == OwnSizes::kNamed) {
    auto inferred = teacher::WithInferredSizes(imported.imported.graph, imported.imported.task,
                                               teacher_.tables());
    if (inferred.ok()) imported.imported.graph = std::move(inferred).value();
  }
  imported.kept = module.kept;
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
  if (const auto symbolic = traced.find("symbolic"); symbolic != traced.end()) {
    const auto one = import::ParseTracedModule(*symbolic);
    const auto graph = one.ok() ? import::ImportGraph(*one, name) : one.status();
    if (graph.ok() && !one->symbols.empty())
      imported.symbolic = {*one, name};
    else
      imported.why_not_symbolic = graph.status().message();
  }
  return imported;
}

namespace {

// Does the shape that is served in this place lie between the bounds?
bool LiesWithin(const import::TracedModule& module, size_t served,
                const std::vector<int64_t>& least, const std::vector<int64_t>& most) {
  for (size_t i = 0; i < module.symbols.size(); ++i) {
    const int64_t size = module.symbols[i].named[served];
    if (size < least[i] || size > most[i]) return false;
  }
  return true;
}

// Does a launch in Triton have the size in a constant, "BLOCK=1 << (x.shape[0] - 1).bit_length()"?
// Others do not change what a kernel needs of a multiprocessor.
bool IsHeldByTile(std::string_view source, std::string_view place) {
  for (size_t at = source.find(place); at != std::string_view::npos;
       at = source.find(place, at + 1)) {
    int depth = 0;
    size_t begin = at;
    for (; begin > 0 && source[begin - 1] != '\n'; --begin) {
      const char c = source[begin - 1];
      if (c == ')' || c == ']') ++depth;
      if (c == '(' || c == '[') depth = std::max(0, depth - 1);
      if (c == ',' && depth == 0) break;
    }
    while (source[begin] == ' ') ++begin;
    size_t end = begin;
    while (std::isupper(static_cast<unsigned char>(source[end])) != 0) ++end;
    if (end > begin && source[end] == '=') return true;
  }
  return false;
}

// Python tests of launches in Triton whose second and third axes have sizes of inputs: " and
// x.shape[0] * 12 <= 65535". A device starts no larger grid.
std::string GridLimits(std::string_view source) {
  std::set<std::string> tests;
  for (size_t at = source.find("[("); at != std::string_view::npos;
       at = source.find("[(", at + 1)) {
    const std::string_view line = source.substr(at + 2, source.find('\n', at) - at - 2);
    const size_t end = line.find(")](");
    if (end == std::string_view::npos) continue;
    const auto axes = synth::SplitTop(line.substr(0, end), ',');
    for (size_t i = 1; i < axes.size(); ++i)
      if (axes[i].find(".shape[") != std::string_view::npos)
        tests.insert(fmt::format(" and {} <= {}", synth::Trim(axes[i]), kMostOnGridAxis));
  }
  return fmt::format("{}", fmt::join(tests, ""));
}

}  // namespace

std::optional<Expert::Bounded> Expert::Bound(const ExpertTask::Symbolic& symbolic,
                                             teacher::Language language,
                                             const teacher::RuleSet& rules,
                                             const teacher::LaunchSettings& launch) const {
  const auto& symbols = symbolic.module.symbols;
  const auto text = [&](const std::vector<int64_t>& values) -> std::string {
    const auto module = import::AtSizes(symbolic.module, values);
    if (!module) return "";
    const auto made = import::ImportGraph(*module, symbolic.name);
    if (!made.ok()) return "";
    const auto written =
        teacher_.Write(made->graph, made->task, language, rules, ReplyForm::kFile, launch);
    return written.ok() && written->own_kernels > 0 ? written->source : "";
  };
  std::vector<int64_t> own;
  for (const auto& symbol : symbols) own.push_back(symbol.value);
  const std::string source = text(own);
  if (source.empty()) return std::nullopt;
  const bool triton = language == teacher::Language::kTriton;
  std::vector<bool> decides;
  for (const auto& symbol : symbols)
    decides.push_back(!triton || IsHeldByTile(source, symbol.place));
  const auto most = [](const import::TracedSymbol& symbol) {
    return *std::ranges::max_element(symbol.named);
  };
  // The rules decide alike between two sizes for which they write the same text. All sizes grow and
  // shrink together.
  const auto alike = [&](const std::vector<int64_t>& values) { return text(values) == source; };
  const auto farthest = [&](const std::vector<int64_t>& named, bool grow) {
    std::vector<int64_t> found = own, beyond = named;
    for (int step = 0; step < kMostDoublings && alike(beyond); ++step) {
      found = beyond;
      for (size_t i = 0; i < symbols.size(); ++i)
        if (decides[i]) beyond[i] = grow ? 2 * beyond[i] : std::max<int64_t>(2, beyond[i] / 2);
      if (beyond == found) return found;
    }
    for (int step = 0; step < kBisections; ++step) {
      std::vector<int64_t> middle = found;
      for (size_t i = 0; i < symbols.size(); ++i) middle[i] += (beyond[i] - found[i]) / 2;
      (alike(middle) ? found : beyond) = std::move(middle);
    }
    return found;
  };
  std::vector<int64_t> largest = own, smallest = own;
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (!decides[i]) continue;
    largest[i] = most(symbols[i]);
    smallest[i] = *std::ranges::min_element(symbols[i].named);
  }
  Bounded bounded;
  bounded.most = farthest(largest, true);
  bounded.least = triton ? own : farthest(smallest, false);
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (triton) bounded.least[i] = 2;  // a smaller tile fits as well
    if (!decides[i]) bounded.most[i] = most(symbols[i]) * kMostGrowth;
  }
  auto graph = import::ImportGraph(symbolic.module, symbolic.name);
  if (!graph.ok()) return std::nullopt;
  bounded.imported = std::move(graph).value();
  for (size_t i = 0; i < symbols.size(); ++i)
    bounded.imported.task.parts.imported->guard +=
        fmt::format(" and {} <= {} <= {}", bounded.least[i], symbols[i].place, bounded.most[i]);
  if (triton) bounded.imported.task.parts.imported->guard += GridLimits(source);
  for (size_t served = 1; served < symbolic.module.serves.size(); ++served)
    if (LiesWithin(symbolic.module, served, bounded.least, bounded.most))
      bounded.serves.insert(static_cast<size_t>(symbolic.module.serves[served]) - 1);
  return bounded;
}

Result<teacher::Candidate> Expert::Write(const ExpertTask& task, teacher::Language language,
                                         const teacher::RuleSet& rules,
                                         const teacher::LaunchSettings& launch, Sizes sizes) const {
  const auto bounded =
      task.symbolic ? Bound(*task.symbolic, language, rules, launch) : std::nullopt;
  const bool first = bounded && sizes == Sizes::kSymbols;
  std::vector<teacher::TaskShape> shapes;
  if (first)
    shapes.push_back({&bounded->imported.graph, &bounded->imported.task});
  else
    shapes.push_back({&task.imported.graph, &task.imported.task});
  const auto served = [&](size_t i) { return first && bounded->serves.contains(i); };
  for (size_t i = 0; i < task.shapes.size(); ++i)
    if (task.shapes[i].imported && !served(i))
      shapes.push_back({&task.shapes[i].imported->graph, &task.shapes[i].imported->task});
  if (bounded && !first) shapes.push_back({&bounded->imported.graph, &bounded->imported.task});
  DAVINCI_ASSIGN_OR_RETURN(teacher::Candidate candidate,
                           teacher_.WriteShapes(shapes, language, rules, launch));
  if (!bounded) return candidate;
  const bool with_symbols = first || candidate.shapes.back().why.empty();
  if (!first) candidate.shapes.pop_back();
  auto written = candidate.shapes.begin();
  std::vector<teacher::ShapeKernels> all;
  for (size_t i = 0; i < task.shapes.size(); ++i)
    if (task.shapes[i].imported)
      all.push_back(served(i) ? teacher::ShapeKernels{candidate.own_kernels} : *written++);
  candidate.shapes = std::move(all);
  if (with_symbols)
    for (size_t i = 0; i < bounded->least.size(); ++i)
      candidate.symbols.push_back(
          {task.symbolic->module.symbols[i].place, bounded->least[i], bounded->most[i]});
  return candidate;
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
                       const teacher::LaunchSettings& launch = {}, Sizes sizes = Sizes::kSymbols) {
    if (variants.size() >= most) return;
    auto candidate = Write(task, *target, rules, launch, sizes);
    if (!candidate.ok()) {
      if (why != nullptr && why->empty()) *why = candidate.status().message();
      return;
    }
    if (candidate->own_kernels == 0) {
      if (why != nullptr && why->empty()) *why = teacher::EveryCallStays(candidate->left);
      return;
    }
    if (texts.insert(candidate->source).second)
      variants.push_back({name, language, rules, launch, sizes, std::move(candidate).value()});
  };
  const auto best = teacher::RuleSet::Of(teacher::Level::kBest, *target);
  add("best", best);
  if (task.symbolic) {
    add(variants.empty() ? "best" : "best with sizes as numbers", best, {}, Sizes::kNumbers);
    // A call that is a kernel's for given sizes alone, and sizes that a kernel's compiler knows,
    // count more than one text.
    const auto knows = [&](size_t i) {
      const teacher::Candidate& candidate = variants[i].candidate;
      return std::pair(candidate.own_kernels,
                       candidate.rules.Contains(teacher::Rule::kConstantSizes));
    };
    if (variants.size() > 1 && knows(0) < knows(1)) std::swap(variants[0], variants[1]);
  }
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
                  variant.language, variant.allowed, variant.launch, variant.sizes};
  for (const std::string& name : rules)
    if (const auto rule = teacher::RuleNamed(name)) made.allowed.Erase(*rule);
  const auto target = TeacherLanguage(variant.language);
  if (!target) return std::nullopt;
  auto candidate = Write(task, *target, made.allowed, made.launch, made.sizes);
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

Result<teacher::Steps> Expert::StepsOf(const nlohmann::json& traced, const task::Task& task) const {
  const auto made = [&](OwnSizes sizes) -> Result<teacher::Steps> {
    DAVINCI_ASSIGN_OR_RETURN(const ExpertTask module, Import(traced, task, sizes));
    const auto& [graph, text] = module.imported;
    DAVINCI_ASSIGN_OR_RETURN(teacher::Steps steps,
                             teacher_.StepsOf(graph, text, teacher::Language::kCpp));
    DAVINCI_ASSIGN_OR_RETURN(steps.plain, teacher_.PlainOf(graph, text, steps));
    const synth::ImportedParts& own = *text.parts.imported;
    if (!task.data.empty()) steps.plain.file = own.future + own.source;
    if (!module.one_shape.empty())
      steps.plain.one_shape =
          fmt::format("if not ({}): return {}", module.one_shape, text.parts.imported->fallback);
    return steps;
  };
  auto steps = made(OwnSizes::kNamed);
  if (steps.ok()) return steps;
  // A size that no tensor shows is the number that it is.
  auto of_numbers = made(OwnSizes::kNumbers);
  return of_numbers.ok() ? std::move(of_numbers) : std::move(steps);
}

std::string Expert::PlanOf(const nlohmann::json& traced, const task::Task& task,
                           const teacher::Steps& steps) const {
  constexpr auto kLanguage = teacher::Language::kTriton;
  for (const OwnSizes sizes : {OwnSizes::kNamed, OwnSizes::kNumbers}) {
    const auto module = Import(traced, task, sizes);
    if (!module.ok()) continue;
    const auto& [graph, text] = module->imported;
    auto best = teacher::RuleSet::Of(teacher::Level::kBest, kLanguage);
    // Kernels of replies read inputs that are contiguous (agent/plain_forward.h), and the steps
    // have no name for memory that another order of axes shares.
    if (std::ranges::any_of(graph.inputs, [&graph](synth::ValueId input) {
          return !graph.values[static_cast<size_t>(input)].order.empty();
        }))
      best.Erase(teacher::Rule::kReadSlices);
    const auto candidate =
        teacher_.Write(graph, text, kLanguage, best, {ReplyForm::kDelta, &steps});
    if (candidate.ok()) return teacher::PlanOf(candidate->source);
  }
  return "";
}

std::vector<std::string> Expert::CostlyRules() {
  std::vector<std::string> names;
  for (const teacher::Rule rule : kCostlyRules) names.emplace_back(teacher::InfoOf(rule).name);
  return names;
}

}  // namespace davinci::expert
