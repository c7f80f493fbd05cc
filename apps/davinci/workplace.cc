#include "workplace.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/embedded/embedded_backbone.h"
#include "davinci/expert/expert_author.h"
#include "davinci/expert/task_steps.h"
#include "davinci/gpu/device.h"
#include "davinci/gpu/visible_devices.h"
#include "davinci/llm/recorded.h"
#include "davinci/llm/refusing_backbone.h"
#include "davinci/runs/forecast.h"
#include "davinci/runs/recipe_layers.h"
#include "davinci/runs/run_identity.h"
#include "davinci/runs/user_config.h"
#include "davinci/search/strategy.h"
#include "judging.h"
#include "python_syntax.h"
#include "run_console.h"
#include "skills_library.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;

constexpr char kRecorded[] = "recorded:";
using runs::kEmbedded;
using runs::kExpert;

std::string Quoted(const std::string& text) { return config::TomlLiteral(nlohmann::json(text)); }

int NumCores(const runs::RunRecipe& recipe) {
  const int all = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return recipe.judge.threads > 0 ? std::min(all, recipe.judge.threads) : all;
}

// What the interpreter that judges calls its torch and Triton ("2.13.0+cpu 3.6.0"), from their
// metadata: importing them would take seconds.
std::string LibraryVersions(const std::string& python) {
  return OutputOf(ShellQuoted(python) +
                  " -c 'import importlib.metadata as m\n"
                  "for p in (\"torch\", \"triton\"):\n"
                  "  try: print(m.version(p))\n"
                  "  except m.PackageNotFoundError: print(\"none\")' 2>/dev/null");
}

// Verdicts of another judge, torch, Triton, driver or device are not ours.
judge::JudgeVersions VersionsOf(const Installation& installation,
                                const std::vector<davinci::Target>& targets, int num_cores,
                                const std::vector<gpu::DeviceInfo>& judging) {
  judge::JudgeVersions versions;
  versions.judge = DAVINCI_VERSION;
  for (const fs::path& file : {fs::path("/proc/self/exe"), installation.worker_library,
                               installation.home / "python" / "davinci_worker",
                               installation.home / "python" / "davinci_runtime"}) {
    std::error_code error;
    const fs::path real = fs::canonical(file, error);
    std::vector<fs::path> parts = {real};
    if (fs::is_directory(real, error)) {
      parts.clear();
      for (fs::recursive_directory_iterator entry(real, error), end; !error && entry != end;
           entry.increment(error))
        if (entry->path().extension() == ".py") parts.push_back(entry->path());
      std::sort(parts.begin(), parts.end());
    }
    for (const fs::path& part : parts)
      versions.judge +=
          fmt::format(" {} {} {}", part.filename().string(), fs::file_size(part, error),
                      fs::last_write_time(part, error).time_since_epoch().count());
  }
  versions.libraries = installation.python + "\n" + LibraryVersions(installation.python);
  for (const davinci::Target target : targets) {
    if (!versions.device.empty()) versions.device += "; ";
    if (target == Target::kCuda) {
      versions.driver = judge::DriverVersion(judging);
      versions.device += fmt::format("{} {}", judge::DeviceVersion(judging), num_cores);
      continue;
    }
    const agent::DeviceFacts facts = agent::CpuFacts(num_cores);
    versions.device += fmt::format("{} {} {}", facts.name, num_cores, facts.memory_bytes);
  }
  return versions;
}

