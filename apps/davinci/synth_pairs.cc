#include "synth_pairs.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include "davinci/agent/device_facts.h"
#include "davinci/agent/selection_agent.h"
#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/base/progress_line.h"
#include "davinci/base/rng.h"
#include "davinci/gpu/visible_devices.h"
#include "davinci/skill/formats.h"
#include "davinci/skill/library.h"
#include "davinci/skill/library_in_force.h"
#include "davinci/skill/reference_query.h"
#include "davinci/synth/alteration.h"
#include "davinci/synth/sampler.h"
#include "davinci/synth/variation.h"
#include "davinci/synth/wording.h"
#include "davinci/teacher/demos/pair_rows.h"
#include "davinci/text/tokenizer.h"
#include "imported_modules.h"
#include "installation.h"
#include "python_texts.h"
#include "report.h"
#include "skills_library.h"
#include "synth_flags.h"
#include "workplace.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Candidates of a shard, so that no two shards draw the same one.
constexpr uint64_t kStride = uint64_t{1} << 24;

struct PairArguments {
  SampleFlags sample;
  std::string out = "synth-pairs";
  std::string language = "triton";
  std::string reply = "delta";
  std::string prompts = "compact";
  std::string task = "file";
  double plans = 0.8;
  std::vector<std::string> devices;
  std::vector<std::string> tasks;    // of the user, with the generated ones
  size_t copies = 0;                 // altered ones of each of the user's
  std::vector<std::string> without;  // rules
  std::string tokenizer;
  size_t shard = 8192;
  teacher::PairSettings settings;
};

struct Counts {
  size_t rows = 0, selections = 0;
  size_t prompt_bytes = 0, reply_bytes = 0;
  std::map<std::string, size_t> left_out;

  void Add(const Counts& other) {
    rows += other.rows;
    selections += other.selections;
    prompt_bytes += other.prompt_bytes;
    reply_bytes += other.reply_bytes;
    for (const auto& [why, count] : other.left_out) left_out[why] += count;
  }
};

// Some devices as prompts describe them, for --device: a model that reads names reads others, too.
std::vector<agent::DeviceFacts> SomeDevices(Target target) {
  std::vector<agent::DeviceFacts> devices;
  if (target == Target::kCuda) {
    for (const char* name : {"NVIDIA H100 80GB HBM3", "NVIDIA H200", "NVIDIA A100-SXM4-80GB",
                             "NVIDIA L40S", "NVIDIA GeForce RTX 4090", ""}) {
      devices.emplace_back().target = target;
      devices.back().name = name;
    }
    return devices;
  }
  const std::vector<std::string> avx2 = {"avx2", "fma"},
                                 avx512 = {"avx2", "fma", "avx512f", "avx512bw", "avx512vl"};
  constexpr int64_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;
  const auto add = [&](const char* name, int cores, const std::vector<std::string>& isa, int64_t l1,
                       int64_t l2, int64_t l3, int64_t memory) {
    agent::DeviceFacts& facts = devices.emplace_back();
    facts.target = target;
    facts.name = name;
    facts.num_cores = cores;
    facts.isa = isa;
    facts.l1_data_bytes = l1;
    facts.l2_bytes = l2;
    facts.last_level_bytes = l3;
    facts.memory_bytes = memory;
  };
  add("AMD EPYC 7763 64-Core Processor", 4, avx2, 32 * kKiB, 512 * kKiB, 32 * kMiB, 16 * kGiB);
  add("AMD EPYC 9654 96-Core Processor", 32, avx512, 32 * kKiB, kMiB, 32 * kMiB, 128 * kGiB);
  add("Intel(R) Xeon(R) Platinum 8480+", 16, avx512, 48 * kKiB, 2 * kMiB, 105 * kMiB, 64 * kGiB);
  add("Intel(R) Core(TM) i7-12700K", 8, avx2, 48 * kKiB, 1280 * kKiB, 25 * kMiB, 32 * kGiB);
  devices.emplace_back().target = target;
  return devices;
}

