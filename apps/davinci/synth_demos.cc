#include "synth_demos.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "batch.h"
#include "davinci/agent/delta_reply.h"
#include "davinci/agent/policy_agent.h"
#include "davinci/base/files.h"
#include "davinci/base/hash.h"
#include "davinci/base/json_text.h"
#include "davinci/config/task_config.h"
#include "davinci/gpu/device.h"
#include "davinci/gpu/visible_devices.h"
#include "davinci/judge/request/protocol.h"
#include "davinci/synth/sampler.h"
#include "davinci/teacher/candidate/step_answer.h"
#include "davinci/teacher/demos/demo_rows.h"
#include "davinci/teacher/demos/mutation.h"
#include "davinci/teacher/demos/pair_rows.h"
#include "davinci/teacher/teacher.h"
#include "demo_table.h"
#include "imported_modules.h"
#include "installation.h"
#include "report.h"
#include "skills_library.h"
#include "synth_flags.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using DemoLanguage = teacher::Language;
using teacher::Level;

struct DemoArguments {
  SampleFlags sample;
  std::vector<std::string> tasks;  // of the user, instead of generated ones
  std::string out = "synth-demos";
  std::vector<std::string> languages = {"triton", "cpp"};
  std::vector<std::string> levels = {"best"};
  std::vector<std::string> without;
  std::string protocol = "screening";
  size_t skills = 0;  // most in a candidate; 0: any number
  int jobs = 0;
  std::string reply = "file", task = "file";
  size_t mistakes = 0;        // candidates with a mistake, of each task and language
  bool without_each = false;  // also candidates that lack one skill
  std::string answers;        // replies of a model
  bool judge = false;
  bool table = false;
  bool show = false;
};

DemoLanguage LanguageOf(const std::string& name) {
  return name == "cpp"    ? DemoLanguage::kCpp
         : name == "cuda" ? DemoLanguage::kCuda
                          : DemoLanguage::kTriton;
}

std::string TargetOf(DemoLanguage language) {
  return language == DemoLanguage::kCpp ? "cpu" : "cuda";
}

// A task that gets kernels: its graph, and the text that its candidates are made of.
struct Writable {
  const synth::Graph* graph = nullptr;
  const synth::RenderedTask* text = nullptr;
};

// A task, and what demos.jsonl says of it. `of` a language: what is written for, which is another
// one on another target; an error: why nothing is.
struct DemoTask {
  std::string id;  // names its files
  std::string reference;
  json row;
  std::function<Result<Writable>(DemoLanguage)> of;
  std::optional<teacher::Steps> steps;  // that prompts show and answers name
};

// Elements of the largest value at the target's sizes.
std::string SizeClass(const synth::Graph& graph, synth::Binding binding) {
  double most = 0;
  for (const auto& value : graph.values) {
    double elements = 1;
    for (const auto dim : value.shape) elements *= static_cast<double>(graph.dims.At(dim, binding));
    most = std::max(most, elements);
  }
  return most < 1e5 ? "small" : most < 4e6 ? "medium" : "large";
}

class DemoWriter {
 public:
  explicit DemoWriter(DemoArguments arguments) : arguments_(std::move(arguments)) {}