// Makes the expert an author of the run's rollouts: of all of them, or of one of each task beside a
// model's.
Status OpenAuthor(const runs::RunRecipe& recipe, expert::Dealing dealing, Workplace* place) {
  DAVINCI_ASSIGN_OR_RETURN(auto expert, expert::Expert::Load(place->installation.home / "synth"));
  const rollout::StepSettings& step = recipe.step;
  std::vector<davinci::Language> languages = {step.language};
  if (!step.require_language && step.target == Target::kCuda)
    for (const auto other : {davinci::Language::kTriton, davinci::Language::kCuda})
      if (other != step.language) languages.push_back(other);
  // The judges are made later; a Workplace is moved, its pool is not.
  place->author = std::make_unique<expert::ExpertAuthor>(
      std::move(expert), std::move(languages),
      [pool = place->pool, target = step.target](const auto& task) {
        return (*pool)->Trace(task, target);
      },
      dealing);
  const bool alone = dealing == expert::Dealing::kOneEach;
  place->parts.author = place->author.get();
  place->parts.author_alone = alone;
  place->parts.prepare_tasks = [author = place->author.get(), note = place->on_notice, alone,
                                most = static_cast<size_t>(alone ? step.rollouts : step.turns)](
                                   std::vector<rollout::TaskInput>* inputs) -> Status {
    std::vector<std::pair<std::string, std::shared_ptr<const task::Task>>> tasks;
    for (const rollout::TaskInput& input : *inputs) tasks.emplace_back(input.id, input.task);
    author->Prepare(tasks, most);
    size_t none = 0;
    for (rollout::TaskInput& input : *inputs) {
      const size_t count = author->NumVariants(input.id);
      if (alone) input.rollouts = static_cast<int>(std::max<size_t>(1, count));
      if (count > 0) continue;
      ++none;
      if (note && (inputs->size() > 1 || !alone))
        note(fmt::format("{}: {}", input.id, author->WhyNone(input.id).message()));
    }
    return alone && none == inputs->size() ? author->WhyNone(inputs->front().id) : Status::Ok();
  };
  return Status::Ok();
}

// Has the steps of the run's tasks read before the first rollout.
Status OpenSteps(rollout::TaskText shown, Workplace* place) {
  DAVINCI_ASSIGN_OR_RETURN(auto expert, expert::Expert::Load(place->installation.home / "synth"));
  place->parts.add_steps = [expert = std::make_shared<const expert::Expert>(std::move(expert)),
                            pool = place->pool, note = place->on_notice,
                            shown](std::vector<rollout::TaskInput>* inputs) {
    expert::AddSteps(
        *expert, [&](const auto& task, Target target) { return (*pool)->Trace(task, target); },
        shown, note, inputs);
  };
  return Status::Ok();
}