// Devices of these names as prompts describe them.
Result<std::vector<std::string>> DeviceTexts(const std::vector<std::string>& names, Target target,
                                             const agent::PromptSet& prompts) {
  std::vector<agent::DeviceFacts> devices;
  for (const std::string& name : names) {
    if (name == "here") {
      devices.push_back(FactsOf(target,
                                static_cast<int>(std::max(1u, std::thread::hardware_concurrency())),
                                gpu::VisibleDevices(*gpu::DeviceMonitor::Create())));
      continue;
    }
    devices.emplace_back().target = target;
    devices.back().name = name;
  }
  if (devices.empty()) devices = SomeDevices(target);
  std::vector<std::string> texts;
  for (const agent::DeviceFacts& facts : devices) {
    DAVINCI_ASSIGN_OR_RETURN(texts.emplace_back(), agent::DescribeDevice(prompts, facts));
  }
  return texts;
}

// The arguments that decide the rows.
json ArgumentsOf(const PairArguments& arguments) {
  return {{"count", arguments.sample.count},
          {"split", arguments.sample.split},
          {"seed", arguments.sample.seed},
          {"pattern", arguments.sample.pattern},
          {"mixed", arguments.sample.mixed},
          {"least_elements", arguments.sample.least_elements},
          {"most_operators", arguments.sample.most_operators},
          {"language", arguments.language},
          {"reply", arguments.reply},
          {"prompts", arguments.prompts},
          {"task", arguments.task},
          {"plans", arguments.plans},
          {"part_steps", arguments.settings.part_steps},
          {"devices", arguments.devices},
          {"tokenizer", arguments.tokenizer},
          {"shard", arguments.shard},
          {"with_skills", arguments.settings.with_skills},
          {"with_cards", arguments.settings.cards.share},
          {"max_cards", arguments.settings.cards.most},
          {"varied", arguments.settings.varied},
          {"reply_tokens", arguments.settings.reply_tokens},
          {"policy_tokens", arguments.settings.limits.policy_tokens},
          {"max_skills", arguments.settings.limits.max_skills},
          {"selections", arguments.settings.selections},
          {"select", arguments.settings.limits.selected},
          {"without", arguments.without},
          {"some_rules", arguments.settings.some_rules},
          {"tasks", arguments.tasks},
          {"copies", arguments.copies},
          {"version", DAVINCI_VERSION}};
}

// The row's lines go behind `text`.
void Count(const teacher::PairRow& made, Counts* counts, std::string* text) {
  if (made.rows.empty()) {
    ++counts->left_out[made.left_out];
    return;
  }
  for (const sftdata::Row& row : made.rows) {
    ++counts->rows;
    for (const auto& message : row.messages)
      (message.role == "assistant" ? counts->reply_bytes : counts->prompt_bytes) +=
          message.content.size();
    *text += JsonText(sftdata::ToJson(row)) + "\n";
  }
  if (!made.selection) return;
  ++counts->selections;
  *text += JsonText(sftdata::ToJson(*made.selection)) + "\n";
}

class PairWriter {
 public:
  PairWriter(const synth::Grammar& grammar, const synth::StyleBook& styles,
             const synth::SampleOptions& options, const teacher::PairMaker& maker, fs::path out,
             size_t shard)
      : grammar_(grammar),
        styles_(styles),
        options_(options),
        maker_(maker),
        out_(std::move(out)),
        shard_(shard) {}

  // Shards that are there are not made again: a file has its name when it is whole.
  Status Run() {
    const size_t shards = (options_.count + shard_ - 1) / shard_;
    const auto work = [&] {
      for (size_t k; (k = next_.fetch_add(1)) < shards;) {
        const Status made = Shard(k, shards);
        if (made.ok()) continue;
        MutexLock lock(mutex_);
        if (status_.ok()) status_ = made;
        next_ = shards;
      }
    };
    std::vector<std::thread> threads;
    for (int t = 1; t < options_.threads; ++t) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    MutexLock lock(mutex_);
    progress_.Clear();
    return status_;
  }

  Counts counts() {
    MutexLock lock(mutex_);
    return counts_;
  }