  Status Run(const GlobalOptions& global) {
    DAVINCI_ASSIGN_OR_RETURN(const fs::path folder, GrammarFolder(arguments_.sample));
    DAVINCI_ASSIGN_OR_RETURN(const auto options, SampleOptionsOf(arguments_.sample));
    DAVINCI_ASSIGN_OR_RETURN(const auto grammar, synth::LoadGrammar(folder));
    DAVINCI_ASSIGN_OR_RETURN(const auto styles, synth::LoadStyles(folder));
    DAVINCI_ASSIGN_OR_RETURN(const auto made, teacher::Teacher::Load(folder));
    if (arguments_.skills > 0) {
      DAVINCI_ASSIGN_OR_RETURN(gains_, ShippedGains());
    }
    if (arguments_.task != "file" && arguments_.reply != "delta")
      return InvalidArgument(fmt::format("--task {} is for --reply delta", arguments_.task));
    if (arguments_.reply == "delta") {
      if (arguments_.languages != std::vector<std::string>{"triton"})
        return InvalidArgument("--reply delta is for --language triton");
      DAVINCI_ASSIGN_OR_RETURN(const fs::path home, FindHome());
      DAVINCI_ASSIGN_OR_RETURN(prelude_,
                               Prelude::Load(home / "python" / "davinci_runtime" / "prelude.py"));
    }
    // Without a device the judge takes the sizes of the cpu target.
    if (arguments_.judge && gpu::VisibleDevices(*gpu::DeviceMonitor::Create()).empty())
      judged_at_ = Target::kCpu;
    if (!arguments_.answers.empty()) DAVINCI_RETURN_IF_ERROR(ReadAnswers());
    const fs::path out = arguments_.out;
    for (const char* part : {"tasks", "candidates"}) {
      DAVINCI_RETURN_IF_ERROR(RemoveAll(out / part));
      DAVINCI_RETURN_IF_ERROR(MakeDirs(out / part));
    }
    std::string rows, jobs;
    size_t count = options.count;
    if (arguments_.tasks.empty()) {
      auto counts = synth::SampleTasks(
          grammar, styles, options, [&](const synth::SampledTask& task) -> Status {
            DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(out / "tasks" / (task.id + ".py"),
                                                    task.text.source, Durability::kFastest));
            DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(out / "tasks" / (task.id + ".toml"),
                                                    teacher::DemoSidecar(task.text),
                                                    Durability::kFastest));
            DAVINCI_ASSIGN_OR_RETURN(const DemoTask demo, Generated(made, task));
            return Add(made, demo, &rows, &jobs);
          });
      if (!counts.ok()) return counts.status();
    } else {
      DAVINCI_ASSIGN_OR_RETURN(count, AddUsers(made, global, &rows, &jobs));
    }
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(out / "demos.jsonl", rows));
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(out / "jobs.jsonl", jobs));
    json manifest = {{"count", count},
                     {"split", arguments_.sample.split},
                     {"seed", options.seed},
                     {"candidates", demos_.size()},
                     {"refused", refused_},
                     {"rules", rules_},
                     {"skills", skills_},
                     {"own_kernel_tasks", own_},
                     {"version", DAVINCI_VERSION}};
    if (!arguments_.tasks.empty()) manifest["tasks"] = arguments_.tasks;
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(out / "manifest.json", JsonText(manifest, 2) + "\n"));
    fmt::print("{} tasks, {} candidates: {}\n", count, demos_.size(), out.string());
    for (const auto& [language, own] : own_)
      fmt::print("{}: {} candidates with an own kernel\n", language, own);
    for (const auto& [why, number] : refused_) fmt::print("no candidate: {} {}\n", number, why);
    return Status::Ok();
  }

  // The exit status of the batch.
  Result<int> Judge(const GlobalOptions& global) const {
    BatchOptions batch;
    batch.in_flight = arguments_.jobs;
    batch.defaults.protocol = arguments_.protocol;
    batch.conditions = conditions_;
    return RunBatchIn(arguments_.out, std::move(batch), global);
  }

 private:
  teacher::AnswerForm FormOf(const DemoTask& task) const {
    return {prelude_ ? ReplyForm::kDelta : ReplyForm::kFile, task.steps ? &*task.steps : nullptr};
  }

  Result<DemoTask> Generated(const teacher::Teacher& made, const synth::SampledTask& task) const {
    json row = synth::ToJson(task);
    row["sidecar"] = teacher::DemoSidecar(task.text);
    row["family"] = task.graph.pattern->family;
    row["entry"] = task.text.entry;
    row["split"] = synth::SplitName(task.split);
    std::optional<teacher::Steps> steps;
    if (arguments_.task != "file") {
      DAVINCI_ASSIGN_OR_RETURN(steps, made.StepsOf(task.graph, task.text, DemoLanguage::kTriton));
      auto plain = made.PlainOf(task.graph, task.text, *steps);
      if (plain.ok()) {
        steps->plain = std::move(plain).value();
        row["steps"] = steps->text;
      } else {  // rows show the file
        steps.reset();
      }
    }
    return DemoTask{task.id, "tasks/" + task.id + ".py", std::move(row),
                    [&task](DemoLanguage) -> Result<Writable> {
                      return Writable{&task.graph, &task.text};
                    },
                    std::move(steps)};
  }

  // Modules of users, imported at the sizes of the languages' targets. How many there are.
  Result<size_t> AddUsers(const teacher::Teacher& made, const GlobalOptions& global,
                          std::string* rows, std::string* jobs) {
    DAVINCI_ASSIGN_OR_RETURN(const auto modules,
                             ImportedModules::Open(arguments_.tasks, EntryFlags(), global));
    std::set<Target> targets;
    for (const std::string& name : arguments_.languages)
      targets.insert(ParseTarget(TargetOf(LanguageOf(name))).value());
    using Imports = std::map<Target, ImportedModules::Module>;
    std::vector<Imports> imports(modules->tasks().size());
    ForEachModule(*modules, [&](size_t i) {
      for (const Target target : targets) imports[i][target] = modules->Import(i, target);
    });
    for (size_t i = 0; i < imports.size(); ++i) {
      const Imports& import = imports[i];
      const auto& known = import.begin()->second;
      if (known.task == nullptr) {
        ++refused_["broken: " + known.status.message()];
        continue;
      }
      DAVINCI_ASSIGN_OR_RETURN(DemoTask task, UsersTask(modules->tasks()[i], *known.task));
      const synth::Graph& graph = known.imported.imported.graph;
      task.row["family"] = known.status.ok()
                               ? FamilyOf(graph, made.KindsOf(graph, known.imported.imported.task))
                               : "other";
      // The page of tasks shows these facts of a generated one.
      task.row["synth"] = {{"family", task.row["family"]},
                           {"pattern", task.id},
                           {"style", "user"},
                           {"split", task.row["split"]},
                           {"operators", graph.OperatorSequence()},
                           {"precision", task.row["precision"]}};
      if (arguments_.task != "file") {
        auto steps = modules->StepsOf(i, Target::kCuda);
        if (steps.ok()) {
          task.row["steps"] = steps->text;
          task.steps = std::move(steps).value();
        }
      }
      task.of = [&import](DemoLanguage language) -> Result<Writable> {
        const auto& module = import.at(*ParseTarget(TargetOf(language)));
        if (!module.status.ok()) return module.status;
        return Writable{&module.imported.imported.graph, &module.imported.imported.task};
      };
      DAVINCI_RETURN_IF_ERROR(Add(made, task, rows, jobs));
    }
    return imports.size();
  }

  // A file of the user's stays where it is: it may import and read others. What has none, a row of
  // a JSONL file, is written to tasks/.
  Result<DemoTask> UsersTask(const task::TaskEntry& entry, const task::Task& read) const {
    const config::TaskConfig& config = read.config;
    DemoTask task;
    task.id = entry.id;
    for (char& c : task.id)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
    std::error_code error;
    task.reference = fs::absolute(entry.path, error).lexically_normal().string();
    if (!entry.source.empty()) {
      task.reference = "tasks/" + task.id + ".py";
      const fs::path file = fs::path(arguments_.out) / task.reference;
      DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(file, entry.source, Durability::kFastest));
      if (!entry.sidecar.empty())
        DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(fs::path(file).replace_extension(".toml"),
                                                entry.sidecar, Durability::kFastest));
    }
    fs::path sidecar = entry.path;
    const auto text = ReadFile(sidecar.replace_extension(".toml"));
    const bool function = !config.function.empty();
    task.row = {{"id", task.id},
                {"source", read.source},
                {"sidecar", text.ok() ? *text : std::string()},
                {"entry", function ? config.function : config.entry},
                {"defines", function ? read.candidate_function : read.candidate_entry},
                {"asked", read.candidate_entry},
                {"split", config.split.empty() ? "train" : config.split},
                {"precision", config::PrecisionName(config.precision)}};
    return task;
  }

  Status Add(const teacher::Teacher& made, const DemoTask& task, std::string* rows,
             std::string* jobs) {
    json row = task.row;
    row["candidates"] = json::array();
    for (const std::string& name : arguments_.languages) {
      const DemoLanguage language = LanguageOf(name);
      const auto writable = task.of(language);
      if (!writable.ok()) {
        ++refused_[fmt::format("{}: {}", name, writable.status().message())];
        continue;
      }
      const synth::Graph& graph = *writable->graph;
      const synth::RenderedTask& text = *writable->text;
      for (const std::string& level_name : arguments_.levels) {
        const Level level = level_name == "naive"    ? Level::kNaive
                            : level_name == "better" ? Level::kBetter
                                                     : Level::kBest;
        auto allowed = teacher::RuleSet::Of(level, language);
        DAVINCI_ASSIGN_OR_RETURN(const auto without, RulesNamed(arguments_.without));
        allowed.Erase(without);
        const teacher::AnswerForm form = FormOf(task);
        auto candidate = made.Write(graph, text, language, allowed, form);
        // Rules of so many skills alone: those that gained most where they were measured.
        if (candidate.ok() && arguments_.skills > 0 &&
            candidate->skills.size() > arguments_.skills) {
          std::vector<std::string> order(candidate->skills.begin(), candidate->skills.end());
          teacher::OrderByGain(gains_[name], &order);
          order.resize(arguments_.skills);
          const std::set<std::string> given(order.begin(), order.end());
          for (const teacher::RuleInfo& rule : teacher::Rules())
            if (!given.contains(std::string(rule.skill))) allowed.Erase(rule.rule);
          candidate = made.Write(graph, text, language, allowed, form);
        }
        if (candidate.ok() && candidate->prefers_vendor && level == Level::kBest)
          if (auto vendor = made.WriteVendor(graph, text, language, form); vendor.ok())
            candidate = std::move(vendor);
        if (!candidate.ok()) {
          ++refused_[fmt::format("{}: {}", name, candidate.status().message())];
          continue;
        }
        // Repairs and summaries compare with candidates that stand before the last level's, and
        // that are judged behind it.
        std::string others;
        if (level_name == arguments_.levels.back()) {
          DAVINCI_RETURN_IF_ERROR(AddAnswers(task, language, *candidate, &row, &others));
          DAVINCI_RETURN_IF_ERROR(AddMutated(task, language, *candidate, &row, &others));
          if (arguments_.without_each)
            DAVINCI_RETURN_IF_ERROR(AddWithoutEach(made, task, *writable, language, allowed,
                                                   *candidate, &row, &others));
        }
        DAVINCI_RETURN_IF_ERROR(
            AddCandidate(task, language, level_name, *candidate, candidate->source, &row, jobs));
        if (arguments_.task == "plan" && language == DemoLanguage::kTriton && task.steps)
          row["plan"] = teacher::PlanOf(candidate->source);
        *jobs += others;
        for (const std::string& rule : candidate->rules.Names()) ++rules_[rule];
        for (const std::string& skill : candidate->skills) ++skills_[skill];
        own_[name] += candidate->own_kernels > 0;
        const auto binding =
            language == DemoLanguage::kCpp ? synth::Binding::kCpu : synth::Binding::kCuda;
        row["candidates"].back()["size"] = SizeClass(graph, binding);
      }
    }
    *rows += JsonText(row) + "\n";
    AddDemos(row, &demos_);
    return Status::Ok();
  }

  std::string JobOf(const DemoTask& task, const std::string& id, DemoLanguage language) const {
    return JsonText(json{{"id", id},
                         {"reference", task.reference},
                         {"candidate", "candidates/" + id + ".py"},
                         {"target", TargetOf(language)},
                         {"protocol", arguments_.protocol}}) +
           "\n";
  }

  // Writes `code`, a file or a reply that stands for one, as a candidate; `like` names its rules.
  Status AddCandidate(const DemoTask& task, DemoLanguage language, const std::string& level,
                      const teacher::Candidate& like, const std::string& code, json* row,
                      std::string* jobs) {
    const std::string name(teacher::LanguageName(language));
    std::string source = code;
    agent::SoundKernels sound;
    if (prelude_) {
      DAVINCI_ASSIGN_OR_RETURN(const auto brief, BriefOf(task));
      source = agent::AssembleCandidate(*prelude_, brief, code, &sound);
    }
    const std::string id = fmt::format("{}.{}.{}", task.id, name, level);
    DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(fs::path(arguments_.out) / "candidates" / (id + ".py"),
                                            source, Durability::kFastest));
    row->at("candidates")
        .push_back({{"id", id},
                    {"language", name},
                    {"level", level},
                    {"source", source},
                    {"rules", like.rules.Names()},
                    {"skills", like.skills},
                    {"own_kernels", like.own_kernels},
                    {"torch_calls", like.left.size()}});
    if (prelude_) row->at("candidates").back()["reply"] = code;
    if (!sound.left_out.empty())
      row->at("candidates").back()["left_out"] = agent::ToJson(sound.left_out);
    *jobs += JobOf(task, id, language);
    return Status::Ok();
  }

  Result<agent::TaskBrief> BriefOf(const DemoTask& task) const {
    DAVINCI_ASSIGN_OR_RETURN(
        const auto config,
        config::ParseTaskConfig(task.row.at("sidecar").get<std::string>(), task.id + ".toml"));
    agent::TaskBrief brief = agent::BriefOf(config, judged_at_, davinci::Language::kTriton,
                                            prelude_ ? ReplyForm::kDelta : ReplyForm::kFile);
    brief.reference = task.row.at("source").get<std::string>();
    if (task.steps) brief.plain = task.steps->plain;
    return brief;
  }

  // Candidates with the mistakes that the task's id picks: attempts to be repaired.
  Status AddMutated(const DemoTask& task, DemoLanguage language,
                    const teacher::Candidate& candidate, json* row, std::string* jobs) {
    const auto& mutations = teacher::Mutations();
    const uint64_t seed = HashBytes(task.id, 3);
    const std::string name(teacher::LanguageName(language));
    size_t added = 0;
    for (size_t k = 0; k < mutations.size() && added < arguments_.mistakes; ++k) {
      const std::string& mutation = mutations[(seed + k) % mutations.size()];
      const auto code = teacher::Mutated(candidate.source, language, mutation, seed);
      if (!code) continue;
      DAVINCI_RETURN_IF_ERROR(AddCandidate(task, language, mutation, candidate, *code, row, jobs));
      json& mistaken = row->at("candidates").back();
      mistaken["mutation"] = mutation;
      // A repair needs a right answer.
      conditions_[mistaken["id"]] =
          fmt::format("{}.{}.{}", task.id, name, arguments_.levels.back());
      ++added;
    }
    return Status::Ok();
  }

  // A model's replies become attempts. A reply without code is not judged.
  Status AddAnswers(const DemoTask& task, DemoLanguage language, const teacher::Candidate& like,
                    json* row, std::string* jobs) {
    const auto found = answers_.find(task.id);
    if (found == answers_.end()) return Status::Ok();
    DAVINCI_ASSIGN_OR_RETURN(auto brief, BriefOf(task));
    brief.class_name = task.row.value("defines", brief.class_name);
    for (size_t i = 0; i < found->second.size(); ++i) {
      llm::Reply reply;
      reply.text = found->second[i];
      const std::string level = fmt::format("reply{}", i + 1);
      const llm::Extraction extraction =
          agent::ExtractReply(reply.text, reply.finish_reason, brief);
      if (extraction.ok()) {
        DAVINCI_RETURN_IF_ERROR(
            AddCandidate(task, language, level, like, extraction.source, row, jobs));
      } else {
        const std::string name(teacher::LanguageName(language));
        row->at("candidates")
            .push_back({{"id", fmt::format("{}.{}.{}", task.id, name, level)},
                        {"language", name},
                        {"level", level},
                        {"source", ""},
                        {"rules", json::array()},
                        {"skills", like.skills},
                        {"own_kernels", like.own_kernels},
                        {"no_code", extraction.diagnosis}});
        if (prelude_) row->at("candidates").back()["reply"] = "";
      }
      row->at("candidates").back()["mutation"] = "reply";
      row->at("candidates").back()["text"] = agent::HistoryText(reply);
    }
    return Status::Ok();
  }

  // For each skill of the candidate one that does without: what a summary compares.
  Status AddWithoutEach(const teacher::Teacher& made, const DemoTask& task,
                        const Writable& writable, DemoLanguage language,
                        const teacher::RuleSet& allowed, const teacher::Candidate& candidate,
                        json* row, std::string* jobs) {
    const teacher::AnswerForm form = FormOf(task);
    for (const std::string& skill : candidate.skills) {
      teacher::RuleSet fewer = allowed;
      for (const teacher::RuleInfo& rule : teacher::Rules())
        if (rule.skill == skill) fewer.Erase(rule.rule);
      const auto other = made.Write(*writable.graph, *writable.text, language, fewer, form);
      if (!other.ok() || other->own_kernels == 0 || other->skills.contains(skill)) continue;
      DAVINCI_RETURN_IF_ERROR(
          AddCandidate(task, language, "without_" + skill, *other, other->source, row, jobs));
    }
    return Status::Ok();
  }

  // Lines {"task": "…", "reply": "…"}.
  Status ReadAnswers() {
    DAVINCI_ASSIGN_OR_RETURN(const std::string text, ReadFile(arguments_.answers, size_t{4} << 30));
    std::istringstream lines(text);
    size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      if (line.empty()) continue;
      const json answer = json::parse(line, nullptr, false);
      if (!answer.is_object() || !answer.contains("task") || !answer["task"].is_string() ||
          !answer.contains("reply") || !answer["reply"].is_string())
        return InvalidArgument(fmt::format("{}, line {}: not {{\"task\": \"…\", \"reply\": \"…\"}}",
                                           arguments_.answers, number));
      answers_[answer["task"].get<std::string>()].push_back(answer["reply"].get<std::string>());
    }
    return Status::Ok();
  }

  DemoArguments arguments_;
  std::optional<Prelude> prelude_;                              // of --reply delta
  Target judged_at_ = Target::kCuda;                            // whose sizes delta files have
  std::map<std::string, std::vector<std::string>> answers_;     // by task
  std::map<std::string, std::map<std::string, double>> gains_;  // by language and skill
  std::map<std::string, std::string> conditions_;               // BatchOptions::conditions
  Demos demos_;
  std::map<std::string, size_t> refused_, rules_, skills_, own_;
};