// One model, as [llm] or a role's table says.
Result<std::unique_ptr<llm::Backbone>> OpenBackbone(const runs::LlmSettings& llm,
                                                    const runs::RunRecipe& recipe, Workplace* place,
                                                    std::string* identity) {
  if (llm.endpoints.empty())
    return InvalidArgument(
        "no language model; say which:\n"
        "  --llm expert   no model: the rules of the expert, which reads any module\n"
        "  --llm http://127.0.0.1:8000/v1 --model NAME   any OpenAI-compatible endpoint (its key: "
        "$OPENAI_API_KEY)\n"
        "  --llm recorded:examples/replies_cpu.jsonl   replies from a file\n"
        "  --llm embedded [--model DIR|FILE.gguf]   a model in this process; davinci's own without "
        "--model");
  const std::string& first = llm.endpoints.front();
  if (first == kEmbedded) {
    embedded::EmbeddedOptions options;
    options.engine.model_dir = llm.model;
    if (llm.model.empty()) {
      DAVINCI_ASSIGN_OR_RETURN(options.engine.model_dir, ShippedModel(place->installation.home));
    }
    options.engine.lora_dir = llm.lora;
    options.engine.idle_release_s = llm.release_after_seconds;
    options.engine.device = recipe.step.target == Target::kCuda ? "auto" : "cpu";
    options.ledger = place->ledger.get();
    DAVINCI_ASSIGN_OR_RETURN(auto model, embedded::EmbeddedBackbone::Open(std::move(options)));
    *identity = "embedded:" + model->weights_digest();
    place->default_concurrency = model->Facts().max_batch;
    return std::unique_ptr<llm::Backbone>(std::move(model));
  }
  if (first == kExpert) {
    *identity = kExpert;
    DAVINCI_RETURN_IF_ERROR(OpenAuthor(recipe, expert::Dealing::kOneEach, place));
    return llm::RefusingBackbone("--llm expert asks no model");
  }
  if (first.starts_with(kRecorded)) {
    const std::string file = first.substr(sizeof(kRecorded) - 1);
    // Only davinci's own way of asking gives the labels of a recording; other strategies draw.
    const auto gaps =
        recipe.step.strategy == "davinci" ? llm::RecordingGaps::kError : llm::RecordingGaps::kDraw;
    DAVINCI_ASSIGN_OR_RETURN(auto recorded,
                             llm::RecordedBackbone::Open(file, place->ledger.get(), gaps));
    place->recorded = true;
    *identity = kRecorded + fs::path(file).filename().string();
    return std::unique_ptr<llm::Backbone>(std::move(recorded));
  }
  llm::OpenAiOptions options;
  options.endpoints = llm.endpoints;
  options.model = llm.model;
  if (!llm.api_key_env.empty()) options.api_key_env = llm.api_key_env;
  options.api_key_file = llm.api_key_file;
  options.ca_file = llm.ca_file;
  options.extra_body = llm.extra_body;
  options.headers.assign(llm.headers.begin(), llm.headers.end());
  options.proxy = llm.proxy;
  options.stream = llm.stream;
  options.max_in_flight = recipe.llm.concurrency;
  options.attempt_timeout_s = llm.attempt_timeout_seconds;
  options.retry.max_attempts = llm.max_attempts;
  options.ledger = place->ledger.get();
  options.on_notice = place->on_notice;
  options.on_wait = place->on_notice;
  if (!llm.prices.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(options.prices, llm::PriceTable::Load(llm.prices));
  }
  const llm::PriceTable prices = options.prices;
  if (!llm.model.empty())
    DAVINCI_RETURN_IF_ERROR(llm::CheckPrice(recipe.budget.usd, prices, llm.model));
  DAVINCI_ASSIGN_OR_RETURN(auto client, llm::OpenAiClient::Create(std::move(options)));
  DAVINCI_RETURN_IF_ERROR(client->Probe(CancelToken()));
  DAVINCI_RETURN_IF_ERROR(llm::CheckPrice(recipe.budget.usd, prices, client->model()));
  place->clients.push_back(client.get());
  *identity = llm.model;
  return std::unique_ptr<llm::Backbone>(std::move(client));
}

Status OpenModels(const RunFlags& flags, const runs::RunRecipe& recipe, Workplace* place) {
  llm::Budget budget;
  if (recipe.budget.usd > 0) budget.max_usd = recipe.budget.usd;
  if (recipe.budget.calls > 0) budget.max_calls = recipe.budget.calls;
  place->ledger = std::make_unique<llm::Ledger>(budget);
  rollout::Backbones& backbones = place->parts.backbones;
  if (flags.backbone != nullptr) {
    place->backbone = flags.backbone;
    place->llm_identity = flags.backbone_identity;
    backbones.general = place->backbone.get();
    return Status::Ok();
  }
  // With a model for every role the general one is never asked, and need not be named.
  const bool all_roles = recipe.roles.size() == 3;
  if (!recipe.llm.endpoints.empty() || !all_roles) {
    DAVINCI_ASSIGN_OR_RETURN(place->backbone,
                             OpenBackbone(recipe.llm, recipe, place, &place->llm_identity));
    backbones.general = place->backbone.get();
  }
  for (const auto& [role, settings] : recipe.roles) {
    std::string identity;
    auto own = OpenBackbone(settings, recipe, place, &identity);
    if (!own.ok()) return own.status().Annotate(fmt::format("[llm.{}]", role));
    place->llm_identity += fmt::format("; {}: {}", role, identity);
    (role == "policy"      ? backbones.policy
     : role == "selection" ? backbones.selection
                           : backbones.summary) = own->get();
    place->role_backbones.push_back(std::move(own).value());
  }
  if (!flags.record.empty()) {
    if (!recipe.roles.empty())
      return InvalidArgument("--record writes the replies of one model; give no [llm.ROLE] tables");
    // By label: measured times get into later prompts, so no other run asks the same question.
    DAVINCI_ASSIGN_OR_RETURN(place->recorder,
                             llm::RecordingBackbone::Open(flags.record, place->backbone.get(),
                                                          llm::RecordingMatch::kLabel));
    backbones.general = place->recorder.get();
  }
  return Status::Ok();
}

