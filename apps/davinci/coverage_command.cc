// davinci coverage: which calls of a user's modules the expert has kernels for, and why not for the
// others.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "commands.h"
#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/table.h"
#include "davinci/expert/expert.h"
#include "davinci/gpu/device.h"
#include "davinci/judge/judge.h"
#include "installation.h"
#include "report.h"
#include "task_from_file.h"

namespace davinci::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kCoverageSchema = "davinci.coverage/1";

struct CoverageArguments {
  std::vector<std::string> files;
  EntryFlags entry;
  std::string target, language;
  std::string out;
  size_t variants = 1;
  bool json = false;
};

class CoverageRun {
 public:
  CoverageRun(const CoverageArguments& arguments, const GlobalOptions& global)
      : arguments_(arguments), global_(global) {}

  Result<int> Run() {
    DAVINCI_ASSIGN_OR_RETURN(const Installation installation, FindInstallation(global_.python));
    DAVINCI_ASSIGN_OR_RETURN(const auto expert, expert::Expert::Load(installation.home / "synth"));
    const bool gpu = !gpu::DeviceMonitor::Create()->devices().empty();
    const Target target = arguments_.target.empty() ? (gpu ? Target::kCuda : Target::kCpu)
                                                    : *ParseTarget(arguments_.target);
    const Language language = !arguments_.language.empty() ? *ParseLanguage(arguments_.language)
                              : target == Target::kCuda    ? Language::kTriton
                                                           : Language::kCpp;
    DAVINCI_ASSIGN_OR_RETURN(std::vector<task::TaskEntry> tasks,
                             TasksFrom(arguments_.files, arguments_.entry));
    DAVINCI_ASSIGN_OR_RETURN(const TempDir folder, MakeTempDir("davinci-coverage"));
    DAVINCI_RETURN_IF_ERROR(task::WriteTaskFiles(folder.path(), &tasks));
    DAVINCI_ASSIGN_OR_RETURN(const auto judge,
                             judge::Judge::Create(MakeJudgeOptions(installation)));
    if (!arguments_.out.empty())
      DAVINCI_RETURN_IF_ERROR(MakeDirs(fs::path(arguments_.out) / "candidates"));
    const bool terminal = isatty(STDERR_FILENO) != 0;
    json found(std::vector<json>(tasks.size()));
    std::atomic<size_t> next = 0;
    std::mutex mutex;
    const auto work = [&] {
      for (size_t i = next++; i < tasks.size(); i = next++) {
        json row = Look(expert, *judge, tasks[i], target, language);
        const std::lock_guard lock(mutex);
        found[i] = std::move(row);
        if (terminal) fmt::print(stderr, "\r\033[K{} of {}: {}", i + 1, tasks.size(), tasks[i].id);
      }
    };
    {
      const size_t cores = std::max(1u, std::thread::hardware_concurrency());
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < std::min(cores, tasks.size()); ++i) threads.emplace_back(work);
    }
    for (const json& row : found) jobs_ += row.value("jobs", "");
    for (json& row : found) row.erase("jobs");
    if (terminal) fmt::print(stderr, "\r\033[K");
    if (!arguments_.out.empty())
      DAVINCI_RETURN_IF_ERROR(WriteFileAtomic(fs::path(arguments_.out) / "jobs.jsonl", jobs_));
    if (arguments_.json) {
      fmt::print("{}\n", JsonText(json{{"schema", kCoverageSchema},
                                       {"target", TargetName(target)},
                                       {"language", LanguageName(language)},
                                       {"tasks", found}},
                                  2));
    } else {
      Print(found);
    }
    return 0;
  }

 private:
  json Look(const expert::Expert& expert, judge::Judge& judge, const task::TaskEntry& entry,
            Target target, Language language) const {
    json row = {{"task", entry.id}};
    const auto fail = [&](const char* stage, const Status& status) {
      row["status"] = stage;
      row["why"] = status.message();
      return row;
    };
    const auto task = task::ReadTask(entry.path.string());
    if (!task.ok()) return fail("broken", task.status());
    Stopwatch watch;
    const auto traced = judge.Trace(*task, target);
    if (!traced.ok()) return fail("broken", traced.status());
    row["trace_seconds"] = watch.Seconds();
    watch = Stopwatch();
    const auto imported = expert.Import(*traced, **task);
    if (!imported.ok()) return fail("refused", imported.status());
    std::string why;
    const auto variants = expert.Variants(*imported, language, arguments_.variants, &why);
    row["write_seconds"] = watch.Seconds();
    row["calls"] = imported->imported.graph.nodes.size();
    row["kept_modules"] = json::array();
    for (const auto& kept : imported->kept)
      row["kept_modules"].push_back({{"module", kept.module}, {"why", kept.why}});
    row["status"] = variants.empty() ? "kept" : imported->kept.empty() ? "whole" : "parts";
    if (variants.empty()) row["why"] = why;
    row["candidates"] = json::array();
    for (const expert::Variant& variant : variants) {
      json candidate = {{"name", variant.name},
                        {"own_kernels", variant.candidate.own_kernels},
                        {"rules", variant.candidate.rules.Names()},
                        {"skills", variant.candidate.skills},
                        {"prefers_vendor", variant.candidate.prefers_vendor}};
      for (const auto& left : variant.candidate.left)
        candidate["left"].push_back(
            {{"call", left.op}, {"family", left.family}, {"why", left.why}, {"at", left.place}});
      if (!arguments_.out.empty()) {
        const std::string job = Keep(entry, variant, target, &candidate);
        row["jobs"] = row.value("jobs", "") + job;
      }
      row["candidates"].push_back(std::move(candidate));
    }
    return row;
  }

  // Writes the candidate; its line of jobs.jsonl.
  std::string Keep(const task::TaskEntry& entry, const expert::Variant& variant, Target target,
                   json* candidate) const {
    const std::string id = fmt::format("{}.{}.{}", entry.id, LanguageName(variant.language),
                                       (*candidate)["name"].get<std::string>());
    std::string file = id;
    for (char& c : file)
      if (c == '/' || c == ' ' || c == ':') c = '_';
    (void)WriteFileAtomic(fs::path(arguments_.out) / "candidates" / (file + ".py"),
                          variant.candidate.source);
    (*candidate)["file"] = "candidates/" + file + ".py";
    std::error_code error;
    return JsonText(json{{"id", id},
                         {"reference", fs::absolute(entry.path, error).string()},
                         {"candidate", "candidates/" + file + ".py"},
                         {"target", TargetName(target)},
                         {"protocol", "screening"}}) +
           "\n";
  }

  static void Print(const json& found) {
    Table table({{"task"}, {"imported"}, {"calls"}, {"kernels"}, {"stays PyTorch's, and why"}});
    std::map<std::string, int> counts;
    for (const json& row : found) {
      const std::string status = row.at("status");
      ++counts[status];
      std::string left = row.value("why", "");
      if (row.contains("candidates") && !row["candidates"].empty()) {
        std::map<std::string, int> reasons;
        const json& best = row["candidates"][0];
        if (best.contains("left"))
          for (const json& call : best["left"])
            ++reasons[fmt::format("{} ({})", call.at("call").get<std::string>(),
                                  call.at("why").get<std::string>())];
        for (const auto& [reason, number] : reasons)
          left += fmt::format("{}{}{}", left.empty() ? "" : "; ",
                              number > 1 ? fmt::format("{} x ", number) : "", reason);
      }
      if (row.contains("kept_modules"))
        for (const json& kept : row["kept_modules"])
          left +=
              fmt::format("{}self.{}: {}", left.empty() ? "" : "; ",
                          kept.at("module").get<std::string>(), kept.at("why").get<std::string>());
      const bool own = row.contains("candidates") && !row["candidates"].empty();
      table.AddRow({{row.at("task").get<std::string>()},
                    {status, own ? TextStyle::kPlain : TextStyle::kWarn},
                    {row.contains("calls") ? std::to_string(row["calls"].get<int>()) : "-"},
                    {own ? std::to_string(row["candidates"][0]["own_kernels"].get<int>()) : "-"},
                    {left}});
    }
    fmt::print("{}", table.Render({UseColor(STDOUT_FILENO), 0, ""}));
    std::string sum;
    for (const auto& [status, number] : counts)
      sum += fmt::format("{}{} {}", sum.empty() ? "" : ", ", number, status);
    fmt::print("{} modules: {}\n", found.size(), sum);
  }

  const CoverageArguments& arguments_;
  const GlobalOptions& global_;
  std::string jobs_;
};

}  // namespace