 private:
  Status Shard(size_t number, size_t shards) {
    const fs::path file = out_ / fmt::format("pairs-{:05}.jsonl", number);
    std::error_code error;
    if (fs::exists(file, error)) {
      MutexLock lock(mutex_);
      ++done_;
      return Status::Ok();
    }
    synth::SampleOptions options = options_;
    options.threads = 1;
    options.count = std::min(shard_, options_.count - number * shard_);
    options.first = number * kStride;
    std::string text;
    Counts own;
    const auto sampled = synth::SampleTasks(
        grammar_, styles_, options, [&](const synth::SampledTask& task) -> Status {
          DAVINCI_ASSIGN_OR_RETURN(const teacher::PairRow made, maker_.Make(task));
          Count(made, &own, &text);
          return Status::Ok();
        });
    if (!sampled.ok()) return sampled.status();
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(file, text, Durability::kFastest));
    MutexLock lock(mutex_);
    counts_.Add(own);
    ++done_;
    progress_.Show(fmt::format("{} of {} shards", done_, shards));
    return Status::Ok();
  }

  const synth::Grammar& grammar_;
  const synth::StyleBook& styles_;
  const synth::SampleOptions& options_;
  const teacher::PairMaker& maker_;
  const fs::path out_;
  const size_t shard_;
  std::atomic<size_t> next_ = 0;
  Mutex mutex_;
  Counts counts_ DAVINCI_GUARDED_BY(mutex_);
  size_t done_ DAVINCI_GUARDED_BY(mutex_) = 0;
  ProgressLine progress_ DAVINCI_GUARDED_BY(mutex_);
  Status status_ DAVINCI_GUARDED_BY(mutex_);
};

// Rows of the user's modules are made with these, which outlive them.
struct UsersRows {
  const PairArguments& arguments;
  const GlobalOptions& global;
  const teacher::Teacher& teacher;
  const teacher::PairMaker& maker;
  const synth::Corpus& corpus;
  const synth::Exchanges& exchanges;
};

// Writes copy `number` of the module: another task in other words, which only its import finds
// right or wrong.
Status WriteCopy(const UsersRows& rows, const task::TaskEntry& entry, size_t number,
                 const fs::path& folder) {
  constexpr double kUnaltered = 0.1;
  DAVINCI_ASSIGN_OR_RETURN(const std::string source, ReadFile(entry.path));
  fs::path file = entry.path;
  const auto sidecar = ReadFile(file.replace_extension(".toml"));
  const synth::PairText written{source, sidecar.ok() ? *sidecar : "", ""};
  synth::PairText text = written;
  SplitMix64 rng(HashBytes(entry.id, rows.arguments.sample.seed * 4096 + number));
  if (rng.Uniform() >= kUnaltered)
    text.task = synth::Altered(rows.exchanges, text.task, rng.Next());
  if (rng.Uniform() < rows.arguments.settings.varied)
    text = synth::VariedTask(rows.corpus, std::move(text), rng.Next());
  // Files that are written as no others are may lose what makes them tasks.
  if (text.task.find("def get_inputs") == std::string::npos) text = written;
  file = folder / (entry.id + ".py");
  DAVINCI_RETURN_IF_ERROR(MakeDirs(file.parent_path()));
  DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(file, text.task, Durability::kFastest));
  if (text.sidecar.empty()) return Status::Ok();
  return WriteFileAtomic(file.replace_extension(".toml"), text.sidecar, Durability::kFastest);
}