Status FindLibrary(const RunFlags& flags, const runs::RunRecipe& recipe, Workplace* place) {
  const std::string chosen = !flags.library.empty() ? flags.library : recipe.skills;
  std::error_code error;
  if (!chosen.empty() && !fs::exists(chosen, error) && !recipe.step.learn)
    return NotFound(fmt::format(
        "{}: no such skill library; name a library file, a JSONL file or a folder (only --learn "
        "makes a new one)",
        chosen));
  DAVINCI_ASSIGN_OR_RETURN(place->publish_library, LibraryPath(""));
  DAVINCI_ASSIGN_OR_RETURN(place->library_sources, SourcesInForce(chosen));
  if (chosen.empty()) return Status::Ok();
  // A library file takes what is learned from it; folders and JSONL are only read.
  const fs::path path(chosen);
  if (!fs::is_directory(path, error) && path.extension() != ".jsonl" && path.extension() != ".md") {
    place->publish_library = chosen;
    if (!fs::exists(path, error)) place->library_sources.clear();  // made by what is learned
  }
  return Status::Ok();
}

}  // namespace

void AddRunFlags(CLI::App* command, RunFlags* flags) {
  const runs::RunRecipe usual;
  const bool bench = command->get_name() == "bench";
  command->add_option("--recipe", flags->recipes, "Settings as TOML (recipes/davinci.toml)");
  command->add_option("--set", flags->sets, "One setting of the recipe: --set rollout.turns=5")
      ->allow_extra_args(false);
  command->add_option("--target,-t", flags->target, "cpu or cuda (default: cuda if there is a GPU)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command
      ->add_option("--language,-l", flags->language,
                   "Of the kernels (default: triton on cuda, cpp on cpu)")
      ->check(CLI::IsMember({"triton", "cuda", "cuda-inline", "cpp"}));
  command
      ->add_option("--shapes", flags->shapes,
                   "A further shape to verify, as globals of the task file: ROWS=1024,COLS=77 "
                   "(may be repeated); exports accept exactly the verified shapes")
      ->allow_extra_args(false);
  command
      ->add_option("--llm", flags->llm,
                   "expert (no model: rules for any module; the default), the URL of an "
                   "OpenAI-compatible endpoint (several share the load), embedded (--model names "
                   "its folder or GGUF file; without it davinci's own model), or recorded:FILE")
      ->allow_extra_args(false);
  command->add_option("--model", flags->model,
                      "Model name at the endpoint; with --llm embedded a folder or a GGUF file");
  command
      ->add_option(
          "--llm-header", flags->llm_headers,
          "Header of every request, \"Name: value\"; the value \"$NAME\" is that variable's")
      ->allow_extra_args(false);
  command
      ->add_option("--llm-body", flags->llm_body,
                   "Member of every request's body: --llm-body reasoning_effort=low")
      ->allow_extra_args(false);
  command->add_option("--llm-proxy", flags->llm_proxy,
                      "Proxy for endpoints: http://HOST:PORT, or \"$NAME\" of a variable");
  command->add_option("--record", flags->record,
                      "Record every reply to FILE, for --llm recorded:FILE");
  command->add_option(
      "--library", flags->library,
      "Skills: a library file, a JSONL file or a folder (default: $DAVINCI_LIBRARY or "
      "~/.local/share/davinci/skills.db, with the skills that come with davinci)");
  command
      ->add_option(
          "--strategy", flags->strategy,
          fmt::format("How generations are spent: davinci, kevin, best_of_n, evolve (default: "
                      "{})",
                      usual.step.strategy))
      ->check(CLI::IsMember(search::StrategyNames()));
  command
      ->add_option("--turns", flags->turns,
                   fmt::format("Turns per rollout (default: {})", usual.step.turns))
      ->check(CLI::Range(1, 100));
  command
      ->add_option("--schemes", flags->schemes,
                   fmt::format("Skill sets per task, besides the empty one (default: {})",
                               bench ? 0 : usual.step.schemes))
      ->check(CLI::Range(0, 64));
  command
      ->add_option("--budget-usd", flags->budget_usd,
                   "Money for model calls, of the whole run; needs prices (default: no limit)")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--budget-minutes", flags->budget_minutes,
                   "Wall time; then the best so far (default: no limit)")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--max-calls", flags->max_calls,
                   "Model calls of the whole run (default: no limit)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--run", flags->run,
                      "Folder of the run (default: davinci-runs/…, the same for the same "
                      "command). What is done there is not done again");
  command->add_option("--replay", flags->replay,
                      "Show the run in this folder once more, without model and device");
  command->add_flag("--json", flags->json, "One JSON document on stdout, nothing else");
  command->add_flag("--unsafe-no-sandbox", flags->no_sandbox, "Run candidates without isolation");
}