void AddCoverageCommand(CLI::App& app, GlobalOptions& global, int* exit_code) {
  auto arguments = std::make_shared<CoverageArguments>();
  CLI::App* command = app.add_subcommand(
      "coverage", "Say which calls of your modules the expert writes kernels for, and why not");
  command
      ->add_option("FILE", arguments->files,
                   "Task files (class Model, get_inputs(), get_init_inputs()), FILE.py:NAME, "
                   "folders or JSONL")
      ->required();
  AddEntryFlags(command, &arguments->entry);
  command->add_option("--target,-t", arguments->target, "cpu or cuda (default: cuda with a GPU)")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  command
      ->add_option("--language,-l", arguments->language,
                   "triton, cuda or cpp (default: triton on cuda, cpp on cpu)")
      ->check(CLI::IsMember({"triton", "cuda", "cpp"}));
  command->add_option("--out,-o", arguments->out,
                      "Folder for the candidates, and jobs.jsonl for davinci judge --batch");
  command->add_option("--variants", arguments->variants, "Candidates per task (default 1)");
  command->add_flag("--json", arguments->json, "One JSON document on stdout");
  command->footer(
      "Status: whole (all calls imported), parts (some submodules stay one call), kept (no kernel\n"
      "of its own), refused (cannot be traced), broken (the reference fails).\n"
      "Examples:\n"
      "  davinci coverage tasks\n"
      "  davinci coverage net.py:Block --init 64 --inputs 'torch.randn(8, 64)' -t cpu");
  command->callback([arguments, &global, exit_code] {
    auto code = CoverageRun(*arguments, global).Run();
    *exit_code = code.ok() ? *code : FailCommand("coverage", code.status());
  });
}

}  // namespace davinci::app