// The row of an imported module. Copies that do not run are left out alike, however they fail.
Result<teacher::PairRow> RowOf(const UsersRows& users, const ImportedModules& modules, size_t i,
                               size_t number) {
  using Sizes = expert::Expert::OwnSizes;
  const bool delta = users.arguments.reply == "delta";
  const Target target = users.arguments.language == "cpp" ? Target::kCpu : Target::kCuda;
  teacher::PairRow row;
  std::optional<teacher::Steps> steps;
  // Sizes have names, as in the rows of generated tasks, unless some of them cannot be read.
  for (const Sizes sizes : delta ? std::vector<Sizes>{Sizes::kNamed, Sizes::kNumbers}
                                 : std::vector<Sizes>{Sizes::kNumbers}) {
    const auto module = modules.Import(i, target, sizes);
    if (!module.status.ok()) {
      row.left_out = number > 0 ? "the altered module does not run" : module.status.message();
      return row;
    }
    const config::TaskConfig& config = module.task->config;
    const synth::Graph& graph = module.imported.imported.graph;
    teacher::PairTask task;
    task.id = modules.tasks()[i].id + (number > 0 ? fmt::format("-{}", number) : "");
    task.family = FamilyOf(graph, users.teacher.KindsOf(graph, module.imported.imported.task));
    task.split = config.split.empty() ? "train" : config.split;
    task.graph = &graph;
    task.text = &module.imported.imported.task;
    task.source = module.task->source;
    fs::path sidecar = modules.tasks()[i].path;
    const auto text = ReadFile(sidecar.replace_extension(".toml"));
    if (text.ok()) task.sidecar = *text;
    task.entry = config.entry.empty() ? config.function : config.entry;
    task.defines = module.task->candidate_entry;
    task.may_vary = false;  // its text is what was traced
    if (users.arguments.task != "file" && !steps) {
      // Those of rollouts, whatever the sizes of the kernels.
      const auto shown = modules.StepsOf(i, target);
      if (shown.ok()) steps = *shown;
    }
    task.steps = steps;
    DAVINCI_ASSIGN_OR_RETURN(row, users.maker.Make(task));
    if (!row.rows.empty()) break;
  }
  return row;
}

// Rows of the user's modules, imported at the target's sizes: a file for each copy. The modules
// themselves stay where they are, as they may import their neighbours.
Status WriteUsersRows(const UsersRows& users, const fs::path& file, size_t number, Counts* counts) {
  DAVINCI_ASSIGN_OR_RETURN(const TempDir folder, MakeTempDir("davinci-copies"));
  std::vector<std::string> from = users.arguments.tasks;
  if (number > 0) {
    DAVINCI_ASSIGN_OR_RETURN(auto tasks, TasksFrom(from, EntryFlags()));
    DAVINCI_ASSIGN_OR_RETURN(const TempDir files, MakeTempDir("davinci-modules"));
    DAVINCI_RETURN_IF_ERROR(task::WriteTaskFiles(files.path(), &tasks));
    for (const task::TaskEntry& entry : tasks)
      DAVINCI_RETURN_IF_ERROR(WriteCopy(users, entry, number, folder.path()));
    from = {folder.path().string()};
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto modules,
                           ImportedModules::Open(from, EntryFlags(), users.global));
  std::vector<Result<teacher::PairRow>> rows(modules->tasks().size(), teacher::PairRow());
  ForEachModule(*modules, [&](size_t i) { rows[i] = RowOf(users, *modules, i, number); });
  std::string text;
  for (const auto& row : rows) {
    if (!row.ok()) return row.status();
    Count(*row, counts, &text);
  }
  return WriteFileAtomic(file, text, Durability::kFastest);
}

// The skills that selections choose from: those that ship and, where prompts show cards, those of
// `deck` among the shipped cards; none whose rules are all in `without`.
Result<std::unique_ptr<skill::Library>> SearchedLibrary(const fs::path& home,
                                                        const teacher::CardDeck* deck,
                                                        const teacher::RuleSet& without) {
  std::vector<std::string> sources = {(home / "skills").string()};
  if (deck != nullptr && deck->settings().language == teacher::Language::kTriton)
    sources.push_back((home / "cards" / "triton.jsonl").string());
  DAVINCI_ASSIGN_OR_RETURN(auto records, skill::ReadTogether(sources));
  std::set<std::string> cards, left_out;
  if (deck != nullptr)
    for (const std::string& name : deck->names())
      cards.insert(std::string(skill::Skill::kCardScope) + name);
  for (const teacher::RuleInfo& rule : teacher::Rules())
    if (without.Contains(rule.rule)) left_out.insert(std::string(rule.skill));
  for (const teacher::RuleInfo& rule : teacher::Rules())
    if (!without.Contains(rule.rule)) left_out.erase(std::string(rule.skill));
  std::erase_if(records, [&](const skill::Record& record) {
    const std::string& scope = record.skill.scope;
    return left_out.contains(record.skill.name) ||
           (record.skill.IsCard() && !cards.contains(scope));
  });
  DAVINCI_ASSIGN_OR_RETURN(auto library, skill::Library::OpenInMemory({}));
  DAVINCI_RETURN_IF_ERROR(library->AddExactly(records).status());
  return library;
}