Result<ResolvedRecipe> ResolveRecipe(const RunFlags& flags) {
  config::Recipe recipe;
  for (const std::string& set : flags.defaults) DAVINCI_RETURN_IF_ERROR(recipe.Override(set));
  for (const std::string& file : flags.recipes) {
    DAVINCI_ASSIGN_OR_RETURN(const auto layer, config::Recipe::Load(file));
    recipe.Merge(layer);
  }
  for (const std::string& set : flags.sets) DAVINCI_RETURN_IF_ERROR(recipe.Override(set));
  std::vector<std::string> overrides;
  auto text = [&](const char* key, const std::string& value) {
    if (!value.empty()) overrides.push_back(fmt::format("{}={}", key, Quoted(value)));
  };
  auto number = [&](const char* key, auto value) {
    if (value >= 0) overrides.push_back(fmt::format("{}={}", key, value));
  };
  text("task.target", flags.target);
  text("task.language", flags.language);
  if (!flags.language.empty()) overrides.emplace_back("policy.require_language=true");
  text("llm.model", flags.model);
  text("llm.proxy", flags.llm_proxy);
  for (const std::string& header : flags.llm_headers) {
    const size_t colon = header.find(':');
    if (colon == std::string::npos)
      return InvalidArgument(
          fmt::format("--llm-header \"{}\": write it as \"Name: value\"", header));
    size_t begin = header.find_first_not_of(' ', colon + 1);
    begin = std::min(begin, header.size());
    overrides.push_back("llm.headers=" + config::TomlLiteral(nlohmann::json{
                                             {header.substr(0, colon), header.substr(begin)}}));
  }
  for (const std::string& member : flags.llm_body) overrides.push_back("llm.extra_body." + member);
  text("search.strategy", flags.strategy);
  if (!flags.shapes.empty())
    overrides.push_back("task.shapes=" + config::TomlLiteral(nlohmann::json(flags.shapes)));
  if (flags.hints.starts_with('@')) {
    DAVINCI_ASSIGN_OR_RETURN(const std::string hints, ReadFile(flags.hints.substr(1)));
    text("task.hints", hints);
  } else {
    text("task.hints", flags.hints);
  }
  if (!flags.llm.empty())
    overrides.push_back("llm.endpoints=" + config::TomlLiteral(nlohmann::json(flags.llm)));
  number("rollout.turns", flags.turns);
  number("rollout.rollouts", flags.rollouts);
  number("selection.schemes", flags.schemes);
  number("budget.usd", flags.budget_usd);
  number("budget.minutes", flags.budget_minutes);
  number("budget.calls", flags.max_calls);
  if (flags.learn) overrides.emplace_back("learn.enabled=true");
  if (flags.no_sandbox) overrides.emplace_back("judge.unsafe_no_sandbox=true");
  for (const std::string& line : overrides) DAVINCI_RETURN_IF_ERROR(recipe.Override(line));
  if (flags.backbone == nullptr) {
    DAVINCI_ASSIGN_OR_RETURN(const runs::UserConfig user, runs::LoadUserConfig());
    recipe = runs::OverUserConfig(recipe, user);
  }
  DAVINCI_RETURN_IF_ERROR(runs::AddSettingsOfModel(FindHome, ShippedModel, &recipe));
  if (!runs::IsSet(recipe, "task.target")) {
    const bool gpu = !gpu::DeviceMonitor::Create()->devices().empty();
    DAVINCI_RETURN_IF_ERROR(
        recipe.Override(fmt::format("task.target=\"{}\"", gpu ? "cuda" : "cpu")));
  }
  const bool may_be_expert =
      flags.expert_by_default && flags.backbone == nullptr && flags.model.empty();
  DAVINCI_ASSIGN_OR_RETURN(const bool by_default, runs::ChooseExpert(may_be_expert, &recipe));
  ResolvedRecipe resolved;
  resolved.expert_by_default = by_default;
  const nlohmann::json& values = recipe.tree().values;
  resolved.concurrency_is_set = values.contains("llm") && values["llm"].contains("concurrency");
  DAVINCI_ASSIGN_OR_RETURN(resolved.recipe, runs::ReadRecipe(recipe, &resolved.toml));
  return resolved;
}

