// davinci coverage: which calls of a user's modules the expert has kernels for, and why not for the
// others.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "davinci/base/clock.h"
#include "davinci/base/files.h"
#include "davinci/base/json_text.h"
#include "davinci/base/mutex.h"
#include "davinci/base/table.h"
#include "davinci/expert/expected_gain.h"
#include "davinci/gpu/device.h"
#include "imported_modules.h"
#include "report.h"

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
  bool json = false, steps = false;
};

class CoverageRun {
 public:
  CoverageRun(const CoverageArguments& arguments, const GlobalOptions& global)
      : arguments_(arguments), global_(global) {}

  Result<int> Run() {
    DAVINCI_ASSIGN_OR_RETURN(const auto modules,
                             ImportedModules::Open(arguments_.files, arguments_.entry, global_));
    const bool gpu = !gpu::DeviceMonitor::Create()->devices().empty();
    const Target target = arguments_.target.empty() ? (gpu ? Target::kCuda : Target::kCpu)
                                                    : ParseTarget(arguments_.target).value();
    const Language language = !arguments_.language.empty()
                                  ? ParseLanguage(arguments_.language).value()
                              : target == Target::kCuda ? Language::kTriton
                                                        : Language::kCpp;
    if (!arguments_.out.empty())
      DAVINCI_RETURN_IF_ERROR(MakeDirs(fs::path(arguments_.out) / "candidates"));
    json found(std::vector<json>(modules->tasks().size()));
    Mutex mutex;
    ForEachModule(*modules, [&](size_t i) {
      json row = Look(*modules, i, target, language);
      const MutexLock lock(mutex);
      found[i] = std::move(row);
    });
    for (const json& row : found) jobs_ += row.value("jobs", "");
    for (json& row : found) row.erase("jobs");
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
  json Look(const ImportedModules& modules, size_t index, Target target, Language language) const {
    const task::TaskEntry& entry = modules.tasks()[index];
    json row = {{"task", entry.id}};
    Stopwatch watch;
    const ImportedModules::Module module = modules.Import(index, target);
    if (!module.status.ok()) {
      row["status"] = module.broken ? "broken" : "refused";
      row["why"] = module.status.message();
      return row;
    }
    const expert::ExpertTask* imported = &module.imported;
    row["trace_seconds"] = module.trace_seconds;
    const expert::Expert& expert = modules.expert();
    std::string why;
    const auto variants = expert.Variants(*imported, language, arguments_.variants, &why);
    row["write_seconds"] = watch.Seconds() - module.trace_seconds;
    row["calls"] = imported->imported.graph.nodes.size();
    if (arguments_.steps) {
      const auto steps = modules.StepsOf(index, target);
      row["steps"] = steps.ok() ? steps->text : steps.status().message() + "\n";
    }
    row["kept_modules"] = json::array();
    for (const auto& kept : imported->kept)
      row["kept_modules"].push_back({{"module", kept.module}, {"why", kept.why}});
    row["status"] = variants.empty() ? "kept" : imported->kept.empty() ? "whole" : "parts";
    if (variants.empty()) row["why"] = why;
    if (!imported->shapes.empty() && !variants.empty()) {
      const auto without = expert::ShapesWithout(*imported, variants.front().candidate);
      row["shapes"] = {{"named", imported->shapes.size()},
                       {"own_kernels", imported->shapes.size() - without.size()},
                       {"without", without},
                       {"symbols", Symbols(variants.front().candidate)}};
      if (variants.front().candidate.symbols.empty())
        row["shapes"]["no_symbols"] = imported->why_not_symbolic;
    }
    row["candidates"] = json::array();
    for (const expert::Variant& variant : variants) {
      json candidate = {{"name", variant.name},
                        {"own_kernels", variant.candidate.own_kernels},
                        {"rules", variant.candidate.rules.Names()},
                        {"skills", variant.candidate.skills},
                        {"prefers_vendor", variant.candidate.prefers_vendor},
                        {"expected_gain", expert::ExpectedGain(variant.candidate, target)},
                        {"work", WorkBody(variant.candidate.work)},
                        {"eager", WorkBody(variant.candidate.eager)}};
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

  static json Symbols(const teacher::Candidate& candidate) {
    json symbols = json::array();
    for (const teacher::SymbolicSize& size : candidate.symbols)
      symbols.push_back({{"size", size.place}, {"from", size.least}, {"to", size.most}});
    return symbols;
  }

  static json WorkBody(const teacher::Work& work) {
    return {{"bytes", work.bytes},
            {"flops", work.flops},
            {"own_launches", work.own_launches},
            {"torch_launches", work.torch_launches}};
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

  // "2 of 3 further shapes have kernels of their own, not ROWS=1: …"
  static std::string ShapesText(const json& shapes, bool first) {
    std::string text =
        fmt::format("{}{} of {} further shapes {} kernels of their own", first ? "" : "; ",
                    shapes.at("own_kernels").get<size_t>(), shapes.at("named").get<size_t>(),
                    shapes.at("own_kernels") == 1 ? "has" : "have");
    for (const json& why : shapes.at("without")) text += ", not " + why.get<std::string>();
    for (const json& symbol : shapes.at("symbols"))
      text += fmt::format(", {} may be {} to {}", symbol.at("size").get<std::string>(),
                          symbol.at("from").get<int64_t>(), symbol.at("to").get<int64_t>());
    return text;
  }

  static void Print(const json& found) {
    Table table({{"task"},
                 {"imported"},
                 {"calls"},
                 {"kernels"},
                 {"expected gain", Align::kRight},
                 {"stays PyTorch's, and why"}});
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
      if (row.contains("shapes")) left += ShapesText(row["shapes"], left.empty());
      if (row.contains("kept_modules"))
        for (const json& kept : row["kept_modules"])
          left +=
              fmt::format("{}self.{}: {}", left.empty() ? "" : "; ",
                          kept.at("module").get<std::string>(), kept.at("why").get<std::string>());
      const bool own = row.contains("candidates") && !row["candidates"].empty();
      table.AddRow(
          {{row.at("task").get<std::string>()},
           {status, own ? TextStyle::kPlain : TextStyle::kWarn},
           {row.contains("calls") ? std::to_string(row["calls"].get<int>()) : "-"},
           {own ? std::to_string(row["candidates"][0]["own_kernels"].get<int>()) : "-"},
           {own ? fmt::format("{:.1f}x", row["candidates"][0]["expected_gain"].get<double>())
                : "-"},
           {left}});
    }
    fmt::print("{}", table.Render({UseColor(STDOUT_FILENO), 0, ""}));
    std::string sum;
    for (const auto& [status, number] : counts)
      sum += fmt::format("{}{} {}", sum.empty() ? "" : ", ", number, status);
    fmt::print("{} modules: {}\n", found.size(), sum);
    for (const json& row : found)
      if (row.contains("steps"))
        fmt::print("\n{}\n{}", row.at("task").get<std::string>(),
                   row.at("steps").get<std::string>());
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
  command->add_flag("--steps", arguments->steps,
                    "Also what is read: each module's forward as straight-line PyTorch");
  command->add_flag("--json", arguments->json, "One JSON document on stdout");
  command->footer(
      "The expected gain over eager is an estimate from bytes, operations and launches.\n"
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