// With cards, where there is a deck, and without: where rows leave out cards of the former, skills
// of the latter take their places.
using SearchedLibraries = std::vector<std::unique_ptr<skill::Library>>;
Result<SearchedLibraries> LibrariesToSearch(const fs::path& home, const teacher::CardDeck* deck,
                                            const teacher::RuleSet& without) {
  SearchedLibraries libraries;
  if (deck != nullptr) {
    DAVINCI_ASSIGN_OR_RETURN(auto with_cards, SearchedLibrary(home, deck, without));
    libraries.push_back(std::move(with_cards));
  }
  DAVINCI_ASSIGN_OR_RETURN(auto skills, SearchedLibrary(home, nullptr, without));
  libraries.push_back(std::move(skills));
  return libraries;
}

Result<std::vector<skill::Skill>> Found(const SearchedLibraries& libraries,
                                        const skill::Audience& audience,
                                        const std::string& reference) {
  std::vector<skill::Skill> found;
  for (const auto& library : libraries) {
    DAVINCI_ASSIGN_OR_RETURN(
        auto hits,
        library->SearchFor(audience, skill::QueryFromReference(reference), agent::kNumCandidates));
    for (skill::Ranked& hit : hits)
      if (std::ranges::find(found, hit.record.skill.name, &skill::Skill::name) == found.end())
        found.push_back(std::move(hit.record.skill));
  }
  return found;
}