agent::DeviceFacts FactsOf(Target target, int num_cores,
                           const std::vector<gpu::DeviceInfo>& described) {
  if (target == Target::kCpu) return agent::CpuFacts(num_cores);
  if (!described.empty()) return agent::GpuFacts(described.front());
  agent::DeviceFacts unknown;
  unknown.target = target;
  return unknown;
}

Result<Workplace> OpenWorkplace(const RunFlags& flags, const runs::RunRecipe& recipe,
                                const GlobalOptions& global,
                                std::function<void(const std::string&)> on_notice) {
  Workplace place;
  place.on_notice = std::move(on_notice);
  DAVINCI_ASSIGN_OR_RETURN(place.installation, FindInstallation(global.python));
  DAVINCI_RETURN_IF_ERROR(OpenModels(flags, recipe, &place));
  DAVINCI_RETURN_IF_ERROR(FindLibrary(flags, recipe, &place));
  DAVINCI_ASSIGN_OR_RETURN(
      auto prompts, agent::PromptSet::Load(place.installation.home / "prompts", recipe.prompts));
  place.prompts = std::make_unique<agent::PromptSet>(std::move(prompts));
  const int num_cores = NumCores(recipe);
  runs::RunParts& parts = place.parts;
  DAVINCI_ASSIGN_OR_RETURN(JudgeSetup judge, SetUpJudges(place.installation, recipe.judge.devices));
  const auto visible = gpu::VisibleDevices(*gpu::DeviceMonitor::Create());
  place.judging = gpu::DevicesOf(visible, judge.devices);
  place.described = place.judging.empty() ? visible : place.judging;
  parts.device = FactsOf(recipe.step.target, num_cores, place.described);
  std::vector<davinci::Target> targets = flags.further_targets;
  targets.push_back(recipe.step.target);
  const bool cuda = std::ranges::find(targets, Target::kCuda) != targets.end();
  judge.options.threads = recipe.judge.threads;
  judge.options.unsafe_no_sandbox = recipe.judge.unsafe_no_sandbox;
  judge.options.triton = cuda;
  // A training's step: many come.
  if (recipe.step.turn_protocol == "staged")
    judge.options.in_flight = runs::JudgePlaces(recipe.judge, num_cores) /
                              std::max<int>(1, static_cast<int>(judge.devices.size()));
  place.judges = std::make_unique<judge::JudgePool>(
      judge.options, judge.devices,
      judge::JudgeIdentityOf(VersionsOf(place.installation, targets, num_cores, place.judging)));
  *place.pool = place.judges.get();
  if (recipe.judge.verdict_cache) {
    DAVINCI_ASSIGN_OR_RETURN(const fs::path folder, CacheDir("verdicts"));
    DAVINCI_ASSIGN_OR_RETURN(place.verdict_cache, store::KvCache::Open(folder / "verdicts.db"));
  }
  const fs::path runtime = place.installation.home / "python" / "davinci_runtime";
  DAVINCI_ASSIGN_OR_RETURN(parts.runtime_source, ReadFile(runtime / "__init__.py"));
  DAVINCI_ASSIGN_OR_RETURN(parts.guard_source, ReadFile(runtime / "guard.py"));
  DAVINCI_ASSIGN_OR_RETURN(parts.harness_source, ReadFile(runtime / "harness.py"));
  parts.ledger = place.ledger.get();
  parts.judges = place.judges.get();
  parts.prompts = place.prompts.get();
  parts.verdict_cache = place.verdict_cache.get();
  if (recipe.step.task_text != rollout::TaskText::kFile)
    DAVINCI_RETURN_IF_ERROR(OpenSteps(recipe.step.task_text, &place));
  parts.num_cores = num_cores;
  parts.notices = [clients = place.clients] {
    std::vector<std::string> notices;
    for (const llm::OpenAiClient* client : clients)
      for (std::string& notice : client->Notices()) notices.push_back(std::move(notice));
    return notices;
  };
  return place;
}