Status Table(const fs::path& folder) {
  DAVINCI_ASSIGN_OR_RETURN(const Demos demos, ReadDemos(folder));
  return PrintDemoTable(folder, demos);
}

}  // namespace

void AddSynthDemos(CLI::App* synth, GlobalOptions& global, int* exit_code) {
  auto* demos = synth->add_subcommand(
      "demos", "write tasks with the kernels that the teacher's rules give for them");
  auto arguments = std::make_shared<DemoArguments>();
  AddSampleFlags(demos, &arguments->sample);
  demos->add_option("--tasks", arguments->tasks,
                    "your modules instead of generated ones: task files, folders or JSONL; they "
                    "are traced and imported");
  demos->add_option("--out", arguments->out,
                    "folder for demos.jsonl, tasks/, candidates/, jobs.jsonl, manifest.json "
                    "(default synth-demos)");
  demos
      ->add_option("--language", arguments->languages,
                   "triton, cpp, cuda (default: triton and cpp)")
      ->check(CLI::IsMember({"triton", "cpp", "cuda"}));
  demos->add_option("--level", arguments->levels, "naive, better, best (default: best)")
      ->check(CLI::IsMember({"naive", "better", "best"}));
  demos->add_option("--without", arguments->without,
                    "rules, or skills by their names, that are not applied");
  demos->add_option("--skills", arguments->skills,
                    "most skills whose rules one candidate uses (default: any number)");
  demos
      ->add_option("--reply", arguments->reply,
                   "file (default) or delta: candidates are made of short replies, which "
                   "demos.jsonl holds as well")
      ->check(CLI::IsMember({"file", "delta"}));
  demos
      ->add_option("--task", arguments->task,
                   "what rows are to show of the task: its file (default), its steps, whose "
                   "names the candidates of --reply delta then have, or these and how the last "
                   "level's candidate divides them into kernels, plan (agents.task of recipes)")
      ->check(CLI::IsMember({"file", "steps", "plan"}));
  demos->add_flag("--mutated", arguments->mistakes,
                  "also the last level's candidate with one mistake, for repair rows; "
                  "--mutated=N: with each of N mistakes");
  demos->add_option("--answers", arguments->answers,
                    "also replies of a model, for repair rows: lines {\"task\": \"ID\", \"reply\": "
                    "\"…\"}");
  demos->add_flag("--without-each", arguments->without_each,
                  "also the last level's candidate without each of its skills, for summary rows");
  demos->add_flag("--judge", arguments->judge,
                  "judge the candidates; results.jsonl and table.md in the folder");
  demos
      ->add_flag("--table", arguments->table,
                 "only table.md, from the folder's demos.jsonl and the results.jsonl of davinci "
                 "judge --batch")
      ->excludes("--judge");
  demos->add_flag("--show", arguments->show,
                  "also gallery.html, one self-contained page: task, kernels, verdicts");
  demos->add_option("--protocol", arguments->protocol, "of --judge (default screening)")
      ->check(CLI::IsMember(judge::ProtocolNames()));
  demos->add_option("-j,--jobs", arguments->jobs, "of --judge: evaluations in flight");
  demos->footer(
      "Examples:\n"
      "  davinci synth demos --count 20 --level naive better best\n"
      "  davinci synth demos --count 100 --language cpp --judge -j 1\n"
      "  davinci synth demos --tasks tasks --language cpp --judge\n"
      "docs/synth.md describes the rules.");
  demos->callback([arguments, exit_code, &global] {
    DemoWriter writer(*arguments);
    Status status = arguments->table ? Status::Ok() : writer.Run(global);
    if (status.ok() && arguments->judge) {
      const Result<int> judged = writer.Judge(global);
      if (judged.ok()) *exit_code = *judged;
      status = judged.status();
    }
    if (status.ok() && (arguments->judge || arguments->table)) status = Table(arguments->out);
    if (status.ok() && arguments->show) status = WriteDemoGallery(arguments->out);
    if (!status.ok()) *exit_code = FailCommand("synth demos", status);
  });
}

}  // namespace davinci::app