Status Run(PairArguments arguments, const GlobalOptions& global) {
  DAVINCI_ASSIGN_OR_RETURN(const fs::path home, FindHome());
  DAVINCI_ASSIGN_OR_RETURN(const fs::path folder, GrammarFolder(arguments.sample));
  DAVINCI_ASSIGN_OR_RETURN(auto options, SampleOptionsOf(arguments.sample));
  const fs::path out = arguments.out;
  DAVINCI_RETURN_IF_ERROR(MakeDirs(out));
  const json wanted = ArgumentsOf(arguments);
  if (const auto old = ReadFile(out / "arguments.json"); old.ok()) {
    if (json::parse(*old, nullptr, false) != wanted)
      return InvalidArgument(
          fmt::format("{} holds rows of other arguments (arguments.json); name another folder with "
                      "--out, or remove it",
                      out.string()));
  } else {
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(out / "arguments.json", JsonText(wanted, 2) + "\n"));
  }
  DAVINCI_ASSIGN_OR_RETURN(const auto texts, ReadPythonTexts({(home / "tasks").string()}));
  const auto contamination = synth::ContaminationOf(texts);
  options.contamination = &contamination;
  DAVINCI_ASSIGN_OR_RETURN(const auto grammar, synth::LoadGrammar(folder));
  DAVINCI_ASSIGN_OR_RETURN(const auto styles, synth::LoadStyles(folder));
  DAVINCI_ASSIGN_OR_RETURN(const auto teacher, teacher::Teacher::Load(folder));
  DAVINCI_ASSIGN_OR_RETURN(
      const auto prompts,
      agent::PromptSet::Load(home / "prompts", arguments.prompts == "compact"
                                                   ? home / "prompts" / "compact"
                                                   : fs::path()));
  DAVINCI_ASSIGN_OR_RETURN(const auto read, skill::ReadSkills(home / "skills"));
  std::map<std::string, skill::Skill> library;
  for (const auto& document : read.documents) library[document.skill.name] = document.skill;
  teacher::PairSettings& settings = arguments.settings;
  settings.language = arguments.language == "cpp"    ? teacher::Language::kCpp
                      : arguments.language == "cuda" ? teacher::Language::kCuda
                                                     : teacher::Language::kTriton;
  settings.reply = arguments.reply == "delta" ? ReplyForm::kDelta : ReplyForm::kFile;
  settings.steps = arguments.task != "file";
  settings.plans = arguments.task == "plan" ? arguments.plans : 0;
  const Target target = arguments.language == "cpp" ? Target::kCpu : Target::kCuda;
  DAVINCI_ASSIGN_OR_RETURN(settings.devices, DeviceTexts(arguments.devices, target, prompts));
  if (!arguments.tokenizer.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const auto tokenizer, text::Tokenizer::Load(arguments.tokenizer));
    settings.limits.count_tokens = [tokenizer](std::string_view text) {
      const auto ids = tokenizer.Encode(text);
      return ids.ok() ? static_cast<int64_t>(ids->size()) : llm::EstimateTokens(text);
    };
  }
  DAVINCI_ASSIGN_OR_RETURN(auto gains, ShippedGains());
  settings.limits.gains = gains[arguments.language];
  DAVINCI_ASSIGN_OR_RETURN(const auto corpus, synth::LoadCorpus(folder));
  DAVINCI_ASSIGN_OR_RETURN(settings.without, RulesNamed(arguments.without));
  teacher::CardSettings card_settings{settings.language, settings.reply,
                                      teacher::CardFamilies::kTrain, settings.without,
                                      settings.steps};
  // Rows of held-out families are no rows of training.
  if (options.split == synth::SplitKind::kFamily)
    card_settings.families = teacher::CardFamilies::kAll;
  std::optional<teacher::CardDeck> deck;
  if (settings.cards.share > 0) deck.emplace(grammar, styles, teacher, card_settings);
  DAVINCI_ASSIGN_OR_RETURN(const auto searched,
                           LibrariesToSearch(home, deck ? &*deck : nullptr, settings.without));
  const skill::Audience audience{target, ParseLanguage(arguments.language).value()};
  settings.find = [&](const std::string& reference) {
    return Found(searched, audience, reference);
  };
  const teacher::PairMaker maker(teacher, prompts, library, corpus, settings,
                                 deck ? &*deck : nullptr);
  const auto begin = std::chrono::steady_clock::now();
  PairWriter writer(grammar, styles, options, maker, out, arguments.shard);
  DAVINCI_RETURN_IF_ERROR(writer.Run());
  Counts users;
  if (!arguments.tasks.empty()) {
    DAVINCI_ASSIGN_OR_RETURN(const auto exchanges, synth::LoadExchanges(folder));
    const UsersRows with{arguments, global, teacher, maker, corpus, exchanges};
    for (size_t copy = 0; copy <= arguments.copies; ++copy) {
      const fs::path file = out / fmt::format("tasks-{:05}.jsonl", copy);
      std::error_code error;
      if (!fs::exists(file, error))
        DAVINCI_RETURN_IF_ERROR(WriteUsersRows(with, file, copy, &users));
    }
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Counts counts = writer.counts();
  counts.Add(users);
  fmt::print("{} rows in {:.1f} s ({:.0f} a second, {} threads): {}\n", counts.rows, seconds,
             static_cast<double>(counts.rows) / std::max(seconds, 1e-9), options.threads,
             out.string());
  if (counts.selections > 0) fmt::print("{} rows of selections\n", counts.selections);
  if (counts.rows > 0)
    fmt::print("mean characters: prompt {}, reply {}\n", counts.prompt_bytes / counts.rows,
               counts.reply_bytes / counts.rows);
  for (const auto& [why, number] : counts.left_out) fmt::print("{:>7} left out: {}\n", number, why);
  return Status::Ok();
}

void AddCardOptions(CLI::App* pairs, PairArguments* arguments) {
  pairs
      ->add_option("--with-cards", arguments->settings.cards.share,
                   "share of prompts that show operator cards, most of them under other names and "
                   "with other numbers (default 0)")
      ->check(CLI::Range(0.0, 1.0));
  pairs
      ->add_option("--max-cards", arguments->settings.cards.most,
                   "most cards of a prompt (default 2)")
      ->check(CLI::Range(size_t{1}, size_t{8}));
}

}  // namespace