namespace {

// Nothing: the model costs nothing, or its price is not known.
std::optional<double> PriceOf(const runs::RunRecipe& recipe, const Workplace& place,
                              const llm::Usage& usage) {
  if (place.clients.empty() || recipe.llm.prices.empty()) return std::nullopt;
  const auto prices = llm::PriceTable::Load(recipe.llm.prices);
  if (!prices.ok()) return std::nullopt;
  return prices->Cost(place.clients.front()->model(), usage);
}

}  // namespace

Result<runs::RunResult> ExecuteIn(const RunFlags& flags, const ResolvedRecipe& resolved,
                                  const GlobalOptions& global, runs::RunRequest request,
                                  const runs::RunEvents& events) {
  DAVINCI_ASSIGN_OR_RETURN(Workplace place,
                           OpenWorkplace(flags, resolved.recipe, global, events.note));
  runs::RunHeader& header = request.header;
  runs::Authors authors;
  authors.rules_alone = place.parts.author_alone;
  authors.recorded = place.recorded;
  authors.paid = !place.clients.empty();
  if (runs::AddsExpert(resolved.recipe, header.command, authors, flags.backbone != nullptr)) {
    DAVINCI_RETURN_IF_ERROR(OpenAuthor(resolved.recipe, expert::Dealing::kInTurn, &place));
    header.identity["rollout.expert"] = "on";
  }
  header.version = DAVINCI_VERSION;
  header.recorded = place.recorded;
  header.created_unix_s =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  header.identity.merge(runs::Identity(resolved.recipe));
  header.identity["llm"] = place.llm_identity;
  header.identity["agents.prompts"] = place.prompts->hash();
  for (const auto& [task, source] : request.start)
    header.identity["start." + task] = Sha256Hex(source);
  request.folder =
      flags.run.empty() ? runs::DefaultRunFolder(header) : std::filesystem::path(flags.run);
  request.recipe = resolved.recipe;
  if (place.default_concurrency > 0 && !resolved.concurrency_is_set)
    request.recipe.llm.concurrency = place.default_concurrency;
  request.resolved_recipe = resolved.toml;
  request.library_sources = place.library_sources;
  if (flags.publish) request.publish_library = place.publish_library;
  rollout::StopFlag stop;
  const InterruptWatch watch(OnInterrupt(&stop));
  if (events.note && resolved.expert_by_default)
    events.note(
        "no --llm: the expert writes the kernels by its rules; --llm URL --model NAME asks a "
        "language model");
  if (events.note) {
    const runs::Forecast forecast = runs::ForecastOf(request);
    authors.rules_too = place.parts.author != nullptr;
    authors.usd = PriceOf(request.recipe, place, forecast.worst);
    events.note(runs::ForecastText(forecast, request.recipe, authors));
  }
  return runs::ExecuteRun(std::move(request), place.parts, &stop, events);
}

}  // namespace davinci::app