void AddSynthPairs(CLI::App* synth, GlobalOptions& global, int* exit_code) {
  auto* pairs = synth->add_subcommand(
      "pairs",
      "rows of the policy and the selection from tasks and the teacher's kernels, not judged");
  auto arguments = std::make_shared<PairArguments>();
  AddSampleFlags(pairs, &arguments->sample);
  pairs->add_option("--out", arguments->out,
                    "folder for pairs-NNNNN.jsonl; an interrupted command continues there "
                    "(default synth-pairs)");
  pairs->add_option("--language", arguments->language, "triton (default), cpp, cuda")
      ->check(CLI::IsMember({"triton", "cpp", "cuda"}));
  pairs
      ->add_option("--reply", arguments->reply,
                   "delta (default; triton alone): kernels and forward; file: the whole file")
      ->check(CLI::IsMember({"delta", "file"}));
  pairs->add_option("--prompts", arguments->prompts, "compact (default) or full")
      ->check(CLI::IsMember({"compact", "full"}));
  pairs
      ->add_option(
          "--task", arguments->task,
          "what prompts show of the task: its file (default), its steps, one call a line, or "
          "steps and a plan: how to divide them into kernels (agents.task of recipes)")
      ->check(CLI::IsMember({"file", "steps", "plan"}));
  pairs
      ->add_option("--plans", arguments->plans,
                   "share of rows with a plan, of --task plan: without one a model learns to make "
                   "its own (default 0.8)")
      ->check(CLI::Range(0.0, 1.0));
  pairs
      ->add_option(
          "--part-steps", arguments->settings.part_steps,
          "a task of more steps gets a row for each part of its plan: policy.part_steps of "
          "rollouts (default 0: none does)")
      ->check(CLI::Range(size_t{0}, size_t{64}));
  pairs->add_option("--device", arguments->devices,
                    "names of devices, of which a prompt has one; here: this machine's (default: "
                    "some of the target's, and none)");
  pairs->add_option("--tokenizer", arguments->tokenizer,
                    "tokenizer.json, or folder of the model to be trained, that counts tokens "
                    "(default: an estimate)");
  pairs->add_option("--shard", arguments->shard, "tasks of a file (default 8192)")
      ->check(CLI::Range(size_t{1}, size_t{1} << 20));
  pairs->add_option("--tasks", arguments->tasks,
                    "also modules of yours: task files, folders or JSONL; their rows are in "
                    "tasks-00000.jsonl (--count 0: these alone)");
  pairs->add_option("--copies", arguments->copies,
                    "altered copies of each of --tasks, in tasks-00001.jsonl and so on: other "
                    "functions, numbers and steps, other names and texts (default 0)");
  pairs
      ->add_option("--selections", arguments->settings.selections,
                   "share of tasks that also give a row of the selection (default 0)")
      ->check(CLI::Range(0.0, 1.0));
  pairs
      ->add_option("--with-skills", arguments->settings.with_skills,
                   "share of prompts that show skills (default 0.15)")
      ->check(CLI::Range(0.0, 1.0));
  AddCardOptions(pairs, arguments.get());
  pairs
      ->add_option("--varied", arguments->settings.varied,
                   "share of tasks with other names, texts and formatting around the same code "
                   "(default 0.9)")
      ->check(CLI::Range(0.0, 1.0));
  pairs->add_option("--max-skills", arguments->settings.limits.max_skills,
                    "most skills of a prompt (default 2)");
  pairs
      ->add_option("--select", arguments->settings.limits.selected,
                   "most skills that a selection chooses: selection.select of rollouts (default 3)")
      ->check(CLI::Range(1, 20));
  pairs->add_option("--without", arguments->without,
                    "rules, or skills by their names, that no kernel follows and no prompt shows");
  pairs
      ->add_option("--some-rules", arguments->settings.some_rules,
                   "share of tasks whose kernels follow half of the rules, drawn for each task as "
                   "launches are, and whose prompts show skills of these alone (default 0)")
      ->check(CLI::Range(0.0, 1.0));
  pairs->add_option("--reply-tokens", arguments->settings.reply_tokens,
                    "longest reply (default 2000)");
  pairs->add_option("--policy-tokens", arguments->settings.limits.policy_tokens,
                    "longest prompt (default 3500)");
  pairs->footer(
      "Examples:\n"
      "  davinci synth pairs --count 1000000 --out pairs\n"
      "  davinci synth pairs --count 200 --split combination --out held-out-rows\n"
      "  davinci synth pairs --count 1000000 --selections 0.05 --tasks my-modules --out pairs\n");
  pairs->callback([arguments, exit_code, &global] {
    const Status status = Run(*arguments, global);
    if (!status.ok()) *exit_code = FailCommand("synth pairs", status);
  });
}

}  // namespace davinci::app
